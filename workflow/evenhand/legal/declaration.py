"""Declarations of data sets of texts: recipes of courts, and entries of ``text.datasets``.

A recipe (``resources/legal/courts``) states all labels and groups. Those of a data set declared by
columns are those that occur: `read_cases` collects them. The records, and each file of cases made
of them, carry the description of the data set (`read_dataset`).
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.tabular.numbers import bin_names

if TYPE_CHECKING:
    import pyarrow as pa

#: The kind of a data set that is declared by columns.
KIND = "declared"

#: The module that takes the group of such an attribute from its column.
COLUMN = "given_column"

#: Where a file of cases has its data set.
KEY = "evenhand.dataset"

#: More labels of a single-label task are taken for numbers, more groups of an attribute too.
MOST_LABELS, MOST_GROUPS = 200, 100


def attributes_of(declaration: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the columns of each attribute, an overlapping one as an attribute per column."""
    found: dict[str, dict[str, Any]] = {}
    for name, one in declaration["attributes"].items():
        if not one.get("overlapping"):
            found[name] = one
            continue
        for column in one["columns"]:
            short = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")
            key = short if short.startswith(f"{name}_") else f"{name}_{short}"
            if key in found or key in declaration["attributes"]:
                raise InputError(f"two attributes would be called {key}", remedy="rename one")
            found[key] = one | {"columns": [column]}
    return found


def declared_dataset(declaration: Mapping[str, Any]) -> Dataset:
    """Return a declared data set as far as it is known without its files."""
    task, label = declaration["label"]["task"], declaration["label"]
    attributes = []
    for name, one in attributes_of(declaration).items():
        groups = one.get("groups") or one.get("columns") or _bins(one)
        attributes.append(
            Attribute(
                name=name,
                module=one.get("extract") or COLUMN,
                title=one.get("title") or name.replace("_", " ").capitalize(),
                groups=(groups[0], f"not {groups[0]}") if one.get("overlapping") else (*groups,),
                unknown=one.get("unknown"),
            )
        )
    stated = {one.name for one in fields(Dataset)} - {"attributes", "languages", "labels"}
    return Dataset(
        **{key: value for key, value in declaration.items() if key in stated},
        languages=tuple(filter(None, declaration.get("languages", [declaration.get("language")]))),
        task="multi_class" if task == "binary" else task,
        labels=tuple(label.get("labels") or _bins(label) or label.get("columns", ())),
        attributes=tuple(attributes),
    )


def read_declaration(text: str) -> Dataset:
    """Return a data set from its declaration as JSON, as options of stages have it."""
    return declared_dataset(json.loads(text))


def _bins(one: Mapping[str, Any]) -> list[str]:
    return bin_names(one["bins"]) if one.get("bins") else []


def completed(
    declaration: Mapping[str, Any], labels: Counter[str], values: Mapping[str, Counter[str]]
) -> Dataset:
    """Return the data set with the labels and groups that occur.

    Parameters
    ----------
    declaration : dict
        An entry of ``text.datasets`` of the configuration.
    labels : Counter
        The cases of each label.
    values : dict of str to Counter
        The cases of each group, by attribute.

    Raises
    ------
    InputError
        There are too few or too many labels or groups to compare.
    """
    dataset, label = declared_dataset(declaration), declaration["label"]
    where = label["column"] or ", ".join(label["columns"])
    occur = labels.keys() - {"none", "unknown"}  # of cases without a label
    named = dataset.labels or tuple(sorted(occur, key=_order))
    if label["task"] == "binary" and len(named) != 2:
        shown = ", ".join(named[:6]) or "none"
        raise InputError(
            f"the label {where} has {len(named)} values ({shown}), and a binary one has two",
            remedy="choose task: multi_class, give bins to a number, or declare the values under"
            " labels, as none and unknown count as missing otherwise",
        )
    if sum(labels[one] > 0 for one in named) < (1 if label["task"] == "multi_label" else 2):
        shown = ", ".join(one for one in named if labels[one]) or "none"
        raise InputError(
            f"the label {where} has too few values to learn from: {shown}",
            remedy="name the column that holds the labels",
        )
    if label["task"] != "multi_label" and len(named) > MOST_LABELS:
        raise InputError(
            f"the label {where} has {len(named)} values, so it is no class",
            remedy=f"name a column with at most {MOST_LABELS} labels, or give bins to a number",
        )
    made = []
    for one in dataset.attributes:
        if one.module != COLUMN:  # which is found later
            made.append(one)
            continue
        cases = values.get(one.name, Counter())
        groups = one.groups or tuple(sorted(cases, key=_order))
        if len(cases) < 2:
            only = f"one value only ({min(cases)})" if cases else "no value"
            raise InputError(
                f"the attribute {one.name} has {only}, so there are no groups to compare",
                remedy="name another column, or remove the attribute",
            )
        if len(groups) > MOST_GROUPS:
            raise InputError(
                f"the attribute {one.name} has {len(groups)} groups",
                remedy="give a number bins, and join small groups",
            )
        bins = declaration["attributes"].get(one.name, {}).get("bins")
        if (empty := [name for name in groups if not cases[name]]) and not bins:
            raise InputError(
                f"the attribute {one.name} has no case in the group {empty[0]}",
                remedy="remove its column",
            )
        made.append(replace(one, groups=tuple(name for name in groups if cases[name])))
    return replace(dataset, labels=named, attributes=tuple(made))


def _order(name: str) -> tuple[float, str]:
    """Numbers by size, before names."""
    try:
        value = float(name)
    except ValueError:
        value = math.inf
    return (value if value == value else math.inf), name


def described(schema: "pa.Schema", dataset: Dataset) -> "pa.Schema":
    """Return a schema with the description of a data set."""
    return schema.with_metadata(description(dataset))


def description(dataset: Dataset) -> dict[str, str]:
    """Return the metadata for a file from which `read_dataset` restores the data set."""
    return {KEY: json.dumps(asdict(dataset), ensure_ascii=False, sort_keys=True)}


def carried(path: Path) -> dict[str, str]:
    """Return the description that a Parquet file has, for the metadata of another.

    Raises
    ------
    InputError
        The file has none.
    """
    from evenhand.io.tables import opened

    with opened(path) as file:
        text = (file.metadata.metadata or {}).get(KEY.encode())
    if text is None:
        raise InputError("does not say which labels and attributes it has", file=path,
                         remedy="make it again with read_cases")  # fmt: skip
    return {KEY: text.decode()}


def read_dataset(path: Path) -> Dataset:
    """Return the data set that a Parquet file of cases describes; see `carried`."""
    known = json.loads(carried(path)[KEY])
    attributes = tuple(
        Attribute(**one | {"groups": tuple(one["groups"])}) for one in known.pop("attributes")
    )
    lists = {name: tuple(known[name]) for name in ("languages", "labels")}
    return Dataset(**known | lists, attributes=attributes)
