"""Checkpoints of a training: one file, whole or absent, that belongs to one configuration.

A training in a stage keeps its checkpoint in the stage's scratch folder, and resumes from it::

    checkpoints = Checkpoints(scratch_folder(), {"lr": lr, "steps": steps, "cases": digest})
    losses = []
    if kept := checkpoints.restore():
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        set_random_state(kept["random"])
        losses = kept["losses"]

    def collect():
        return {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "random": random_state(),
            "losses": losses,
        }

    while len(losses) < steps:
        losses.append(one_step())
        checkpoints.save_if_due(collect)

It holds tensors, numbers, strings, and dicts and lists of them: an array is stored as
``torch.from_numpy(array)``, and a NumPy generator as the JSON of its state. Reading it runs no
code. Restore random states too: otherwise the result differs from an uninterrupted training.
"""

import json
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.files import atomic
from evenhand.errors import InputError

if TYPE_CHECKING:
    import torch

#: Seconds between two checkpoints, and how many times longer than its writing at the least:
#: a stop costs seconds, and the checkpoints of a large model not more than 5 % of its time.
SECONDS, SHARE = 2.0, 20

#: The file's name in the folder that it is kept in.
NAME = "checkpoint.pt"


class Checkpoints:
    """The last checkpoint of a training.

    A new one replaces the old by one rename; if it cannot be written, the old one stays
    unchanged.

    Parameters
    ----------
    folder : path or None
        The folder of the file; None keeps nothing.
    configuration : mapping
        Everything that determines the training, as JSON. A checkpoint of another configuration is
        refused, because it belongs to other data or another model. (Within a run each
        configuration has a separate folder: `evenhand.core.scratch`.)
    """

    def __init__(self, folder: Path | None, configuration: Mapping[str, Any]) -> None:
        self.file = folder / NAME if folder else None
        self._configuration = json.loads(json.dumps(configuration))
        self._due = time.monotonic() + SECONDS

    def restore(self, device: str = "cpu") -> dict[str, Any] | None:
        """Return the last checkpoint, its tensors on the device, or None without one.

        A broken file (of a machine that lost its power) is ignored with a message.

        Raises
        ------
        InputError
            It is of another configuration.
        """
        import torch

        if self.file is None or not self.file.is_file():
            return None
        try:
            with zipfile.ZipFile(self.file) as archive:  # torch reads tensors without their sums
                if damaged := archive.testzip():
                    raise ValueError(f"{damaged} is not what was written")
            kept = torch.load(self.file, weights_only=True, map_location=device)
            configuration = json.loads(kept.pop("configuration"))
        except Exception as error:  # of many types, all the same
            problem = (str(error).splitlines() or [type(error).__name__])[0]
            problem = problem.partition(". ")[0]  # torch adds advice that does not help here
            print(f"begins again: {self.file} is broken ({problem})", file=sys.stderr)
            return None
        if other := _differences(configuration, self._configuration):
            raise InputError(
                f"is the checkpoint of a training with other settings or data: {', '.join(other)}",
                file=self.file,
                remedy="remove it to begin again, or train as it was begun",
            )
        return kept

    def save(self, kept: Mapping[str, Any]) -> None:
        """Save tensors, numbers, strings, and dicts and lists of them.

        Raises
        ------
        InputError
            It cannot be written, for example because the disk is full.
        """
        import torch

        if self.file is None:
            return
        started = time.monotonic()
        try:
            with atomic(self.file) as partial, partial.open("wb") as stream:
                torch.save({**kept, "configuration": json.dumps(self._configuration)}, stream)
        except Exception as error:
            if (reason := _behind(error)) is None:
                raise
            whole = self.file.is_file()
            raise InputError(
                f"the checkpoint cannot be written ({reason.strerror})"
                + ("; the one before it is whole" if whole else ""),
                file=self.file,
                remedy="make room and run again"
                + (": the training goes on from the last checkpoint" if whole else ""),
            ) from error
        ended = time.monotonic()
        self._due = ended + max(SECONDS, SHARE * (ended - started))

    def save_if_due(self, collect: Callable[[], Mapping[str, Any]]) -> None:
        """Save the result of `collect` if the last checkpoint is old."""
        if self.file is not None and time.monotonic() >= self._due:
            self.save(collect())


def _differences(kept: Any, present: Any, name: str = "") -> list[str]:
    """Return the names of the values in which two configurations differ."""
    if not (isinstance(kept, dict) and isinstance(present, dict)):
        return [] if kept == present else [name.removeprefix(".")]
    return [
        difference
        for key in {**kept, **present}
        for difference in _differences(kept.get(key, ...), present.get(key, ...), f"{name}.{key}")
    ]


def random_state(device: "torch.device | str" = "cpu") -> dict[str, "torch.Tensor"]:
    """Return the states of torch's generators: the CPU's, and that of the GPU in use."""
    import torch

    state = {"cpu": torch.random.get_rng_state()}
    if torch.device(device).type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def set_random_state(
    state: Mapping[str, "torch.Tensor"], device: "torch.device | str" = "cpu"
) -> None:
    """Restore torch's generators to states of `random_state`."""
    import torch

    torch.random.set_rng_state(state["cpu"].cpu())
    if torch.device(device).type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"].cpu(), device)


def _behind(error: BaseException | None) -> OSError | None:
    """Return the file-system error behind another error: torch replaces it by one of its own."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error
