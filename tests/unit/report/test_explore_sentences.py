"""The data of sentences and pairs: what the page gets is what the results hold."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.explore_sentences import (
    BIAS_DIGITS,
    DIFFERENCE_DIGITS,
    describe_pairs,
    describe_sentences,
    explore_sentences,
)
from evenhand.report.explorer import cell
from evenhand.report.sentences import aligned
from unit.cases import read_csv
from unit.report import made_explorer
from unit.report.checks import HOSTILE, parse, sets_of

PAIRS = [
    ("The baker is kind.", "The baker is loud."),
    ("My aunt sings at night.", "My uncle sings at night."),
    ("He waits.", "She has waited."),
    ("The same.", "The same."),
]


@pytest.fixture
def rows():
    return made_explorer.sentence_rows(40)


def source(folder, rows, **more):
    return described(made_explorer.write_edition(folder, "slguset", rows, **more))


def described(given):
    scores = {path.stem: path for path in given["bias_scores"]}
    summary = next(iter(given["summaries"]), None)
    return describe_sentences("slguset", "Title", given["datasets"][0], summary, scores)


def pair_set(folder, models=None, **more):
    models = models or {"masked": ["aul", "cps"], "causal": ["log_likelihood"]}
    given = made_explorer.write_pairs(folder, "made", PAIRS, models, **more)
    scores, gates = ({path.stem: path for path in given[name]} for name in ("scores", "gates"))
    return describe_pairs(given["sets"][0], given["pairs"][0], scores, gates)


def answers(model, ask):
    column = next(one for one in model["columns"] if one["ask"] == ask)
    return [cell(column, i) for i in range(len(column["codes"]))]


def facts(data, name):
    column = next(one for one in data["columns"] if one["name"] == name)
    return [cell(column, i) for i in range(len(column["codes"]))]


def test_pieces_are_the_sentence_and_its_counterfactual(tmp_path, rows):
    data, _ = source(tmp_path, rows)
    assert data["language"] == "zh-Hans"
    for i, row in enumerate(rows):
        before, (word, other), after = data["text"][i]
        assert before + word + after == row["sentence"]
        assert word == row["surface"]
        assert before + other + after == row["swapped_sentence"]
        marks = cell(data["mark"], i)
        assert marks[0] == f"keyword {row['gender']}" != marks[1]


def test_numbers_are_those_of_the_scores(tmp_path, rows):
    data, _ = source(tmp_path, rows)
    assert [one["name"] for one in data["models"]] == ["one", "two"]
    for model in data["models"]:
        scores = pq.read_table(tmp_path / f"slguset/bias/{model['name']}.parquet")
        directions = answers(model, "lean")
        for i, bias in enumerate(scores["bias"].to_pylist()):
            value = model["measures"][0][i]
            if bias is None:
                assert value is None and directions[i] == ["none"]
                continue
            assert value == pytest.approx(bias, abs=0.5 / 10**BIAS_DIGITS)
            sides = {"plus": bias > 0.3, "minus": bias < -0.3, "between": abs(bias) <= 0.3,
                     "above": bias > 0, "below": bias < 0, "unknown": i == 2}  # fmt: skip
            assert set(directions[i]) == {"scored", *(name for name, on in sides.items() if on)}
        reasons = answers(model, "why")
        assert reasons[1] == ["it has more tokens than the model takes"]
        assert not any(reasons[:1] + reasons[2:])


def test_a_number_on_the_threshold_does_not_exceed_it(tmp_path, rows):
    given = made_explorer.write_edition(tmp_path, "slguset", rows, models=["one"])
    table = pq.read_table(given["bias_scores"][0]).to_pylist()
    for row, bias in zip(table, [0.3, -0.3, 0.3001], strict=False):
        row |= {"bias": bias, "excluded": None}
    pq.write_table(pa.Table.from_pylist(table), given["bias_scores"][0])
    model = described(given)[0]["models"][0]
    directions = [one[0] for one in answers(model, "lean")[:3]]
    assert directions == ["between", "between", "plus"]
    assert model["measures"][0][:3] == [0.3, -0.3, 0.3001]


def test_scores_are_joined_by_id_not_by_place(tmp_path, rows):
    given = made_explorer.write_edition(tmp_path, "slguset", rows, models=["one"])
    path = given["bias_scores"][0]
    table = pq.read_table(path)
    expected = described(given)[0]["models"][0]
    pq.write_table(table.slice(5), path)  # without the first five, and so all are shifted
    found = described(given)[0]["models"][0]
    assert found["measures"][0] == [None] * 5 + expected["measures"][0][5:]
    assert answers(found, "why")[:6] == [["it was not scored"]] * 5 + [[]]


def test_an_untrusted_model_gives_no_number(tmp_path, rows):
    data, notes = source(tmp_path, rows, untrusted=["two"])
    assert [one["name"] for one in data["models"]] == ["one"]
    assert len(notes) == 1 and "two has no number: Its accuracy" in notes[0]


def test_sentences_without_any_score_can_be_read(tmp_path, rows):
    given = made_explorer.write_edition(tmp_path, "slguset", rows)
    data, notes = described(given | {"summaries": []})
    assert (data["models"], notes) == ([], [])


def test_one_scale_for_all_models_of_a_method(tmp_path):
    data, _ = pair_set(tmp_path, {"one": ["aul", "cps"], "two": ["aul"]})
    reaches = {tuple(one["asks"].values()): one["reach"] for one in data["models"]}
    assert reaches["one", "aul"] == reaches["two", "aul"] != reaches["one", "cps"]
    sizes = [abs(v) for one in data["models"] if one["asks"]["method"] == "aul"
             for v in one["measures"][0] if v is not None]  # fmt: skip
    assert reaches["one", "aul"] in sizes


def test_a_difference_is_that_of_the_original_sentences(tmp_path):
    data, _ = pair_set(tmp_path)
    assert [one["name"] for one in data["models"]] == [
        "causal, Log-likelihood", "masked, AUL", "masked, CPS"]  # fmt: skip
    scores = pq.read_table(tmp_path / "stereotypes/made/scores/masked.parquet").to_pylist()
    known = {(row["pair_id"], row["side"]): row["aul"]
             for row in scores if row["variant"] == "original"}  # fmt: skip
    model = data["models"][1]
    for i, value in enumerate(model["measures"][0][:-1]):
        assert value == round(known[str(i), "more"] - known[str(i), "less"], DIFFERENCE_DIGITS)
    assert model["measures"][0][-1] is None
    assert answers(model, "why") == [[], [], [], ["both sentences are the same"]]
    assert [one for one, _ in model["columns"][0]["options"]] == [
        "plus", "minus", "between", "scored", "none", "unknown"]  # fmt: skip


def test_other_sentences_than_the_two_of_a_pair_do_not_count(tmp_path):
    expected, _ = pair_set(tmp_path)
    home = tmp_path / "stereotypes/made"
    for path in (home / "scores").iterdir():
        table = pq.read_table(path)
        unrelated = [row | {"side": "unrelated", "aul": 99.0} for row in table.to_pylist()[:2]]
        more = pa.Table.from_pylist(unrelated, table.schema)
        pq.write_table(pa.concat_tables([table, more]), path)
    stores, gates = ({p.stem: p for p in (home / name).iterdir()} for name in ("scores", "gates"))
    document, _ = describe_pairs(home / "pairs.json", home / "pairs.parquet", stores, gates)
    measures = [[model["measures"] for model in one["models"]] for one in (document, expected)]
    assert measures[0] == measures[1]


def test_a_pair_shows_its_flags_and_why_it_has_no_score(tmp_path):
    data, _ = pair_set(tmp_path)
    assert data["language"] == ""
    flags = facts(data, "Doubts")
    assert flags == [["the sentences differ in more than one place"], [], [], []]
    assert facts(data, "Not scored") == [[], [], [], ["both sentences are the same"]]
    assert "Context" not in [one["name"] for one in data["columns"]]  # no pair has one


def test_a_model_that_is_not_trusted_or_not_checked_has_no_difference(tmp_path):
    data, notes = pair_set(tmp_path, untrusted=["causal"])
    assert {one["asks"]["model"] for one in data["models"]} == {"masked"}
    assert [note.split()[2] for note in notes] == ["causal"]
    (tmp_path / "more").mkdir()
    given = made_explorer.write_pairs(tmp_path / "more", "made", PAIRS, {"one": ["aul"]})
    scores = {path.stem: path for path in given["scores"]}
    data, notes = describe_pairs(given["sets"][0], given["pairs"][0], scores, {})
    assert data["models"] == [] and "it was not checked" in notes[0]


@pytest.mark.parametrize(
    "without", [["datasets"], ["sets"], ["bias_scores"], ["summaries"], ["scores"]]
)
def test_renders_without(templates, tmp_path, without):
    given = made_explorer.write_results(tmp_path, HOSTILE)
    given = {name: value for name, value in given.items() if name not in without}
    out = tmp_path / "page.html"
    explore_sentences(templates=templates, out=out, tables_out=tmp_path / "t", **given)
    tree = parse(out)
    assert ("slguset" in sets_of(tree)) == ("datasets" not in without)
    assert ("stereotypes/made" in sets_of(tree)) == ("sets" not in without)
    assert "None" not in tree.css_first("main").text()


def test_numbers_are_columns_of_the_table(templates, tmp_path):
    given = made_explorer.write_results(tmp_path, HOSTILE)
    out = tmp_path / "page.html"
    explore_sentences(templates=templates, out=out, tables_out=tmp_path / "t", **given)
    for key, data in sets_of(parse(out)).items():
        table = read_csv(tmp_path / f"t/{key.replace('/', '_')}.csv")
        for model in data["models"]:
            cells = [row[model["name"]] for row in table]
            assert [float(one) if one else None for one in cells] == model["measures"][0]
        if key == "slguset":
            assert table[1]["Sentence"] == "埋在这里的女人捧着独一无二的记号。"
            assert table[1]["Counterfactual"] == "埋在这里的男人捧着独一无二的记号。"


def test_white_space_between_changed_words_is_changed_too():
    assert aligned("he was here", "she is here") == [
        ("", ""),
        ("he was", "she is"),
        (" here", " here"),
    ]


@given(st.text("ab 甲.", max_size=30), st.text("ab 甲.", max_size=30))
def test_aligned_parts_take_turns_and_joined_are_the_sentences(more, less):
    cut = aligned(more, less)
    assert ("".join(pair[0] for pair in cut), "".join(pair[1] for pair in cut)) == (more, less)
    for i, (one, other) in enumerate(cut):
        assert i % 2 or one == other
        assert not i or one or other
    assert len(cut) == 1 or more != less
