"""The wording of docstrings: words of the former house dialect stay rare."""

import ast
import re
from pathlib import Path

import evenhand

DIALECT = re.compile(r"\b(what|said|told|says|tells|stands?|whom|nobody|theirs)\b", re.I)

#: Such words per 10,000 words of docstrings. Lower it with each room that is rewritten.
HIGHEST = 10


def test_docstrings_use_the_terms_of_the_field():
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts = [
        ast.get_docstring(node) or ""
        for path in Path(next(iter(evenhand.__path__))).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, documented)
    ]
    words = sum(len(re.findall(r"[A-Za-z]+", text)) for text in texts)
    dialect = sum(len(DIALECT.findall(text)) for text in texts)
    assert words > 10_000
    assert 10_000 * dialect / words < HIGHEST
