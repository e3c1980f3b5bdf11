import json

import pytest

from evenhand.io.json_parts import PIECE, is_object, read_parts


def parsed(text, size):
    pieces = [(1, text[i : i + size]) for i in range(0, len(text), size)]
    return [(list(values), problem) for values, problem, _ in read_parts(pieces, text[:1])]


@pytest.mark.parametrize("size", [1, 7, 3 * PIECE])
def test_values_come_as_soon_as_they_are_whole(size):
    made = [{"a": "她" * 5}, 1.5, {"b": ["x" * PIECE]}]
    for text in (json.dumps(made), "\n".join(map(json.dumps, made))):
        parts = parsed(text, size)
        assert [value for values, _ in parts for value in values] == made
        assert not any(problem for _, problem in parts)
        assert sum(bool(values) for values, _ in parts) > 1


def test_what_came_before_a_break_is_told_and_nothing_behind_it():
    *before, (values, problem) = parsed('[{"a": 1}, {"b": !}, {"c": 2}]', 1)
    assert [value for some, _ in before for value in some] == [{"a": 1}]
    assert not any(told for _, told in before)
    assert values == [] and problem


@pytest.mark.parametrize(
    ("line", "whether"), [("{}", True), ("[{}]", False), ("{", False), ('{"a":' * 10**5, False)]
)
def test_a_line_is_an_object_or_not(line, whether):
    assert is_object(line) == whether
