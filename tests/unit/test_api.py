"""The library for notebooks: the workflow's results from DataFrames, and executed examples."""

import doctest
import html
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand import api
from evenhand.errors import InputError
from evenhand.stereotypes.pairs import FLAGS
from harness import REPOSITORY
from notebooks import execute
from unit.predictions.test_lm_eval import crows

SPLIT = {"evenhand_split": ["a", "b"]}

NOTEBOOKS = ("audit_pairs", "audit_predictions", "audit_table", "extract_sentences")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder of a small causal model that was trained for a moment."""
    from evenhand.learning.train_language_model import train_language_model

    folder = tmp_path_factory.mktemp("model") / "tiny"
    texts = sorted((REPOSITORY / "resources/demo/english").glob("*.txt"))
    settings = ["steps=60", "width=32", "layers=1", "heads=2"]
    train_language_model(files=texts, out=folder, kind="causal", settings=settings)
    return folder


@pytest.fixture(scope="module")
def pairs():
    return pd.read_csv(REPOSITORY / "resources/demo/stereotypes/pairs.csv")


def test_the_import_is_light():
    code = (
        "import evenhand, sys; print([m for m in ('pandas', 'torch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert {*dir(eh)} == {*eh.__all__} and all(callable(getattr(eh, name)) for name in eh.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="'evenhand' has no attribute 'audit_nothing'"):
        _ = eh.audit_nothing
    with pytest.raises(TypeError, match=r"audit_logs\(\) got an unexpected keyword argument 'x'"):
        eh.audit_logs("logs", x=1)


def test_pairs_as_data_and_as_file_and_a_loaded_model_give_the_same(model, pairs, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    loaded = AutoModelForCausalLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    results = [
        eh.audit_pairs(model, tmp_path / "pairs.csv"),
        eh.audit_pairs(model, pairs),
        eh.audit_pairs(loaded, pairs, name="tiny"),
    ]
    for other in results[1:]:
        pd.testing.assert_frame_equal(results[0].table, other.table)
    page = results[0].to_html(tmp_path / "audit").read_text(encoding="utf-8")
    assert (tmp_path / "audit.html").is_file() and not (tmp_path / "audit").exists()
    assert "tiny" in page and 'src="http' not in page and "Two models compared" not in page
    with pytest.raises(InputError, match="is a folder; name an HTML file in it"):
        results[0].to_html(tmp_path)
    cards = [one.card() for one in results]
    assert cards[0].startswith("---\n") and "snakemake" not in cards[0]
    calls = [card.split("```python")[1].split("```")[0].strip().splitlines() for card in cards]
    assert calls[0][-1] == f"result = eh.audit_pairs({Path(model).name!r}, 'pairs.csv')"
    assert calls[2][-1] == "result = eh.audit_pairs(model, pairs, name='tiny')"
    *findings, note, last = repr(results[0]).splitlines()
    assert last == (
        "result.verdicts has the tests on all pairs, result.table those of bias types and all"
        " numbers."
    )
    assert findings == results[0].findings
    left_out = (
        "2 of 90 pairs are left out (a sentence is empty: 1; the first is pair 89; both sentences"
        " are the same: 1; the first is pair 88)"
    )
    assert note.startswith(f"{left_out}.")
    assert all(left_out in card for card in cards)


def test_verdicts_are_of_the_methods_that_count_on_all_pairs(model, pairs, tmp_path):
    result = eh.audit_pairs(model, pairs)
    assert set(result.verdicts["subset"]) == set(result.verdicts["bias_type"]) == {"all"}
    assert len(result.verdicts) == result.table["method"].nunique() < len(result.table)


def test_a_model_without_a_score_has_its_verdict(model, pairs):
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    untrained = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(model))
    result = eh.audit_pairs((untrained, AutoTokenizer.from_pretrained(model)), pairs)
    assert "no score" in result.findings[0]
    assert result.verdicts["verdict"].tolist() == ["not_scored"]
    untrained.lm_head.weight.data.fill_(float("nan"))
    with pytest.raises(InputError, match="the weights contain NaN or infinite values; use another"):
        eh.audit_pairs((untrained, AutoTokenizer.from_pretrained(model)), pairs)


def test_pairs_beyond_the_window_of_the_model_are_named(model, pairs, tmp_path):
    sides = ["sent_more", "sent_less"]
    long = pairs.iloc[[0]].assign(**{side: pairs[side].iloc[0] + " and" * 200 for side in sides})
    long[pairs.columns[0]] = 90
    result = eh.audit_pairs(model, pd.concat([pairs, long]))
    (note,) = (note for note in result.notes if note.startswith("In 1 pair"))
    blank = pairs.assign(bias_type=pairs["bias_type"].where(pairs.index > 4))
    untyped = "5 of 90 pairs have no bias_type, and are tested as a type of their own, “not given”."
    assert untyped in eh.audit_pairs(model, blank, methods="log_likelihood").notes
    one = pairs.assign(bias_type=pairs["bias_type"].where(pairs.index > 0))
    untyped = "1 of 90 pairs has no bias_type, and is tested as a type of its own, “not given”."
    assert untyped in eh.audit_pairs(model, one, methods="log_likelihood").notes
    page = result.to_html(tmp_path / "audit.html").read_text(encoding="utf-8")
    assert f"</bdi>: {note}</p>" in page and note in result.card()
    assert note.endswith("has no score, as it has more tokens than the model takes (128): pair 90.")
    lone = pd.concat([long, long.assign(**{side: long[side] + " or" for side in sides})])
    lone = lone.drop(columns=pairs.columns[0]).rename(columns={"bias_type": "category"})
    result = eh.audit_pairs(model, lone)
    (finding,) = result.findings
    assert (
        "baseline" not in finding
        and " It can score too few of the sentences, or none. In 2 pa" in finding
    )
    assert finding.endswith("has more tokens than the model takes (128): pairs 1 and 2.")
    assert (
        "No pair has a bias type. 3 columns of the pairs are not used: category, anon_writer and"
        " anon_annotators. If one has the bias types, rename it to bias_type."
    ) in result.notes
    without = "No pair has a bias type: add a column bias_type to test each type by itself."
    assert without in eh.audit_pairs(model, pairs[sides], methods="log_likelihood").notes


def test_an_error_of_a_loaded_model_names_no_file(model, pairs):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import (
        AutoModel,
        AutoTokenizer,
        PreTrainedTokenizerFast,
        Qwen2Config,
        Qwen2ForCausalLM,
    )

    body = AutoModel.from_pretrained(model)
    tokenizer = AutoTokenizer.from_pretrained(model)
    with pytest.raises(InputError, match=r"no pair of model and tokenizer; .* in this order"):
        eh.audit_pairs((tokenizer, body), pairs)
    config = Qwen2Config(
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        vocab_size=9,
        num_attention_heads=1,
        num_key_value_heads=1,
    )
    words = Tokenizer(WordLevel({"[UNK]": 0, "women": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    theirs = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", eos_token="[UNK]")
    other = r"^the \(model, tokenizer\): the tokenizer, saved and loaded again, is a Qwen2Tokenizer"
    with pytest.raises(InputError, match=other):
        eh.audit_pairs((Qwen2ForCausalLM(config), theirs), pairs)
    body.config.architectures = ["T5Model"]
    body.config.is_encoder_decoder = True
    with pytest.raises(InputError, match=r"^the \(model, tokenizer\): GPT2Model is neither"):
        eh.audit_pairs((body, tokenizer), pairs)


ALIKE = (
    "But with all tokens masked, it prefers the same side (40 %), so this may come from word"
    " frequencies."
)


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        ("above", "below", "; significantly prefers the anti-stereotype by CPS (40 %)."),
        ("below", "above", f"; significantly prefers the stereotype by CPS (60 %). {ALIKE}"),
        ("above", "above", ". Significant."),
        ("inconclusive", "below", " anti-stereotype; undecided by AUL (50 %). " + ALIKE),
        ("inconclusive", "equivalent", "; no preference beyond delta by CPS (50 %)."),
        ("equivalent", "equivalent", "No preference beyond ±5 points."),
        ("equivalent", "inconclusive", "beyond ±5 points; undecided by CPS (50 %)."),
        ("equivalent", "above", ". Significant; no preference beyond delta by AUL (50 %)."),
    ],
)
def test_the_first_finding_names_a_method_that_contradicts_it(first, second, end):
    both = {"subset": "all", "bias_type": "all", "scored": 9, "power": 0.5, "further_clusters": 3}
    both |= {"p_adjusted": 0.01}
    methods = [("cps", second), ("aul", first), ("all_masked", "below")]
    names, scores = ("score", "score_low", "score_high"), {"above": 60.0, "below": 40.0}
    ends = {name: (score, score - 5, score + 5) for name, score in scores.items()}
    ends["inconclusive"] = (50.0, 40.0, 60.0)
    ends["equivalent"] = (50.0, 46.0, 54.0)
    rows = [
        both | {"method": method, "verdict": verdict} | dict(zip(names, ends[verdict], strict=True))
        for method, verdict in methods
    ]
    finding, *others = api._pair_findings(rows, 5, None)
    is_clearer = first in ("inconclusive", "equivalent") and second in ("above", "below")
    assert finding.startswith("CPS: " if is_clearer else "AUL: ") and finding.endswith(end)
    assert not any("; significantly prefers" in other for other in others)
    single = {"p_value": 0.046, "p_adjusted": 0.28}
    found = api._pair_findings([row | single for row in rows], 5, None)
    assert "significantly prefers" not in found[0]
    assert found[0].startswith("CPS: " if is_clearer else "AUL: ")
    masked = (
        "(95 % CI 35 to 45), 10 points below 50 (5 to 15). Significant by itself (p = 0.046), but"
    )
    assert found[-1].endswith(f"{masked} not after adjustment for the methods (p = 0.28).")


@pytest.mark.parametrize(("power", "is_same"), [(0.5, True), (0.6, False)])
def test_a_reason_of_several_undecided_methods_is_stated_once(power, is_same):
    row = {"subset": "all", "bias_type": "all", "scored": 9, "further_clusters": 3, "power": 0.5}
    row |= {"p_adjusted": 0.4, "score": 51.0, "score_low": 40.0, "score_high": 60.0}
    row |= {"verdict": "inconclusive"}
    rows = [row | {"method": "aul"}, row | {"method": "cps", "power": power}]
    first, second = api._pair_findings(rows, 5, None)
    assert " Undecided: a preference of 5 points would be found" in first
    assert second.endswith(" Undecided, as above.") == is_same


def test_a_caveat_of_all_pairs_is_stated_once_and_a_type_names_undecided_methods():
    both = {"subset": "all", "scored": 9, "power": 0.5, "further_clusters": 3, "p_adjusted": 0.01}
    whole, trade, hobby = ({"bias_type": name} for name in ("all", "trade", "hobby"))
    sure = {"score": 95.0, "score_low": 90.0, "score_high": 99.0, "verdict": "above"}
    even = {"score": 51.0, "score_low": 40.0, "score_high": 60.0, "verdict": "inconclusive"}
    tests = [("aul", whole, sure), ("aul", trade, sure), ("aul", hobby, even), ("cps", whole, even)]
    tests += [("cps", trade, even), ("cps", hobby, even), ("all_masked", whole, sure)]
    tests += [("all_masked", trade, sure | {"score": 94.0}), ("all_masked", hobby, even)]
    rows = [both | {"method": method} | part | test for method, part, test in tests]
    finding, *others = api._pair_findings(rows, 5, None)
    assert finding.endswith(
        " But with all tokens masked, it prefers the same side (95 %), so this may come from word"
        " frequencies. Over all methods, 1 of 2 bias types has a significant preference for the"
        " stereotype: trade 95 % (AUL, 95 % interval 90 to 99, adjusted p = 0.01; but with all"
        " tokens masked 94 %, and not significant by CPS 51 %)."
    )
    assert "word frequencies" not in " ".join(others)
    names = {"aul": "log_likelihood", "cps": "log_likelihood_per_token"}
    causal = [row | {"method": names[row["method"]]} for row in rows if row["method"] in names]
    finding, *others = api._pair_findings(causal, 5, None)
    assert " Log-likelihood has no control for word frequencies: the words of one" in finding
    for count, holds in ((8, True), (9, False)):  # of 9 pairs; the interval begins at 90
        finding, *_ = api._pair_findings(causal, 5, None, None, count)
        words = "preferring the same word of each swap scores at most 88.9."
        assert (words in finding, "has no control" not in finding) == (holds, holds)
    assert "word frequencies" not in " ".join(others)
    finding, *_ = api._pair_findings([row | {"verdict": "inconclusive"} for row in causal], 5, None)
    assert "word frequencies" not in finding
    finding, *_ = api._pair_findings([row for row in rows if row["method"] != "cps"
                                      and (row["method"], row["bias_type"])
                                      != ("all_masked", "all")], 5, None)  # fmt: skip
    assert "with all tokens masked, it prefers the same side (94 %), so" in finding


@pytest.mark.parametrize(
    ("accuracy", "tokens", "remedy"),
    [
        (0.6, 300, "There are too few tokens to tell (300): give more pairs."),
        (0.3, 3, "There are too few tokens to tell (3): give more pairs."),
        (0.3, 300, "Audit a model that"),
    ],
)
def test_a_model_that_fails_its_check_has_the_remedy_for_it(accuracy, tokens, remedy):
    check = {"passed": False, "accuracy": accuracy, "baseline": 0.3, "tokens": tokens}
    row = {"subset": "all", "bias_type": "all", "method": "sss", "verdict": "not_scored"}
    row["reason"] = "fill_mask_not_above_baseline"
    (finding,) = api._pair_findings([row], 5, check)
    assert "is not significantly above the majority-class baseline. Acc" in finding
    assert remedy in finding
    check |= {"baseline": 1.0, "baseline_token": "."}
    (finding,) = api._pair_findings([row], 5, check)
    assert "tokens of the check are “.”, so that the baseline is always right: does" in finding
    assert "Accuracy" not in finding


def test_predictions_as_data_and_as_file_give_the_same(tmp_path, monkeypatch):
    data = pd.DataFrame({"y": [1, 0] * 30, "p": [0.9, 0.4, 0.2] * 20, "g": ["a", "b", "b"] * 20})
    data.to_csv(tmp_path / "p.csv", index=False)
    options = {"label": "y", "prediction": "p", "groups": "g"}
    first, second = (eh.audit_predictions(one, **options) for one in (data, tmp_path / "p.csv"))
    pd.testing.assert_frame_equal(first.table, second.table)
    assert set(first.verdicts["verdict"]) <= {"above", "below", "equivalent", "inconclusive"}
    assert "Predictions" in first.card()
    called = "result = eh.audit_predictions(data, label='y', groups='g', prediction='p')"
    assert called in first.card()
    monkeypatch.chdir(tmp_path.parent)
    beside = eh.audit_predictions(f"{tmp_path.name}/p.csv", **options).card()
    assert f"audit_predictions('{tmp_path.name}/p.csv', " in beside
    assert " | lowest group | " in first.card() and "\n| g | True positive rate | " in first.card()
    page = second.to_html(tmp_path / "p.html").read_text(encoding="utf-8")
    assert html.escape(first.findings[0], quote=False) in page
    classes = data.assign(y=data["y"].map({1: "s", 0: "t"}), p=["s", "t", "t"] * 20)
    page = eh.audit_predictions(classes, **options).to_html(tmp_path / "classes.html").read_text()
    assert "True positive rate of <bdi>t</bdi>" in page
    rows = data.assign(id=range(60), of="")
    other = rows.assign(id=range(60, 120), of=range(60), g=rows["g"].map({"a": "b", "b": "a"}))
    options |= {"id": "id", "counterfactual_of": "of"}
    result = eh.audit_predictions(pd.concat([rows, other.assign(p=1 - other["p"])]), **options)
    page = result.to_html(tmp_path / "counterfactual.html").read_text(encoding="utf-8")
    assert '<th scope="col">Set to</th>' in page and "; set to " in html.unescape(page)


def test_a_named_index_is_a_column_of_an_audit_and_no_feature():
    table = pd.DataFrame({"y": [1, 0] * 20, "p": [0.9, 0.2] * 20, "g": list("aabb") * 10})
    table.index = pd.Index(map(str, range(40)), name="visit")
    named = {"label": "y", "prediction": "p", "groups": ["g"], "id": "visit"}
    findings = eh.audit_predictions(table.reset_index(), **named).findings
    assert eh.audit_predictions(table, **named).findings == findings
    words = "; it is in the index; make it a column by data.reset_index()"
    with pytest.raises(InputError, match=r"^the DataFrame: has no column 'visit'") as error:
        eh.audit_table(table, label="y", attribute="visit")
    assert words in str(error.value)


def test_the_report_leaves_no_other_file_in_the_folder(tmp_path):
    table = pd.DataFrame({"y": [1, 0] * 20, "p": [0.9, 0.2] * 20, "g": list("aabb") * 10})
    out = tmp_path / "out"
    result = eh.audit_predictions(table, label="y", prediction="p", groups=["g"], out=out)
    before = {*out.rglob("*")}
    result.to_html(out / "report.html")
    assert {*out.rglob("*")} - before == {out / "report.html"}


def test_cells_of_mixed_types_are_those_of_a_csv():
    data = pd.DataFrame({"y": [1, "0"] * 30, "p": ["1", 0.0, 0] * 20, "g": [1, "1.0", "b"] * 20})
    data.loc[0, "p"] = None
    result = eh.audit_predictions(data, label="y", prediction="p", groups="g")
    assert {*result.table["group"]} == {"all", "1", "b"}
    assert "\n1 of 60 rows is left out (the prediction or" in repr(result)


def test_data_of_other_types_are_those_of_a_table():
    columns = {"a label": [1, 0] * 30, "p": [0.9, 0.4, 0.2] * 20, "组": ["a", "b", "b"] * 20}
    table = pd.DataFrame(columns)
    special = table.assign(**{"a label": table["a label"].astype("Int64") == 1})
    special["组"] = special["组"].astype("category")
    special.index = pd.date_range("2024", periods=60, tz="Asia/Tokyo")
    options = {"label": "a label", "prediction": "p"}
    wanted = eh.audit_predictions(table, groups="组", positive=np.float64(1), **options).table
    for data, groups in (
        (columns, ["组"]),
        (special, ("组",)),
        (pa.table(columns), np.array(["组"])),
    ):
        found = eh.audit_predictions(data, groups=groups, **options).table
        pd.testing.assert_frame_equal(found.drop(columns="label"), wanted.drop(columns="label"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label": np.arange(300)}, r"^`label` is of the type ndarray, and must be str\.$"),
        ({"prediction": None}, "^`prediction` is missing; give either `prediction` or `probab"),
        ({"probabilities": {1: "p"}}, "^`prediction` has no effect beside `probabilities`;"),
        ({"groups": []}, r"^`groups` is missing\.$"),
        ({"groups": [7]}, r'^`groups.0` is 7; it must be a text; write "7"\.$'),
        ({"label": 7}, r'^`label` is of the type int, and must be str; write "7"\.$'),
        ({"groups": "g, y"}, r"'g, y', which `groups` names; name g and y without a comma\.$"),
        ({"groups": " g"}, r"' g', which `groups` names; its columns are y, p, g; the closest"),
        ({"positive": True}, "`positive` is True, which is no value of y; choose one of 0 and 1"),
        ({"bins": {"g": 30}}, "^`bins.g` is 30; it must be a list, of borders, such as"),
        ({"bins": [5]}, r"^`bins` is \[5\]; it must be a mapping, of columns and their borders, s"),
        ({"bins": {"age": [30]}}, "^`bins` names age, which is none of `groups`"),
        (
            {"groups": "g, age", "bins": {"age": [30]}},
            r"they are g, age; name g and age without a comma\.$",
        ),
        ({"threshold": 2}, "^`threshold` is 2; it must be a number, above 0, at most 1"),
        ({"id": "x"}, "^the DataFrame: has no column 'x', which `id` names; its columns are"),
        ({"gold": pd.DataFrame({"y": [1]})}, "^the DataFrame of gold: labels .* need `id`"),
    ],
)  # fmt: skip
def test_an_error_names_the_argument(options, words):
    data = pd.DataFrame({"y": [1, 0] * 5, "p": [1, 0] * 5, "g": ["x", "y"] * 5})
    with pytest.raises(InputError, match=words):
        eh.audit_predictions(data, **{"label": "y", "prediction": "p", "groups": ["g"]} | options)


def test_a_folder_with_other_files_is_no_place_for_results(tmp_path):
    data = pd.DataFrame({"y": [1, 0] * 5, "p": [1, 0] * 5, "g": ["x", "y"] * 5})
    columns = {"label": "y", "prediction": "p", "groups": "g"}
    (tmp_path / ".hidden").touch()
    for _ in range(2):  # also over the result of the same audit
        eh.audit_predictions(data, out=tmp_path, **columns)
    with pytest.raises(InputError, match="`out` has other files, such as predictions; name a new"):
        eh.extract_sentences(tmp_path, language="en", out=tmp_path)
    with pytest.raises(InputError, match=r"hidden: `out` is a file; name a new or an empty folder"):
        eh.audit_predictions(data, out=tmp_path / ".hidden", **columns)


def test_a_table_with_blank_cells_and_whole_numbers_with_points():
    people = pd.DataFrame(
        {"y": [1.0, 0, 2, 0] * 10, "g": ["x", "x", "y", "y"] * 10, "a": range(40)}
    )
    people.loc[:7, "a"] = None
    options = {"label": "y", "attribute": "g", "methods": "majority", "seeds": 2}
    result = eh.audit_table(people, positive=[1, 2], **options)
    assert result.notes == ["On Table, 8 of 40 rows were left out because a cell is blank."]
    (note,) = eh.audit_table(people, positive=[1, 2.0], missing="impute", **options).notes
    assert note.startswith("On Table, 8 blank cells of")
    unclear = people.assign(g=people["g"].replace("y", "unknown"))
    _, note = eh.audit_table(unclear, positive=[1, 2], missing="impute", **options).notes
    assert note.startswith(
        "Table: In g, “unknown” (20) may mean a missing value, and counts as a value"
    )
    spelt = people.assign(g=["X", "x", "y", "y"] * 10)
    _, note = eh.audit_table(spelt, positive=[1, 2], missing="impute", **options).notes
    assert note.startswith("Table: The groups 'X', 'x' of g differ only in capital letters")
    coded = pd.DataFrame({"y": [1, 2, 2] * 10, "g": ["x", "y"] * 15, "id": range(7, 37)})
    (note,) = eh.audit_table(coded, **options).notes
    assert note.startswith(
        "Table: The predicted label is y = 1, as `positive` names no value. The feature id counts"
    )
    coded = coded.assign(y=[1, -1, -1] * 10, id=coded["id"] % 9)
    assert not eh.audit_table(coded, **options).notes
    with pytest.raises(InputError, match=r"^`test` has no column 'a', which `tr.*; add it"):
        eh.audit_table(people, people[["y", "g"]], **options)
    with pytest.raises(
        InputError, match=r"^`attribute` is of the type list, .*; name one, and call"
    ):
        eh.audit_table(people, **options | {"attribute": ["g"]})
    with pytest.raises(InputError, match=r"^the DataFrame: has no column 'z', which `feat"):
        eh.audit_table(people, positive=1, features=["z"], **options)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["y", "y"]), "^the DataFrame: has the column 'y' twice"),
        ([1, 2], "the data are of the type list; use a DataFrame or a path"),
        ({"y": [1, 0], "p": [1, 0]}, "has no column|no column sent_more"),
        (None, "the data are of the type NoneType"),
    ],
)
def test_data_that_cannot_be_read_are_refused(data, words):
    columns = {"label": "y", "prediction": "p", "groups": "g"}
    with pytest.raises(InputError, match=words):
        eh.audit_predictions(data, **columns)
    with pytest.raises(InputError, match=words):
        eh.audit_pairs("model", data)
    with pytest.raises(InputError, match=words):
        eh.audit_table(data, label="y", attribute="g")


@pytest.mark.parametrize("delta", [0, -1, float("nan"), 46])
def test_a_delta_out_of_range_is_refused(delta, pairs, tmp_path):
    people = pd.DataFrame({"y": [1, 0] * 5, "p": [1, 0] * 5, "g": ["x", "y"] * 5})
    calls = [
        lambda: eh.audit_pairs("model", pairs, delta=delta),
        lambda: eh.audit_predictions(people, label="y", prediction="p", groups="g", delta=delta),
        lambda: eh.audit_table(people, label="y", attribute="g", delta=delta),
        lambda: eh.audit_logs(tmp_path, delta=delta),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"^`delta` is"):
            call()


def test_a_table_that_may_be_cut_off_is_noted(tmp_path):
    data = pd.DataFrame({"y": [1, 0, 0] * 10, "g": ["x", "y"] * 15, "a": [1, 2, 3, 4, 5] * 6})
    whole, cut = tmp_path / "whole.csv", tmp_path / "cut.csv"
    data.to_csv(whole, index=False)
    cut.write_bytes(whole.read_bytes()[:-1])
    options = {"label": "y", "attribute": "g", "methods": "majority", "seeds": 2}
    for files, count in (((whole,), 0), ((cut,), 1), ((whole, whole), 0), ((whole, cut), 1)):
        notes = eh.audit_table(*files, **options).notes
        assert sum("The last line of the file has no end" in note for note in notes) == count


def test_a_table_with_a_test_set_uses_it(tmp_path):
    people = pd.read_csv(REPOSITORY / "resources/demo/tabular/loans.csv").drop(
        columns="application"
    )
    options = {"label": "decision", "positive": "approved", "attribute": "gender", "seeds": 2}
    options |= {"methods": ["logistic_regression", "majority"]}
    (tmp_path / "tabular/mine").mkdir(parents=True)  # as after an audit before
    test = people.tail(80).assign(score=0.5)  # a column that `train` lacks is not read
    test["loan"] *= 1000
    test["occupation"] = "a sailor"
    result = eh.audit_table(people.head(200), test, out=tmp_path, **options)
    assert set(result.table["split"]) == {"official"}
    described = json.loads((tmp_path / "tabular/mine/data.json").read_text(encoding="utf-8"))
    columns = {name.partition("=")[0] for name in described["features"]}
    assert columns == {*people} - {"decision"}
    runs = pd.read_parquet(tmp_path / "tabular/mine/runs/official/majority.parquet")
    assert set(runs["n_test"]) <= {80} and len(runs) >= 1
    assert result.findings[1].startswith("logistic_regression: accuracy")
    for name, words in (("occupation", "none of the categories"), ("loan", "beyond all numbers")):
        assert (
            f"Most values of the feature {name} in test are {words} of train: is" in result.notes[1]
        )
    assert result.notes[-1] == "1 column of test that train lacks is not used: score."
    with pytest.raises(InputError, match=r"^/proc/x.*: cannot be read or written"):
        result.to_html("/proc/x/a.html")


def test_the_main_method_comes_first():
    row = dict.fromkeys(("power", "further_clusters", "reason"))
    row |= {"subset": "all", "bias_type": "all", "scored": 9, "verdict": "above"}
    row |= {"score": 80.0, "score_low": 60.0, "score_high": 90.0, "model": "mine"}
    row["p_adjusted"] = 0.01
    methods = ("aula", "cps", "aul")
    rows = [*(row | {"method": name} for name in methods)]
    rows.append(row | {"method": "aul", "bias_type": "age"})
    findings = api._pair_findings(rows, 5, {"passed": True})
    assert [finding.partition(":")[0] for finding in findings] == [
        "AUL",
        "CPS",
        "AULA (not counted)",
    ]
    assert findings[0].endswith(
        "in 80 % of 9 pairs (95 % CI 60 to 90), 30 points above 50 (10 to 40). Significant."
    )
    by_chance = row | {"method": "aul", "p_value": 0.048, "p_adjusted": 0.2, "score": 50.6}
    borderline, *_ = api._pair_findings([by_chance | {"score_low": 49.6}], 5, None)
    assert "95 % CI 50 to 90), 1 point above 50 (0 to 40). Significant by itself" in borderline
    assert ", and borderline: the interval, which is computed in another way" in borderline
    unclear = row | {"method": "aul", "verdict": "inconclusive", "score": 51.0}
    first, *_ = api._pair_findings([unclear, rows[1], row | {"method": "sss"}], 5, None)
    assert first.startswith("CPS: ") and first.endswith("Significant; undecided by AUL (51 %).")
    tied, *_ = api._pair_findings([row | {"method": "aul", "ties": 1}], 5, None)
    assert "of which 1 ties and counts as half" in tied
    tied, *_ = api._pair_findings([row | {"method": "aul", "ties": 2}], 5, None)
    assert "of which 2 tie and count as half" in tied


AGE, RACE = ("age 100 % (95 % interval 70 to 100, adjusted p = 0.012)", "race 0 % ({}95 % interval")


@pytest.mark.parametrize("whole", ["above", "below", "equivalent", "inconclusive"])
@pytest.mark.parametrize(
    ("types", "ends"),
    [
        ({}, dict.fromkeys(("above", "below", "equivalent", "inconclusive"), "")),
        (
            {"age": "above"},
            {"": f"1 of 5 bias types has a significant preference for the stereotype: {AGE}."}
            | {"below": "stereotype: age 100 % (the opposite, 95 % interval 70 to 100, adju"},
        ),
        (
            {"race": "below"},
            {"": f"1 of 5 bias types has a significant preference for the anti-stereotype: {RACE}"}
            | {"above": "anti-stereotype: race 0 % (the opposite, 95 % interval 0 to 30, adju"},
        ),
        (
            {"age": "above", "race": "below"},
            {"": f"2 of 5 bias types have significant preferences in opposite directions: {AGE}"}
            | {"below": "directions: race 0 % (95 % interval 0 to 30, adjusted p = 0.012), age"},
        ),
        (
            dict.fromkeys(("age", "Age", "home", "job", "rank"), "above"),
            {"": "5 of 5 bias types have significant preferences for the stereotype: Age 100"}
            | {"below": "5 of 5 bias types have significant preferences for the stereotype: "},
        ),
    ],
)
def test_the_first_finding_names_the_bias_types_with_a_preference(whole, types, ends):
    values = {"above": (100.0, 70.0, 100.0), "below": (0.0, 0.0, 30.0)}
    row = {"subset": "all", "scored": 9, "method": "aul", "reason": None}
    row |= {"power": 0.3, "further_clusters": 7, "p_adjusted": 0.0123}
    names = ("score", "score_low", "score_high")
    kinds = [*types, *("other", "rare", "small", "tiny", "young")[len(types) :]]
    verdicts = {"all": whole} | dict.fromkeys(kinds, "inconclusive") | types
    rows = [
        row
        | {"bias_type": name, "verdict": verdict}
        | dict(zip(names, values.get(verdict, (50.0, 45.0, 55.0)), strict=True))
        for name, verdict in verdicts.items()
    ]
    of_types = [other | {"method": "aula", "verdict": "below"} for other in rows[1:]]
    rows += [rows[0] | {"method": "aula"}, *of_types]
    first, second = api._pair_findings(rows, 5, None)
    named = ends.get(whole, ends.get("", "")).format("")
    assert named in first
    assert bool(types) == ("bias type" in first) and "bias type" not in second
    advice = "Look at the types one by one." in first
    sides = {*types.values(), *({whole} & {"above", "below"})}
    assert advice == bool(types and (len(sides) == 2 or whole in ("equivalent", "inconclusive")))
    assert (" and 2 more." in first) == (len(types) == 5)
    assert ("in other sentences would make" in first) == (not types and whole == "inconclusive")


def test_the_bias_types_of_all_methods_that_count_are_in_the_first_finding():
    row = {"subset": "all", "scored": 9, "reason": None, "power": 0.3, "further_clusters": 7}
    row |= {"score": 50.0, "score_low": None, "verdict": "inconclusive", "p_adjusted": 0.0001}
    types = [{"bias_type": "age", "verdict": "above", "score": 100.0, "method": "aul"}]
    types += [{"bias_type": "race", "verdict": "below", "score": 0.0, "method": "cps"}]
    methods = [{"bias_type": "all", "method": name} for name in ("aul", "cps")]
    first, second = api._pair_findings([row | other for other in (*methods, *types)], 5, None)
    assert "age 100 % (AUL, adjusted p < 0.001), race 0 % (the opposite, CPS, adjusted" in first
    assert "age" not in second and "race" not in second
    assert (
        "7 more pairs that swap other words" not in first
        and "7 more pairs that swap other words in other sentences would" in second
    )
    types.append(types[0] | {"verdict": "below", "score": 0.0, "method": "cps"})
    first, _ = api._pair_findings([row | other for other in (*methods, *types)], 5, None)
    assert " 1 of 2 bias types has a significant preference for the anti-stereotype: race" in first
    assert first.endswith(
        " No direction is shown for 1 bias type on which methods contradict each other: age, the"
        " stereotype by AUL 100 %, but the anti-stereotype by CPS 0 %."
    )
    only = [row | other for other in (methods[0], types[0])]  # the type is the whole set
    assert "bias type" not in api._pair_findings(only, 5, None)[0]


def test_a_loss_has_its_verdict_beside_the_network_without_it(tmp_path):
    people = pd.read_csv(REPOSITORY / "resources/demo/tabular/loans.csv").head(120)
    options = {"label": "decision", "positive": "approved", "attribute": "gender", "seeds": 2}
    options |= {"features": ["gender", "age", "loan"], "methods": ["mlp", "iifr", "laftr_dp"]}
    options["methods"] += ["mlp_without_attribute", "majority"]
    result = eh.audit_table(people, out=tmp_path, **options)
    decisions, groups, *others = result.findings
    by_name = sorted(others, key=lambda words: words.split(": ")[0])
    adversary, constant, plain, with_loss, blind = by_name
    # a flip cannot change the decisions of a network without the attribute: that is no effect
    assert "Against mlp: gap of sel" in blind
    tested = result.verdicts.query("method == 'mlp_without_attribute'")["metric"]
    assert not {*tested} & {"ifr_b", "ifr_p"} and {*tested} > {"acc", "ddp"}
    units = result.verdicts[["unit", "delta"]].drop_duplicates().to_numpy().tolist()
    assert units == [["percent", 5.0], ["share", 0.05]]
    assert decisions.startswith("On Table, change only the attribute gender, and 51.4 % of the")
    assert groups.startswith("Which group fares worse? The share with the label “approved” is ")
    assert adversary.startswith("laftr_dp (mu 4): ")
    assert plain.startswith("mlp: accuracy") and "Against" not in plain + constant
    assert with_loss.startswith("mlp with iifr_cosine (lambda 1, epsilon 0.8): accuracy")
    _, against, effects = with_loss.partition(" Against mlp: IFR_b ")
    assert against and effects.count("95 % CI") == 5 and "Gap of selection rates" in effects
    for name in ("true positive", "false positive"):
        assert f". Gap of {name} rates " in effects and f". Gap of {name} rates " in adversary
    assert ". Accuracy " in effects and ". Accuracy " in adversary


def test_predictions_name_the_rows_of_the_table_that_was_given(tmp_path):
    people = pd.read_csv(REPOSITORY / "resources/demo/tabular/loans.csv").head(120)
    people.loc[::3, "age"] = None
    options = {"label": "decision", "positive": "approved", "attribute": "gender", "seeds": 1}
    options |= {"features": ["age", "loan"], "methods": "majority"}
    eh.audit_table(people, out=tmp_path, **options)
    kept = pd.read_parquet(tmp_path / "tabular/mine/data.parquet")
    assert kept["row"].tolist() == [row for row in range(120) if row % 3]
    assert kept["loan"].tolist() == people.loc[kept["row"], "loan"].tolist()
    path = tmp_path / "tabular/mine/predictions/random/majority.parquet"
    predictions = pd.read_parquet(path)
    groups = sorted({*people["gender"]})
    factual = [groups[np.isnan(flipped).argmax()] for flipped in predictions["p_flipped"]]
    assert factual == people.loc[predictions["row"], "gender"].tolist()


def test_each_gap_of_a_table_lies_in_the_interval_beside_it():
    # the mean of the runs' gaps is larger than the gap of all runs, which differ in the order
    same = {"mean": 80.0, "low": 80.0, "high": 80.0}
    means = {"acc": same, "ifr_b": same, "ddp": {"mean": 0.191, "low": 0.0, "high": 0.47}}
    people = {"gap": 0.087, "gap_low": 0.016, "gap_high": 0.156}
    row = {"method": "mlp", "individual": "none", "mu": None}
    words = api._say("setting", row, means=means, tests={}, count=0, people=people)
    assert words.partition("(IFR_b) 80.0 %, ")[2] == (
        "gap of selection rates 8.7 points (95 % CI over people 1.6 to 15.6), of each seed 19.1 on"
        " average (95 % CI over seeds 0.0 to 47.0)."
    )
    no_people = api._say("setting", row, means=means, tests={}, count=0, people={})
    gap = "gap of selection rates of each seed 19.1 points on average (95 % CI over seeds 0.0 to"
    assert f"{gap} 47.0)." in no_people


@pytest.mark.parametrize("with_test", [False, True])
def test_the_finding_of_a_method_is_of_the_weight_that_is_tested(with_test):
    people = pd.read_csv(REPOSITORY / "resources/demo/tabular/loans.csv").head(120)
    options = {"label": "decision", "positive": "approved", "attribute": "gender", "seeds": 2}
    options |= {"features": ["gender", "age", "loan"], "methods": ["mlp", "laftr_dp"]}
    data = (people[:80], people[80:]) if with_test else (people,)
    result = eh.audit_table(*data, **options)
    (tested,) = result.verdicts.query("metric == 'ifr_b'").to_dict("records")
    assert tested["mu"] == 4 and len(result.findings) == 4
    assert "| Table | " in result.card() and "| mine | " not in result.card()
    words = f"(IFR_b) {tested['mean']:.1f} %"
    assert result.findings[3].startswith("laftr_dp (mu 4): accuracy")
    assert words in result.findings[3]
    change = f"{tested['difference']:+.1f}".replace("-", "−")
    assert f"Against mlp: IFR_b {change} points (" in result.findings[3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            "−27.2 points (95 % CI over seeds −43.6 to −10.7; not significant after adjustment for"
            " 24 tests, p = 0.48; 3 more seeds would show ±5 points in 80 % of such tests)",
        ),
        (
            {"verdict": "below", "p_adjusted": 1e-4},
            "; significant after adjustment for 24 tests, p",
        ),
        (
            {"verdict": "below", "p_adjusted": 0.01, "elsewhere": False},
            ", p = 0.01, for more runs on these data; other data were not tested)",
        ),
        ({"verdict": "equivalent"}, "−10.7; no change beyond ±5 points)"),
        ({"difference_low": None, "p_adjusted": None, "reason": "one seed"}, "(no test: one seed)"),
    ],
)
def test_an_effect_is_a_change_with_its_interval_and_its_adjusted_test(changes, words):
    test = {"difference": -27.2, "difference_low": -43.6, "difference_high": -10.7, "delta": 5.0}
    test |= {"verdict": "inconclusive", "p_adjusted": 0.48, "reason": None, "further_seeds": 3}
    test |= {"elsewhere": None}
    assert words in api._say("effect", test | changes, 1, 24)


def test_a_wrong_cell_of_the_test_part_is_named_there(tmp_path):
    part = pd.DataFrame({"y": [1, 0] * 20, "age": range(40), "g": ["a", "a", "b", "b"] * 10})
    options = {"label": "y", "attribute": "g", "methods": "majority"}
    wrong = part.astype({"age": object})
    wrong.loc[3, "age"] = "old"
    part.to_csv(tmp_path / "train.csv", index=False)
    for train in (part, tmp_path / "train.csv"):
        with pytest.raises(InputError, match=r"^`test`, row 3 \(counted from 0\): the column age"):
            eh.audit_table(train, wrong, **options)
    with pytest.raises(InputError, match=r"^`train`, row 3 \(counted from 0\): the column age"):
        eh.audit_table(wrong, part, **options)
    with pytest.raises(InputError, match=r"^`train` with `test`: the column age has one value"):
        eh.audit_table(part.assign(age=1), part.assign(age=1), **options)


def test_a_table_notes_people_of_both_parts_and_features_that_give_the_label():
    draw = np.random.default_rng(0)
    people = pd.DataFrame({"y": [1, 0] * 40, "g": ["a", "a", "b", "b"] * 20})
    people["n"] = np.arange(80) * 37 % 80 * 2.5
    people["known"] = np.where(people["y"] == 1, "x", draw.choice(["v", "w"], 80))
    people.loc[0, "known"] = "w"
    options = {"label": "y", "attribute": "g", "methods": "majority", "seeds": 1}
    result = eh.audit_table(people[:60], people[50:], **options)
    shared, given = result.notes
    assert shared.startswith(
        "On Table, 10 of 30 rows of test equal a row of train in the label and"
    )
    assert shared in result.card()
    assert given.startswith("On Table, a single feature tells whether y = 1, in nearly all rows: ")
    assert (
        "rows: known in 98.9 % (the most frequent label alone: 50.0 %). Leave such a feat" in given
    )
    others = options | {"features": ["n"]}
    assert eh.audit_table(people[:60], people[60:], **others).notes == []
    proxy = people.assign(known=[f"{g}{i // 7 % 2}" for i, g in enumerate(people["g"])])
    (note,) = eh.audit_table(proxy, **options).notes
    assert note.startswith("On Table, a single feature tells the attribute g in nearly all rows: k")
    both = people.assign(n=draw.integers(0, 2, 80) * 100.0 + draw.random(80))
    both["known"] = both["y"] * 50.0 - both["n"].round(-2) / 2
    (note,) = eh.audit_table(both, **options | {"methods": "mlp"}).notes
    assert note.startswith("An accuracy of 100 % is rare: check whether a feature contains")


def test_runs_that_are_in_no_mean_are_noted():
    findings = [("diverged_runs", "1 of 2 runs diverged."), ("front_ddp", "None.")]
    tables = {"findings": pd.DataFrame(findings, columns=["finding", "sentence"])}
    tables["grid"] = pd.DataFrame({"metric": ["acc"], "mean": [80.0]})
    assert api._doubts(SimpleNamespace(tables=tables)) == ["1 of 2 runs diverged."]


def test_the_docstring_names_all_methods_of_tables():
    from evenhand.core.families import member_names

    names = {name.rpartition(".")[2] for name in member_names("evenhand.learning.methods")}
    assert all(f"``{name}``" in eh.audit_table.__doc__ for name in {*names, api.IIFR})


def test_bad_input_is_one_sentence(pairs, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such folder"):
        eh.audit_pairs("./nowhere", pairs)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models/mine").mkdir(parents=True)
    with pytest.raises(InputError, match="no/such: there is no such folder; beside it are mine"):
        (tmp_path / "no/mine").mkdir(parents=True)
        eh.audit_pairs("no/such", pairs)
    with pytest.raises(
        InputError, match="models/mien: there is no such folder; did you mean models/mine"
    ):
        eh.audit_pairs("models/mien", pairs)
    with pytest.raises(
        InputError, match=r"^`model` is of the type int; give \(model, tokenizer\), a folder"
    ):
        eh.audit_pairs(7, pairs)
    for name in ("my/models/mine", "~/mine"):
        with pytest.raises(InputError, match=f"^{name} is no folder, and no name on the hub; give"):
            eh.audit_pairs(name, pairs)
    (tmp_path / "models/mine/config.json").touch()
    for name in ("modles/mine", "model/mein", "Models/mine"):
        with pytest.raises(InputError, match=rf"{name}: there is .*you mean models/mine, or a mod"):
            eh.audit_pairs(name, pairs)
    hub = "evenhand.scoring.model_files.urlopen"
    for name in ("bert-base-uncased", "org/mine", "mine"):  # like no folder here
        with monkeypatch.context() as patch, pytest.raises(ConnectionError):
            patch.setattr(hub, Mock(side_effect=ConnectionError))
            eh.audit_pairs(name, pairs)
    with pytest.raises(InputError, match="no such file"):
        eh.audit_predictions(tmp_path / "p.csv", label="y", prediction="p", groups=["g"])
    people = pd.DataFrame({"approved": ["a", "b"] * 5, "gender": ["x", "y"] * 5})
    with pytest.raises(
        InputError, match=r"^the DataFrame: it is .*; name `positive`, one of a and"
    ):
        eh.audit_table(people, label="approved", attribute="gender")
    with pytest.raises(
        InputError, match=r"^`methods` has 'svm'; choose one of alfr, .*, iifr, .* and"
    ):
        eh.audit_table(people, label="approved", attribute="gender", methods="svm")
    with pytest.raises(InputError, match=r"^`methods` has 'IIFR'; .*; did you mean iifr\?$"):
        eh.audit_table(people, label="approved", attribute="gender", methods="IIFR")
    with pytest.raises(
        InputError, match=r"no column 'gendre', which `attribute` names; .* closest is gender"
    ):
        eh.audit_table(people, label="approved", attribute="gendre", bins={"gender": [1]})
    wrong = pairs.assign(stereo_antistereo=["both", *pairs["stereo_antistereo"][1:]])
    with pytest.raises(
        InputError, match=r"^the DataFrame, pair 1 \(counted from 1\): 'both' is no direction"
    ):
        eh.audit_pairs("org/model", wrong)
    with pytest.raises(InputError, match="there is no pack for xx and gender; give `language`"):
        eh.extract_sentences(tmp_path, language="xx")


def test_extraction_uses_all_tables_against_wrong_names(tmp_path):
    words = ["文明的顾客", "金刚石的故事", "学校的田径比赛", "王小明的学校"]
    text = "".join(f"她昨天又对我们说起{word}。\n" for word in words)
    (tmp_path / "news.txt").write_text(text, encoding="utf-8")
    rows = eh.extract_sentences(tmp_path / "news.txt", language="zh").set_index("sentence")
    assert [rows["verdict"][line] for line in text.split()] == [*["accepted"] * 3, "name"]
    pack = shutil.copytree(REPOSITORY / "resources/packs/zh_gender", tmp_path / "pack")
    (pack / "name_weights.csv").unlink()  # an own pack needs none of these tables
    rows = eh.extract_sentences(tmp_path / "news.txt", pack=pack).set_index("sentence")
    assert rows["verdict"].tolist().count("name") == 2


@pytest.mark.parametrize(
    ("content", "detail"), [("", "0 bytes"), (" \n\n", "no text, only blanks")]
)
def test_a_file_without_text_is_named_in_a_warning(tmp_path, content, detail):
    (tmp_path / "empty.txt").write_text(content)
    (tmp_path / "a.txt").write_text("She is a nurse who works in a large hospital.\n")
    with pytest.warns(UserWarning, match=rf"empty\.txt \(empty file: {detail}\); all are"):
        sentences = eh.extract_sentences(tmp_path, language="en")
    assert len(sentences) == 1
    assert [row["reason"] for row in sentences.attrs["quarantine"]] == ["empty_file"]


def test_numbers_in_the_column_of_texts_are_no_sentences(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("text\n12345\nShe is a nurse who works in a large hospital.\n")
    problem = r"a\.csv, line 2 \(text is number: the text is 12345\)"
    with pytest.warns(UserWarning, match=problem):
        assert eh.extract_sentences(table, language="en").attrs["sentences"] == 1
    table.write_text("text\n12345\n6\n")
    with pytest.raises(InputError, match="the field 'text': the text is 12345"):
        eh.extract_sentences(table, language="en")


def test_the_problems_of_a_file_are_one_entry_with_their_numbers(tmp_path):
    sentence = "She is a nurse who works in a large hospital.\n"
    (tmp_path / "a.txt").write_bytes((sentence * 3 + "Zoë said so.\n").encode())
    broken = "é\n".encode() * 40 + b"She \xff goes to town.\n" * 120
    (tmp_path / "b.txt").write_bytes(broken)
    (tmp_path / "c.csv").write_text(f'text\n1\n{sentence}2\n""\n')
    (tmp_path / "d.txt").write_bytes(
        f"{sentence}In the café, a waiter reads.\n".encode("cp1252") * 3
    )
    (tmp_path / "e.xyz").write_text("she")
    with pytest.warns(UserWarning, match="problems with files: ") as caught:
        sentences = eh.extract_sentences(tmp_path, language="en")
    assert {*sentences["source"]} >= {f"{tmp_path}/d.txt"}
    words = str(caught[0].message).replace(f"{tmp_path}/", "")
    assert words == (
        "problems with files: b.txt (undecodable bytes, 120 places, the first: 1 byte in line 41:"
        " ff (invalid start byte); 120 sentences with a word of the pack left out as damaged, the"
        " first in line 41: a keyword sentence that holds U+FFFD, the mark of undecodable bytes),"
        " c.csv (text is number, 2 places, the first in line 2: the text is 1; no text, in line 5:"
        " the cell is blank), e.xyz (unknown format: its suffix names no format) and 1 other; all"
        " are in .attrs['quarantine']"
    )
    notes = [r["detail"] for r in sentences.attrs["quarantine"] if r["reason"] == "other_encoding"]
    assert notes == ["read as windows-1252"]


def test_an_extraction_of_nothing_is_a_warning(tmp_path):
    for content in ('{"text": ""}\n', '{"text": "No such word."}\n'):
        (tmp_path / "a.jsonl").write_text(content)
        words = 'no sentence has a word of gender; texts were read as language="en", attr.*right?'
        with pytest.warns(UserWarning, match=f"^{words}"):
            assert not len(eh.extract_sentences(tmp_path, language="en"))
    (tmp_path / "a.jsonl").write_text('{"text": 5}\n')
    with pytest.raises(InputError, match="no record has a text in the field 'text': the text is 5"):
        eh.extract_sentences(tmp_path, language="en")
    (tmp_path / "b.csv").write_text("body\nShe is a nurse.\n")
    words = r"line 1 \(missing field: the columns are body\).*; set `text_field` to the field"
    (tmp_path / "a.jsonl").write_text('{"text": "She is a nurse who works in a hospital."}\n')
    with pytest.warns(UserWarning, match=words):
        assert len(eh.extract_sentences(tmp_path, language="en")) == 1


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        ("audit_pairs", {"language": "xx"}, "`language` is 'xx'; give a code of ISO 639, such as"),
        ("audit_pairs", {"language": None}, "`language` is None, and must be str"),
        ("audit_pairs", {"threads": "two"}, "`threads` is of the type str, and must be int"),
        ("audit_pairs", {"model": (1, 2)}, "`model` is no pair of model and tokenizer; give"),
        ("audit_table", {"train": "https://a.org/p.csv"}, "https:/a.org/p.csv: .*; download it f"),
        ("audit_pairs", {"methods": 5}, "`methods` is neither a name nor a list of names"),
        ("audit_predictions", {"out": 5}, "`out` is of the type int, and must be str or Path"),
        ("audit_predictions", {"data": {"y": [1], "p": [1, 0]}}, "the data are no table .*; use"),
        ("audit_predictions", {"data": {"rows": [1]}}, ".* rows; use a DataFrame or a path, with"),
        ("audit_predictions", {"label": ["y"]}, "`label` is of the type list, .*; name one, and"),
        ("audit_table", {"methods": 5}, "`methods` is neither a name nor a list of names"),
        ("audit_table", {"methods": ["mlp", "mlp"]}, "`methods` has 'mlp' twice; keep one of the"),
        ("audit_table", {"train": SPLIT, "test": SPLIT}, "`train` has a column evenhand_split, wh"),
        ("audit_table", {"out": "/proc/x"}, "/proc/x: cannot be read or written .*; name another"),
        ("audit_table", {"attribute": None}, "`attribute` is None, and must be str"),
        ("audit_logs", {"files": []}, "`files` is empty; name a file or a folder"),
        ("audit_logs", {"files": ""}, "`files` is blank; give it a value, or leave it out"),
        ("audit_logs", {"files": [""]}, "`files` has a blank name; name a file or a folder"),
        ("audit_logs", {"files": pd.DataFrame()}, "`files` is neither a path nor a list of pa"),
        ("extract_sentences", {"files": 5}, "`files` is neither a path nor a list of paths"),
        ("extract_sentences", {"pack": "mine"}, "`language` has no effect beside `pack`; leave"),
        ("extract_sentences", {"text_field": 5}, "`text_field` is of the type int, and must be"),
        ("extract_sentences", {"filters": "length"}, "`filters` is .*; it must be a list"),
        ("extract_sentences", {"filters": []}, r"`filters` is \[\]; .* a list, with 1 or more"),
        ("audit_pairs", {"methods": []}, "`methods` is empty; name one, or leave it out"),
    ],
)
def test_arguments_of_a_wrong_type_are_one_sentence(function, arguments, words, pairs, tmp_path):
    usual = {
        "audit_pairs": {"model": tmp_path, "pairs": pairs},
        "audit_predictions": {"data": pairs, "label": "y", "prediction": "p", "groups": ["g"]},
        "audit_table": {"train": pairs, "label": "y", "attribute": "g"},
        "extract_sentences": {"files": tmp_path, "language": "en"},
    }
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=f"^{words}"):
        getattr(eh, function)(**usual.get(function, {}) | arguments)


def test_earlier_results_are_replaced_and_that_is_said(tmp_path, capsys):
    data = pd.DataFrame({"y": [1, 0] * 50, "p": [0.9, 0.1, 0.4, 0.2] * 25, "g": ["a", "b"] * 50})
    options = {"label": "y", "prediction": "p", "groups": ["g"], "out": tmp_path}
    eh.audit_predictions(data, **options)
    tables = tmp_path / "tables/predictions/mine"
    assert (tables / "calibration.csv").is_file() and "replaced" not in capsys.readouterr().err
    (tmp_path / api.RECORD).unlink()  # as of an audit that was stopped
    result = eh.audit_predictions(data.assign(p=data["p"].round().astype(int)), **options)
    said = capsys.readouterr().err
    assert said == f"{tmp_path}: the earlier results in this folder are replaced\n"
    assert {path.stem for path in tables.glob("*.csv")} == {*result.tables}


def test_an_audit_refuses_the_folder_of_another_one(model, pairs, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    data = pd.DataFrame({"y": [1, 0] * 50, "p": [0.9, 0.1, 0.4, 0.2] * 25, "g": ["a", "b"] * 50})
    data.to_csv(tmp_path / "p.csv", index=False)
    people, file = pd.concat([data] * 2), tmp_path / "p.csv"
    loaded = AutoModelForCausalLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    options = {"label": "y", "groups": ["g"], "prediction": "p"}
    trained = {"label": "y", "attribute": "g", "methods": "majority", "seeds": 1}
    audits = [
        (
            eh.audit_predictions,
            (data,),
            options,
            [
                ((data[::-1],), {}, "other content of data"),
                ((data,), {"groups": ["g", "y"]}, r"`groups` \['g'\], not \['g', 'y'\]"),
            ],
        ),
        (
            eh.audit_predictions,
            (file,),
            options,
            [
                ((data,), {}, "data p.csv, not an object"),
                ((file,), {"threshold": 0.4}, "`threshold` 0.5, not 0.4"),
            ],
        ),
        (
            eh.audit_pairs,
            (model, pairs),
            {},
            [
                ((model, pairs[1:]), {}, "other content of pairs"),
                ((model,) * 2, {}, "pairs an object, not "),
            ],
        ),
        (
            eh.audit_pairs,
            (loaded, pairs),
            {},
            [((model, pairs), {}, f"model an object, not {Path(model).name}")],
        ),
        (
            eh.audit_table,
            (people,),
            trained,
            [
                ((people[2:],), {}, "other content of train"),
                ((people,), {"seeds": 2}, "`seeds` 1, not 2"),
            ],
        ),
        (
            eh.audit_table,
            (people, data),
            trained,
            [
                ((people, data[2:]), {}, "other content of test"),
                ((people,), {}, "test an object, not None"),
            ],
        ),
    ]
    words = r"0: `out` holds the result of another audit, {}.*; name a new or an empty folder\.$"
    for number, (function, inputs, kept, others) in enumerate(audits):
        out = tmp_path / f"{number}0"
        for threads in ({"threads": 2} if function is eh.audit_pairs else {}, {}):
            function(*inputs, **kept, **threads, out=out)
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for changed, changes, difference in others:
            with pytest.raises(InputError, match=words.format(f"with {difference}")):
                function(*changed, **kept | changes, out=out)
        with pytest.raises(InputError, match=words.format(f"made by {function.__name__}")):
            eh.audit_logs(tmp_path, out=out)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_what_an_audit_writes_into_the_folder_of_its_input_is_no_other_input(tmp_path):
    (tmp_path / "logs").mkdir()
    file = tmp_path / "logs/samples_crows_pairs_english_2026-01-02T03-04-05.jsonl"
    file.write_text("".join(json.dumps(s) + "\n" for s in crows(9)))
    for _ in range(2):
        eh.audit_logs(tmp_path, out=tmp_path / "audit").to_html(tmp_path / "audit/report.html")
    file.write_text("".join(json.dumps(s) + "\n" for s in crows(8)))
    with pytest.raises(InputError, match=f"another audit, with other content of {tmp_path.name};"):
        eh.audit_logs(tmp_path, out=tmp_path / "audit")
    record = tmp_path / "audit" / api.RECORD
    (tmp_path / "logs").rename(tmp_path / "audit/logs")
    eh.audit_logs(tmp_path / "audit/logs", out=tmp_path / "again")
    again = tmp_path / "again" / api.RECORD
    # as if its writing was stopped, and as an earlier version may have written it
    for path, text in ((record, "{"), (again, again.read_text() + "\n")):
        path.write_text(text)
        with pytest.raises(InputError, match="another audit; name a new"):
            eh.audit_logs(tmp_path / "audit/logs", out=path.parent)


def test_a_call_that_fails_replaces_no_results(tmp_path, capsys):
    (tmp_path / "predictions/mine").mkdir(parents=True)
    with pytest.raises(InputError, match="there is no such file"):
        eh.audit_predictions("none", label="y", prediction="p", groups=["g"], out=tmp_path)
    assert not capsys.readouterr().err


def test_verdicts_on_logs_are_of_bias_types_too(tmp_path):
    (tmp_path / "acme__lark").mkdir()
    file = tmp_path / "acme__lark/samples_crows_pairs_english_2026-01-02T03-04-05.jsonl"
    samples = [*crows(hits=30)]
    samples[7]["doc"] = samples[8]["doc"]
    file.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    result = eh.audit_logs(file)
    model, note, unchecked = result.notes
    assert model == "Model (named after the folder or the name of its logs): acme__lark."
    assert model in result.card() and note in result.card()
    assert unchecked == (
        "crows_pairs_english (40 of 40 pairs): the log has no arguments, so whether its sentences"
        " were scored in this order was not checked."
    )
    assert "| bias type |" in result.card() and " | undecided |" in result.card()
    assert result.verdicts["bias_type"].tolist() == ["all", "age", "gender"]
    page = result.to_html(tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<h1>Do the models prefer stereotypes?</h1>" in page and "between groups" not in page
    assert model in page


def test_an_error_on_labels_in_a_dataframe_names_no_file():
    data = pd.DataFrame({"id": ["1", "2"], "p": [0, 1]})
    gold = pd.DataFrame({"id": ["1", "3"], "y": [0, 1], "g": ["a", "b"]})
    options = {"label": "y", "prediction": "p", "groups": "g", "id": "id"}
    with pytest.raises(InputError, match=r"^the DataFrame: has 1 id that `gold` does not have"):
        eh.audit_predictions(data, gold=gold, **options)


def test_pairs_with_one_word_or_one_template_have_no_verdict(model, tmp_path):
    lists = [[f"{kind}{i}" for i in range(8)] for kind in "ab"]
    pairs = [{"sent_more": f"The {one} eats {one}{other}.",
              "sent_less": f"The {other} eats {one}{other}."}
             for one in lists[0] for other in lists[1]]  # fmt: skip
    one_template = pd.DataFrame(pairs).assign(bias_type="pet")
    for table in (one_template, one_template.assign(sent_less="The dog eats.")):
        result = eh.audit_pairs(model, table)
        assert {*result.verdicts["reason"]} == {"one_word"}
        assert any(note.startswith("One word, or one sentence") for note in result.notes)
    others = [
        {"sent_more": f"The {one} eats {one}{other} {one}.",
         "sent_less": f"The {other} eats {one}{other} {one}.", "bias_type": "food"}
        for one, other in zip(*lists, strict=True)
    ]  # fmt: skip
    result = eh.audit_pairs(model, pd.concat([one_template, pd.DataFrame(others)]))
    why = "one word, or one sentence around the words, is in each pair, so that"
    assert f" 1 of 2 bias types cannot be tested (pet), as {why}" in result.findings[0]
    page = result.to_html(tmp_path / "p.html").read_text(encoding="utf-8")
    for text in (result.card(), page):
        assert f"pet: {why}" in text


def test_notes_and_reasons_of_pairs():
    description = {"excluded": {}, "pairs": 4, "flags": {"repeated_pair": 2, "unlike": 0}}
    description["flags"] |= {"misplaced": 0}
    description["flags"] |= {"reversed_pair": 0, "lower_case": 0}
    gate = {"sentences": 20, "unknown_most_frequent": {"zyx": 2}}
    description |= {"bias_types": {"Gender": 1, "gender": 3}, "templates": 3}
    spelt, *others = api._pair_notes(description, [], gate | {"sentences_with_unknown": 1})
    assert spelt.startswith("The groups 'Gender', 'gender' of bias_type differ only in capital")
    description |= {"bias_types": {"gender": 4}}
    assert (
        others
        == api._pair_notes(description, [], gate | {"sentences_with_unknown": 1})
        == [f"2 of 4 pairs: {FLAGS['repeated_pair']}."]
    )
    assert api._pair_notes(description, [], gate | {"sentences_with_unknown": 2})[1] == (
        "2 of 20 sentences have words that the model’s tokenizer does not know, such as zyx; it"
        " reads them all as one token."
    )
    rows = [
        {"method": method, "subset": subset, "bias_type": "all", "scored": 3, "reason": None}
        | {"unscorable": 0, "score": None}
        for method in ("log_likelihood", "log_likelihood_per_token")
        for subset in ("all", "equal_length")
    ]
    alike, _ = api._pair_notes(description, rows, gate | {"sentences_with_unknown": 1})
    assert alike.endswith("they are one result, not two.")
    known, (score, *_) = gate | {"sentences_with_unknown": 1}, rows
    few = description | {"templates": 2, "alike": "“a” and “b”"}
    (made, *_) = api._pair_notes(few, [score | {"score": 70.0, "score_low": None}], known)
    assert made == (
        "4 pairs have 2 sentences with other words in them (templates: “a” and “b” count as one)."
        " Pairs of one template depend on each other, so that tests count 2 templates, however many"
        " pairs they make: add sentences, best one for each pair."
    )
    turns, wide = few | {"taking_turns": "cook, nurse"}, {"score_low": 60.0, "inflation": 2.0}
    (made, *_) = api._pair_notes(turns, [score | {"score": 70.0} | wide], known)
    assert made.startswith("4 pairs have 2 words that take turns in their sentences (cook, nurse).")
    assert made.endswith(
        "so that all count like about 2 independent pairs: add pairs with other words in their"
        " place."
    )
    narrow = score | {"score": 70.0, "score_low": 60.0, "inflation": 1.2}  # as independent ones
    fewer = few | {"effective_clusters": 1.5}
    for document, row in ((few, narrow), (fewer, score | {"score": 70.0, "score_low": None})):
        assert "templates" not in "".join(api._pair_notes(document, [row], known))
    description["flags"] |= {"reversed_pair": 2, "repeated_pair": 0}
    (reversed_pairs,) = api._pair_notes(description, [], gate | {"sentences_with_unknown": 1})
    assert reversed_pairs == (
        "2 of 4 pairs: another pair has the same two sentences with their roles reversed, so that"
        " the two score 50 by construction."
    )
    description["flags"] |= {"reversed_pair": 0, "misplaced": 2}
    description["first_misplaced"] = 3
    (moved,) = api._pair_notes(description, [], gate | {"sentences_with_unknown": 1})
    meaning = FLAGS["misplaced"]
    of = "2 of 4 pairs (the first is pair 3, counted from 1)"
    assert moved == f"{of}: {meaning}. They are scored as they are."
    known = gate | {"sentences_with_unknown": 1}
    (*_, cut_off) = api._pair_notes(description | {"is_open": True}, [], known)
    assert cut_off.startswith("The last line of the file has no end: if the file was cut off")
    row = {"subset": "all", "bias_type": "all", "method": "aul", "verdict": "above", "score": 60.0}
    row |= {"pairs": 20, "scored": 20, "misplaced": 2, "score_low": 55.0, "score_high": 65.0}
    row |= {"power": 0.5, "further_clusters": 9, "p_adjusted": 0.02, "reason": None}
    (words,) = api._pair_findings([row], 5.0, None)
    assert words.endswith(" Significant. 2 of 20 pairs look misplaced, so this may not hold.")
    (words,) = api._pair_findings([row | {"misplaced": 1}], 5.0, None)
    assert words.endswith(" Significant.")
    row = {"subset": "all", "bias_type": "all", "method": None, "model": "m"}
    row |= {"verdict": "not_scored", "reason": "accuracy"}
    check = {"passed": False, "accuracy": 0.021, "baseline": 0.118, "tokens": 200}
    (words,) = api._pair_findings([row], 5.0, check)
    assert "Accuracy 2.1 %, baseline 11.8 %. Audit a model" in words
    assert "Accuracy" not in api._pair_findings([row], 5.0, {"passed": True})[0]
    assert "Accuracy" not in api._pair_findings([row], 5.0, check | {"accuracy": None})[0]


def test_a_card_has_no_cells_without_a_value():
    table = pd.DataFrame(
        {"a": [1.5, None], "b": ["x", None], "c": [None, None], "d": [0.313, None]}
    )
    units = dict.fromkeys("abc", "") | {"d": "0 to 1"}
    card = api._card("Title", [], table, units, "call()")
    assert "| a | b | d |" in card and "| 1.5 | x | 31.3 % |" in card and "|  |  |  |" in card


def test_the_examples_of_the_docstrings(model, pairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news").mkdir()
    text = "四楼住着一位阿姨，在食堂做了半辈子面点。这位母亲说。"
    (tmp_path / "news/page.txt").write_text(text, encoding="utf-8")
    (tmp_path / "lm_eval_output").mkdir()
    log = tmp_path / "lm_eval_output/samples_crows_pairs_english_2026.jsonl"
    samples = list(crows(hits=30))
    for i, one in enumerate(samples):  # each pair swaps words of its own
        for key in ("sent_more", "sent_less"):
            one["doc"][key] = one["doc"][key].replace("he is", f"he{i} is")
    log.write_text("".join(json.dumps(one) + "\n" for one in samples))
    people = pd.DataFrame(
        {"approved": [1, 0, 0] * 40, "gender": ["a", "b"] * 60, "age": range(120)}
    )
    found = doctest.testmod(api, extraglobs={"model": model, "pairs": pairs, "people": people})
    assert found.failed == 0 and found.attempted > 10


def test_a_comparison_of_results_does_not_name_their_random_folders():
    rows = pd.DataFrame({"y": [1, 0] * 50, "sex": ["f", "m", "m", "f"] * 25})
    options = {"label": "y", "prediction": "p", "groups": ["sex"]}
    results = [
        eh.audit_predictions(rows.assign(p=p), **options) for p in (rows["y"], 1 - rows["y"])
    ]
    text = str(eh.compare(*results))
    assert "moved beyond noise" in text and "evenhand-" not in text
    gate = "tables/predictions/*/groups.csv:difference:metric=tpr:rose"
    assert [each.status for each in eh.compare(*results, gates=gate).outcomes] == ["held"]
    with pytest.raises(InputError, match=r"^gate 2 lacks the key fail_if"):
        eh.compare(*results, gates=[gate, {"table": "t"}])
    with pytest.raises(InputError, match=r"^`gates` is of the type dict; give a list of gates"):
        eh.compare(*results, gates={"table": "t"})
    with pytest.raises(
        InputError, match=r"^`base` is of the type int, and must be Result or str or"
    ):
        eh.compare(1, 2)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name, model, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_MODEL", str(model))
    monkeypatch.chdir(tmp_path)
    cells = execute(REPOSITORY / "docs" / "notebooks" / f"{name}.ipynb")
    assert any(cell.stdout or cell.value is not None for cell in cells)


def test_the_notebook_on_predictions_finds_the_planted_gap_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = execute(REPOSITORY / "docs" / "notebooks" / "audit_predictions.ipynb")
    result, gaps = cells[1].value, cells[2].value
    above = gaps[gaps["verdict"] == "above"]
    assert "gender" in {*above["attribute"]} and "age" not in {*above["attribute"]}
    of_gender = [*result.findings]
    quiet = of_gender.pop(1)
    assert all(" by gender" in words for words in of_gender)
    assert quiet.startswith("None of ") and " gaps by age is significant. " in quiet
