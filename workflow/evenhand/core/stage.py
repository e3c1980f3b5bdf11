"""The stage contract: a typed function defines a command line, cache key and provenance record.

A stage is a module with a function of its name (`evenhand.slguset.merge_candidates`), which
``python -m evenhand.core.run slguset.merge_candidates`` runs. The function has keyword-only
arguments, whose annotations declare their roles:

- `Input` (or ``list[Input]``, ``Input | None``): a file or folder that is read. Its content
  and its suffixes count; its location does not.
- `Source`: the same, but the path counts too, because it is part of the result.
- `Output` (or ``list[Output]``): a file or folder that is written. The function gets a path
  beside the final one; the output is moved into place when it returns, and removed if it fails.
- ``Annotated[str, Plugin("evenhand.package")]``: the name of a module of that package, whose
  code counts as the stage's own. Of a list, none may be named twice.
- ``Annotated[int, Setting]``: a value that cannot change the result (threads, a device).
- everything else: a parameter of the result.

`Range` in an annotation bounds a number, or each number of a list; Literal lists the words that
are allowed. A function with one, or with a list of plugins, has the decorator `checked`, so that
these hold for every caller.

`run` looks into the run cache (the folder in the environment variable ``EVENHAND_CACHE``)
before it calls the function. It leaves a record of the run (in the folder ``EVENHAND_STATE``):
stage, code digest, parameters with the keys of the configuration that they come from, versions,
paths and digests of inputs and outputs, and the counts that the function returned. Beside it are
lists of the files in each folder that was written (see `evenhand.core.verify`). Files in
`evenhand.core.scratch.scratch_folder` survive a crash, and are removed when the stage is done.
Called from Python, the function is an ordinary function.
"""

import errno
import functools
import importlib
import inspect
import itertools
import json
import math
import os
import signal
import sys
import tempfile
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from evenhand.core import cache, code, hermetic
from evenhand.core.files import atomic, content_digest, folder_files, partial_path, remove, replace
from evenhand.core.inputs import planned_digest
from evenhand.core.owner import check_owner
from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError


class Role(Enum):
    """The role of an argument of a stage."""

    INPUT = "input"
    SOURCE = "source"
    OUTPUT = "output"
    SETTING = "setting"
    PARAMETER = "parameter"


Input = Annotated[Path, Role.INPUT]
Source = Annotated[Path, Role.SOURCE]
Output = Annotated[Path, Role.OUTPUT]
Setting = Role.SETTING


@dataclass(frozen=True)
class Plugin:
    """Marks an argument that names a module of `package` (``irm`` of ``...objectives``).

    A list may name a module more than once if it `repeats`.
    """

    package: str
    repeats: bool = False


@dataclass(frozen=True)
class Range:
    """The numbers that an argument may be: finite ones within these bounds."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def holds(self, value: float) -> bool:
        """Return whether a number lies in the range."""
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        """Return the range in words, such as ``a finite number, above 0 and at most 1``."""
        phrases = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
        bounds = asdict(self).items()
        words = [f"{phrases[name]} {bound:g}" for name, bound in bounds if bound is not None]
        return ", ".join(filter(None, ["a finite number", " and ".join(words)]))


Count = Annotated[int, Range(least=1)]
Natural = Annotated[int, Range(least=0)]
#: A share that may be all of it, and one that may not.
Share = Annotated[float, Range(above=0, most=1)]
Fraction = Annotated[float, Range(above=0, below=1)]
#: The smallest difference that matters, in percentage points.
Delta = Annotated[float, Range(least=0.5, most=45)]


Stage = Callable[..., dict[str, Any] | None]

#: Precedes the configuration keys of options on a command line, where they have other names:
#: ``--from-config=scoring:dtype,swapped=legal.swap`` (see `evenhand.core.config.Options`).
FROM_CONFIG = "--from-config="


def checked(function: Stage) -> Stage:
    """Return a stage function that refuses the values which `check_values` rejects."""
    hints = functools.cache(lambda: typing.get_type_hints(function, include_extras=True))

    @functools.wraps(function)
    def call(**arguments: Any) -> dict[str, Any] | None:
        check_values(hints(), arguments)
        return function(**arguments)

    return call


def check_values(hints: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Reject numbers out of range, words that are none of a Literal, and plugins named twice."""
    for name, hint in hints.items():
        value = values.get(name)
        several = value if isinstance(value, list | tuple) else [] if value is None else [value]
        for mark, each in itertools.product(_metadata(hint), several):
            if isinstance(mark, Range) and not mark.holds(each):
                raise InputError(f"`{name}` is {each}; it must be {mark}")
            if isinstance(mark, tuple) and each not in mark:
                raise InputError(f"`{name}` is {each}, not one of {', '.join(mark)}")
            once = isinstance(mark, Plugin) and not mark.repeats
            if once and several.count(each) > 1:
                raise InputError(f"`{name}` names {each} twice", remedy="remove one of them")


def run(name: str, *words: str) -> None:
    """Run a stage with the words of a command line; exit 0 when done, 2 for invalid input.

    Parameters
    ----------
    name : str
        Its module below `evenhand`.
    *words : str
        Its arguments.
    """
    function = _function_of(name)
    app = App(
        name=f"python -m evenhand.core.run {name}",
        version_flags=[],
        default_parameter=Parameter(consume_multiple=True),
    )
    app.default(function)
    config = _config_keys(word for word in words if word.startswith(FROM_CONFIG))
    command, bound, _ = app.parse_args([w for w in words if not w.startswith(FROM_CONFIG)])
    if command is not function:  # --help, which has been asked for and printed
        command(*bound.args, **bound.kwargs)
        return
    # a cancelled job removes its partial files as a failed one does
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    watch = hermetic.Watch() if os.environ.get("EVENHAND_HERMETIC") else None
    try:
        execute(function, bound.arguments, config)
        if watch:
            _check_hermetic(watch, function, bound)
    except InputError as error:
        known = error.with_names(lambda name: config.get(name, name))
        print(f"error: {known}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if (full := full_disk(error)) is None:
            raise
        try:
            print(f"error: {full}", file=sys.stderr, flush=True)
        except OSError:  # the log is on the full disk; the console is not
            print(f"error: {full}", flush=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # is flushed once more
        sys.exit(2)


def _function_of(name: str) -> Stage:
    """Return the function of a stage; exit 2 if there is none."""
    module = None
    try:
        module = importlib.import_module(f"evenhand.{name}")
    except ModuleNotFoundError as error:
        if not f"evenhand.{name}".startswith(str(error.name)):
            raise
    function = getattr(module, name.rpartition(".")[2], None)
    if not inspect.isfunction(function):
        problem = f"there is no stage {name}; name its module below evenhand, such as"
        print(f"error: {problem} slguset.apply_filters", file=sys.stderr)
        sys.exit(2)
    return function


def _check_hermetic(watch: hermetic.Watch, function: Stage, bound: inspect.BoundArguments) -> None:
    """Fail a job that read files or ran modules not covered by its inputs and code digest."""
    module = function.__module__
    bound.apply_defaults()
    declared = [
        path
        for _, role, value in _roles(function, bound)
        if role in (Role.INPUT, Role.SOURCE, Role.OUTPUT)
        for path in _paths(value)
    ]
    folders = [os.environ.get(name) for name in ("EVENHAND_STATE", "EVENHAND_CACHE")]
    files = watch.undeclared([*declared, *(Path(folder) for folder in folders if folder)])
    covered = code.manifest(*modules_of(function, module, bound.arguments))["modules"]
    if undeclared := files + hermetic.uncovered_modules(covered):
        raise RuntimeError(f"{module} uses what it does not declare: {', '.join(undeclared)}")


def full_disk(error: BaseException) -> InputError | None:
    """Return an error for the user if the cause is a full disk; libraries report it differently."""
    cause: BaseException | None = error
    while cause is not None:
        number = getattr(cause, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(cause):
            folders = {"results": os.environ.get("EVENHAND_STATE"), "TMPDIR": tempfile.gettempdir()}
            places = ", ".join(f"{folder} ({name})" for name, folder in folders.items() if folder)
            return InputError(
                f"the disk or your share of it is full: {str(cause).splitlines()[0]}",
                remedy=f"make room where it writes ({places}), or name another folder for temporary"
                " files in TMPDIR, and run the workflow again: what is done is kept",
            )
        cause = cause.__cause__ or cause.__context__
    return None


def _config_keys(words: Iterable[str]) -> dict[str, str]:
    """Parse the configuration's key of each argument from the command line."""
    keys = {}
    for word in words:
        section, _, names = word.removeprefix(FROM_CONFIG).rpartition(":")
        for name, _, key in (pair.partition("=") for pair in names.split(",")):
            keys[name] = key or f"{section}.{name}"
    return keys


def execute(
    function: Stage, arguments: dict[str, Any], config: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run a stage through the run cache, and return its record.

    Parameters
    ----------
    function : callable
        A stage function.
    arguments : dict
        Its arguments by name; missing ones take their defaults.
    config : dict, optional
        The key of the configuration that an argument comes from, by its name. It is recorded
        and changes nothing.

    Returns
    -------
    dict
        stage, code, parameters, key (of the run cache), config, packages, inputs, outputs, counts.
    """
    module = function.__module__
    bound = inspect.signature(function).bind(**arguments)
    bound.apply_defaults()
    outputs = {
        key: path
        for name, role, value in _roles(function, bound)
        if role is Role.OUTPUT
        for key, path in zip(_keys(name, value), _paths(value), strict=True)
    }
    plan = _plan(module, function, bound)
    folder = os.environ.get("EVENHAND_CACHE")
    key = code.fingerprint(plan)
    record = cache.restore(Path(folder), key, outputs) if folder else None
    if record is not None:
        print(f"served from the run cache ({key})", file=sys.stderr)
    else:
        digest = code.fingerprint([key, *sorted(map(str, outputs.values()))])
        state = os.environ.get("EVENHAND_STATE")
        scratch = Path(state) / "scratch" / f"{function.__name__}-{digest}" if state else None
        with scratch_at(scratch):
            record = _call(function, bound, outputs, plan)
        if folder:
            cache.store(Path(folder), key, outputs, record)
    inputs = {}
    for name, items in record["inputs"].items():
        pairs = zip(items, _paths(bound.arguments[name]), strict=True)
        inputs[name] = [item | {"file": str(path)} for item, path in pairs]
    digests = {name: content_digest(path) for name, path in outputs.items()}
    record = record | {
        "key": key,
        "config": {name: key for name, key in (config or {}).items() if name in bound.arguments},
        "inputs": inputs,
        "outputs": {n: {"file": str(outputs[n]), "sha256": digests[n]} for n in outputs},
    }
    _keep(record, module, function, bound)
    return record


def modules_of(function: Stage, module: str, arguments: dict[str, Any]) -> list[str]:
    """Return the stage's module and the modules of its `Plugin` arguments."""
    modules = [module]
    for name, hint in typing.get_type_hints(function, include_extras=True).items():
        plugin = next((m for m in _metadata(hint) if isinstance(m, Plugin)), None)
        value = arguments.get(name)
        if plugin and value is not None:
            names = [value] if isinstance(value, str) else value
            modules += [f"{plugin.package}.{name}" for name in names]
    return modules


def _plan(module: str, function: Stage, bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return everything that determines the result, as JSON, for the key of the run cache."""
    manifest = code.manifest(*modules_of(function, module, bound.arguments))
    imported = code.imported_packages(manifest["modules"])
    parameters, inputs = {}, {}
    for name, role, value in _roles(function, bound):
        if role in (Role.INPUT, Role.SOURCE):
            inputs[name] = [_describe(path, role) for path in _paths(value)]
        elif role is Role.PARAMETER:
            parameters[name] = _plain(value)
    return {
        "stage": module,
        "code": code.fingerprint(manifest),
        "parameters": parameters,
        # those that they require are part of the code's digest
        "packages": {
            "python": manifest["packages"]["python"],
            **{name: code.installed_version(name) for name in sorted(imported)},
        },
        "inputs": inputs,
    }


def _keys(name: str, value: Path | list[Path] | None) -> list[str]:
    """Return the names of an argument's outputs in the record and in the run cache."""
    if isinstance(value, list):
        return [f"{name}.{number}" for number in range(len(value))]
    return [] if value is None else [name]


def _paths(value: Path | list[Path] | None) -> list[Path]:
    """Return the paths of an input or output: one, several or none."""
    paths = [] if value is None else value if isinstance(value, list) else [value]
    return list(map(Path, paths))


def _describe(path: Path, role: Role) -> dict[str, str]:
    if not path.exists():
        raise InputError("there is no such file", file=path)
    name = str(path) if role is Role.SOURCE else "".join(path.suffixes)
    digest = content_digest(path)
    state = os.environ.get("EVENHAND_STATE")
    if state and planned_digest(Path(state) / "checksums.json", path) not in (None, digest):
        problem = "changed after the run was planned"
        raise InputError(problem, file=path, remedy="start the run again")
    return {"name": name, "sha256": digest}


def _call(
    function: Stage, bound: inspect.BoundArguments, outputs: dict[str, Path], plan: dict[str, Any]
) -> dict[str, Any]:
    """Call the function on partial paths, then move its outputs into place."""
    partials = {name: partial_path(path) for name, path in outputs.items()}
    for path in outputs.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        targets = {
            name: [partials[key] for key in _keys(name, value)]
            if isinstance(value, list)
            else partials.get(name)
            for name, role, value in _roles(function, bound)
            if role is Role.OUTPUT
        }
        counts = function(**{**bound.arguments, **targets})
        missing = [name for name, partial in partials.items() if not partial.exists()]
        if missing:
            raise RuntimeError(f"{plan['stage']} did not write {', '.join(missing)}")
        check_owner()
        for name, path in outputs.items():
            replace(partials[name], path)
    finally:
        for partial in partials.values():
            remove(partial)
    return plan | {"counts": counts or {}}


def _keep(
    record: dict[str, Any], module: str, function: Stage, bound: inspect.BoundArguments
) -> None:
    """Keep the record, and the manifest behind its code digest, for `evenhand.core.why`."""
    state = os.environ.get("EVENHAND_STATE")
    if not state:
        return
    manifest = code.manifest(*modules_of(function, module, bound.arguments))
    files = sorted(output["file"] for output in record["outputs"].values())
    documents = {
        f"code/{record['code']}.json": manifest,
        f"records/{code.fingerprint(files[0])}.json": record,
    }
    for output in map(Path, files):
        if output.is_dir():
            listed = {name: content_digest(output / name) for name in folder_files(output)}
            name = f"folders/{code.fingerprint(str(output))}.json"
            documents[name] = {"folder": str(output), "files": listed}
    for name, document in documents.items():
        with atomic(Path(state) / name) as path:
            text = json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1)
            path.write_text(text, encoding="utf-8")


def _roles(function: Stage, bound: inspect.BoundArguments) -> Iterator[tuple[str, Role, Any]]:
    hints = typing.get_type_hints(function, include_extras=True)
    for name, value in bound.arguments.items():
        roles = [m for m in _metadata(hints[name]) if isinstance(m, Role)]
        yield name, roles[0] if roles else Role.PARAMETER, value


def _metadata(hint: Any) -> Iterator[Any]:
    """Yield the metadata of `Annotated`, also inside ``list[...]`` and ``... | None``.

    The words of a Literal are a tuple.
    """
    if typing.get_origin(hint) is Annotated:
        yield from hint.__metadata__
    if typing.get_origin(hint) is typing.Literal:
        yield typing.get_args(hint)
    for inner in typing.get_args(hint):
        yield from _metadata(inner)


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Path | Enum):
        raise TypeError(f"{value!r}: a stage takes plain values, or a path with a role")
    return value
