"""Stage: how many people a table has, which share of each group, and how the label falls.

Tables 1 and 2 of IIFR (Journal of Software 34(9), 2023) say the same of Adult, COMPAS and German.
"""

import csv
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.tabular.prepared import check, read_prepared

#: Columns of a table of published numbers; a blank cell is a number that we do not know.
PUBLISHED = ["dataset", "quantity", "value", "published"]

HEADER = ["dataset", "quantity", "value", "count", "of", "ours", "published", "verdict", "digits"]


def describe_table(
    *, data: Input, meta: Input, out: Output, published: list[Input] | None = None
) -> dict[str, Any]:
    """Count a table's groups and labels, beside what was published.

    Parameters
    ----------
    data, meta : path
        The table, of `prepare_table`.
    published : list of path
        Published numbers: dataset, quantity (P(A), P(Y=1) or P(Y=1|A)), value (of the
        attribute, blank for P(Y=1)), published (as printed).
    out : path
        CSV: dataset, quantity, value, count, of (ours is count / of), ours (six digits), published,
        verdict (reproduced, not_reproduced, not_checked where the number is not known, blank
        where there is none), digits (rounded, truncated or both: how ours gives the
        published digits).

    Raises
    ------
    InputError
        A published number is none, or is about a quantity or group that the table lacks.
    """
    table = read_prepared(data, meta)
    check(table)
    counts = np.zeros((len(table.attribute_values), 2), dtype=int)
    np.add.at(counts, (table.a, table.y), 1)
    total = int(counts.sum())
    ours = {("rows", ""): (total, 1), ("P(Y=1)", ""): (int(counts[:, 1].sum()), total)}
    for value, of_group in zip(table.attribute_values, counts.tolist(), strict=True):
        ours["P(A)", value] = sum(of_group), total
    for value, of_group in zip(table.attribute_values, counts.tolist(), strict=True):
        if any(of_group):
            ours["P(Y=1|A)", value] = of_group[1], sum(of_group)
    printed: dict[tuple[str, str], str] = {}
    for file in published or []:
        for row in read_resource(
            file, PUBLISHED, optional=("value", "published"), unique=tuple(PUBLISHED[:3])
        ):
            key = row["quantity"], row["value"]
            if row["dataset"] != table.name:
                continue
            if key not in ours:
                raise InputError(
                    f"has {key[0]} of {key[1] or 'all'} of {table.name}, which the table lacks",
                    file=file,
                )
            if row["published"]:
                _digits(row["published"], 0, 1, file)
            printed[key] = row["published"]
    verdicts = {"reproduced": 0, "not_reproduced": 0, "not_checked": 0}
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        for key, (count, of) in ours.items():
            number = printed.get(key)
            digits = _digits(number, count, of) if number else ""
            verdict = "" if number is None else "not_checked"
            if number:
                verdict = "reproduced" if digits else "not_reproduced"
            if verdict:
                verdicts[verdict] += 1
            share = count if key[0] == "rows" else f"{count / of:.6f}"
            writer.writerow([table.name, *key, count, of, share, number, verdict, digits])
    return {"rows": total} | verdicts


def _digits(printed: str, count: int, of: int, file: Any = None) -> str:
    """How count / of gives the printed decimals: rounded, truncated, both, or blank."""
    whole, _, decimals = printed.partition(".")
    if not (whole + decimals).isdecimal():
        raise InputError(f"has {printed!r}, which is no share like 0.248", file=file)
    wanted, scaled = int(whole + decimals), count * 10 ** len(decimals)
    ways = {"rounded": (2 * scaled + of) // (2 * of), "truncated": scaled // of}
    fits = [way for way, value in ways.items() if value == wanted]
    return "both" if len(fits) == 2 else "".join(fits)


if __name__ == "__main__":
    stage.run(describe_table)
