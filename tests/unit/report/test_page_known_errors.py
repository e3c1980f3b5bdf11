"""The table of known errors, and its page."""

import re
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.report.headline import PUBLISHED
from evenhand.report.pages.known_errors import (
    COLUMNS,
    KINDS,
    code,
    first_sentence,
    read_errors,
)
from evenhand.report.words import WORDS
from evenhand.stereotypes.tables.compat import COMPARED
from unit.cases import read_csv
from unit.report import checks

ROW = dict(zip(COLUMNS, ["my-id", "legal", "paper", "W", "S", "R", "E", "`H`", "V"], strict=True))


def table(folder, *changes):
    path = folder / "errors.csv"
    lines = [",".join((ROW | change)[name] for name in COLUMNS) for change in changes]
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def known(repository):
    return read_errors(repository / "resources/known_errors.csv")


def test_every_system_and_kind_has_known_errors(known):
    assert {row["system"] for row in known} == set(PUBLISHED)
    assert {row["kind"] for row in known} == set(KINDS)


def test_the_handling_names_code_and_files_that_exist(repository, known):
    library = repository / "workflow/evenhand"
    texts = [path.read_text(encoding="utf-8") for path in library.rglob("*.py")]
    texts.append((repository / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))
    texts += [path.stem for path in library.rglob("*.py")]
    words = set(re.findall(r"\w+", "\n".join(texts)))
    for row in known:
        for name in re.findall("`([^`]+)`", row["handled"]):
            assert set(re.findall(r"\w+", name)) <= words, (row["id"], name)
        for name in re.findall(r"[\w/]+/\w+\.(?:py|csv)", row["handled"]):
            places = (repository / name, library / name)
            assert any(map(Path.is_file, places)), (row["id"], name)


def test_tables_and_methods_name_errors_that_exist(repository, known):
    rows = [
        row
        for path in (repository / "resources").rglob("*.csv")
        if b"known_error" in path.read_bytes().split(b"\n", 1)[0]
        for row in read_csv(path)
    ]
    named = {id for row in rows for id in row["known_error"].split()}
    named |= {id for method in COMPARED for id in method.known_error.split()}
    named |= set(WORDS["problem_errors"].values())
    assert len(named) > 8
    assert named <= {row["id"] for row in known}
    assert set(WORDS["problem_errors"]) <= set(WORDS["problems"])


def test_correction_and_effect_may_be_unknown(tmp_path):
    (row,) = read_errors(table(tmp_path, {"right": "", "effect": ""}))
    assert row["right"] == row["effect"] == ""


def test_the_index_has_the_first_sentence_of_a_correction():
    assert first_sentence("As of A. et al. 2021, 3. 4 stay. Then more.") == (
        "As of A. et al. 2021, 3. 4 stay."
    )
    assert first_sentence("One") == "One"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"system": "mine"}], r"errors.csv:2: the system is 'mine'; write one of slguset"),
        ([{"kind": "mine"}], "the kind is 'mine'; write one of paper"),
        ([{"id": "My id"}], "'My id' cannot be an anchor"),
        ([{"id": "é"}], "cannot be an anchor"),
        ([{"handled": "`open"}], "a backtick of handled has no end"),
        ([{"says": ""}], "the cell of says is blank"),
        ([{}, {"says": "T"}], "repeats line 2"),
    ],
)
def test_a_malformed_table_is_an_error(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_errors(table(tmp_path, *changes))


def test_the_style_can_choose_each_system_and_kind(write, repository, tmp_path):
    kinds = [*KINDS, "paper"]
    rows = [
        {"id": f"e{i}", "system": system, "kind": kinds[i]} for i, system in enumerate(PUBLISHED)
    ]
    tree = write("known_errors", [table(tmp_path, *rows)])
    style = (repository / "workflow/evenhand/report/templates/style.css").read_text()
    ids = {node.attributes["id"] for node in tree.css("fieldset input")}
    assert len(ids) == 9
    for id in ids - {"only-all", "kind-all"}:
        name = id.replace("only", "of").replace("kind", "is")
        assert f"main:has(#{id}:checked) .error:not(.{name}" in style
    for node in tree.css("article"):
        classes = {*node.attributes["class"].split()} - {"error"}
        chosen = {name.replace("of-", "only-").replace("is-", "kind-") for name in classes}
        assert len(chosen) == 2 and chosen <= ids


def test_words_between_backticks_are_code():
    assert code("a `b<c` d") == "a <code>b&lt;c</code> d"
    assert code("<a>\x00") == "&lt;a&gt;␀"


def test_the_delivered_table_can_be_shown(write, repository, known):
    tree = write("known_errors", [repository / "resources/known_errors.csv"])
    assert len(tree.css("article")) == len(known)
    checks.check_no_request(tree)
