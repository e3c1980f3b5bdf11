"""How a classifier is trained: rates, batches, epochs."""

import math
from dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.learning.history import SELECTIONS
from evenhand.scoring.device import DTYPES


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a training.

    Attributes
    ----------
    lr : float
        Learning rate of AdamW after the warm-up; it falls linearly to 0 at the end of `epochs`.
    batch : int
        Cases per step.
    epochs, patience : int
        Maximum number of epochs, and the number without a better one (see
        `evenhand.learning.history.Epochs`) after which training stops.
    select : str
        The development score that epochs are chosen by, one of
        `evenhand.learning.history.SELECTIONS`.
    clip : float
        Maximum norm of gradients; 0 does not clip.
    warmup : float
        Share of the steps in which the rate rises.
    weight_decay : float
        Weight decay of matrices; biases and norms have none.
    accumulate : int
        Number of parts of a batch, for models whose batches do not fit into memory. The gradient
        is that of the whole batch for every objective: a first pass without gradients computes
        the logits, and a second one, with the same dropout, the gradients part by part.
    evaluation_batch : int
        Cases predicted at once.
    dtype : str
        Number format of a step: fp32, or bf16 by autocast.
    threads : int
        CPU threads; other numbers may change the last bits.
    """

    lr: float = 3e-5
    batch: int = 16
    epochs: int = 20
    patience: int = 2
    select: str = "macro_f1"
    clip: float = 1.0
    warmup: float = 0.0
    weight_decay: float = 0.0
    accumulate: int = 1
    evaluation_batch: int = 64
    dtype: str = "fp32"
    threads: int = 1

    def __post_init__(self) -> None:
        whole = ("batch", "epochs", "patience", "accumulate", "evaluation_batch", "threads")
        for name in whole:
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}, and must be at least 1")
        for name in ("clip", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}, and must be at least 0")
        if not 0 < self.lr < math.inf:
            raise InputError(f"lr is {self.lr}, and must be above 0")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup}, and must be a share from 0 to below 1")
        for name, values in (("select", SELECTIONS), ("dtype", DTYPES)):
            if getattr(self, name) not in values:
                value = getattr(self, name)
                raise InputError(f"{name} is {value!r}, not one of {', '.join(values)}")
