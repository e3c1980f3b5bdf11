"""The digest of the code of a stage: it changes if, and only if, the code changes.

Snakemake notices a changed input, parameter or shell command, but not a changed Python
module behind the command. So each rule carries ``params: code=code("evenhand.x.y")``, and
each stage records the same digest.

The digest of a module covers, for itself and every project module that it imports
(transitively, wherever in the file the import is, parent packages included), the syntax tree
without docstrings and comments: one hash per top-level definition, and their order where it can
matter, and its sentences for readers (`evenhand.core.phrases`). It also covers the version of each
third-party package that any of them imports, and of all packages that these require. An import by a
computed name is invisible here: a stage declares such an argument as a `Plugin` (see
`evenhand.core.stage`) and its rule names the module beside the stage. A package that is imported by
its name is a family (see `evenhand.core.families`): all its modules count.

Digests of modules and packages are cached in ``__pycache__``.
"""

import ast
import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.core.phrases import MACROS, PHRASES, SENTENCES
from evenhand.core.places import LIBRARY, ROOT
from evenhand.errors import InputError

#: Import names that differ from the name of the distribution that brings them.
DISTRIBUTIONS = {"pycrfsuite": "python-crfsuite", "sklearn": "scikit-learn", "yaml": "pyyaml"}


@cache
def digest(*modules: str) -> str:
    """Return the digest (16 hex digits) of the code that these modules run; see `manifest`."""
    return fingerprint(manifest(*modules))


def fingerprint(value: Any) -> str:
    """Return a digest (16 hex digits) of a JSON value; key order does not count."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def manifest(*modules: str) -> dict[str, Any]:
    """Return the content of the digest.

    Returns
    -------
    dict
        ``{"modules": {module: {definition: hash}}, "packages": {name: version}}``

    Raises
    ------
    InputError
        A module does not exist or does not parse, or imports a package that is not locked.
    """
    closure: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in closure:
            closure.add(module)
            waiting += _read(module)[1]
    packages = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    packages |= {
        name: _version(name) for name in sorted(_with_requirements(imported_packages(closure)))
    }
    return {"modules": {m: _read(m)[0] for m in sorted(closure)}, "packages": packages}


def imported_packages(modules: Iterable[str]) -> set[str]:
    """Return the third-party distributions that project modules import themselves.

    Raises
    ------
    InputError
        One of them is not locked.
    """
    distributions = set()
    for module in modules:
        for name in _read(module)[2]:
            distribution = DISTRIBUTIONS.get(name, normalised(name))
            if distribution not in locked_versions():
                problem = f"{module} imports {name}, which the lock does not hold"
                remedy = "add it to the dependencies in pyproject.toml and run `make lock`"
                raise InputError(problem, file=_path(module), remedy=remedy)
            distributions.add(distribution)
    return distributions


def unlike_the_lock() -> list[str]:
    """Return a phrase for each installed package whose version differs from the locked one.

    An installed wheel allows ranges of versions, so that nothing is returned there.
    """
    if LIBRARY.parent != ROOT:
        return []
    return [
        f"{name} {installed_version(name)} (locked: {locked})"
        for name, locked in sorted(locked_versions().items())
        if _differs(name)
    ]


@cache
def locked_versions() -> dict[str, str]:
    """Return the version by distribution name, as pinned in requirements/."""
    pins = {}
    for file in ("torch.txt", "requirements.lock"):
        text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
        for name, version in re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s\\;]+)", text, re.M):
            pins[normalised(name)] = version
    return pins


@cache
def installed_packages() -> dict[str, tuple[str, list[str]]]:
    """Return version and requirements of each installed distribution, by its normalised name."""
    # folders without packages, such as the working folder, change all the time
    folders = [
        folder
        for folder in dict.fromkeys(sys.path)
        if any(any(Path(folder).glob(f"*.{suffix}")) for suffix in ("dist-info", "egg-info"))
    ]
    times = [[folder, Path(folder).stat().st_mtime_ns] for folder in folders]
    key = hashlib.sha256(_this_file() + json.dumps(times).encode()).hexdigest()
    file = LIBRARY / "evenhand" / "__pycache__" / "packages.digest"
    document = _load(file, key)
    if document is None:
        document = {"key": key, "packages": _read_packages(folders)}
        _keep(file, document)
    return document["packages"]


def normalised(name: str) -> str:
    """Return a distribution's name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_packages(folders: list[str]) -> dict[str, tuple[str, list[str]]]:
    from packaging.requirements import Requirement

    packages = {}
    for distribution in importlib.metadata.distributions(path=folders):
        name = normalised(distribution.metadata["Name"])
        requirements = [
            normalised(requirement.name)
            for requirement in map(Requirement, distribution.requires or ())
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ]
        # the first on the path is the one that is imported
        packages.setdefault(name, (distribution.version, sorted(requirements)))
    return packages


def _with_requirements(names: set[str]) -> set[str]:
    """Return these distributions and all that they require, as far as they are installed."""
    closure: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += installed_packages().get(name, ("", []))[1]
    return closure & (names | installed_packages().keys())


def installed_version(name: str) -> str | None:
    """Return the installed version of a distribution, or None if it is absent."""
    return installed_packages().get(name, (None, []))[0]


def _version(name: str) -> str:
    """Return the locked version, and the installed one if it differs."""
    locked = locked_versions().get(name)
    installed = installed_version(name)
    if locked and installed and _differs(name):
        return f"{locked} (installed: {installed})"
    return locked or installed


def _differs(name: str) -> bool:
    """Return whether the installed version differs from the lock; ignore build tags (``+cpu``)."""
    installed = installed_version(name)
    return bool(installed) and installed.partition("+")[0] != locked_versions()[name]


@cache
def _path(module: str) -> Path | None:
    """Return the file of a project module, or None if there is no such module."""
    base = LIBRARY.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):  # the order of Python's import
        if path.is_file():
            return path
    return None


@cache
def _read(module: str) -> tuple[dict[str, str], list[str], list[str]]:
    """Return hashes by top-level definition, imported project modules and third-party names."""
    path = _path(module)
    if path is None:
        raise InputError(f"there is no module {module}", file=LIBRARY)
    definitions, names = _kept(path)
    sentences = LIBRARY / "evenhand" / SENTENCES.name / module.removeprefix("evenhand.")
    for form in (MACROS, PHRASES):
        file = sentences.with_name(sentences.name + form)
        if file.is_file():
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            definitions = definitions | {f"(sentences{form})": content[:16]}
    parts = module.split(".")
    project = {".".join(parts[:i]) for i in range(1, len(parts))}
    foreign = set()
    package = parts if path.stem == "__init__" else parts[:-1]
    for level, name in names:
        name = ".".join([*(package[: len(package) - level + 1] if level else []), name])
        head = name.split(".")[0]
        if head == "evenhand":
            steps = name.split(".")
            candidates = {".".join(steps[:i]) for i in range(1, len(steps) + 1)}
            project |= {candidate for candidate in candidates if _path(candidate)}
            project |= _members(name)
        elif head not in sys.stdlib_module_names:
            foreign.add(head)
    return definitions, sorted(project - {module}), sorted(foreign)


def _members(name: str) -> set[str]:
    """Return the modules of a package that is itself imported: a family of plugins."""
    path = _path(name)
    if path is None or path.stem != "__init__":
        return set()
    return {f"{name}.{member.stem}" for member in path.parent.glob("*.py") if member != path}


def _kept(path: Path) -> tuple[dict[str, str], list[list[Any]]]:
    """Return definitions and imports of a file, from ``__pycache__`` if the file is unchanged."""
    source = path.read_bytes()
    file = path.parent / "__pycache__" / f"{path.stem}.digest"
    key = hashlib.sha256(_this_file() + source).hexdigest()
    kept = _load(file, key)
    if kept is None:
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            problem = f"does not parse ({error.msg})"
            raise InputError(problem, file=path, line=error.lineno) from error
        kept = {"key": key, "definitions": _definitions(tree), "imports": _imports(tree)}
        _keep(file, kept)
    return kept["definitions"], kept["imports"]


def _load(file: Path, key: str) -> dict[str, Any] | None:
    """Return a cached document with this key, or None if it is absent or damaged."""
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(file.read_bytes())
        if kept.get("key") == key:
            return kept
    return None


def _keep(file: Path, document: dict[str, Any]) -> None:
    # a library that may only be read is no error, as it is none for Python
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}")
        try:
            unfinished.write_text(json.dumps(document), encoding="utf-8")
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)


@cache
def _this_file() -> bytes:
    # syntax trees differ by version: those of 3.12 have type parameters
    return Path(__file__).read_bytes() + repr(tuple(sys.version_info[:2])).encode()


def _imports(tree: ast.Module) -> list[list[Any]]:
    """Return level (leading dots) and name of each import; ``from a import b`` is ``a.b``."""
    names = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = f"{node.module}." if node.module else ""
            names |= {(node.level, f"{base}{alias.name}") for alias in node.names}
    return [list(name) for name in sorted(names)]


def _definitions(tree: ast.Module) -> dict[str, str]:
    """Return the hash of each top-level function, class or variable; the rest as `(module)`.

    ``(order)`` is the order of all but plain functions: the place of these has no effect as
    long as their names are unique.
    """
    dumps: dict[str, list[str]] = {}
    order: list[tuple[str, bool]] = []
    for node in _without_docstrings(tree).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        else:
            name = "(module)"
        dumps.setdefault(name, []).append(ast.dump(node))
        order.append((name, _may_move(node)))
    bound = Counter(name for node in tree.body for name in _bound(node))
    fixed = [name for name, may_move in order if not may_move or bound[name] > 1 or bound["*"]]
    dumps["(order)"] = fixed
    return {
        name: hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        for name, parts in sorted(dumps.items())
    }


def _may_move(node: ast.stmt) -> bool:
    """Return whether a statement is a function whose definition evaluates only constants."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.decorator_list:
        return False
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    return all(isinstance(default, ast.Constant) for default in defaults)


def _bound(node: ast.AST) -> Iterator[str]:
    """Return the names that a statement binds in its scope."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and every statement inside it, at any depth (expressions contain none)."""
    yield node
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, block, []):
            yield from _statements(child)


def _is_string(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # a string expression is a comment, wherever it is
            kept = [child for child in node.body if not _is_string(child)]
            node.body = kept if kept or isinstance(node, ast.Module) else [ast.Pass()]
    return tree
