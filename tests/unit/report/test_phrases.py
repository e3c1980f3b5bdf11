"""Sentences for readers are in templates and in one folder of sentences, not in Python."""

import ast
import re

import pytest

from evenhand.core.phrases import MACROS, PHRASES, SENTENCES
from evenhand.report.sections.stereotypes_words import gate_words
from evenhand.report.words import gate_meaning
from expected import FOLDER

LIBRARY = SENTENCES.parent

#: The rooms and modules with sentences for readers: reports, tables, and findings.
ROOMS = ["report", "text", "individual/tables", "stereotypes/tables", "slguset/tables"]
ROOMS += ["legal/case_tables", "legal/classifier_tables", "predictions/tables"]
MODULES = [path for room in ROOMS for path in sorted((LIBRARY / room).rglob("*.py"))]
#: And those with a catalogue of sentences.
MODULES += [LIBRARY / f"{path.stem.replace('.', '/')}.py" for path in SENTENCES.glob("*.jinja")]
MODULES = sorted(set(MODULES))

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


#: The codes of plugins and their meanings, and those of columns, are declared by their modules.
DECLARED = ("slguset/", "tabular/formats/", "certificates/problems/tables.py")


def test_no_module_has_a_table_of_codes_in_words():
    tables = [
        (str(path), node.lineno)
        for path in sorted(LIBRARY.rglob("*.py"))
        if not path.relative_to(LIBRARY).as_posix().startswith(DECLARED)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        if sentences(ast.unparse(node.value))
    ]
    assert tables == []


def test_every_file_of_sentences_is_of_a_module():
    for path in SENTENCES.iterdir():
        assert (LIBRARY / f"{path.stem.replace('.', '/')}.py").is_file() and path.suffix in (
            MACROS,
            PHRASES,
        )


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
    words = "Its next-{} accuracy is not significantly above the majority-class baseline."
    assert gate_meaning(word) == words.format("character")
    assert gate_words(f"{word}; new_one") == [words.format("token"), "new_one"]


#: The most words of a sentence.
LONGEST = 60


def test_no_sentence_is_too_long():
    files = [path for room in ("headlines", "pages", "cards") for path in FOLDER.glob(f"{room}/*")]
    texts = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(files) > 10
    for line in texts:
        if line.startswith(("figure", "|")):
            continue
        text = re.sub(r"<[^>]+>|\{(href|data)[^}]*\}|\btables/\S+", "", line)
        for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z0-9“●])", text):
            assert len(re.findall(r"\S*\w\S*", sentence)) <= LONGEST, sentence
