import pytest
import torch

from evenhand.learning.objective import element_losses, losses_of
from evenhand.learning.objectives import irm
from unit.learning.objectives.cases import TASKS, batch_of, made

FIXED, COMPAT = ({**irm.OPTIONS, "compat": compat} for compat in (False, True))


def loss(batch, options, groups=4):
    state = irm.initial_state(torch.ones(groups, dtype=torch.bool), options)
    return irm.loss(batch, state, options, None)[0]


def penalised(batch, options, **more):
    """What a penalty of weight 1 adds."""
    one = {**options, "penalty": 1.0, "anneal_steps": 0.0, **more}
    return loss(batch, one) - loss(batch, {**one, "penalty": 0.0})


def test_by_hand():
    # logits 0 and z: the slope of the cross entropy is (p - y) z with p = sigmoid(z)
    z = torch.tensor([2.0, -1.0, 3.0, 0.5], dtype=torch.float64)
    y = torch.tensor([1, 1, 0, 0])
    batch = batch_of(torch.stack([torch.zeros_like(z), z], dim=1), y, [1, 1, 0, 1])
    s = (z.sigmoid() - y) * z
    penalty = (s[0] + s[3]) / 2 * s[1]  # group 1: even 0 and 3, odd 1; group 0 has one case: 0
    torch.testing.assert_close(penalised(batch, FIXED), penalty / 2)
    losses = losses_of(batch)
    mean = (losses[[0, 1, 3]].mean() + losses[2]) / 2
    torch.testing.assert_close(loss(batch, {**FIXED, "penalty": 0.0}), mean)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("options", [FIXED, COMPAT], ids=["fixed", "compat"])
@pytest.mark.parametrize("task", TASKS)
def test_it_is_the_product_of_autograds_slopes_of_the_halves(task, options, classes):
    batch = made(1, task, classes=classes, n=20)
    expected = []
    for group in range(4):
        mine = batch.groups == group
        scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
        losses = element_losses(scale * batch.logits[mine], batch.labels[mine], task)
        losses = losses.flatten() if options["compat"] else losses.mean(dim=1)
        halves = [
            torch.autograd.grad(losses[half::2].mean(), scale, retain_graph=True)[0]
            for half in (0, 1)
        ]
        expected.append(halves[0] * halves[1])
    torch.testing.assert_close(penalised(batch, options), torch.stack(expected).mean())


def test_the_weight_rises_and_in_compat_falls():
    weights = {}
    for name, options in (("fixed", FIXED), ("compat", COMPAT)):
        weights[name] = []
        for step in (0, 250, 499, 500, 9999):
            batch = made(3, "multi_class", step=step)
            plain = loss(batch, {**options, "penalty": 0.0, "anneal_steps": 0.0})
            added = loss(batch, options) - plain
            weights[name].append((added / penalised(batch, options)).item())
    assert weights["fixed"] == pytest.approx([0, 0.25, 0.499, 0.5, 0.5])
    assert weights["compat"] == pytest.approx([1, 1, 1, 0.5, 0.5])


@pytest.mark.parametrize("options", [FIXED, COMPAT], ids=["fixed", "compat"])
def test_a_group_of_one_case_has_no_penalty(options):
    batch = made(4, "multi_class", n=3, of=torch.tensor([0, 2, 3]))
    assert penalised(batch, options) == 0
