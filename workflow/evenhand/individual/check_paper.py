"""Stage: the paper's own inconsistent cells, with the arithmetic that shows them."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.individual.published import (
    Cell,
    Number,
    number,
    read_inconsistencies,
    read_mixes,
    read_published,
    read_rates,
)
from evenhand.individual.results import FORM

HEADER = [
    "kind",
    "table",
    "dataset",
    "method",
    "individual",
    "metric",
    "paper",
    "computed",
    "difference",
    "tolerance",
    "result",
    "listed",
    "known_error",
    "words",
]

#: The share of a group in the test rows is not known: it may differ so far from that in all rows.
SHARE = 0.01

#: Cells that are rounded or cut off lie so far from the value at most, in units of the last digit.
UNITS = 1.0

GAPS = ("ddp", "deo_0", "deo_1")


def check_paper(
    *,
    published_4: Input,
    published_6: Input,
    published_7: Input,
    published_8: Input,
    mixes: Input,
    rates: Input,
    inconsistencies: Input,
    out: Output,
) -> dict[str, Any]:
    """Check the paper's tables against each other.

    Parameters
    ----------
    published_4, published_6, published_7, published_8 : Path
        The paper's cells, of ``resources/iifr``.
    mixes : Path
        Mixes of groups whose cells we do not have (``published_mixes.csv``).
    rates : Path
        P(A) and P(Y=1|A) (``published_rates.csv``).
    inconsistencies : Path
        What is known to be wrong (``inconsistencies.csv``).
    out : Path
        CSV, a row per check: kind (``mix``: the groups' values, weighted by their shares,
        against the overall value; ``swapped``: the same with the groups swapped; ``copy``: two
        rows with the same cells; ``infeasible``: the accuracies that are possible with a row's
        gaps, by linear programs over the groups' true and false positive rates; ``misprint``:
        against a number from elsewhere), what the paper prints, what was computed, their
        difference, what rounding allows, the result (``contradiction``, ``agrees``,
        ``cannot_be_checked``), whether it is listed, and the arithmetic in words.
    """
    cells = {
        name: read_published(path)
        for name, path in (
            ("4", published_4),
            ("6", published_6),
            ("7", published_7),
            ("8", published_8),
        )
    }
    known = read_inconsistencies(inconsistencies)
    population = read_rates(rates)
    rows = [
        *_mixes(cells["4"], cells["6"], population),
        *_given_mixes(cells["4"], read_mixes(mixes)),
        *_copies(cells),
        *_feasible(cells["4"], cells["7"], population),
        *_misprints(cells, known),
    ]
    for row in rows:
        own = [one for one in known if _about(row, one)]
        row["listed"] = bool(own)
        row["known_error"] = _errors(own)
    # Of two equal rows the listed one is the copy; if neither is listed, both are shown.
    copied = {row["twin"] for row in rows if row["kind"] == "copy" and row["listed"]}
    rows = [
        row
        for row in rows
        if row["kind"] != "copy" or row["listed"] or (row["table"], *_place(row)) not in copied
    ]
    rows += [_unchecked(one) for one in known if not any(_about(row, one) for row in rows)]
    shown = ({name: row[name] for name in HEADER} for row in rows)
    written = write_rows(out, HEADER, shown, FORM)
    return {
        "checks": written,
        "contradictions": sum(row["result"] == "contradiction" for row in rows),
        "unlisted": sum(r["result"] == "contradiction" and not r["listed"] for r in rows),
        "unchecked": sum(row["result"] == "cannot_be_checked" for row in rows),
    }


def _place(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["dataset"], row["method"], row["individual"]


def _about(row: Mapping[str, Any], listed: Mapping[str, Any]) -> bool:
    """Whether a check is of a cell that is listed."""
    same = _place(row) == _place(listed)
    # A mix sets Table 6 against Table 4, so what is listed of either is meant.
    tables = {row["table"], "4", "6"} if row["kind"] in ("mix", "swapped") else {row["table"]}
    metrics = row["metric"].split(" ")
    return same and listed["table"] in tables and listed["metric"] in metrics


def _errors(listed: list[dict[str, Any]]) -> str:
    """Their entries in ``known_errors.csv``, with spaces between them."""
    return " ".join(dict.fromkeys(one["known_error"] for one in listed if one["known_error"]))


def mix(
    values: list[tuple[float, Number]],
) -> tuple[float, float]:
    """The weighted mean of the groups' cells, and what rounding and shares leave open.

    Parameters
    ----------
    values : list of (float, Number)
        Share and cell of each group; the shares add up to 1.
    """
    total = sum(share * cell.value for share, cell in values)
    spread = max(cell.value for _, cell in values) - min(cell.value for _, cell in values)
    return total, sum(share * cell.rounding for share, cell in values) + SHARE * spread


def _mixes(
    overall: Mapping[Cell, Number],
    groups: Mapping[Cell, Number],
    population: Mapping[str, list[tuple[float, float]]],
) -> Iterator[dict[str, Any]]:
    for dataset, method, individual, metric in dict.fromkeys((*c[:3], c[5]) for c in groups):
        shares = [share for share, _ in population.get(dataset, [])]
        whole = overall.get((dataset, method, individual, None, None, metric))
        parts = [
            groups.get((dataset, method, individual, group, None, metric))
            for group in range(len(shares))
        ]
        if whole is None or not parts or None in parts:
            continue
        computed, open_ = mix(list(zip(shares, parts, strict=True)))
        terms = " + ".join(f"{s:.3f} x {p.value:g}" for s, p in zip(shares, parts, strict=True))
        words = f"{terms} = {computed:.1f}; Table 4 says {whole.value:g}"
        yield _check(
            "mix", (dataset, method, individual, metric), whole, computed, open_, words, "6"
        )


def _given_mixes(
    overall: Mapping[Cell, Number], given: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for row in given:
        place = (row["dataset"], row["method"], row["individual"], row["metric"])
        whole = overall.get((*place[:3], None, None, place[3]))
        if whole is None:
            continue
        swapped = row["groups"] == "swapped"
        about = "with the groups swapped " if swapped else ""
        words = (
            f"the mix of Table 6 {about}is {row['number'].value:g} (its cells are not in our"
            f" facts); Table 4 says {whole.value:g}"
        )
        check = _check(
            "swapped" if swapped else "mix",
            place,
            whole,
            row["number"].value,
            row["number"].rounding,
            words,
            "6",
        )
        if swapped and check["result"] == "agrees":  # so the cells as printed do not
            check["result"] = "contradiction"
            check["words"] += ", so the groups are swapped in print"
        yield check


def _check(
    kind: str,
    place: tuple[str, str, str, str],
    paper: Number,
    computed: float,
    open_: float,
    words: str,
    table: str,
) -> dict[str, Any]:
    tolerance = UNITS * 2 * paper.rounding + open_
    difference = computed - paper.value
    return {
        "kind": kind,
        "table": table,
        **dict(zip(("dataset", "method", "individual", "metric"), place, strict=True)),
        "paper": paper.value,
        "computed": computed,
        "difference": difference,
        "tolerance": tolerance,
        "result": "contradiction" if abs(difference) > tolerance + 1e-9 else "agrees",
        "words": words,
    }


def _copies(tables: Mapping[str, Mapping[Cell, Number]]) -> Iterator[dict[str, Any]]:
    """Rows of a table with the same cells, but for one unit in the last digit of one of them.

    Rows of fewer than three cells are not compared.
    """
    for table in ("4", "6", "7"):
        lines: dict[tuple[str, str, str], dict[Any, Number]] = {}
        for cell, value in tables[table].items():
            lines.setdefault(cell[:3], {})[(cell[3], cell[5])] = value
        for (one, a), (other, b) in combinations(lines.items(), 2):
            if one[0] != other[0] or a.keys() != b.keys() or len(a) < 3:
                continue
            apart = [abs(a[place].value - b[place].value) / (2 * a[place].rounding) for place in a]
            if sum(apart) > 1 + 1e-6:
                continue
            cells = ", ".join(f"{value.value:g}" for value in a.values())
            same = "all" if sum(apart) < 1e-6 else "all but one unit in the last digit"
            for line, twin in ((one, other), (other, one)):
                yield {
                    "kind": "copy",
                    "table": table,
                    **dict(zip(("dataset", "method", "individual"), line, strict=True)),
                    "metric": " ".join(dict.fromkeys(metric for _, metric in a)),
                    "paper": None,
                    "computed": None,
                    "difference": None,
                    "tolerance": None,
                    "result": "contradiction",
                    "twin": (table, *twin),
                    "words": (
                        f"{cells}: the cells of {twin[1]}"
                        f"{'' if twin[2] == 'none' else ' with ' + twin[2]} ({same})"
                    ),
                }


def _feasible(
    accuracies: Mapping[Cell, Number],
    gaps: Mapping[Cell, Number],
    population: Mapping[str, list[tuple[float, float]]],
) -> Iterator[dict[str, Any]]:
    for place in dict.fromkeys(cell[:3] for cell in gaps):
        groups = population.get(place[0], [])
        own = [gaps.get((*place, None, None, metric)) for metric in GAPS]
        accuracy = accuracies.get((*place, None, None, "acc"))
        if len(groups) != 2 or accuracy is None or None in own:
            continue
        ends = accuracies_with(own, groups)
        said = ", ".join(f"{one.value:g}" for one in own)
        row = {
            "kind": "infeasible",
            "table": "7",
            **dict(zip(("dataset", "method", "individual"), place, strict=True)),
            "metric": " ".join(GAPS),
            "paper": accuracy.value,
            "tolerance": 2 * accuracy.rounding,
        }
        if ends is None:
            yield row | {
                "computed": None,
                "difference": None,
                "result": "contradiction",
                "words": f"no rates have the gaps {said} with the population's P(Y=1|A)",
            }
            continue
        low, high = ends
        nearest = min(max(accuracy.value, low), high)
        far = nearest - accuracy.value
        yield row | {
            "computed": nearest,
            "difference": far,
            "result": "contradiction" if abs(far) > row["tolerance"] + 1e-9 else "agrees",
            "words": (
                f"with the gaps {said} and the population's P(Y=1|A) accuracy can be {low:.1f}"
                f" to {high:.1f}; Table 4 says {accuracy.value:g}"
            ),
        }


def accuracies_with(
    gaps: list[Number], groups: list[tuple[float, float]]
) -> tuple[float, float] | None:
    """The least and the largest accuracy of a classifier with these gaps between two groups.

    Parameters
    ----------
    gaps : list of Number
        dDP, dEO for y=0 and dEO for y=1, known to a unit of their last digit (rounded or cut).
    groups : list of (float, float)
        P(A) and P(Y=1|A) of each group.

    Returns
    -------
    (float, float) or None
        In percent; None where no rates have these gaps. Three differences have eight patterns of
        signs, and each is a linear program in the true and false positive rates of the groups.
    """
    from scipy.optimize import linprog

    (share_0, base_0), (share_1, base_1) = groups
    # columns: tpr of group 0, tpr of group 1, fpr of group 0, fpr of group 1
    differences = np.array(
        [
            [base_0, -base_1, 1 - base_0, -(1 - base_1)],
            [0.0, 0.0, 1.0, -1.0],
            [1.0, -1.0, 0.0, 0.0],
        ]
    )
    gain = np.array(
        [share_0 * base_0, share_1 * base_1, -share_0 * (1 - base_0), -share_1 * (1 - base_1)]
    )
    constant = share_0 * (1 - base_0) + share_1 * (1 - base_1)
    units = np.array([UNITS * 2 * one.rounding for one in gaps])
    values = np.array([one.value for one in gaps])
    found: list[float] = []
    for signs in product((1.0, -1.0), repeat=3):
        signed = np.array(signs)[:, None] * differences
        above, below = (
            np.vstack([signed, -signed]),
            np.concatenate([values + units, units - values]),
        )
        for goal in (gain, -gain):
            solved = linprog(goal, A_ub=above, b_ub=below, bounds=[(0, 1)] * 4, method="highs")
            if solved.success:
                found.append(100 * (constant + float(gain @ solved.x)))
    return (min(found), max(found)) if found else None


def _misprints(
    tables: Mapping[str, Mapping[Cell, Number]], known: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for one in known:
        place = (one["dataset"], one["method"], one["individual"])
        paper = tables[one["table"]].get((*place, one["group"], None, one["metric"]))
        if one["other"] and paper:
            other = number(one["other"])
            words = f"Table {one['table']} says {paper.value:g}; {one['why']}"
            yield _check(
                one["kind"],
                (*place, one["metric"]),
                paper,
                other.value,
                other.rounding,
                words,
                one["table"],
            )


def _unchecked(one: Mapping[str, Any]) -> dict[str, Any]:
    blank = dict.fromkeys(("paper", "computed", "difference", "tolerance"))
    names = ("kind", "table", "dataset", "method", "individual", "metric")
    said = {name: one[name] for name in names}
    return {
        **said,
        **blank,
        "result": "cannot_be_checked",
        "listed": True,
        "known_error": _errors([one]),
        "words": f"{one['why']} (the cells are not in our facts)",
    }


if __name__ == "__main__":
    stage.run(check_paper)
