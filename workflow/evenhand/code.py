"""What code a stage runs: a digest that changes when, and only when, that code does.

Snakemake notices a changed input, parameter or shell command, but not a changed Python
module behind the command. So each rule carries ``params: code=code("evenhand.x.y")``, and
each stage records the same digest in what it writes.

The digest of a module covers, for itself and every project module that it imports
(transitively, wherever in the file the import stands, parent packages included), the
syntax tree without docstrings and comments, one hash per top-level definition; and the
locked version of each third-party package that any of them imports. What is imported by a
computed name is invisible here: a stage declares such an argument as a `Plugin`
(see `evenhand.stage`) and its rule names the module beside the stage.

What was read of a module is kept in ``__pycache__``, beside what Python keeps there of it.
"""

import ast
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

#: The folder that holds the package `evenhand`, and the repository above it.
LIBRARY = Path(__file__).resolve().parents[1]
REPOSITORY = LIBRARY.parent

#: Import names that differ from the name of the distribution that brings them.
DISTRIBUTIONS = {
    "pycrfsuite": "python-crfsuite",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def digest(*modules: str) -> str:
    """The digest (16 hex digits) of the code that these modules run; see `manifest`."""
    return fingerprint(manifest(*modules))


def fingerprint(value: Any) -> str:
    """A digest (16 hex digits) of a value that JSON can hold; key order does not count."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def manifest(*modules: str) -> dict[str, Any]:
    """What the digest covers.

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
    for module in closure:
        for name in _read(module)[2]:
            distribution = DISTRIBUTIONS.get(name, name.lower().replace("_", "-"))
            if distribution not in locked_versions():
                raise InputError(
                    f"{module} imports {name}, which the lock does not hold",
                    file=_path(module),
                    remedy="add it to requirements/requirements.in and run `make lock`",
                )
            packages[distribution] = locked_versions()[distribution]
    return {"modules": {m: _read(m)[0] for m in sorted(closure)}, "packages": packages}


@cache
def locked_versions() -> dict[str, str]:
    """Version by distribution name, as pinned in requirements/."""
    pins = {}
    for file in ("torch.txt", "requirements.lock"):
        text = (REPOSITORY / "requirements" / file).read_text(encoding="utf-8")
        for name, version in re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s\\;]+)", text, re.M):
            pins[name.lower().replace("_", "-")] = version
    return pins


@cache
def _path(module: str) -> Path | None:
    """The file of a project module, or None if there is no such module."""
    base = LIBRARY.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):  # the order of Python's import
        if path.is_file():
            return path
    return None


@cache
def _read(module: str) -> tuple[dict[str, str], list[str], list[str]]:
    """Hash by top-level definition, imported project modules, imported third-party names."""
    path = _path(module)
    if path is None:
        raise InputError(f"there is no module {module}", file=LIBRARY)
    definitions, names = _kept(path)
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
        elif head not in sys.stdlib_module_names:
            foreign.add(head)
    return definitions, sorted(project - {module}), sorted(foreign)


def _kept(path: Path) -> tuple[dict[str, str], list[list[Any]]]:
    """Definitions and imports of a file, from ``__pycache__`` if it was read as it is now."""
    source = path.read_bytes()
    file = Path(importlib.util.cache_from_source(str(path))).with_suffix(".digest")
    key = hashlib.sha256(_this_file() + source).hexdigest()
    # what is not there, or was cut short by a full disk, is read anew
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(file.read_bytes())
        if kept.get("key") == key:
            return kept["definitions"], kept["imports"]
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"does not parse ({error.msg})", file=path, line=error.lineno) from error
    found = {"key": key, "definitions": _definitions(tree), "imports": _imports(tree)}
    if not sys.dont_write_bytecode:
        # a library that may only be read is no error, as it is none for Python
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(f".{os.getpid()}")
            try:
                unfinished.write_text(json.dumps(found), encoding="utf-8")
                unfinished.replace(file)
            finally:
                unfinished.unlink(missing_ok=True)
    return found["definitions"], found["imports"]


@cache
def _this_file() -> bytes:
    return Path(__file__).read_bytes()


def _imports(tree: ast.Module) -> list[list[Any]]:
    """Level (dots in front) and dotted name of each import; ``from a import b`` gives ``a.b``."""
    names = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = f"{node.module}." if node.module else ""
            names |= {(node.level, f"{base}{alias.name}") for alias in node.names}
    return [list(name) for name in sorted(names)]


def _definitions(tree: ast.Module) -> dict[str, str]:
    """Hash by name of each top-level function, class or variable; the rest under `(module)`."""
    dumps: dict[str, list[str]] = {}
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
    return {
        name: hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        for name, parts in sorted(dumps.items())
    }


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The node and every statement inside it, at any depth (expressions hold none)."""
    yield node
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, block, []):
            yield from _statements(child)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # a string that stands alone says something to people only, wherever it stands
            kept = [
                child
                for child in node.body
                if not (
                    isinstance(child, ast.Expr)
                    and isinstance(child.value, ast.Constant)
                    and isinstance(child.value.value, str)
                )
            ]
            node.body = kept if kept or isinstance(node, ast.Module) else [ast.Pass()]
    return tree
