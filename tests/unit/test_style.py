"""The wording of docstrings and names: words of the former house dialect stay rare."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand

DIALECT = re.compile(r"\b(what|said|told|says|tells|stands?|whom|nobody|theirs)\b", re.I)

#: Such words per 10,000 words of docstrings. Lower it with each room that is rewritten.
HIGHEST = 5

#: No names: a name states the role of its value.
VAGUE = re.compile(
    "one|found|told|said|own|given|about|shown|strange|wanted|nobody|twins?|ours|theirs"
)


@pytest.fixture(scope="module")
def wording() -> tuple[list[str], list[str]]:
    """The docstrings of the library, and the places of vague names; each module is parsed once."""
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts, vague = [], []
    for path in Path(next(iter(evenhand.__path__))).rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        texts += [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
        vague += [f"{path}:{line}: {name}" for line, name in names(nodes) if VAGUE.fullmatch(name)]
    return texts, vague


def test_docstrings_use_the_terms_of_the_field(wording):
    texts, _ = wording
    words = sum(len(re.findall(r"[A-Za-z]+", text)) for text in texts)
    dialect = sum(len(DIALECT.findall(text)) for text in texts)
    assert words > 10_000
    assert 10_000 * dialect / words < HIGHEST


def names(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield line and name of variables, parameters, functions and classes, but not of fields."""
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


def test_names_state_the_role_of_a_value(wording):
    assert wording[1] == []
