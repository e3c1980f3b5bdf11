"""Each loss against numbers worked out by hand on four people."""

import math

import pytest
import torch

from evenhand.learning import method
from evenhand.learning.method import Shares

# four people: labels 0 1 1 1, groups 0 0 1 1
Y = torch.tensor([[1.0, 0], [0, 1], [0, 1], [0, 1]], dtype=torch.float64)
A = torch.tensor([[1.0, 0], [1, 0], [0, 1], [0, 1]], dtype=torch.float64)
SHARES = Shares(
    label=torch.tensor([0.25, 0.75], dtype=torch.float64),
    group_given_label=torch.tensor([[0.8, 0.2], [0.4, 0.6]], dtype=torch.float64),
)


def logits(*p):
    """Two logits with the given probability of the second."""
    p = torch.tensor(p, dtype=torch.float64)
    return torch.stack([(1 - p).log(), p.log()], dim=1)


def logit(*p):
    p = torch.tensor(p, dtype=torch.float64)
    return torch.logit(p)[:, None]


def test_label_losses():
    log_p = logits(0.5, 0.5, 0.25, 0.75)
    errors = [math.log(2), math.log(2), math.log(4), math.log(4 / 3)]
    plain = method.label_cross_entropy(log_p, Y)
    assert plain.item() == pytest.approx(sum(errors) / 4)
    # weights 4 and 4/3: 4 + 3 * 4/3 = 8
    balanced = method.balanced_cross_entropy(log_p, Y, SHARES)
    assert balanced.item() == pytest.approx((4 * errors[0] + 4 / 3 * sum(errors[1:])) / 8)
    torch_s = torch.nn.functional.nll_loss(log_p, Y.argmax(1), weight=1 / SHARES.label)
    assert balanced.item() == pytest.approx(torch_s.item())


def test_alfr():
    loss = method.attribute_cross_entropy([logits(0.5, 0.25, 0.25, 0.75)], Y, A, SHARES)
    by_hand = (math.log(2) + math.log(4 / 3) + math.log(4) + math.log(4 / 3)) / 4
    assert loss.item() == pytest.approx(by_hand)


def test_laftr_dp_is_the_mean_over_groups():
    h = logit(0.5, 0.1, 0.7, 0.9)  # errors .5 .1 | .3 .1
    loss = method.group_absolute_error([h], Y, A, SHARES)
    assert loss.item() == pytest.approx((0.3 + 0.2) / 2)
    one_more = torch.tensor([[1.0, 0], [1, 0], [0, 1], [1, 0]], dtype=torch.float64)
    loss = method.group_absolute_error([h], Y, one_more, SHARES)  # .5 .1 .9 | .3
    assert loss.item() == pytest.approx((0.5 + 0.3) / 2)


def test_laftr_eo_is_the_mean_over_cells():
    h = logit(0.5, 0.1, 0.7, 0.9)  # cells: (0, 0) .5; (0, 1) .1; (1, 1) .3 .1; (1, 0) empty
    loss = method.cell_absolute_error([h], Y, A, SHARES)
    assert loss.item() == pytest.approx((0.5 + 0.1 + 0.2) / 3)


def test_a_softmax_of_two_outputs_is_the_sigmoid():
    p = (0.5, 0.1, 0.7, 0.9)
    for loss in (method.group_absolute_error, method.cell_absolute_error):
        one, two = loss([logit(*p)], Y, A, SHARES), loss([logits(*p)], Y, A, SHARES)
        torch.testing.assert_close(one, two)


def test_cfair():
    outputs = [logits(0.5, 0.9, 0.9, 0.9), logits(0.1, 0.25, 0.25, 0.75)]
    loss = method.conditional_cross_entropy(outputs, Y, A, SHARES)
    # label 0: the first only. Label 1: weights 1/.4, 1/.6, 1/.6
    weights = [2.5, 1 / 0.6, 1 / 0.6]
    errors = [math.log(4 / 3), math.log(4), math.log(4 / 3)]
    second = sum(w * e for w, e in zip(weights, errors, strict=True)) / sum(weights)
    assert loss.item() == pytest.approx((math.log(2) + second) / 2)


LOSSES = [
    (method.attribute_cross_entropy, [logits(0.5, 0.25, 0.25, 0.75)]),
    (method.group_absolute_error, [logit(0.5, 0.1, 0.7, 0.9)]),
    (method.cell_absolute_error, [logit(0.5, 0.1, 0.7, 0.9)]),
    (method.conditional_cross_entropy, [logits(0.5, 0.9, 0.9, 0.9)] * 2),
]


@pytest.mark.parametrize(("loss", "outputs"), LOSSES)
def test_a_batch_that_lacks_a_label_and_a_group_gives_a_number(loss, outputs):
    y, a = Y[[1, 1, 1, 1]], A[[0, 0, 0, 0]]
    shares = Shares(torch.tensor([0.0, 1.0]).double(), torch.tensor([[0.0, 0], [1, 0]]).double())
    outputs = [h.clone().requires_grad_() for h in outputs]
    value = loss(outputs, y, a, shares)
    value.backward()
    assert torch.isfinite(value)
    assert all(torch.isfinite(h.grad).all() for h in outputs if h.grad is not None)
