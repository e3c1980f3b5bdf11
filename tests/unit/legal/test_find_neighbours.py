from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.legal import find_neighbours as stage_module
from evenhand.legal.find_neighbours import NEIGHBOURS, find_neighbours, read_neighbours
from evenhand.legal.fit_tfidf import fit_tfidf
from unit.io.damage import damage
from unit.legal.made_cases import write_cases

#: Of the training cases 1 and 2 are alike, 3 has a word of theirs, 5 shares one with 6, 7 nothing.
TEXTS = [
    ("red green", "train"), ("red green", "train"), ("red blue", "train"), ("red green", "dev"),
    ("grey white", "train"), ("white black", "train"), ("", "train"), ("blue black", "test"),
]  # fmt: skip


def made(folder: Path, texts=TEXTS) -> dict[str, Path]:
    files = {
        "data": folder / "d.parquet",
        "features": folder / "w.arrow",
        "out": folder / "n.parquet",
    }
    rows = [{"text": [text] if text else [], "split": split} for text, split in texts]
    write_cases(files["data"], "ecthr", rows)
    fit_tfidf(
        data=files["data"], out=files["features"], vocabulary=folder / "v.csv",
        ngrams=1, min_df=1,
    )  # fmt: skip
    return files


def test_the_nearest_come_first_and_of_equals_the_first(tmp_path):
    files = made(tmp_path)
    counts = find_neighbours(**files, count=3)
    table = pq.read_table(files["out"])
    assert table.schema.equals(NEIGHBOURS)
    found = {row["case_id"]: row["neighbours"] for row in table.to_pylist()}
    assert found == {
        "ecthr-1": ["ecthr-2", "ecthr-3"],
        "ecthr-2": ["ecthr-1", "ecthr-3"],
        "ecthr-3": ["ecthr-1", "ecthr-2"],
        "ecthr-5": ["ecthr-6"],
        "ecthr-6": ["ecthr-5"],
        "ecthr-7": [],
    }
    cosines = table["cosines"].to_pylist()
    assert cosines[0][0] == 1
    assert 0 < cosines[2][0] == cosines[2][1] < 1
    assert (counts["cases"], counts["neighbours"], counts["alone"]) == (6, 8, 1)


def test_as_many_as_asked_for_and_the_same_bytes_in_any_blocks(tmp_path, monkeypatch):
    words = [f"{a}{b}" for a in "abcde" for b in "vwxyz"]
    generator = np.random.default_rng(3)
    texts = [(" ".join(generator.choice(words, 6)), "train") for _ in range(40)]
    files = made(tmp_path, texts)
    find_neighbours(**files, count=4)
    first = files["out"].read_bytes()
    monkeypatch.setattr(stage_module, "CASES", 7)
    find_neighbours(**files, count=4)
    assert files["out"].read_bytes() == first
    rows = pq.read_table(files["out"]).to_pylist()
    assert max(len(row["neighbours"]) for row in rows) == 4
    assert all(row["cosines"] == sorted(row["cosines"], reverse=True) for row in rows)
    assert all(row["case_id"] not in row["neighbours"] for row in rows)


def test_who_is_near_enough(tmp_path):
    files = made(tmp_path)
    find_neighbours(**files, count=3)
    ids, train = [f"ecthr-{n}" for n in range(1, 9)], np.array([0, 1, 2, 4, 5, 6])

    def near(epsilon, unit):
        found = read_neighbours(files["out"], ids, train, epsilon=epsilon, unit=unit)
        return {row: [one for one in some if one >= 0] for row, some in enumerate(found.tolist())}

    everyone = {0: [1, 2], 1: [0, 2], 2: [0, 1], 3: [], 4: [5], 5: [4], 6: [], 7: []}
    assert near(0.0, "cosine") == everyone
    assert near(0.99, "cosine") == {row: [] for row in range(8)} | {0: [1], 1: [0]}
    assert near(1.0, "cosine") == {row: [] for row in range(8)}
    assert near(1.0, "quantile") == near(0.99, "cosine")
    assert near(0.0, "quantile") == everyone


def test_damaged_neighbours(tmp_path):
    files = made(tmp_path)
    find_neighbours(**files)
    with pytest.raises(InputError, match=damage(files["out"], "cosines")):
        read_neighbours(files["out"], ["a"], np.array([0]), epsilon=0.5, unit="cosine")


def test_neighbours_of_other_cases(tmp_path):
    files = made(tmp_path)
    find_neighbours(**files)
    with pytest.raises(InputError, match="not about the cases of the split train"):
        read_neighbours(files["out"], ["a", "b"], np.array([0]), epsilon=0.5, unit="cosine")
    with pytest.raises(InputError, match="lacks the column neighbours"):
        read_neighbours(files["data"], ["a"], np.array([0]), epsilon=0.5, unit="cosine")
    (tmp_path / "other").mkdir()
    other = made(tmp_path / "other", TEXTS[:5])
    with pytest.raises(InputError, match="is about other cases"):
        find_neighbours(**{**files, "features": other["features"]})
