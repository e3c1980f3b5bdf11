import csv
import math
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.describe_words import PARTS_OF_SPEECH, Word, describe_words, rank_words
from unit.slguset.test_summarise_bias import write_model
from unit.text.reference_posseg import reference

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


def test_tf_idf_by_hand():
    text = [*nouns("医院", "医院", "音乐"), Word("唱歌", "v"), Word("的", "uj")]
    ranked = rank_words(text, "tf_idf", ["n"], set())
    assert [word for word, _ in ranked] == ["医院", "音乐"]
    once = dict(rank_words(nouns("医院", "音乐"), "tf_idf", ["n"], set()))
    assert dict(ranked)["医院"] == pytest.approx(once["医院"] * 4 / 3)  # 2/3 against 1/2


def test_textrank_links_nothing_across_a_gap():
    gap = [Word("\n", "x")] * 5
    linked = rank_words(nouns("医院", "音乐"), "textrank", ["n"], set())
    assert {word for word, _ in linked} == {"医院", "音乐"}
    assert rank_words([*nouns("医院"), *gap, *nouns("音乐")], "textrank", ["n"], set()) == []


def test_equal_weights_by_word_and_whatever_the_order_of_the_text():
    text = nouns("音乐", "医院", "学校")
    for method in ("tf_idf", "textrank"):
        assert rank_words(text, method, ["n"], set()) == rank_words(
            text[::-1], method, ["n"], set()
        )


def test_no_word_no_rank():
    for method in ("tf_idf", "textrank"):
        assert rank_words([], method, ["n"], set()) == []
        assert rank_words(nouns("医院"), method, ["v"], set()) == []
        assert rank_words(nouns("医院", "医院"), method, ["n"], {"医院"}) == []


@pytest.fixture
def folder(tmp_path):
    rows = [
        {"sentence_id": str(i), "sentence": text, "surface_start": start, "surface_end": end}
        for i, (text, start, end, _) in enumerate(SENTENCES)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", [row[3] for row in SENTENCES])
    write_model(tmp_path, "b", [row[3] for row in SENTENCES], trusted=False)
    (tmp_path / "stop.csv").write_text("word,note\n没有,\n", encoding="utf-8")
    return tmp_path


def describe(folder, **options):
    counts = describe_words(
        dataset=folder / "dataset.parquet",
        bias=[folder / "a.parquet", folder / "b.parquet"],
        gates=[folder / "a.gate.json", folder / "b.gate.json"],
        stop_words=options.pop("stop_words", folder / "stop.csv"),
        out=folder / "out.csv",
        **options,
    )
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), counts


def test_words_of_both_directions(folder):
    rows, counts = describe(folder)
    found = {(r["direction"], r["method"], r["word"]): r for r in rows}
    assert counts["models"] == counts["not_trusted"] == 1
    assert {r["model"] for r in rows} == {"a"}
    row = found["male", "tf_idf", "教师"]
    assert (row["sentences"], row["count"], row["count_opposite"]) == ("2", "2", "0")
    row = found["female", "tf_idf", "医院"]
    assert (row["rank"], row["count"], row["count_opposite"]) == ("2", "2", "1")
    words = {r["word"] for r in rows}
    assert "律师" not in words  # not beyond the threshold
    assert "没有" not in words and not any("男" in word or "女" in word for word in words)
    assert ("female", "textrank", "护士") in found
    for rank, one in enumerate([r for r in rows if r["method"] == "tf_idf"][:3], start=1):
        assert (one["rank"], float(one["weight"]) > 0) == (str(rank), True)


def test_as_many_words_as_wanted_and_the_same_bytes(folder):
    rows, _ = describe(folder, top=1)
    assert len(rows) == 4 and {r["rank"] for r in rows} == {"1"}
    first = (folder / "out.csv").read_bytes()
    describe(folder, top=1)
    assert (folder / "out.csv").read_bytes() == first


def test_no_sentence_beyond_the_threshold_is_no_row(folder):
    assert describe(folder, threshold=math.inf)[0] == []


def test_settings(folder):
    with pytest.raises(InputError, match="top is 0"):
        describe(folder, top=0)
    with pytest.raises(InputError, match="no part of speech"):
        describe(folder, parts_of_speech=[])


def test_the_table_of_stop_words_is_read(folder, repository):
    rows, _ = describe(folder, stop_words=repository / "resources/slguset/stop_words.csv")
    assert rows
