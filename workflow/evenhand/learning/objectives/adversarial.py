"""Adversarial removal: features from which an adversary cannot tell the group.

Elazar and Goldberg (2018). A network with a hidden layer learns to tell the group from the
features, by ``inner_steps`` steps on each batch at a rate of its own. Then the encoder takes one
step that makes the adversary uncertain (the uniform target of Tzeng et al. 2015, which is bounded
where the negated loss of gradient reversal is not):

    encoder: min mean L + strength min(1, step / ramp_steps) mean_i mean_g -log p(g | features_i)

over the groups that occur in training. A linear classifier's features are fixed, so that there
is nothing to train; an adversary on unbounded logits makes them show the attribute.

Nothing guarantees the result: see the attribute leakage of the report, and `leace`, which removes
in closed form.

``compat``: the published loss, mean L + CE(g, h(features)) with a linear h, whose gradient is not
turned round, so that the encoder learns to *tell* the group. So it is in every commit of the
reference since June 2021 (`adv_model` with the reversal is made and never called), hence in the
paper's runs; two groups a batch; a linear classifier hands over its logits.
"""

from torch import Tensor, nn

from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    full_precision,
    losses_of,
    mean_over,
    per_example_loss,
    whole,
)

NAME = "adversarial"
TITLE = "adversarial removal"
SAMPLER = "cell_uniform"
COMPAT_SAMPLER = "group_pairs"
USES_GROUPS = True
AIM = "hide"
OPTIONS: dict[str, float | bool | str] = {
    "strength": 5.0,
    "hidden": 64.0,
    "inner_rate": 5e-3,
    "inner_steps": 5.0,
    "ramp_steps": 500.0,
    "compat": False,
}


def initial_state(present: Tensor, options: Options) -> State:
    """``present``, as given: the groups among which the adversary is to be uncertain."""
    return {"present": present}


def modules(features: int, groups: int, options: Options) -> nn.Module:
    """The adversary: a hidden layer and a linear one; in ``compat`` the linear one alone."""
    if options["compat"]:
        return nn.Linear(features, groups)
    hidden = whole(options, "hidden")
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, groups))


def inner_loss(batch: Batch, options: Options, modules: nn.Module) -> Tensor:
    """The adversary's mean cross entropy."""
    found = modules(full_precision(batch.features))  # the adversary's own are of full precision
    return per_example_loss(found, batch.groups, "multi_class").mean()


def loss(batch: Batch, state: State, options: Options, modules: nn.Module) -> tuple[Tensor, State]:
    """The mean loss and what the adversary is certain of; in ``compat`` its cross entropy."""
    mean = losses_of(batch).mean()
    if options["compat"]:
        return mean + inner_loss(batch, options, modules), state
    log_p = modules(full_precision(batch.features)).log_softmax(dim=-1).mean(dim=0)
    ramp = min(1.0, batch.step / options["ramp_steps"]) if options["ramp_steps"] else 1.0
    certain = -mean_over(log_p, state["present"].to(log_p.dtype))
    return mean + options["strength"] * ramp * certain, state
