"""The stage on small data sets; the weights themselves are tested in test_features."""

from pathlib import Path

import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.legal.features import read_features
from evenhand.legal.fit_tfidf import fit_tfidf
from unit.cases import read_csv
from unit.legal.made_cases import write_cases

TEXTS = {
    "ecthr": ["killed shot the case", "beaten cell the case", "tax paper"],
    "cail": ["自首 退赃", "盗窃 手机", "杀害 持刀"],
}


def run(folder: Path, kind: str = "ecthr", split: str = "", **given):
    rows = [
        {
            "labels": None if number % 10 == 9 else ["0" if kind == "cail" else "2"],
            "text": [TEXTS[kind][number % 3], "and more of it"] if number else [],
            "split": split or ("train", "train", "dev", "test")[number // 3 % 4],
        }
        for number in range(60)
    ]
    data = write_cases(folder / "data.parquet", kind, rows)
    files = {"data": data, "out": folder / "words.arrow", "vocabulary": folder / "words.csv"}
    return stage.execute(fit_tfidf, {**files, **given})


@pytest.mark.parametrize("kind", TEXTS)
def test_words_and_what_is_counted(tmp_path, kind):
    record = run(tmp_path, kind)
    counts = record["counts"]
    assert (counts["cases"], counts["train_cases"], counts["min_df"]) == (60, 27, 2)
    assert counts["features"] == sum(counts["by_length"])
    assert counts["without_features"] == 1
    assert "scikit-learn" in record["packages"]
    vocabulary = read_csv(tmp_path / "words.csv")
    assert [int(row["column"]) for row in vocabulary] == list(range(counts["features"]))
    terms = [row["term"] for row in vocabulary]
    assert terms == sorted(terms)
    assert all(int(row["words"]) == row["term"].count(" ") + 1 for row in vocabulary)
    case_ids, matrix = read_features(tmp_path / "words.arrow")
    assert (len(case_ids), matrix.shape) == (60, (60, counts["features"]))


def test_no_case_to_learn_from(tmp_path):
    with pytest.raises(InputError, match="to learn words from"):
        run(tmp_path, split="dev")
