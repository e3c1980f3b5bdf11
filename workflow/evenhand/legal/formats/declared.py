"""Rows of any table, as the configuration declares their columns (`text.datasets`)."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from functools import partial
from math import isnan
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from evenhand.core.files import path_text
from evenhand.errors import InputError
from evenhand.io.quarantine import Quarantine
from evenhand.io.tables import read_batches
from evenhand.legal.declaration import attributes_of, declared_dataset
from evenhand.legal.objects import Found, Note, RejectedError, records_of
from evenhand.legal.records import Record, text_id
from evenhand.legal.rows import SPLIT_NAMES, plain, read_rows, split_of
from evenhand.tabular.numbers import binned, or_nan

KIND = "declared"
NEEDS = "rows with the declared text"
TABLES = ()
OPTIONS: dict[str, object] = {}

#: From this value on a column of a group or label applies.
APPLIES = 0.5

#: How a missing value is written, besides what `plain` knows.
MISSING = frozenset({"", "n/a", "na", "unknown"})

_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})


def read(
    files: list[Path], options: dict[str, Any], quarantine: Quarantine, tables: dict[str, Path]
) -> Iterator[Record]:
    """Read the rows of files.

    Parameters
    ----------
    files : list of Path
        jsonl, json, csv, tsv, parquet and arrow files.
    options : dict
        declaration: an entry of ``text.datasets`` of the configuration, as JSON.
    quarantine : Quarantine
        Gets rows without a text (``no_text``), whose text is a number (``text_is_number``), whose
        label is not declared or no number for its bins (``outside_labels``), and whose split is
        none (``unknown_split``), or that lack a declared id
        (``no_id``). Values of attributes that cannot be used are noted
        (``no_group``), as are dates (``bad_date``); these rows stay.
    tables : dict
        None.

    Raises
    ------
    InputError
        A file lacks a declared column.
    """
    how = json.loads(options["declaration"])
    columns, labels = _columns(how), {*declared_dataset(how).labels}
    make = partial(_record, how=how, known=labels, copies=Counter())
    for file in _data_files(files):
        known: set[str] = set()
        yield from records_of(_noted(_rows(file, quarantine), known), quarantine, make)
        if known and (lacking := [name for name in columns if name not in known]):
            raise InputError(
                f"has no column {lacking[0]!r}, which `{columns[lacking[0]]}` names",
                file=file,
                remedy=f"name one of its columns: {', '.join(sorted(known)[:20])}",
            )


def _noted(rows: Iterable[Found], columns: set[str]) -> Iterator[Found]:
    """Yield rows, and add their columns to a set."""
    for found in rows:
        columns.update(found.value)
        yield found


def _data_files(files: list[Path]) -> Iterator[Path]:
    """The files of rows; of a folder that `save_to_disk` wrote those that its state.json names."""
    for file in files:
        state = file.parent / "state.json"
        if file.suffix == ".arrow" and state.is_file():
            named = json.loads(state.read_text(encoding="utf-8"))["_data_files"]
            if file.name in {one["filename"] for one in named}:
                yield file
        elif file.name not in ("state.json", "dataset_info.json", "dataset_dict.json"):
            yield file


def _rows(path: Path, quarantine: Quarantine) -> Iterator[Found]:
    """The rows of a file; class numbers of Hugging Face's tables become names."""
    if path.suffix not in (".arrow", ".parquet"):
        yield from read_rows([path], quarantine)
        return
    number = 0
    for batch in _arrow_batches(path) if path.suffix == ".arrow" else read_batches(path):
        names = _class_names(batch.schema)
        for row in batch.to_pylist():
            number += 1
            named = {key: _named(row[key], names[key]) for key in names if key in row}
            yield Found(path_text(path), number, "record", row | named)


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    try:
        with pa.memory_map(str(path)) as file:
            yield from pa.ipc.open_stream(file)
    except pa.ArrowInvalid as error:
        raise InputError("is no Arrow stream, as `save_to_disk` writes it", file=path) from error


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """The names of the classes of each column of ClassLabels, or of lists of them."""
    document = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    found = {}
    for column, feature in document.get("info", {}).get("features", {}).items():
        while isinstance(feature, list) or "feature" in feature:
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        if feature.get("_type") == "ClassLabel":
            found[column] = feature["names"]
    return found


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _columns(how: dict[str, Any]) -> dict[str, str]:
    """All columns that a declaration names, each with the key that names it."""
    text = [how["text"]] if isinstance(how["text"], str) else how["text"]
    places = {"text": text, "id": [how["id"]]}
    places |= {f"split.{key}": [how["split"][key]] for key in ("column", "date")}
    parts = {"label": how["label"]}
    parts |= {f"attributes.{name}": one for name, one in how["attributes"].items()}
    places |= {key: [one["column"], *one["columns"]] for key, one in parts.items()}
    return {column: key for key, columns in places.items() for column in columns if column}


def _record(
    found: Found, note: Note, *, how: dict[str, Any], known: set[str], copies: Counter[str]
) -> Record:
    row = found.value
    text, numbers = _paragraphs(row, how["text"])
    if not text:
        raise RejectedError("no_text", f"{how['text']} is blank")
    if numbers:
        raise RejectedError("text_is_number", f"{how['text']} is {text[0]}")
    try:
        labels = _labels(row, how["label"], known)
    except ValueError as error:
        raise RejectedError("outside_labels", str(error)) from error
    split = _split(found, how["split"]["column"])
    if split == "":
        detail = f"{how['split']['column']} is {plain(row.get(how['split']['column']))!r}"
        raise RejectedError("unknown_split", detail)
    if how["id"] and not plain(row.get(how["id"])):
        raise RejectedError("no_id", f"{how['id']} is blank")
    day, column = None, how["split"]["date"]
    if column and (cell := plain(row.get(column))):
        try:
            day = date.fromisoformat(cell[:10])
        except ValueError:
            note("bad_date", f"{column} is {cell!r}")
    given = {}
    for name, one in attributes_of(how).items():
        if one["extract"]:
            continue
        try:
            given[name] = _group(row, one)
        except ValueError as error:
            note("no_group", f"{name}: {error}")
    return found.record(
        case_id=plain(row.get(how["id"])) if how["id"] else _digest(text, copies),
        date=day,
        language=how["language"],
        split=split,
        text=text,
        labels=labels,
        given=given,
    )


def _paragraphs(row: dict[str, Any], columns: str | list[str]) -> tuple[tuple[str, ...], bool]:
    """The lines of the text that are not blank, and whether there are only numbers."""
    lines = []
    for column in [columns] if isinstance(columns, str) else columns:
        cell = row.get(column)
        for part in cell if isinstance(cell, list) else [cell]:
            text = part if isinstance(part, str) else plain(part)
            lines += [line.strip() for line in text.splitlines() if line.strip()]
    numbers = all(or_nan(line) == or_nan(line) for line in lines)
    return tuple(lines), numbers


def _applies(cell: Any) -> bool | None:
    """Whether a column of a group or label applies; None for any other value."""
    word = plain(cell).casefold()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    value = or_nan(word)
    return value >= APPLIES if value == value else None


def _value(cell: Any, known: Collection[str] = ()) -> str:
    """Return a cell as text, blank if it is missing; a `known` value such as none never is."""
    if (as_written := str(cell).strip()) in known:
        return as_written
    value = str(cell) if isinstance(cell, bool) else plain(cell)
    return "" if value.casefold() in MISSING else value


def _flags(row: dict[str, Any], columns: list[str]) -> dict[str, bool | None]:
    """Whether each column applies; ValueError for a cell that is neither true nor false."""
    found = {column: _applies(row.get(column)) for column in columns}
    if wrong := [name for name in columns if found[name] is None and _value(row.get(name))]:
        raise ValueError(f"{wrong[0]} is {plain(row.get(wrong[0]))!r}, neither true nor false")
    return found


def _labels(row: dict[str, Any], label: dict[str, Any], known: set[str]) -> tuple[str, ...] | None:
    """The labels of a row, None if they are missing; ValueError if they cannot be used."""
    if columns := label["columns"]:
        found = _flags(row, columns)
        return None if None in found.values() else tuple(name for name in columns if found[name])
    cell = row.get(label["column"])
    if label["task"] == "multi_label":
        if cell is None or (isinstance(cell, float) and isnan(cell)):
            return None
        parts = cell if isinstance(cell, list) else plain(cell).split(label["separator"])
        values = list(dict.fromkeys(filter(None, (_value(part, known) for part in parts))))
    else:
        values = [value] if (value := _value(cell, known)) else []
        if not values:
            return None
        if label["bins"]:
            values = binned(values, label["bins"])
            if not values[0]:
                raise ValueError(f"{label['column']} is {value!r}, and bins need a number")
    if known and (others := [value for value in values if value not in known]):
        raise ValueError(f"{label['column']} is {others[0]!r}, which is not declared")
    return tuple(values)


def _group(row: dict[str, Any], one: dict[str, Any]) -> str:
    """The group of a row, blank if it is missing; ValueError if a value cannot be used."""
    if columns := one["columns"]:
        found = _flags(row, columns)
        if one["overlapping"]:
            [(column, inside)] = found.items()
            return "" if inside is None else column if inside else f"not {column}"
        inside = [column for column in columns if found[column]]
        if len(inside) > 1:
            raise ValueError(f"in {' and '.join(inside)}")
        return "".join(inside)
    value = _value(row.get(one["column"]))
    if not value or not one["bins"]:
        return value
    [group] = binned([value], one["bins"])
    if not group:
        raise ValueError(f"{value!r} is no number")
    return group


def _split(found: Found, column: str | None) -> str | None:
    """Return the split of a row; None if not stated, blank if it is none of the three."""
    if column:
        name = plain(found.value.get(column)).casefold()
        return SPLIT_NAMES.get(name, "") if name else None
    folder = PurePosixPath(found.source.replace("!", "/")).parent.name
    return split_of(found.source) or SPLIT_NAMES.get(folder.casefold())


def _digest(text: tuple[str, ...], copies: Counter[str]) -> str:
    """An id of a text; the second row with the same text has -2 at its end, and so on."""
    digest = text_id(text)
    copies[digest] += 1
    return digest if copies[digest] == 1 else f"{digest}-{copies[digest]}"
