"""How a classifier is trained: rates, batches, epochs."""

import math
from dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.learning.history import SELECTIONS
from evenhand.scoring.device import DTYPES


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to train.

    Attributes
    ----------
    lr : float
        Learning rate of AdamW, highest after the warm-up; it falls linearly to 0 at the end of
        all `epochs`.
    batch : int
        Cases a step.
    epochs, patience : int
        How many at most; after how many without a better one (see `rank`) it stops.
    select : str
        The development score that epochs are chosen by, one of
        `evenhand.learning.history.SELECTIONS`.
    clip : float
        Norm that a gradient is clipped to; 0 does not clip.
    warmup : float
        Share of the steps in which the rate rises.
    weight_decay : float
        Of matrices; biases and norms have none.
    accumulate : int
        Parts in which a batch is worked on, for models whose batches do not fit into memory. The
        gradient is that of the whole batch for every objective: a first pass without gradients
        gives the logits, and a second one, with the same dropout, the gradients part by part.
    evaluation_batch : int
        Cases predicted at once.
    dtype : str
        What a step is computed in: fp32, or bf16 where autocast takes it.
    threads : int
        CPU threads: another number may change the last bits.
    deterministic : bool
        Also on a GPU use kernels that give the same bits each time; on a CPU they always do.
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
    deterministic: bool = False

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
