"""The provenance: each file of the run, the stage that made it, and its origin in the sources."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from evenhand.core.rows import grouped
from evenhand.report.render import NOTHING, UniqueIds, slug
from evenhand.report.study import Study
from evenhand.report.words import file_content

#: So many files of one kind, or more, are folded.
FOLD = 3

#: So many ways in which a stage was called are shown; each file's details have its own.
MOST_SETTINGS = 4

#: So many names of a list are shown.
MOST_NAMES = 6

_key = itemgetter("file", "sha256")


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template, with data for the page's script.

    Each file has the anchor ``file-{slug}`` of its path below the results folder
    (`evenhand.report.render.slug`; a second file of the same slug gets the suffix ``-2``), each
    stage ``stage-{slug}`` and each source ``source-{slug}``. The script shows the details of a file
    on demand. Without it the page lists the files, the stages with code, parameters and packages,
    and the sources with their checksums.

    Returns
    -------
    dict
        totals: files, results, traced, stages and sources (numbers), and bytes; folders: name,
        files, kinds, each with name, holds, stage, rule, rows, bytes, and members (path, id,
        link, rows, bytes, sha256); stages; sources; data: see `_graph`.
    """
    document = study.document("provenance.json")
    top = PurePosixPath(study.results)
    ids = UniqueIds()
    files = document["files"]
    for entry in files:
        path, inside = PurePosixPath(entry["file"]), top in PurePosixPath(entry["file"]).parents
        below = str(path.relative_to(top)) if inside else entry["file"]
        entry |= {"path": below, "holds": file_content(entry["file"])}
        # relative to results/report/
        entry |= {"id": ids.give(f"file-{slug(below)}"), "link": None}
        if inside:
            entry["link"] = "../" + quote(below)
    sources = [
        source | {"id": ids.give(f"source-{slug(source['file'] or source['sha256'][:12])}")}
        for source in document.get("sources", [])
    ]
    stages = _stages(files, ids)
    return {
        "sections": [("files", "Files"), ("stages", "Stages"), ("sources", "Sources")],
        "totals": {
            "files": len(files),
            "results": sum(entry.get("result", True) for entry in files),
            "traced": sum(entry["stage"] is not None for entry in files),
            "bytes": sum(entry["bytes"] or 0 for entry in files),
            "stages": len(stages),
            "sources": len(sources),
        },
        "folders": _folders(files, stages),
        "stages": list(stages.values()),
        "sources": _used(sources, files),
        "data": _graph(files, sources, stages),
        "most_names": MOST_NAMES,
    }


def _rule(stage: str | None) -> str | None:
    """Return the rule that runs a stage: both have the name of the module."""
    return stage.rpartition(".")[2] if stage else None


def _form(path: PurePosixPath) -> tuple[str, ...]:
    """Return the suffixes that give the type of a file; a dot in a name (qwen2.5) starts none."""
    return tuple(suffix for suffix in path.suffixes[-2:] if suffix[1:].isalpha())


def _folders(
    files: list[dict[str, Any]], stages: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Group the files by folder (the first of the path), then by kind; all in the order of paths.

    Files of one kind have the same place (``legal/ecthr``), stage and description.
    """
    for entry in files:
        path = PurePosixPath(entry["path"])
        entry["folder"] = path.parts[0] if len(path.parts) > 1 else ""
        entry["place"] = path.parts[: min(2, len(path.parts) - 1)]
        entry["kind"] = (entry["holds"] or path.parent, entry["stage"], _form(path))
    order = sorted(files, key=lambda entry: entry["path"])
    folders = []
    for name, entries in grouped(order, "folder").items():
        kinds = []
        for group in grouped(entries, "place", "kind").values():
            parts = [group] if len(group) >= FOLD else [[entry] for entry in group]
            kinds += [_kind(part, stages) for part in parts]
        folders.append({"name": name, "files": len(entries), "kinds": kinds})
    return folders


def _kind(members: list[dict[str, Any]], stages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    stage = members[0]["stage"]
    rows = [entry["rows"] for entry in members]
    return {
        "name": _pattern([entry["path"] for entry in members]),
        "holds": members[0]["holds"],
        "stage": stage,
        "rule": _rule(stage),
        "stage_id": stages[stage]["id"] if stage else None,
        "rows": None if None in rows else sum(rows),
        "bytes": sum(entry["bytes"] or 0 for entry in members),
        "members": members,
    }


def _pattern(paths: list[str]) -> str:
    """Return the pattern that matches all paths: ``tables/legal_*_sizes.csv``."""
    words = [re.findall(r"[^/_.-]+|[/_.-]", path) for path in paths]
    start = _common(words)
    end = _common([tokens[len(start) :][::-1] for tokens in words])[::-1]
    return "".join([*start, *(["*"] if len(paths) > 1 else []), *end])


def _common(lists: list[list[str]]) -> list[str]:
    """Return the longest common prefix of the lists."""
    pairs = takewhile(lambda column: len(set(column)) == 1, zip(*lists, strict=False))
    return [column[0] for column in pairs]


def _stages(files: list[dict[str, Any]], ids: UniqueIds) -> dict[str, dict[str, Any]]:
    """Return each stage by name, with its code, the sets of its parameters, and its counts."""
    stages = {}
    order = sorted(files, key=lambda entry: (entry["stage"] or "", entry["path"]))
    for name, entries in grouped(order, "stage").items():
        if name is None:
            continue
        # outputs of one run share its counts
        runs = {
            json.dumps([entry["inputs"], entry["parameters"]], sort_keys=True): entry["counts"]
            or {}
            for entry in entries
        }
        settings = _distinct(map(_parameters, entries))
        stages[name] = {
            "stage": name,
            "rule": _rule(name),
            "id": ids.give(f"stage-{slug(name)}"),
            "codes": _distinct(entry["code"] for entry in entries),
            "packages": _distinct(entry["packages"] or {} for entry in entries),
            "settings": settings[:MOST_SETTINGS],
            "ways": len(settings),
            "files": len(entries),
            "runs": len(runs),
            "totals": _totals(list(runs.values())),
        }
    return stages


def _distinct(values: Iterable[Any]) -> list[Any]:
    numbered = _Numbered()
    for value in values:
        numbered.number(value)
    return numbered.values


def _parameters(entry: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Return each parameter's configuration key or name, its value, and whether it has a key.

    Those of the configuration come first.
    """
    keys = entry.get("config") or {}
    parameters = [
        (keys.get(name, name), _value(value), name in keys)
        for name, value in (entry["parameters"] or {}).items()
    ]
    return sorted(parameters, key=lambda parameter: (not parameter[2], parameter[0]))


def _value(value: Any) -> str:
    """Return a value in the notation of the configuration."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _totals(counts: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return the sums of the counts over the runs of a stage."""
    totals: Counter[str] = Counter()
    for run_counts in counts:
        for name, value in run_counts.items():
            if isinstance(value, int) and not isinstance(value, bool):
                totals[name] += value
    return list(totals.items())


def _used(sources: list[dict[str, Any]], files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources with the rules that read them."""
    readers: dict[tuple[str | None, str], set[str]] = {}
    for entry in files:
        for item in (item for described in entry["inputs"].values() for item in described):
            readers.setdefault(_key(item), set()).add(_rule(entry["stage"]) or "")
    return [source | {"readers": sorted(readers.get(_key(source), ()))} for source in sources]


def _graph(
    files: list[dict[str, Any]], sources: list[dict[str, Any]], stages: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the data from which the page's script shows the details of a file, deduplicated.

    Returns
    -------
    dict
        nodes: the files, then the sources, as [id, path, sha256, link, holds, bytes, rows,
        columns, run], of a source only the first three; runs: [stage, code, parameters, packages,
        counts, inputs], where inputs is a list of [argument, nodes]; and the lists stages (name,
        id), codes, parameters, packages, columns and holds, to which the numbers in both refer.
    """
    lists: dict[str, _Numbered] = {
        name: _Numbered()
        for name in ("runs", "stages", "codes", "parameters", "packages", "columns", "holds")
    }
    places = {entry["file"]: number for number, entry in enumerate(files)}
    origins = {_key(source): len(files) + number for number, source in enumerate(sources)}

    def place(item: dict[str, Any]) -> int | None:
        return places.get(item["file"], origins.get(_key(item)))

    nodes = []
    for entry in files:
        run = None
        if entry["stage"] is not None:
            read = [
                (argument, [number for item in described if (number := place(item)) is not None])
                for argument, described in sorted(entry["inputs"].items())
            ]
            called = [
                lists["stages"].number([entry["stage"], stages[entry["stage"]]["id"]]),
                lists["codes"].number(entry["code"]),
                lists["parameters"].number(_parameters(entry)),
                lists["packages"].number(sorted((entry["packages"] or {}).items())),
                _totals([entry["counts"] or {}]),
                [item for item in read if item[1]],
            ]
            run = lists["runs"].number(called)
        node = [entry[name] for name in ("id", "path", "sha256", "link")]
        node += [lists["holds"].number(entry["holds"]), entry["bytes"], entry["rows"]]
        nodes.append([*node, lists["columns"].number(entry["columns"]), run])
    nodes += [[source["id"], source["file"] or NOTHING, source["sha256"]] for source in sources]
    return {"nodes": nodes, "files": len(files)} | {
        name: numbered.values for name, numbered in lists.items()
    }


class _Numbered:
    """A list of distinct values with the index of each."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.places: dict[str, int] = {}

    def number(self, value: Any) -> int:
        key = json.dumps(value, sort_keys=True)
        if key not in self.places:
            self.places[key] = len(self.values)
            self.values.append(value)
        return self.places[key]
