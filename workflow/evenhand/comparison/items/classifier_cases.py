"""The cases behind the scores, the disparity and the gaps of a data set's classifiers."""

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
from evenhand.legal.classifier_tables.tests import RATES, rate_terms
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
        self.rows = cache(lambda: results.rows(table)[1])

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
        """Return the cases of a number, their influences on it added to it, and each seed's.

        The column is one of `MEASURES` or, for the gap between groups of a key's label, of `RATES`.
        """
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
        if column in RATES:
            labels = trained.cases.dataset.labels
            if key["label"] not in labels:
                return None
            place = labels.index(key["label"])
            scores, influences = _rates(column, trained, place, codes, count)
            numbers = np.nanmax(scores, axis=1) - np.nanmin(scores, axis=1)
        else:
            classes = trained.cases.classes.shape[1]
            convention = conventions(trained.cases.dataset.task)[key["convention"]]
            sums = group_sums(trained.counts, codes, count)
            scores = scores_of_groups(sums, sizes, classes, convention)
            numbers = measured(scores[:, 0], scores)[column]
            influences = np.zeros((len(codes), len(scores)))
            for group in np.flatnonzero(sizes):
                chosen = codes == group
                influences[chosen] = 100 * influence(trained.counts[chosen], classes, convention)
        numbers, known = numbers[places], np.flatnonzero(codes < count)
        slopes = _slopes(column, scores).T[codes[known]][:, places]
        of_case = (influences[known][:, places] * slopes).mean(axis=1)
        values = numbers.mean() + len(known) * of_case
        runs, names = numbers if len(numbers) > 1 else np.empty(0), trained.ids[known]
        parts = codes[known].astype(str), slopes.mean(axis=1)
        return Items(names, names, values, runs, *parts)


def _rates(
    rate: str, trained: Trained, label: int, codes: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a rate in percent by run and group, and the influence of each case: (n, runs)."""
    above, below = rate_terms(trained.counts, trained.cases.classes.shape[1], label)[rate]
    below = np.broadcast_to(below, above.shape)
    sums = [group_sums(part, codes, count) for part in (above, below)]
    shares = np.divide(*sums, out=np.full(sums[0].shape, np.nan), where=sums[1] > 0)
    influences, known = np.zeros(above.shape), codes < count
    share, of_group = np.nan_to_num(shares)[codes[known]], np.maximum(sums[1], 1)[codes[known]]
    influences[known] = 100 * (above[known] - share * below[known]) / of_group
    return 100 * shares.T, influences


def _slopes(column: str, scores: np.ndarray) -> np.ndarray:
    """Return by how much a number rises with the score of each group: (runs, groups)."""
    there, each_group = np.isfinite(scores), np.eye(scores.shape[1])
    if column == "worst":
        return each_group[np.where(there, scores, np.inf).argmin(axis=1)]
    if column in RATES:
        highest = np.where(there, scores, -np.inf).argmax(axis=1)
        return each_group[highest] - each_group[np.where(there, scores, np.inf).argmin(axis=1)]
    each = there / there.sum(axis=1, keepdims=True)
    if column != "gd":
        return each
    mean, deviation, _ = disparity(scores)
    apart = np.where(there, scores - mean[:, None], 0.0)
    return each * np.divide(apart, deviation[:, None], out=np.zeros_like(apart), where=apart != 0)
