"""Surface pairs by name: the words of two values, in the order of the values (``男人/女人``)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.slguset.keywords import GENDERS, Surface, read_keywords


def attribute_of(columns: Sequence[str]) -> str:
    """Return the attribute that a table of keywords is about (see `keyword_columns`)."""
    names = list(columns)
    return names[names.index("opposite") + 1]


def sides(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> tuple[str, str]:
    """Return the values of a row's keyword and opposite, in the order of the values."""
    attribute = attribute_of([*row])
    opposite = row.get(f"{attribute}_opposite")
    first, second = (one for one in values if opposite is None or one in (row[attribute], opposite))
    return first, second


def is_first(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> bool:
    """Whether the value of a row's keyword comes before that of its opposite."""
    return row[attribute_of([*row])] == sides(row, values)[0]


def surface_pair(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> str:
    """The name of the surface pair of a row with the columns of keywords."""
    words = (row["surface"], row["surface_opposite"])
    return "/".join(words if is_first(row, values) else words[::-1])


def surface_pairs(keywords: Path, values: Sequence[str] = GENDERS) -> dict[str, Surface]:
    """The first side of each surface pair, by name, in the order of the table of keywords."""
    table = read_keywords(keywords, values)
    firsts = [
        table.base(one) if one.features else one
        for some in table.alternatives.values()
        for one in some
        if values.index(one.value) < values.index(one.value_opposite)
    ]
    return {f"{one.surface}/{one.surface_opposite}": one for one in firsts}


def word_columns(values: Sequence[str]) -> list[str]:
    """Return the columns of a surface pair's two words: surface_male and surface_female."""
    sides = values if len(values) == 2 else ("first", "second")
    return [f"surface_{side}" for side in sides]
