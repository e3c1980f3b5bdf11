import json

import pytest

from evenhand.core.limits import DEPTH
from evenhand.io.json_parts import PIECE, read_parts
from evenhand.io.json_text import load, mend_pairs, reason_of


def parsed(text, size):
    pieces = [(1, text[i : i + size]) for i in range(0, len(text), size)]
    return [(list(values), problem) for values, problem in read_parts(pieces, text[:1], 9 * PIECE)]


@pytest.mark.parametrize("size", [97, 3 * PIECE])
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
    assert values == [] and problem[0] == "broken_json"


def test_what_is_beyond_a_limit_ends_the_reading_behind_what_came_before():
    deep = "[" * DEPTH + "1" + "]" * DEPTH
    brackets = json.dumps({"a": "[" * 1000 + '\\"{'})
    for text in (f'[{brackets}, {{"b": {deep}}}]', f'{brackets} {{"b": {deep}}}'):
        parts = parsed(text, 10**6)
        assert [value for values, _ in parts for value in values] == [json.loads(brackets)]
        assert parts[-1][1][0] == "too_deep"
    assert parsed(f'[{brackets}, {{"b": {deep[2:-2]}}}]', 10**6)[-1][1] is None
    *_, (_, problem) = parsed('[1, "' + "x" * 20 * PIECE, PIECE)
    assert problem[0] == "oversized_record"
    assert parsed('["' + "x" * 9 * PIECE + '"]', PIECE)[-1][1] is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 101 + "]" * 101, "too_deep"),
        ("[" * 40_000, "too_deep"),
        ("9" * 5000, "broken_json"),
        ('"\\ud800"', "broken_json"),
        ('{"\\udc00": 1}', "broken_json"),
        ("[1,", "broken_json"),
    ],
)
def test_values_that_are_not_read(text, reason):
    with pytest.raises(ValueError) as caught:
        load(text)
    assert reason_of(caught.value) == reason
    assert load("[" * 100 + "]" * 100)
    assert load('"' + "[{" * 200 + '"') == "[{" * 200


def test_halves_of_surrogate_pairs_are_replaced_one_by_one():
    text = '"\\ud83d\\ude00 \\ud800 \\\\ud800 \\uDC00\\ud83d"'
    mended, halves = mend_pairs(text)
    assert json.loads(mended) == "\U0001f600 \ufffd \\ud800 \ufffd\ufffd" and halves == 3
