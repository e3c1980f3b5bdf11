import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.import_published import import_published
from evenhand.slguset.summarise_bias import degrees, summarise_bias, verdict

#: gender, surface, surface_opposite, bias of the models a and b
ROWS = [
    ("male", "男人", "女人", 0.5, 1.0),
    ("female", "女人", "男人", -0.1, -0.2),
    ("male", "他", "她", 0.3, 0.6),
    ("female", "她", "他", -0.7, None),
    ("female", "她", "他", 0.0, 0.1),
]


def write_dataset(path, rows=ROWS):
    table = [
        {
            "sentence_id": str(number),
            "sentence": f"见{surface}了。",
            "start": 1,
            "pair": "男/女" if "人" in surface else "他/她",
            "surface": surface,
            "surface_opposite": opposite,
            "gender": gender,
        }
        for number, (gender, surface, opposite, *_) in enumerate(rows)
    ]
    pq.write_table(pa.Table.from_pylist(table), path)
    return path


def write_model(folder, name, biases, trusted=True, log_base=10.0, ids=None, without=()):
    table = [
        {
            "sentence_id": str(number) if ids is None else ids[number],
            "log_p_male": bias,
            "log_p_female": bias if bias is None else 0.0,
            "bias": bias,
            "bias_left_to_right": bias,
            "bias_right_to_left": bias,
            "bias_one_character": bias if bias is None else 2 * bias,
            "bias_single_mask": bias if bias is None else -bias,
            "n_masks": 2 if number > 2 else 1,
            "n_masks_opposite": 1,
            "has_unk": None if bias is None else number == 0,
            "excluded": "keyword_unknown" if bias is None else None,
            **dict.fromkeys(without),
        }
        for number, bias in enumerate(biases)
    ]
    pq.write_table(pa.Table.from_pylist(table, BIAS), folder / f"{name}.parquet")
    gate = {
        "model": name,
        "family": "masked",
        "log_base": log_base,
        "trusted": trusted,
        "reason": None if trusted else "fill_mask_not_above_baseline",
        "check": {"accuracy": 0.5, "baseline": 0.04},
    }
    (folder / f"{name}.gate.json").write_text(json.dumps(gate), encoding="utf-8")


def summarise(folder, names=("a", "b"), **options):
    paths = {
        name: folder / f"{name}.csv" for name in ("out", "by_pair", "variants", "correlations")
    }
    counts = summarise_bias(
        dataset=folder / "dataset.parquet",
        bias=[folder / f"{name}.parquet" for name in names],
        gates=[folder / f"{name}.gate.json" for name in names],
        **paths,
        **options,
    )
    tables = []
    for path in paths.values():
        with path.open(encoding="utf-8", newline="") as stream:
            tables.append(list(csv.DictReader(stream)))
    return *tables, counts


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", [row[3] for row in ROWS])
    write_model(tmp_path, "b", [row[4] for row in ROWS], trusted=False)
    return tmp_path


def test_a_row_per_model_by_hand(folder):
    (a, b), _, _, _, counts = summarise(folder)
    assert (a["sentences"], a["scored"], a["excluded"], a["with_unknown_tokens"]) == (
        *("5", "5", "0", "1"),
    )
    assert (a["mean_bias"], a["male_degree"], a["female_degree"], a["mean_degree"]) == (
        *("0.000000", "0.160000", "0.160000", "0.320000"),
    )
    # 0.3 itself is not above 0.3.
    assert (a["above_threshold"], a["below_threshold"], a["within_threshold"]) == ("1", "1", "3")
    assert (a["share_obvious"], a["share_above"]) == ("0.400000", "0.200000")
    assert a["mean_degree_one_character"] == "0.640000"
    # Clusters 男人/女人 (mean 0.2) and 他/她 (mean -0.4/3): the draws are one, both, the other.
    assert a["mean_bias_low"] == "-0.133333" and a["mean_bias_high"] == "0.200000"
    assert (a["trusted"], a["reason"]) == ("true", "")
    assert (b["scored"], b["excluded"], b["trusted"]) == ("4", "1", "false")
    assert b["reason"] == "fill_mask_not_above_baseline"
    assert b["mean_bias"] == "0.375000"
    assert (a["verdict"], b["verdict"]) == ("not_distinguishable", "not_scored")
    assert counts["scored"] == {"a": 5, "b": 4} and counts["trusted"] == 1


def test_by_pair_gender_and_direction(folder):
    _, table, _, _, counts = summarise(folder, compounds=["见他/见她"])
    rows = {
        (r["model"], r["surface_pair"], r["gender"], r["direction"]): (r["n"], r["mean_bias"])
        for r in table
    }
    assert len(table) == len(rows) == 2 * 4 * 3 * 3
    names = ["all", "男人/女人", "他/她", "见他/见她"]
    assert [r["surface_pair"] for r in table[:36:9]] == names
    assert [r["group"] for r in table[:36:9]] == ["all", *2 * ["surface_pair"], "compound"]
    assert rows["a", "他/她", "all", "all"] == ("3", "-0.133333")
    assert rows["a", "他/她", "female", "all"] == ("2", "-0.350000")
    assert rows["a", "他/她", "female", "female"] == ("1", "-0.700000")
    assert rows["a", "他/她", "female", "male"] == ("0", "")
    assert rows["b", "他/她", "female", "all"] == ("1", "0.100000")  # the excluded one is out
    assert {r["mean_bias_low"] for r in table if int(r["n"]) < 2} == {""}
    for gender in ("all", "male", "female"):
        assert rows["a", "见他/见她", gender, "all"] == rows["a", "他/她", gender, "all"]
    assert counts["compounds"] == {"见他/见她": 3}


def test_shares_and_degrees_by_original_gender(folder):
    _, table, *_ = summarise(folder)
    rows = {(r["surface_pair"], r["gender"], r["direction"]): r for r in table[:27]}
    row = rows["all", "female", "all"]
    assert (row["n"], row["mean_bias"], row["female_degree"]) == ("3", "-0.266667", "0.266667")
    assert (row["below_threshold"], row["share_below"], row["share_above"]) == (
        *("1", "0.333333", "0.000000"),
    )
    assert row["mean_bias_one_character"] == "-0.533333"
    assert rows["all", "female", "female"]["share"] == "0.666667"  # 0 leans neither way
    whole = rows["all", "all", "all"]
    assert (whole["mean_bias_low"], whole["mean_bias_high"]) == ("-0.133333", "0.200000")


def test_a_compound_that_no_sentence_holds_has_rows_of_none(folder):
    _, table, _, _, counts = summarise(folder)
    rows = [r for r in table if r["group"] == "compound"]
    assert {(r["surface_pair"], r["pair"], r["n"]) for r in rows} == {("男童/女童", "", "0")}
    assert counts["compounds"] == {"男童/女童": 0}


@pytest.mark.parametrize("word", ["男童", "男童/男童", "/女童"])
def test_a_compound_has_two_forms(folder, word):
    with pytest.raises(InputError, match="is not a compound"):
        summarise(folder, compounds=[word])


def test_other_ways_to_read_a_word_stand_beside_the_whole_word(folder):
    write_model(folder, "causal", [0.1] * 5, without=[
        "bias_left_to_right", "bias_right_to_left", "bias_one_character", "bias_single_mask",
    ])  # fmt: skip
    _, _, table, _, _ = summarise(folder, ("a", "causal"))
    rows = {(r["model"], r["variant"], r["words"]): r for r in table}
    assert len(table) == 2 * 5 + 2
    assert rows["a", "whole_word", "all"]["mean_degree"] == "0.320000"
    assert rows["a", "one_character", "all"]["mean_degree"] == "0.640000"
    assert rows["a", "single_mask", "all"]["sign_changed"] == "4"  # of 5, one is 0
    several = rows["a", "single_mask", "several_tokens"]
    assert (several["n"], several["mean_bias"], several["sign_changed"]) == ("2", "0.350000", "1")
    assert rows["causal", "whole_word", "all"]["sign_changed"] == "0"


def test_verdict():
    assert [
        verdict(0.1, 0.2),
        verdict(-0.2, -0.1),
        verdict(-0.1, 0.1),
        verdict(np.nan, np.nan),
    ] == [
        *("male", "female", "not_distinguishable", "not_distinguishable"),
    ]
    assert verdict(0.0, 0.1) == "not_distinguishable"


def test_correlations_over_what_both_scored(folder):
    write_model(folder, "constant", [0.1] * 5)
    _, _, _, table, _ = summarise(folder, ("a", "b", "constant"))
    assert [(r["model_a"], r["model_b"], r["n"]) for r in table] == [
        ("a", "b", "4"),
        ("a", "constant", "5"),
        ("b", "constant", "4"),
    ]
    expected = np.corrcoef([0.5, -0.1, 0.3, 0.0], [1.0, -0.2, 0.6, 0.1])[0, 1]
    assert float(table[0]["pearson"]) == pytest.approx(expected, abs=1e-6)
    assert float(table[0]["spearman"]) == 1.0
    assert (table[1]["pearson"], table[1]["spearman"]) == ("", "")


def test_published_counts_stand_beside_the_same_number_of_sentences(folder, repository):
    write_model(folder, "bert-base-chinese", [0.1] * 5)
    table = folder / "published.csv"
    table.write_text(
        "model,sentences,within,above,below\nbert-base-chinese,5,2,1,2\n", encoding="utf-8"
    )
    (one, other), *_ = summarise(folder, ("a", "bert-base-chinese"), published=table)
    columns = ("published_within", "published_above", "published_below")
    assert [one[column] for column in columns] == ["", "", ""]
    assert [other[column] for column in columns] == ["2", "1", "2"]
    ours = repository / "resources" / "slguset" / "published_bias.csv"  # of 20,000 sentences
    (row,), *_ = summarise(folder, ("bert-base-chinese",), published=ours)
    assert [row[column] for column in columns] == ["", "", ""]


def test_nothing_scored_is_an_empty_row_that_is_not_trusted(folder):
    write_model(folder, "none", [None] * 5)
    (row,), pairs, variants, _, _ = summarise(folder, ("none",))
    assert (row["scored"], row["excluded"], row["trusted"]) == ("0", "5", "false")
    for column in ("mean_bias", "mean_bias_low", "mean_degree", "share_obvious"):
        assert row[column] == ""
    assert {r["n"] for r in pairs} == {"0"}
    assert variants == [] and row["verdict"] == "not_scored"


def test_same_bytes(folder):
    summarise(folder)
    first = (folder / "out.csv").read_bytes(), (folder / "by_pair.csv").read_bytes()
    summarise(folder)
    assert first == ((folder / "out.csv").read_bytes(), (folder / "by_pair.csv").read_bytes())


def test_degrees():
    values = np.array([1.0, -0.5, 0.0])
    found = degrees(values)
    assert found["male_degree"] - found["female_degree"] == pytest.approx(found["mean_bias"])
    assert found["male_degree"] + found["female_degree"] == pytest.approx(found["mean_degree"])
    assert set(degrees(np.array([])).values()) == {None}


def test_wrong_inputs(folder):
    write_model(folder, "short", [0.1] * 4)
    with pytest.raises(InputError, match=r"short.parquet: its sentences are not those of"):
        summarise(folder, ("short",))
    write_model(folder, "natural", [0.1] * 5, log_base=2.718)
    with pytest.raises(InputError, match="different log bases"):
        summarise(folder, ("a", "natural"))
    with pytest.raises(InputError, match="two models have one name"):
        summarise(folder, ("a", "a"))
    with pytest.raises(InputError, match="0 bias tables"):
        summarise(folder, ())
    (folder / "b.gate.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is not a gate"):
        summarise(folder)
    write_dataset(folder / "dataset.parquet", [])
    with pytest.raises(InputError):
        summarise(folder, ("a",))


@pytest.mark.mirror
def test_boys_and_girls_of_the_authors_file(tmp_path, mirror, repository):
    import_published(
        file=mirror / "chinese_gender/slguset/SlguSet.csv",
        keywords=repository / "resources/slguset/keywords.csv",
        sentences=tmp_path / "sentences.parquet",
        dataset=tmp_path / "dataset.parquet",
        problems=tmp_path / "problems.csv",
    )
    rows = pq.read_table(tmp_path / "dataset.parquet", columns=["sentence_id", "gender"])
    # A model that leans to the word that stands there, and to nothing else.
    biases = [0.4 if gender == "male" else -0.4 for gender in rows["gender"].to_pylist()]
    write_model(tmp_path, "a", biases, ids=rows["sentence_id"].to_pylist())
    _, table, _, _, counts = summarise(tmp_path, ("a",), resamples=20)
    assert counts["compounds"] == {"男童/女童": 238}
    found = {(r["gender"], r["direction"]): r for r in table if r["group"] == "compound"}
    assert (found["male", "male"]["n"], found["female", "female"]["n"]) == ("144", "94")
    assert (found["male", "female"]["n"], found["female", "male"]["n"]) == ("0", "0")
    assert found["all", "all"]["pair"] == "男/女"
    assert len({r["surface_pair"] for r in table}) == 1 + 19 + 1
