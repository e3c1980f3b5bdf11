"""Differences between two results folders apart from the numbers: data, configuration, code."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from evenhand.compare.results import Results

#: Kinds of change: only head has it, only base has it, or the records differ.
NEW, GONE, CHANGED = "new", "gone", "changed"

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


class Causes(NamedTuple):
    """All changes, each list sorted by name."""

    data: list[Change]
    configuration: list[Change]
    code: list[Change]
    packages: list[Change]
    files: list[Change]
    untraced: dict[str, int | None]


def find_causes(base: Results, head: Results) -> Causes:
    """Compare the records of two runs.

    Returns
    -------
    Causes
        - data: the sources that the stages read. A source is identified by its path where the run
          recorded it, else by the stage and the argument that read it. One with the same content
          under another path has not changed;
        - configuration: parameters of stages, by their key of the configuration where the run
          recorded it, else by stage and argument;
        - code: stages whose code digest differs, with the modules that differ where both folders
          still have the manifests behind the digests (`.evenhand/code`);
        - packages: versions;
        - files: result files, by SHA-256;
        - untraced: the number of files of base and of head without a record; None for a folder
          without provenance, whose causes are unknown.
    """
    runs = {"base": base, "head": head}
    entries = {
        name: (base.files[name], head.files[name])
        for name in sorted(base.files.keys() & head.files.keys())
        if base.files[name]["stage"] and base.files[name]["stage"] == head.files[name]["stage"]
    }
    files = _changes(*map(_digests, runs.values()))
    return Causes(
        _data(*map(_sources, runs.values())),
        _configuration(entries),
        _code(base, head, entries),
        _changes(*map(_versions, runs.values())),
        [change._replace(base=None, head=None) for change in files],
        {
            name: sum(entry["stage"] is None for entry in run.files.values())
            if run.traced
            else None
            for name, run in runs.items()
        },
    )


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


def _configuration(entries: Mapping[str, tuple[Entry, Entry]]) -> list[Change]:
    """Compare the parameters of the stages behind files that both runs have."""
    files: dict[Change, set[str]] = defaultdict(set)
    for file, (old, new) in entries.items():
        keys = (old.get("config") or {}) | (new.get("config") or {})
        parameters = [
            {
                keys.get(name) or f"{name} of {_short(new['stage'])}": json.dumps(
                    value, ensure_ascii=False, sort_keys=True
                )
                for name, value in (entry["parameters"] or {}).items()
            }
            for entry in (old, new)
        ]
        for change in _changes(*parameters):
            files[change].add(file)
    changes = [change._replace(where=tuple(sorted(names))) for change, names in files.items()]
    return sorted(changes, key=lambda change: (change.name, change.base or "", change.head or ""))


def _code(base: Results, head: Results, entries: Mapping[str, tuple[Entry, Entry]]) -> list[Change]:
    stages = [
        {_short(entry["stage"]): "" for entry in run.files.values() if entry["stage"]}
        for run in (base, head)
    ]
    modules: dict[str, set[str]] = defaultdict(set)
    for old, new in entries.values():
        if old["code"] != new["code"]:
            manifests = _modules(base, old["code"]), _modules(head, new["code"])
            changed = _changes(*manifests) if all(manifests) else []
            modules[_short(new["stage"])].update(_short(change.name) for change in changed)
    changes = [Change(name, CHANGED, where=tuple(sorted(modules[name]))) for name in modules]
    changes += [change._replace(base=None, head=None) for change in _changes(*stages)]
    return sorted(changes)


def _modules(results: Results, code: str) -> dict[str, Any]:
    """Return the modules behind a code digest; empty without their manifest."""
    path = results.folder / ".evenhand" / "code" / f"{code}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))["modules"]
    except (OSError, ValueError, KeyError):
        return {}


def _short(module: str | None) -> str:
    return (module or "an unrecorded stage").removeprefix("evenhand.")
