import csv
import io
import re
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.report.headline import PUBLISHED
from evenhand.report.known_errors import COLUMNS, KINDS, read_errors
from evenhand.report.words import words_of
from evenhand.stereotypes.tables.compat import COMPARED

ROW = dict(zip(COLUMNS, ["my-id", "legal", "paper", "W", "S", "R", "E", "`H`", "V"], strict=True))


def write(folder, *changes):
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


def test_what_evenhand_is_said_to_do_names_code_that_is_there(repository, known):
    library = repository / "workflow/evenhand"
    texts = [path.read_text(encoding="utf-8") for path in library.rglob("*.py")]
    texts.append((repository / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))
    code = set(re.findall(r"\w+", "\n".join(texts))) | {path.stem for path in library.rglob("*.py")}
    for row in known:
        for named in re.findall("`([^`]+)`", row["handled"]):
            assert set(re.findall(r"\w+", named)) <= code, (row["id"], named)


def test_what_evenhand_is_said_to_do_names_files_that_are_there(repository, known):
    for row in known:
        for named in re.findall(r"[\w/]+/\w+\.(?:py|csv)", row["handled"]):
            places = (repository / named, repository / "workflow/evenhand" / named)
            assert any(map(Path.is_file, places)), (row["id"], named)


def test_tables_and_methods_name_errors_that_are_there(repository, known):
    rows = [
        row
        for path in (repository / "resources").rglob("*.csv")
        if b"known_error" in path.read_bytes().split(b"\n", 1)[0]
        for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    ]
    named = {id for row in rows for id in row["known_error"].split()}
    named |= {id for method in COMPARED for id in method.known_error.split()}
    named |= set(words_of("problem_errors").values())
    assert len(named) > 8
    assert named <= {row["id"] for row in known}
    assert set(words_of("problem_errors")) <= set(words_of("problems"))


def test_what_is_right_and_what_follows_may_be_unknown(tmp_path):
    (row,) = read_errors(write(tmp_path, {"right": "", "effect": ""}))
    assert row["right"] == row["effect"] == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": "mine"}, r"errors.csv:2: the system is 'mine'; write one of slguset"),
        ({"kind": "mine"}, "the kind is 'mine'; write one of paper"),
        ({"id": "My id"}, "'My id' cannot be an anchor"),
        ({"id": "é"}, "cannot be an anchor"),
        ({"handled": "`open"}, "a backtick of handled has no end"),
        ({"says": ""}, "the cell of says is blank"),
    ],
)
def test_a_table_that_is_not_well_formed_is_an_error(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_errors(write(tmp_path, change))


def test_an_id_stands_there_once(tmp_path):
    with pytest.raises(InputError, match="says the same as line 2"):
        read_errors(write(tmp_path, {}, {"says": "T"}))
