import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score

from evenhand.metrics.classification import (
    conventions,
    counts_of,
    f1_by_class,
    influence,
    over_all,
    over_double_none,
    over_labels,
    over_present,
    predicted_labels,
    stacked,
    with_none_class,
)


def counts(true, predicted, weights=None):
    true, predicted = np.asarray(true, bool), np.asarray(predicted, bool)
    weights = np.ones(len(true)) if weights is None else weights
    return counts_of(weights @ stacked(true, predicted), true.shape[1])


def hot(codes, classes):
    return np.eye(classes, dtype=bool)[np.asarray(codes)]


@st.composite
def multi_label(draw):
    n, k, runs = draw(st.tuples(st.integers(1, 12), st.integers(2, 5), st.integers(1, 3)))
    return draw(arrays(bool, (n, k))), draw(arrays(bool, (runs, n, k)))


def test_by_hand():
    # class 0: one of two found, and once said wrongly; class 1: its case found and once too often
    found = counts(hot([0, 0, 1], 3), hot([[0, 1, 1]], 3))
    assert f1_by_class(found)[0] == pytest.approx([2 / 3, 2 / 3, 0])
    assert over_all(found) == pytest.approx([4 / 9])  # a class that is not there counts as 0
    assert over_present(found) == pytest.approx([2 / 3])
    assert over_labels(found) == pytest.approx([2 / 3])
    assert over_double_none(found) == pytest.approx([4 / 9 * 3 / 4])


def test_a_class_that_is_predicted_without_being_there_counts_for_all_not_for_present():
    found = counts(hot([0, 0], 2), hot([[0, 1]], 2))
    assert over_all(found) == pytest.approx([(2 / 3) / 2])
    assert over_present(found) == pytest.approx([2 / 3])


@given(multi_label())
def test_as_scikit_learn_on_several_labels(given_labels):
    true, predicted = given_labels
    found = counts(true, predicted)
    present = np.flatnonzero(true.any(axis=0))
    for run, one in enumerate(predicted):
        expected = f1_score(true, one, average=None, zero_division=0)
        assert f1_by_class(found)[run] == pytest.approx(np.atleast_1d(expected))
        assert over_all(found)[run] == pytest.approx(np.mean(expected))
        if len(present):
            some = f1_score(true, one, average=None, labels=present, zero_division=0)
            assert over_present(found)[run] == pytest.approx(np.mean(some))
        else:
            assert np.isnan(over_present(found)[run])


def test_the_published_none_is_counted_twice_so_that_eleven_twelfths_are_the_best():
    true = with_none_class(np.vstack([np.eye(10, dtype=bool), np.zeros((1, 10), bool)]))
    assert over_double_none(counts(true, true[None]))[0] == pytest.approx(11 / 12)
    assert over_labels(counts(true, true[None]))[0] == 1


@given(multi_label(), st.data())
def test_weights_are_repeated_cases(given_labels, data):
    true, predicted = given_labels
    weights = data.draw(arrays(int, len(true), elements=st.integers(0, 3)))
    one = counts(true, predicted, weights)
    again = counts(np.repeat(true, weights, axis=0), np.repeat(predicted, weights, axis=1))
    for ours, theirs in zip(one, again, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", conventions("multi_label"))
@given(given_labels=multi_label())
def test_the_influence_of_a_case_is_the_effect_of_a_little_more_of_it(name, given_labels):
    true, predicted = given_labels
    true[0, 0] = True
    values, macro_f1 = stacked(true, predicted).astype(float), conventions("multi_label")[name]
    seen, step = values.sum(axis=0), 1e-6

    def score(sums):
        return macro_f1(counts_of(sums, true.shape[1]))

    expected = [
        (score(seen + step * row) - score(seen - step * row)) / (2 * step) for row in values
    ]
    assert influence(values, true.shape[1], macro_f1) == pytest.approx(np.array(expected), abs=1e-6)


def test_what_logits_predict():
    logits = np.array([[0.0, 2.0, 2.0], [-1.0, -3.0, -2.0]])
    assert predicted_labels(logits, "multi_class").tolist() == [
        [False, True, False],  # the first of equal ones
        [True, False, False],
    ]
    assert predicted_labels(logits, "multi_label").tolist() == [[False, True, True], [False] * 3]
    with pytest.raises(ValueError, match="no task 'regression'"):
        predicted_labels(logits, "regression")


def test_a_task_with_single_labels_has_no_convention_about_none():
    assert list(conventions("multi_class")) == ["all", "present"]
    assert list(conventions("multi_label")) == ["all", "present", "labels_only", "double_none"]
