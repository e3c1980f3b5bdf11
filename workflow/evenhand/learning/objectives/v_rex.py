"""V-REx: the mean loss and the variance of the groups' losses (Krueger et al. 2021).

    loss = mean_i L_i + beta Var_g(L_g)

over the groups of the batch, with the unbiased variance, as in FairLex's code. The variance of a
single group is 0 (in the reference: NaN).

``compat``: groups with loss 0 are left out; a batch holds two groups drawn at random, so that the
variance is that of two numbers.
"""

from torch import Tensor

from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    at_least_one,
    group_means,
    keep_present,
    losses_of,
    mean_over,
    membership,
)

TITLE = "V-REx"
SAMPLER = "group_uniform"
COMPAT_SAMPLER = "group_pairs"
USES_GROUPS = True
AIM = "equal_losses"
OPTIONS: dict[str, float | bool | str] = {"beta": 0.5, "compat": False}

initial_state = keep_present


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the mean loss plus beta times the variance of the groups' losses."""
    losses = losses_of(batch)
    members = membership(batch.groups, state["present"].shape[-1], losses.dtype)
    means, present = group_means(losses, members)
    if options["compat"]:
        present = present * (means > 0)
    squares = (means - mean_over(means, present)).square() * present
    variance = squares.sum() / at_least_one(present.sum() - 1)
    return losses.mean() + options["beta"] * variance, state
