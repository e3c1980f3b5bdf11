from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.slguset import distinct_sentences
from evenhand.slguset.distinct_sentences import SENTENCES, distinct, sentence_id

OCCURRENCES = st.lists(
    st.tuples(
        st.text("她他说。", min_size=1, max_size=3), st.sampled_from("abc"), st.integers(1, 9)
    ),
    max_size=40,
)


def collect(occurrences: list[tuple[str, str, int]], most: int) -> list[dict]:
    return pa.Table.from_batches(distinct(occurrences, most), SENTENCES).to_pylist()


def test_ids_are_blake2b_of_the_sentence() -> None:
    assert sentence_id("她说。") == sentence_id("她说。")
    assert sentence_id("") == "e4a6a0577479b2b4"
    assert len(sentence_id("他说。")) == 16


@settings(deadline=None, max_examples=12)
@given(OCCURRENCES, st.integers(1, 8), st.randoms())
def test_neither_order_nor_batches_change_the_table(
    occurrences: list[tuple[str, str, int]], most: int, random: object
) -> None:
    rows = collect(occurrences, most=1000)
    shuffled = list(occurrences)
    random.shuffle(shuffled)
    assert collect(shuffled, most) == rows
    assert [row["sentence_id"] for row in rows] == sorted(row["sentence_id"] for row in rows)
    assert {row["sentence"] for row in rows} == {s for s, _, _ in occurrences}
    assert sum(row["copies"] for row in rows) == len(occurrences)
    for row in rows:
        place = (row["source"], row["source_position"])
        assert place == min((f, n) for s, f, n in occurrences if s == row["sentence"])


@pytest.mark.parametrize(("most", "sizes"), [(2, [2, 2, 2, 1]), (9, [3, 3, 1])])
def test_what_is_held_is_bounded(
    most: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct_sentences, "merged", lambda batches, *_: batches)
    monkeypatch.setattr(distinct_sentences, "MOST_CHARACTERS", 10)
    occurrences = [(f"她走{number}。", "a", 1) for number in range(7)]
    assert [batch.num_rows for batch in distinct(occurrences, most)] == sizes


@pytest.mark.parametrize("most", [1, 9])
def test_two_sentences_of_one_id_are_never_made_one(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct_sentences, "sentence_id", lambda sentence: "0" * 16)
    with pytest.raises(InputError, match="differ in sentence 0000"):
        collect([("她。", "a", 1), ("他。", "a", 2)], most)


def test_an_error_of_the_source_is_raised_as_it_is() -> None:
    def broken() -> Iterator[tuple[str, str, int]]:
        yield "她。", "a", 1
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        collect(broken(), 9)
