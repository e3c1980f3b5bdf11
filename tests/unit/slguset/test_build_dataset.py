import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.slguset.build_dataset import ONE_ANSWER, build_dataset
from evenhand.slguset.dataset import SCHEMA
from evenhand.slguset.read_sheets import SCHEMA as ANSWERS
from made_sentences import candidate_row, identify, write_answers, write_keywords_csv, write_sample
from unit.cases import read_csv

SAID = {
    "那天，爷爷在“家”。": "aaa",
    "他在家,等人。": "aaa",
    "她在家。": "aaa",
    "她在这里。": "aaa",
    "女人走了。": "aar",
    "他走了。": "uuu",
    "男人走了，没回来。": "aaa",
    "奶奶走了。": "rrr",
}


@pytest.fixture
def tables(tmp_path):
    rows = [candidate_row(s) for s in SAID]
    rows[1]["verdict"] = "name"  # a later filter rejects it; the annotators' word stands
    return {
        "samples": [write_sample(tmp_path / "s.parquet", rows)],
        "answers": [write_answers(tmp_path / "a.parquet", SAID)],
        "keywords": write_keywords_csv(tmp_path / "keywords.csv"),
        "out": tmp_path / "slguset.parquet",
        "table": tmp_path / "slguset.csv",
        "tables": tmp_path / "tables",
    }


def test_what_all_accept_and_nothing_else(tables):
    counts = build_dataset(**tables)
    table = pq.read_table(tables["out"])
    assert table.schema.remove_metadata().equals(SCHEMA)
    rows = table.to_pylist()
    hers = sorted(["她在家。", "她在这里。"], key=identify)
    assert [row["sentence"] for row in rows] == [
        "男人走了，没回来。",
        *hers,
        "他在家,等人。",
        "那天，爷爷在“家”。",
    ]
    assert counts == {
        "judged": 8,
        "sentences": 5,
        "left_out": {"disagreement": 1, "reject": 1, "unsure": 1},
        "by_gender": {"female": 2, "male": 3},
    }
    assert rows[0]["masked_sentence"] == "[MASK]人走了，没回来。"
    assert rows[0]["swapped_sentence"] == "女人走了，没回来。"
    assert rows[-1]["masked_sentence"] == "那天，[MASK][MASK]在“家”。"
    assert rows[-1]["swapped_sentence"] == "那天，奶奶在“家”。"
    with tables["table"].open(encoding="utf-8", newline="") as stream:
        header, *authors = csv.reader(stream)
    assert header == ["句子", "关键词位置", "原始关键词", "对立关键词"]
    assert authors == [
        [row["sentence"], f"[{row['start']}, {row['end']}]", row["keyword"], row["opposite"]]
        for row in rows
    ]


def test_a_data_set_may_be_empty(tables, tmp_path):
    tables["answers"] = [write_answers(tmp_path / "a.parquet", dict.fromkeys(SAID, "rrr"))]
    assert build_dataset(**tables)["sentences"] == 0
    assert pq.read_table(tables["out"]).num_rows == 0
    assert len(tables["table"].read_text(encoding="utf-8").splitlines()) == 1


# --- agreement


JUDGED = {
    "他在家。": "aaa",
    "她在家。": "rrr",
    "=他走了。": "aau",
    "她走了。": "aru",
    "男人在家。": "aaa",
    "女人在家。": "aaa",
}


@pytest.fixture
def judged(tables, tmp_path):
    return tables | {
        "samples": [write_sample(tmp_path / "s.parquet", [candidate_row(s) for s in JUDGED])],
        "answers": [write_answers(tmp_path / "a.parquet", JUDGED)],
    }


def test_agreement_per_pair_and_overall(judged):
    build_dataset(**judged)
    men, he, everything = read_csv(judged["tables"] / "agreement.csv")
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
    assert float(he["percent_agreement"]) == round(observed, 6)
    assert float(he["fleiss_kappa"]) == round((observed - chance) / (1 - chance), 6)
    unlike = 1 - (6 * 5 + 4 * 3 + 2 * 1) / (12 * 11)
    assert float(he["krippendorff_alpha"]) == round(1 - (1 - observed) / unlike, 6)
    assert [everything["pair"], everything["n"], everything["unanimous"]] == ["all", "6", "4"]


def test_what_each_annotator_said_is_counted(judged):
    build_dataset(**judged)
    rows = read_csv(judged["tables"] / "annotators.csv")
    assert [row["annotator"] for row in rows] == [f"annotator_{n}" for n in (1, 2, 3)]
    for place, row in enumerate(rows):
        said = [answers[place] for answers in JUDGED.values()]
        counts = {word: str(said.count(word[0])) for word in ("accept", "reject", "unsure")}
        counts |= {"answers": str(len(said)), "waiting": "0", "accuracy": ""}  # too few to tell
        assert row == {"annotator": row["annotator"], **counts}


def test_who_guesses_is_found(judged, tmp_path):
    """Three annotators agree on 40 sentences, the last answers by turns."""
    said = {f"他说了{n}次。": ("aaa" if n % 4 else "rrr") + "aru"[n % 3] for n in range(40)}
    judged["samples"] = [write_sample(tmp_path / "s.parquet", [candidate_row(s) for s in said])]
    judged["answers"] = [write_answers(tmp_path / "a.parquet", said)]
    build_dataset(**judged)
    first, second, _, last = read_csv(judged["tables"] / "annotators.csv")
    assert float(first["accuracy"]) == float(second["accuracy"]) > 0.9
    assert float(last["accuracy"]) == pytest.approx(1 / 3, abs=0.07)
    assert len(last["accuracy"]) == len("0.333333")
    everything = read_csv(judged["tables"] / "agreement.csv")[-1]
    assert float(everything["estimated_accept"]) == pytest.approx(0.75, abs=0.03)
    guesses = {one: "aru"[n % 3] + "aru"[n // 3 % 3] + "aru"[n // 9 % 3]
               for n, one in enumerate(said)}  # fmt: skip
    judged["answers"] = [write_answers(tmp_path / "a.parquet", guesses)]
    build_dataset(**judged)
    assert [row["accuracy"] for row in read_csv(judged["tables"] / "annotators.csv")] == [""] * 3


def test_partial_answers_and_the_adjudicator(judged, tmp_path):
    partial = JUDGED | {"她走了。": "ar-", "男人在家。": "aa-", "他在家。": "---"}
    path = write_answers(tmp_path / "a.parquet", partial)
    rows = pq.read_table(path).to_pylist()
    one = next(row for row in rows if row["sentence_id"] == identify("=他走了。"))
    rows.append(one | {"annotator": "adjudicator", "answer": "accept"})
    pq.write_table(pa.Table.from_pylist(rows, ANSWERS), path)
    counts = build_dataset(**judged | {"answers": [path]})
    assert (counts["judged"], counts["sentences"]) == (6, 2)
    assert counts["left_out"] == {"reject": 1, "waiting": 3}
    *_, everything = read_csv(judged["tables"] / "agreement.csv")
    assert [everything[name] for name in ("n", "unanimous", "adjudicated", "waiting")] == [
        *("3", "2", "1", "3")
    ]
    waiting = [row["waiting"] for row in read_csv(judged["tables"] / "annotators.csv")]
    assert waiting == ["1", "1", "3"]
    table = pq.read_table(judged["out"])["sentence"].to_pylist()
    assert table == ["女人在家。", "=他走了。"]


def test_rounds_are_put_together(judged, tmp_path):
    later = {"爷爷在家。": "aar"}
    rows = [candidate_row(s) for s in later]
    judged["samples"].append(write_sample(tmp_path / "s2.parquet", rows, name="r2"))
    judged["answers"].insert(0, write_answers(tmp_path / "a2.parquet", later))
    assert build_dataset(**judged)["judged"] == 7
    assert [row["pair"] for row in read_csv(judged["tables"] / "agreement.csv")] == [
        "男人/女人",
        "他/她",
        "爷爷/奶奶",
        "all",
    ]
