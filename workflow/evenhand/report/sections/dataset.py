"""Section: the data set: Table 1, lengths, characters; the published file's beside it."""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.io.tables import read_rows
from evenhand.report.figures import histogram, ticks_between
from evenhand.report.read import leaves, read_csv, read_json

TABLE_1 = {"pair": str, "surface": str, "male": int, "female": int, "total": int}

#: Characters per bar of the figure of lengths.
LENGTH_BIN = 5


def describe_dataset(
    dataset: Path | None,
    table_1: Path | None,
    statistics: Path | None,
    published_dataset: Path | None,
    published_table_1: Path | None,
    published_statistics: Path | None,
) -> dict[str, Any] | None:
    """Counts per pair, statistics and the lengths' figure, ours and the published file's.

    None if there is neither; each part that is missing is None inside.
    """
    given = (dataset, table_1, statistics)
    published = (published_dataset, published_table_1, published_statistics)
    if not any(given) and not any(published):
        return None
    pairs = _table_1(table_1, published_table_1)
    return {
        "pairs": pairs,
        "has_own": table_1 is not None,
        "has_published": published_table_1 is not None,
        "sums": {
            side: {
                column: sum(row[side][column] for row in pairs if row[side])
                for column in ("male", "female", "total")
            }
            for side in ("own", "published")
        },
        "statistics": _statistics(statistics, published_statistics),
        "lengths": _lengths(dataset, published_dataset),
    }


def _table_1(own: Path | None, published: Path | None) -> list[dict[str, Any]]:
    """The rows of both tables by pair, in our table's order, the published file's own after it."""
    sides = {"own": own, "published": published}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for side, path in sides.items():
        for row in read_csv(path, TABLE_1) if path else []:
            key = (row["pair"], row["surface"])
            entry = rows.setdefault(
                key,
                {"pair": row["pair"], "surface": row["surface"], "own": None, "published": None},
            )
            entry[side] = row
    return list(rows.values())


def _statistics(own: Path | None, published: Path | None) -> dict[str, Any] | None:
    """The numbers of both documents, side by side."""
    sides = {"This run": own, "Published file": published}
    numbers = {name: dict(leaves(read_json(path))) for name, path in sides.items() if path}
    if not numbers:
        return None
    names = list(dict.fromkeys(name for side in numbers.values() for name in side))
    return {
        "columns": list(numbers),
        "rows": [
            {
                "name": name.replace("_", " ").capitalize(),
                "values": [side.get(name) for side in numbers.values()],
            }
            for name in names
        ],
    }


def _lengths(own: Path | None, published: Path | None) -> list[dict[str, Any]]:
    """A histogram of sentence lengths for each data set, on one scale."""
    lengths = {
        name: np.array([len(row["sentence"]) for row in read_rows(path, ["sentence"])])
        for name, path in (("This run", own), ("The published file", published))
        if path is not None
    }
    lengths = {name: values for name, values in lengths.items() if len(values)}
    if not lengths:
        return []
    longest = max(int(values.max()) for values in lengths.values())
    edges = np.arange(0, longest + LENGTH_BIN + 1, LENGTH_BIN)
    counts = {name: np.histogram(values, edges)[0] for name, values in lengths.items()}
    top = max(n.max() / n.sum() for n in counts.values())
    ticks = ticks_between(0, float(edges[-1]))
    return [
        {
            "name": name,
            "n": int(n.sum()),
            "figure": histogram(
                n.tolist(),
                edges.tolist(),
                f"{name}: lengths of {n.sum():,} sentences in characters.",
                top=float(top),
                ticks=ticks,
            ),
        }
        for name, n in counts.items()
    ]
