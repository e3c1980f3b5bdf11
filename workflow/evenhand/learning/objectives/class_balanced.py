"""Each class weighs the same in a batch, however many cases it has there.

    loss = mean over the classes of the batch of their mean loss

For several labels a case, a label's loss is the mean of two means: over the cases that have it,
and over those that have not. Not in the paper: it tells whether a gap between groups is one
between classes. It balances within a batch only, so a class that is rarer than one case a batch
still weighs less over an epoch.
"""

from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, class_means, mean_over

NAME = "class_balanced"
TITLE = "balanced classes"
SAMPLER = "shuffle"
USES_GROUPS = False
OPTIONS: dict[str, float | bool | str] = {}


def initial_state(present: Tensor, options: Options) -> State:
    """Nothing."""
    return {}


def modules(features: int, groups: int, options: Options) -> None:
    """Nothing."""


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """The mean over classes of their mean loss."""
    return mean_over(*class_means(batch)), state
