"""Adversarial removal: features from which an adversary cannot tell the group.

Elazar and Goldberg (2018), by gradient reversal (Ganin and Lempitsky 2015): a linear layer learns
to tell the group, the unknown one included, and the encoder learns to prevent it,

    adversary: min CE(g, h(features));  encoder: min mean L - strength CE(g, h(features))

The loss that is returned is mean L + CE: its gradient to the features of the second term is
turned round and multiplied by ``strength``. The features have to depend on something that is
trained: a classifier on fixed features can hand over its logits instead.

``compat``: the gradient is not turned round, so that the encoder learns to tell the group: a
multi-task loss mean L + CE, without ``strength``. So it is in every commit of the reference since
June 2021 (`adv_model` with the reversal is made and never called), hence in the paper's runs; two
groups a batch.
"""

from torch import Tensor, nn

from evenhand.learning.gradient_reversal import reverse_gradient
from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    full_precision,
    losses_of,
    per_example_loss,
)

NAME = "adversarial"
TITLE = "adversarial removal"
SAMPLER = "group_uniform"
COMPAT_SAMPLER = "group_pairs"
USES_GROUPS = True
OPTIONS: dict[str, float | bool | str] = {"strength": 0.5, "compat": False}


def initial_state(present: Tensor, options: Options) -> State:
    """Nothing."""
    return {}


def modules(features: int, groups: int, options: Options) -> nn.Module:
    """The adversary: a linear layer."""
    return nn.Linear(features, groups)


def loss(batch: Batch, state: State, options: Options, modules: nn.Module) -> tuple[Tensor, State]:
    """The mean loss and the adversary's mean cross entropy."""
    features = full_precision(batch.features)  # the adversary's own are of full precision
    if not options["compat"]:
        strength = options["strength"]
        features = reverse_gradient(strength * features + ((1 - strength) * features).detach())
    found = per_example_loss(modules(features), batch.groups, "multi_class")
    return losses_of(batch).mean() + found.mean(), state
