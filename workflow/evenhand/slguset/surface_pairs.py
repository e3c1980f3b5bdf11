"""Surface pairs by name: male word, slash, female word (``男人/女人``)."""

from collections.abc import Mapping
from pathlib import Path

from evenhand.slguset.keywords import read_keywords


def surface_pair(row: Mapping[str, str]) -> str:
    """The name of the surface pair of a row with surface, surface_opposite and gender."""
    words = (row["surface"], row["surface_opposite"])
    return "/".join(words if row["gender"] == "male" else words[::-1])


def surface_pairs(keywords: Path) -> dict[str, str]:
    """The mask pair of each surface pair, by name, in the order of the table of keywords."""
    return {
        f"{one.surface}/{one.surface_opposite}": one.pair
        for one in read_keywords(keywords).surfaces.values()
        if one.gender == "male"
    }
