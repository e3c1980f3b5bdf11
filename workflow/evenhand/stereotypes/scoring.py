"""Score pairs of sentences by a model, pass by pass, in chunks, with near ties repeated in fp32.

See `evenhand.stereotypes.rows` for the tokens of a sentence, the model inputs and the scores.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.tables import count_rows, read_rows
from evenhand.scoring import pair_masks
from evenhand.scoring.attention import enable_attention
from evenhand.scoring.models import CausalLM, LanguageModel
from evenhand.scoring.precision import calibrate, near_ties
from evenhand.scoring.questions import Answers, Questions, answer
from evenhand.stereotypes.pairs import PAIRS, SIDES
from evenhand.stereotypes.rows import (
    PASSES,
    SHUFFLED_PASSES,
    Reading,
    Row,
    needs_attention,
    passes_for,
    rows_of,
    value,
)

#: Reads the predictions for a sentence of a pass from the model's answers.
Reader = Callable[[Answers], Reading]


def read(
    lm: LanguageModel,
    rows: Sequence[Row],
    passes: Sequence[str],
    *,
    methods: Sequence[str],
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> None:
    """Run a model on rows, and store its predictions in their `readings`.

    Rows with numbers that are not finite are excluded.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    rows : sequence of Row
        Excluded rows are skipped, as are shuffled ones except in `SHUFFLED_PASSES`.
    passes : sequence of str
        Names of `PASSES`.
    methods : sequence of str
        The methods, only some of which need attention and `Reading.crossed`.
    progress : callable, optional
        Called with the share of the work (0 to 1) done since the last call.
    **options
        tokens_per_batch, threads, scratch: see `evenhand.scoring.questions.answer`.
    """
    questions_by_pass = {}
    for name in passes:
        chosen = [
            row
            for row in rows
            if not row.excluded and (row.variant == "original" or name in SHUFFLED_PASSES)
        ]
        questions_by_pass[name] = _ask_all(lm, chosen, name, "sss_compat" in methods)
    total = sum(len(ids) for questions, _ in questions_by_pass.values() for ids in questions.inputs)
    for name, (questions, by_row) in questions_by_pass.items():
        if not by_row:
            continue
        answers = answer(
            lm,
            questions,
            attention=name == "unmasked" and needs_attention(methods),
            progress=(lambda tokens: progress(tokens / total)) if progress else None,
            **options,
        )
        for row, reader in by_row:
            row.readings[name] = reader(answers)
    for row in rows:
        if not all(reading.finite() for reading in row.readings.values()):
            row.excluded = "not_finite"


def _ask_all(
    lm: LanguageModel, rows: Sequence[Row], name: str, cross: bool
) -> tuple[Questions, list[tuple[Row, Reader]]]:
    questions = Questions()
    by_row: list[tuple[Row, Reader]] = []
    known: dict[int, Reader] = {}  # an equal sentence of another pair is asked about once
    for row in rows:
        if name in ("cps", "sss"):
            if row.masks is not None:
                by_row.append((row, _ask(lm, questions, row, name, cross)))
            continue
        key = id(row.sentence)
        if key not in known:
            known[key] = _ask(lm, questions, row, name, cross)
        by_row.append((row, known[key]))
    return questions, by_row


def _ask(lm: LanguageModel, questions: Questions, row: Row, name: str, cross: bool) -> Reader:
    ids, places, specials, crossed = row.sentence.ids, row.sentence.places, None, None
    mask_id = None if name in ("unmasked", "causal") else lm.mask_id
    if name == "cps":
        places = row.masks.shared
        numbers = pair_masks.ask_each_masked(questions, ids, places, mask_id)
    else:
        places = row.masks.changed if name == "sss" else places
        numbers = pair_masks.ask(questions, ids, places, mask_id)
    if name == "sss" and cross:
        crossed = pair_masks.ask_crossed(questions, ids, places, mask_id)
    if name == "unmasked":
        specials = pair_masks.ask(questions, ids, row.sentence.specials)

    def reader(answers: Answers) -> Reading:
        reading = Reading(
            token=np.array([ids[place] for place in places], dtype=np.int32),
            place=np.array(places, dtype=np.int32),
            log_p=answers.log_p[numbers],
            first=answers.first[numbers],
            entropy=answers.entropy[numbers],
            alpha=None if answers.alpha is None else answers.alpha[numbers],
        )
        if specials is not None:
            right = answers.first[specials] & np.isfinite(answers.log_p[specials])
            reading = replace(reading, specials_correct=int(right.sum()))
        if crossed is not None:
            reading = replace(reading, crossed=answers.log_p[np.array(crossed, dtype=int)])
        return reading

    return reader


#: The unit to which the published code rounds CPS before comparing (evaluate.py:194-195); near
#: ties include those of the rounded scores.
CPS_ROUNDING = 0.001


#: Maximum number of pairs scored together: enough to fill batches of one length, few enough for
#: the memory. CPS makes an input for each token, so that memory grows with the squared length.
PAIRS_AT_ONCE = 2048
SQUARED_CHARACTERS_AT_ONCE = 128_000_000


@dataclass(frozen=True)
class Exact:
    """A copy of the model in fp32, and the margins within which pairs are near ties.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The copy.
    margins : dict of float
        By method: pairs with two scores that differ by at most this are scored again. Infinity
        if the sample was too small.
    pairs : int
        Number of pairs for the calibration of the margins.
    """

    lm: LanguageModel
    margins: dict[str, float]
    pairs: int


def blank_methods(lm: LanguageModel, methods: Sequence[str]) -> dict[str, str]:
    """Return the methods by which the model cannot be scored, with reasons (`NO_VALUE`)."""
    weighted = [name for name in methods if needs_attention([name])]
    if not weighted or enable_attention(lm.model):
        return {}
    return dict.fromkeys(weighted, "no_attention")


def differences(rows: Sequence[Row], method: str) -> list[float]:
    """Return a method's score differences between any two sentences of a pair; NaN for no score."""
    values = [value(row, method) for row in rows if row.variant == "original"]
    numbers = [math.nan if score is None else score for score in values]
    return [a - b for a, b in combinations(numbers, 2)]


def calibrated(
    lm: LanguageModel,
    full: LanguageModel,
    pairs: Sequence[dict[str, Any]],
    *,
    methods: Sequence[str],
    **options: Any,
) -> Exact:
    """Calibrate the margins of near ties from the differences of `lm` and `full` on a sample.

    Parameters
    ----------
    lm, full : MaskedLM or CausalLM
        The model in bf16, and in fp32.
    pairs : sequence of dict
        The sample.
    methods : sequence of str
        Methods for this kind of model.
    **options
        tokens_per_batch, threads, scratch: see `evenhand.scoring.questions.answer`.
    """
    family = "causal" if isinstance(lm, CausalLM) else "masked"
    by_pair = []
    for model in (lm, full):
        rows = rows_of(model, pairs)
        read(model, _flat(rows), passes_for(family, methods), methods=methods, **options)
        by_pair.append(rows)
    margins = {
        method: calibrate(
            *(np.array([d for pair in rows for d in differences(pair, method)]) for rows in by_pair)
        )
        for method in methods
    }
    if "cps" in margins:
        margins["cps"] += CPS_ROUNDING
    return Exact(full, margins, len(pairs))


def _flat(rows_by_pair: Iterable[Sequence[Row]]) -> list[Row]:
    return [row for rows in rows_by_pair for row in rows]


def score_pairs_of(
    lm: LanguageModel,
    pairs: Iterable[dict[str, Any]],
    *,
    methods: Sequence[str],
    passes: Sequence[str],
    shuffle_seed: int | None = None,
    exact: Exact | None = None,
    progress: Callable[[float], object] = lambda pairs: None,
    **options: Any,
) -> Iterator[list[Row]]:
    """Score pairs, with a bounded number in memory.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    pairs : iterable of dict
        Rows of `evenhand.stereotypes.pairs.PAIRS`.
    methods, passes : sequence of str
        The methods for this kind of model, and the passes to run (at least those they need).
    shuffle_seed : int, optional
        See `rows_of`.
    exact : Exact, optional
        The model in fp32, by which all sentences of near ties under a method are scored again, in
        that method's pass.
    progress : callable, optional
        Called with numbers of finished pairs, in fractions.
    **options
        tokens_per_batch, threads, scratch: see `evenhand.scoring.questions.answer`.

    Yields
    ------
    list of Row
        The rows of some pairs, in order; see `score_row` and `token_rows`.
    """
    for chunk in chunks(pairs):
        by_pair = rows_of(lm, chunk, shuffle_seed=shuffle_seed)
        rows = _flat(by_pair)
        done = 0.0

        def report(share: float, pairs: int = len(chunk)) -> None:
            nonlocal done
            step = min(share * pairs, pairs - done)  # rounding must not exceed the total
            done += step
            progress(step)

        read(lm, rows, passes, methods=methods, progress=report, **options)
        for name in passes if exact else []:
            near = [pair for pair in by_pair if _is_near_tie(pair, name, methods, exact.margins)]
            again = [row for row in _flat(near) if row.variant == "original"]
            for row in again:
                row.rescored.add(name)
            read(exact.lm, again, [name], methods=methods, **options)
        progress(len(chunk) - done)
        yield rows


def _is_near_tie(
    rows: Sequence[Row], name: str, methods: Sequence[str], margins: dict[str, float]
) -> bool:
    return any(
        near_ties(np.array(differences(rows, method)), margins[method]).any()
        for method in PASSES[name]
        if method in methods
    )


# ---------------------------------------------------------------- the table of pairs


def check_pairs(path: Path) -> int:
    """Return the number of pairs in a table with the columns of `PAIRS`.

    Raises
    ------
    InputError
        The file is not such a table, or is empty.
    """
    if not (count := count_rows(path, PAIRS.names, remedy="use read_pairs")):
        raise InputError("holds no pair, so there is nothing to score", file=path)
    return count


def spread(path: Path, total: int, size: int) -> list[dict[str, Any]]:
    """Return `size` evenly spaced pairs of a table of `total`; or all if there are fewer."""
    chosen = {i * total // size for i in range(size)} if size < total else range(total)
    return [pair for number, pair in enumerate(read_rows(path)) if number in chosen]


def chunks(pairs: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Split pairs into chunks that fit into memory."""
    chunk: list[dict[str, Any]] = []
    squared = 0
    for pair in pairs:
        lengths = [len(pair[side] or "") + len(pair["context"] or "") for side in SIDES]
        size = sum(length**2 for length in lengths)
        full = len(chunk) == PAIRS_AT_ONCE or squared + size > SQUARED_CHARACTERS_AT_ONCE
        if chunk and full:
            yield chunk
            chunk, squared = [], 0
        chunk.append(pair)
        squared += size
    if chunk:
        yield chunk
