"""Rows of any table, as the configuration declares their columns (`text.datasets`)."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from evenhand.core.files import path_text
from evenhand.core.numbers import (
    ERRORS,
    binned,
    check_bins,
    check_thousands,
    missing_codes,
    or_nan,
)
from evenhand.core.phrases import phrases_of
from evenhand.core.whole import COPY
from evenhand.errors import InputError, nearest
from evenhand.io.tables import read_batches
from evenhand.legal.declaration import attributes_of, declared_dataset
from evenhand.legal.records import Record, text_id
from evenhand.legal.rows import (
    SPLIT_NAMES,
    CaseFiles,
    Note,
    RejectedError,
    SourceRow,
    plain,
    split_of,
)
from evenhand.tabular.delimited import SEPARATE, is_open
from evenhand.tabular.words import doubtful_words
from evenhand.text.phrases import listed

KIND = "declared"
NEEDS = "rows whose columns are as declared (docs/howto_text.md)"

#: What to do about most rows that are left out, by the reason of the quarantine.
CURES = phrases_of(__file__)["cures"]

#: Files whose rows all have the same columns.
TABLES_OF_ROWS = (".csv", ".tsv", ".parquet", ".arrow")

#: From this value on a column of a group or label applies.
APPLIES = 0.5

#: How a missing value is written, besides what `plain` knows.
MISSING = frozenset({"", "n/a", "na", "unknown"})

_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", re.ASCII)

_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the rows of jsonl, json, csv, tsv, parquet and arrow files.

    The option ``declaration`` is an entry of ``text.datasets`` of the configuration. The quarantine
    gets rows without a text (``no_text``), whose text is a number (``text_is_number``), whose label
    is not declared (``outside_labels``) or no number for its bins (``label_is_no_number``), whose
    split is none (``unknown_split``), that lack a declared id (``no_id``), or that a date divides
    and have none (``no_date``). Values of attributes that cannot be used are noted (``no_group``),
    as are dates of rows with a split (``bad_date``); these rows stay, and so do those with numbers
    that may stand for missing ones, which are noted once (``doubtful_number``). A file that is not
    UTF-8 is noted with its detected encoding (``other_encoding``), and one whose last line has no
    end (``open_end``).

    Raises
    ------
    InputError
        A file lacks a declared column, all numbers of the label are in one bin, or points separate
        the thousands of an attribute with bins.
    """
    declaration = json.loads(cases.options["declaration"])
    columns, labels = _columns(declaration), {*declared_dataset(declaration).labels}
    numbers: dict[str, Counter[str]] = defaultdict(Counter)
    label_numbers: list[float] = []
    make = partial(
        _record,
        declaration=declaration,
        labels=labels,
        copies=Counter(),
        numbers=numbers,
        label_numbers=label_numbers,
    )
    for file in _data_files(cases.files):
        if is_open(file):
            cases.quarantine.add(path_text(file), None, "file", "open_end", file.name)
        yield from cases.records(_with_columns(_rows(file, cases), columns, file), make)
    if label_numbers and not cases.quarantine.counts["label_is_no_number"]:
        column, bins = (declaration["label"][key] for key in ("column", "bins"))
        check_bins(list(map(str, label_numbers)), bins, "label.bins", column, cases.files[0])
    for name, counts in numbers.items():
        check_thousands(counts, name, cases.files[0])
    columns_of_codes = {name: missing_codes(counts) for name, counts in sorted(numbers.items())}
    words = [doubtful_words(name, codes) for name, codes in columns_of_codes.items() if codes]
    if words:
        place = path_text(cases.files[0])
        cases.quarantine.add(place, None, "file", "doubtful_number", " ".join(words))


def _with_columns(
    rows: Iterable[SourceRow], columns: dict[str, str], file: Path
) -> Iterator[SourceRow]:
    """Yield the rows of a file; InputError if none has a column. The first row of a table does."""
    present: set[str] = set()

    def check() -> None:
        if missing := [name for name in columns if name not in present]:
            names = [name or "one without a name" for name in sorted(present)]
            remedy = f"name one of its columns: {', '.join(names[:20])}"
            if near := nearest(missing[0], sorted(present)):
                remedy += f"; the closest is {near}"
            if len(present) == 1 and file.suffix in (".csv", ".tsv"):
                remedy += SEPARATE
            stem = missing[0].rpartition("_")[0] or missing[0]
            alike = sorted(name for name in present if name.startswith(f"{stem}_"))
            if len(alike) > 1 and columns[missing[0]].startswith("attributes."):
                remedy += (
                    f"; or, for a column per group, write columns: [{', '.join(alike[:20])}], with"
                    " overlapping: true if a row may be in several groups"
                )
            problem = f"has no column {missing[0]!r}, which `{columns[missing[0]]}` names"
            raise InputError(problem, file=file, remedy=remedy)

    number = 0
    for number, row in enumerate(rows, 1):
        present.update(row.fields)
        if number == 1 and file.suffix in TABLES_OF_ROWS:
            check()
        yield row
    # lists alone may be the paragraphs and the labels of a row
    kinds = dict if columns.keys() & present else (dict, list)
    if number == 1 and all(isinstance(cell, kinds) for cell in row.fields.values()):
        raise InputError(
            f"has no rows, but {listed(sorted(present), 6)} as whole columns or lists",
            file=file,
            remedy="write a JSON object per row, as by"
            " DataFrame.to_json(name, orient='records', lines=True)",
        )
    if present:
        check()


def _data_files(files: list[Path]) -> Iterator[Path]:
    """Yield the files of rows; of a folder of `save_to_disk` those that its state.json names."""
    for file in files:
        state = file.parent / "state.json"
        if file.suffix == ".arrow" and state.is_file():
            entries = json.loads(state.read_text(encoding="utf-8"))["_data_files"]
            if file.name in {entry["filename"] for entry in entries}:
                yield file
        elif file.name not in ("state.json", "dataset_info.json", "dataset_dict.json"):
            yield file


def _rows(path: Path, cases: CaseFiles) -> Iterator[SourceRow]:
    """Yield the rows of a file; class numbers of Hugging Face's tables become names."""
    if path.suffix not in (".arrow", ".parquet"):
        options = cases.options | {"note_encoding": True}
        yield from replace(cases, files=[path], options=options).rows()
        return
    batches = _arrow_batches(path) if path.suffix == ".arrow" else read_batches(path)
    numbers = count(1)
    for batch in batches:
        names = _class_names(batch.schema)
        for row in batch.to_pylist():
            named = {key: _named(row[key], names[key]) for key in names if key in row}
            yield SourceRow(path_text(path), next(numbers), "record", row | named)


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    try:
        with pa.memory_map(str(path)) as file:
            yield from pa.ipc.open_stream(file)
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the file system, which names the file
        with path.open("rb") as file:
            is_stream = file.read(4) == b"\xff" * 4
        if is_stream:
            raise InputError("is an Arrow file that is cut off", file=path, remedy=COPY) from error
        raise InputError("is no Arrow stream, as `save_to_disk` writes it", file=path) from error


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column of ClassLabels, or of lists of them."""
    document = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    names = {}
    for column, feature in document.get("info", {}).get("features", {}).items():
        while isinstance(feature, list) or "feature" in feature:
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        if feature.get("_type") == "ClassLabel":
            names[column] = feature["names"]
    return names


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(number, names) for number in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _columns(declaration: dict[str, Any]) -> dict[str, str]:
    """Return all columns that a declaration names, each with the key that names it."""
    places = {"text": declaration["text"], "id": declaration["id"]}
    places |= {f"split.{key}": declaration["split"][key] for key in ("column", "date")}
    parts = {"label": declaration["label"]}
    parts |= {f"attributes.{name}": part for name, part in declaration["attributes"].items()}
    places |= {key: [part["column"], *part["columns"]] for key, part in parts.items()}
    return {
        column: key for key, columns in places.items() for column in _as_list(columns) if column
    }


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _record(
    row: SourceRow,
    note: Note,
    *,
    declaration: dict[str, Any],
    labels: set[str],
    copies: Counter[str],
    numbers: dict[str, Counter[str]],
    label_numbers: list[float],
) -> Record:
    fields = row.fields
    text = _paragraphs([fields.get(column) for column in _as_list(declaration["text"])])
    if not text:
        raise RejectedError("no_text", f"{declaration['text']} is blank")
    if all(or_nan(line) == or_nan(line) for line in text):
        raise RejectedError("text_is_number", f"{declaration['text']} is {text[0]}")
    try:
        names = _labels(fields, declaration["label"], labels)
    except ValueError as error:
        raise RejectedError("outside_labels", str(error)) from error
    if names and declaration["label"]["bins"]:  # the lowest and the highest
        value = or_nan(plain(fields.get(declaration["label"]["column"])))
        label_numbers[:] = min([value, *label_numbers]), max([value, *label_numbers])
    split = _split(row, declaration["split"]["column"])
    case_id = plain(fields.get(declaration["id"]))
    if declaration["id"] and not case_id:
        raise RejectedError("no_id", f"{declaration['id']} is blank")
    day, column = None, declaration["split"]["date"]
    if column and (day := _day(cell := plain(fields.get(column)))) is None:
        what = f"{column} is {repr(cell) if cell else 'blank'}, no date like 2024-05-31"
        if split is None:
            raise RejectedError("no_date", what)
        if cell:
            note("bad_date", what)
    metadata, without_group = {}, []
    for name, attribute in attributes_of(declaration).items():
        if not attribute["extract"]:
            try:
                metadata[name] = _group(fields, attribute)
            except ValueError as error:
                note("no_group", f"{name}: {error}")
                without_group.append(name)
            if attribute["bins"]:
                numbers[name][plain(fields.get(attribute["column"]))] += 1
    return row.record(
        case_id=case_id or _digest(text, copies),
        date=day,
        language=declaration["language"],
        split=split,
        text=text,
        labels=names,
        metadata=metadata,
        without_group=tuple(without_group),
    )


def _day(cell: str) -> date | None:
    """Return the date with which a cell begins, None if it begins with none."""
    if not (match := _DATE.match(cell)):
        return None
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def _paragraphs(cells: list[Any]) -> tuple[str, ...]:
    """Return the lines of the text that are not blank."""
    parts = [part for cell in cells for part in _as_list(cell)]
    texts = (part if isinstance(part, str) else plain(part) for part in parts)
    lines = (line.strip() for text in texts for line in text.splitlines())
    return tuple(filter(None, lines))


def _applies(cell: Any) -> bool | None:
    """Return whether a column of a group or label applies; None for any other value.

    A number is the share of annotators who say so, from 0 to 1.
    """
    word = plain(cell).casefold()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    value = or_nan(word)
    return value >= APPLIES if 0 <= value <= 1 else None


def _value(cell: Any, known: Collection[str] = ()) -> str:
    """Return a cell as text, blank if it is missing; a `known` value such as none never is."""
    if (as_written := str(cell).strip()) in known:
        return as_written
    value = str(cell) if isinstance(cell, bool) else plain(cell)
    return "" if value.casefold() in MISSING or value in ERRORS else value


def _flags(fields: dict[str, Any], columns: list[str]) -> dict[str, bool | None]:
    """Return whether each column applies; ValueError for a cell that is neither true nor false."""
    flags = {column: _applies(fields.get(column)) for column in columns}
    wrong = [
        f"{column} is {plain(fields.get(column))!r}"
        for column, flag in flags.items()
        if flag is None and _value(fields.get(column))
    ]
    if wrong:
        raise ValueError(
            f"{listed(wrong, 4)}, neither true (true, yes, 1), false (false, no, 0) nor a share"
            " from 0 to 1"
        )
    return flags


def _labels(
    fields: dict[str, Any], label: dict[str, Any], known: set[str]
) -> tuple[str, ...] | None:
    """Return the labels of a row, None if they are missing.

    ValueError or RejectedError if they cannot be used.
    """
    if columns := label["columns"]:
        flags = _flags(fields, columns)
        return None if None in flags.values() else tuple(name for name in columns if flags[name])
    cell = fields.get(label["column"])
    several = label["task"] == "multi_label"
    if several and (cell is None or cell != cell):
        return None
    if isinstance(cell, list) and not several:
        problem = f"`label.column` is {label['column']}, whose cells are lists"
        raise InputError(problem, remedy="set task: multi_label")
    if several and not isinstance(cell, list):
        cell = plain(cell).split(label["separator"])
    values = [_value(part, known) for part in (cell if several else [cell])]
    values = list(dict.fromkeys(filter(None, values)))
    if not several and not values:
        return None
    if label["bins"] and not several:
        [value], values = values, binned(values, label["bins"])
        if not values[0]:
            problem = f"{label['column']} is {value!r}, and its bins need a number"
            raise RejectedError("label_is_no_number", problem)
    if known and (unknown := [value for value in values if value not in known]):
        allowed = ", ".join(sorted(known)[:6])
        raise ValueError(f"{label['column']} is {unknown[0]!r}, which is not declared ({allowed})")
    return tuple(values)


def _group(fields: dict[str, Any], attribute: dict[str, Any]) -> str:
    """Return the group of a row, blank if it is missing; ValueError if a value cannot be used."""
    if columns := attribute["columns"]:
        flags = _flags(fields, columns)
        if attribute["overlapping"]:
            [(column, inside)] = flags.items()
            return "" if inside is None else column if inside else f"not {column}"
        inside = [column for column in columns if flags[column]]
        if len(inside) > 1:
            problem = f"in {listed(inside, 4)}; set overlapping: true if that is meant"
            raise ValueError(problem)
        return "".join(inside)
    cell = fields.get(attribute["column"])
    if isinstance(cell, list):
        problem = f"the column {attribute['column']} of an attribute has lists as cells"
        remedy = "write a column of true and false for each group, and name these as `columns` with"
        raise InputError(problem, remedy=f"{remedy} `overlapping: true`")
    value = _value(cell)
    if not value or not attribute["bins"]:
        return value
    [group] = binned([value], attribute["bins"])
    if not group:
        raise ValueError(f"{attribute['column']} is {value!r}, and its bins need a number")
    return group


def _split(row: SourceRow, column: str | None) -> str | None:
    """Return the split of a row, None if it is not stated; RejectedError if it is unknown."""
    if not column:
        folder = PurePosixPath(row.source.replace("!", "/")).parent.name
        return split_of(row.source) or SPLIT_NAMES.get(folder.casefold())
    name = plain(row.fields.get(column))
    if name and name.casefold() not in SPLIT_NAMES:
        raise RejectedError("unknown_split", f"{column} is {name!r}")
    return SPLIT_NAMES.get(name.casefold())


def _digest(text: tuple[str, ...], copies: Counter[str]) -> str:
    """Return an id of a text; the second row with the same text has -2 at its end, and so on."""
    digest = text_id(text)
    copies[digest] += 1
    return digest if copies[digest] == 1 else f"{digest}-{copies[digest]}"
