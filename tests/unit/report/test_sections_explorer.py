"""The explorer's data: what the script gets is what the tables hold."""

import json

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.render import visible
from evenhand.report.sections.explorer import (
    BIAS_DIGITS,
    DIFFERENCE_DIGITS,
    SHOWN,
    alternating,
    coded,
    describe_pairs,
    describe_sentences,
    integers,
)
from evenhand.report.sections.stereotypes_examples import difference_pieces
from unit.report import made_explorer

PAIRS = [
    ("The baker is kind.", "The baker is loud."),
    ("My aunt sings at night.", "My uncle sings at night."),
    ("He waits.", "She has waited."),
    ("The same.", "The same."),
]


@pytest.fixture
def rows():
    return made_explorer.sentence_rows(40)


def edition(folder, rows, **more):
    given = made_explorer.write_edition(folder, "slguset", rows, **more)
    return describe_sentences(
        "slguset", "Title", given["dataset"], given["bias"], given["bias_scores"]
    )


def pair_set(folder, models=None, **more):
    models = models or {"masked": ["aul", "cps"], "causal": ["log_likelihood"]}
    given = made_explorer.write_pairs(folder, "made", PAIRS, models, **more)
    return describe_pairs(
        given["sets"][0],
        given["pairs"][0],
        {path.stem: path for path in given["scores"]},
        {path.stem: path for path in given["gates"]},
    )


def test_pieces_are_the_sentence_and_its_swapped_form(tmp_path, rows):
    data = edition(tmp_path, rows)["data"]
    swap = data["swap"]
    for i, row in enumerate(rows):
        pieces = data["text"][i]
        assert "".join(pieces) == row["sentence"]
        assert pieces[1] == row["surface"]
        word = swap["values"][swap["codes"][i]]
        assert pieces[0] + word + pieces[2] == row["swapped_sentence"]
        kinds = data["mark"]["values"][data["mark"]["codes"][i]]
        assert kinds[0] == f"keyword {row['gender']}"
        assert kinds[0] != kinds[1]


def test_numbers_are_those_of_the_scores(tmp_path, rows):
    data = edition(tmp_path, rows)["data"]
    for measure in data["measures"]:
        scores = pq.read_table(tmp_path / f"slguset/bias/{measure['model']}.parquet")
        for value, bias in zip(measure["values"], scores["bias"].to_pylist(), strict=True):
            assert (value is None) == (bias is None)
            if bias is not None:
                assert value / 10**BIAS_DIGITS == pytest.approx(bias, abs=0.5 / 10**BIAS_DIGITS)
        assert measure["why"] == {"it has more tokens than the model takes": [1]}
        assert measure["unknown"] == [2]


def test_scores_are_joined_by_id_not_by_place(tmp_path, rows):
    given = made_explorer.write_edition(tmp_path, "slguset", rows, models=["one"])
    path = given["bias_scores"][0]
    table = pq.read_table(path)
    expected = describe_sentences("slguset", "", *list(given.values()))["data"]["measures"][0]
    pq.write_table(table.slice(5), path)  # without the first five, and so all are shifted
    found = describe_sentences("slguset", "", *list(given.values()))["data"]["measures"][0]
    assert found["values"][5:] == expected["values"][5:]
    assert found["values"][:5] == [None] * 5
    assert found["why"] == {"it was not scored": [0, 1, 2, 3, 4]}


def test_an_untrusted_model_gives_no_number(tmp_path, rows):
    described = edition(tmp_path, rows, untrusted=["two"])
    assert described["models"] == ["one"]
    assert [one["model"] for one in described["untrusted"]] == ["two"]
    assert "fills in" in described["untrusted"][0]["why"][0]
    assert "two" not in json.dumps(described["data"]["measures"])


def test_sentences_without_any_score_can_be_read(tmp_path, rows):
    given = made_explorer.write_edition(tmp_path, "slguset", rows)
    described = describe_sentences("slguset", "Title", given["dataset"], None)
    assert described["data"]["measures"] == []
    assert [row["id"] for row in described["shown"]["rows"]] == [
        row["sentence_id"] for row in rows[:SHOWN]
    ]
    assert describe_sentences("slguset", "Title", None, None) is None


def test_the_rows_shown_without_script_are_the_furthest_from_zero(tmp_path, rows):
    described = edition(tmp_path, rows)
    values = described["data"]["measures"][0]["values"]
    shown = [abs(row["value"]) for row in described["shown"]["rows"]]
    known = sorted((abs(value) for value in values if value is not None), reverse=True)
    assert shown == [value / 10**BIAS_DIGITS for value in known[:SHOWN]]


def test_one_scale_for_all_models_of_a_method(tmp_path):
    data = pair_set(tmp_path, {"one": ["aul", "cps"], "two": ["aul"]})["data"]
    reaches = {(one["model"], one["method"]): one["reach"] for one in data["measures"]}
    assert reaches["one", "AUL"] == reaches["two", "AUL"]
    sizes = [abs(v) for one in data["measures"] if one["method"] == "AUL"
             for v in one["values"] if v is not None]  # fmt: skip
    assert reaches["one", "AUL"] in sizes


def test_a_difference_is_that_of_the_original_sentences(tmp_path):
    data = pair_set(tmp_path)["data"]
    assert [one["name"] for one in data["measures"]] == [
        "causal, Log-likelihood", "masked, AUL", "masked, CPS"]  # fmt: skip
    scores = pq.read_table(tmp_path / "stereotypes/made/scores/masked.parquet").to_pylist()
    known = {(row["pair_id"], row["side"]): row["aul"]
             for row in scores if row["variant"] == "original"}  # fmt: skip
    for i, value in enumerate(data["measures"][1]["values"][:-1]):
        expected = known[str(i), "more"] - known[str(i), "less"]
        assert value == round(expected * 10**DIFFERENCE_DIGITS)
    assert data["measures"][1]["values"][-1] is None
    assert data["measures"][1]["why"] == {"both sentences are the same": [3]}


def test_a_pair_shows_its_doubts_and_why_it_has_no_score(tmp_path):
    facts = {one["name"]: one for one in pair_set(tmp_path)["data"]["facts"]}
    told = {name: [one["values"][code] for code in one["codes"]] for name, one in facts.items()}
    assert told["Doubts"][0] == "the sentences differ in more than one place"
    assert told["Doubts"][1] is None
    assert told["Not scored"] == [None, None, None, "both sentences are the same"]
    assert "Context" not in facts  # no pair has one


def test_a_model_that_is_not_trusted_or_not_checked_has_no_difference(tmp_path):
    described = pair_set(tmp_path, untrusted=["causal"])
    assert described["models"] == ["masked"]
    assert [one["model"] for one in described["untrusted"]] == ["causal"]
    (tmp_path / "more").mkdir()
    given = made_explorer.write_pairs(tmp_path / "more", "made", PAIRS, {"one": ["aul"]})
    scores = {path.stem: path for path in given["scores"]}
    described = describe_pairs(given["sets"][0], given["pairs"][0], scores, {})
    assert described["data"]["measures"] == []


@given(st.text(max_size=30), st.text(max_size=30))
def test_pieces_take_turns_and_joined_are_the_sentences(more, less):
    for text, pieces in zip((more, less), difference_pieces(more, less), strict=True):
        turns = alternating(pieces)
        assert "".join(turns) == visible(text)
        marked = [visible(piece.text) for piece in pieces if piece.kind]
        assert turns[1::2] == marked


@given(st.lists(st.one_of(st.none(), st.text(max_size=3))))
def test_a_coded_column_is_the_column(values):
    column = coded(values)
    shown = [value if value is None else visible(value) for value in values]
    assert len(column["values"]) == len(set(values))
    assert [column["values"][code] for code in column["codes"]] == shown


@given(st.floats(-1e6, 1e6))
def test_an_integer_is_the_number_to_its_digits(value):
    assert integers([value], 3)[0] / 1000 == pytest.approx(value, abs=0.000501)


def test_what_is_no_number_is_none():
    assert integers([None, float("nan"), float("inf")], 3) == [None, None, None]


@given(st.floats(-2, 2), st.floats(0, 1))
def test_rounding_moves_no_number_over_an_edge(value, edge):
    (whole,) = integers([value], 3, (-edge, 0.0, edge))
    for border in (-edge * 10**3, 0.0, edge * 10**3):
        assert (whole > border, whole < border) == (value * 10**3 > border, value * 10**3 < border)
    assert whole == pytest.approx(value * 10**3, abs=0.501)


def test_a_number_on_the_threshold_is_not_beyond_it():
    found = integers([0.3, 0.3004, 0.2996, -0.0001, 0.31], 3, (-0.3, 0.0, 0.3))
    assert found == pytest.approx([300, 300.4, 299.6, -0.1, 310])
    assert [value > 300 for value in found] == [False, True, False, False, True]
