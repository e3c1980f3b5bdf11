"""Declarations of data sets of texts: recipes of courts, and entries of ``text.datasets``.

A recipe (``resources/legal/courts``) states all labels and groups. Those of a data set declared by
columns are those that occur: `read_cases` collects them. The records, and each file of cases made
of them, carry the description of the data set (`read_dataset`).
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.numbers import bin_names, check_group_count
from evenhand.errors import InputError
from evenhand.tabular.words import spelt_alike
from evenhand.text.phrases import choice, listed, plural

if TYPE_CHECKING:
    import pyarrow as pa

#: The kind of a data set that is declared by columns.
KIND = "declared"

#: The module that takes the group of such an attribute from its column.
COLUMN = "given_column"

#: Where a file of cases has its data set.
KEY = "evenhand.dataset"

#: More labels of a single-label task are taken for numbers.
MOST_LABELS = 200

#: A longer value of a label column is a text, and is cut in messages.
LONG = 60


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A protected attribute.

    Attributes
    ----------
    name : str
        Its column in the data set.
    module : str
        The module of `evenhand.legal.attributes` that finds it.
    title : str
        Its name in the report.
    groups : tuple of str
        The groups, in FairLex's order, without the unknown one. Empty for a number.
    unknown : str or None
        FairLex's name for the unknown group (index 0 in its files); None if it has none.
    """

    name: str
    module: str
    title: str
    groups: tuple[str, ...] = ()
    unknown: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set of texts: one of FairLex's four (Chalkidis et al. 2022, section 3), or another.

    Attributes
    ----------
    kind, title : str
        Its recipe, or ``declared``; its name in the report.
    languages : tuple of str
        The languages of its texts, as in its column ``language``.
    task : str
        ``multi_label`` or ``multi_class``.
    labels : tuple of str
        In FairLex's order: a label's place is its number. Empty if known by the files only.
    attributes : tuple of Attribute
        In the order of the tables.
    segments, tokens : int
        Paragraphs, and tokens of each, that the published encoder reads.
    published : dict of str to int
        Cases in train, dev and test as released by FairLex.
    years : str
        The period of the published splits.
    licence : str
        Of the released data.
    people : str
        The people in these cases, and a user's duties to them: for the data card.
    """

    title: str
    languages: tuple[str, ...]
    task: str
    labels: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    kind: str = "declared"
    segments: int = 32
    tokens: int = 128
    published: dict[str, int] = field(default_factory=dict)
    years: str = ""
    licence: str = "That of its files; the configuration does not state it"
    people: str = (
        "The attributes are columns of the files. Whoever collected them knows what they mean,"
        " and whether the people in the texts agreed."
    )

    @property
    def task_name(self) -> str:
        """The task as it is called: ``binary`` where one of two labels applies."""
        return "binary" if self.task == "multi_class" and len(self.labels) == 2 else self.task

    def positive_place(self, label: str | None) -> int | None:
        """Return the place of the label whose rates are computed.

        By default the last one of a binary task, and none of another task.

        Raises
        ------
        InputError
            There is no such label.
        """
        if label not in (None, *self.labels):
            problem = f"`positive` is {label}, which is none of the labels"
            raise InputError(problem, remedy=choice(label, self.labels, 20))
        if label is not None:
            return self.labels.index(label)
        return 1 if self.task_name == "binary" else None

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of this name; KeyError if there is none."""
        return {attribute.name: attribute for attribute in self.attributes}[name]


def check_shares(shares: Sequence[float], name: str = "`shares`") -> None:
    """Raise InputError unless there are three shares of a data set that sum up to 1."""
    if len(shares) != 3 or abs(sum(shares) - 1) > 1e-9:
        problem = f"{name} is {list(shares)}, which sums up to {sum(shares):g}"
        remedy = "give three shares, of train, dev and test, that sum up to 1"
        raise InputError(problem, remedy=remedy)


def attributes_of(declaration: Mapping[str, Any], place: str = "") -> dict[str, dict[str, Any]]:
    """Return the columns of each attribute, an overlapping one as an attribute per column.

    Errors begin with the place.
    """
    attributes: dict[str, dict[str, Any]] = {}
    for name, attribute in declaration["attributes"].items():
        if not attribute.get("overlapping"):
            attributes[name] = attribute
            continue
        for column in attribute["columns"]:
            short = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")
            key = short if short.startswith(f"{name}_") else f"{name}_{short}"
            if key in attributes or key in declaration["attributes"]:
                problem = f"{place}two attributes would be called {key}"
                raise InputError(problem, remedy="rename one")
            title = f"{name.replace('_', ' ').capitalize()} ({column})"
            attributes[key] = attribute | {"columns": [column], "title": title}
    return attributes


def declared_dataset(declaration: Mapping[str, Any]) -> Dataset:
    """Return a declared data set as far as it is known without its files."""
    label = declaration["label"]
    attributes = []
    for name, attribute in attributes_of(declaration).items():
        groups = attribute.get("groups") or attribute.get("columns") or _bins(attribute)
        if attribute.get("overlapping"):
            groups = (groups[0], f"not {groups[0]}")
        module = attribute.get("extract") or COLUMN
        title = attribute.get("title") or name.replace("_", " ").capitalize()
        unknown, groups = attribute.get("unknown"), tuple(groups)
        attributes.append(
            Attribute(name=name, module=module, title=title, groups=groups, unknown=unknown)
        )
    languages = declaration.get("languages", [declaration.get("language")])
    copied = {each.name for each in fields(Dataset)} & declaration.keys()
    return Dataset(
        **{key: declaration[key] for key in copied - {"attributes", "languages", "labels"}},
        languages=tuple(filter(None, languages)),
        task="multi_class" if label["task"] == "binary" else label["task"],
        labels=tuple(label.get("labels") or _bins(label) or label.get("columns", ())),
        attributes=tuple(attributes),
    )


def read_declaration(text: str) -> Dataset:
    """Return a data set from its declaration as JSON, as options of stages have it."""
    return declared_dataset(json.loads(text))


def _bins(part: Mapping[str, Any]) -> list[str]:
    return bin_names(part["bins"]) if part.get("bins") else []


def completed(
    declaration: Mapping[str, Any],
    labels: Counter[str],
    values: Mapping[str, Counter[str]],
    unusable: Mapping[str, str],
    undeclared: Sequence[str] = (),
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
    unusable : dict of str to str
        How many values give no single group, and why the first one does not, by attribute.
    undeclared : sequence of str
        The values of the label column that are not declared, such as "job is 'nurse'".

    Raises
    ------
    InputError
        There are too few or too many labels or groups to compare.
    """
    dataset, label = declared_dataset(declaration), declaration["label"]
    where = f"the label column {label['column'] or ', '.join(label['columns'])}"
    task = label["task"]
    occurring = labels.keys() - {"none", "unknown"}  # of cases without a label
    names = dataset.labels or tuple(sorted(occurring, key=_order))
    others = undeclared and f"declare the other labels too: {listed(undeclared, 4)}"
    if others and task != "multi_label" and len(names) < 2:
        raise InputError(
            f"`label.labels` names {plural(len(names), 'value')} ({names[0]}), and a label needs"
            " two or more",
            remedy=others,
        )
    if task == "binary" and len(names) > 2 and (spelt := spelt_alike(names)):
        alike = listed([repr(name) for name in spelt[0]])
        problem = f"{where} has {len(names)} values ({listed(names, 6)}), and a binary one has two"
        raise InputError(problem, remedy=f"spell {alike} alike, if they are one label")
    if task == "binary" and len(names) != 2:
        texts = sum(len(name) > LONG for name in names)
        examples = [f"{name[:LONG]}…" if len(name) > LONG else name for name in names[:6]]
        raise InputError(
            f"{where} has {plural(len(names), 'value')} ({', '.join(examples) or 'none'})"
            ", and a binary one has two",
            remedy="name the column of labels; this one seems to have texts"
            if texts > 2
            else "correct misspelt ones, choose task: multi_class, or give numbers `label.bins`"
            if len(names) > 2
            else "give rows of the other value too; declare the values under `label.labels` if one"
            " of them is none or unknown, which count as missing otherwise",
        )
    present = [name for name in names if labels[name] > 0]
    if len(present) < (1 if task == "multi_label" else 2):
        problem = f"{where} has too few values to learn from: {', '.join(present) or 'none'}"
        remedy = "choose borders in `label.bins` between the numbers of this column"
        if not label["bins"]:
            remedy = others or "name the column of the labels in `label.column`"
        raise InputError(problem, remedy=remedy)
    if task != "multi_label" and len(names) > MOST_LABELS:
        remedy = f"name a column with at most {MOST_LABELS} labels, or give numbers `label.bins`"
        raise InputError(f"{where} has {len(names)} values, so it is no class", remedy=remedy)
    attributes = [
        replace(attribute, groups=_occurring(attribute, declaration, values, unusable))
        if attribute.module == COLUMN  # the others are found later
        else attribute
        for attribute in dataset.attributes
    ]
    return replace(dataset, labels=names, attributes=tuple(attributes))


def _occurring(
    attribute: Attribute,
    declaration: Mapping[str, Any],
    values: Mapping[str, Counter[str]],
    unusable: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the groups of an attribute that occur."""
    cases = values.get(attribute.name, Counter())
    groups = attribute.groups or tuple(sorted(cases, key=_order))
    declared = attributes_of(declaration).get(attribute.name, {})
    bins = declared.get("bins")
    remedy = (
        f"; {'choose other borders' if bins else 'name another column'}, or remove the attribute"
    )
    if why := unusable.get(attribute.name):
        cure = "name a column of numbers, or remove `bins`" if bins else "correct these values"
        remedy = f": {why}; {cure}"
    check_group_count(attribute.name, cases, cases.total(), None, more=remedy)
    if declaration["label"]["column"] in (declared.get("column"), *declared.get("columns", ())):
        problem = f"the attribute {attribute.name} is the label"
        raise InputError(problem, remedy="name a protected attribute")
    empty = [name for name in groups if not cases[name]]
    if empty and not bins:
        problem = f"the attribute {attribute.name} has no case in the group {empty[0]}"
        remedy = "remove its column, or add overlapping: true if rows may be in several groups"
        raise InputError(problem, remedy=remedy)
    return tuple(name for name in groups if cases[name])


def _order(name: str) -> tuple[float, str]:
    """Return the sort key of a label or group: numbers by size, before names."""
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
    values = json.loads(carried(path)[KEY])
    for name in ("languages", "labels"):
        values[name] = tuple(values[name])
    attributes = values.pop("attributes")
    return Dataset(
        **values,
        attributes=tuple(
            Attribute(**each | {"groups": tuple(each["groups"])}) for each in attributes
        ),
    )
