"""Measure how far the annotators agree, and list the sentences on which they do not."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.io.sheets import write_csv
from evenhand.slguset.judgements import Judged, read_judgements
from evenhand.slguset.sheet_columns import ANSWERS
from evenhand.slguset.surface_pairs import surface_pair, surface_pairs

COLUMNS = ["pair", "n", "unanimous", "percent_agreement", "fleiss_kappa", "krippendorff_alpha",
           "note"]  # fmt: skip

#: Why a row has no kappa and no alpha.
ONE_ANSWER = "all answers are the same: kappa and alpha are not defined"


def measure_agreement(
    *,
    samples: list[Input],
    answers: list[Input],
    keywords: Input,
    out: Output,
    disagreements: Output,
    annotators: Output,
) -> dict[str, Any]:
    """Measure how far the annotators agree, and list the sentences on which they do not.

    Parameters
    ----------
    samples : list of Path
        sample.parquet of each round.
    answers : list of Path
        answers.parquet of each round.
    keywords : Path
        The table of surface pairs (keywords.csv): the order of the rows.
    out : Path
        agreement.csv: per surface pair, and for `all` in the last row: n (sentences),
        unanimous (sentences), percent_agreement (share of pairs of annotators that agree, 0 to
        1), fleiss_kappa, krippendorff_alpha (nominal), note. Kappa and alpha are blank where
        they are not defined, and the note says why. Pairs without a sentence have no row.
    disagreements : Path
        disagreements.csv: the sentences that were not answered alike, with each annotator's
        answer, criterion and comment; safe to open in a spreadsheet program.
    annotators : Path
        annotators.csv: how often each annotator (sorted) gave each answer; answers is the sum.

    Returns
    -------
    dict
        sentences, unanimous, accepted_by_all, disagreements (sentences).
    """
    judged = read_judgements(samples, answers)
    groups: dict[str, list[Judged]] = {pair: [] for pair in surface_pairs(keywords)}
    for one in judged:
        groups.setdefault(surface_pair(one.row), []).append(one)
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for pair, group in groups.items():
            if group:
                writer.writerow([pair, *_measures(group)])
        writer.writerow(["all", *_measures(judged)])
    split = [one for one in judged if not one.unanimous()]
    _write_disagreements(disagreements, judged, split)
    _write_annotators(annotators, judged)
    return {
        "sentences": len(judged),
        "unanimous": len(judged) - len(split),
        "accepted_by_all": sum(set(one.said()) == {"accept"} for one in judged),
        "disagreements": len(split),
    }


def _measures(group: list[Judged]) -> list[Any]:
    """n, unanimous, percent agreement, kappa, alpha, note."""
    import numpy as np

    from evenhand.metrics import agreement

    if not group:
        return [0, 0, None, None, None, "there is no sentence"]
    codes = np.array([[ANSWERS.index(said) for said in one.said()] for one in group])
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


def _write_disagreements(path: Path, judged: list[Judged], split: list[Judged]) -> None:
    names = sorted({answer["annotator"] for one in judged for answer in one.answers})
    fields = ("answer", "criterion", "comment")
    header = ["round", "rank", "sentence_id", "pair", "sentence"]
    header += [f"{field}_{name}" for field in fields for name in names]
    rows = []
    for one in split:
        by_name = {answer["annotator"]: answer for answer in one.answers}
        row = one.row
        rows.append(
            [row["round"], row["rank"], row["sentence_id"], surface_pair(row), row["sentence"]]
            + [by_name.get(name, {}).get(field) for field in fields for name in names]
        )
    write_csv(path, header, rows)


def _write_annotators(path: Path, judged: list[Judged]) -> None:
    given = Counter((one["annotator"], one["answer"]) for each in judged for one in each.answers)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["annotator", "answers", *ANSWERS])
        for name in sorted({name for name, _ in given}):
            counts = [given[name, answer] for answer in ANSWERS]
            writer.writerow([name, sum(counts), *counts])


if __name__ == "__main__":
    stage.run(measure_agreement)
