import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.scoring.execution import exact_length_batches


def test_by_hand():
    batches = exact_length_batches(np.array([3, 5, 3, 3, 9]), tokens=7)
    assert [b.tolist() for b in batches] == [[4], [1], [0, 2], [3]]


def test_rows_limit_a_batch():
    batches = exact_length_batches(np.array([2, 2, 2]), tokens=100, rows=2)
    assert [b.tolist() for b in batches] == [[0, 1], [2]]


def test_nothing():
    assert exact_length_batches(np.array([], dtype=int), tokens=7) == []


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 100), st.integers(1, 5))
def test_every_input_once_in_batches_that_fit(lengths, tokens, rows):
    batches = exact_length_batches(np.array(lengths, dtype=int), tokens=tokens, rows=rows)
    assert sorted(i for b in batches for i in b) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens
