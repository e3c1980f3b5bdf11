"""Score pairs of sentences by a model, in chunks, with near ties repeated in fp32.

See `evenhand.stereotypes.sentences` for the tokens of a sentence, `evenhand.stereotypes.passes` for
the model inputs, `evenhand.stereotypes.reading` for running the model, and
`evenhand.stereotypes.rows` for the scores.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.tables import count_rows, read_rows
from evenhand.scoring.attention import enable_attention
from evenhand.scoring.models import CausalLM, LanguageModel
from evenhand.scoring.precision import calibrate, near_ties
from evenhand.stereotypes.pairs import PAIRS, SIDES
from evenhand.stereotypes.passes import PASSES, needs_attention, passes_for
from evenhand.stereotypes.reading import read
from evenhand.stereotypes.rows import Row, rows_of, value

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
