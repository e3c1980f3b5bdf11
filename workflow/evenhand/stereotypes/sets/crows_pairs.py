"""CrowS-Pairs, and any CSV file with its columns: revised, translated, or a user's own.

Source: Nangia et al., CrowS-Pairs, EMNLP 2020, and the README of nyu-mll/crows-pairs: with the
direction `stereo`, `sent_more` states a stereotype of the disadvantaged group; with the direction
`antistereo`, `sent_less` violates one, so that `sent_less` is the sentence about the disadvantaged
group.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.resources import check_unique
from evenhand.errors import InputError, nearest
from evenhand.stereotypes.clusters import swapped_words
from evenhand.stereotypes.pairs import FLAGS, Form, pair_row
from evenhand.tabular.delimited import read_cells

#: The columns that a file must have, and those that it may have.
COLUMNS = ("sent_more", "sent_less")
MORE = ("stereo_antistereo", "bias_type", "annotations")

#: The bias type of a pair without one.
NOT_GIVEN = "not given"

#: Names of the id column, of which the first present is used; "" is a first column without a name,
#: as pandas writes its index. Without an id column, a pair's id is its record number.
ID_COLUMNS = ("", "Unnamed: 0", "pair_id", "id", "index")

#: Maximum length of an annotations cell, in characters; those of CrowS-Pairs have 150.
LONGEST_ANNOTATIONS = 10_000

#: The side about the disadvantaged group, by direction.
DISADVANTAGED = {"stereo": "more", "antistereo": "less"}


def form(part: str | None) -> Form:
    """Return the properties of the set."""
    if part is not None:
        raise InputError(f"CrowS-Pairs has no part {part!r}", remedy="leave out the part")
    return Form("CrowS-Pairs", "stereotype", "anti-stereotype", tuple(FLAGS))


def read(file: Path, part: str | None) -> Iterator[dict[str, Any]]:
    """Yield the pairs of a CSV file with the columns of CrowS-Pairs.

    Parameters
    ----------
    file : Path
        A CSV file (see `evenhand.tabular.delimited.read_cells`). The columns
        `COLUMNS` in any order, and optionally an id column (`ID_COLUMNS`) and those of `MORE`,
        whose cells may be blank: the direction, the bias type, and `annotations`, a Python or JSON
        list with a list of bias types per annotator, which is empty if the annotator named no bias.
    part : None
        CrowS-Pairs has no parts.

    Yields
    ------
    dict
        Rows of `PAIRS`. `annotators` is the number of lists, `agreement` the number of those with
        the pair's bias type, `agreement_any` the number with any. Sentences are stripped of blanks.
        `source_position` counts the records below the header, without blank rows.

    Raises
    ------
    InputError
        With the line number: the file is not UTF-8 or not CSV, lacks a column, has it twice or in
        another spelling (``Bias Type``); a row has too many or too few cells, no id, the bias type
        "all", an unknown direction, or annotations that are not a list of lists.
    """
    header, lines = read_cells(file)
    place = _places(header, file)
    ids = next((name for name in ID_COLUMNS if name in place), None)
    rows = ((line, cells) for line, cells in lines if any(cells))
    for record, (line, cells) in enumerate(rows, start=1):
        at: dict[str, Any] = {"file": file, "line": line}
        if "\ufffd" in "".join(cells):
            raise InputError(
                "has the replacement character U+FFFD: it was read in a wrong encoding before",
                **at,
                remedy="take the file from its source again",
            )
        cell = {name: cells[where] for name, where in place.items()}
        if not (name := cell[ids] if ids is not None else str(record)):
            raise InputError(f"the cell of the id ({ids or 'first column'}) is blank", **at)
        bias_type = cell.get("bias_type") or NOT_GIVEN
        if bias_type == "all":
            raise InputError("'all' is no bias_type", **at, remedy="name it otherwise")
        direction = cell.get("stereo_antistereo", "").lower() or None
        if direction not in (None, *DISADVANTAGED):
            raise InputError(
                f"{direction!r} is no direction",
                **at,
                remedy="stereo_antistereo is stereo, antistereo or blank",
            )
        named = _annotations(cell.get("annotations", ""), at)
        yield pair_row(
            pair_id=name,
            bias_type=bias_type,
            direction=direction,
            cluster=swapped_words(cell["sent_more"], cell["sent_less"]),
            more=cell["sent_more"],
            less=cell["sent_less"],
            disadvantaged=DISADVANTAGED.get(direction),
            annotators=len(named) or None,
            agreement=sum(bias_type in types for types in named) if named else None,
            agreement_any=sum(map(bool, named)) if named else None,
            source_position=record,
        )


def unused_columns(file: Path) -> list[str]:
    """Return the named columns of a file that `read` does not read."""
    header, _ = read_cells(file)
    return [name for name in header if name not in ("", *_places(header, file))]


def _places(header: list[str], file: Path) -> dict[str, int]:
    """Return the positions of the known columns."""
    if lacking := [name for name in COLUMNS if name not in header]:
        meant = [f"{near} to {name}" for name in lacking if (near := nearest(name, header))]
        problem = f"has no column {' and '.join(lacking)}; its columns are {', '.join(header)}"
        remedy = f"a file of pairs has {', '.join(COLUMNS)}, and may have {', '.join(MORE)}"
        remedy += f"; rename {' and '.join(meant)}" if meant else ""
        raise InputError(problem, file=file, line=1, remedy=remedy)
    header = [name or ("" if place == 0 else None) for place, name in enumerate(header)]
    known = [name for name in header if name in (*COLUMNS, *MORE, *ID_COLUMNS)]
    check_unique(known, file)
    spelt = {_letters(name): name for name in MORE if name not in known}
    for name in header:
        if name and name not in known and (meant := spelt.get(_letters(name))):
            problem = f"has a column {name!r}, and none named {meant}"
            raise InputError(problem, file=file, line=1, remedy=f"rename it to {meant}")
    return {name: header.index(name) for name in known}


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def _annotations(cell: str, at: dict[str, Any]) -> list[set[str]]:
    """Return the bias types that each annotator named; empty for a blank cell."""
    if not cell:
        return []
    try:
        value = ast.literal_eval(cell) if len(cell) <= LONGEST_ANNOTATIONS else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list | tuple) or not all(
        isinstance(types, list | tuple) and all(isinstance(name, str) for name in types)
        for types in value
    ):
        raise InputError(
            "its annotations are no list with a list of bias types per annotator",
            **at,
            remedy="write them as [['gender'], [], ['gender', 'age']], or leave the cell blank",
        )
    return [{name.strip() for name in types} for types in value]
