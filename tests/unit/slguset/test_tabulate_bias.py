"""The tables of the models' bias: values worked out by hand, and what they share."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.families import load_members
from evenhand.errors import InputError
from evenhand.slguset import tables
from evenhand.slguset.tables import values
from evenhand.slguset.tables.distribution import BINS, UNIT, counted, edges
from evenhand.slguset.tables.words import PARTS_OF_SPEECH, Word, rank_words
from unit.made_tables import check_declaration, check_rows
from unit.slguset.made_bias import ROWS, tabulate, write_dataset, write_model, write_scores
from unit.text.reference_posseg import reference

TABLES = ("models", "pairs", "variants", "correlations")


def summarise(folder, names=("a", "b"), **options):
    tables, counts = tabulate(folder, *names, **options)
    return *[tables[name] for name in TABLES], counts


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", [row[3] for row in ROWS])
    write_model(tmp_path, "b", [row[4] for row in ROWS], trusted=False)
    return tmp_path


def test_a_row_per_model_by_hand(folder):
    (a, b), _, _, _, counts = summarise(folder)
    assert (a["sentences"], a["scored"], a["excluded"], a["with_unknown_tokens"]) == (
        *(5, 5, 0, 1),
    )
    assert (a["mean_bias"], a["male_degree"], a["female_degree"], a["mean_degree"]) == (
        *(0.0, 0.16, 0.16, 0.32),
    )
    # 0.3 itself is not above 0.3.
    assert (a["above_threshold"], a["below_threshold"], a["within_threshold"]) == (1, 1, 3)
    assert (a["share_obvious"], a["share_above"]) == (0.4, 0.2)
    assert a["mean_degree_one_character"] == 0.64
    # Two clusters: 男人/女人 (mean 0.2) and 他/她 (mean -0.4/3).
    assert (a["mean_bias_low"], a["p_value"], a["power"]) == (None, 1.0, 0.0)
    assert (a["trusted"], a["reason"]) == (True, None)
    assert (b["scored"], b["excluded"], b["trusted"]) == (4, 1, False)
    assert b["reason"] == "fill_mask_not_above_baseline"
    assert b["mean_bias"] == 0.375
    assert (a["verdict"], b["verdict"]) == ("inconclusive", "not_scored")
    assert counts["scored"] == {"a": 5, "b": 4} and counts["trusted"] == 1


def test_by_pair_gender_and_direction(folder):
    _, table, *_ = summarise(folder, compounds=["见他/见她"])
    rows = {
        (r["model"], r["surface_pair"], r["gender"], r["direction"]): (r["n"], r["mean_bias"])
        for r in table
    }
    assert len(table) == len(rows) == 2 * 4 * 3 * 3
    names = ["all", "男人/女人", "他/她", "见他/见她"]
    assert [r["surface_pair"] for r in table[:36:9]] == names
    assert [r["group"] for r in table[:36:9]] == ["all", *2 * ["surface_pair"], "compound"]
    assert rows["a", "他/她", "all", "all"] == (3, -0.133333)
    assert rows["a", "他/她", "female", "all"] == (2, -0.35)
    assert rows["a", "他/她", "female", "female"] == (1, -0.7)
    assert rows["a", "他/她", "female", "male"] == (0, None)
    assert rows["b", "他/她", "female", "all"] == (1, 0.1)  # the excluded one is out
    assert {r["mean_bias_low"] for r in table if r["n"] < 2} == {None}
    row = next(r for r in table if r["gender"] == r["direction"] == "female")
    assert (row["n"], row["share"]) == (2, 0.666667)  # 0 has no direction
    row = next(r for r in table if (r["gender"], r["direction"]) == ("female", "all"))
    assert (row["n"], row["mean_bias"], row["female_degree"]) == (3, -0.266667, 0.266667)
    assert (row["below_threshold"], row["share_below"], row["share_above"]) == (1, 0.333333, 0.0)
    assert row["mean_bias_one_character"] == -0.533333
    for gender in ("all", "male", "female"):
        assert rows["a", "见他/见她", gender, "all"] == rows["a", "他/她", gender, "all"]


def test_a_compound_has_two_forms_and_rows_without_a_sentence(folder):
    _, table, *_ = summarise(folder, compounds=["男童/女童"])
    rows = [r for r in table if r["group"] == "compound"]
    assert {(r["surface_pair"], r["pair"], r["n"]) for r in rows} == {("男童/女童", None, 0)}
    for word in ("男童", "男童/男童", "/女童"):
        with pytest.raises(InputError, match="is not a compound"):
            summarise(folder, compounds=[word])


def test_other_ways_to_read_a_word_stand_beside_the_whole_word(folder):
    write_model(folder, "causal", [0.1] * 5, without=[
        "bias_left_to_right", "bias_right_to_left", "bias_one_character", "bias_single_mask",
    ])  # fmt: skip
    _, _, table, _, _ = summarise(folder, ("a", "causal"))
    rows = {(r["model"], r["variant"], r["words"]): r for r in table}
    assert len(table) == 2 * 5 + 2
    assert rows["a", "whole_word", "all"]["mean_degree"] == 0.32
    assert rows["a", "one_character", "all"]["mean_degree"] == 0.64
    assert rows["a", "single_mask", "all"]["sign_changed"] == 4  # of 5, one is 0
    several = rows["a", "single_mask", "several_tokens"]
    assert (several["n"], several["mean_bias"], several["sign_changed"]) == (2, 0.35, 1)
    assert rows["causal", "whole_word", "all"]["sign_changed"] == 0


@pytest.mark.parametrize(
    ("bias", "expected"), [(0.5, "male"), (-0.5, "female"), (0.0, "equivalent")]
)
def test_verdicts_are_by_surface_pair(tmp_path, bias, expected):
    words = [(f"男{sign}", f"女{sign}") for sign in "甲乙丙丁戊己庚辛壬癸"]
    rows = [("male", *pair) for pair in words for _ in range(20)]
    write_dataset(tmp_path / "dataset.parquet", rows)
    write_model(tmp_path, "a", (bias + np.random.default_rng(0).normal(0, 0.1, 200)).tolist())
    ((row,), *_) = summarise(tmp_path, ("a",))
    assert row["verdict"] == expected
    assert row["mean_bias_low"] < row["mean_bias"] < row["mean_bias_high"]
    assert (row["power"], row["further_pairs"]) == (pytest.approx(1, abs=1e-6), 0)


def test_correlations_over_what_both_scored(folder):
    write_model(folder, "constant", [0.1] * 5)
    _, _, _, table, _ = summarise(folder, ("a", "b", "constant"))
    assert [(r["model_a"], r["model_b"], r["n"]) for r in table] == [
        ("a", "b", 4),
        ("a", "constant", 5),
        ("b", "constant", 4),
    ]
    expected = np.corrcoef([0.5, -0.1, 0.3, 0.0], [1.0, -0.2, 0.6, 0.1])[0, 1]
    assert table[0]["pearson"] == pytest.approx(expected, abs=1e-6)
    assert table[0]["spearman"] == 1.0
    assert (table[1]["pearson"], table[1]["spearman"]) == (None, None)


def test_published_counts_stand_beside_the_same_number_of_sentences(folder, repository):
    write_model(folder, "bert-base-chinese", [0.1] * 5)
    table = folder / "published.csv"
    table.write_text(
        "model,sentences,within,above,below\nbert-base-chinese,5,2,1,2\n", encoding="utf-8"
    )
    (one, other), *_ = summarise(folder, ("a", "bert-base-chinese"), published=table)
    columns = ("published_within", "published_above", "published_below")
    assert [one[column] for column in columns] == [None, None, None]
    assert [other[column] for column in columns] == [2, 1, 2]
    ours = repository / "resources/packs/zh_gender/published_bias.csv"  # of 20,000 sentences
    (row,), *_ = summarise(folder, ("bert-base-chinese",), published=ours)
    assert [row[column] for column in columns] == [None, None, None]


def test_nothing_scored_is_an_empty_row_that_is_not_trusted(folder):
    write_model(folder, "none", [None] * 5)
    (row,), pairs, variants, _, _ = summarise(folder, ("none",))
    assert (row["scored"], row["excluded"], row["trusted"]) == (0, 5, False)
    for column in ("mean_bias", "mean_bias_low", "mean_degree", "share_obvious"):
        assert row[column] is None
    assert {r["n"] for r in pairs} == {0}
    assert variants == [] and row["verdict"] == "not_scored"


def test_one_scored_sentence_is_inconclusive(folder):
    write_model(folder, "one", [0.5, *[None] * 4])
    (row,), *_ = summarise(folder, ("one",))
    assert (row["scored"], row["trusted"], row["verdict"]) == (1, True, "inconclusive")


OF_GENDERS = [one for one in load_members(tables) if one is not values]


@pytest.mark.parametrize("member", OF_GENDERS, ids=lambda one: one.TABLE.name)
def test_a_table_describes_itself_and_its_rows_follow(folder, member):
    check_declaration(member)
    write_dataset(folder / "dataset.parquet", sentence=['<b>"没有",老师{{}}来了。'] * len(ROWS))
    for name in ("a", "b"):
        write_scores(folder, name, [1.0, -0.3, -0.5, None, 0.0])
    tabulate(folder, "a", "b", scored=("a", "b"))
    rows = check_rows(folder / "tables", member.TABLE)
    assert rows and {row.get("model", "a") for row in rows} <= {"a", "b"}
    counts = tabulate(folder, "a")[1]
    assert set(counts["left_out"]) == {"methods"}


def test_values_by_hand(folder):
    """Old words are likelier than middle ones by 1, and than young ones by 2."""
    check_declaration(values)
    ages = ["young", "middle", "old"]
    rows = [("old", "老年", "中年", 0), ("middle", "中年", "老年", 0), ("young", "青年", "老年", 0)]
    path = write_dataset(folder / "dataset.parquet", rows)
    table = pq.read_table(path).rename_columns({"gender": "age"})
    place = table.column_names.index("age")
    names = [name for name in table.column_names if name not in ("opposite", "age")]
    order = [*names[: place - 1], "opposite", "age", *names[place - 1 :]]
    table = table.select(order).append_column("age_opposite", pa.array(["middle", "old", "old"]))
    pq.write_table(table, path)
    write_model(folder, "a", [-1.0, -1.0, -2.0])
    scores = pq.read_table(folder / "a.parquet").rename_columns(
        {"log_p_male": "log_p_young", "log_p_female": "log_p_old"}
    )
    scores = scores.append_column("log_p_middle", scores["bias"])
    pq.write_table(scores, folder / "a.parquet")
    found, counts = tabulate(folder, "a", values=ages)
    by_value = {row["value"]: row for row in found["values"]}
    assert [by_value[age]["mean_bias"] for age in ages] == pytest.approx([-2, -1, 4 / 3], abs=1e-6)
    assert [by_value[age]["n"] for age in ages] == [1, 2, 3]
    assert {"models", "pairs"} <= set(counts["left_out"])


def test_wrong_inputs(folder):
    write_model(folder, "short", [0.1] * 4)
    with pytest.raises(InputError, match=r"short.parquet: its sentences are not those of"):
        summarise(folder, ("short",))
    with pytest.raises(InputError, match="is a second gate of a"):
        summarise(folder, ("a", "a"))
    write_model(folder, "binary", [0.1] * 5, log_base=2.0)
    with pytest.raises(InputError, match="different log bases"):
        summarise(folder, ("a", "binary"))
    (folder / "binary.gate.json").write_text("{", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"binary.gate.json: is not a description .*, or remove it"
    ):
        summarise(folder, ("a", "binary"))
    path = folder / "dataset.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(InputError, match="has no sentence"):
        summarise(folder, ("a",))


# distribution


FINITE = st.floats(-50, 50, allow_nan=False)


def test_all_models_share_edges_and_each_counts_its_scored_sentences(folder):
    write_model(folder, "b", [row[4] for row in ROWS])
    write_model(folder, "silent", [None] * len(ROWS))
    write_model(folder, "broken", [9.0] * len(ROWS), trusted=False)
    rows = tabulate(folder, "b", "silent", "broken", "a")[0]["distribution"]
    assert tabulate(folder, "silent", "broken")[0]["distribution"] == []
    assert [row["model"] for row in rows] == ["b"] * BINS + ["a"] * BINS
    of_b, of_a = rows[:BINS], rows[BINS:]
    assert [(r["low"], r["high"]) for r in of_a] == [(r["low"], r["high"]) for r in of_b]
    for some, n in ((of_b, 4), (of_a, 5)):
        assert sum(row["sentences"] for row in some) == n
        assert sum(row["share"] for row in some) == pytest.approx(1, abs=1e-4)
        assert some[0]["low"] is some[-1]["high"] is None
        assert all(low["high"] == high["low"] is not None for low, high in pairwise(some))
    assert of_a[BINS // 2]["low"] == 0
    for row in of_a:  # as someone counts who has this table alone
        low, high = (
            (-math.inf if row["low"] is None else row["low"]),
            (math.inf if row["high"] is None else row["high"]),
        )
        assert row["sentences"] == sum(low <= value < high for value in [row[3] for row in ROWS])


@pytest.mark.parametrize("value", [0.0, 1e-12])
def test_a_model_that_leans_nowhere_has_bins_too(value):
    inner = edges([np.array([value])])
    assert len(set(inner)) == BINS - 1
    assert counted(np.array([value]), inner)[BINS // 2] == 1


@given(st.lists(st.lists(FINITE, min_size=1).map(np.array), min_size=1, max_size=3))
def test_no_sentence_is_lost_and_edges_mirror_each_other(values):
    inner = edges(values)
    assert inner == [-edge for edge in inner[::-1]]
    assert all(edge == float(f"{edge:.6f}") for edge in inner)
    assert min(np.diff(inner)) >= UNIT / 2
    for one in values:
        assert sum(counted(one, inner)) == len(one)


# sentences


@pytest.fixture
def ranked(tmp_path):
    """Six sentences of falling ids, and a model."""
    ids = [f"{6 - number:04d}" for number in range(6)]
    texts = [f"他{number}来了。" for number in range(6)]
    rows = [("male", "他", "她")] * 6
    write_dataset(tmp_path / "dataset.parquet", rows, sentence_id=ids, sentence=texts)
    write_model(tmp_path, "a", [0.5, None, 0.5, 0.0, -0.1, 2.0], ids=ids)
    return tmp_path


def test_strongest_first_and_ties_by_id(ranked):
    rows = tabulate(ranked, "a", top=2)[0]["sentences"]
    found = [(r["direction"], r["rank"], r["bias"], r["sentence"]) for r in rows]
    assert found == [
        ("male", 1, 2.0, "他5来了。"),
        ("male", 2, 0.5, "他2来了。"),  # its id comes before that of 他0
        ("female", 1, -0.1, "他4来了。"),
    ]
    assert {(r["model"], r["surface_pair"], r["source"]) for r in rows} == {
        ("a", "他/她", "corpus/day.txt")
    }


# words


SENTENCES = [
    ("男教师在学校里教孩子音乐。", 0, 1, 1.0),
    ("那位男教师去了医院。", 2, 3, 0.5),
    ("女护士在医院里工作。", 0, 1, -1.0),
    ("没有医生的医院里，女护士最忙。", 9, 10, -0.4),
    ("女律师在法院。", 0, 1, 0.1),
]


def nouns(*words):
    return [Word(word, "n") for word in words]


def test_both_methods_are_jiebas_own():
    """Against jieba.analyse itself, which cuts the text by itself."""
    text = "医生在医院里照顾病人，护士也在医院里照顾病人。老师在学校教音乐。"
    words = [Word(pair.word, pair.flag) for pair in reference().lcut(text)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it leaves files open
        import jieba.analyse

        rankers = {"tf_idf": jieba.analyse.TFIDF(), "textrank": jieba.analyse.TextRank()}
    options = {"topK": None, "withWeight": True, "allowPOS": PARTS_OF_SPEECH}
    for method, ranker in rankers.items():
        theirs = dict(ranker.extract_tags(text, **options))
        ours = dict(rank_words(words, method, PARTS_OF_SPEECH, set()))
        assert ours == pytest.approx(theirs) and len(ours) >= 5


def test_textrank_links_nothing_across_a_gap():
    gap = [Word("\n", "x")] * 5
    linked = rank_words(nouns("医院", "音乐"), "textrank", ["n"], set())
    assert {word for word, _ in linked} == {"医院", "音乐"}
    assert rank_words([*nouns("医院"), *gap, *nouns("音乐")], "textrank", ["n"], set()) == []


def test_no_word_no_rank():
    for method in ("tf_idf", "textrank"):
        assert rank_words([], method, ["n"], set()) == []
        assert rank_words(nouns("医院"), method, ["v"], set()) == []
        assert rank_words(nouns("医院", "医院"), method, ["n"], {"医院"}) == []


@pytest.fixture
def subjects(tmp_path):
    texts, starts, ends, biases = zip(*SENTENCES, strict=True)
    rows = [("male", "男", "女")] * len(SENTENCES)
    write_dataset(
        tmp_path / "dataset.parquet", rows, sentence=texts, surface_start=starts, surface_end=ends
    )
    write_model(tmp_path, "a", biases)
    return tmp_path


def words_of(folder, **options):
    return tabulate(folder, "a", **options)[0]["words"]


def test_words_of_both_directions(subjects):
    rows = words_of(subjects)
    found = {(r["direction"], r["method"], r["word"]): r for r in rows}
    row = found["male", "tf_idf", "教师"]
    assert (row["sentences"], row["count"], row["count_opposite"]) == (2, 2, 0)
    row = found["female", "tf_idf", "医院"]
    assert (row["rank"], row["count"], row["count_opposite"]) == (2, 2, 1)
    words = {r["word"] for r in rows}
    assert "律师" not in words  # not beyond the threshold
    assert "没有" not in words and not any("男" in word or "女" in word for word in words)
    assert ("female", "textrank", "护士") in found
    for rank, one in enumerate([r for r in rows if r["method"] == "tf_idf"][:3], start=1):
        assert (one["rank"], one["weight"] > 0) == (rank, True)
