import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from evenhand.metrics.proportions import stratified_share, wilson_share


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_is_scipys(pair):
    hits, of = pair
    share = wilson_share(hits, of)
    theirs = binomtest(hits, of).proportion_ci(0.95, method="wilson")
    assert share.share == hits / of
    assert share.low == pytest.approx(theirs.low, abs=1e-9)
    assert share.high == pytest.approx(theirs.high, abs=1e-9)
    assert 0 <= share.low <= share.share <= share.high <= 1


def test_nothing_counted():
    assert all(map(math.isnan, wilson_share(0, 0)))


@pytest.mark.parametrize("arguments", [(-1, 3), (4, 3), (1, 3, 1.0)])
def test_what_is_no_share(arguments):
    with pytest.raises(ValueError, match=r"share|level"):
        wilson_share(*arguments)


def test_one_stratum_is_wilson():
    assert stratified_share([(7, 10, 300)]) == pytest.approx(wilson_share(7, 10))


def test_strata_count_by_their_size():
    share = stratified_share([(10, 10, 900), (0, 10, 100), (3, 7, 0)])
    assert share.share == pytest.approx(0.9)
    assert 0 < share.low < 0.9 < share.high < 1


def test_a_stratum_without_a_sample():
    assert all(map(math.isnan, stratified_share([(1, 2, 10), (0, 0, 5)])))
    assert all(map(math.isnan, stratified_share([])))
