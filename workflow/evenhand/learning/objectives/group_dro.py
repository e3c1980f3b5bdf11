"""Group DRO: the groups that lose most weigh most (Sagawa et al. 2020, algorithm 1).

    w_g <- w_g exp(step_size L_g) / sum_h w_h exp(step_size L_h);  loss = sum_g w_g L_g

with L_g the mean loss of group g in the batch. The weights start equal over the groups that
occur in training, and are updated before the loss. A group that the batch lacks keeps its
weight; the others share theirs, and the loss is the mean by it, so that its scale does not
depend on who is there. If all groups are there, this is the formula above.

``compat``: a group that the batch lacks counts with the loss 0, so its weight shrinks beside the
others and the loss jumps with who is there; batches are drawn with replacement, cases weighing
1 / the size of their group. (The reference also forgets the weights when it resumes; not here.)
"""

import torch
from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, group_means, losses_of, membership

NAME = "group_dro"
TITLE = "Group DRO"
SAMPLER = "group_uniform"
COMPAT_SAMPLER = "group_weighted"
USES_GROUPS = True
AIM = "worst_group"
OPTIONS: dict[str, float | bool | str] = {"step_size": 0.01, "compat": False}


def initial_state(present: Tensor, options: Options) -> State:
    """``log_weights`` (groups,), float64: they do not underflow in a long training.

    exp(log_weights) are the weights, a distribution; -inf for a group that never occurs.
    """
    weights = present.double() / present.sum()
    return {"log_weights": weights.log()}


def modules(features: int, groups: int, options: Options) -> None:
    """Nothing."""


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """The weighted mean of the groups' losses, and the weights."""
    before = state["log_weights"]
    losses = losses_of(batch)
    members = membership(batch.groups, before.shape[-1], losses.dtype)
    means, present = group_means(losses, members)
    raised = before + options["step_size"] * means.detach().to(before.dtype)
    if options["compat"]:
        after = used = raised.log_softmax(dim=-1)
    else:
        here = present > 0
        used = raised.masked_fill(~here, -torch.inf).log_softmax(dim=-1)
        mass = before.masked_fill(~here, -torch.inf).logsumexp(dim=-1)
        after = torch.where(here, used + mass, before).log_softmax(dim=-1)
    return (used.exp().to(means.dtype) * means).sum(), {"log_weights": after}
