"""The cases behind the scores and the disparity of a data set's classifiers."""

from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenhand.comparison.items.common import Items
from evenhand.comparison.results import Results
from evenhand.legal.built import BuiltCases
from evenhand.legal.classifier_study import (
    FEW,
    MEAN,
    Cases,
    case_counts,
    measured,
    read_scored,
    scores_of_groups,
)
from evenhand.metrics.classification import conventions, influence
from evenhand.metrics.disparity import disparity
from evenhand.metrics.group import group_sums


class Trained(NamedTuple):
    """The cases of a split, with the counts of a training's seeds (`case_counts`)."""

    ids: np.ndarray
    cases: Cases
    seeds: list[str]
    counts: np.ndarray


class Store:
    """The cases of a data set: of ``tables/classifiers/{dataset}/scores.csv``."""

    def __init__(self, results: Results, table: str) -> None:
        self.training = partial(results.training, Path(table).parent.name)
        self.read = cache(self._read)

    def _read(self, split: str, *setting: str) -> Trained | None:
        data, files = self.training(*setting)
        if not files or not data.is_file():
            return None
        built = BuiltCases(data)
        cases, runs = read_scored(built, files, [split])
        places = built.labelled
        ids = np.array(built.case_ids, dtype=str)[places[built.splits[places] == split]]
        return Trained(ids, cases, list(map(str, runs.seeds)), case_counts(cases, runs))

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the cases of a number, their influences on it added to it, and each seed's."""
        setting = (key[name] for name in ("split", "classifier", "objective", "trained_for"))
        if (trained := self.read(*setting)) is None:
            return None
        parts = {some.attribute.name: some for some in trained.cases.groups}
        places = [n for n, seed in enumerate(trained.seeds) if key["seed"] in (MEAN, seed)]
        if key["attribute"] not in parts or not places:
            return None
        groups = parts[key["attribute"]]
        codes, count = groups.codes, groups.unknown
        if column == "overall":
            codes, count = np.zeros_like(codes), 1
        sizes = np.bincount(codes, minlength=count)[:count]
        if column != "overall" and sizes[sizes > 0].min(initial=FEW) < FEW:
            return None
        classes = trained.cases.classes.shape[1]
        convention = conventions(trained.cases.dataset.task)[key["convention"]]
        sums = group_sums(trained.counts, codes, count)
        scores = scores_of_groups(sums, sizes, classes, convention)[places]
        numbers, slopes = measured(scores[:, 0], scores)[column], _slopes(column, scores)
        known = codes < count
        values = np.full(len(codes), numbers.mean())
        for group in np.flatnonzero(sizes):
            of_case = influence(trained.counts[codes == group], classes, convention)[:, places]
            of_number = 100 * (of_case * slopes[:, group]).mean(axis=1)
            values[codes == group] += known.sum() * of_number
        runs = numbers if len(numbers) > 1 else np.empty(0)
        return Items(trained.ids[known], trained.ids[known], values[known], runs)


def _slopes(column: str, scores: np.ndarray) -> np.ndarray:
    """Return by how much a number rises with the score of each group: (runs, groups)."""
    there = np.isfinite(scores)
    if column == "worst":
        worst = np.where(there, scores, np.inf).argmin(axis=1)
        return np.eye(scores.shape[1])[worst]
    each = there / there.sum(axis=1, keepdims=True)
    if column != "gd":
        return each
    mean, deviation, _ = disparity(scores)
    apart = np.where(there, scores - mean[:, None], 0.0)
    return each * np.divide(apart, deviation[:, None], out=np.zeros_like(apart), where=apart != 0)
