import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learning.objectives import group_dro
from unit.learning.objectives.cases import answers, batch_of, made

FIXED = {"step_size": 1.0, "compat": False}
COMPAT = {"step_size": 1.0, "compat": True}
LN2 = math.log(2)


def begin(*present):
    return group_dro.initial_state(torch.tensor(present), FIXED)


def weights(state):
    return state["log_weights"].exp().tolist()


@pytest.mark.parametrize("options", [FIXED, COMPAT])
def test_by_hand_with_all_groups(options):
    # losses: group 0 ln 2; group 1 the mean of ln 4 and 2 ln 4 = ln 8
    batch = batch_of(answers(0.5, 0.75, 0.9375), [1, 0, 0], [0, 1, 1])
    value, state = group_dro.loss(batch, begin(True, True), options, None)
    # exp gives 2 and 8, so the weights are 1/5 and 4/5
    assert weights(state) == pytest.approx([0.2, 0.8])
    assert value.item() == pytest.approx(0.2 * LN2 + 0.8 * 3 * LN2)
    # once more: 0.2 * 2 and 0.8 * 8
    value, state = group_dro.loss(batch, state, options, None)
    assert weights(state) == pytest.approx([0.4 / 6.8, 6.4 / 6.8])


def test_by_hand_with_a_group_that_the_batch_lacks():
    batch = batch_of(answers(0.5, 0.75), [1, 0], [0, 1])  # ln 2, ln 4; group 2 is not there
    value, state = group_dro.loss(batch, begin(True, True, True), FIXED, None)
    # 2 and 4 share two thirds, group 2 keeps its third
    assert weights(state) == pytest.approx([2 / 9, 4 / 9, 1 / 3])
    assert value.item() == pytest.approx(LN2 / 3 + 2 / 3 * 2 * LN2)

    value, state = group_dro.loss(batch, begin(True, True, True), COMPAT, None)
    assert weights(state) == pytest.approx([2 / 7, 4 / 7, 1 / 7])  # it counted as e^0
    assert value.item() == pytest.approx(2 / 7 * LN2 + 4 / 7 * 2 * LN2)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from(["multi_class", "multi_label"]),
    st.booleans(),
    st.floats(0, 100),
    st.integers(1, 6),
)
def test_the_weights_stay_a_distribution(seed, task, compat, step_size, n):
    options = {"step_size": step_size, "compat": compat}
    state = begin(True, True, True, True, False)
    for step in range(20):
        batch = made(seed + step, task, n=n)
        value, state = group_dro.loss(batch, state, options, None)
        assert torch.isfinite(value)
        assert sum(weights(state)) == pytest.approx(1)
        assert weights(state)[4] == 0


def test_the_weights_come_back_after_a_long_time():
    """A group that lost little for 10,000 steps is not forgotten."""
    bad_first = batch_of(answers(0.999, 0.001).float(), [0, 0], [0, 1])
    bad_second = batch_of(answers(0.001, 0.999).float(), [0, 0], [0, 1])
    state = begin(True, True)
    for batch in [bad_first] * 1000 + [bad_second] * 1001:
        _, state = group_dro.loss(batch, state, FIXED, None)
    assert weights(state)[1] == pytest.approx(0.999, abs=1e-4)
