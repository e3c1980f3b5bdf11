"""Adversarial removal: features from which an adversary cannot predict the group.

Elazar and Goldberg (2018). A network with a hidden layer is trained to predict the group from the
features, by ``inner_steps`` steps on each batch with a separate learning rate. Then the encoder
takes one step that makes the adversary uncertain (the uniform target of Tzeng et al. 2015, which is
bounded, unlike the negated loss of gradient reversal):

    encoder: min mean L + strength min(1, step / ramp_steps) mean_i mean_g -log p(g | features_i)

over the groups that occur in training. It does not apply to linear classifiers: their features are
fixed, and with an adversary on unbounded logits these would reveal the attribute.

The removal is not guaranteed: see the attribute leakage in the report, and `leace`, which removes
the attribute in closed form.

``compat``: the published loss, mean L + CE(g, h(features)) with a linear h, without gradient
reversal, so that the encoder learns to *predict* the group. Every commit of the reference since
June 2021 does so (`adv_model` with the reversal is made and never called), hence also the paper's
runs. Batches hold two groups; for a linear classifier, the features are its logits.
"""

from torch import Tensor, nn

from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    full_precision,
    keep_present,
    losses_of,
    mean_over,
    per_example_loss,
    whole,
)

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

initial_state = keep_present


def modules(features: int, groups: int, options: Options) -> nn.Module:
    """Return the adversary: a hidden layer and a linear one; in ``compat`` the linear one only."""
    if options["compat"]:
        return nn.Linear(features, groups)
    hidden = whole(options, "hidden")
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, groups))


def inner_loss(batch: Batch, options: Options, modules: nn.Module) -> Tensor:
    """Return the adversary's mean cross-entropy."""
    logits = modules(full_precision(batch.features))  # the adversary's own are of full precision
    return per_example_loss(logits, batch.groups, "multi_class").mean()


def loss(batch: Batch, state: State, options: Options, modules: nn.Module) -> tuple[Tensor, State]:
    """Return the mean loss plus the adversary's certainty; in ``compat`` its cross-entropy."""
    mean = losses_of(batch).mean()
    if options["compat"]:
        return mean + inner_loss(batch, options, modules), state
    log_p = modules(full_precision(batch.features)).log_softmax(dim=-1).mean(dim=0)
    ramp = min(1.0, batch.step / options["ramp_steps"]) if options["ramp_steps"] else 1.0
    certain = -mean_over(log_p, state["present"].to(log_p.dtype))
    return mean + options["strength"] * ramp * certain, state
