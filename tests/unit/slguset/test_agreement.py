import csv

import pytest

from evenhand.errors import InputError
from evenhand.slguset.agreement import ONE_ANSWER
from evenhand.slguset.build_dataset import build_dataset
from made_sentences import (
    candidate_row,
    identify,
    write_answers,
    write_keywords_csv,
    write_sample,
)

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
        "disagreements": tmp_path / "disagreements.csv",
    }


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_agreement_per_pair_and_overall(tables):
    build_dataset(**tables)
    men, he, everything = read(tables["tables"] / "agreement.csv")
    assert men == {
        "pair": "男人/女人",
        "n": "2",
        "unanimous": "2",
        "percent_agreement": "1.0",
        "fleiss_kappa": "",
        "krippendorff_alpha": "",
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


def test_disagreements_are_listed_and_safe(tables):
    build_dataset(**tables)
    first, second = read(tables["disagreements"])
    assert first["sentence"] == "'=他走了。"
    assert first["answer_annotator_3"] == "unsure"
    assert first["comment_annotator_3"] == "'=1+1"
    assert (second["answer_annotator_2"], second["criterion_annotator_2"]) == ("reject", "b")
    assert (second["rank"], second["pair"]) == ("4", "他/她")


def test_what_each_annotator_said_is_counted(tables):
    build_dataset(**tables)
    rows = read(tables["tables"] / "annotators.csv")
    assert list(rows[0]) == ["annotator", "answers", "accept", "reject", "unsure"]
    assert [row["annotator"] for row in rows] == [f"annotator_{n}" for n in (1, 2, 3)]
    for place, row in enumerate(rows):
        said = [answers[place] for answers in SAID.values()]
        counts = {word: str(said.count(word[0])) for word in ("accept", "reject", "unsure")}
        assert row == {"annotator": row["annotator"], "answers": str(len(said)), **counts}


def test_rounds_are_put_together(tables, tmp_path):
    later = {"爷爷在家。": "aar"}
    rows = [candidate_row(s) for s in later]
    tables["samples"].append(write_sample(tmp_path / "s2.parquet", rows, name="r2"))
    tables["answers"].insert(0, write_answers(tmp_path / "a2.parquet", later))
    assert build_dataset(**tables)["judged"] == 7
    assert [row["pair"] for row in read(tables["tables"] / "agreement.csv")] == [
        "男人/女人",
        "他/她",
        "爷爷/奶奶",
        "all",
    ]


def test_samples_and_answers_that_do_not_fit_are_refused(tables, tmp_path):
    again = tables | {"samples": tables["samples"] * 2}
    with pytest.raises(InputError, match=f"{identify('他在家。')} is in two rounds"):
        build_dataset(**again)
    other = write_answers(tmp_path / "o.parquet", {"爷爷在家。": "aaa"})
    with pytest.raises(InputError, match="is in no sample"):
        build_dataset(**(tables | {"answers": [other]}))
    short = write_answers(tmp_path / "o.parquet", SAID | {"女人在家。": "aa"})
    with pytest.raises(InputError, match=f"{identify('女人在家。')} has 2 answers, others have 3"):
        build_dataset(**(tables | {"answers": [short]}))
    with pytest.raises(InputError, match="has 0 answers"):
        build_dataset(**(tables | {"answers": []}))
