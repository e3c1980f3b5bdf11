"""Section: the data set: Table 1, lengths, characters; beside those of the published file."""

from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.report.figures import histogram
from evenhand.report.read import read_json
from evenhand.report.render import plural

#: The data sets by key, as the page calls them.
SIDES = {"own": "This run", "published": "The published file"}

#: Their folders below the results.
FOLDERS = {"own": "slguset", "published": "slguset_published"}


def describe_dataset(
    table_1: Path | None,
    statistics: Path | None,
    published_table_1: Path | None,
    published_statistics: Path | None,
) -> dict[str, Any] | None:
    """Return counts per pair, lengths and characters, of our data set and the published file.

    Parameters
    ----------
    table_1, statistics : Path, optional
        The folder of Table 1, and ``statistics.json``, of this run's data set.
    published_table_1, published_statistics : Path, optional
        The same of the published file.

    Returns
    -------
    dict or None
        None without any of them. `sides` are the data sets in Table 1.
    """
    tables = {"own": table_1, "published": published_table_1}
    tables = {side: read_table(path / "table_1.csv") for side, path in tables.items() if path}
    documents = {"own": statistics, "published": published_statistics}
    documents = {side: read_json(path) for side, path in documents.items() if path}
    if not tables and not documents:
        return None
    values = _values(next(iter(tables.values()), []))
    pairs = _pairs(tables, values)
    return {
        "values": values,
        "has_own": "own" in tables,
        "sides": [(side, SIDES[side]) for side in tables],
        "tables": [f"tables/sentences/{FOLDERS[side]}/table_1.csv" for side in tables],
        "statistics": [f"{FOLDERS[side]}/statistics.json" for side in documents],
        "pairs": pairs,
        "stated": any(row["stated"] for row in pairs),
        "sums": {
            side: {name: sum(row[name] for row in rows) for name in (*values, "total")}
            for side, rows in tables.items()
        },
        "columns": [SIDES[side] for side in documents],
        "documents": list(documents.values()),
        "lengths": _lengths(documents),
    }


def _values(rows: list[dict[str, Any]]) -> list[str]:
    """Return the values of the attribute: the columns of Table 1 before the total."""
    names = [*rows[0]] if rows else ["pair", "surface", "male", "female", "total"]
    return names[2 : names.index("total")]


def _pairs(tables: dict[str, list[dict[str, Any]]], values: list[str]) -> list[dict[str, Any]]:
    """Return the rows of all tables by surface pair, in the first table's order."""
    pairs: dict[str, dict[str, Any]] = {}
    for side, rows in tables.items():
        for row in rows:
            start = {"pair": row["pair"], "surface": row["surface"], "stated": None}
            pair = pairs.setdefault(row["surface"], start | dict.fromkeys(tables))
            pair[side] = row
            if row[f"published_{values[0]}"] is not None:
                pair["stated"] = {value: row[f"published_{value}"] for value in values}
    return list(pairs.values())


def _lengths(documents: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the histogram of lengths of each data set, on one scale."""
    bars = {side: document["length"]["histogram"] for side, document in documents.items()}
    bars = {side: some for side, some in bars.items() if some}
    if not bars:
        return []
    end = max(some[-1]["to"] + 1 for some in bars.values())
    sums = {side: sum(bar["sentences"] for bar in some) for side, some in bars.items()}
    top = max(max(bar["sentences"] for bar in some) / sums[side] for side, some in bars.items())
    return [
        {
            "name": SIDES[side],
            "n": sums[side],
            "file": f"{FOLDERS[side]}/statistics.json",
            "figure": histogram(
                [bar["sentences"] for bar in some],
                [bar["from"] for bar in some] + [some[-1]["to"] + 1],
                f"{SIDES[side]}: lengths of {plural(sums[side], 'sentence')} in characters",
                title="Characters in a sentence",
                thing="sentence",
                end=end,
                top=top,
            ),
        }
        for side, some in bars.items()
    ]
