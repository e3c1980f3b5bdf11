"""The size of each data set, the share of each group, and the distribution of the label.

Tables 1 and 2 of the paper contain these numbers for Adult, COMPAS and German.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.errors import InputError
from evenhand.individual.study import IndividualStudy
from evenhand.tabular.prepared import Prepared

TABLE = Table(
    "groups",
    title="Groups, labels and rates",
    key=("dataset", "quantity", "value"),
    columns=(
        text("dataset"),
        text("quantity", "rows, P(A), P(Y=1) or P(Y=1|A)"),
        text("value", "Of the protected attribute; blank: everyone"),
        integer("count"),
        integer("of"),
        number("reproduced", "count / of"),
        text("published", "As printed; blank: none, or not known"),
        text("verdict", "reproduced, not_reproduced; not_checked: the number is not known"),
        text("digits", "How ours gives the printed digits: rounded, truncated or both"),
    ),
    source="IIFR, Tables 1 and 2",
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per data set, quantity and group.

    Raises
    ------
    InputError
        A published number has a quantity or group that is not in the data set.
    """
    for name, table in study.people.items():
        printed = {
            (row["quantity"], row["value"]): row
            for row in study.published.groups
            if row["dataset"] == name
        }
        counts = count_groups(table)
        if unknown := printed.keys() - counts.keys():
            quantity, value = min(unknown)
            problem = f"has {quantity} of {value or 'all'} of {name}, which the table lacks"
            raise InputError(problem, file=printed[quantity, value]["file"])
        for key, (count, total) in counts.items():
            row = dict(zip(TABLE.key, (name, *key), strict=True))
            row |= {"count": count, "of": total, "reproduced": count / total}
            if key in printed:
                published = printed[key]["published"]
                digits = matching_digits(published, count, total) if published else ""
                verdict = "reproduced" if digits else "not_reproduced"
                row |= {"published": published, "digits": digits}
                row |= {"verdict": verdict if published else "not_checked"}
            if key[0] == "rows":
                row["reproduced"] = count
            yield row


def count_groups(table: Prepared) -> dict[tuple[str, str], tuple[int, int]]:
    """Return count and total of each quantity and value of the attribute."""
    counts = np.zeros((len(table.attribute_values), 2), dtype=int)
    np.add.at(counts, (table.a, table.y), 1)
    total = int(counts.sum())
    shares = {("rows", ""): (total, 1), ("P(Y=1)", ""): (int(counts[:, 1].sum()), total)}
    sizes = dict(zip(table.attribute_values, counts.tolist(), strict=True))
    shares |= {("P(A)", value): (sum(size), total) for value, size in sizes.items()}
    shares |= {
        ("P(Y=1|A)", value): (size[1], sum(size)) for value, size in sizes.items() if any(size)
    }
    return shares


def matching_digits(printed: str, count: int, of: int) -> str:
    """Return how count / of matches the printed decimals: rounded, truncated, both, or blank."""
    whole, _, decimals = printed.partition(".")
    scaled = count * 10 ** len(decimals)
    ways = {"rounded": (2 * scaled + of) // (2 * of), "truncated": scaled // of}
    fits = [way for way, value in ways.items() if value == int(whole + decimals)]
    return "both" if len(fits) == 2 else "".join(fits)
