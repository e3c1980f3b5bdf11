import csv
import itertools
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.draw_annotation import draw_annotation
from evenhand.slguset.ledger import write_ledger
from made_sentences import (
    candidate_row,
    identify,
    made_sentences,
    write_candidates,
    write_keywords_csv,
)


@pytest.fixture
def keywords(tmp_path):
    return write_keywords_csv(tmp_path / "keywords.csv")


@pytest.fixture
def candidates(tmp_path):
    rows = [candidate_row(s) for s in made_sentences(60)]
    rows.append(candidate_row("第一天，他没来。", verdict="length"))
    rows.append(candidate_row("他和她。", verdict="several_keywords"))
    return write_candidates(tmp_path / "candidates.parquet", rows)


def draw(folder, candidates, keywords, **options):
    out, drawn = folder / "sample.parquet", folder / "drawn.csv"
    counts = draw_annotation(
        candidates=candidates,
        keywords=keywords,
        out=out,
        drawn=drawn,
        **({"round": "r1", "sentences_per_pair": 6} | options),
    )
    with drawn.open(encoding="utf-8", newline="") as stream:
        return pq.read_table(out).to_pylist(), list(csv.DictReader(stream)), counts


def ledger_of(path, sample):
    names = ("round", "rank", "sentence_id", "sentence")
    write_ledger(path, [[row[name] for name in names] for row in sample])
    return path


def ids(sample):
    return {row["sentence_id"] for row in sample}


def test_quotas_are_met_half_and_half(tmp_path, candidates, keywords):
    sample, drawn, counts = draw(tmp_path, candidates, keywords)
    assert [row["rank"] for row in sample] == list(range(1, 19))
    assert {row["verdict"] for row in sample} == {"accepted"}
    assert [(row["surface_male"], row["gender"], row["drawn"]) for row in drawn] == [
        (word, gender, "3") for word in ("男人", "他", "爷爷") for gender in ("male", "female")
    ]
    assert counts == {"wanted": 18, "drawn": 18, "missing": 0, "frozen": False, "rejected_since": 0}
    schema = pq.read_schema(tmp_path / "sample.parquet")
    assert schema.names == [*pq.read_schema(candidates).names, "round", "rank"]


def test_the_order_mixes_the_pairs_and_depends_on_the_seed(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords, sentences_per_pair=20)
    pairs = [row["pair"] for row in first]
    assert sum(a != b for a, b in itertools.pairwise(pairs)) > 20
    other, *_ = draw(tmp_path, candidates, keywords, sentences_per_pair=20, seed=2)
    assert ids(other) == ids(first)  # that is all there is
    assert [row["sentence_id"] for row in other] != [row["sentence_id"] for row in first]
    other, *_ = draw(tmp_path, candidates, keywords, seed=2)
    assert ids(other) != ids(draw(tmp_path, candidates, keywords)[0])


def test_row_order_does_not_matter(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    rows = pq.read_table(candidates).to_pylist()
    random.Random(1).shuffle(rows)
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(candidates)), candidates)
    again, *_ = draw(tmp_path, candidates, keywords)
    assert first == again


def test_a_new_candidate_moves_one_sentence_at_most(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    rows = pq.read_table(candidates).to_pylist()
    for number in range(100):
        new = candidate_row(f"新来的第{number}个，她说。")
        write_candidates(tmp_path / "more.parquet", [*rows, new])
        again, *_ = draw(tmp_path, tmp_path / "more.parquet", keywords)
        assert len(ids(first) - ids(again)) <= 1


def test_shortfalls_are_reported(tmp_path, candidates, keywords):
    sample, drawn, counts = draw(tmp_path, candidates, keywords, sentences_per_pair=24)
    assert len(sample) == counts["drawn"] == 60
    assert counts["missing"] == 12
    assert [(row["wanted"], row["available"], row["missing"]) for row in drawn] == [
        ("12", "10", "2")
    ] * 6


def test_a_quota_table_takes_over(tmp_path, candidates, keywords):
    quotas = tmp_path / "quotas.csv"
    quotas.write_text("surface_male,surface_female,sentences\n他,她,4\n", encoding="utf-8")
    sample, drawn, _ = draw(tmp_path, candidates, keywords, quotas=quotas)
    assert sorted(row["surface"] for row in sample) == ["他", "他", "她", "她"]
    assert [row["wanted"] for row in drawn] == ["0", "0", "2", "2", "0", "0"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("他,她,3", r"quotas\.csv:2: '3' sentences"),
        ("他,她,many", "'many' sentences"),
        ("他,她,-2", "'-2' sentences"),
        ("男孩,女孩,4", "no surface pair 男孩/女孩"),
    ],
)
def test_wrong_quotas_are_named(tmp_path, candidates, keywords, row, problem):
    quotas = tmp_path / "quotas.csv"
    quotas.write_text(f"surface_male,surface_female,sentences\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        draw(tmp_path, candidates, keywords, quotas=quotas)


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"sentences_per_pair": 5}, "even number"), ({"round": "../x"}, "cannot name a round"),
     ({"round": ""}, "cannot name a round")],
)  # fmt: skip
def test_wrong_options_are_named(tmp_path, candidates, keywords, options, problem):
    with pytest.raises(InputError, match=problem):
        draw(tmp_path, candidates, keywords, **options)


def test_nothing_is_handed_out_twice(tmp_path, candidates, keywords):
    seen, ledger = set(), []
    for name in ("r1", "r2", "r3"):
        sample, drawn, _ = draw(tmp_path, candidates, keywords, round=name, ledger=ledger)
        assert not ids(sample) & seen
        assert drawn[0]["available"] == str(10 - 3 * len(ledger))
        seen |= ids(sample)
        ledger.append(ledger_of(tmp_path / f"{name}.csv", sample))
    _, _, counts = draw(tmp_path, candidates, keywords, round="r4", ledger=ledger)
    assert (counts["drawn"], counts["missing"]) == (6, 12)


def test_a_round_in_the_ledger_is_frozen(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    ledger = [ledger_of(tmp_path / "r1.csv", first)]
    rows = pq.read_table(candidates).to_pylist()
    rejected = first[0]["sentence_id"]
    rows = [row | {"verdict": "name"} if row["sentence_id"] == rejected else row for row in rows]
    rows += [candidate_row(f"新来的第{n}个，她说。") for n in range(50)]
    write_candidates(candidates, rows)
    again, _, counts = draw(
        tmp_path, candidates, keywords, ledger=ledger, seed=7, sentences_per_pair=8
    )
    assert [(row["rank"], row["sentence_id"]) for row in again] == [
        (row["rank"], row["sentence_id"]) for row in first
    ]
    assert counts == {"wanted": 24, "drawn": 18, "missing": 6, "frozen": True, "rejected_since": 1}


@pytest.mark.parametrize("lost", ["row", "keyword"])
def test_a_frozen_sentence_that_is_gone_is_named(tmp_path, candidates, keywords, lost):
    first, *_ = draw(tmp_path, candidates, keywords)
    ledger = [ledger_of(tmp_path / "r1.csv", first)]
    gone = first[4]["sentence_id"]
    rows = pq.read_table(candidates).to_pylist()
    if lost == "row":
        rows = [row for row in rows if row["sentence_id"] != gone]
    else:
        rows = [r | {"keyword": None} if r["sentence_id"] == gone else r for r in rows]
    write_candidates(candidates, rows)
    with pytest.raises(InputError, match=rf"r1\.csv:6: sentence {gone}.*no longer"):
        draw(tmp_path, candidates, keywords, ledger=ledger)


def test_a_frozen_sentence_with_other_text_is_named(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    first[2]["sentence"] += "！"
    ledger = [ledger_of(tmp_path / "r1.csv", first)]
    with pytest.raises(InputError, match=r"r1\.csv:4: the text .* was changed"):
        draw(tmp_path, candidates, keywords, ledger=ledger)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([["r0", 1, identify("a"), "a"], ["r0", 2, identify("a"), "a"]], ":3: gives sentence"),
        ([["r0", 1, identify("a"), "a"], ["r0", 1, identify("b"), "b"]], ":3: gives sentence"),
        ([["r0", "x", identify("a"), "a"]], ":2: 'x' is no rank"),
        ([["r0", 1, "a", "a"]], ":2: the round or the sentence_id is broken"),
    ],
)
def test_a_broken_ledger_is_named(tmp_path, candidates, keywords, rows, problem):
    write_ledger(tmp_path / "r0.csv", rows)
    with pytest.raises(InputError, match=problem):
        draw(tmp_path, candidates, keywords, ledger=[tmp_path / "r0.csv"])


def test_nothing_to_draw_is_an_empty_sample_and_no_error(tmp_path, candidates, keywords, capsys):
    rows, drawn, counts = draw(tmp_path, candidates, keywords, sentences_per_pair=0)
    assert rows == [] and counts["drawn"] == 0 and drawn
    assert "no accepted sentence" in capsys.readouterr().err
