from evenhand.core.rows import grouped, where

ROWS = [{"a": 2, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_rows_are_grouped_in_their_order():
    assert list(grouped(ROWS, "a")) == [2, 1]
    assert grouped(ROWS, "a")[2] == [ROWS[0], ROWS[2]]
    assert grouped(ROWS, "a", "b") == {(2, "x"): ROWS[:1], (1, "x"): ROWS[1:2], (2, "y"): ROWS[2:]}
    assert grouped([], "a") == {}


def test_rows_are_chosen_by_all_of_their_cells():
    assert where(ROWS, a=2) == [ROWS[0], ROWS[2]]
    assert where(ROWS, a=2, b="y") == ROWS[2:]
    assert where(ROWS, b=None) == []
