from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.slguset import distinct_sentences
from evenhand.slguset.distinct_sentences import SCHEMA, DistinctSentences, sentence_id

OCCURRENCES = st.lists(
    st.tuples(
        st.text("她他说。", min_size=1, max_size=3), st.sampled_from("abc"), st.integers(1, 9)
    ),
    max_size=40,
)


def collect(folder: Path, occurrences: list[tuple[str, str, int]], most: int) -> list[dict]:
    with closing(DistinctSentences(folder, most_sentences=most)) as found:
        for occurrence in occurrences:
            found.add(*occurrence)
        assert found.added == len(occurrences)
        return pa.Table.from_batches(found.batches(), SCHEMA).to_pylist()


def test_ids_are_blake2b_of_the_sentence() -> None:
    assert sentence_id("她说。") == sentence_id("她说。")
    assert sentence_id("") == "e4a6a0577479b2b4"
    assert len(sentence_id("他说。")) == 16


@settings(deadline=None)
@given(OCCURRENCES, st.integers(1, 8), st.randoms())
def test_neither_order_nor_spilling_changes_the_table(
    tmp_path_factory: pytest.TempPathFactory,
    occurrences: list[tuple[str, str, int]],
    most: int,
    random: object,
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    rows = collect(folder, occurrences, most=1000)
    shuffled = list(occurrences)
    random.shuffle(shuffled)
    assert collect(folder, shuffled, most) == rows
    assert [row["sentence_id"] for row in rows] == sorted(row["sentence_id"] for row in rows)
    assert {row["sentence"] for row in rows} == {s for s, _, _ in occurrences}
    assert sum(row["copies"] for row in rows) == len(occurrences)
    for row in rows:
        place = (row["source"], row["source_position"])
        assert place == min((f, n) for s, f, n in occurrences if s == row["sentence"])
    assert list(folder.iterdir()) == []


def test_runs_are_removed_when_reading_is_given_up(tmp_path: Path) -> None:
    found = DistinctSentences(tmp_path, most_sentences=2)
    for i in range(9):
        found.add(f"她{i}。", "a", i)
    assert len(list(tmp_path.iterdir())) == 1
    found.close()
    assert list(tmp_path.iterdir()) == []


def test_two_sentences_of_one_id_are_never_made_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct_sentences, "sentence_id", lambda sentence: "0" * 16)
    with pytest.raises(RuntimeError, match="two sentences have the id"):
        collect(tmp_path, [("她。", "a", 1), ("他。", "a", 2)], most=1)
