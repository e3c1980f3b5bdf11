import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evenhand.metrics import paired
from evenhand.metrics.paired import holm, sign_flip_p_values, swapped_sums


def test_sign_flips_agree_with_all_patterns():
    values = np.array([3.0, 1.0, 2.0, -0.5, 1.5, 0.5])
    sums = [abs(np.dot(signs, values)) for signs in itertools.product((1, -1), repeat=6)]
    exact = np.mean([one >= values.sum() for one in sums])
    (found,) = sign_flip_p_values(values[:, None], np.arange(6), seed=0)
    assert found == pytest.approx(exact, abs=0.01)


def test_signs_go_to_clusters():
    values = np.ones((40, 1))
    assert sign_flip_p_values(values, np.arange(40), seed=0)[0] == 1 / 5000
    # Two clusters have four patterns, of which two are as large.
    assert sign_flip_p_values(values, np.arange(40) // 20, seed=0)[0] == pytest.approx(
        0.5, abs=0.03
    )
    assert np.isnan(sign_flip_p_values(values, np.zeros(40), seed=0)).all()


def test_columns_are_tested_by_themselves():
    values = np.random.default_rng(0).normal([0, 0.3, 1], size=(30, 3))
    together = sign_flip_p_values(values, np.arange(30), seed=4)
    alone = [sign_flip_p_values(column[:, None], np.arange(30), seed=4)[0] for column in values.T]
    assert together.tolist() == alone
    assert together[2] < together[1]


def test_pieces_do_not_change_the_result(monkeypatch):
    values = np.random.default_rng(0).normal(size=(30, 2))
    whole = sign_flip_p_values(values, np.arange(30), seed=1, flips=500)
    monkeypatch.setattr(paired, "INDICES_AT_ONCE", 170)
    assert sign_flip_p_values(values, np.arange(30), seed=1, flips=500).tolist() == whole.tolist()


def test_size_of_the_test():
    generator = np.random.default_rng(2)
    clusters = np.repeat(np.arange(40), np.arange(1, 41))
    values = generator.normal(size=(40, 400))[clusters] + generator.normal(size=(820, 400))
    p_values = sign_flip_p_values(values, clusters, seed=0, flips=999)
    assert 0.02 <= (p_values <= 0.05).mean() <= 0.08


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=20), st.integers(0, 99))
def test_the_sign_of_the_effect_does_not_matter(values, seed):
    column = np.array(values, dtype=float)[:, None]
    clusters = np.arange(len(values))
    found = sign_flip_p_values(column, clusters, seed=seed, flips=50)
    assert found == sign_flip_p_values(-column, clusters, seed=seed, flips=50)
    assert 1 / 51 <= found[0] <= 1
    if sum(values) == 0:
        assert found[0] == 1


def test_rejects():
    with pytest.raises(ValueError):
        sign_flip_p_values(np.zeros(3), np.zeros(3), seed=0)
    with pytest.raises(ValueError):
        sign_flip_p_values(np.zeros((3, 1)), np.zeros(2), seed=0)
    with pytest.raises(ValueError):
        sign_flip_p_values(np.zeros((3, 1)), np.zeros(3), seed=0, flips=0)


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
    monkeypatch.setattr(paired, "INDICES_AT_ONCE", 170)
    assert swapped_sums(one, other, codes, 3, seed=1, swaps=100).tolist() == whole.tolist()


def test_holm_by_hand():
    assert holm(np.array([0.04, 0.01, 0.03])) == pytest.approx([0.06, 0.03, 0.06])
    found = holm(np.array([0.5, np.nan, 0.01]))
    assert found == pytest.approx([0.5, np.nan, 0.02], nan_ok=True)
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert holm(np.array(p_values)) == pytest.approx(expected)
