"""Small batches for the tests of the objectives."""

import dataclasses

import torch

from evenhand.learning.objective import Batch, load_objective
from unit.learning.made_training import OBJECTIVES as NAMES

OBJECTIVES = [load_objective(name) for name in NAMES]

#: Each objective with each way to run it.
WAYS = [
    (one, {**one.OPTIONS, **way})
    for one in OBJECTIVES
    for way in (
        [{"pairs": "cosine"}, {"pairs": "graph"}, {"pairs": "counterfactual", "reduction": "sum"}]
        if one.NAME == "iifr_text"
        else [{}, {"compat": True}]
        if "compat" in one.OPTIONS
        else [{}]
    )
]
WAY_NAMES = [
    f"{one.NAME}-{'-'.join(str(v) for k, v in options.items() if v != one.OPTIONS[k])}"
    for one, options in WAYS
]

TASKS = ("multi_class", "multi_label")


def answers(*p):
    """Logits (n, 2) with the given probability of class 1."""
    p = torch.tensor(p, dtype=torch.float64)
    return torch.stack([(1 - p).log(), p.log()], dim=1)


def batch_of(logits, labels, groups, task="multi_class", features=None, step=0, **more):
    return Batch(
        logits=logits,
        labels=torch.as_tensor(labels),
        groups=torch.as_tensor(groups),
        features=torch.eye(len(logits), 3, dtype=logits.dtype) if features is None else features,
        task=task,
        step=step,
        **more,
    )


def made(seed, task, *, n=12, classes=3, groups=4, step=700, of=None):
    """A batch at random in float64, with everything that an objective may ask for."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    labels = torch.randint(classes, (n,), generator=generator)
    if task == "multi_label":
        labels = torch.randint(2, (n, classes), generator=generator).double()
    return Batch(
        logits=normal(n, classes),
        labels=labels,
        groups=torch.randint(groups, (n,), generator=generator) if of is None else of,
        features=normal(n, 5),
        task=task,
        step=step,
        partner_logits=normal(n, classes),
        has_partner=torch.rand(n, generator=generator) > 0.3,
        partner=torch.randint(-1, n, (n,), generator=generator),
    )


def start(objective, options, groups=4, present=None):
    """Its state and modules before the first step, float64."""
    present = torch.ones(groups, dtype=torch.bool) if present is None else torch.tensor(present)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        modules = objective.modules(5, len(present), options)
    return objective.initial_state(present, options), modules and modules.double()


def value_and_gradient(objective, options, batch, state, modules):
    """The loss, its gradient by the logits, and the new state."""
    logits = batch.logits.clone().requires_grad_()
    batch = dataclasses.replace(batch, logits=logits)
    value, after = objective.loss(batch, state, options, modules)
    value.backward()
    return value.detach(), logits.grad, after
