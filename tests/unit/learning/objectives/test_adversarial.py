import dataclasses

import pytest
import torch
from torch.nn import functional

from evenhand.learning.objective import losses_of
from evenhand.learning.objectives import adversarial
from unit.learning.objectives.cases import made, start

FIXED = {"strength": 0.5, "compat": False}
COMPAT = {"strength": 0.5, "compat": True}


def gradients(options):
    """By the features, which the logits do not depend on here, and by the adversary."""
    batch = made(1, "multi_class")
    batch = dataclasses.replace(batch, features=batch.features.requires_grad_())
    state, modules = start(adversarial, options)
    value, state = adversarial.loss(batch, state, options, modules)
    value.backward()
    assert state == {}
    return batch, modules, value, batch.features.grad, modules.weight.grad


def plain_gradients(batch, modules):
    features, weight = batch.features.detach(), modules.weight.detach()
    features, weight = features.requires_grad_(), weight.requires_grad_()
    logits = features @ weight.T + modules.bias.detach()
    found = functional.cross_entropy(logits, batch.groups)
    found.backward()
    return found.detach(), features.grad, weight.grad


@pytest.mark.parametrize("strength", [0.5, 1.0, 3.0, 0.0])
def test_the_encoder_learns_the_opposite(strength):
    batch, modules, value, by_features, by_weight = gradients({**FIXED, "strength": strength})
    found, features, weight = plain_gradients(batch, modules)
    torch.testing.assert_close(value.detach(), losses_of(batch).mean() + found)
    torch.testing.assert_close(by_features, -strength * features)
    torch.testing.assert_close(by_weight, weight)  # the adversary learns with all its force
    assert (weight != 0).any()


def test_in_compat_the_encoder_learns_the_same():
    batch, modules, value, by_features, by_weight = gradients(COMPAT)
    found, features, weight = plain_gradients(batch, modules)
    torch.testing.assert_close(value.detach(), losses_of(batch).mean() + found)
    torch.testing.assert_close(by_features, features)
    torch.testing.assert_close(by_weight, weight)


def test_one_step_by_hand():
    """One feature, two groups: the adversary's logits are 0 and x."""
    modules = torch.nn.Linear(1, 2).double()
    modules.load_state_dict({"weight": torch.tensor([[0.0], [1.0]]), "bias": torch.zeros(2)})
    batch = made(0, "multi_class", n=1, of=torch.tensor([1]))
    x = torch.tensor([[2.0]], dtype=torch.float64, requires_grad=True)
    adversarial.loss(dataclasses.replace(batch, features=x), {}, FIXED, modules)[0].backward()
    # d CE / dx = p - 1 with p = sigmoid(2); turned round, times a half
    assert x.grad.item() == pytest.approx(0.5 * (1 - 1 / (1 + torch.e**-2)))


@pytest.mark.parametrize(("options", "told"), [(FIXED, False), (COMPAT, True)])
def test_training_hides_the_group_and_in_compat_shows_it(options, told):
    """An encoder that sees the group: can a new classifier tell it from what it hands on?"""
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(64) % 2
    inputs = torch.randn(64, 4, generator=generator)
    inputs[:, 0] += 2.0 * (2 * groups - 1)
    labels = (inputs[:, 1] > 0).long()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        encoder, classifier = torch.nn.Linear(4, 2, bias=False), torch.nn.Linear(2, 2)
        modules = adversarial.modules(2, 2, options)
    parts = torch.nn.ModuleList([encoder, classifier, modules])
    optimizer = torch.optim.SGD(parts.parameters(), lr=0.1)
    batch = made(0, "multi_class", n=64, of=groups)
    for _ in range(400):
        features = encoder(inputs)
        batch = dataclasses.replace(
            batch, logits=classifier(features), labels=labels, features=features
        )
        optimizer.zero_grad()
        adversarial.loss(batch, {}, {**options, "strength": 1.0}, modules)[0].backward()
        optimizer.step()
    features = encoder(inputs).detach()
    gap = (features[groups == 1].mean(0) - features[groups == 0].mean(0)).norm()
    assert (gap > features.std(0).norm()).item() is told
