"""The arithmetic with which the tables of IIFR's paper contradict each other.

    python benchmarks/iifr_checks.py [--write]

The paper's numbers do not change, so its checks are a table of ``resources/iifr``
(published_checks.csv), which the workflow shows. This script computes them; the exit status is 1
where the file has others, unless it is to be written. The kinds of check: ``mix``, the values of
the groups, weighted by their shares, against the overall value; ``swapped``, the same with the
groups swapped; ``copy``, two rows with the same cells; ``infeasible``, the accuracies that are
possible with the gaps of a row, by linear programs over the groups' true and false positive rates;
``misprint``, against another source.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.core.resources import read_resource  # noqa: E402
from evenhand.core.tables import Row, write_rows  # noqa: E402
from evenhand.individual.published import Cell, Number, number, read_cells, read_inconsistencies  # noqa: E402
from evenhand.individual.tables.inconsistencies import TABLE  # noqa: E402

RESOURCES = REPOSITORY / "resources/iifr"

#: The share of a group in the test rows is unknown, and may differ this much from the overall one.
SHARE = 0.01

#: Cells that are rounded or cut off differ by at most this many units of the last digit.
UNITS = 1.0

GAPS = ("ddp", "deo_0", "deo_1")

_PLACE = ("dataset", "method", "individual")


class Facts(NamedTuple):
    """What is published: cells by table, listed inconsistencies, mixes of groups, and rates."""

    cells: dict[str, dict[Cell, Number]]
    inconsistencies: list[dict[str, Any]]
    mixes: list[dict[str, Any]]
    rates: dict[str, list[tuple[float, float]]]


def read_facts(folder: Path) -> Facts:
    """Read the facts of ``resources/iifr``."""
    mixes = read_resource(
        folder / "published_mixes.csv",
        ["dataset", "method", "individual", "metric", "groups", "value", "source"],
        choices={"groups": ("as printed", "swapped")},
    )
    columns = ["dataset", "group", "share", "positive", "source"]
    rates: dict[str, list[tuple[float, float]]] = {}
    for row in read_resource(folder / "published_rates.csv", columns):
        rates.setdefault(row["dataset"], []).append((float(row["share"]), float(row["positive"])))
    return Facts(
        {n: read_cells(folder / f"published_table_{n}.csv") for n in "4678"},
        read_inconsistencies(folder / "inconsistencies.csv"),
        [row | {"number": number(row["value"])} for row in mixes],
        rates,
    )


def check_published(published: Facts) -> Iterator[Row]:
    """Yield a row per check, and one per listed cell that cannot be checked."""
    known = published.inconsistencies
    checks = [
        *_mixes(published),
        *_known_mixes(published),
        *_copies(published.cells),
        *_feasible(published),
        *_misprints(published),
    ]
    for check in checks:
        listed = [entry for entry in known if _is_about(check, entry)]
        check |= {"listed": bool(listed), "known_error": _errors(listed)}
    # Of two equal rows the listed one is the copy; if neither is listed, both are reported.
    copied = {check["twin"] for check in checks if "twin" in check and check["listed"]}
    for check in checks:
        if "twin" not in check or check["listed"] or (check["table"], *_place(check)) not in copied:
            yield {name: value for name, value in check.items() if name != "twin"}
    for entry in known:
        if not any(_is_about(check, entry) for check in checks):
            yield {name: entry[name] for name in ("kind", "table", *_PLACE, "metric")} | {
                "result": "cannot_be_checked",
                "listed": True,
                "known_error": _errors([entry]),
                "words": f"{entry['why']} (we do not have these cells)",
            }


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _PLACE)


def _is_about(check: Mapping[str, Any], listed: Mapping[str, Any]) -> bool:
    """Return whether a check is about a listed cell."""
    # A mix compares Table 6 with Table 4, so that it matches entries of either.
    tables = {check["table"]} | ({"4", "6"} if check["kind"] in ("mix", "swapped") else set())
    metrics = check["metric"].split(" ")
    same = _place(check) == _place(listed)
    return same and listed["table"] in tables and listed["metric"] in metrics


def _errors(listed: list[dict[str, Any]]) -> str:
    return " ".join(dict.fromkeys(entry["known_error"] for entry in listed if entry["known_error"]))


def _check(
    kind: str,
    table: str,
    place: tuple[str, ...],
    paper: Number,
    computed: float,
    slack: float,
    words: str,
) -> dict[str, Any]:
    """Compare a published number at `place`: data set, method, individual, metric."""
    tolerance = UNITS * 2 * paper.rounding + slack
    difference = computed - paper.value
    return {
        "kind": kind,
        "table": table,
        **dict(zip((*_PLACE, "metric"), place, strict=True)),
        "published": paper.value,
        "computed": computed,
        "difference": difference,
        "tolerance": tolerance,
        "result": "contradiction" if abs(difference) > tolerance + 1e-9 else "agrees",
        "words": words,
    }


def mix(values: list[tuple[float, Number]]) -> tuple[float, float]:
    """Return the weighted mean of the groups' cells, and its error due to rounding and shares.

    Parameters
    ----------
    values : list of (float, Number)
        Share and cell of each group; the shares add up to 1.
    """
    total = sum(share * cell.value for share, cell in values)
    spread = max(cell.value for _, cell in values) - min(cell.value for _, cell in values)
    return total, sum(share * cell.rounding for share, cell in values) + SHARE * spread


def _mixes(published: Facts) -> Iterator[dict[str, Any]]:
    groups = published.cells["6"]
    for place in dict.fromkeys((*cell[:3], cell[5]) for cell in groups):
        shares = [share for share, _ in published.rates.get(place[0], [])]
        whole = published.cells["4"].get((*place[:3], None, None, place[3]))
        parts = [groups.get((*place[:3], i, None, place[3])) for i in range(len(shares))]
        if whole is None or not parts or None in parts:
            continue
        computed, slack = mix(list(zip(shares, parts, strict=True)))
        sum_ = " + ".join(f"{a:.3f} x {b.value:g}" for a, b in zip(shares, parts, strict=True))
        words = f"{sum_} = {computed:.1f}; Table 4 says {whole.value:g}"
        yield _check("mix", "6", place, whole, computed, slack, words)


def _known_mixes(published: Facts) -> Iterator[dict[str, Any]]:
    for row in published.mixes:
        place = (*_place(row), row["metric"])
        whole = published.cells["4"].get((*place[:3], None, None, place[3]))
        if whole is None:
            continue
        mixed, swapped = row["number"], row["groups"] == "swapped"
        how = "with the groups swapped " if swapped else ""
        words = f"the mix of Table 6 {how}is {mixed.value:g} (we do not have its cells)"
        words += f"; Table 4 says {whole.value:g}"
        kind = "swapped" if swapped else "mix"
        check = _check(kind, "6", place, whole, mixed.value, mixed.rounding, words)
        if swapped and check["result"] == "agrees":  # so the cells as printed do not
            check["result"] = "contradiction"
            check["words"] += ", so the groups are swapped in print"
        yield check


def _copies(tables: Mapping[str, Mapping[Cell, Number]]) -> Iterator[dict[str, Any]]:
    """Yield rows of a table with equal cells, up to one unit in the last digit of one cell.

    Rows of fewer than three cells are not compared.
    """
    for table in "467":
        lines: dict[tuple[str, ...], dict[Any, Number]] = {}
        for cell, value in tables[table].items():
            lines.setdefault(cell[:3], {})[(cell[3], cell[5])] = value
        for (line_a, a), (line_b, b) in combinations(lines.items(), 2):
            if line_a[0] != line_b[0] or a.keys() != b.keys() or len(a) < 3:
                continue
            apart = sum(abs(a[at].value - b[at].value) / (2 * a[at].rounding) for at in a)
            if apart > 1 + 1e-6:
                continue
            cells = ", ".join(f"{cell.value:g}" for cell in a.values())
            part = "all" if apart < 1e-6 else "all but one unit in the last digit"
            for line, copied in ((line_a, line_b), (line_b, line_a)):
                loss = "" if copied[2] == "none" else f" with {copied[2]}"
                yield {
                    "kind": "copy",
                    "table": table,
                    **dict(zip(_PLACE, line, strict=True)),
                    "metric": " ".join(dict.fromkeys(metric for _, metric in a)),
                    "result": "contradiction",
                    "twin": (table, *copied),
                    "words": f"{cells}: the cells of {copied[1]}{loss} ({part})",
                }


def _feasible(published: Facts) -> Iterator[dict[str, Any]]:
    cells = published.cells["7"]
    for place in dict.fromkeys(cell[:3] for cell in cells):
        groups = published.rates.get(place[0], [])
        gaps = [cells.get((*place, None, None, metric)) for metric in GAPS]
        accuracy = published.cells["4"].get((*place, None, None, "acc"))
        if len(groups) != 2 or accuracy is None or None in gaps:
            continue
        ends = accuracies_with(tuple(gaps), tuple(groups))
        low, high = ends or (np.nan, np.nan)
        nearest = min(max(accuracy.value, low), high) if ends else np.nan
        gaps_given = f"the gaps {', '.join(f'{gap.value:g}' for gap in gaps)}"
        population = "the population's P(Y=1|A)"
        words = f"no rates have {gaps_given} with {population}"
        if ends:
            words = f"with {gaps_given} and {population} accuracy can be {low:.1f} to {high:.1f}"
            words += f"; Table 4 says {accuracy.value:g}"
        check = _check("infeasible", "7", (*place, " ".join(GAPS)), accuracy, nearest, 0.0, words)
        if not ends:
            check["result"] = "contradiction"
        yield check


@cache
def accuracies_with(
    gaps: tuple[Number, ...], groups: tuple[tuple[float, float], ...]
) -> tuple[float, float] | None:
    """Return the least and largest accuracy of a classifier with these gaps between two groups.

    Parameters
    ----------
    gaps : tuple of Number
        dDP, dEO for y=0 and dEO for y=1, exact to a unit of the last digit (rounded or truncated).
    groups : tuple of (float, float)
        P(A) and P(Y=1|A) of each group.

    Returns
    -------
    (float, float) or None
        In percent; None if no rates have these gaps. Each of the eight sign patterns of the three
        differences is a linear program in the groups' true and false positive rates.
    """
    from scipy.optimize import linprog

    (share_0, base_0), (share_1, base_1) = groups
    # columns: tpr of group 0, tpr of group 1, fpr of group 0, fpr of group 1
    differences = np.array(
        [[base_0, -base_1, 1 - base_0, -(1 - base_1)], [0.0, 0.0, 1.0, -1.0], [1.0, -1.0, 0.0, 0.0]]
    )
    gain = np.array(
        [share_0 * base_0, share_1 * base_1, -share_0 * (1 - base_0), -share_1 * (1 - base_1)]
    )
    constant = share_0 * (1 - base_0) + share_1 * (1 - base_1)
    units = np.array([UNITS * 2 * gap.rounding for gap in gaps])
    values = np.array([gap.value for gap in gaps])
    accuracies: list[float] = []
    for signs in product((1.0, -1.0), repeat=3):
        signed = np.array(signs)[:, None] * differences
        above = np.vstack([signed, -signed])
        below = np.concatenate([values + units, units - values])
        for goal in (gain, -gain):
            solved = linprog(goal, A_ub=above, b_ub=below, bounds=[(0, 1)] * 4, method="highs")
            if solved.success:
                accuracies.append(100 * (constant + float(gain @ solved.x)))
    return (min(accuracies), max(accuracies)) if accuracies else None


def _misprints(published: Facts) -> Iterator[dict[str, Any]]:
    for entry in published.inconsistencies:
        table, place = entry["table"], _place(entry)
        paper = published.cells[table].get((*place, entry["group"], None, entry["metric"]))
        if entry["other"] and paper:
            other = number(entry["other"])
            words = f"Table {table} says {paper.value:g}; {entry['why']}"
            at = (*place, entry["metric"])
            yield _check(entry["kind"], table, at, paper, other.value, other.rounding, words)


def main() -> int:
    """Compute the checks, and write them or compare them with the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write published_checks.csv")
    kept = RESOURCES / "published_checks.csv"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / kept.name
        write_rows(made, TABLE.header, check_published(read_facts(RESOURCES)), TABLE.form)
        text = made.read_text(encoding="utf-8")
    if parser.parse_args().write:
        kept.write_text(text, encoding="utf-8")
    elif text != kept.read_text(encoding="utf-8"):
        print(f"{kept} has other checks: run this script with --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
