"""Rows of broken CSV files: those that a slow reading finds, which goes back after each break."""

import csv
from collections import deque
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.io import csv_rows
from evenhand.io.csv_rows import OPEN, read_csv_rows

Rows = list[tuple[int, list[str] | str]]


def slowly(lines: list[str]) -> Rows:
    """Python's rows; after an error the line behind a row's first line begins the next one."""
    waiting = deque(enumerate(lines, 1))
    taken: list[tuple[int, str]] = []

    def given_out() -> Iterator[str]:
        while waiting:
            taken.append(waiting.popleft())
            yield taken[-1][1]

    found: Rows = []
    while waiting:
        taken.clear()
        try:
            found.append((waiting[0][0], next(csv.reader(given_out(), strict=True))))
        except csv.Error as error:
            found.append((taken[0][0], str(error).replace("unexpected end of data", OPEN)))
            waiting.extendleft(reversed(taken[1:]))
    return found


def quickly(lines: list[str], most: int = 10**6) -> Rows:
    found: Rows = []
    for row in read_csv_rows(
        enumerate(lines, 1), ",", most, lambda line, problem: found.append((line, problem))
    ):
        found.append(row)
    return found


@given(st.lists(st.text('a",\r', max_size=7).map(lambda line: line + "\n"), max_size=9))
def test_all_rows_and_breaks_are_those_of_a_slow_reading(lines: list[str]) -> None:
    assert quickly(lines) == slowly(lines)


def test_a_cell_without_end_costs_its_own_line_however_long_it_is() -> None:
    lines = ['a,"b\n', *["c,d\n"] * 20]
    assert quickly(lines) == [(1, OPEN)] + [(number, ["c", "d"]) for number in range(2, 22)]
    assert quickly(lines, most=30)[0] == (1, "a quoted cell longer than 30 characters")
    assert quickly(lines, most=30)[1:] == quickly(lines)[1:]


def test_a_cell_may_have_as_many_lines_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "RECORD_LINES", 3)
    assert quickly(['"a\n', *["\n"] * 3, 'b"\n']) == [(1, ["a\n\n\n\nb"])]
    assert isinstance(quickly(['"a\n', *["\n"] * 9, 'b"\n'])[0][1], str)
