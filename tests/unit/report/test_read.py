import pytest

from evenhand.errors import InputError
from evenhand.report.read import read_json


def test_names_a_broken_document(tmp_path):
    path = tmp_path / "d.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_json(path)
