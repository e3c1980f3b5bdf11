from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evenhand.errors import InputError
from evenhand.report.headline import (
    VERDICTS,
    Headline,
    Verdicts,
    by_kind,
    listed,
    name,
    places,
    reasons,
    tally,
    total,
    with_sources,
)

FILES = {"scores": "tables/*_scores.csv", "sets": "sets/*/pairs.json"}


def test_files_are_known_by_the_ends_of_their_paths():
    files = [
        Path("r/tables/b_scores.csv"),
        Path("r/sets/x/pairs.json"),
        Path("tables/a_scores.csv"),
    ]
    found = by_kind(files, FILES)
    assert found == {"scores": [files[0], files[2]], "sets": [files[1]]}
    assert by_kind([], FILES) == {"scores": [], "sets": []}


@pytest.mark.parametrize("file", ["tables/a.csv", "other/a_scores.csv", "sets/pairs.json"])
def test_a_file_of_no_kind_is_an_error(file):
    with pytest.raises(InputError, match="is no file that this headline is made of"):
        by_kind([Path(file)], FILES)


def test_verdicts_of_all_tables_come_to_the_same_words():
    words = ["reproduced", "not_reproduced", "differs", "not_given", "not_comparable"]
    words += ["", None, "undecided", "new"]
    assert tally(words) == {
        "reproduced": 1,
        "not_reproduced": 2,
        "not_run": 2,
        "doubtful": 2,
        "no_published_number": 2,
    }


@given(st.lists(st.sampled_from(["reproduced", "differs", "not_run", "", "a new one"])))
def test_no_verdict_is_lost(words):
    lines = [Verdicts("one", tally(words)), Verdicts("two", tally(words[:2]))]
    counts = total(lines)
    assert list(counts) == list(VERDICTS)
    assert sum(counts.values()) == len(words) + len(words[:2])


def test_lists_are_escaped_and_end():
    assert listed([]) == ""
    assert listed(["<a>", name("b&")]) == Markup("&lt;a&gt; and <bdi>b&amp;</bdi>")
    assert listed(list("abcd")) == "a, b, c and d"
    assert listed(list("abcde"), others="others of them") == "a, b, c and 2 others of them"


def test_a_sentence_knows_its_results_and_is_escaped():
    one = with_sources("a < b", ["tables/a.csv", "tables/b.csv", "tables/a.csv"])
    assert one == "a &lt; b" and one.files == ("tables/a.csv", "tables/b.csv")
    assert with_sources(Markup("<bdi>x</bdi>"), []) == "<bdi>x</bdi>"


def test_a_headline_names_each_result_once_as_the_page_goes():
    found = Headline(
        sentence=with_sources("One.", ["b"]),
        more=[with_sources("Two.", ["a", "b"]), "From nowhere."],
        figure_files=["d"],
        verdicts=[Verdicts("All", {}, files=["e", "a"])],
        doubts=[with_sources("Three.", ["c"])],
    )
    assert found.files == ["b", "a", "c", "d"]


def test_a_result_is_named_by_its_place_below_the_results(tmp_path):
    patterns = {"scores": "tables/*_scores.csv", "gates": "stereotypes/*/gates/*.json"}
    files = [tmp_path / "tables/one_scores.csv", tmp_path / "stereotypes/one/gates/m.json"]
    found = by_kind(files, patterns)
    assert places(found, patterns, "gates", "scores") == (
        "stereotypes/one/gates/m.json",
        "tables/one_scores.csv",
    )


def test_reasons_stand_by_how_many_there_are_and_then_by_name():
    counts = {"bad_label": 2, "no_facts": 1_500, "a<b": 2, "late": 1, "rare": 1}
    assert reasons(counts) == "no facts (1,500), a&lt;b (2), bad label (2) and 2 other reasons (2)"
    assert reasons({"bad_label": 1}) == "bad label (1)"
