"""Predictions of several trainings beside the cases, as the stages that score them use them."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenhand.errors import InputError
from evenhand.legal.built import (
    Groups,
    read_cases_table,
    read_groups,
    read_labels,
    read_splits,
)
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.declaration import read_dataset
from evenhand.legal.groups import PLUS, attributes, multiply
from evenhand.legal.predictions import NO_ATTRIBUTE, labelled, read_predictions
from evenhand.legal.records import SPLITS
from evenhand.metrics.classification import (
    Counts,
    counts_of,
    predicted_labels,
    stacked,
    with_none_class,
)
from evenhand.metrics.disparity import disparity, group_sums, resampled_sums

#: The objective that others are measured against.
BASE = "erm"

#: Groups with fewer cases say little; a gap that does not stand out is put down to them.
FEW = 20


class Setting(NamedTuple):
    """The setting that the seeds of a classifier share."""

    classifier: str
    objective: str
    trained_for: str


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
        return as_classes(self.true, self.dataset)

    def of(self, members: np.ndarray) -> "Cases":
        """Some of the cases."""
        groups = [one._replace(codes=one.codes[members]) for one in self.groups]
        return Cases(self.dataset, self.splits[members], self.true[members], groups)


class Runs(NamedTuple):
    """Trainings and their predictions for cases.

    Attributes
    ----------
    settings : list of Setting
        Of each run; runs of one setting are adjacent, by seed.
    seeds : list of int
    logits : array of float32, shape (runs, n, labels)
    twins : array of float32, shape (runs, n, labels)
        Logits of the cases' counterfactuals; NaN where there is none or it was not predicted.
    """

    settings: list[Setting]
    seeds: list[int]
    logits: np.ndarray
    twins: np.ndarray

    def of(self, condition: Callable[[Setting], bool]) -> "Runs":
        """The runs of some settings."""
        kept = [place for place, setting in enumerate(self.settings) if condition(setting)]
        return Runs(
            [self.settings[one] for one in kept], [self.seeds[one] for one in kept],
            self.logits[kept], self.twins[kept],
        )  # fmt: skip

    def by_setting(self) -> dict[Setting, list[int]]:
        """The places of the runs of each setting, by seed."""
        found: dict[Setting, list[int]] = {}
        for place, setting in enumerate(self.settings):
            found.setdefault(setting, []).append(place)
        return found


def as_classes(labels: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Labels (..., k) as they are scored: "none" is a class of a task with several labels."""
    return with_none_class(labels) if dataset.task == "multi_label" else labels


def read_scored(
    data: Path,
    predictions: Sequence[Path],
    splits: Sequence[str],
) -> tuple[Cases, Runs]:
    """Read the cases with known labels of some splits, and each training's predictions.

    Raises
    ------
    InputError
        A split is none, or has no such case; the predictions are not of these cases and labels;
        a training is in two files; there is none.
    """
    dataset = read_dataset(data)
    if strange := [split for split in splits if split not in SPLITS]:
        raise InputError(
            f"there is no split {strange[0]!r}", remedy=f"the splits are {', '.join(SPLITS)}"
        )
    of_case = read_splits(data)
    known, hot = read_labels(data, dataset)
    places = labelled(known, of_case)
    ids = np.array(read_cases_table(data, ["case_id"])["case_id"].to_pylist(), dtype=str)[places]
    kept = np.isin(of_case[places], list(splits))
    for split in splits:
        if not (of_case[places] == split).any():
            raise InputError(f"has no case with a known label in {split}", file=data)
    every = [one._replace(codes=one.codes[places]) for one in read_groups(data, dataset)]
    groups = [one._replace(codes=one.codes[kept]) for one in every]
    cases = Cases(dataset, of_case[places][kept], hot[places][kept].astype(bool), groups)
    runs = _read_runs(predictions, ids, of_case[places], kept, cases)
    train = np.flatnonzero(of_case[places] == SPLITS[0])
    for names in dict.fromkeys(tuple(attributes(one.trained_for)) for one in runs.settings):
        if len(names) > 1:  # groups of a product of attributes are scored as those of one
            parts = [one for one in every if one.attribute.name in names]
            codes, of_product, _ = multiply(parts, None, (), train)
            name = PLUS.join(names)
            made = Attribute(name=name, module="", title=name, groups=of_product[:-1])
            groups.append(Groups(made, of_product, codes[kept]))
    return cases, runs


def _read_runs(
    predictions: Sequence[Path],
    ids: np.ndarray,
    splits: np.ndarray,
    kept: np.ndarray,
    cases: Cases,
) -> Runs:
    known = {NO_ATTRIBUTE, *(one.attribute.name for one in cases.groups)}
    place = {case: number for number, case in enumerate(ids.tolist())}
    found: dict[tuple[Setting, int], tuple[Path, np.ndarray, np.ndarray]] = {}
    labels = cases.true.shape[1]
    for path in predictions:
        for one in read_predictions(path):
            setting = Setting(one.classifier, one.objective, one.attribute)
            if (setting, one.seed) in found:
                raise InputError(
                    f"holds the seed {one.seed} of {' '.join(setting)}, as does"
                    f" {found[setting, one.seed][0]}",
                    file=path,
                    remedy="give each training once",
                )
            if not known.issuperset(attributes(one.attribute)):
                raise InputError(
                    f"is of the attribute {one.attribute!r}, which the data set does not have",
                    file=path,
                )
            if one.logits.shape[1] != labels:
                raise InputError(f"has {one.logits.shape[1]} logits for {labels} labels", file=path)
            order = one.case_ids.tolist()
            if len(order) != len(ids) or any(case not in place for case in order):
                raise _others(path)
            rows = np.array([place[case] for case in order], dtype=np.int64)
            if (splits[rows] != one.splits).any():
                raise _others(path)
            logits, twins = np.empty_like(one.logits), np.full_like(one.logits, np.nan)
            logits[rows] = one.logits
            if one.twin_logits is not None:
                twins[rows] = one.twin_logits
            found[setting, one.seed] = path, logits[kept], twins[kept]
    if not found:
        raise InputError("there are no predictions to score", file=next(iter(predictions), None))
    keys = sorted(found, key=lambda key: (key[0].classifier, _after_base(key[0]), key[1]))
    return Runs(
        [setting for setting, _ in keys],
        [seed for _, seed in keys],
        np.stack([found[key][1] for key in keys]),
        np.stack([found[key][2] for key in keys]),
    )


def _others(path: Path) -> InputError:
    return InputError(
        "is not of the cases with known labels of the data set, each once, in their splits",
        file=path,
        remedy="train anew on the data set as it is",
    )


def _after_base(setting: Setting) -> tuple[bool, str, str]:
    return setting.objective != BASE, setting.objective, setting.trained_for


def scored_for(attribute: str) -> Callable[[Setting], bool]:
    """Whether a setting is scored for an attribute: trained for it, a product of it, or none."""
    parts = set(attributes(attribute))
    return lambda one: one.trained_for == NO_ATTRIBUTE or parts <= set(attributes(one.trained_for))


def case_counts(cases: Cases, runs: Runs) -> np.ndarray:
    """Return each case's contribution to the counts of `metrics.classification`."""
    predicted = as_classes(predicted_labels(runs.logits, cases.dataset.task), cases.dataset)
    return stacked(cases.classes, predicted)


def drawn_seed(*words: object) -> int:
    """A seed that depends on nothing but these words."""
    name = "/".join(map(str, words))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def scores_of_groups(
    sums: np.ndarray, sizes: np.ndarray, classes: int, convention: Callable[[Counts], np.ndarray]
) -> np.ndarray:
    """Percent, by run and group; NaN for a group without a case.

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


class Resampled(NamedTuple):
    """Sums of `case_counts` over the cases and over bootstrap samples of them.

    Cases are drawn within their group, so that a group keeps its size and none is ever empty. The
    sums of all cases come from draws that know no groups, and are the same for each attribute.

    Attributes
    ----------
    sizes : array of int, shape (groups,)
        Without the unknown group.
    of_groups : array, shape (groups, m)
    of_groups_drawn : array, shape (resamples, groups, m)
    """

    sizes: np.ndarray
    of_groups: np.ndarray
    of_groups_drawn: np.ndarray


def resample_groups(values: np.ndarray, one: Groups, name: str, resamples: int) -> Resampled:
    """Draw the cases of each group of an attribute.

    Parameters
    ----------
    values : array, shape (n, m)
        The contribution of each case.
    one : Groups
        The groups of these cases.
    name : str
        A name that seeds the draws, besides attribute and group.
    resamples : int
        How many samples.
    """
    groups = one.unknown
    sizes = np.bincount(one.codes, minlength=groups + 1)[:groups]
    drawn = np.zeros((resamples, groups, values.shape[1]), dtype=values.dtype)
    for group in np.flatnonzero(sizes).tolist():
        seed = drawn_seed(name, one.attribute.name, one.names[group])
        own = values[one.codes == group]
        drawn[:, group] = resampled_sums(own, seed=seed, resamples=resamples)
    return Resampled(sizes, group_sums(values, one.codes, groups), drawn)


#: What is measured of a classifier on an attribute, in percent (overall: on all cases).
MEASURES = ("overall", "mean", "gd", "worst")


def measured(overall: np.ndarray, of_groups: np.ndarray) -> dict[str, np.ndarray]:
    """The `MEASURES` from scores of all cases (...) and of groups (..., groups)."""
    return {"overall": overall, **disparity(of_groups)._asdict()}
