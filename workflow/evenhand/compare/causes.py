"""Differences between two results folders apart from the numbers: data, configuration, code."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.compare.results import Results

#: Kinds of change: only head has it, only base has it, or the records differ.
NEW, GONE, CHANGED = "new", "gone", "changed"


class Change(NamedTuple):
    """Something that differs between the runs.

    Attributes
    ----------
    what : str
        A source, a parameter of a stage, a stage, a package, a result file.
    kind : str
        `NEW`, `GONE` or `CHANGED`.
    base, head : str or None
        The values, where they are known.
    where : tuple of str
        The stages or modules concerned; sorted.
    """

    what: str
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
    return Causes(
        data=_data(base, head),
        configuration=_configuration(base, head),
        code=_code(base, head),
        packages=_packages(base, head),
        files=_files(base, head),
        untraced={
            name: sum(entry["stage"] is None for entry in one.files.values())
            if one.traced
            else None
            for name, one in (("base", base), ("head", head))
        },
    )


def _kind(before: Any, after: Any) -> str:
    return NEW if before is None else GONE if after is None else CHANGED


def _sources(results: Results) -> dict[str, tuple[set[str], set[str]]]:
    """Map each source to the digests that were read of it, and to the stages that read it."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for entry in results.files.values():
        for argument, described in entry["inputs"].items():
            for one in described:
                if one["sha256"] in results.made:
                    continue
                stage = _short(entry["stage"])
                name = one["file"] or f"{argument} of {stage}"
                found[name][0].add(one["sha256"])
                found[name][1].add(stage)
    return found


def _data(base: Results, head: Results) -> list[Change]:
    before, after = _sources(base), _sources(head)
    contents = [{d for digests, _ in one.values() for d in digests} for one in (before, after)]
    changes = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old and new:
            if old[0] != new[0]:
                changes.append(Change(name, CHANGED, where=tuple(sorted(old[1] | new[1]))))
        elif not (old or new)[0] <= contents[1 if old else 0]:
            changes.append(Change(name, _kind(old, new), where=tuple(sorted((old or new)[1]))))
    return changes


def _configuration(base: Results, head: Results) -> list[Change]:
    """Compare the parameters of the stages behind files that both runs have."""
    found: dict[tuple[str, str, str | None, str | None], set[str]] = defaultdict(set)
    for name in sorted(base.files.keys() & head.files.keys()):
        old, new = base.files[name], head.files[name]
        if old["stage"] is None or old["stage"] != new["stage"]:
            continue
        before, after = (one["parameters"] or {} for one in (old, new))
        for key in before.keys() | after.keys():
            values = [_json(one[key]) if key in one else None for one in (before, after)]
            if values[0] != values[1]:
                known = (old.get("config") or {}) | (new.get("config") or {})
                title = known.get(key) or f"{key} of {_short(new['stage'])}"
                found[title, _kind(*values), *values].add(name)
    changes = [Change(*key, where=tuple(sorted(names))) for key, names in found.items()]
    return sorted(changes, key=lambda one: (one.what, one.base or "", one.head or ""))


def _code(base: Results, head: Results) -> list[Change]:
    found: dict[str, set[str]] = {}
    stages = [{entry["stage"] for entry in one.files.values()} - {None} for one in (base, head)]
    for name in sorted(base.files.keys() & head.files.keys()):
        old, new = base.files[name], head.files[name]
        if old["stage"] and old["stage"] == new["stage"] and old["code"] != new["code"]:
            modules = found.setdefault(new["stage"], set())
            modules.update(_modules(base.folder, old["code"], head.folder, new["code"]))
    changes = [Change(_short(one), CHANGED, where=tuple(sorted(found[one]))) for one in found]
    changes += [Change(_short(one), GONE) for one in stages[0] - stages[1]]
    changes += [Change(_short(one), NEW) for one in stages[1] - stages[0]]
    return sorted(changes)


def _modules(base: Path, old: str, head: Path, new: str) -> list[str]:
    """List the modules that differ between two code digests; none without their manifests."""
    manifests = []
    for folder, digest in ((base, old), (head, new)):
        try:
            text = (folder / ".evenhand" / "code" / f"{digest}.json").read_text(encoding="utf-8")
            manifests.append(json.loads(text)["modules"])
        except (OSError, ValueError, KeyError):
            return []
    before, after = manifests
    return [
        _short(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    ]


def _packages(base: Results, head: Results) -> list[Change]:
    """Compare versions; several versions of one package in a folder are listed together."""
    versions = []
    for one in (base, head):
        found: dict[str, set[str]] = defaultdict(set)
        for entry in one.files.values():
            for name, version in (entry["packages"] or {}).items():
                found[name].add(version)
        versions.append({name: ", ".join(sorted(own)) for name, own in found.items()})
    before, after = versions
    return [
        Change(name, _kind(before.get(name), after.get(name)), before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _files(base: Results, head: Results) -> list[Change]:
    before, after = (
        {name: entry for name, entry in one.files.items() if entry.get("result", True)}
        for one in (base, head)
    )
    return [
        Change(name, _kind(before.get(name), after.get(name)))
        for name in sorted(before.keys() | after.keys())
        if before.get(name, {}).get("sha256") != after.get(name, {}).get("sha256")
    ]


def _short(module: str | None) -> str:
    return (module or "an unrecorded stage").removeprefix("evenhand.")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
