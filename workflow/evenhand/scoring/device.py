"""Devices, number formats, and reproducible execution."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from torch import nn


#: The supported number formats, and their names in torch.
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}


def check_device(device: str, dtype: str = "fp32") -> None:
    """Reject an unavailable device and an unknown number format."""
    import torch

    if dtype not in DTYPES:
        raise InputError(f"dtype {dtype!r} is unknown", remedy=f"use {' or '.join(DTYPES)}")
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"device {device!r} is unknown", remedy="use cpu, cuda or cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"there is no GPU for the device {device!r}", remedy="use cpu")


def _algebra(threads: int) -> AbstractContextManager:
    """Limit the threads of the linear algebra of numpy and scipy."""
    import scipy.linalg  # noqa: F401  # a library that is loaded later would have no limit
    from threadpoolctl import threadpool_limits

    return threadpool_limits(threads, "blas")


@contextmanager
def repeatable(
    seed: int, *, threads: int = 1, device: str = "cpu", deterministic: bool = False
) -> Iterator[None]:
    """Run a block with a seed and a number of threads; then restore the previous state.

    Kernels on a CPU are always deterministic, those on a GPU on request. Models should be built
    within the block, since their initial weights depend on the seed. Another number of threads may
    change the last bits.
    """
    import torch

    remember = torch.random.get_rng_state(), torch.get_num_threads()
    before = torch.get_deterministic_debug_mode()
    if deterministic and device != "cpu":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # required by cuBLAS
    try:
        torch.set_num_threads(threads)
        # like use_deterministic_algorithms, but without importing torch's compiler
        torch.set_deterministic_debug_mode("error" if deterministic or device == "cpu" else 0)
        torch.manual_seed(seed)
        with _algebra(threads):
            yield
    finally:
        torch.random.set_rng_state(remember[0])
        torch.set_num_threads(remember[1])
        torch.set_deterministic_debug_mode(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block on one CPU thread, since more would change the order of sums.

    This is true of torch, and of the linear algebra of numpy and scipy.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _algebra(1):
            yield
    finally:
        torch.set_num_threads(before)


def settle(model: "nn.Module") -> None:
    """Copy weights to memory with torch's alignment.

    Weights that are mapped from a file have any alignment, which affects the last bits of sums:
    the same weights from another file would give other bits.
    """
    for parameter in model.parameters():
        parameter.data = parameter.data.clone()
