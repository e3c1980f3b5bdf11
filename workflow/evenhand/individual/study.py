"""The runs of all data sets, the input of each table of individual fairness."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.core.tables import Row
from evenhand.individual.names import titles_of
from evenhand.individual.published import Published
from evenhand.individual.reported_settings import ReportedSetting, reported_settings
from evenhand.individual.results import Result, Setting, by_setting
from evenhand.tabular.prepared import Prepared


@dataclass(frozen=True, eq=False)
class IndividualStudy:
    """Runs, predictions, data sets, and the published numbers.

    Parameters
    ----------
    runs : list of dict
        All runs, from `evenhand.individual.results.read_runs`.
    groups : dict
        The runs with the measures of each group, from `read_groups`.
    trainings : list of (Path, Path)
        The tables of runs and of predictions of each training.
    people : dict
        The data sets by name, in the order of the configuration.
    published : Published
    settings : list of dict
        The reported settings of methods, from `read_settings`.
    training : Path
        ``training.csv``: layers, learning rates, batches and epochs.
    delta : float
        The smallest difference that matters, in percentage points.
    """

    runs: list[Row]
    groups: dict[int, list[dict[str, Any]]]
    trainings: list[tuple[Path, Path]]
    people: dict[str, Prepared]
    published: Published
    settings: list[dict[str, Any]]
    training: Path
    delta: float = 5.0

    @cached_property
    def results(self) -> dict[Setting, Result]:
        """The runs of each setting, ordered by setting."""
        return by_setting(self.runs)

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of each data set."""
        return titles_of({"name": table.name, "meta": table.meta} for table in self.people.values())

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets with runs: those of the paper first, in its order."""
        trained = {row["dataset"] for row in self.runs}
        names = [*(cell[0] for cells in self.published.cells.values() for cell in cells)]
        return [name for name in dict.fromkeys([*names, *sorted(trained)]) if name in trained]

    def reported(self, dataset: str) -> list[ReportedSetting]:
        """Return the reported settings of a data set."""
        return reported_settings(dataset, self.settings, self.results)

    def reported_results(self) -> Iterator[tuple[ReportedSetting, Result | None]]:
        """Yield the reported settings of all data sets with their runs."""
        for name in self.datasets:
            for reported in self.reported(name):
                yield reported, self.results.get(reported.setting)
