"""Run a model on rows of sentences, pass by pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.scoring import causal, pair_masks
from evenhand.scoring.masked import Answers, Questions, answer
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM
from evenhand.stereotypes.passes import SHUFFLED_PASSES, needs_attention
from evenhand.stereotypes.rows import Reading, Row


@dataclass(frozen=True)
class _RowQuestions:
    """The questions of one pass about one sentence: the tokens, and the question numbers."""

    token: list[int]
    place: list[int]
    numbers: list[int]
    specials: list[int]
    crossed: list[list[int]] | None


def read(
    lm: LanguageModel,
    rows: Sequence[Row],
    passes: Sequence[str],
    *,
    methods: Sequence[str],
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
    scratch: Path | None = None,
) -> None:
    """Run a model on rows, and store its predictions in their `readings`.

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
    tokens_per_batch, threads : int
        See `evenhand.scoring.masked.answer`.
    progress : callable, optional
        Called with the share of the work (0 to 1) done since the last call.
    scratch : Path, optional
        Folder for the partial results of an interrupted attempt.
    """
    to_read = [row for row in rows if not row.excluded]
    by_pass = {
        name: [row for row in to_read if row.variant == "original" or name in SHUFFLED_PASSES]
        for name in passes
    }
    options = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    if isinstance(lm, CausalLM):
        for name, chosen in by_pass.items():
            _read_causal(lm, chosen, name, scratch=scratch, progress=progress, **options)
        return
    crossed = "sss_compat" in methods
    questions_by_pass = {
        name: _ask_all(lm, chosen, name, crossed) for name, chosen in by_pass.items()
    }
    total = sum(len(ids) for questions, _ in questions_by_pass.values() for ids in questions.inputs)
    for name, (questions, by_row) in questions_by_pass.items():
        if not by_row:
            continue
        answers = answer(
            lm,
            questions,
            attention=name == "unmasked" and needs_attention(methods),
            progress=(lambda tokens: progress(tokens / total)) if progress else None,
            scratch=scratch,
            **options,
        )
        for row, one in by_row:
            row.readings[name] = _reading(answers, one)


def _ask_all(
    lm: MaskedLM, rows: Sequence[Row], name: str, cross: bool
) -> tuple[Questions, list[tuple[Row, _RowQuestions]]]:
    questions = Questions()
    by_row: list[tuple[Row, _RowQuestions]] = []
    known: dict[int, _RowQuestions] = {}  # an equal sentence of another pair is asked about once
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


def _ask(lm: MaskedLM, questions: Questions, row: Row, name: str, cross: bool) -> _RowQuestions:
    ids, specials, crossed = row.sentence.ids, [], None
    if name == "cps":
        places = row.masks.shared
        numbers = pair_masks.ask_each_masked(questions, ids, places, lm.mask_id)
    elif name == "sss":
        places = row.masks.changed
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
        if cross:
            crossed = pair_masks.ask_crossed(questions, ids, places, lm.mask_id)
    elif name == "all_masked":
        places = row.sentence.places
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
    else:
        places = row.sentence.places
        numbers = pair_masks.ask_unmasked(questions, ids, places)
        specials = pair_masks.ask_unmasked(questions, ids, row.sentence.specials)
    return _RowQuestions([ids[place] for place in places], list(places), numbers, specials, crossed)


def _reading(answers: Answers, questions: _RowQuestions) -> Reading:
    specials = answers.first[questions.specials] & np.isfinite(answers.log_p[questions.specials])
    return Reading(
        token=np.array(questions.token, dtype=np.int32),
        place=np.array(questions.place, dtype=np.int32),
        log_p=answers.log_p[questions.numbers],
        first=answers.first[questions.numbers],
        entropy=answers.entropy[questions.numbers],
        alpha=None if answers.alpha is None else answers.alpha[questions.numbers],
        specials_correct=int(specials.sum()),
        crossed=None
        if questions.crossed is None
        else answers.log_p[np.array(questions.crossed, dtype=int)],
    )


def _read_causal(
    lm: CausalLM,
    rows: Sequence[Row],
    name: str,
    *,
    scratch: Path | None,
    progress: Callable[[float], object] | None,
    **options: Any,
) -> None:
    distinct = list({id(row.sentence): row.sentence for row in rows}.values())
    total = sum(len(sentence.ids) for sentence in distinct)
    starts = [sentence.places[0] for sentence in distinct]
    found = causal.read_sequences(
        lm,
        [np.array(sentence.ids, dtype=np.int32) for sentence in distinct],
        starts,
        scratch=scratch,
        progress=(lambda tokens: progress(tokens / total)) if progress else None,
        **options,
    )
    readings = {}
    for sentence, start, one in zip(distinct, starts, found, strict=True):
        readings[id(sentence)] = Reading(
            token=np.array(sentence.ids[start:], dtype=np.int32),
            place=np.arange(start, len(sentence.ids), dtype=np.int32),
            log_p=one.log_p,
            first=one.first,
            entropy=one.entropy,
        )
    for row in rows:
        row.readings[name] = readings[id(row.sentence)]


def read_finite(
    lm: LanguageModel, pairs: Sequence[Sequence[Row]], passes: Sequence[str], **options: Any
) -> None:
    """Call `read`, and exclude rows with numbers that are not finite."""
    rows = [row for pair in pairs for row in pair]
    read(lm, rows, passes, **options)
    for row in rows:
        if not all(reading.finite() for reading in row.readings.values()):
            row.excluded = "not_finite"
