"""Sentences for readers are in templates and in catalogues (`*.jinja`), not in Python."""

import ast
import re
from pathlib import Path

import pytest

from evenhand.report import page_list
from evenhand.report.sections.stereotypes_words import gate_words
from evenhand.report.words import gate_meaning

LIBRARY = Path(page_list.__file__).parents[1]

#: The rooms and modules with sentences for readers: reports, tables, and findings.
ROOMS = ["report", "text", "individual/tables", "stereotypes/tables", "slguset/tables"]
ROOMS += ["legal/case_tables", "legal/classifier_tables", "predictions/tables"]
MODULES = [path for room in ROOMS for path in sorted((LIBRARY / room).rglob("*.py"))]
MODULES += [path.with_suffix(".py") for path in sorted(LIBRARY.rglob("*.jinja"))]
MODULES = sorted({path for path in MODULES if path.is_file()})

#: Six words in a row, or three before a full stop. A field of an f-string counts as a word.
SENTENCE = re.compile(
    r"([A-Za-z’'{}-]+[,:;]?\s+){5}[A-Za-z’'{}-]+|(\S+\s+){2,}\S+(?<!\bal)\.(?=\s|$)"
)

#: The parts of errors, which are for those who run the program.
ERRORS = {"problem", "remedy"}

#: What declares tables and their columns, whose titles and meanings are documentation; and prints.
ELSEWHERE = {"Table", "text", "number", "percent", "share", "integer", "flag", "print"}


def _left_out(tree):
    """Yield the nodes of docstrings, errors, declared tables, and parts of f-strings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value
        if isinstance(node, ast.JoinedStr):
            yield from node.values
        names = {getattr(target, "id", "") for target in getattr(node, "targets", ())}
        names |= {getattr(node, "arg", "")}
        called = getattr(getattr(node, "func", None), "id", "")
        if called in ELSEWHERE or isinstance(node, ast.Raise) or names & ERRORS:
            yield from ast.walk(node)


def sentences(code: str) -> list[str]:
    """Return the sentences among the strings of a module."""
    tree = ast.parse(code)
    left_out = set(map(id, _left_out(tree)))
    texts = []
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        parts = [getattr(part, "value", None) for part in parts if isinstance(part, ast.expr)]
        texts.append("".join(part if isinstance(part, str) else "{}" for part in parts))
    return [text for text in texts if SENTENCE.search(text)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_no_module_has_a_sentence(path):
    assert sentences(path.read_text(encoding="utf-8")) == []


def test_a_sentence_is_recognised():
    code = '"""What it does for its reader."""\n' + "\n".join(
        [
            "a = 'Its scores are missing.'",
            "b = f'{n} cases are not on this page'",
            "c = 'Scores by objective'",
            "d = 'datum.value == 0 ? 1 : format(datum.value)'",
            "raise Error('it is not what it has to be', remedy=f'name {x} as it is called here')",
        ]
    )
    assert sentences(code) == ["Its scores are missing.", "{} cases are not on this page"]


def test_a_failed_check_is_worded_by_what_the_model_predicts():
    word = "next_token_not_above_baseline"
    words = "Its next-{} accuracy is not above the majority-class baseline."
    assert gate_meaning(word) == words.format("character")
    assert gate_words(f"{word}; new_one") == [words.format("token"), "new_one"]
