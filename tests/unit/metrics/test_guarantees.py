import numpy as np
import pytest
from scipy.stats import beta, binom

from evenhand.metrics.guarantees import guarantee, labels_needed, p_value, upper_limit


@pytest.mark.parametrize("informative", [True, False])
@pytest.mark.parametrize("bad_share", [0.06, 0.15])
def test_the_risk_is_exceeded_in_at_most_one_of_ten_draws(informative, bad_share):
    size, draws, exceeded = 400, 200, 0
    rng = np.random.default_rng(3)
    for _ in range(draws):
        bad = rng.random(size) < bad_share
        score = rng.normal(size=size) - 1.5 * informative * bad
        bad = bad[np.argsort(-score)]
        sampled = np.zeros(size, bool)
        sampled[rng.permutation(size)[:160]] = True
        found = guarantee(sampled, bad, risk=0.05, confidence=0.9)
        exceeded += found.accepted > 0 and bad[: found.accepted].mean() > 0.05
        if found.accepted:
            assert found.bound <= 0.05
    assert exceeded <= binom.ppf(0.999, draws, 0.1)


def test_more_is_accepted_where_fewer_are_bad():
    rng = np.random.default_rng(4)
    sampled = rng.random(2000) < 0.2
    none = guarantee(sampled, np.zeros(2000, bool))
    assert none.accepted == 2000 and none.bad == 0 and none.bound < 0.01
    late = np.arange(2000) >= 1400
    some = guarantee(sampled, late)
    assert 1300 <= some.accepted < 1500
    every = guarantee(sampled, np.ones(2000, bool))
    assert every.accepted == 0 and every.needed == 0


def test_few_labels_give_no_guarantee_and_the_number_that_is_needed():
    sampled = np.arange(1000) < 20
    few = guarantee(sampled, np.zeros(1000, bool))
    assert (few.accepted, few.labels, few.bad) == (0, 20, 0)
    enough = np.arange(1000) % (1000 // few.needed) == 0
    assert guarantee(enough, np.zeros(1000, bool)).accepted == 1000
    assert guarantee(np.zeros(0, bool), np.zeros(0, bool)).accepted == 0


def test_a_sample_of_a_large_source_gives_the_limit_of_clopper_and_pearson():
    for bad, drawn in ((0, 45), (3, 150), (7, 160)):
        expected = beta.ppf(0.9, bad + 1, drawn - bad)
        assert upper_limit(bad, drawn, 10**6, 0.9) == pytest.approx(expected, abs=2e-5)
        assert p_value(bad, drawn, 10**7, 0.05) == pytest.approx(binom.cdf(bad, drawn, 0.05), 1e-3)
    assert labels_needed(10**5, 0, 0.05, 0.9) == 45


def test_a_source_that_is_labelled_to_the_last_sentence_has_its_own_share():
    bad = np.arange(40) >= 38
    found = guarantee(np.ones(40, bool), bad)
    assert (found.accepted, found.bad, found.bound) == (40, 2, 0.05)
