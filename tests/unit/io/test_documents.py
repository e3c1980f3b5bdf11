import pytest

from evenhand.errors import InputError
from evenhand.io.documents import read_description, write_json


def test_a_document_comes_back(tmp_path):
    write_json(tmp_path / "d.json", {"b": "妹妹", "a": [1, None]})
    text = (tmp_path / "d.json").read_text(encoding="utf-8")
    assert text == '{\n "b": "妹妹",\n "a": [\n  1,\n  null\n ]\n}\n'
    assert read_description(tmp_path / "d.json", {"a"}, "made") == {"b": "妹妹", "a": [1, None]}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_know_is_an_error(tmp_path, number):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "d.json", {"a": number})
    assert not (tmp_path / "d.json").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, "is not a description that prepare wrote") for text in ("{", "[]", "7")),
        ('{"a": 1}', "lacks b, which prepare writes"),
    ],
)
def test_what_is_no_description(tmp_path, text, problem):
    (tmp_path / "d.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"d\.json: {problem}; copy it again, or remove it"):
        read_description(tmp_path / "d.json", {"a", "b", "c"}, "prepare")
