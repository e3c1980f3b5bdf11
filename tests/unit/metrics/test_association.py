import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk
from sklearn.metrics import mutual_info_score

from evenhand.metrics.association import mutual_information, risk_ratio


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=5))
def test_mutual_information_is_sklearns(table):
    with_it, without = np.array(table).T
    if not (with_it + without).sum():
        return
    labels = np.repeat(np.arange(len(table)), with_it + without)
    has = np.concatenate([np.repeat([1, 0], pair) for pair in table])
    expected = mutual_info_score(labels, has) / np.log(2)
    found = mutual_information(with_it[None], with_it + without)
    assert found[0] == pytest.approx(max(expected, 0), abs=1e-9)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_the_risk_ratio_is_scipys(a, other, b, more):
    expected = relative_risk(a, a + other, b, b + more)
    interval = expected.confidence_interval(0.95)
    ours = risk_ratio(a, a + other, b, b + more)
    assert ours == pytest.approx((expected.relative_risk, interval.low, interval.high))


def test_empty_cells():
    ratio, low, high = risk_ratio(0, 10, 5, 10)
    assert 0 < low < ratio < high < 2
    assert np.isnan(risk_ratio(0, 0, 1, 2)).all()
