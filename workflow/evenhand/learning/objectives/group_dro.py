"""Group DRO: groups with a higher loss get a higher weight (Sagawa et al. 2020, algorithm 1).

    w_g <- w_g exp(step_size L_g) / sum_h w_h exp(step_size L_h);  loss = sum_g w_g L_g

with L_g the mean loss of group g in the batch. The weights start equal over the groups that
occur in training, and are updated before the loss. A group absent from the batch keeps its weight.
The update redistributes the weights of the other groups, and the loss is the weighted mean over
them, so that its scale does not depend on which groups are present. With all groups present, this
is the formula above.

``compat``: an absent group counts with loss 0, so that its weight falls relative to the others, and
the loss jumps with the groups present; batches are drawn with replacement, with case weights of
1 / group size. (The reference also loses the weights when it resumes; this is not reproduced.)
"""

import torch
from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, group_means, losses_of, membership

TITLE = "Group DRO"
SAMPLER = "group_uniform"
COMPAT_SAMPLER = "group_weighted"
USES_GROUPS = True
AIM = "worst_loss"
OPTIONS: dict[str, float | bool | str] = {"step_size": 0.01, "compat": False}


def initial_state(present: Tensor, options: Options) -> State:
    """Return ``log_weights`` (groups,), float64, which do not underflow in a long training.

    exp(log_weights) are the weights, which sum to 1; -inf for a group that never occurs.
    """
    weights = present.double() / present.sum()
    return {"log_weights": weights.log()}


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the weighted mean of the groups' losses, and the new weights."""
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
