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


@pytest.mark.parametrize(("compat", "hidden"), [(False, True), (True, False)])
def test_training_hides_the_group_and_in_compat_shows_it(compat, hidden):
    """An encoder that sees the group: how far apart are the groups in what it hands on?"""
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(64) % 2
    inputs = torch.randn(64, 4, generator=generator)
    inputs[:, 0] += 2.0 * (2 * groups - 1)
    labels = (inputs[:, 1] > 0).long()
    options = {**FIXED, "strength": 5.0, "compat": compat}
    with torch.random.fork_rng():
        torch.manual_seed(1)
        encoder, classifier = torch.nn.Linear(4, 2, bias=False), torch.nn.Linear(2, 2)
        modules = adversarial.modules(2, 2, options)
    inner = torch.optim.Adam(modules.parameters(), lr=0.03)
    optimizer = torch.optim.SGD([*encoder.parameters(), *classifier.parameters()], lr=0.1)
    batch = made(0, "multi_class", n=64, of=groups)
    state = adversarial.initial_state(torch.ones(2, dtype=torch.bool), options)
    for step in range(400):
        features = encoder(inputs)
        batch = dataclasses.replace(
            batch, logits=classifier(features), labels=labels, features=features, step=step
        )
        fixed = dataclasses.replace(batch, features=features.detach())
        for _ in range(5):
            inner.zero_grad()
            adversarial.inner_loss(fixed, options, modules).backward()
            inner.step()
        optimizer.zero_grad()
        adversarial.loss(batch, state, options, modules)[0].backward()
        optimizer.step()
    features = encoder(inputs).detach()
    gap = (features[groups == 1].mean(0) - features[groups == 0].mean(0)).norm()
    assert (gap < 0.7 * features.std(0).norm()).item() is hidden
