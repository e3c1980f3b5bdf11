"""FairLex's own files (Chalkidis et al. 2022; zenodo 6322643), of any of the four data sets.

A line is ``{"text": ..., "labels": [...] or "label": ..., "attributes": {...}}``; paragraphs are
joined by ``</s>``; the files are ``train``, ``val`` and ``test.jsonl``, one zip a data set. Labels
and groups are names or numbers; a string that is no name but a number is a number, as the
loader of the `datasets` library has it. The files have no dates and no titles.
"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.declaration import Dataset, read_declaration
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow, plain, split_of, tidy

KIND = "any"
NEEDS = (
    "FairLex's zip archive of a data set, or its train.jsonl, val.jsonl and test.jsonl, each line"
    ' {"text", "labels" or "label", "attributes"}'
)
TABLES = ("fairlex_fields", "fairlex_groups")

#: Names under which a record may have an id of its own.
_IDS = ("case_id", "caseId", "case_no", "id")

_BORDER = "</s>"


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read FairLex's files.

    A file whose name is that of no part has no split. The quarantine gets records without text
    (``missing_field``) and with a label that the data set lacks or with none (``bad_label``).
    """
    dataset = read_declaration(cases.options["declaration"])
    fields: dict[str, list[str]] = {}
    path = cases.tables["fairlex_fields"]
    for row in read_resource(path, ["kind", "field", "attribute"]):
        if row["kind"] != dataset.kind:
            continue
        if row["attribute"] not in {attribute.name for attribute in dataset.attributes}:
            problem = f"{dataset.kind} has no attribute {row['attribute']!r}"
            raise InputError(problem, file=path)
        fields.setdefault(row["attribute"], []).append(row["field"])
    columns = ["kind", "attribute", "name", "group"]
    rows = read_resource(cases.tables["fairlex_groups"], columns, unique=tuple(columns[:3]))
    groups = {
        (row["attribute"], row["name"].casefold()): row["group"]
        for row in rows
        if row["kind"] == dataset.kind
    }
    make = partial(_record, dataset=dataset, fields=fields, groups=groups)
    return cases.records(cases.objects(), make)


def _record(
    row: SourceRow,
    note: Note,
    *,
    dataset: Dataset,
    fields: dict[str, list[str]],
    groups: dict[tuple[str, str], str],
) -> Record:
    """Read a record; `fields` are the names of each attribute, `groups` other names of groups."""
    text = row.fields.get("text")
    if not isinstance(text, str | list):
        names = ", ".join(row.fields)
        raise RejectedError("missing_field", f"no text; the fields are {names}"[:200])
    labels = _labels(row.fields, dataset)
    attributes = row.fields.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else row.fields
    metadata = {}
    for attribute, names in fields.items():
        name = next((name for name in names if name in attributes), None)
        group = plain(attributes.get(name))
        metadata[attribute] = groups.get((attribute, group.casefold()), group)
    language = dataset.languages[0]
    if dataset.kind == "fscs":
        languages = dataset.attribute("decision_language").groups
        language = metadata.get("decision_language", "")
        if language.isdecimal() and int(language) < len(languages):
            language = languages[int(language)]
        language = language if language in languages else None
    places = (row.fields, attributes)
    ids = (plain(place[name]) for place in places for name in _IDS if name in place)
    return row.record(
        case_id=next(ids, "") or row.place_id(),
        language=language,
        split=split_of(row.source),
        text=tidy(text.split(_BORDER) if isinstance(text, str) else map(plain, text)),
        labels=labels,
        metadata=metadata,
    )


def _labels(fields: dict[str, Any], dataset: Dataset) -> tuple[str, ...]:
    """Return the labels' names in their order; RejectedError if they are none of the data set."""
    labels = fields.get("labels", fields.get("label"))
    if labels is None or labels != labels:
        raise RejectedError("bad_label", "no label")
    labels = labels if isinstance(labels, list) else [labels]
    names = [_label(label, dataset) for label in labels]
    if None in names:
        wrong = json.dumps(labels[names.index(None)], ensure_ascii=False)[:60]
        raise RejectedError("bad_label", f"{wrong} is no label of {dataset.title}")
    if dataset.task != "multi_label" and len(names) != 1:
        raise RejectedError("bad_label", f"{len(names)} labels; a case of {dataset.title} has one")
    return tuple(sorted(set(names), key=dataset.labels.index))


def _label(value: Any, dataset: Dataset) -> str | None:
    """Return a label's name from its name or number, or None if it is neither."""
    if isinstance(value, str):
        value = value.strip()
        if value in dataset.labels:
            return value
        value = int(value) if value.isdecimal() else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1:
        return None
    return dataset.labels[int(value)] if 0 <= value < len(dataset.labels) else None
