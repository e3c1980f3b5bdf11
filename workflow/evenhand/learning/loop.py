"""The training loop, with progress bar and checkpoints; and AdamW with its schedule."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.io.checkpoint import Checkpoints, random_state, set_random_state

if TYPE_CHECKING:
    import torch


class Stateful:
    """An object with a state that a checkpoint can hold: its attributes named in `STATE`.

    An attribute is a tensor, a number, a string, None, an object with `state_dict`, a NumPy
    generator, or a list or dict of them.
    """

    STATE: tuple[str, ...] = ()

    def state_dict(self) -> dict[str, Any]:
        """Return the state: tensors, numbers, strings, and dicts and lists of them."""
        return {name: _state_of(getattr(self, name)) for name in self.STATE}

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """Continue from a result of `state_dict`."""
        for name in self.STATE:
            setattr(self, name, _restored(getattr(self, name), kept[name]))


def _state_of(value: Any) -> Any:
    if hasattr(value, "state_dict"):
        return value.state_dict()
    if isinstance(value, np.random.Generator):
        return json.dumps(value.bit_generator.state)
    if isinstance(value, list):
        return list(map(_state_of, value))
    if isinstance(value, dict):
        return {key: _state_of(each) for key, each in value.items()}
    return value


def _restored(value: Any, kept: Any) -> Any:
    """Return a value in its kept state: the same object, if it is one that others refer to."""
    if hasattr(value, "load_state_dict"):
        value.load_state_dict(kept)
    elif isinstance(value, np.random.Generator):
        value.bit_generator.state = json.loads(kept)
    elif hasattr(value, "copy_"):
        value.detach().copy_(kept)
    elif isinstance(value, list) and len(value) == len(kept):
        return list(map(_restored, value, kept))
    elif isinstance(value, dict) and value.keys() == kept.keys():
        return {key: _restored(each, kept[key]) for key, each in value.items()}
    else:
        return kept
    return value


class Training(Stateful):
    """A training that `run` carries out and resumes.

    Attributes
    ----------
    steps : int
        Maximum number of optimiser steps.
    step : int
        Number of optimiser steps so far.
    """

    steps: int
    step: int

    def advance(self) -> Iterator[dict[str, str]]:
        """Train until done; yield progress-bar notes whenever the state is consistent.

        Each training has its own.
        """
        raise NotImplementedError


def run(
    training: Training,
    folder: Path | None,
    configuration: Mapping[str, Any],
    *,
    title: str,
    device: "str | torch.device" = "cpu",
    progress: bool = True,
) -> None:
    """Train until done, resuming from a checkpoint with the same result to the byte.

    Parameters
    ----------
    training : Training
        A new training.
    folder : path or None
        Folder of the checkpoint, which is kept after the training is done.
    configuration : mapping
        All determinants of the training, as JSON values.
    title : str
        Label of the progress bar.
    device : str
        The training's device; the state of torch's generator there is part of the checkpoint.
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    InputError
        The checkpoint belongs to another configuration, or cannot be written.
    """
    from tqdm import tqdm

    checkpoints = Checkpoints(folder, configuration)
    if kept := checkpoints.restore(str(device)):
        set_random_state(kept["random"], device)
        training.load_state_dict(kept)
        print(f"continues after step {training.step}", file=sys.stderr)
    first = training.step

    def collect() -> dict[str, Any]:
        return {**training.state_dict(), "random": random_state(device)}

    look = {"desc": title, "unit": " steps", "mininterval": 5, "ascii": True}
    with tqdm(total=training.steps, initial=training.step, disable=not progress, **look) as bar:
        for notes in training.advance():
            bar.set_postfix(notes, refresh=False)
            bar.update(training.step - bar.n)
            checkpoints.save_if_due(collect)
    if training.step > first:
        checkpoints.save(collect())


def schedule_factor(step: int, *, steps: int, warmup: int) -> float:
    """Return the factor of the learning rate in a step, counted from 0."""
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (steps - step) / max(1, steps - warmup))


class Descent(Stateful):
    """AdamW with gradient clipping, and a rate that rises, then falls linearly to 0.

    Parameters
    ----------
    groups : sequence of mapping
        Each has ``params`` and ``weight_decay``; empty groups are left out.
    lr : float
        The maximum rate.
    steps, warmup : int
        Total number of steps, and number of steps in which the rate rises.
    clip : float
        Maximum norm of gradients; 0 does not clip.
    """

    STATE = ("optimizer", "schedule")

    def __init__(
        self,
        groups: Sequence[Mapping[str, Any]],
        *,
        lr: float,
        steps: int,
        warmup: int,
        clip: float,
    ) -> None:
        import torch

        groups = [dict(group) for group in groups if group["params"]]
        self.clip, self.trained = clip or math.inf, [p for group in groups for p in group["params"]]
        self.optimizer = torch.optim.AdamW(groups, lr=lr, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: schedule_factor(step, steps=steps, warmup=warmup)
        )

    def update(self, loss: "torch.Tensor") -> tuple[float, float]:
        """Take an optimiser step, unless the loss or the gradient is not finite.

        Returns
        -------
        loss, norm : float
            The loss, and the norm of the gradient before clipping.
        """
        import torch

        norm = torch.nn.utils.clip_grad_norm_(self.trained, self.clip)
        value, length = torch.stack([loss.detach().double(), norm.double()]).tolist()
        if math.isfinite(value) and math.isfinite(length):
            self.optimizer.step()
            self.schedule.step()
        self.optimizer.zero_grad()
        return value, length
