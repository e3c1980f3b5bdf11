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


def prepare_device(device: str, dtype: str = "fp32") -> None:
    """Reject an unavailable device and an unknown number format, and set up a GPU.

    It is set up before anything runs on it: cuBLAS gets the memory that its deterministic kernels
    need. The attention of cuDNN is off, since it makes a plan for each shape of a batch, which
    takes longer than the batch; so is torch's fast path for transformer layers, whose GELU is an
    approximation (logits differ by 1e-4).
    """
    import torch

    if dtype not in DTYPES:
        raise InputError(f"dtype {dtype!r} is unknown", remedy=f"use {' or '.join(DTYPES)}")
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"device {device!r} is unknown", remedy="use cpu, cuda or cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"there is no GPU for the device {device!r}", remedy="use cpu")
    if device != "cpu":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cuda.enable_cudnn_sdp(False)
        torch.backends.mha.set_fastpath_enabled(False)


def _algebra(threads: int) -> AbstractContextManager:
    """Limit the threads of the linear algebra of numpy and scipy."""
    import scipy.linalg  # noqa: F401  # a library that is loaded later would have no limit
    from threadpoolctl import threadpool_limits

    return threadpool_limits(threads, "blas")


@contextmanager
def repeatable(seed: int, *, threads: int = 1) -> Iterator[None]:
    """Run a block with a seed and a number of threads; then restore the previous state.

    Only deterministic kernels are used, on a GPU too. Models should be built within the block,
    since their initial weights depend on the seed. Another number of threads may change the last
    bits.
    """
    import torch

    remember = torch.random.get_rng_state(), torch.get_num_threads()
    before = torch.get_deterministic_debug_mode()
    try:
        torch.set_num_threads(threads)
        # like use_deterministic_algorithms, but without importing torch's compiler
        torch.set_deterministic_debug_mode("error")
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
