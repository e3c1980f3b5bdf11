"""Run a model on rows of sentences, pass by pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.scoring import pair_masks
from evenhand.scoring.models import LanguageModel
from evenhand.scoring.questions import Answers, Questions, answer
from evenhand.stereotypes.passes import SHUFFLED_PASSES, needs_attention
from evenhand.stereotypes.rows import Reading, Row


@dataclass(frozen=True)
class _RowQuestions:
    """The questions of one pass about one sentence: the tokens, and the question numbers."""

    token: list[int]
    place: list[int]
    numbers: list[int]
    specials: list[int] | None
    crossed: list[list[int]] | None


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
        for row, row_questions in by_row:
            row.readings[name] = _reading(answers, row_questions)
    for row in rows:
        if not all(reading.finite() for reading in row.readings.values()):
            row.excluded = "not_finite"


def _ask_all(
    lm: LanguageModel, rows: Sequence[Row], name: str, cross: bool
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


def _ask(
    lm: LanguageModel, questions: Questions, row: Row, name: str, cross: bool
) -> _RowQuestions:
    ids, places, specials, crossed = row.sentence.ids, row.sentence.places, None, None
    if name == "cps":
        places = row.masks.shared
        numbers = pair_masks.ask_each_masked(questions, ids, places, lm.mask_id)
    elif name == "sss":
        places = row.masks.changed
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
        if cross:
            crossed = pair_masks.ask_crossed(questions, ids, places, lm.mask_id)
    elif name == "all_masked":
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
    else:
        numbers = pair_masks.ask_unmasked(questions, ids, places)
        if name == "unmasked":
            specials = pair_masks.ask_unmasked(questions, ids, row.sentence.specials)
    return _RowQuestions([ids[place] for place in places], list(places), numbers, specials, crossed)


def _reading(answers: Answers, questions: _RowQuestions) -> Reading:
    specials, crossed = questions.specials, questions.crossed
    if specials is not None:
        right = answers.first[specials] & np.isfinite(answers.log_p[specials])
    return Reading(
        token=np.array(questions.token, dtype=np.int32),
        place=np.array(questions.place, dtype=np.int32),
        log_p=answers.log_p[questions.numbers],
        first=answers.first[questions.numbers],
        entropy=answers.entropy[questions.numbers],
        alpha=None if answers.alpha is None else answers.alpha[questions.numbers],
        specials_correct=None if specials is None else int(right.sum()),
        crossed=None if crossed is None else answers.log_p[np.array(crossed, dtype=int)],
    )
