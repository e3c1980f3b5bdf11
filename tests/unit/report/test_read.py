import pytest

from evenhand.errors import InputError
from evenhand.report.read import read_csv, read_json


def written(tmp_path, text: str):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_types_and_blanks(tmp_path):
    path = written(tmp_path, "a,b,d\n1,,x\n")
    columns = {"a": int, "b": float}
    assert read_csv(path, columns) == [{"a": 1, "b": None}]


def test_names_what_is_missing_or_wrong(tmp_path):
    with pytest.raises(InputError, match=r"t\.csv:1: lacks the column b"):
        read_csv(written(tmp_path, "a\n1\n"), {"a": int, "b": int})
    with pytest.raises(InputError, match=r"t\.csv:3: .*'x'"):
        read_csv(written(tmp_path, "a\n1\nx\n"), {"a": int})
    with pytest.raises(InputError, match="not JSON"):
        read_json(written(tmp_path, "{"))
