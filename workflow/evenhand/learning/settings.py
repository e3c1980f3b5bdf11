"""How a classifier is trained: rates, batches, epochs."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_type_hints

from evenhand.core.stage import Count, Range, check_values
from evenhand.learning.history import Selection


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a training.

    Attributes
    ----------
    learning_rate : float
        Learning rate of AdamW after the warm-up; it falls linearly to 0 at the end of `epochs`.
    batch : int
        Cases per step.
    epochs, patience : int
        Maximum number of epochs, and the number without a better one (see
        `evenhand.learning.history.Epochs`) after which training stops.
    select : str
        The development score that epochs are chosen by.
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

    learning_rate: Annotated[float, Range(above=0)] = 3e-5
    batch: Count = 16
    epochs: Count = 20
    patience: Count = 2
    select: Selection = "macro_f1"
    clip: Annotated[float, Range(least=0)] = 1.0
    warmup: Annotated[float, Range(least=0, below=1)] = 0.0
    weight_decay: Annotated[float, Range(least=0)] = 0.0
    accumulate: Count = 1
    evaluation_batch: Count = 64
    dtype: Literal["fp32", "bf16"] = "fp32"
    threads: Count = 1

    def __post_init__(self) -> None:
        check_values(get_type_hints(Settings, include_extras=True), vars(self))
