"""A results folder: its tables and their provenance."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.core.files import content_digest
from evenhand.core.resources import read_strict_csv
from evenhand.core.rows import grouped
from evenhand.errors import InputError
from evenhand.io.documents import read_description
from evenhand.legal.groups import attributes
from evenhand.predictions.lm_eval import MODEL as BEFORE_TASK

#: The tables that are compared by row; other files are compared as a whole.
TABLES = ("tables/**/*.csv", "slguset/*.csv", "slguset_published/*.csv", "sentences.csv")

#: The files with the items behind numbers.
STORES = (
    "slguset/slguset.parquet",
    "slguset_published/slguset.parquet",
    "slguset*/bias/*.parquet",
    "stereotypes/*/pairs.parquet",
    "stereotypes/*/scores/*.parquet",
)

PROVENANCE = "provenance.json"

#: The folder of the tables of people.
OF_PEOPLE = "tables/individual"

#: The columns with the name of a language model: alone, and in logs of several before the task.
MODEL, TASK = "model", "task"

#: Between the names of base and head.
CHANGED_TO = " → "

#: The column with a group.
GROUP = "group"


class Results:
    """The results folder of a finished run, or of an audit from Python or the command line.

    Parameters
    ----------
    folder : Path
        The folder with tables, and `provenance.json` if the workflow made them.

    Raises
    ------
    InputError
        The folder does not exist, has no table, or a run is not finished.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: The name of a model elsewhere, and its name here: two versions of one model. Blank where
        #: it is the only one of logs, so that no name is before its tasks.
        self.versions: tuple[str, str] | None = None
        if not folder.is_dir():
            problem = "is a file, not a folder" if folder.is_file() else "there is no such folder"
            raise InputError(problem, file=folder, remedy="name a results folder")
        self.traced = (folder / PROVENANCE).is_file()
        if not self.traced and (folder / ".evenhand").is_dir():
            problem = f"holds no {PROVENANCE}, so its run is not finished"
            raise InputError(problem, file=folder, remedy="let the workflow finish first")
        if not self.matching(TABLES):
            problem = "holds no table, so there is nothing to compare"
            remedy = "name a folder that `evenhand` run, audit, predictions or extract wrote"
            raise InputError(problem, file=folder, remedy=remedy)

    @cached_property
    def former(self) -> list[str]:
        """The tables of an earlier run in the same folder, which the last run did not make."""
        return sorted(self.matching(TABLES) - self.files.keys()) if self.traced else []

    @cached_property
    def tables(self) -> list[str]:
        """The tables of the last run."""
        return sorted(self.matching(TABLES).difference(self.former))

    @cached_property
    def files(self) -> dict[str, dict[str, Any]]:
        """The entries of `provenance.json` by path in the folder; none without that file.

        Paths of inputs that the run made are relative to the folder too.
        """
        if not self.traced:
            return {}
        path = self.folder / PROVENANCE
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))["files"]
            names = [str(entry["file"]) for entry in entries]
            for entry in entries:
                entry["sha256"], entry["stage"], entry["code"]
                entry["parameters"], entry["packages"], entry["inputs"].items()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = "does not say where the results come from"
            remedy = "remove it, and let the workflow write it again"
            raise InputError(problem, file=path, remedy=remedy) from error
        start = self._start(names)
        for entry in entries:
            for file in (entry, *(file for files in entry["inputs"].values() for file in files)):
                file["file"] = file["file"] and file["file"].removeprefix(start)
        return {entry["file"]: entry for entry in entries}

    @cached_property
    def made(self) -> set[str]:
        """The SHA-256 of every file that the run made, intermediate files included."""
        digests = {entry["sha256"] for entry in self.files.values()}
        for path in (self.folder / ".evenhand" / "records").glob("*.json"):
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                digests.update(output["sha256"] for output in record["outputs"].values())
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # of a killed run: its files count as sources
        return digests

    def _start(self, names: list[str]) -> str:
        """Return the prefix of the recorded paths; the folder may have been moved since."""
        starts: Counter[str] = Counter()
        for name in names:
            parts = name.split("/")
            for place in range(len(parts)):
                if (self.folder / "/".join(parts[place:])).exists():
                    starts["/".join(parts[:place]) + "/" if place else ""] += 1
                    break
        if not starts:
            problem = f"none of the files that {PROVENANCE} names is there"
            raise InputError(problem, file=self.folder)
        return starts.most_common(1)[0][0]

    @cached_property
    def classifiers(self) -> list[dict[str, str]]:
        """The audited classifiers that the last run trained: the name of the audit, and how."""
        names = sorted({Path(table).parent.name for table in self.tables})
        paths = [self.folder / "predictions" / name / "meta.json" for name in names]
        described = [_described(path) for path in paths if path.is_file()]
        return [meta["trained"] | {"name": meta["name"]} for meta in described if "trained" in meta]

    def training(self, dataset: str, *setting: str) -> tuple[Path, list[Path]]:
        """Return the cases of a data set, and the predictions of a training by the last run.

        A setting is a classifier, an objective and the attribute that it was trained for.
        """
        made = self.matching(["/".join(("legal", dataset, "predictions", *setting, "*.parquet"))])
        names = sorted(made & self.files.keys() if self.traced else made)
        data = self.folder / "legal" / dataset / f"{dataset}.parquet"
        return data, [self.folder / name for name in names]

    def data_title(self, table: str) -> str:
        """Return the title of the pairs or predictions of a table, else its folder's name."""
        steps = table.split("/")
        if len(steps) < 4:  # tables/individual/grid.csv has all data sets
            return ""
        place = {"pairs": "stereotypes/{}/pairs.json", "predictions": "predictions/{}/meta.json"}
        described = self.folder / place.get(steps[1], "").format(steps[-2])
        title = described.is_file() and _described(described).get("title")
        return title or steps[-2]

    @cached_property
    def people(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the tables of people by name."""
        paths = sorted(self.matching(["tabular/*/data.json"]))
        described = (_described(self.folder / path) for path in paths)
        return {each["name"]: each for each in described}

    def datasets(self) -> dict[str, str]:
        """Return the titles of the tables of people by name, of those that have one."""
        titles = {name: each.get("meta", {}).get("title") for name, each in self.people.items()}
        return {name: title for name, title in titles.items() if title}

    def groups(self) -> dict[tuple[str, str], set[str]]:
        """Return the groups by folder of tables and attribute; of people by data set."""
        groups = {
            (OF_PEOPLE, name): {*each.get("attribute_values", ())}
            for name, each in self.people.items()
        }
        for name in self.matching(["tables/classifiers/*/group_scores.csv"]):
            for row in self.rows(name)[1]:
                place = str(Path(name).parent), row["attribute"]
                groups.setdefault(place, set()).add(row["group"])
        return groups

    def models(self) -> dict[str, tuple[str, ...]]:
        """Return the SHA-256 of the weights and the tokenizer of each scored language model."""
        return {
            row[MODEL]: (row["weights_sha256"], row.get("tokenizer_sha256", ""))
            for name in sorted(self.matching(["tables/pairs/*/models.csv"]))
            for row in self.rows(name)[1]
            if row.get("weights_sha256")
        }

    def log_model(self) -> str | None:
        """Return the model of all logs that were audited; None of several, or where unknown."""
        paths = sorted(self.matching(["predictions/*/meta.json"]))
        described = [_described(self.folder / path) for path in paths]
        names = {each.get("model") for each in described if each.get("format") == "lm_eval"}
        return names.pop() if len(names) == 1 else None

    def changed_since(self) -> dict[str, str]:
        """Return the SHA-256 of tables and stores that differ from their records."""
        names = {*self.tables, *self.matching(STORES)} & self.files.keys()
        digests = {name: content_digest(self.folder / name) for name in sorted(names)}
        return {
            name: digest for name, digest in digests.items() if digest != self.files[name]["sha256"]
        }

    def matching(self, patterns: Iterable[str]) -> set[str]:
        """Return the files of the folder that match one of the patterns."""
        files = (file for pattern in patterns for file in self.folder.glob(pattern))
        return {file.relative_to(self.folder).as_posix() for file in files}

    def rows(self, name: str) -> tuple[list[str], list[dict[str, str]]]:
        """Return the header and the rows of a table, both empty without one of the last run.

        Raises
        ------
        InputError
            It is not a table: not UTF-8, without a header, or with rows of another length.
        """
        path = self.folder / name
        if name in self.former or not path.is_file():
            return [], []
        header, lines = read_strict_csv(path)
        if not header:
            raise InputError("has no header", file=path, line=1)
        rows = (dict(zip(header, cells, strict=True)) for _, cells in lines)
        if name.startswith(f"{OF_PEOPLE}/") and GROUP in header:
            rows = map(self._with_group, rows)
        return header, [self.row_in_base(row) for row in rows]

    def _with_group(self, row: dict[str, str]) -> dict[str, str]:
        """Return a row of people with the name of its group in place of the code."""
        values = self.people.get(row.get("dataset", ""), {}).get("attribute_values", [])
        names = dict(enumerate(map(str, values)))
        code = row[GROUP]
        return row | {GROUP: names.get(int(code), code) if code.isdigit() else code}

    def stored_row(self, row: dict[str, str]) -> dict[str, str]:
        """Return a row of `rows` with the name that its model has in the files of this folder."""
        return rename_model(row, *self.versions) if self.versions else row

    def row_in_base(self, row: dict[str, str]) -> dict[str, str]:
        """Return a row of the files of this folder with the name that its model has elsewhere."""
        return rename_model(row, *self.versions[::-1]) if self.versions else row


Row = dict[str, str]


def open_results(base: Path, head: Path) -> tuple[Results, Results]:
    """Return two results folders, with the versions of a model that has another name in head.

    These are the only models in a column (`MODEL`, or else before the tasks) that one run lacks.
    Logs of one model are compared with those of the same one among several.

    Raises
    ------
    InputError
        See `Results`, or a table cannot be read.
    """
    runs = Results(base), Results(head)
    before, after = (
        {(column, _model(row, column)) for name in run.tables for row in run.rows(name)[1]
         for column in (MODEL, TASK)} for run in runs
    )  # fmt: skip
    for column in (MODEL, TASK):
        gone, new = (
            [model for place, model in some if model and place == column]
            for some in (before - after, after - before)
        )
        if len(gone) == len(new) == 1:
            runs[1].versions = gone[0], new[0]
            return runs
    alone = [
        not any(model for place, model in some if place == TASK) and run.log_model()
        for run, some in zip(runs, (before, after), strict=True)
    ]
    if alone[0] and (TASK, alone[0]) in after:
        runs[1].versions = "", alone[0]
    elif alone[1] and (TASK, alone[1]) in before:
        runs[1].versions = alone[1], ""
    return runs


def _model(row: Row, column: str) -> str:
    """Return the model in a column of a row; blank without one."""
    value = row.get(column, "")
    return value if column == MODEL else value.rpartition(BEFORE_TASK)[0]


def rename_model(row: Mapping[str, str], old: str, new: str) -> Row:
    """Return a row with the new name of a model, alone or before its task; see `versions`."""
    renamed = {MODEL: new} if old and new and row.get(MODEL) == old else {}
    model, _, task = row.get(TASK, "").rpartition(BEFORE_TASK)
    if task and model == old:
        renamed[TASK] = new + BEFORE_TASK + task if new else task
    return {**row, **renamed}


def name_versions(row: Mapping[str, str], versions: tuple[str, str] | None) -> Mapping[str, str]:
    """Return a row of base with the name of its model in both runs, as ``old → new``."""
    return (
        rename_model(row, versions[0], CHANGED_TO.join(filter(None, versions))) if versions else row
    )


def _described(path: Path) -> dict[str, Any]:
    return read_description(path, set(), "the audit")


def pair_trainings(old: Sequence[Row], new: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the rows of base and head that are of one training, each with its ``trained_for``.

    Of the same groups; else of the same attributes, with the label or without; else the only ones.
    """
    pairs, rest = [], ([*old], [*new])
    for key in (
        lambda row: row["trained_for"],
        lambda row: attributes(row["trained_for"]),
        lambda row: "",
    ):
        before, after = ({repr(key(row)): row for row in run} for run in rest)
        counts = [Counter(repr(key(row)) for row in run) for run in rest]
        for name in before.keys() & after.keys():
            if counts[0][name] == counts[1][name] == 1:
                pairs.append((before[name], after[name]))
        rest = tuple([row for row in run if not any(row is each[side] for each in pairs)]
                     for side, run in enumerate(rest))  # fmt: skip
    return pairs


def names_in_base(base: Results, head: Results, files: Iterable[str]) -> dict[str, str]:
    """Map the names that files of head have in base to those in head.

    They differ for the audit of a classifier that was trained for other groups: `pair_trainings`.
    """
    key = ("dataset", "classifier", "objective")
    before, after = (grouped(run.classifiers, *key) for run in (base, head))
    audits = {
        new["name"]: old["name"]
        for place in before.keys() & after.keys()
        for old, new in pair_trainings(before[place], after[place])
    }
    names = {}
    for file in files:
        *parents, folder, name = ("", *file.split("/"))
        if parents[-1:] == ["predictions"]:
            folder = audits.get(folder, folder)
        names["/".join((*parents, folder, name))[1:]] = file
    return names
