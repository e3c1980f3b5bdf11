"""Which settings stand in tables, tests and findings: `lines_of` says the rule."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand.individual.published import settings_of
from evenhand.individual.results import SETTING, Result, Setting

#: Why a line stands: the settings name it; they name it with another reduction, base or unit of
#: epsilon; nothing named was run, so it is the first in the order of the grid; the method is not
#: named at all, so every setting of it stands.
NAMED, ALIKE, FIRST, EVERY = "named", "alike", "first", "every"

#: In Table 8: the setting that has most thresholds.
MOST = "most"


class Line(NamedTuple):
    """A setting that stands, and why."""

    setting: Setting
    choice: str


def lines_of(
    dataset: str, chosen: Sequence[dict[str, Any]], results: Mapping[Setting, Result]
) -> list[Line]:
    """The settings of a data set that stand for its methods; none that was run is left out.

    Parameters
    ----------
    dataset : str
        Its name.
    chosen : sequence of dict
        Of `evenhand.individual.published.read_settings`.
    results : mapping
        Of `evenhand.individual.results.by_setting`.

    Returns
    -------
    list of Line
        A kind is a method with an individual loss on a kind of split. First the named settings,
        in the order of the table, whether they were run or not; behind one that was not the
        first of its kind that was, of those with the same lambda, epsilon and mu if there are
        any. Then the first of each kind that is not named, of methods
        that are. Then all settings of the methods that are not named.

        The first is that in the order of the grid, as it was trained (lambda, epsilon, mu), of
        those with a run that did not diverge, or of all if there is none.
    """
    ran: dict[tuple[str, str, str], list[Setting]] = {}
    for key in results:
        if key[0] == dataset:
            ran.setdefault(_kind(key), []).append(key)

    def first(kind: tuple[str, str, str], named: Setting | None = None) -> Line:
        alike = [key for key in ran[kind] if named and _numbers(key) == _numbers(named)]
        key = min(alike or ran[kind], key=lambda key: (not results[key].runs, results[key].first))
        return Line(key, ALIKE if alike else FIRST)

    lines = []
    named = [row["key"] for row in settings_of(list(chosen), dataset)]
    kinds = {_kind(key) for key in named}
    met = {_kind(key) for key in named if key in results}
    for key in named:
        lines.append(Line(key, NAMED))
        if key not in results and _kind(key) in ran.keys() - met:
            lines.append(first(_kind(key), key))
            met.add(_kind(key))
    methods = {row["setting"]["method"] for row in chosen}
    lines += [first(kind) for kind in ran if kind not in kinds and kind[0] in methods]
    lines += [Line(key, EVERY) for kind in ran if kind[0] not in methods for key in ran[kind]]
    return lines


def _kind(setting: Setting) -> tuple[str, str, str]:
    method, individual, split = (
        setting[SETTING.index(name)] for name in ("method", "individual", "split")
    )
    return method, individual, split


def _numbers(setting: Setting) -> tuple[float | None, ...]:
    return tuple(setting[SETTING.index(name)] for name in ("lambda", "epsilon", "mu"))
