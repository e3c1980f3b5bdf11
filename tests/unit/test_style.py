"""The wording of docstrings and names: words of the former house dialect stay rare."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import evenhand

DIALECT = re.compile(r"\b(what|said|told|says|tells|stands?|whom|nobody|theirs)\b", re.I)

#: Such words per 10,000 words of docstrings. Lower it with each room that is rewritten.
HIGHEST = 5

#: No names: a name states the role of its value.
VAGUE = re.compile(
    "one|found|told|said|own|given|about|shown|strange|wanted|nobody|twins?|ours|theirs"
)


def parsed() -> Iterator[tuple[Path, ast.Module]]:
    for path in Path(next(iter(evenhand.__path__))).rglob("*.py"):
        yield path, ast.parse(path.read_bytes())


def test_docstrings_use_the_terms_of_the_field():
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts = [
        ast.get_docstring(node) or ""
        for _, module in parsed()
        for node in ast.walk(module)
        if isinstance(node, documented)
    ]
    words = sum(len(re.findall(r"[A-Za-z]+", text)) for text in texts)
    dialect = sum(len(DIALECT.findall(text)) for text in texts)
    assert words > 10_000
    assert 10_000 * dialect / words < HIGHEST


def names(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of variables, parameters, functions and classes, but not of fields."""
    nodes = list(ast.walk(module))
    bodies = (node.body for node in nodes if isinstance(node, ast.ClassDef))
    fields = {
        id(item.target) for body in bodies for item in body if isinstance(item, ast.AnnAssign)
    }
    for node in nodes:
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in fields
        ):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name.strip("_")


def test_names_state_the_role_of_a_value():
    vague = [
        f"{path}:{line}: {name}"
        for path, module in parsed()
        for line, name in names(module)
        if VAGUE.fullmatch(name)
    ]
    assert vague == []
