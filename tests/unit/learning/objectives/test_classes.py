"""The objectives that weigh classes."""

import math

import pytest
import torch

from evenhand.learning.objective import losses_of
from evenhand.learning.objectives import class_balanced, worst_class
from unit.learning.objectives.cases import TASKS, answers, batch_of, made

LN2 = math.log(2)

# losses in ln 2: class 0: 1, 2 and 3; class 1: 4
BATCH = batch_of(answers(0.5, 0.75, 0.875, 0.0625), [0, 0, 0, 1], [0, 0, 0, 0])

# one label of three cases, losses in ln 2: who has it 1; who has not 2 and 4
COIN = batch_of(
    torch.tensor([[0.5], [0.75], [0.9375]], dtype=torch.float64).logit(),
    torch.tensor([[1.0], [0.0], [0.0]]),
    [0, 0, 0],
    "multi_label",
)


def balanced(batch):
    return class_balanced.loss(batch, {}, {}, None)[0]


def worst(batch, tilt=1.0):
    return worst_class.loss(batch, {}, {"tilt": tilt}, None)[0]


def test_balanced_by_hand():
    assert balanced(BATCH).item() == pytest.approx(3 * LN2)  # of 2 and 4
    assert balanced(COIN).item() == pytest.approx(2 * LN2)  # of 1 and 3


def test_worst_by_hand():
    assert worst(BATCH).item() == pytest.approx(math.log((2**2 + 2**4) / 2))
    assert worst(BATCH, 2.0).item() == pytest.approx(math.log((2**4 + 2**8) / 2) / 2)
    assert worst(COIN).item() == pytest.approx(2 * LN2)  # the only label


@pytest.mark.parametrize("task", TASKS)
def test_from_balanced_to_the_worst(task):
    batch = made(0, task)
    assert worst(batch, 0.0) == balanced(batch)
    assert worst(batch, 1e-4).item() == pytest.approx(balanced(batch).item(), rel=1e-3)
    values = [worst(batch, tilt).item() for tilt in (0.0, 0.5, 2.0, 50.0, 5000.0)]
    assert values == sorted(values)


def test_with_balanced_classes_it_is_erm():
    batch = made(1, "multi_class", classes=2, n=6)
    batch.labels[:] = torch.tensor([0, 1] * 3)
    torch.testing.assert_close(balanced(batch), losses_of(batch).mean())


def test_a_label_that_nobody_has_counts_with_those_who_have_it_not():
    batch = made(2, "multi_label")
    batch.labels[:] = 0
    torch.testing.assert_close(balanced(batch), losses_of(batch).mean())
