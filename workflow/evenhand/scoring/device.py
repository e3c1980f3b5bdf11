"""Where a model runs, and that it does the same each time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from torch import nn


#: The number formats that a model can be run in, and what torch calls them.
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}


def check_device(device: str, dtype: str = "fp32") -> None:
    """Refuse a device that is not there, and a number format that is unknown."""
    import torch

    if dtype not in DTYPES:
        raise InputError(f"dtype {dtype!r} is unknown", remedy=f"use {' or '.join(DTYPES)}")
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"device {device!r} is unknown", remedy="use cpu, cuda or cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"there is no GPU for the device {device!r}", remedy="use cpu")


@contextmanager
def repeatable(
    seed: int, *, threads: int = 1, device: str = "cpu", deterministic: bool = False
) -> Iterator[None]:
    """Run a block from a seed, on so many threads; then put all back.

    Kernels on a CPU are always deterministic, those on a GPU if that is asked for. A model is
    built in the block too: its first weights come from the seed. Another number of threads may
    change the last bits.
    """
    import torch

    remember = torch.random.get_rng_state(), torch.get_num_threads()
    before = torch.get_deterministic_debug_mode()
    if deterministic and device != "cpu":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what such products need
    try:
        torch.set_num_threads(threads)
        # as use_deterministic_algorithms does, which imports torch's compiler besides
        torch.set_deterministic_debug_mode("error" if deterministic or device == "cpu" else 0)
        torch.manual_seed(seed)
        yield
    finally:
        torch.random.set_rng_state(remember[0])
        torch.set_num_threads(remember[1])
        torch.set_deterministic_debug_mode(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block on one CPU thread: more would change the order of sums."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def settle(model: "nn.Module") -> None:
    """Move weights to memory of their own, which begins where torch lets memory begin.

    Weights that are mapped from a file begin anywhere, and the last bits of a sum depend on it:
    the same weights from another file would give other bits.
    """
    for one in model.parameters():
        one.data = one.data.clone()
