"""What holds for every objective, whatever it does."""

import dataclasses

import numpy as np
import pytest
import torch

from evenhand.learning.objective import Batch, reads_features, sampler_of
from evenhand.learning.sampling import make_sampler
from unit.learning.objectives.cases import (
    NAMES,
    OBJECTIVES,
    TASKS,
    WAY_NAMES,
    WAYS,
    made,
    start,
    value_and_gradient,
)

ways = pytest.mark.parametrize(("objective", "options"), WAYS, ids=WAY_NAMES)
tasks = pytest.mark.parametrize("task", TASKS)


def last(modules):
    """The layer of the objective's modules whose outputs are groups."""
    return modules if isinstance(modules, torch.nn.Linear) else modules[-1]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=NAMES)
def test_a_module_has_all_names(objective):
    assert objective.TITLE
    assert isinstance(objective.USES_GROUPS, bool)
    assert all(type(value) in (bool, float, str) for value in objective.OPTIONS.values())
    for options in (objective.OPTIONS, {"compat": True}):
        name = sampler_of(objective, options)
        assert len(next(make_sampler(name, np.array([0, 1]), 2, np.random.default_rng()))) == 2
    assert objective.USES_GROUPS or objective.SAMPLER == "shuffle"


class Watched(Batch):
    """A batch that notes which of its fields are read."""

    read = set()  # noqa: RUF012

    def __getattribute__(self, name):
        Watched.read.add(name)
        return super().__getattribute__(name)


@ways
def test_it_declares_that_it_reads_features(objective, options):
    """Linear classifiers unfold them for such an objective alone."""
    state, modules = start(objective, options)
    if modules is None:
        batch = made(1, "multi_class")
        watched = Watched(
            **{one.name: getattr(batch, one.name) for one in dataclasses.fields(Batch)}
        )
        Watched.read.clear()
        objective.loss(watched, state, options, None)
        assert ("features" in Watched.read) == reads_features(objective, options)


@ways
@tasks
def test_gradients_are_those_of_finite_differences(objective, options, task):
    if objective.NAME == "group_dro":  # it does not learn through the weights
        options = {**options, "step_size": 0.0}
    state, modules = start(objective, options)
    batch = made(1, task)

    def loss(logits, partner_logits):
        mine = dataclasses.replace(batch, logits=logits, partner_logits=partner_logits)
        return objective.loss(mine, state, options, modules)[0]

    inputs = [x.clone().requires_grad_() for x in (batch.logits, batch.partner_logits)]
    assert torch.autograd.gradcheck(loss, inputs)


@ways
@tasks
def test_other_numbers_for_the_same_groups_change_nothing(objective, options, task):
    batch = made(2, task)
    new = torch.tensor([2, 0, 3, 1])
    swapped = dataclasses.replace(batch, groups=new[batch.groups])
    state, modules = start(objective, options)
    other = {key: value[new.argsort()] for key, value in state.items()}
    if modules is not None:
        _, renamed = start(objective, options)
        of_groups = {k: v[new.argsort()] for k, v in last(modules).state_dict().items()}
        renamed.load_state_dict(modules.state_dict())
        last(renamed).load_state_dict(of_groups)
    else:
        renamed = None
    for _ in range(3):
        value, gradient, state = value_and_gradient(objective, options, batch, state, modules)
        found, turned, other = value_and_gradient(objective, options, swapped, other, renamed)
        torch.testing.assert_close(found, value)
        torch.testing.assert_close(turned, gradient)
        for key in state:
            torch.testing.assert_close(other[key], state[key][new.argsort()])


@ways
@tasks
def test_the_order_of_cases_changes_nothing(objective, options, task):
    batch = made(3, task)
    order = torch.randperm(len(batch.groups), generator=torch.Generator().manual_seed(0))
    if objective.NAME == "irm":  # which tells even from odd: groups change places, cases do not
        order = torch.argsort(batch.groups, stable=True)
    place = order.argsort()
    shuffled = dataclasses.replace(
        batch,
        **{
            key: getattr(batch, key)[order]
            for key in (
                *("logits", "labels", "groups", "features", "partner_logits", "has_partner"),
            )
        },
        partner=torch.where(batch.partner < 0, -1, place[batch.partner])[order],
    )
    state, modules = start(objective, options)
    value, gradient, _ = value_and_gradient(objective, options, batch, state, modules)
    found, turned, _ = value_and_gradient(objective, options, shuffled, state, modules)
    torch.testing.assert_close(found, value)
    torch.testing.assert_close(turned, gradient[order])


ODD = {
    "a group is absent": [0, 1, 3, 0, 1, 3],
    "one group": [2] * 6,
    "groups of one": [0, 1, 2, 2, 2, 2],
    "a batch of one": [1],
}


@ways
@tasks
@pytest.mark.parametrize("of", ODD.values(), ids=ODD)
def test_odd_batches_give_numbers(objective, options, task, of):
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        for scale in (1.0, 1e4):
            check_odd(
                objective, options, made(6, task, n=len(of), of=torch.tensor(of)), dtype, scale
            )


def check_odd(objective, options, batch, dtype, scale):
    batch = dataclasses.replace(
        batch,
        logits=(scale * batch.logits).to(dtype),
        features=batch.features.to(dtype),
        partner_logits=batch.partner_logits.to(dtype),
    )
    # a fifth group, the unknown one, occurs neither in training nor here
    state, modules = start(objective, options, present=[True] * 4 + [False])
    if dtype != torch.float64:  # what is trained keeps full precision
        modules = modules and modules.float()
    for _ in range(3):
        value, gradient, state = value_and_gradient(objective, options, batch, state, modules)
        assert value.shape == ()
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()
        assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert not any(torch.isnan(one).any() or one.requires_grad for one in state.values())


@ways
def test_a_group_that_training_lacks_is_as_if_it_were_not(objective, options):
    batch = made(7, "multi_class", groups=3)
    if objective.NAME == "adversarial":  # an adversary has an output for it
        return
    states = [start(objective, options, present=[True] * 3 + more)[0] for more in ([], [False])]
    for _ in range(3):
        (a, x, states[0]), (b, y, states[1]) = (
            value_and_gradient(objective, options, batch, state, None) for state in states
        )
        torch.testing.assert_close(a, b)
        torch.testing.assert_close(x, y)
