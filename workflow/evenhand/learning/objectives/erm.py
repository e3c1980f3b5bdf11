"""ERM: the mean loss. It does not use groups, so that one training serves all attributes."""

from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, losses_of

NAME = "erm"
TITLE = "ERM"
SAMPLER = "shuffle"
USES_GROUPS = False
OPTIONS: dict[str, float | bool | str] = {}


def initial_state(present: Tensor, options: Options) -> State:
    """Return an empty state."""
    return {}


def modules(features: int, groups: int, options: Options) -> None:
    """Return None: no further network is trained."""


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the mean loss of the batch."""
    return losses_of(batch).mean(), state
