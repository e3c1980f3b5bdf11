import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.metrics.calibration import GRID, bin_values, calibration_error, confidences


def error(confidence, holds, bins=15):
    values = bin_values(np.array(confidence)[:, None], np.array(holds, bool)[:, None], bins)
    return calibration_error(values.sum(axis=0))


def test_by_hand():
    # bin 0.5-1: confidence 0.8 and 0.6, one of two right; bin 0-0.5: 0.4, right
    assert error([0.8, 0.6, 0.4], [1, 0, 1], bins=2) == pytest.approx((2 * 0.2 + 0.6) / 3)


def test_sure_and_right_has_no_error_sure_and_wrong_has_all():
    assert error([1.0, 1.0], [1, 1]) == 0
    assert error([1.0, 1.0], [0, 0]) == 1
    assert np.isnan(calibration_error(np.zeros(45)))


@given(
    arrays(float, st.integers(1, 20), elements=st.floats(0, 1)),
    st.integers(1, 20),
    st.randoms(use_true_random=False),
)
def test_as_written_out(confidence, bins, random):
    holds = np.array([random.random() < 0.5 for _ in confidence])
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    expected = sum(
        (place == one).mean() * abs(confidence[place == one].mean() - holds[place == one].mean())
        for one in np.unique(place)
    )
    assert error(confidence, holds, bins) == pytest.approx(expected, abs=1 / GRID)
    assert 0 <= error(confidence, holds, bins) <= 1


def test_confidences_of_single_labels():
    logits = np.array([[[0.0, np.log(3)], [0.0, 0.0]]], dtype=np.float32)
    true = np.array([[False, True], [False, True]])
    confidence, right = confidences(logits, true, "multi_class")
    assert confidence[..., 0] == pytest.approx(np.array([[0.75, 0.5]]))
    assert right[..., 0].tolist() == [[True, False]]  # of equal ones the first is meant


def test_confidences_of_several_labels():
    logits = np.array([[[0.0, np.log(3)]]], dtype=np.float32)
    confidence, right = confidences(logits, np.array([[True, False]]), "multi_label")
    assert confidence == pytest.approx(np.array([[[0.5, 0.75]]]))
    assert right.tolist() == [[[True, False]]]


def test_far_logits_do_not_overflow():
    logits = np.array([[[1e30, -1e30]]], dtype=np.float32)
    for task in ("multi_class", "multi_label"):
        confidence, _ = confidences(logits, np.array([[True, False]]), task)
        assert np.isfinite(confidence).all()
