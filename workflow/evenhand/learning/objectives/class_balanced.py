"""Equal weights of all classes in a batch, regardless of their numbers of cases.

    loss = mean over the classes of the batch of their mean loss

In a multi-label task, a label's loss is the mean of two means: over the cases with and without it.
Not in the paper: it shows whether a gap between groups is due to differences between classes. It
balances within a batch only, so that a class with less than one case per batch still has a lower
weight over an epoch.
"""

from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, class_means, mean_over

TITLE = "balanced classes"


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the mean over classes of their mean loss."""
    return mean_over(*class_means(batch)), state
