import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.slguset.bias_tables import by_bias
from evenhand.slguset.describe_sentences import describe_sentences
from unit.slguset.test_summarise_bias import write_model


def write_dataset(path, count):
    rows = [
        {
            "sentence_id": f"{count - number:04d}",
            "sentence": f"他{number}来了。",
            "pair": "他/她",
            "surface": "他",
            "surface_opposite": "她",
            "gender": "male",
            "start": 0,
            "end": 1,
            "surface_start": 0,
            "surface_end": 1,
            "source": "corpus/day.txt",
            "source_position": number + 1,
        }
        for number in range(count)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return [row["sentence_id"] for row in rows]


def describe(folder, names, **options):
    counts = describe_sentences(
        dataset=folder / "dataset.parquet",
        bias=[folder / f"{name}.parquet" for name in names],
        gates=[folder / f"{name}.gate.json" for name in names],
        out=folder / "out.csv",
        **options,
    )
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), counts


@pytest.fixture
def folder(tmp_path):
    ids = write_dataset(tmp_path / "dataset.parquet", 6)
    for name, trusted in (("a", True), ("b", False)):
        write_model(tmp_path, name, [0.5, None, 0.5, 0.0, -0.1, 2.0], trusted=trusted, ids=ids)
    return tmp_path


def test_strongest_first_and_ties_by_id(folder):
    rows, counts = describe(folder, ("a", "b"), top=2)
    found = [(r["direction"], r["rank"], r["bias"], r["sentence"]) for r in rows]
    assert found == [
        ("male", "1", "2.000000", "他5来了。"),
        ("male", "2", "0.500000", "他2来了。"),  # its id comes before that of 他0
        ("female", "1", "-0.100000", "他4来了。"),
    ]
    assert {(r["model"], r["surface_pair"], r["source"]) for r in rows} == {
        ("a", "他/她", "corpus/day.txt")
    }
    assert counts == {"models": 1, "not_trusted": 1, "sentences": 3}


def test_the_first_of_a_longer_list_are_a_shorter_list(folder):
    longer, _ = describe(folder, ("a",))
    assert len(longer) == 4
    shorter, _ = describe(folder, ("a",), top=1)
    assert shorter == [row for row in longer if row["rank"] == "1"]


def test_no_sentence_is_wanted(folder):
    with pytest.raises(InputError, match="top is 0"):
        describe(folder, ("a",), top=0)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, float("nan")])))
def test_both_directions_mirror_each_other(values):
    ids = [f"{number:03d}" for number in range(len(values))]
    male = by_bias(values, ids, "male")
    assert male == by_bias([-value for value in values], ids, "female")
    assert len(male) == sum(value > 0 for value in values)
