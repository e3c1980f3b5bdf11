from pathlib import Path

from markupsafe import Markup

from evenhand.report.headline import (
    VERDICTS,
    Headline,
    Verdicts,
    listed,
    name,
    say,
    tally,
    total,
    with_sources,
)
from evenhand.report.study import Study


def test_files_are_found_by_the_ends_of_their_paths():
    scores = [Path("r/tables/b_scores.csv"), Path("tables/a_scores.csv")]
    files = [scores[0], Path("r/sets/x/pairs.json"), scores[1], Path("r/tables/x/y")]
    study = Study(files)
    assert study.paths("tables/*_scores.csv") == scores and study.path("sets/*/pairs.json")
    places = ("sets/x/pairs.json", "tables/x/y/t.csv")
    assert study.places("sets/*/pairs.json", "tables/x/*/t.csv", "tables/z/t.csv") == places
    assert Study([]).path("sets/*/pairs.json") is None


def test_verdicts_of_all_tables_are_counted_in_the_same_words():
    words = ["reproduced", "not_reproduced", "differs", "not_given", "not_comparable"]
    words += ["", None, "undecided", "new"]
    counts = tally(words)
    assert counts == {
        "reproduced": 1,
        "not_reproduced": 2,
        "not_run": 2,
        "doubtful": 2,
    }
    sums = total([Verdicts("a", counts), Verdicts("b", tally(words[:2]))])
    assert list(sums) == list(VERDICTS)
    assert sums == counts | {"reproduced": 2, "not_reproduced": 3}


def test_lists_are_escaped_and_end():
    assert listed([]) == ""
    assert listed(["<a>", name("b&")]) == Markup("&lt;a&gt; and <bdi>b&amp;</bdi>")
    assert listed(list("abcd")) == "a, b, c and d"
    assert listed(list("abcde"), others="others of them") == "a, b, c and 2 others of them"


def test_statements_and_headlines_name_each_result_once():
    statement = with_sources("a < b", ["b", "a", "b"])
    assert statement == "a &lt; b" and statement.files == ("b", "a")
    assert with_sources(Markup("<bdi>x</bdi>"), []) == "<bdi>x</bdi>"
    headline = Headline(
        sentence=with_sources("First.", ["b"]),
        more=[statement, "Without a source."],
        figure_files=["d"],
        verdicts=[Verdicts("All", {}, files=["e", "a"])],
        doubts=[with_sources("Third.", ["c"])],
    )
    assert headline.files == ["b", "a", "c", "d"]


def test_reasons_are_ordered_by_number_and_name():
    counts = {"bad_label": 2, "no_facts": 1_500, "a<b": 2, "late": 1, "rare": 1}
    words = "no facts (1,500), a&lt;b (2), bad label (2), late (1)"
    assert say("reasons", counts=counts) == f"{words} and rare (1)"
    more = dict.fromkeys(["s", "t", "u", "v"], 1)
    words = f"{words}, rare (1), s (1), t (1) and 2 other reasons (2)"
    assert say("reasons", counts=counts | more) == words
    counts.pop("late")
    assert "other reasons" not in say("reasons", counts=counts | more)
    assert say("reasons", counts={"bad_label": 1}) == "bad label (1)"
    places = {"bad_label": "line 3 of a.csv"}
    assert "(1, first <bdi>line 3 of a.csv</bdi>)" in say(
        "reasons", counts={"bad_label": 1}, places=places
    )
