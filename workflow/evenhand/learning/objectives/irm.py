"""IRM: one classifier that is optimal for each group (Arjovsky et al. 2019, IRMv1).

    loss = mean_g [L_g + weight P_g],  P_g = dL_g^even/ds dL_g^odd/ds  at s = 1

over the groups of the batch, with the logits scaled by s. The even and the odd cases of a group (by
their order in the batch) are two samples, so that the product is an unbiased estimate of the
squared slope; it can be below 0. For a group of one case the penalty is 0. The weight rises from 0
to ``penalty`` over the first ``anneal_steps`` steps.

``compat``: the weight is 1 before ``anneal_steps`` and ``penalty`` from then on, so that with the
published 0.5 it falls; in a multi-label task, even and odd count the elements of all cases' labels,
so that they separate articles rather than cases; two groups per batch. Not reproduced: the
reference's NaN for a group of one case (0 here), and its new optimiser at ``anneal_steps``, which
its learning-rate schedule does not control.
"""

import torch
from torch import Tensor

from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    at_least_one,
    full_precision,
    group_means,
    keep_present,
    losses_of,
    mean_over,
    membership,
)

TITLE = "IRM"
SAMPLER = "group_uniform"
COMPAT_SAMPLER = "group_pairs"
USES_GROUPS = True
AIM = "equal_slopes"
OPTIONS: dict[str, float | bool | str] = {"penalty": 0.5, "anneal_steps": 500.0, "compat": False}

initial_state = keep_present


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the mean over groups of their loss plus the weighted penalty."""
    losses = losses_of(batch)
    members = membership(batch.groups, state["present"].shape[-1], losses.dtype)
    means, present = group_means(losses, members)
    penalties = _penalties(batch, members, bool(options["compat"]))
    weight = _weight(batch.step, options)
    return mean_over(means + weight * penalties, present), state


def slopes(logits: Tensor, labels: Tensor, task: str) -> Tensor:
    """Return the derivative at s = 1 of each of `element_losses` of s times the logits.

    Returns
    -------
    tensor, shape (n, 1) or (n, classes)
    """
    logits = full_precision(logits)
    if task == "multi_label":
        return (logits.sigmoid() - labels.to(logits.dtype)) * logits
    mean = (logits.softmax(dim=-1) * logits).sum(dim=-1, keepdim=True)
    return mean - logits.gather(-1, labels[..., None])


def _penalties(batch: Batch, members: Tensor, compat: bool) -> Tensor:
    """Return P_g, shape (groups,); 0 for groups without two halves."""
    slope = slopes(batch.logits, batch.labels, batch.task)
    place = ((members.cumsum(dim=0) - 1) * members).sum(dim=-1, keepdim=True).long()
    elements = torch.arange(slope.shape[-1], device=slope.device)
    # the position of each element in its group: by case, or by case and label
    order = place * len(elements) + elements if compat else place.expand(slope.shape)
    halves = []
    for half in (0, 1):
        inside = (order % 2 == half).to(slope.dtype)
        sums = members.T @ (slope * inside).sum(dim=-1)
        halves.append(sums / at_least_one(members.T @ inside.sum(dim=-1)))
    return halves[0] * halves[1]


def _weight(step: int, options: Options) -> float:
    penalty, steps = options["penalty"], options["anneal_steps"]
    if options["compat"]:
        return 1.0 if step < steps else penalty
    return penalty * min(1.0, step / steps) if steps else penalty
