"""Agreement of the annotators, and the sentences on which they disagree."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.io.sheets import write_csv
from evenhand.slguset.annotation import ANSWERS, Judged
from evenhand.slguset.surface_pairs import surface_pair

COLUMNS = ["pair", "n", "unanimous", "percent_agreement", "fleiss_kappa", "krippendorff_alpha",
           "note"]  # fmt: skip

#: Why a row has no kappa and no alpha.
ONE_ANSWER = "all answers are the same: kappa and alpha are not defined"


def write_agreement(path: Path, judged: list[Judged], pairs: list[str]) -> None:
    """Write agreement.csv; see `evenhand.slguset.build_dataset`."""
    groups: dict[str, list[Judged]] = {pair: [] for pair in pairs}
    for one in judged:
        groups.setdefault(surface_pair(one.row), []).append(one)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for pair, group in groups.items():
            if group:
                writer.writerow([pair, *_measures(group)])
        writer.writerow(["all", *_measures(judged)])


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


def write_disagreements(path: Path, judged: list[Judged]) -> None:
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
            [row["round"], row["rank"], row["sentence_id"], surface_pair(row), row["sentence"]]
            + [by_name.get(name, {}).get(field) for field in fields for name in names]
        )
    write_csv(path, header, rows)


def write_annotators(path: Path, judged: list[Judged]) -> None:
    """Write annotators.csv; see `evenhand.slguset.build_dataset`."""
    given = Counter((one["annotator"], one["answer"]) for each in judged for one in each.answers)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["annotator", "answers", *ANSWERS])
        for name in sorted({name for name, _ in given}):
            counts = [given[name, answer] for answer in ANSWERS]
            writer.writerow([name, sum(counts), *counts])
