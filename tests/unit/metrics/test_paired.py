import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evenhand.metrics import paired
from evenhand.metrics.paired import holm, swapped_sums


def test_swaps_agree_with_all_of_them():
    generator = np.random.default_rng(3)
    one, other = generator.integers(3, size=(2, 5, 2)).astype(np.float64)
    codes = np.array([0, 1, 2, 0, 1])  # the third item is in no group
    found = swapped_sums(one, other, codes, 2, seed=1, swaps=2000)
    every = {
        tuple(
            np.array(
                [
                    np.where(np.array(swap)[:, None], other, one)[codes == group].sum(axis=0)
                    for group in (0, 1)
                ]
            ).ravel()
        )
        for swap in itertools.product((False, True), repeat=5)
    }
    assert {tuple(some.ravel()) for some in found} == every
    middle = [(one + other)[codes == group].sum(axis=0) / 2 for group in (0, 1)]
    assert found.mean(axis=0) == pytest.approx(np.array(middle), abs=0.1)


def test_groups_see_the_same_swaps():
    one, other = np.zeros((6, 1)), np.arange(1.0, 7.0)[:, None]
    apart = swapped_sums(one, other, np.array([0, 1, 0, 1, 0, 1]), 2, seed=5, swaps=50)
    whole = swapped_sums(one, other, np.zeros(6, dtype=int), 1, seed=5, swaps=50)
    assert apart.sum(axis=1).tolist() == whole[:, 0].tolist()


def test_pieces_do_not_change_the_swaps(monkeypatch):
    one, other = np.random.default_rng(0).integers(9, size=(2, 30, 2)).astype(np.float32)
    codes = np.arange(30) % 3
    whole = swapped_sums(one, other, codes, 3, seed=1, swaps=100)
    monkeypatch.setattr(paired, "SWAPS_AT_ONCE", 170)
    assert swapped_sums(one, other, codes, 3, seed=1, swaps=100).tolist() == whole.tolist()


def test_holm_by_hand():
    assert holm(np.array([0.04, 0.01, 0.03])) == pytest.approx([0.06, 0.03, 0.06])
    found = holm(np.array([0.5, np.nan, 0.01]))
    assert found == pytest.approx([0.5, np.nan, 0.02], nan_ok=True)
    assert holm(np.array([])).shape == (0,)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert holm(np.array(p_values)) == pytest.approx(expected)
