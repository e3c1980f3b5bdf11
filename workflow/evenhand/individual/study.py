"""The runs of all data sets, the input of each table; and the settings that tables report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.rows import grouped_by
from evenhand.core.tables import Row
from evenhand.individual.names import titles_of
from evenhand.individual.published import Published, settings_of
from evenhand.individual.results import Result, Setting, by_setting
from evenhand.tabular.prepared import Prepared

#: Why a setting is reported: `settings.csv` names it; it has the same numbers as a named one, with
#: another reduction, base, unit of epsilon or split; no named one was run, and it is the first of
#: its kind in the grid, preferably of the named mu; `settings.csv` does not name the method, so
#: that all its settings are reported.
NAMED, ALIKE, FIRST, EVERY = "named", "alike", "first", "every"

#: In Table 8: the setting with the most thresholds.
MOST = "most"


class ReportedSetting(NamedTuple):
    """A setting, and why it is reported."""

    setting: Setting
    choice: str


def reported_settings(
    dataset: str, chosen: Sequence[dict[str, Any]], results: Mapping[Setting, Result]
) -> list[ReportedSetting]:
    """Return the reported settings of a data set, at least one for each method that was run.

    Parameters
    ----------
    dataset : str
        The name of the data set.
    chosen : sequence of dict
        The result of `evenhand.individual.published.read_settings`.
    results : mapping
        The result of `evenhand.individual.results.by_setting`.

    Returns
    -------
    list of ReportedSetting
        A kind is a method with an individual loss on a kind of split. First come the named
        settings, in the order of `chosen`, whether they were run or not. If no named setting of a
        kind was run, the first of them is followed by the first setting of the kind that was run,
        preferably with the same lambda, epsilon and mu, or else the same mu. Then come the first
        settings of unnamed kinds of named methods, preferably with the numbers that are named for
        another split, and then all settings of unnamed methods.

        "First" is by the order of the grid (lambda, epsilon, mu), among settings with a run that
        did not diverge, or among all if there is none.
    """
    ran = grouped_by((key for key in results if key.dataset == dataset), _kind)

    def first(kind: tuple[str, str, str], named: Setting | None = None) -> ReportedSetting:
        alike = [key for key in ran[kind] if named and _numbers(key) == _numbers(named)]

        def order(key: Setting) -> tuple[Any, ...]:
            return not results[key].runs, named and key.mu != named.mu, results[key].first

        key = min(alike or ran[kind], key=order)
        return ReportedSetting(key, ALIKE if alike else FIRST)

    reported = []
    named = [row["key"] for row in settings_of(list(chosen), dataset)]
    kinds = {_kind(key) for key in named}
    met = {_kind(key) for key in named if key in results}
    for key in named:
        reported.append(ReportedSetting(key, NAMED))
        if key not in results and _kind(key) in ran.keys() - met:
            reported.append(first(_kind(key), key))
            met.add(_kind(key))
    methods = {row["setting"]["method"] for row in chosen}
    by_method = {_kind(key)[:2]: key for key in named}  # whatever the split
    reported += [
        first(kind, by_method.get(kind[:2]))
        for kind in ran
        if kind not in kinds and kind[0] in methods
    ]
    for kind, keys in ran.items():
        if kind[0] not in methods:
            reported += [ReportedSetting(key, EVERY) for key in keys]
    return reported


def _kind(setting: Setting) -> tuple[str, str, str]:
    return setting.method, setting.individual, setting.split


def _numbers(setting: Setting) -> tuple[float | None, ...]:
    return setting.weight, setting.epsilon, setting.mu


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
