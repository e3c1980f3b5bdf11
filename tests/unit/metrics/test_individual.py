import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.metrics.individual import (
    binary,
    ifr_b,
    ifr_p,
    js_divergence,
    percent,
    similar_outputs,
    unchanged_labels,
)

shares = st.floats(0, 1)


def outputs(seed, n=40, values=3):
    """Outputs of people, and flipped ones near them, with NaN at their own values."""
    generator = np.random.default_rng(seed)
    p = generator.random(n)
    flipped = np.clip(p[:, None] + generator.normal(0, 0.05, (n, values)), 0, 1)
    own = generator.integers(values, size=n)
    flipped[np.arange(n), own] = np.nan
    return binary(p), binary(flipped), own


def test_js_by_hand():
    # the ends, and a quarter against three quarters: ln 2 + H terms by hand
    assert js_divergence([1, 0], [0, 1]) == pytest.approx(math.log(2))
    assert js_divergence([1, 0], [0, 1], base=2) == pytest.approx(1)
    assert js_divergence([1, 0], [0.5, 0.5]) == pytest.approx(0.2157616, abs=1e-7)
    by_hand = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert js_divergence([0.25, 0.75], [0.75, 0.25]) == pytest.approx(by_hand)


def test_js_at_the_threshold_of_the_paper():
    # the facts' table: at p = .5 tau allows a difference of .0447, in bits of .0372
    half = binary(0.5)
    assert js_divergence(half, binary(0.5446)) <= 0.001 < js_divergence(half, binary(0.5449))
    assert js_divergence(half, binary(0.5371), base=2) <= 0.001
    assert js_divergence(half, binary(0.5374), base=2) > 0.001


@given(arrays(np.float64, 50, elements=shares), st.floats(-1e-9, 1e-9))
def test_js_of_nearly_equal_pairs_is_a_number(p, shift):
    distance = js_divergence(binary(p), binary(np.clip(p + shift, 0, 1)))
    assert np.isfinite(distance).all()
    assert (distance >= 0).all()


def test_rates_by_hand():
    # two values: the first keeps label and output, the second its label only, the third nothing
    p = binary([0.9, 0.9, 0.6])
    flipped = binary([[np.nan, 0.9], [0.6, np.nan], [np.nan, 0.4]])
    assert unchanged_labels(p, flipped).tolist() == [1, 1, 0]
    assert ifr_b(p, flipped) == pytest.approx(200 / 3)
    assert ifr_p(p, flipped) == pytest.approx(100 / 3)


def test_more_values_count_by_their_share_unless_strict():
    p = binary([0.6])
    flipped = binary([[np.nan, 0.6, 0.6, 0.1]])
    assert ifr_b(p, flipped) == ifr_p(p, flipped) == pytest.approx(200 / 3)
    assert ifr_p(p, flipped, strict=True) == 0


def test_an_even_output_is_the_first_class():
    assert unchanged_labels(binary([0.5]), binary([[np.nan, 0.4]])).tolist() == [1]
    assert unchanged_labels(binary([0.5]), binary([[np.nan, 0.6]])).tolist() == [0]


@given(st.integers(0, 100))
def test_strict_is_lower_and_both_are_percent(seed):
    p, flipped, _ = outputs(seed)
    assert 0 <= ifr_p(p, flipped, strict=True) <= ifr_p(p, flipped) <= 100
    assert ifr_p(p, flipped, base=2) <= ifr_p(p, flipped)  # bits are smaller units
    assert ifr_p(p, flipped, tau=0.01) >= ifr_p(p, flipped)


def test_nobody_has_no_rate():
    assert percent(np.array([])) is None
    assert ifr_p(np.empty((0, 2)), np.empty((0, 2, 2))) is None


@pytest.mark.parametrize(
    ("p", "flipped", "problem"),
    [
        ([np.nan], [[0.1, np.nan]], "no number"),
        ([0.1], [[np.inf, np.nan]], "no number"),
        ([0.1], [[np.nan, np.nan]], "no other value"),
        ([0.1, 0.2], [[0.1, np.nan]], "shapes"),
    ],
)
def test_what_is_no_output_is_an_error(p, flipped, problem):
    with pytest.raises(ValueError, match=problem):
        similar_outputs(binary(p), binary(flipped))
