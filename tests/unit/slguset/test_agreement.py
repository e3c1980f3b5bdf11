import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.slguset.agreement import ONE_ANSWER
from evenhand.slguset.build_dataset import build_dataset
from evenhand.slguset.read_sheets import SCHEMA
from made_sentences import (
    candidate_row,
    identify,
    write_answers,
    write_keywords_csv,
    write_sample,
)
from unit.cases import read_csv

SAID = {
    "他在家。": "aaa",
    "她在家。": "rrr",
    "=他走了。": "aau",
    "她走了。": "aru",
    "男人在家。": "aaa",
    "女人在家。": "aaa",
}


@pytest.fixture
def tables(tmp_path):
    return {
        "samples": [write_sample(tmp_path / "s.parquet", [candidate_row(s) for s in SAID])],
        "answers": [write_answers(tmp_path / "a.parquet", SAID)],
        "keywords": write_keywords_csv(tmp_path / "keywords.csv"),
        "out": tmp_path / "slguset.parquet",
        "table": tmp_path / "slguset.csv",
        "tables": tmp_path / "tables",
    }


def test_agreement_per_pair_and_overall(tables):
    build_dataset(**tables)
    men, he, everything = read_csv(tables["tables"] / "agreement.csv")
    assert men == {
        "pair": "男人/女人",
        "n": "2",
        "unanimous": "2",
        "percent_agreement": "1.0",
        "fleiss_kappa": "",
        "krippendorff_alpha": "",
        "estimated_accept": men["estimated_accept"],
        "adjudicated": "0",
        "waiting": "0",
        "note": ONE_ANSWER,
    }
    # By hand: of 12 answers accept 6, reject 4, unsure 2; agreeing pairs 3, 3, 1, 0 of 3 each.
    observed, chance = 7 / 12, (6**2 + 4**2 + 2**2) / 12**2
    assert [he["pair"], he["n"], he["unanimous"], he["note"]] == ["他/她", "4", "2", ""]
    assert float(he["percent_agreement"]) == pytest.approx(observed, abs=1e-6)
    assert float(he["fleiss_kappa"]) == pytest.approx((observed - chance) / (1 - chance), abs=1e-6)
    unlike = 1 - (6 * 5 + 4 * 3 + 2 * 1) / (12 * 11)
    assert float(he["krippendorff_alpha"]) == pytest.approx(1 - (1 - observed) / unlike, abs=1e-6)
    assert [everything["pair"], everything["n"], everything["unanimous"]] == ["all", "6", "4"]


def test_what_each_annotator_said_is_counted(tables):
    build_dataset(**tables)
    rows = read_csv(tables["tables"] / "annotators.csv")
    assert [row["annotator"] for row in rows] == [f"annotator_{n}" for n in (1, 2, 3)]
    for place, row in enumerate(rows):
        said = [answers[place] for answers in SAID.values()]
        counts = {word: str(said.count(word[0])) for word in ("accept", "reject", "unsure")}
        counts |= {"answers": str(len(said)), "waiting": "0", "accuracy": ""}  # too few to tell
        assert row == {"annotator": row["annotator"], **counts}


def test_who_guesses_is_found(tables, tmp_path):
    """Three annotators agree on 40 sentences, the last answers by turns."""
    said = {f"他说了{n}次。": ("aaa" if n % 4 else "rrr") + "aru"[n % 3] for n in range(40)}
    tables["samples"] = [write_sample(tmp_path / "s.parquet", [candidate_row(s) for s in said])]
    tables["answers"] = [write_answers(tmp_path / "a.parquet", said)]
    build_dataset(**tables)
    first, second, _, last = read_csv(tables["tables"] / "annotators.csv")
    assert float(first["accuracy"]) == float(second["accuracy"]) > 0.9
    assert float(last["accuracy"]) == pytest.approx(1 / 3, abs=0.07)
    everything = read_csv(tables["tables"] / "agreement.csv")[-1]
    assert float(everything["estimated_accept"]) == pytest.approx(0.75, abs=0.03)
    guesses = {one: "aru"[n % 3] + "aru"[n // 3 % 3] + "aru"[n // 9 % 3]
               for n, one in enumerate(said)}  # fmt: skip
    tables["answers"] = [write_answers(tmp_path / "a.parquet", guesses)]
    build_dataset(**tables)
    assert [row["accuracy"] for row in read_csv(tables["tables"] / "annotators.csv")] == [""] * 3


def test_partial_answers_and_the_adjudicator(tables, tmp_path):
    partial = SAID | {"她走了。": "ar-", "男人在家。": "aa-", "他在家。": "---"}
    path = write_answers(tmp_path / "a.parquet", partial)
    rows = pq.read_table(path).to_pylist()
    one = next(row for row in rows if row["sentence_id"] == identify("=他走了。"))
    rows.append(one | {"annotator": "adjudicator", "answer": "accept"})
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    counts = build_dataset(**tables | {"answers": [path]})
    assert (counts["judged"], counts["sentences"]) == (6, 2)
    assert counts["left_out"] == {"reject": 1, "waiting": 3}
    *_, everything = read_csv(tables["tables"] / "agreement.csv")
    assert [everything[name] for name in ("n", "unanimous", "adjudicated", "waiting")] == [
        *("3", "2", "1", "3")
    ]
    waiting = [row["waiting"] for row in read_csv(tables["tables"] / "annotators.csv")]
    assert waiting == ["1", "1", "3"]
    table = pq.read_table(tables["out"])["sentence"].to_pylist()
    assert table == ["女人在家。", "=他走了。"]


def test_rounds_are_put_together(tables, tmp_path):
    later = {"爷爷在家。": "aar"}
    rows = [candidate_row(s) for s in later]
    tables["samples"].append(write_sample(tmp_path / "s2.parquet", rows, name="r2"))
    tables["answers"].insert(0, write_answers(tmp_path / "a2.parquet", later))
    assert build_dataset(**tables)["judged"] == 7
    assert [row["pair"] for row in read_csv(tables["tables"] / "agreement.csv")] == [
        "男人/女人",
        "他/她",
        "爷爷/奶奶",
        "all",
    ]
