"""Agreement of the annotators, and the sentences on which they disagree."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.io.sheets import write_csv
from evenhand.slguset.annotation import ANSWERS, Judged
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import surface_pair

AGREEMENT = Table(
    "agreement",
    title="Agreement between annotators, per pair and overall",
    key=("pair",),
    columns=(
        text("pair", "Surface pair, or all"),
        integer("n", "Sentences"),
        integer("unanimous", "Sentences that all annotators answered alike"),
        share("percent_agreement", "Pairs of annotators that agree"),
        number("fleiss_kappa"),
        number("krippendorff_alpha", "For nominal data"),
        text("note", "Why kappa and alpha are not defined"),
    ),
    form="",
)

ANNOTATORS = Table(
    "annotators",
    title="How often each annotator gave each answer",
    key=("annotator",),
    columns=(text("annotator"), *map(integer, ("answers", *ANSWERS))),
)

#: Why a row has no kappa and no alpha.
ONE_ANSWER = "all answers are the same: kappa and alpha are not defined"


def agreement_rows(
    judged: list[Judged], pairs: list[str], values: Sequence[str] = GENDERS
) -> Iterator[Row]:
    """Yield a row per pair that has a sentence, in the order of `pairs`, and one of all."""
    groups: dict[str, list[Judged]] = {pair: [] for pair in pairs}
    for one in judged:
        groups.setdefault(surface_pair(one.row, values), []).append(one)
    for pair, group in groups.items():
        if group:
            yield _row(pair, group)
    yield _row("all", judged)


def _row(pair: str, group: list[Judged]) -> Row:
    return dict(zip(AGREEMENT.header, [pair, *_measures(group)], strict=True))


def _measures(group: list[Judged]) -> list[Any]:
    """n, unanimous, percent agreement, kappa, alpha, note."""
    import numpy as np

    from evenhand.metrics import agreement

    if not group:
        return [0, 0, None, None, None, "there is no sentence"]
    codes = np.array([[ANSWERS.index(word) for word in one.words()] for one in group])
    if codes.shape[1] < 2:
        return [len(group), len(group), None, None, None, "there is one annotator"]
    measures = [
        agreement.percent_agreement(codes),
        agreement.fleiss_kappa(codes),
        agreement.krippendorff_alpha(codes),
    ]
    rounded = [None if value is None else round(value, 6) for value in measures]
    note = ONE_ANSWER if None in measures else None
    return [len(group), int(agreement.unanimous(codes).sum()), *rounded, note]


def write_disagreements(path: Path, judged: list[Judged], values: Sequence[str] = GENDERS) -> None:
    """Write disagreements.csv; see `evenhand.slguset.build_dataset`."""
    names = sorted({answer["annotator"] for one in judged for answer in one.answers})
    fields = ("answer", "criterion", "comment")
    header = ["round", "rank", "sentence_id", "pair", "sentence"]
    header += [f"{field}_{name}" for field in fields for name in names]
    rows = []
    for one in judged:
        if one.unanimous():
            continue
        by_name = {answer["annotator"]: answer for answer in one.answers}
        row = one.row
        rows.append(
            [row["round"], row["rank"], row["sentence_id"], surface_pair(row, values)]
            + [row["sentence"]]
            + [by_name.get(name, {}).get(field) for field in fields for name in names]
        )
    write_csv(path, header, rows)


def annotator_rows(judged: list[Judged]) -> Iterator[Row]:
    """Yield a row per annotator, sorted."""
    given = Counter((one["annotator"], one["answer"]) for each in judged for one in each.answers)
    for name in sorted({name for name, _ in given}):
        counts = {answer: given[name, answer] for answer in ANSWERS}
        yield {"annotator": name, "answers": sum(counts.values())} | counts
