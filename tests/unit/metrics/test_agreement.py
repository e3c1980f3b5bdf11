import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.metrics import agreement

#: Fleiss (1971): 14 raters, 10 items, 5 categories; kappa 0.210 in the article.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

ratings = hnp.arrays(
    int, st.tuples(st.integers(1, 12), st.integers(2, 5)), elements=st.integers(0, 2)
)


def from_counts(counts):
    return np.array([[k for k, n in enumerate(row) for _ in range(n)] for row in counts])


def test_fleiss_on_the_articles_example():
    assert agreement.fleiss_kappa(from_counts(FLEISS)) == pytest.approx(0.210, abs=5e-4)


def test_percent_agreement_counts_pairs():
    answers = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 2]])
    assert agreement.percent_agreement(answers) == pytest.approx((1 + 1 / 3 + 0) / 3)
    answers = np.array([[0, 0, -1], [0, -1, 1], [2, -1, -1]])  # the last one has no pair
    assert agreement.percent_agreement(answers) == pytest.approx((1 + 0) / 2)


def test_alpha_with_missing_answers():
    """By the definition: disagreement within items over disagreement of all paired answers."""
    observers = np.array([
        [-1, -1, -1, -1, -1, 3, 4, 1, 2, 1, 1, 3, 3, -1, 3],
        [1, -1, 2, 1, 3, 3, 4, 3, -1, -1, -1, -1, -1, -1, -1],
        [-1, -1, 2, 1, 3, 4, 4, -1, 2, 1, 1, 3, 3, -1, 4],
    ])  # fmt: skip
    units = [column[column > 0] for column in observers.T if (column > 0).sum() > 1]
    within = [np.mean([a != b for a, b in itertools.permutations(u, 2)]) * len(u) for u in units]
    paired = np.concatenate(units)
    overall = np.mean([a != b for a, b in itertools.permutations(paired, 2)])
    alpha = 1 - sum(within) / len(paired) / overall
    assert agreement.krippendorff_alpha(observers.T) == pytest.approx(alpha)
    assert agreement.fleiss_kappa(observers.T[:, 1:]) is not None  # two answers or too few
    assert agreement.fleiss_kappa(observers.T) is None  # three answers, and two


def test_dawid_and_skene_find_the_planted_answers_and_errors():
    """Five annotators of whom three guess: the other two outvote them."""
    random = np.random.default_rng(1)
    truth = random.choice(3, size=600, p=[0.6, 0.3, 0.1])
    accuracy = np.array([0.95, 0.9, 0.5, 0.45, 0.5])
    wrong = (truth[:, None] + random.integers(1, 3, (600, 5))) % 3
    answers = np.where(random.random((600, 5)) < accuracy, truth[:, None], wrong)
    answers[random.random((600, 5)) < 0.3] = agreement.MISSING
    answers = answers[keep := (answers >= 0).any(axis=1)]
    found = agreement.dawid_skene(answers, 3)
    votes = np.stack([(answers == kind).sum(axis=1) for kind in range(3)], axis=1)
    right = (found.shares.argmax(axis=1) == truth[keep]).mean()
    assert right > (votes.argmax(axis=1) == truth[keep]).mean() + 0.05
    assert found.accuracy == pytest.approx(accuracy, abs=0.07)
    assert found.confusion[0, 0, 0] == pytest.approx(0.95, abs=0.05)
    assert np.allclose(found.shares.sum(axis=1), 1)


def test_dawid_and_skene_do_not_take_few_answers_for_certain():
    found = agreement.dawid_skene(np.zeros((4, 3), int), 3)
    assert (found.shares.argmax(axis=1) == 0).all()
    assert (found.accuracy < 1).all() and (found.accuracy > 0.5).all()
    found = agreement.dawid_skene(np.array([[0, 0, 1], [1, 1, 1], [0, 2, 0], [0, -1, 0]]), 3)
    assert found.accuracy == pytest.approx([0.6098, 0.7979, 0.4708], abs=1e-4)
    assert found.shares[3] == pytest.approx([0.334, 0.001, 0.665], abs=1e-3)


@given(ratings)
def test_kappa_is_the_ratio_to_chance(answers):
    kappa = agreement.fleiss_kappa(answers)
    shares = np.bincount(answers.ravel()) / answers.size
    chance = (shares**2).sum()
    if len(np.unique(answers)) == 1:
        assert kappa is None
        return
    observed = agreement.percent_agreement(answers)
    assert kappa == pytest.approx((observed - chance) / (1 - chance))


@pytest.mark.parametrize("answers", [np.zeros((0, 3), int), np.zeros((3, 1), int)])
def test_nothing_to_compare_is_an_error(answers):
    for measure in ("percent_agreement", "fleiss_kappa", "krippendorff_alpha"):
        with pytest.raises(ValueError, match="agreement needs"):
            getattr(agreement, measure)(answers)
