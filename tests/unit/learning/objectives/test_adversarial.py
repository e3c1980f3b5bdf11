import dataclasses
import math

import pytest
import torch
from torch.nn import functional

from evenhand.learning.objective import losses_of
from evenhand.learning.objectives import adversarial
from unit.learning.objectives.cases import made, start

FIXED = {**adversarial.OPTIONS, "strength": 0.5, "ramp_steps": 100.0}
COMPAT = {**FIXED, "compat": True}


def gradients(options, step=700):
    """By the features, which the logits do not depend on here."""
    batch = made(1, "multi_class", step=step)
    batch = dataclasses.replace(batch, features=batch.features.requires_grad_())
    state, modules = start(adversarial, options)
    value, _ = adversarial.loss(batch, state, options, modules)
    value.backward()
    return batch, modules, value.detach(), batch.features.grad


def test_in_compat_the_encoder_learns_to_tell_the_group():
    batch, modules, value, by_features = gradients(COMPAT)
    features = batch.features.detach().requires_grad_()
    found = functional.cross_entropy(modules(features), batch.groups)
    found.backward()
    torch.testing.assert_close(value, losses_of(batch).mean() + found.detach())
    torch.testing.assert_close(by_features, features.grad)


@pytest.mark.parametrize(("step", "ramp"), [(0, 0.0), (25, 0.25), (100, 1.0), (700, 1.0)])
def test_the_loss_is_least_where_the_adversary_is_uncertain(step, ramp):
    batch, modules, value, by_features = gradients(FIXED, step)
    features = batch.features.detach().requires_grad_()
    uniform = torch.full((len(features), 4), 0.25, dtype=features.dtype)
    found = functional.cross_entropy(modules(features), uniform)
    assert found >= math.log(4)  # the least, where all groups are as probable
    found.backward()
    torch.testing.assert_close(value, losses_of(batch).mean() + 0.5 * ramp * found.detach())
    torch.testing.assert_close(by_features, 0.5 * ramp * features.grad)


def test_a_group_that_training_lacks_is_none_to_be_taken_for():
    batch = made(1, "multi_class", groups=3)
    state, modules = start(adversarial, FIXED, present=[True] * 3 + [False])
    with torch.no_grad():
        value, _ = adversarial.loss(batch, state, FIXED, modules)
        modules[-1].bias[3] = -1e6  # as if it were not
        lower, _ = adversarial.loss(batch, state, FIXED, modules)
    assert torch.isfinite(lower)
    assert lower < value
