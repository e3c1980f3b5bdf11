"""Plan the legal data sets. See `evenhand.plan`."""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.core.config import check_names, read_config
from evenhand.core.families import declared
from evenhand.core.numbers import without_point
from evenhand.core.places import located
from evenhand.core.sources import input_files
from evenhand.core.whole import COPY
from evenhand.errors import InputError, MissingPathError, placed
from evenhand.legal.declaration import (
    COLUMN,
    KIND,
    Dataset,
    attributes_of,
    check_shares,
    read_declaration,
)
from evenhand.sheets.tasks import returned
from evenhand.text.languages import is_language
from evenhand.text.phrases import plural

Config = dict[str, Any]

#: Bytes of a declared data set that is read before any job.
SMALL = 1 << 20

#: Why a file of a declared data set, or its end, cannot be read.
DAMAGED = ("truncated_archive", "broken_archive", "broken_json", "broken_csv")

#: The formats of a filled sheet.
SHEETS = (".xlsx", ".csv")


def expand(config: Config) -> Config:
    """Return the configuration with the data sets and classifiers of ``text`` among the legal ones.

    Raises
    ------
    InputError
        A name is used twice, files do not exist, a declaration lacks a column, or shares of a
        split do not sum up to 1.
    """
    settings, text = config["legal"], config["text"]
    for part in ("datasets", "classifiers"):
        if common := sorted({*settings[part]} & {*text[part]}):
            problem = f"config: {common[0]} is in legal.{part} and in text.{part}"
            raise InputError(problem, remedy="rename one of them")
    datasets = {
        name: entry | {"declaration": json.dumps(recipe(entry["kind"]), ensure_ascii=False)}
        for name, entry in settings["datasets"].items()
    }
    datasets |= {name: _declared(name, entry) for name, entry in text["datasets"].items()}
    datasets = dict(sorted(datasets.items()))
    for name, entry in datasets.items():
        split = "split." if name in text["datasets"] else ""
        check_shares(entry["shares"], f"config: {section(config, 'datasets', name)}.{split}shares")
    classifiers = dict(sorted((settings["classifiers"] | text["classifiers"]).items()))
    return config | {"legal": settings | {"datasets": datasets, "classifiers": classifiers}}


def _declared(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of ``text.datasets`` in the format of ``legal.datasets``."""
    key, label, attributes = f"text.datasets.{name}", entry["label"], entry["attributes"]
    columns = {"label": label} | {f"attributes.{each}": how for each, how in attributes.items()}
    for place, how in columns.items():
        origins = [origin for origin in ("column", "columns", "extract") if how.get(origin)]
        if len(origins) > 1:
            raise InputError(
                f"config: {key}.{place}.{origins[1]} has no effect beside {origins[0]}; remove one"
            )
        if not origins:
            others = ", or extract" * ("extract" in how)
            raise InputError(f"config: {key}.{place} needs a column, or columns{others}")
    texts = entry["text"] if isinstance(entry["text"], list) else [entry["text"]]
    if common := [column for column in texts if column in (label.get("column"), *label["columns"])]:
        raise InputError(
            f"config: {key}.text names {common[0]}, which is the label; name columns of texts alone"
        )
    if label["bins"] and label["labels"]:
        raise InputError(f"config: {key}.label.labels has no effect beside bins; remove it")
    labels = list(map(as_text, label["labels"]))
    if len({*labels}) < len(labels):
        raise InputError(f"config: {key}.label.labels names a label twice: {', '.join(labels)}")
    label = {each: value for each, value in label.items() if each != "positive"}
    hub = entry.get("hub")
    if not entry["files"] and not hub:
        raise InputError(f"config: {key} needs files, or the name of a data set under hub")
    files: list[str] = []
    for number, pattern in enumerate([] if hub else entry["files"]):
        root = Path(pattern).anchor
        matches = sorted(map(str, Path(root).glob(pattern.removeprefix(root))))
        if not matches:
            remedy = "name a file, a folder or a pattern, seen from the folder of the run"
            raise MissingPathError(f"{key}.files.{number}", pattern, remedy)
        files += matches
    if entry["language"] and not is_language(entry["language"]):
        problem = f"config: {key}.language is {entry['language']}, which is no code of ISO 639"
        remedy = "write a code of two letters, such as en or zh, or leave it out"
        raise InputError(problem, remedy=remedy)
    title = entry["title"] or name
    declaration = {each: entry[each] for each in ("text", "label", "id", "language")}
    declaration |= {
        "title": title,
        "attributes": {each: how | _extracted(how["extract"]) for each, how in attributes.items()},
        "label": label | {"labels": labels},
        "split": {each: entry["split"][each] for each in ("column", "date")},
    }
    attributes_of(declaration, f"config: {key}.attributes: ")
    rows = {"format": KIND, "files": list(dict.fromkeys(files)), "sources": [], "hub": hub}
    return {
        "kind": KIND,
        "title": title,
        "shares": entry["split"]["shares"],
        "tokenizers": entry["tokenizers"],
        "declaration": json.dumps(declaration, ensure_ascii=False),
        "parts": {"rows": rows},
    }


def as_text(value: Any) -> str | None:
    """Return a label as the text that a table's cell with it has: 1 is "1", and so is 1.0."""
    return None if value is None else without_point(str(value))


def _extracted(module: str | None) -> dict[str, Any]:
    """Return the groups of an attribute that a module finds in the text."""
    if module is None:
        return {}
    kind = declared(f"evenhand.legal.attributes.{module}", "KIND")
    attributes = {} if kind == KIND else recipe(kind)["attributes"]
    known = next((each for each in attributes.values() if each["extract"] == module), None)
    if known is None:
        problem = f"config: no court has the groups of {module}, which reads words"
        raise InputError(problem, remedy=f"declare them in resources/legal/courts/{kind}.yaml")
    return {"groups": known["groups"], "unknown": known.get("unknown")}


def section(config: Config, part: str, name: str) -> str:
    """Return the key of a data set or classifier in the user's configuration."""
    return f"{'text' if name in config['text'][part] else 'legal'}.{part}.{name}"


@cache
def recipe(kind: str) -> dict[str, Any]:
    """Return the declaration of a court's data set."""
    return {"kind": kind} | read_config(Path(located(f"resources/legal/courts/{kind}.yaml")))


def declaration(config: Config, name: str) -> str:
    """Return the declaration of a data set, as JSON."""
    return config["legal"]["datasets"][name]["declaration"]


def dataset(config: Config, name: str) -> Dataset:
    """Return the description of a data set: title, labels and attributes, without its cases."""
    return read_declaration(declaration(config, name))


def attributes(config: Config, name: str) -> list[str]:
    """Return the names of a data set's attributes."""
    return [attribute.name for attribute in dataset(config, name).attributes]


def extracted(config: Config, name: str) -> list[str]:
    """Return the attributes that are not columns of the data, so that people can check them."""
    every = dataset(config, name).attributes
    return [attribute.name for attribute in every if attribute.module != COLUMN]


def attribute_modules(config: Config, name: str) -> list[str]:
    """Return the modules of `evenhand.legal.attributes` that a data set needs, in its order."""
    return [attribute.module for attribute in dataset(config, name).attributes]


def check_legal(config: Config) -> dict[str, str]:
    """Check the legal data sets, and return the files that they name, by key.

    Raises
    ------
    InputError
        A tokenizer is not a model, a format is for another kind, or a model's pretraining names an
        unknown model or data set.
    """
    settings, named = config["legal"], {}
    for name, entry in settings["datasets"].items():
        for part, how in entry["parts"].items():
            key = section(config, "datasets", name)
            if name not in config["text"]["datasets"]:
                key += f".parts.{part}"
            kind = _of_format(how, "KIND")
            if kind not in (entry["kind"], "any"):
                raise InputError(
                    f"config: {key} is read as {how['format']}, which is {kind},"
                    f" and the data set is {entry['kind']}",
                    remedy="change the kind or the format",
                )
            named |= {f"{key}.files.{n}": path for n, path in enumerate(how["files"])}
        key = f"{section(config, 'datasets', name)}.tokenizers"
        check_names(key, entry["tokenizers"], config["models"], "the models")
    for name, model in config["models"].items():
        if not (pretrain := model.get("pretrain")):
            continue
        key, encoder = f"models.{name}.pretrain", pretrain["model"]
        check_names(f"{key}.model", [encoder], config["models"], "the models")
        check_names(f"{key}.dataset", [pretrain["dataset"]], settings["datasets"], "the data sets")
        if "pretrain" in config["models"][encoder]:
            raise InputError(f"config: {key} begins with another such model")
    return named


def check_declared(config: Config) -> None:
    """Read the declared data sets that are small, so that errors in them precede the first job.

    Larger ones are read up to the first row, which has the columns of a table, or up to one with
    the positive label, unless labels are declared: their job may take its outputs from the cache.

    Raises
    ------
    InputError
        As in `read_cases`, or no case has the positive label, or classifiers lack a split; the
        error names the key.
    """
    for name, entry in config["text"]["datasets"].items():
        positive = as_text(entry["label"]["positive"])
        with with_keys(f"text.datasets.{name}", entry):
            counts = _read_small(config, name, positive)
            classifiers = config["legal"]["classifiers"].values()
            if any(name in each["datasets"] for each in classifiers):
                _check_splits(counts, entry["split"]["column"])
            if (known := dataset(config, name)).labels:
                known.positive_place(positive)


@contextmanager
def with_keys(section: str, entry: Collection[str]) -> Iterator[None]:
    """Let an error of the block name the keys of an entry, and the entry if it names no file."""

    def key(name: str) -> str:
        name = "label.positive" if name == "positive" and "positive" not in entry else name
        return f"{section}.{name}" if name.partition(".")[0] in entry else name

    try:
        yield
    except InputError as error:
        named = error.with_names(key)
        if named.file:
            raise named from None
        problems = f"config: {section}: {named.problem}".splitlines()
        raise InputError(problems, remedy=named.remedy) from None


def _check_splits(counts: dict[str, Any], column: str | None) -> None:
    """Raise InputError if all rows have a split and none is of train, or none of test.

    Without a row of dev, a part of train becomes dev. `counts` are those of `read_cases`, or none.
    """
    from evenhand.legal.formats.declared import CURES

    splits, left_out = counts.get("splits"), counts.get("left_out", {})
    if splits and "none" not in splits and not {"train", "test"} <= {*splits}:
        where = f"in the column {column}" if column else "by the names of the files"
        lacking = " and ".join(split for split in ("train", "test") if split not in splits)
        lack = f"and a classifier needs rows of {lacking}"
        for reason in filter(left_out.get, DAMAGED):
            problem = f"{counts['first_left_out'][reason]} cannot be read"
            problem += f" ({counts['first_details'][reason]})"
            raise InputError(f"{problem}, {lack}", remedy=CURES.get(reason, COPY))
        if count := left_out.get("unknown_split"):
            place = counts["first_left_out"]["unknown_split"]
            rows = f"{plural(count, 'row')} (first {place}) {'has' if count == 1 else 'have'}"
            rows += " none of train, dev and test"
            raise InputError(f"{rows} {where}, {lack}", remedy="write these names there")
        raise InputError(
            f"all rows are of {' and '.join(sorted(splits))} {where}, {lack} too",
            remedy="leave `split.column` out, and write `split`: {shares: [0.8, 0.1, 0.1]}"
            if column
            else "give files of the other splits, or rename these",
        )


def _read_small(config: Config, name: str, positive: str | None) -> dict[str, Any]:
    """Return the counts of a declared data set, if it is small, else none."""
    from evenhand.io.quarantine import Quarantine
    from evenhand.io.tables import read_rows
    from evenhand.legal.formats import declared as reader
    from evenhand.legal.read_cases import read_cases
    from evenhand.legal.rows import CaseFiles, files_of

    (rows,) = config["legal"]["datasets"][name]["parts"].values()
    files = list(files_of(list(map(Path, rows["files"])), Quarantine()))
    options = {"declaration": declaration(config, name)}
    if sum(file.stat().st_size for file in files) > SMALL:
        known = dataset(config, name)
        labels = dict.fromkeys(known.labels)
        for file in files:
            for record in reader.read(CaseFiles([file], Quarantine(), options)):
                labels |= dict.fromkeys(record.labels or ())
                if known.labels or positive in (None, *labels):
                    break
        if labels:
            with placed(files[0]):
                replace(known, labels=tuple(sorted(labels))).positive_place(positive)
        return {}
    if not files:  # they are fetched
        return {}
    with TemporaryDirectory() as folder:
        outputs = {part: Path(folder) / part for part in ("out", "quarantine", "counts")}
        read_cases(files=files, format=KIND, positive=positive, **options, **outputs)
        quarantine = reversed([*read_rows(outputs["quarantine"], ["reason", "detail"])])
        details = {row["reason"]: row["detail"] for row in quarantine}
        counts = json.loads(outputs["counts"].read_text(encoding="utf-8"))
        return counts | {"first_details": details}


def part(config: Config, name: str, part_name: str) -> dict[str, Any]:
    """Return the settings of a part of a data set."""
    return config["legal"]["datasets"][name]["parts"][part_name]


def part_files(
    config: Config, sources: dict[str, dict[str, str]], name: str, part_name: str
) -> list[str]:
    """Return the files of a part; InputError if it has none."""
    settings = part(config, name, part_name)
    if settings.get("hub"):
        return [f"{config['results']}/legal/{name}/hub"]
    return input_files(config, sources, f"legal.datasets.{name}.parts.{part_name}", settings)


def part_tables(config: Config, name: str, part_name: str) -> list[str]:
    """Return the editable tables that a part's reader uses."""
    return _tables(config, _of_format(part(config, name, part_name), "TABLES") or ())


def part_options(config: Config, name: str, part_name: str) -> list[str]:
    """Return the keys of a part that are options of its reader."""
    how = part(config, name, part_name)
    return ["format", *(key for key in _of_format(how, "OPTIONS") or () if key in how)]


def parts(config: Config, name: str) -> list[str]:
    """Return the parts of a data set, in the order of their names: the first has precedence."""
    return list(config["legal"]["datasets"][name]["parts"])


def records(config: Config, name: str) -> list[str]:
    """Return the records of all parts."""
    return [f"<results>/legal/{name}/records/{part}.parquet" for part in parts(config, name)]


def attribute_tables(config: Config, name: str) -> list[str]:
    """Return the editable tables that the attributes of a data set use."""
    tables: dict[str, None] = {}
    for module in attribute_modules(config, name):
        named = declared(f"evenhand.legal.attributes.{module}", "TABLES")
        tables |= dict.fromkeys(named or ())
    return _tables(config, tables)


def is_published(config: Config, name: str) -> bool:
    """Return whether a data set is FairLex's own, whose sizes can be compared with the paper."""
    parts = config["legal"]["datasets"][name]["parts"].values()
    return all(part["format"] == "fairlex" for part in parts)


def handed_out(config: Config, name: str) -> list[str]:
    """Return the lists of the audits that are frozen."""
    return [path for lists, _ in _returned(config, name) for path in lists]


def audited(config: Config, name: str) -> tuple[list[str], list[str]]:
    """Return the lists of audits with filled sheets, and these sheets."""
    both = [(lists, sheets) for lists, sheets in _returned(config, name) if lists and sheets]
    return [path for lists, _ in both for path in lists], [path for _, s in both for path in s]


def _returned(config: Config, name: str) -> list[tuple[list[str], list[str]]]:
    if not (filled := config["legal"]["audit"]["filled"]):
        return []
    folder = Path(filled) / name
    return [returned(folder / attribute, SHEETS) for attribute in extracted(config, name)]


def audit_tables(config: Config) -> list[str]:
    """Return the tables of the data sets' audits, as far as there are some."""
    names = config["legal"]["datasets"]
    return [f"<results>/tables/audits/{name}" for name in names if audited(config, name)[1]]


def of_each(config: Config, *patterns: str) -> list[str]:
    """Return the results of all data sets, whose names replace ``{0}`` in the patterns."""
    return [pattern.format(name) for pattern in patterns for name in config["legal"]["datasets"]]


def card_inputs(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cards of the data sets, by argument name."""
    return {
        "data": of_each(config, "<results>/legal/{0}/{0}.parquet"),
        "tables": of_each(config, "<results>/tables/cases/{0}"),
        "audits": audit_tables(config),
    }


def card_options(config: Config, sources: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Return the other arguments of the cards: a value per data set, except `published`."""
    datasets, named = config["legal"]["datasets"], []
    for entry in datasets.values():
        names: list[str] = []
        for part in entry["parts"].values():
            names += [Path(file).name for file in part["files"]]
            names += [f"{name} ({sources[name]['licence']})" for name in part["sources"]]
        named.append(", ".join(names))
    return {
        "titles": titles(config),
        "datasets": list(datasets),
        "sources": named,
        "published": [name for name in datasets if is_published(config, name)],
    }


def tokenised(config: Config, name: str, suffix: str = "arrow") -> list[str]:
    """Return the tokenised forms of a data set, or (json) their descriptions."""
    folder = f"<results>/legal/{name}/tokens"
    return [
        f"{folder}/{model}.{suffix}" for model in config["legal"]["datasets"][name]["tokenizers"]
    ]


def page_files(config: Config) -> list[str]:
    """Return the inputs of the report on the legal data sets."""
    counts = [
        f"<results>/legal/{name}/records/{part}.counts.json"
        for name in config["legal"]["datasets"]
        for part in parts(config, name)
    ]
    splits = [f"<results>/legal/{{0}}/{file}" for file in ("splits.json", "duplicates.parquet")]
    tables = of_each(config, "<results>/tables/cases/{0}")
    return [*tables, *counts, *of_each(config, *splits), *audit_tables(config)]


def attribute_titles(config: Config, name: str) -> dict[str, str]:
    """Return the titles of a data set's attributes, by name."""
    return {attribute.name: attribute.title for attribute in dataset(config, name).attributes}


def titles(config: Config) -> list[str]:
    """Return the titles of the data sets."""
    datasets = config["legal"]["datasets"].items()
    return [entry["title"] or dataset(config, name).title for name, entry in datasets]


def declarations(config: Config) -> dict[str, list[str]]:
    """Return the declarations of the data sets, as an argument of that report."""
    datasets = config["legal"]["datasets"].values()
    return {"declarations": [dataset["declaration"] for dataset in datasets]}


def other_files(config: Config) -> list[str]:
    """Return results that no page reads, but whose provenance is recorded."""
    files = []
    for name in config["legal"]["datasets"]:
        results = [f"{name}.parquet", "counts.json", "README.md", "splits.parquet"]
        results += [f"records/{part}.quarantine.parquet" for part in parts(config, name)]
        files += [f"<results>/legal/{name}/{result}" for result in results]
        files += tokenised(config, name)
        files += [f"<results>/legal/{name}/audit"] if extracted(config, name) else []
    return files


def _of_format(part: dict[str, Any], name: str) -> Any:
    """Return a constant of the format of a part."""
    return declared(f"evenhand.legal.formats.{part['format']}", name)


def _tables(config: Config, names: Iterable[str]) -> list[str]:
    return [f"{config['legal']['tables']}/{name}.csv" for name in names]
