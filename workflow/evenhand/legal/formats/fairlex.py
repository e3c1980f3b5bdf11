"""FairLex's own files (Chalkidis et al. 2022; zenodo 6322643), of any of the four data sets.

A line is ``{"text": ..., "labels": [...] or "label": ..., "attributes": {...}}``; paragraphs are
joined by ``</s>``; the files are ``train``, ``val`` and ``test.jsonl``, one zip a data set. Labels
and groups are names or numbers; a string that is no name but a number is a number, as the
loader of the `datasets` library has it. The files have no dates and no titles.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.io.formats import kind_of
from evenhand.io.quarantine import Quarantine
from evenhand.legal.dataset import Dataset
from evenhand.legal.declaration import read_declaration
from evenhand.legal.objects import Found, Note, RejectedError, objects_of, records_of
from evenhand.legal.paragraphs import tidy
from evenhand.legal.records import Record
from evenhand.legal.rows import members_of, plain, split_of

KIND = "any"
NEEDS = (
    "FairLex's zip archive of a data set, or its train.jsonl, val.jsonl and test.jsonl, each line"
    ' {"text", "labels" or "label", "attributes"}'
)
TABLES = ("fairlex_fields", "fairlex_groups")
OPTIONS: dict[str, object] = {}

#: Names under which a record may have an id of its own.
_IDS = ("case_id", "caseId", "case_no", "id")

_LANGUAGES = {"ecthr": "en", "scotus": "en", "cail": "zh"}
_BORDER = "</s>"


def read(
    files: list[Path],
    options: dict[str, Any],
    quarantine: Quarantine,
    tables: dict[str, Path],
) -> Iterator[Record]:
    """Read FairLex's files.

    Parameters
    ----------
    files : list of Path
        Zip archives, folders or jsonl files. A file whose name is that of no part has no split.
    options : dict
        declaration: the recipe of the data set, as JSON.
    quarantine : Quarantine
        Gets records without text (``missing_field``), with a label that the data set lacks or
        with none (``bad_label``), and members that are no jsonl (``unknown_format``).
    tables : dict of str to Path
        Those of `TABLES`: other names of fields and of groups.
    """
    dataset = read_declaration(options["declaration"])
    make = partial(
        _record,
        dataset=dataset,
        fields=_fields(tables["fairlex_fields"], dataset),
        groups=_groups(tables["fairlex_groups"], dataset),
    )
    for member in members_of(files, quarantine):
        if kind_of(member.file_name).format != "jsonl":
            quarantine.add(member.name, None, "file", "unknown_format", "not a .jsonl file")
            continue
        split = split_of(member.file_name)
        part = split or PurePosixPath(member.file_name).name.split(".")[0]
        in_part = partial(make, split=split, part=part)
        yield from records_of(objects_of(member, quarantine), quarantine, in_part)


def label_of(value: Any, dataset: Dataset) -> str | None:
    """A label's name from its name or number, or None if it is neither."""
    if isinstance(value, str):
        value = value.strip()
        if value in dataset.labels:
            return value
        if not re.fullmatch(r"\d+", value):
            return None
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return dataset.labels[value] if 0 <= value < len(dataset.labels) else None


def _fields(path: Path, dataset: Dataset) -> dict[str, list[str]]:
    """The names that the files have for each attribute, the usual one first."""
    names: dict[str, list[str]] = {}
    for row in read_resource(path, ["kind", "field", "attribute"]):
        if row["kind"] != dataset.kind:
            continue
        if row["attribute"] not in {one.name for one in dataset.attributes}:
            problem = f"{dataset.kind} has no attribute {row['attribute']!r}"
            raise InputError(problem, file=path)
        names.setdefault(row["attribute"], []).append(row["field"])
    return names


def _groups(path: Path, dataset: Dataset) -> dict[tuple[str, str], str]:
    """Other names of groups."""
    groups = {}
    columns = ["kind", "attribute", "name", "group"]
    for row in read_resource(path, columns, unique=("kind", "attribute", "name")):
        if row["kind"] == dataset.kind:
            groups[row["attribute"], row["name"].casefold()] = row["group"]
    return groups


def _record(
    found: Found,
    note: Note,
    *,
    dataset: Dataset,
    split: str | None,
    part: str,
    fields: dict[str, list[str]],
    groups: dict[tuple[str, str], str],
) -> Record:
    value = found.value
    text = value.get("text")
    if not isinstance(text, str | list):
        raise RejectedError("missing_field", f"no text; the fields are {', '.join(value)}"[:200])
    paragraphs = text.split(_BORDER) if isinstance(text, str) else map(plain, text)
    labels = _labels(value, dataset)
    attributes = value.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else value
    given = {}
    for attribute, names in fields.items():
        name = next((one for one in names if one in attributes), None)
        if name is not None:
            group = plain(attributes[name])
            if group:
                given[attribute] = groups.get((attribute, group.casefold()), group)
    language = _LANGUAGES.get(dataset.kind)
    if dataset.kind == "fscs":
        spoken = dataset.attribute("decision_language").groups
        stated = given.get("decision_language", "")
        if stated.isdecimal() and int(stated) < len(spoken):
            stated = spoken[int(stated)]
        language = stated if stated in spoken else None
    own = next(
        (plain(one[name]) for one in (value, attributes) for name in _IDS if name in one), ""
    )
    return found.record(
        case_id=own or f"{part}-{found.position}",
        language=language,
        split=split,
        text=tidy(paragraphs),
        labels=labels,
        given=given,
    )


def _labels(value: dict[str, Any], dataset: Dataset) -> tuple[str, ...]:
    """Return the labels' names in their order; RejectedError if they are none of the data set."""
    labels = value.get("labels", value.get("label"))
    many = dataset.task == "multi_label"
    if labels is None or (isinstance(labels, float) and math.isnan(labels)):
        raise RejectedError("bad_label", "no label")
    labels = labels if isinstance(labels, list) else [labels]
    names = [label_of(one, dataset) for one in labels]
    if None in names:
        wrong = json.dumps(labels[names.index(None)], ensure_ascii=False)[:60]
        raise RejectedError("bad_label", f"{wrong} is no label of {dataset.title}")
    if not many and len(names) != 1:
        raise RejectedError("bad_label", f"{len(names)} labels; a case of {dataset.title} has one")
    return tuple(sorted(set(names), key=dataset.labels.index))
