from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.legal.built import BuiltCases
from evenhand.legal.fit_tfidf import fit_tfidf
from evenhand.legal.make_counterfactuals import make_counterfactuals
from unit.legal.made_cases import write_cases

LEGAL = Path(__file__).parents[3] / "resources" / "legal"
TABLES = [LEGAL / f"swap_gender_{name}.csv" for name in ("en", "zh", "en_followers")]

CASES = [
    {"text": ["He lost his key.", "He told her to go."]},
    {"text": ["The court sat."], "split": "dev"},
    {"text": [], "labels": None},
    {"text": ["Er verlor seinen Schlüssel; he did."], "language": "de"},
    {"text": ["其他人看见他。"], "language": "zh", "applicant_gender": "male"},
]


def run(folder: Path, cases: list, tables: list[Path] = TABLES):
    data = write_cases(folder / "data.parquet", "ecthr", cases)
    out = folder / "twins.parquet"
    return make_counterfactuals(data=data, out=out, tables=tables), out


def test_texts_are_swapped_and_words_counted(tmp_path):
    counts, out = run(tmp_path, CASES)
    assert counts == {"cases": 5, "twins": 2, "words": 5, "no_table": 1}
    rows = pq.read_table(out).to_pylist()
    assert [row["swapped"] for row in rows] == [4, 0, 0, 0, 1]
    assert [row["text"] for row in rows] == [
        ["She lost her key.", "She told him to go."],
        ["The court sat."],
        [],
        ["Er verlor seinen Schlüssel; he did."],
        ["其他人看见她。"],
    ]
    assert [row["case_id"] for row in rows] == [f"ecthr-{n}" for n in range(1, 6)]
    assert not any(name.startswith("applicant_gender") for name in rows[0])


def test_counterfactuals_are_read_like_a_data_set(tmp_path):
    _, out = run(tmp_path, CASES * 2)
    known, hot = BuiltCases(out).labels
    assert known.tolist() == [True, True, False, True, True] * 2
    assert hot.sum() == 8
    files = {"out": tmp_path / "w.arrow", "vocabulary": tmp_path / "w.csv"}
    assert fit_tfidf(data=out, **files)["cases"] == 10


def test_the_name_of_a_table_has_its_language(tmp_path):
    german = {"text": ["he lost her key"], "language": "de"}
    (tmp_path / "swap_words_de.csv").write_text("word,opposite,opposite_alone\nkey,lock,\n")
    counts, out = run(tmp_path, [german, *CASES[:1]], [tmp_path / "swap_words_de.csv"])
    assert counts["no_table"] == 1
    assert pq.read_table(out)["text"].to_pylist()[0] == ["he lost her lock"]
    with pytest.raises(InputError, match="a second table of this language"):
        run(tmp_path, CASES, [*TABLES, tmp_path / "swap_words_en.csv"])
