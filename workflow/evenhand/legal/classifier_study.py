"""The predictions of all classifiers of a data set: the input of each table of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, read_table, text
from evenhand.errors import InputError
from evenhand.legal.built import BuiltCases, Groups, with_none
from evenhand.legal.declaration import Attribute, Dataset
from evenhand.legal.groups import NO_ATTRIBUTE, PLUS, attributes, multiply
from evenhand.legal.predictions import read_predictions
from evenhand.legal.published import NOT_RUN, REPRODUCED
from evenhand.legal.records import SPLITS
from evenhand.metrics.classification import Counts, counts_of, predicted_labels, stacked
from evenhand.metrics.disparity import disparity
from evenhand.metrics.inference import conclude

#: The seed of all draws of the tables.
SEED = 1

#: The objective that others are measured against.
BASE = "erm"

#: Groups with fewer cases say little; a gap that does not stand out is put down to them.
FEW = 20


class Setting(NamedTuple):
    """The setting that the seeds of a classifier share."""

    classifier: str
    objective: str
    trained_for: str

    @property
    def plain(self) -> "Setting":
        """The plain training (ERM without groups) of the same classifier."""
        return Setting(self.classifier, BASE, NO_ATTRIBUTE)

    @property
    def order(self) -> tuple[str, bool, str, str]:
        """The sort key: plain training first, then the other objectives of a classifier."""
        return self.classifier, self.objective != BASE, self.objective, self.trained_for

    def scored_for(self, attribute: str) -> bool:
        """Return whether it was trained for an attribute, a product of it, or none."""
        trained_for = set(attributes(self.trained_for))
        return self.trained_for == NO_ATTRIBUTE or trained_for.issuperset(attributes(attribute))


class Cases(NamedTuple):
    """Cases with a known label of some splits.

    Attributes
    ----------
    dataset : Dataset
    splits : array of str, shape (n,)
    true : array of bool, shape (n, labels)
        Without a class for "none".
    groups : list of Groups
        With codes of these cases only.
    """

    dataset: Dataset
    splits: np.ndarray
    true: np.ndarray
    groups: list[Groups]

    @property
    def classes(self) -> np.ndarray:
        """The labels as they are scored: with "none" as a class where there may be several."""
        return with_none(self.true, self.dataset)

    def take(self, rows: np.ndarray) -> "Cases":
        """Return some of the cases."""
        groups = [some.take(rows) for some in self.groups]
        return Cases(self.dataset, self.splits[rows], self.true[rows], groups)


class Runs(NamedTuple):
    """Trainings and their predictions for cases.

    Attributes
    ----------
    settings : list of Setting
        Of each run; runs of one setting are adjacent, by seed.
    seeds : list of int
    logits, counterfactual_logits : array of float32, shape (runs, n, labels)
        The latter are NaN where there is no counterfactual or it was not predicted.
    """

    settings: list[Setting]
    seeds: list[int]
    logits: np.ndarray
    counterfactual_logits: np.ndarray

    def take(self, places: list[int]) -> "Runs":
        """Return some of the runs."""
        return Runs(
            [self.settings[place] for place in places],
            [self.seeds[place] for place in places],
            self.logits[places],
            self.counterfactual_logits[places],
        )

    def scored_for(self, attribute: str) -> list[int]:
        """Return the places of the runs that are scored for an attribute."""
        return [n for n, setting in enumerate(self.settings) if setting.scored_for(attribute)]

    def by_setting(self, attribute: str | None = None) -> dict[Setting, list[int]]:
        """Return the places of the runs of each setting, or of those scored for an attribute."""
        places_by_setting: dict[Setting, list[int]] = {}
        for place, setting in enumerate(self.settings):
            if attribute is None or setting.scored_for(attribute):
                places_by_setting.setdefault(setting, []).append(place)
        return places_by_setting


def read_scored(
    data: BuiltCases, predictions: Sequence[Path], splits: Sequence[str]
) -> tuple[Cases, Runs]:
    """Read the cases with known labels of some splits, and each training's predictions.

    Raises
    ------
    InputError
        A split has no such case; the predictions are not of these cases; a training is in two
        files; there is none.
    """
    places = data.labelled
    of_case = data.splits[places]
    for split in splits:
        if not (of_case == split).any():
            raise InputError(f"has no case with a known label in {split}", file=data.path)
    kept = np.isin(of_case, list(splits))
    groups = [some.take(places) for some in data.groups]
    every = Cases(data.dataset, of_case, data.labels[1][places].astype(bool), groups)
    ids = np.array(data.case_ids, dtype=str)[places]
    runs = _read_runs(predictions, ids, every, kept)
    for names in dict.fromkeys(tuple(attributes(setting.trained_for)) for setting in runs.settings):
        if len(names) > 1:  # groups of a product of attributes are scored as those of one
            parts = [some for some in groups if some.attribute.name in names]
            codes, of_product, _ = multiply(parts, None, (), np.flatnonzero(of_case == SPLITS[0]))
            name = PLUS.join(names)
            made = Attribute(name=name, module="", title=name, groups=of_product[:-1])
            every.groups.append(Groups(made, of_product, codes))
    return every.take(kept), runs


def _read_runs(
    predictions: Sequence[Path], ids: np.ndarray, cases: Cases, kept: np.ndarray
) -> Runs:
    import pandas

    index = pandas.Index(ids)
    by_run: dict[tuple[Setting, int], tuple[np.ndarray, np.ndarray]] = {}
    for path in predictions:
        for run in read_predictions(path):
            setting = Setting(run.classifier, run.objective, run.attribute)
            order = index.get_indexer(run.case_ids)
            whole = len(order) == len(ids) and (order >= 0).all()
            if not whole or (cases.splits[order] != run.splits).any():
                problem = (
                    "is not of the cases with known labels of the data set, each once, in their"
                    " splits"
                )
                raise InputError(problem, file=path, remedy="train anew on the data set as it is")
            logits = np.empty_like(run.logits)
            counterfactual_logits = np.full_like(logits, np.nan)
            logits[order] = run.logits
            if run.counterfactual_logits is not None:
                counterfactual_logits[order] = run.counterfactual_logits
            by_run[setting, run.seed] = logits[kept], counterfactual_logits[kept]
    if not by_run:
        raise InputError("there are no predictions to score", file=next(iter(predictions), None))
    keys = sorted(by_run, key=lambda key: (key[0].order, key[1]))
    return Runs(
        [setting for setting, _ in keys],
        [seed for _, seed in keys],
        *(np.stack([by_run[key][place] for key in keys]) for place in (0, 1)),
    )


def case_counts(cases: Cases, runs: Runs) -> np.ndarray:
    """Return each case's contribution to the counts of `metrics.classification`."""
    predicted = with_none(predicted_labels(runs.logits, cases.dataset.task), cases.dataset)
    return stacked(cases.classes, predicted)


def scores_of_groups(
    sums: np.ndarray, sizes: np.ndarray, classes: int, convention: Callable[[Counts], np.ndarray]
) -> np.ndarray:
    """Return percent by run and group; NaN for a group without a case.

    Parameters
    ----------
    sums : array, shape (..., groups, m)
        Of `case_counts`.
    sizes : array of int, shape (groups,)
        Cases of each group.
    classes : int
        How many classes are scored.
    convention : callable
        Of `metrics.classification.conventions`.

    Returns
    -------
    array of float, shape (..., runs, groups)
    """
    scores = 100 * np.swapaxes(convention(counts_of(sums, classes)), -1, -2)
    return np.where(sizes > 0, scores, np.nan)


def measured(overall: np.ndarray, of_groups: np.ndarray) -> dict[str, np.ndarray]:
    """Return the `MEASURES` from scores of all cases (...) and of groups (..., groups)."""
    return {"overall": overall, **disparity(of_groups)._asdict()}


#: The columns that name the trainings behind a row.
SETTING = (
    text("dataset"),
    text("classifier"),
    text("objective"),
    text("trained_for", "The attribute whose groups the training used, or none"),
)

#: Their names, which begin the key of a table.
SETTING_KEY = tuple(column.name for column in SETTING)

#: How the epoch was chosen.
SELECT = text(
    "select", "The development score that chose the epoch: over all, worst group, or mean of groups"
)

#: The seed of a row that is the mean over seeds.
MEAN = "mean"

#: The verdict of `noise_verdict`, for the descriptions of columns.
NOISE_VERDICT = (
    "above: above noise, p below 0.05; equivalent: a disparity of delta would be larger, at 5 %,"
    " and would be found in 80 %, the 90 % interval of gd ends below delta, predictions differ"
    " between cases and no group is small; else inconclusive"
)


def is_constant(row: Mapping[str, Any]) -> bool:
    """Whether all seeds predict the same for every case, so that a gap comes from labels."""
    return bool(row["seeds"]) and row["constant_seeds"] == row["seeds"]


def noise_verdict(p: float, equivalent: bool) -> str:
    """Compare a value with random groups; p-values are not adjusted for their number."""
    return conclude(1.0, p, equivalent, level=1 - ALPHA)


@dataclass(frozen=True, eq=False)
class ClassifierStudy:
    """The predictions of a data set's classifiers and its cases, read once.

    Parameters
    ----------
    data : BuiltCases
        All cases of the data set.
    cases, runs : Cases, Runs
        The cases of `splits` with known labels, and the predictions for them.
    predictions, histories : list of Path
        The files of all trainings.
    case_tables : Path
        The folder that `tabulate_cases` wrote.
    scores, claims : Path
        FairLex's published values (published_scores.csv, published_claims.csv).
    stands_for : dict of str to str
        The classifier of the paper (linear, transformer) that each of ours reproduces, if any.
    select : dict of str to str
        The development score by which a classifier's epochs are chosen; macro_f1 by default.
    compat_objectives : tuple of str
        The objectives that ran as in the published code.
    positive : int, optional
        The place of the label whose rates are compared between groups.
    splits : tuple of str
        The splits that are scored; most tables are of test alone.
    delta : float
        The smallest difference that matters, in points.
    permutations, swaps : int
        Random groups, random swaps of predictions.
    """

    data: BuiltCases
    cases: Cases
    runs: Runs
    predictions: list[Path]
    histories: list[Path]
    case_tables: Path
    scores: Path
    claims: Path
    stands_for: dict[str, str] = field(default_factory=dict)
    select: dict[str, str] = field(default_factory=dict)
    compat_objectives: tuple[str, ...] = ()
    positive: int | None = None
    splits: tuple[str, ...] = ("dev", "test")
    delta: float = 5.0
    permutations: int = 1000
    swaps: int = 4999

    @property
    def dataset(self) -> Dataset:
        """The fixed properties of the data set's kind."""
        return self.cases.dataset

    def selected(self, row: Row) -> Row:
        """Return a row of a setting with the development score that chose the epochs."""
        grouped = row["trained_for"] != NO_ATTRIBUTE  # others have one score only
        chosen = self.select.get(row["classifier"]) if grouped else None
        return {**row, SELECT.name: chosen or "macro_f1"}

    @cached_property
    def test(self) -> tuple[Cases, Runs]:
        """The test cases, and the predictions for them."""
        return self.of_split("test")

    def of_split(self, split: str) -> tuple[Cases, Runs]:
        """The cases of a split, and the predictions for them."""
        members = self.cases.splits == split
        runs = self.runs
        return self.cases.take(members), runs._replace(
            logits=runs.logits[:, members],
            counterfactual_logits=runs.counterfactual_logits[:, members],
        )

    @cached_property
    def other_cases(self) -> str | None:
        """Why the cases are not those of the paper, if they are not."""
        for row in read_table(self.case_tables / "sizes.csv"):
            named = row["quantity"] == "cases" and row["item"] in SPLITS
            if named and row["verdict"] != REPRODUCED:
                if row["verdict"] in (NOT_RUN, None):
                    return "the cases are not FairLex's own"
                return f"{row['item']} has {row['ours']} cases, and FairLex's {row['published']}"
        return None
