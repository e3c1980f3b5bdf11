"""Differences between two results folders apart from the numbers: data, configuration, code."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.comparison.results import TASK, Results, names_in_base
from evenhand.core.config import changed_keys
from evenhand.errors import InputError
from evenhand.io.documents import read_description
from evenhand.io.tables import read_columns, read_table_schema
from evenhand.legal.built import BuiltCases
from evenhand.legal.records import text_id
from evenhand.predictions.read import COUNTERFACTUALS

#: Kinds of change: only head has it, only base has it, or the records differ.
NEW, GONE, CHANGED = "new", "gone", "changed"

#: The files of items, with the name of the items and the columns that make one; none are all that
#: both runs have but `OF_RUN`.
ITEMS: dict[str, tuple[str, list[str]]] = {
    "stereotypes/*/pairs.parquet": (
        "pairs",
        ["more", "less", "unrelated", "context", "bias_type", "direction"],
    ),
    "slguset*/slguset.parquet": ("sentences", ["sentence"]),
    "predictions/*/cases.parquet": ("cases", []),
    "tabular/*/data.parquet": ("people", []),
}

#: Columns of cases and people that a run adds, or that follow from the others.
OF_RUN = {"prediction", "probability", "outcome", "preference", "right", "misplaced", "cluster"}
OF_RUN |= {"item", "row", "attribute", "official_split", COUNTERFACTUALS}

#: The columns of the sentences of a pair, each with that of the other one.
SIDES = {"more": "less", "less": "more"}

#: Columns that do not identify an item: it may have another value in the other run.
LABELS = {"label", "category", "bias_type"}

#: Choices that give cases and people other labels and groups.
REDEFINING = {"label", "positive", "bins"}

#: From this share of other people on, numbers have the noise of training on these.
MANY = 0.1

#: Scores of cases that differ by less, relatively, are the same.
ROUNDING = 1e-6

#: The columns with the score of a case, and those that identify it with its decision.
SCORES = {
    "preference": [TASK, "id", "condition", "sentences"],
    "probability": ["id", "label", "prediction"],
}

#: The choices of an audit of predictions.
CASES = ("label", "positive", "groups", "bins", "cluster", "id", "threshold", "delta")

#: The descriptions of audits, with the entries that the user chose.
CHOICES = {
    "predictions/*/meta.json": CASES,
    "tabular/*/data.json": ("label", "attribute_name", "attribute_values"),
}

#: The tables of audits that hold such a choice in a column.
CHOICES_OF_TABLES = {"tables/pairs/*/bias_scores.csv": ("delta",)}

Entry = dict[str, Any]
Sources = dict[str, tuple[set[str], set[str]]]


class Change(NamedTuple):
    """Something that differs between the runs.

    Attributes
    ----------
    name : str
        A source, a parameter of a stage, a stage, a package, a result file.
    kind : str
        `NEW`, `GONE` or `CHANGED`.
    base, head : str or None
        The values, where they are known.
    where : tuple of str
        The stages, modules or files concerned; sorted.
    """

    name: str
    kind: str
    base: str | None = None
    head: str | None = None
    where: tuple[str, ...] = ()


class Relabelled(NamedTuple):
    """A column with other values for the same items.

    Attributes
    ----------
    name : str
        The column.
    base, head : tuple of str
        If values were only renamed, each that was and its new name; else those that only base, or
        only head, has.
    is_renamed : bool
        Whether each value of base is one value of head, and the reverse.
    """

    name: str
    base: tuple[str, ...]
    head: tuple[str, ...]
    is_renamed: bool


class OtherItems(NamedTuple):
    """A file of both runs that contains other items, labels or groups in base than in head.

    Attributes
    ----------
    file, noun : str
        The file in the results, and the name of its items.
    base, head, shared : int
        The number of items in each run, and in both, whatever their labels.
    base_copies, head_copies : int
        Of those in one run only, the further copies of items that both have.
    relabelled : int
        Of those in both, the items with another label or, of one id, another group.
    is_numbered : bool
        Whether the ids of cases are numbers of rows; with the same cases in both, their order
        differs.
    one_has_ids : bool
        Whether the ids of cases are numbers of rows in one run only.
    other_texts : int
        Of the ids of both, those whose text differs, if most do: `shared` has the others.
    dataset : str
        Of a trained classifier whose texts both runs store: the data set.
    columns : tuple of Relabelled
        The columns of labels and groups that differ in the items of both.
    exchanged : int
        Of the pairs that only head has, those of base with the two sentences exchanged.
    spelt_alike : int
        If no id is in both: those that differ in capital letters and blanks only.
    """

    file: str
    noun: str
    base: int
    head: int
    shared: int
    base_copies: int = 0
    head_copies: int = 0
    relabelled: int = 0
    is_numbered: bool = False
    other_texts: int = 0
    dataset: str = ""
    columns: tuple[Relabelled, ...] = ()
    exchanged: int = 0
    spelt_alike: int = 0
    one_has_ids: bool = False

    @property
    def only_renamed(self) -> bool:
        """Whether all other values are new names of the same."""
        renamed = [each for each in self.columns if each.is_renamed]
        swapped = any({*each.base} & {*each.head} for each in renamed)
        return len(renamed) == len(self.columns) > 0 and not swapped


class Rescored(NamedTuple):
    """A file whose decisions are the same in base and head, with other scores.

    Attributes
    ----------
    file, column : str
        The file, and the column of its scores, of `SCORES`.
    samples, shared : int
        The items with another score, of those with the same key in both.
    """

    file: str
    column: str
    samples: int
    shared: int


class Causes(NamedTuple):
    """All changes, each list sorted by name."""

    items: list[OtherItems]
    choices: list[Change]
    data: list[Change]
    configuration: list[Change]
    code: list[Change]
    packages: list[Change]
    files: list[Change]
    untraced: dict[str, int | None]
    rescored: list[Rescored] = []  # noqa: RUF012 (no comparison changes it)


def find_causes(base: Results, head: Results) -> Causes:
    """Compare the records of two runs.

    Returns
    -------
    Causes
        - items: pairs, sentences, cases or people that only one run reads: numbers then differ
          because of these too;
        - choices: entries of `CHOICES` and `CHOICES_OF_TABLES` that differ in a file of both runs;
        - data: the sources that the stages read. A source is identified by its path where the run
          recorded it, else by the stage and the argument that read it. One with the same content
          under another path has not changed;
        - configuration: parameters of stages, by their key of the configuration where the run
          recorded it, else by stage and argument; values that only one run has, too;
        - code: stages whose code digest differs, with the modules that differ where both folders
          still have the manifests behind the digests (`.evenhand/code`);
        - packages: versions;
        - files: result files, by SHA-256;
        - untraced: the number of files of base and of head without a record; None for a folder
          without provenance, whose causes are unknown;
        - rescored: logs that prefer the same sentences with other log-likelihoods.
    """
    runs = {"base": base, "head": head}
    entries = {
        name: (base.files[name], head.files[name])
        for name in sorted(base.files.keys() & head.files.keys())
        if base.files[name]["stage"] and base.files[name]["stage"] == head.files[name]["stage"]
    }
    files = _changes(*map(_digests, runs.values()))
    choices = _choices(base, head)
    return Causes(
        _other_items(base, head, choices),
        choices,
        _data(*map(_sources, runs.values())),
        _configuration(base, head, entries),
        _code(base, head, entries),
        _changes(*map(_versions, runs.values())),
        [change._replace(base=None, head=None) for change in files],
        {
            name: sum(entry["stage"] is None for entry in run.files.values())
            if run.traced
            else None
            for name, run in runs.items()
        },
        _rescored(base, head),
    )


def other_people(causes: Causes) -> dict[str, float]:
    """Return the share of other people of each data set in which at least `MANY` differ."""
    people = [each for each in causes.items if each.noun == "people"]
    shares = {Path(e.file).parent.name: 1 - e.shared / max(e.base, e.head, 1) for e in people}
    return {name: share for name, share in shares.items() if share >= MANY}


def other_cases(causes: Causes) -> set[str]:
    """Return the folders of tables of classifiers whose cases have the ids of other texts."""
    others = [each for each in causes.items if each.other_texts]
    folders = {f"tables/classifiers/{each.dataset}" for each in others}
    return folders | {f"tables/{Path(each.file).parent}" for each in others}


def _other_items(base: Results, head: Results, choices: list[Change]) -> list[OtherItems]:
    redefined = {Path(c.where[0]).parent for c in choices if c.name in REDEFINING}
    others = []
    for pattern, (noun, named) in ITEMS.items():
        after = names_in_base(base, head, head.matching([pattern]))
        for name in sorted(base.matching([pattern]) & after.keys()):
            paths = [base.folder / name, head.folder / after[name]]
            schemas = [read_table_schema(path).names for path in paths]
            columns = named or [c for c in schemas[0] if c in schemas[1] and c not in OF_RUN]
            has_ids = "id" in columns and "sentences" not in columns
            with_ids = has_ids and [*map(_has_ids, paths)]
            is_numbered = has_ids and not all(with_ids)
            files = [(base, paths[0]), (head, paths[1])]
            tasks = set()
            if {TASK, "sentences"} <= {*columns}:  # logs: of tasks that both runs have
                tasks = set.intersection(*({*_tasks(*file)} for file in files))
            key = [c for c in columns if c not in LABELS]
            counts = [_count(*file, key, tasks) for file in files]
            is_redefined = Path(name).parent in redefined
            labelled, contents = counts, None
            if not is_redefined and LABELS & {*columns}:
                labelled = [_count(*file, columns, tasks) for file in files]
            equal = (labelled[0] & labelled[1]).total()
            if has_ids:
                of_ids = [_count(*file, ["id"]) for file in files]
                # numbers of rows are the ids of other items, most of which differ
                most = 2 * equal >= (of_ids[0] & of_ids[1]).total()
                if is_redefined or most or not is_numbered:
                    key, counts = ["id"], of_ids
            if is_numbered and equal < counts[0].total():
                cells = [name for name in columns if name != "id"]
                contents = [_count(*file, cells) for file in files]
                if contents[0] == contents[1]:  # in another order
                    counts, equal = contents, contents[0].total()
            shared = counts[0] & counts[1]
            dataset, texts = _other_texts((base, head), paths) if has_ids else ("", 0)
            if texts:
                totals = (*(count.total() for count in counts), shared.total() - texts)
                others.append(OtherItems(name, noun, *totals, other_texts=texts, dataset=dataset))
                continue
            relabelled = 0 if is_redefined else shared.total() - equal
            if relabelled or counts[0] != counts[1] or counts is contents:
                copies = (sum(n for item, n in (some - shared).items() if item in shared)
                          for some in counts)  # fmt: skip
                totals = (count.total() for count in (*counts, shared))
                labels = [c for c in columns if c not in key] if relabelled else []
                relabels = tuple(_relabelled(files, key, labels, tasks))
                counted = (*totals, *copies, relabelled, is_numbered)
                turned = _with_exchanged_sides(*files[1], key, tasks)
                exchanged = ((counts[0] - shared) & turned).total()
                alike = 0
                if has_ids and not shared:
                    alike = len(
                        set.intersection(*(set(map(_without_spelling, count)) for count in counts))
                    )
                facts = {"columns": relabels, "exchanged": exchanged, "spelt_alike": alike}
                facts["one_has_ids"] = is_numbered and any(with_ids)
                others.append(OtherItems(name, noun, *counted, **facts))
    return [*others, *_other_counterfactuals(base, head)]


def _without_spelling(name: str) -> str:
    """Return an id without blanks and capital letters."""
    return "".join(name.split()).casefold()


def _other_counterfactuals(base: Results, head: Results) -> Iterator[OtherItems]:
    """Yield the audits that read other counterfactual rows, by factual case and value."""
    both = set.intersection(*(r.matching(["predictions/*/cases.parquet"]) for r in (base, head)))
    for name in sorted(both):
        paths = [run.folder / name for run in (base, head)]
        if not all(COUNTERFACTUALS in read_table_schema(path).names for path in paths):
            continue  # none, or of an older audit
        cases = [_rows(run, run.folder / name, ["id", COUNTERFACTUALS]) for run in (base, head)]
        counts = [
            Counter((case, row["attribute"], row["value"]) for case, rows in some for row in rows)
            for some in cases
        ]
        if counts[0] != counts[1]:
            shared = counts[0] & counts[1]
            copies = (sum(n for row, n in (some - shared).items() if row in shared)
                      for some in counts)  # fmt: skip
            totals = (count.total() for count in (*counts, shared))
            yield OtherItems(name, "counterfactual rows", *totals, *copies)


def _relabelled(
    files: list[tuple[Results, Path]], key: list[str], labels: list[str], tasks: Collection[str]
) -> Iterator[Relabelled]:
    """Yield the columns whose values differ between the items of both files with the same key."""
    for label in labels:
        before, after = (
            {repr(row): str(value) for *row, value in _rows(*file, [*key, label], tasks)}
            for file in files
        )
        pairs = {(before[item], after[item]) for item in before.keys() & after.keys()}
        differing = sorted(pair for pair in pairs if pair[0] != pair[1])
        if differing:
            olds, news = ({pair[side] for pair in pairs} for side in (0, 1))
            is_renamed = len(olds) == len(news) == len(pairs)
            ends = zip(*differing, strict=True) if is_renamed else (olds - news, news - olds)
            base, head = (tuple(end if is_renamed else sorted(end)) for end in ends)
            yield Relabelled(label, base, head, is_renamed)


def _rescored(base: Results, head: Results) -> list[Rescored]:
    results = []
    both = set.intersection(*(r.matching(["predictions/*/cases.parquet"]) for r in (base, head)))
    for name, (score, key) in product(sorted(both), SCORES.items()):
        files, columns = [(run, run.folder / name) for run in (base, head)], [*key, score]
        if any({*columns} - {*read_table_schema(path).names} for _, path in files):
            continue
        tasks = ()
        if TASK in key:
            tasks = set.intersection(*({*_tasks(*file)} for file in files))
        before, after = (
            {repr(row): value for *row, value in _rows(*file, columns, tasks) if value is not None}
            for file in files
        )
        pairs = [(before[key], after[key]) for key in before.keys() & after.keys()]
        differing = sum(not math.isclose(*pair, rel_tol=ROUNDING) for pair in pairs)
        if score == "preference":  # its sign is the decision
            same = all(np.sign(old) == np.sign(new) for old, new in pairs)
        else:
            same = before.keys() == after.keys()
        if differing and same:
            results.append(Rescored(name, score, differing, len(pairs)))
    return results


def _has_ids(cases: Path) -> bool:
    """Whether the user named a column of ids, or a classifier's cases have them."""
    described = _described(cases)
    return bool(described.get("id") or described.get("trained"))


def _described(cases: Path) -> Entry:
    """Return the description of the audit beside its cases."""
    path = cases.with_name("meta.json")
    if not path.is_file():
        remedy = "copy the whole folder of the audit, or audit again"
        raise InputError("is missing beside cases.parquet", file=path, remedy=remedy)
    return read_description(path, set(), "the audit")


def _other_texts(runs: tuple[Results, Results], cases: list[Path]) -> tuple[str, int]:
    """Return the data set of a trained classifier, and how many ids of both have another text.

    0 if most texts are the same, or are not stored.
    """
    names = [(_described(path).get("trained") or {}).get("dataset", "") for path in cases]
    stored = [run.training(name)[0] for run, name in zip(runs, names, strict=True)]
    if not all(path.is_file() for path in stored):
        return "", 0
    ids = set.intersection(*({*read_columns(path, ["id"])["id"].to_pylist()} for path in cases))
    before, after = (_texts(path, ids) for path in stored)
    differing = sum(text != after.get(name) for name, text in before.items())
    return (names[0], differing) if 2 * differing > len(ids) else ("", 0)


def _texts(dataset: Path, ids: Collection[str]) -> dict[str, str]:
    """Return the digest of the text of each of these cases."""
    batches = BuiltCases(dataset).batches("case_id", "text")
    rows = (row for batch in batches for row in batch.to_pylist() if row["case_id"] in ids)
    return {row["case_id"]: text_id(row["text"] or ()) for row in rows}


def _count(
    run: Results, path: Path, columns: list[str], tasks: Collection[str] = ()
) -> Counter[str]:
    """Count the rows of a file of a run by the content of these columns; of logs by tasks."""
    return Counter(map(repr, _rows(run, path, columns, tasks)))


def _with_exchanged_sides(
    run: Results, path: Path, columns: list[str], tasks: Collection[str]
) -> Counter[str]:
    """Count the pairs of a file as if their two sentences were exchanged; none of other items."""
    if {"more", "less"} <= {*columns}:
        return _count(run, path, [SIDES.get(name, name) for name in columns], tasks)
    if "sentences" not in columns:
        return Counter()
    place = columns.index("sentences")
    rows = _rows(run, path, columns, tasks)
    return Counter(repr((*row[:place], row[place][::-1], *row[place + 1 :])) for row in rows)


def _rows(
    run: Results, path: Path, columns: list[str], tasks: Collection[str] = ()
) -> list[tuple[Any, ...]]:
    """Return these columns of a file; of logs the samples of tasks, with the ids of BBQ."""
    table = read_columns(path, columns).to_pydict()
    if {"id", "sentences"} <= table.keys():  # pairs of a filtered task have other ids
        conditions = table.get("condition") or [""] * len(table["id"])
        samples = zip(table["id"], conditions, strict=True)
        table["id"] = [name if condition else None for name, condition in samples]
    if tasks:
        table[TASK] = _tasks(run, path)
    rows = zip(*table.values(), strict=True)
    if tasks:
        return [row for row, task in zip(rows, table[TASK], strict=True) if task in tasks]
    return [*rows]


def _tasks(run: Results, path: Path) -> list[str]:
    """Return the task of each row of the samples of logs, with the model's name in base."""
    tasks = read_columns(path, [TASK])[TASK].to_pylist()
    return [run.row_in_base({TASK: task})[TASK] for task in tasks]


def _choices(base: Results, head: Results) -> list[Change]:
    choices = []
    for pattern, names in CHOICES.items():
        after = names_in_base(base, head, head.matching([pattern]))
        for file in sorted(base.matching([pattern]) & after.keys()):
            values = []
            for path in (base.folder / file, head.folder / after[file]):
                described = read_description(path, {"name"}, "the audit")
                described |= described.get("meta", {})
                chosen = {name: described.get(name) for name in names}
                values.append({k: _listed(v) for k, v in chosen.items() if v is not None})
            choices += [change._replace(where=(file,)) for change in _changes(*values)]
    for pattern, names in CHOICES_OF_TABLES.items():
        for file in sorted(base.matching([pattern]) & head.matching([pattern])):
            values = [_columns(run.rows(file)[1], names) for run in (base, head)]
            changes = (change for change in _changes(*values) if change.kind == CHANGED)
            choices += [change._replace(where=(file,)) for change in changes]
    return choices


def _columns(rows: list[dict[str, str]], names: Collection[str]) -> dict[str, str]:
    """Return the distinct values of columns, joined by commas; without absent and blank ones."""
    columns = {name: {row[name] for row in rows if row.get(name)} for name in names}
    return {
        name: ", ".join(value.rstrip("0").rstrip(".") if "." in value else value for value in some)
        for name, some in ((name, sorted(some)) for name, some in columns.items())
        if some
    }


def _listed(value: Any) -> str:
    return ", ".join(sorted(map(str, value))) if isinstance(value, list) else str(value)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Return the names whose values differ, sorted."""
    return [
        Change(name, _kind(before.get(name), after.get(name)), before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _kind(before: Any, after: Any) -> str:
    return NEW if before is None else GONE if after is None else CHANGED


def _digests(results: Results) -> dict[str, str]:
    entries = results.files.items()
    return {name: entry["sha256"] for name, entry in entries if entry.get("result", True)}


def _versions(results: Results) -> dict[str, str]:
    """Return the version of each package, or several versions, joined by commas."""
    versions: dict[str, set[str]] = defaultdict(set)
    for entry in results.files.values():
        for name, version in (entry["packages"] or {}).items():
            versions[name].add(version)
    return {name: ", ".join(sorted(several)) for name, several in versions.items()}


def _sources(results: Results) -> Sources:
    """Map each source to the digests that were read of it, and to the stages that read it."""
    sources: Sources = defaultdict(lambda: (set(), set()))
    for entry in results.files.values():
        stage = _short(entry["stage"])
        for argument, files in entry["inputs"].items():
            for file in files:
                if file["sha256"] not in results.made:
                    digests, stages = sources[file["file"] or f"{argument} of {stage}"]
                    digests.add(file["sha256"])
                    stages.add(stage)
    return sources


def _data(before: Sources, after: Sources) -> list[Change]:
    contents = [set().union(*(digests for digests, _ in run.values())) for run in (before, after)]
    changes = []
    for name in sorted(before.keys() | after.keys()):
        (old, readers), (new, others) = (run.get(name, (set(), set())) for run in (before, after))
        moved = not (old and new) and (old or new) <= contents[bool(old)]
        if old != new and not moved:
            where = tuple(sorted(readers | others))
            changes.append(Change(name, _kind(old or None, new or None), where=where))
    return changes


def _configuration(base: Results, head: Results, both: Collection[str]) -> list[Change]:
    """Compare the parameters of stages: of files that both runs have, then values of one run only.

    A value of one run only, such as an objective, is one whose files the other run does not have.
    Those without a key, such as names that follow from others, are last.
    """
    files: dict[Change, set[str]] = defaultdict(set)
    known = set()
    for file in both:
        entries = [run.files[file] for run in (base, head)]
        keys = (entries[0].get("config") or {}) | (entries[1].get("config") or {})
        for change in _changes(*(_parameters(entry, keys) for entry in entries)):
            known.add(change.name)
            for part in _parts(change):
                files[part].add(file)
    stages = [{entry["stage"] for entry in run.files.values()} for run in (base, head)]
    runs = []
    for run in (base, head):
        values: dict[tuple[str, str], set[str]] = defaultdict(set)
        for file, entry in run.files.items():
            if entry["stage"] and all(entry["stage"] in some for some in stages):
                for value in _parameters(entry, entry.get("config") or {}).items():
                    values[value].add(file)
        runs.append(values)
    for values, others, kind in ((runs[0], runs[1], GONE), (runs[1], runs[0], NEW)):
        for (name, value), some in values.items():
            if (alone := some - {*both}) and name not in known and (name, value) not in others:
                ends = (value, None) if kind == GONE else (None, value)
                files[Change(name, kind, *ends)] |= alone
    changes = [change._replace(where=tuple(sorted(names))) for change, names in files.items()]
    return sorted(
        changes, key=lambda change: (not _has_key(change), *map(str, change[:1] + change[2:4]))
    )


def _parts(change: Change) -> list[Change]:
    """Return the keys below that of a changed value which differ."""
    if change.kind != CHANGED:
        return [change]
    parts = changed_keys(change.name, change.base, change.head)
    values = {name: map(_words, ends) for name, ends in parts.items()}
    return [Change(name, CHANGED, *ends) for name, ends in values.items()]


def _words(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value if isinstance(value, str) else words


def _has_key(change: Change) -> bool:
    return " of " not in change.name


def _parameters(entry: Entry, keys: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a file's stage as JSON, by key of the configuration if known.

    Each of a training's settings has a key of its own, without those that are defaults.
    """
    values = {}
    for name, value in (entry["parameters"] or {}).items():
        key = keys.get(name)
        if name == "settings" and key:
            parts = (each.partition("=") for each in value or ())
            values |= {f"{key}.{setting}": text for setting, _, text in parts}
        else:
            words = json.dumps(value, ensure_ascii=False, sort_keys=True)
            values[key or f"{name} of {_short(entry['stage'])}"] = words
    return values


def _code(base: Results, head: Results, entries: Mapping[str, tuple[Entry, Entry]]) -> list[Change]:
    stages = [
        {_short(entry["stage"]): "" for entry in run.files.values() if entry["stage"]}
        for run in (base, head)
    ]
    modules: dict[str, set[str]] = defaultdict(set)
    for old, new in entries.values():
        if old["code"] != new["code"]:
            changed = modules[_short(new["stage"])]
            paths = [
                run.folder / ".evenhand" / "code" / f"{entry['code']}.json"
                for run, entry in ((base, old), (head, new))
            ]
            if all(path.is_file() for path in paths):
                manifests = (json.loads(path.read_text("utf-8"))["modules"] for path in paths)
                changed.update(_short(change.name) for change in _changes(*manifests))
    changes = [Change(name, CHANGED, where=tuple(sorted(modules[name]))) for name in modules]
    changes += [change._replace(base=None, head=None) for change in _changes(*stages)]
    return sorted(changes)


def _short(module: str | None) -> str:
    return (module or "an unrecorded stage").removeprefix("evenhand.")
