"""The predictions of all classifiers of a data set: the input of each table of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.core.tables import Row, read_table, text
from evenhand.legal.built import BuiltCases
from evenhand.legal.declaration import Dataset
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.published import NOT_RUN, REPRODUCED
from evenhand.legal.records import SPLITS
from evenhand.legal.scored import Cases, Runs
from evenhand.metrics.inference import INCONCLUSIVE, conclude

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

#: Below this p-value a result is called above noise, or a difference is called one.
CHANCE = 0.05

#: The verdict of `noise_verdict`, for the descriptions of columns.
NOISE_VERDICT = (
    "above: above noise, p below 0.05; equivalent: a disparity of delta would be larger, at 5 %,"
    " and would be found in 80 %, predictions differ between cases and no group is small; else"
    " inconclusive"
)


def is_constant(row: Mapping[str, Any]) -> bool:
    """Whether a row is inconclusive because the classifier predicts the same for every case."""
    always = row["seeds"] is not None and row["constant_seeds"] == row["seeds"]
    return always and row["noise_verdict"] == INCONCLUSIVE


def noise_verdict(p: float, equivalent: bool) -> str:
    """Compare a value with random groups; p-values are not adjusted for their number."""
    return conclude(1.0, p, equivalent, level=1 - CHANCE)


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
    resamples, permutations, swaps : int
        Bootstrap samples, random groups, random swaps of predictions.
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
    resamples: int = 1000
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
