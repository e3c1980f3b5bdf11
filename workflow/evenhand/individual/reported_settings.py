"""Select the settings that tables, tests and findings report for each method."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand.individual.published import settings_of
from evenhand.individual.results import SETTING, Result, Setting

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
    ran: dict[Setting, list[Setting]] = {}
    for key in results:
        if key[0] == dataset:
            ran.setdefault(_kind(key), []).append(key)

    def first(kind: Setting, named: Setting | None = None) -> ReportedSetting:
        alike = [key for key in ran[kind] if named and _numbers(key) == _numbers(named)]
        mu = SETTING.index("mu")

        def order(key: Setting) -> tuple[Any, ...]:
            return not results[key].runs, named and key[mu] != named[mu], results[key].first

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


def _kind(setting: Setting) -> Setting:
    return tuple(setting[SETTING.index(name)] for name in ("method", "individual", "split"))


def _numbers(setting: Setting) -> Setting:
    return tuple(setting[SETTING.index(name)] for name in ("lambda", "epsilon", "mu"))
