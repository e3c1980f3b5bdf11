"""Explain why each job would run: ``python -m evenhand.core.why [snakemake arguments]``.

Snakemake's dry run prints that "params have changed" or that an input was "updated by another
job". This names the function and module, the package, the key of the configuration, the table or
the file, one line per job; jobs of one rule with the same cause share a line. It runs and writes
nothing.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core import code
from evenhand.core.config import changed_keys, read_config
from evenhand.core.places import ROOT
from evenhand.errors import InputError

#: A job of the plan; see `workflow/dry_run.py`.
Job = dict[str, Any]

#: At most so many names in a list, and characters in a value.
NAMES, CHARACTERS = 4, 80

_CODE = re.compile(r"([\w.+]+)@([0-9a-f]{16})")


class Cause(NamedTuple):
    """A clause with ``{}`` for its names (of files or rules), if it has any."""

    clause: str
    names: tuple[str, ...] = ()


class History:
    """The wildcards of the jobs that ran before, and the configurations as they are written."""

    def __init__(self, ran: Sequence[Mapping[str, str]], configs: Sequence[Any]) -> None:
        self._configs = configs
        self._known = {
            each for wildcards in ran for size in (1, 2) for each in _choices(wildcards, size)
        }

    def unknown(self, wildcards: Mapping[str, str]) -> tuple[str, ...]:
        """Return the wildcards, or pairs of them, of no earlier job, with the keys that name them.

        Those without a key are left out if others have one.
        """
        for size in (1, 2) if self._known else ():
            words = {}
            for choice in _choices(wildcards, size) - self._known:
                sought = {value for _, value in choice}
                beside = {*wildcards.values()} - sought
                places = [place for each in self._configs for place in _places(each, sought)]
                places = [place for place in places if beside & {*place}] or places
                keys = ", ".join(dict.fromkeys(map(".".join, places)))
                word = " and ".join(f"{name}={value}" for name, value in sorted(choice))
                words[f"{word} ({keys})" if keys else word] = keys
            if words:
                return tuple(word for word, keys in words.items() if keys) or tuple(words)
        return ()


def _choices(wildcards: Mapping[str, str], size: int) -> set[frozenset[tuple[str, str]]]:
    return set(map(frozenset, combinations(wildcards.items(), size)))


def _places(part: Any, sought: set[str], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the steps to keys and lists that name one of the words sought, by way of the others."""
    for key in part if isinstance(part, dict | list) else ():
        steps = (*path, str(key)) if isinstance(part, dict) else path
        if isinstance(key, str) and key in sought and {*sought} - {key} <= {*path}:
            yield steps
        yield from _places(part[key] if isinstance(part, dict) else key, sought, steps)


def main() -> None:
    """Print the lines; exit 1 if Snakemake cannot make a plan."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    plan, output = dry_run(sys.argv[1:])
    if plan is None:
        print(re.sub("^Using .* profile .*\n", "", output, flags=re.M).strip(), file=sys.stderr)
        sys.exit(1)
    state, configs = plan["state"], map(Path, plan["history"].get("configs", []))
    if other := plan["history"].get("other_run"):
        print(f"Note: {other}. Until it ends, the causes of its jobs may be wrong.")
    past = History(plan["history"].get("ran", []), [read_config(path) for path in configs])
    print("\n".join(explain(plan["jobs"], Path(state) if state else None, past)))


def dry_run(arguments: list[str]) -> tuple[dict | None, str]:
    """Return Snakemake's plan for these arguments (None if it fails), and its output."""
    program = ROOT / "workflow" / "dry_run.py"
    with tempfile.TemporaryDirectory() as scratch:
        plan = Path(scratch) / "plan.json"
        done = subprocess.run(
            [sys.executable, str(program), str(plan), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        if done.returncode:
            return None, done.stdout
        return json.loads(plan.read_text(encoding="utf-8")), done.stdout


def explain(jobs: list[Job], state: Path | None, past: "History | None" = None) -> list[str]:
    """Return the lines for the jobs of a plan.

    Parameters
    ----------
    jobs : list of dict
        See `workflow/dry_run.py`.
    state : Path, optional
        The folder where stages leave the manifests behind code digests (`evenhand.core.stage`).
    past : History, optional
        What ran before.
    """
    if not jobs:
        return ["Nothing would run."]
    makers = {output: job for job in jobs for output in job["outputs"]}
    groups: dict[tuple, list[tuple[Job, list[Cause]]]] = defaultdict(list)
    depths = _depths(jobs, makers)
    for job in sorted(jobs, key=lambda job: (depths[_key(job)], job["rule"], job["outputs"])):
        causes = list(_causes(job, makers, state, past or History((), ()))) or [
            Cause("Snakemake names no cause")
        ]
        groups[job["rule"], tuple(cause.clause for cause in causes)].append((job, causes))
    title = "1 job would run:" if len(jobs) == 1 else f"{len(jobs)} jobs would run:"
    return [title, *(_line(rule, members) for (rule, _), members in groups.items())]


def _line(rule: str, members: list[tuple[Job, list[Cause]]]) -> str:
    head = f"{rule} x {len(members)}"
    if len(members) == 1:
        wildcards = ", ".join(f"{k}={v}" for k, v in members[0][0]["wildcards"].items())
        head = f"{rule} ({wildcards})" if wildcards else rule
    clauses = []
    for same in zip(*(causes for _, causes in members), strict=True):
        names = sorted({name for cause in same for name in cause.names})
        clause = same[0].clause
        clauses.append(clause.replace("{}", _listed(names), 1) if names else clause)
    return f"{head}: {'; '.join(clauses)}"


def _depths(jobs: list[Job], makers: dict[str, Job]) -> dict[str, int]:
    """Return, by first output of a job, the length of the chain of jobs before it."""
    depths: dict[str, int] = {}

    def depth(job: Job) -> int:
        key = _key(job)
        if key not in depths:
            before = (makers[name] for name in job["inputs"] if name in makers)
            depths[key] = max((1 + depth(maker) for maker in before), default=0)
        return depths[key]

    for job in jobs:
        depth(job)
    return depths


def _key(job: Job) -> str:
    return job["outputs"][0] if job["outputs"] else job["rule"]


def _causes(job: Job, makers: dict[str, Job], state: Path | None, past: History) -> Iterator[Cause]:
    """Return the causes of a job, direct ones before inherited ones."""
    missing = tuple(name for name in job["outputs"] if not Path(name).exists())
    if missing and not job["recorded"]:
        unknown = past.unknown(job["wildcards"])
        none = ", nor any job with {}" if unknown else ""
        yield Cause(f"it has not run here yet{none}", unknown)
        return
    if not job["recorded"]:
        yield Cause("the records of the run that made {} are not here", tuple(job["outputs"]))
    elif job["forced"]:
        folders = tuple(name for name in job["outputs"] if Path(name).is_dir())
        forced = "forced on the command line"
        yield Cause(f"{{}} lacks files, or is {forced}", folders) if folders else Cause(forced)
    if missing:
        yield Cause("{} is missing", missing)
    if job["incomplete"]:
        yield Cause("{} was left unfinished", tuple(job["incomplete"]))
    yield from _changed_params(job["params_before"], job["params_now"], state)
    if job["command_changed"]:
        yield Cause("the command of the rule changed")
    if job["software_changed"]:
        yield Cause("the software environment of the rule changed")
    if job["recorded"]:
        if added := set(job["inputs"]) - set(job["former_inputs"]):
            yield Cause("new among its inputs: {}", tuple(added))
        if removed := set(job["former_inputs"]) - set(job["inputs"]):
            yield Cause("no longer among its inputs: {}", tuple(removed))
    if updated := tuple(set(job["updated"]) - set(makers)):
        yield Cause("the content of {} changed", updated)
    if made := tuple({makers[name]["rule"] for name in job["made_anew"] if name in makers}):
        yield Cause("because {} runs" if len(made) == 1 else "because {} run", made)


def _changed_params(before: list[str], now: list[str], state: Path | None) -> Iterator[Cause]:
    """Return causes from parameters (in ``repr`` form) that only one of two runs had."""
    codes, keys, others, inputs = [[], []], [{}, {}], [[], []], [{}, {}]
    for run, params in enumerate((before, now)):
        for value in map(ast.literal_eval, params):
            if isinstance(value, dict) and value.keys() == {"inputs"}:  # `evenhand.core.inputs`
                inputs[run] = value["inputs"]
            elif isinstance(value, dict):
                keys[run] |= value
            elif isinstance(value, str) and (match := _CODE.fullmatch(value)):
                codes[run].append(match)
            else:
                others[run].append(repr(value))
    if codes[0] and codes[1]:
        modules = tuple(codes[1][0][1].split("+"))
        for clause in _compare_code(codes[0][0][2], modules, state):
            yield Cause(clause)
    elif codes[0] or codes[1]:
        yield Cause("the rule names other code than before")
    for key in sorted(keys[0].keys() | keys[1].keys(), key=str):
        name = key if key.startswith("--") else f"config: {key}"  # an option of no key, or a key
        if key not in keys[0]:
            yield Cause(f"{name} is new: {_cut(repr(keys[1][key]))}")
        elif key not in keys[1]:
            yield Cause(f"{name} is gone")
        elif keys[0][key] != keys[1][key]:
            for part, values in changed_keys(name, *(side[key] for side in keys)).items():
                yield Cause(f"{part}: {' -> '.join(_cut(repr(value)) for value in values)}")
    yield from _changed_inputs(*inputs)
    if others[0] or others[1]:
        then, today = (", ".join(values) or "none" for values in others)
        yield Cause(f"a parameter of the rule changed: {_cut(then)} -> {_cut(today)}")


def _changed_inputs(before: dict[str, list[str]], now: dict[str, list[str]]) -> Iterator[Cause]:
    """Return causes from the inputs by role, except inputs that were added or removed."""
    then, today = (
        {path: digest for paths in roles.values() for path, digest in map(_split, paths)}
        for roles in (before, now)
    )
    changed = [name for name, digest in today.items() if then.get(name, digest) != digest]
    if changed:
        yield Cause("the content of {} changed", tuple(changed))
    elif then.keys() == today.keys():
        moved = sorted(role for role in before.keys() & now.keys() if before[role] != now[role])
        if moved or before.keys() != now.keys():
            yield Cause(f"the order or the roles of its inputs changed ({', '.join(moved)})")


def _split(described: str) -> tuple[str, str]:
    path, at, digest = described.rpartition("@")
    return (path, digest) if at else (described, "")


@cache
def _compare_code(digest: str, modules: tuple[str, ...], state: Path | None) -> tuple[str, ...]:
    """Return clauses on differences between the code behind a digest and today's modules."""
    former = state / "code" / f"{digest}.json" if state else None
    if former is None or not former.is_file():
        return (f"the code of {' + '.join(modules)} changed (its former state was not kept)",)
    then, today = json.loads(former.read_text(encoding="utf-8")), code.manifest(*modules)
    clauses = []
    for module in sorted(then["modules"].keys() | today["modules"].keys()):
        if module not in then["modules"]:
            clauses.append(f"{module} is imported now")
        elif module not in today["modules"]:
            clauses.append(f"{module} is no longer imported")
        elif words := _changed_names(then["modules"][module], today["modules"][module]):
            clauses.append(f"{module}: {words}")
    for name in sorted(then["packages"].keys() | today["packages"].keys()):
        old, new = then["packages"].get(name), today["packages"].get(name)
        if old != new:
            clauses.append(
                f"{name} {old} -> {new}"
                if old and new
                else f"{name} is {'imported now' if new else 'no longer imported'}"
            )
    return tuple(clauses) or ("what the code digest covers changed",)


def _changed_names(then: dict[str, str], today: dict[str, str]) -> str:
    """Summarise the changes of a module's definitions: ``changed f, g; added h``."""
    kinds = {
        "changed": [name for name in then if name in today and then[name] != today[name]],
        "added": [name for name in today if name not in then],
        "removed": [name for name in then if name not in today],
    }
    if any(name != "(order)" for names in kinds.values() for name in names):
        kinds["changed"] = [name for name in kinds["changed"] if name != "(order)"]
    titles = {
        "(module)": "statements outside its definitions",
        "(order)": "the order of its definitions",
    }
    return "; ".join(
        f"{kind} {_listed(sorted(titles.get(name, name) for name in names))}"
        for kind, names in kinds.items()
        if names
    )


def _listed(names: list[str]) -> str:
    if len(names) > NAMES:
        names = [*names[: NAMES - 1], f"{len(names) - NAMES + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _cut(text: str) -> str:
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 1]}…"


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
