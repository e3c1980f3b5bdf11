import numpy as np
import pytest

from evenhand.core.csv_tables import write_rows


def written(tmp_path, row, form=".6f"):
    """The line that a row becomes."""
    assert write_rows(tmp_path / "t.csv", [*row], [row], form) == 1
    header, line = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert header == ",".join(row)
    return line


def test_cells(tmp_path):
    row = {"a": -1e-9, "b": float("nan"), "c": None, "d": True, "e": "x,y", "f": float("-inf")}
    assert written(tmp_path, row) == '0.000000,,,true,"x,y",'


def test_cells_of_numpy(tmp_path):
    row = {"a": np.float32(0.5), "b": np.bool_(False), "c": np.int64(7), "d": np.float64("nan")}
    assert written(tmp_path, row) == "0.500000,false,7,"


def test_another_form(tmp_path):
    row = {"a": 1 / 3, "b": -1e-9, "c": -0.0, "d": 2, "e": -0.5}
    assert written(tmp_path, row, ".8g") == "0.33333333,-1e-09,0,2,-0.5"


def test_a_column_that_a_row_lacks_is_blank_and_one_too_many_is_an_error(tmp_path):
    rows = [{"b": 1}, {"a": 2, "b": 3}]
    assert write_rows(tmp_path / "t.csv", ["a", "b"], rows) == 2
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "a,b\n,1\n2,3\n"
    with pytest.raises(ValueError, match="'c'"):
        write_rows(tmp_path / "t.csv", ["a", "b"], [{"c": 1}])
