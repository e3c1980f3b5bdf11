"""CrowS-Pairs, and any CSV file with its columns: revised, translated, or a user's own.

Source: Nangia et al., CrowS-Pairs, EMNLP 2020, and the README of nyu-mll/crows-pairs: with the
direction `stereo`, `sent_more` states a stereotype of the disadvantaged group; with the direction
`antistereo`, `sent_less` violates one, so that `sent_less` is the sentence about the disadvantaged
group.
"""

import ast
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.stereotypes.clusters import swapped_words
from evenhand.stereotypes.pairs import FLAGS, Form, pair_row

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
        UTF-8, with or without byte-order mark; separated by comma, semicolon or tab. The columns
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
        With the line number: the file is not UTF-8 or not CSV, lacks a column or has it twice; a
        row has too many or too few cells, no id, the bias type "all", an unknown direction, or
        annotations that are not a list of lists.
    """
    place, rows = _table(file)
    ids = next((name for name in ID_COLUMNS if name in place), None)
    for record, (line, cells) in enumerate(rows, start=1):
        cell = {name: cells[where].strip() for name, where in place.items()}
        if not (name := cell[ids] if ids is not None else str(record)):
            raise InputError(
                f"the cell of the id ({ids or 'first column'}) is blank", **_at(file, line)
            )
        bias_type = cell.get("bias_type") or NOT_GIVEN
        if bias_type == "all":
            raise InputError("'all' is no bias_type", **_at(file, line), remedy="name it otherwise")
        direction = cell.get("stereo_antistereo", "").lower() or None
        if direction not in (None, *DISADVANTAGED):
            raise InputError(
                f"{direction!r} is no direction",
                **_at(file, line),
                remedy="stereo_antistereo is stereo, antistereo or blank",
            )
        named = _annotations(cell.get("annotations", ""), file, line)
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


def _at(file: Path, line: int) -> dict[str, Any]:
    return {"file": file, "line": line}


def _table(file: Path) -> tuple[dict[str, int], Iterator[tuple[int, list[str]]]]:
    """Return the column positions, and the rows below the header with their (last) line numbers."""
    text = _decoded(file)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = _rows(reader, file)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    place = {}
    if lacking := [name for name in COLUMNS if name not in header]:
        raise InputError(
            f"has no column {' and '.join(lacking)}; its columns are {', '.join(header)}",
            **_at(file, 1),
            remedy=f"a file of pairs has {', '.join(COLUMNS)}, and may have {', '.join(MORE)}",
        )
    for name in (*COLUMNS, *MORE, *ID_COLUMNS):
        count = header[:1].count("") if name == "" else header.count(name)
        if count > 1:
            raise InputError(f"has more than one column {name}", **_at(file, 1))
        if count:
            place[name] = header.index(name)
    return place, _whole_rows(rows, len(header), file)


def _rows(reader: Any, file: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"is not a whole CSV file ({error})",
            **_at(file, reader.line_num),
            remedy='close each quoted cell, and double a quote inside one ("")',
        ) from error


def _whole_rows(
    rows: Iterator[tuple[int, list[str]]], cells: int, file: Path
) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if len(row) != cells:
            raise InputError(
                f"has {len(row)} cells, and the header has {cells}",
                **_at(file, line),
                remedy="put a cell with the delimiter inside into quotes",
            )
        yield line, row


def _decoded(file: Path) -> str:
    text = read_text(file)
    for sign, what in (("\ufffd", "the replacement character U+FFFD"), ("\0", "a zero byte")):
        if sign in text:
            raise InputError(
                f"holds {what}: it was read in a wrong encoding before",
                **_at(file, text.count("\n", 0, text.index(sign)) + 1),
                remedy="take the file from its source again",
            )
    return text


def _annotations(cell: str, file: Path, line: int) -> list[set[str]]:
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
            **_at(file, line),
            remedy="write them as [['gender'], [], ['gender', 'age']], or leave the cell blank",
        )
    return [{name.strip() for name in types} for types in value]
