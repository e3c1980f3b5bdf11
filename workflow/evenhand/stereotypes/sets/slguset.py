"""SlguSet as pairs: each sentence and its counterfactual with the gender word swapped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.tables import count_rows, read_rows
from evenhand.stereotypes.pairs import Form, pair_row

#: The columns that are read of the data set (see `evenhand.slguset.dataset`).
COLUMNS = ["sentence_id", "sentence", "swapped_sentence", "surface", "surface_opposite", "gender"]


def form(part: str | None) -> Form:
    """Return the properties of the set, without flags for repeated swaps and low agreement.

    By design its sentences swap few words many times, and have no ratings.
    """
    if part is not None:
        raise InputError(f"SlguSet has no part {part!r}", remedy="leave out the part")
    flags = ("unequal_length", "several_edits", "insertion_only", "duplicate")
    return Form("SlguSet", "male", "female", flags)


def read(file: Path, part: str | None) -> Iterator[dict[str, Any]]:
    """Yield the sentences of SlguSet as pairs: the male one is `more`, the female one `less`.

    Parameters
    ----------
    file : Path
        The data set (slguset.parquet).
    part : None
        SlguSet has no parts.

    Yields
    ------
    dict
        Rows of `PAIRS`. `bias_type` and `cluster` are the surface pair, male first (男人/女人).

    Raises
    ------
    InputError
        The file is not Parquet, lacks a column, or has a gender other than male and female.
    """
    count_rows(file, COLUMNS)
    for number, row in enumerate(read_rows(file, COLUMNS), start=1):
        sides = [row["sentence"], row["swapped_sentence"]]
        surfaces = [row["surface"], row["surface_opposite"]]
        if row["gender"] not in ("male", "female"):
            raise InputError(f"{row['gender']!r} is no gender", file=file, line=number)
        if row["gender"] == "female":
            sides, surfaces = sides[::-1], surfaces[::-1]
        yield pair_row(
            pair_id=row["sentence_id"],
            bias_type="/".join(surfaces),
            cluster="/".join(surfaces),
            more=sides[0],
            less=sides[1],
            source_position=number,
        )
