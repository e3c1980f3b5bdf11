import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)

from evenhand.metrics.group import RATES, gap, gaps, rates


def people(seed, n=200, groups=3):
    """Labels, predictions and groups; every group has both labels."""
    generator = np.random.default_rng(seed)
    y, predicted = generator.integers(2, size=(2, n))
    group = generator.integers(groups, size=n)
    y[: 2 * groups] = np.repeat([0, 1], groups)
    group[: 2 * groups] = np.tile(np.arange(groups), 2)
    return y, predicted, group


def test_rates_by_hand():
    y = np.array([1, 1, 0, 0, 1, 0])
    predicted = np.array([1, 0, 1, 0, 1, 0])
    group = np.array([0, 0, 0, 0, 1, 1])
    overall, by_group = rates(y, predicted, group, 2)
    assert overall["n"] == 6
    assert overall["acc"] == pytest.approx(400 / 6)
    assert overall["balanced_acc"] == pytest.approx(50 * (2 / 3 + 2 / 3))
    assert overall["positive_rate"] == 0.5
    assert by_group["n"].tolist() == [[4, 2]]
    assert by_group["acc"].tolist() == [[50, 100]]
    assert by_group["tpr"].tolist() == [[0.5, 1]]
    assert by_group["fpr"].tolist() == [[0.5, 0]]
    assert {name: float(v[0]) for name, v in gaps(by_group).items()} == {
        "ddp": 0.0,
        "deo_0": 0.5,
        "deo_1": 0.5,
    }


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_rates_are_those_of_fairlearn_where_it_has_them(groups):
    y, predicted, group = people(1, groups=groups)
    frame = MetricFrame(
        metrics={
            "positive_rate": selection_rate,
            "tpr": true_positive_rate,
            "fpr": false_positive_rate,
        },
        y_true=y,
        y_pred=predicted,
        sensitive_features=group,
    )
    overall, by_group = rates(y, predicted, group, groups)
    for name in frame.overall.index:
        assert overall[name][0] == pytest.approx(frame.overall[name])
        assert by_group[name][0] == pytest.approx(frame.by_group[name].to_numpy())
    expected = demographic_parity_difference(y, predicted, sensitive_features=group)
    assert gaps(by_group)["ddp"][0] == pytest.approx(expected)
    odds = equalized_odds_difference(y, predicted, sensitive_features=group)
    apart = gaps(by_group)
    assert max(apart["deo_0"][0], apart["deo_1"][0]) == pytest.approx(odds)


@pytest.mark.parametrize(
    ("of_groups", "deviation", "expected"),
    [
        ([0.2, 0.5], False, 0.3),
        ([0.2, 0.5], True, 0.3),
        ([0.1, 0.2, 0.6], False, 0.5),
        ([0.1, 0.2, 0.6], True, np.std([0.1, 0.2, 0.6], ddof=0)),
    ],
)
def test_the_gap_is_highest_minus_lowest_and_the_papers_of_more_groups(
    of_groups, deviation, expected
):
    assert gap(np.array(of_groups), deviation=deviation) == pytest.approx(expected)


def test_several_runs_are_each_as_alone():
    y, _, group = people(2, groups=2)
    predicted = np.random.default_rng(3).integers(2, size=(12, len(y)))
    overall, by_group = rates(y, predicted, group, 2)
    for i, one in enumerate(predicted):
        alone, alone_by_group = rates(y, one, group, 2)
        for name in RATES:
            assert overall[name][i] == alone[name][0]
            assert (by_group[name][i] == alone_by_group[name][0]).all()


def test_a_group_without_a_label_has_no_such_rate():
    y, predicted, group = np.array([0, 1, 0, 0]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    overall, by_group = rates(y, predicted, group, 2)
    assert np.isnan(by_group["tpr"][0, 1])
    assert np.isnan(by_group["balanced_acc"][0, 1])
    assert by_group["fpr"].tolist() == [[0, 0.5]]
    apart = gaps(by_group)
    assert np.isnan(apart["deo_1"][0])
    assert apart["deo_0"][0] == 0.5
    assert overall["tpr"][0] == 1


def test_an_empty_group_is_an_error():
    y, predicted, group = people(5, groups=2)
    with pytest.raises(ValueError, match="the group 2 is empty"):
        rates(y, predicted, group, 3)


def test_what_is_no_label_or_code_is_an_error():
    y, predicted, group = people(6, groups=2)
    with pytest.raises(ValueError, match="invalid entry"):
        rates(y, predicted * 2, group, 2)
    with pytest.raises(ValueError, match="invalid entry"):
        rates(y, predicted, group + 1, 2)
