import math

import pytest
import torch

from evenhand.learning.objectives import v_rex
from unit.learning.objectives.cases import answers, batch_of

LN2 = math.log(2)


def loss(batch, groups, **options):
    state = v_rex.initial_state(torch.ones(groups, dtype=torch.bool), {})
    return v_rex.loss(batch, state, {"beta": 0.5, "compat": False, **options}, None)[0].item()


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("groups", [3, 5])
def test_by_hand(compat, groups):
    # losses in ln 2: group 0: 1; group 1: 2 and 4; group 2: 1 and 1
    batch = batch_of(answers(0.5, 0.75, 0.9375, 0.5, 0.5), [1, 0, 0, 0, 1], [0, 1, 1, 2, 2])
    # mean 9 / 5; groups' losses 1, 3, 1: variance ((2/3)^2 + (4/3)^2 + (2/3)^2) / 2 = 4/3
    expected = 9 / 5 * LN2 + 0.5 * 4 / 3 * LN2**2
    assert loss(batch, groups, compat=compat) == pytest.approx(expected)
    assert loss(batch, groups, beta=0.0) == pytest.approx(9 / 5 * LN2)


def test_compat_leaves_out_groups_that_lose_nothing():
    sure = torch.tensor([[800.0, 0.0]], dtype=torch.float64)  # a loss of exactly 0
    logits = torch.cat([answers(0.5, 0.75), sure])
    batch = batch_of(logits, [1, 0, 0], [0, 1, 2])
    assert loss(batch, 3) == pytest.approx(LN2 + 0.5 * LN2**2)  # of 1, 2, 0: 1
    assert loss(batch, 3, compat=True) == pytest.approx(LN2 + 0.5 * 0.5 * LN2**2)  # of 1, 2: 1/2


@pytest.mark.parametrize("compat", [False, True])
def test_one_group_has_no_variance(compat):
    batch = batch_of(answers(0.5, 0.75), [1, 0], [2, 2])
    assert loss(batch, 3, compat=compat) == pytest.approx(1.5 * LN2)
