import pytest

from evenhand.core import phrases
from evenhand.text.catalogue import conclusion, read_catalogue, verdict_words
from evenhand.text.phrases import listed


def test_names_are_listed_and_the_rest_is_counted():
    assert [listed(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(list("abcde"), 5) == "a, b, c, d and e"
    assert listed(list("abcdef"), 5) == "a, b, c, d, e and 1 other"
    assert listed(list("abcdefghijklm"), 5) == "a, b, c, d, e and 8 others"


def test_a_catalogue_fills_the_sentences_of_a_module(tmp_path, monkeypatch):
    monkeypatch.setattr(phrases, "SENTENCES", tmp_path)
    module = str(phrases.LIBRARY / "evenhand/room/words.py")
    fill = read_catalogue(module, loud=str.upper)
    page = read_catalogue(module, html=True, loud=str.upper)
    text = "{% macro of(name, n) %}{{ name|loud }}\n  has {{ n|fixed(1) }}. {% endmacro %}"
    (tmp_path / "room.words.jinja").write_text(text, encoding="utf-8")
    assert fill("of", "<b>", n=2) == "<B> has 2.0."
    assert page("of", "<b>", n=2) == "&lt;B&gt; has 2.0."


@pytest.mark.parametrize(
    ("verdict", "facts", "words"),
    [
        ("above", {}, "up"),
        ("below", {}, "down"),
        ("equivalent", {}, "No gap beyond ±5 points"),
        ("inconclusive", {}, "Undecided: too few pairs to show or exclude a gap"),
        ("inconclusive", {"power": float("nan")}, "Undecided: too few pairs to show or exclude"),
        (
            "inconclusive",
            {"power": 0.231},
            "Undecided: a gap of 5 points would be found with a probability of 23 %",
        ),
        ("inconclusive", {"power": 0.79, "further": 1}, "79 %; 1 more would make it 80 %"),
        ("inconclusive", {"power": 0.231, "further": 1200}, "23 %; 1,200 more pairs would make it"),
    ],
)
def test_a_verdict_in_words(verdict, facts, words):
    known = {"difference": "gap", "delta": "5 points", "above": "up", "below": "down"}
    assert words in conclusion(verdict, clusters="pairs", **known, **facts)
    assert verdict_words("inconclusive") == "undecided" and verdict_words("new") == ""
