import math

import pytest

from evenhand.metrics.proportions import stratified_share, wilson_share


def test_wilsons_interval():
    share = wilson_share(7, 10)
    assert share == pytest.approx((0.7, 0.396779, 0.892208), abs=1e-6)
    assert wilson_share(0, 10).low == 0 and wilson_share(10, 10).high == 1
    assert all(map(math.isnan, wilson_share(0, 0)))
    for hits in (-1, 4):
        with pytest.raises(ValueError):
            wilson_share(hits, 3)


def test_one_stratum_is_wilson():
    assert stratified_share([(7, 10, 300)]) == pytest.approx(wilson_share(7, 10))


def test_strata_count_by_their_size():
    share = stratified_share([(10, 10, 900), (0, 10, 100), (3, 7, 0)])
    assert share.share == pytest.approx(0.9)
    assert 0 < share.low < 0.9 < share.high < 1


def test_a_stratum_without_a_sample():
    assert all(map(math.isnan, stratified_share([(1, 2, 10), (0, 0, 5)])))
    assert all(map(math.isnan, stratified_share([])))
