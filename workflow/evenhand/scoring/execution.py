"""Run batches in order and in threads, with resumption, and with smaller batches if needed.

Batches have equal length, hence no padding and no attention mask, and a bounded number of tokens.
"""

import hashlib
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from evenhand.core.files import atomic, remove
from evenhand.errors import InputError


def exact_length_batches(
    lengths: np.ndarray, *, tokens: int, rows: int | None = None
) -> list[np.ndarray]:
    """Group inputs of the same length into batches of at most `tokens` tokens.

    Parameters
    ----------
    lengths : array of int, shape (n,)
        Tokens per input, including specials.
    tokens : int
        Maximum number of tokens per batch. A longer input is a batch by itself.
    rows : int, optional
        Maximum number of inputs per batch.

    Returns
    -------
    list of array of int
        Indices into `lengths`, ascending in each batch. Longest inputs come first, so that
        memory errors occur early. Every index occurs once.
    """
    lengths = np.asarray(lengths)
    order = np.lexsort((np.arange(len(lengths)), -lengths))
    borders = np.flatnonzero(np.diff(lengths[order])) + 1
    batches = []
    for group in np.split(order, borders) if len(order) else []:
        size = max(1, tokens // max(1, int(lengths[group[0]])))
        if rows is not None:
            size = max(1, min(size, rows))
        batches += [group[i : i + size] for i in range(0, len(group), size)]
    return batches


#: The results of a batch, by name. The first axis of each array follows the order of the batch.
Found = dict[str, np.ndarray]

#: Time between two saves of the results, in seconds.
SAVE_SECONDS = 20.0

#: Texts in a RuntimeError for lack of memory: of torch's allocator on the CPU, of cuBLAS.
OUT_OF_MEMORY = ("DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED")


def run_batches(
    batches: Sequence[np.ndarray],
    run: Callable[[np.ndarray], Found],
    *,
    key: str = "",
    scratch: Path | None = None,
    device: str = "cpu",
    threads: int = 1,
    progress: Callable[[np.ndarray], object] | None = None,
) -> Iterator[tuple[np.ndarray, Found]]:
    """Run batches, and yield their results in order.

    A batch that does not fit into memory is halved, as often as needed, and the results of its
    parts are joined. Other batch sizes affect results by rounding only.

    Parameters
    ----------
    batches : sequence of arrays of int
        Indices of inputs; not empty.
    run : callable
        Takes such indices (a batch, or a part of one) and returns arrays, always with the same
        names. The first axes follow the order of the indices, with any number of entries for
        each, so that the arrays of parts of a batch can be joined. It is called in other
        threads, and must not depend on earlier calls.
    key : str
        Digest of all other determinants of the results: the inputs, the model, the questions.
        Saved results are identified by this digest and the batches.
    scratch : Path, optional
        A folder for partial results, from which the next attempt continues after an interruption,
        even by a killed process. Several calls may share a folder.
    device : str
        The model's device: ``cpu``, ``cuda`` or ``cuda:N``.
    threads : int
        Threads on the CPU, each of which runs whole batches, so that their number does not change
        any bit of the results. A GPU uses one.
    progress : callable, optional
        Called with each finished batch, including those of an earlier attempt.

    Yields
    ------
    batch, result : array of int, dict of arrays

    Raises
    ------
    InputError
        A single input does not fit into memory.
    """
    folder = scratch / _digest(key, batches) if scratch is not None else None
    done = 0
    for result in _restore(folder, len(batches)):
        done += 1
        if progress:
            progress(batches[done - 1])
        yield batches[done - 1], result
    unsaved: list[Found] = []
    last_save = time.monotonic()
    computed = _compute(batches[done:], run, device, threads)
    try:
        for batch, result in zip(batches[done:], computed, strict=True):
            unsaved.append(result)
            done += 1
            if folder is not None and time.monotonic() - last_save >= SAVE_SECONDS:
                _save(folder, done - len(unsaved), unsaved)
                unsaved, last_save = [], time.monotonic()
            if folder is None:
                unsaved.clear()
            if progress:
                progress(batch)
            yield batch, result
    finally:
        computed.close()
        if folder is not None and unsaved:
            _save(folder, done - len(unsaved), unsaved)


def _compute(
    batches: Sequence[np.ndarray], run: Callable[[np.ndarray], Found], device: str, threads: int
) -> Iterator[Found]:
    """Yield the results of each batch in order, with at most two batches per thread in memory."""
    import torch

    def one_thread() -> None:  # inside a batch: the order of sums must not depend on threads
        torch.set_num_threads(1)

    workers = threads if device == "cpu" else 1
    before = torch.get_num_threads()
    waiting: deque[Future[Found]] = deque()
    submitted = 0
    with ThreadPoolExecutor(workers, initializer=one_thread) as pool:
        try:
            while waiting or submitted < len(batches):
                while len(waiting) < 2 * workers and submitted < len(batches):
                    waiting.append(pool.submit(_fit, run, batches[submitted], device))
                    submitted += 1
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            torch.set_num_threads(before)


def _fit(run: Callable[[np.ndarray], Found], batch: np.ndarray, device: str) -> Found:
    """Run a batch, or its two halves if it does not fit into memory."""
    import torch

    try:
        return run(batch)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise InputError(
                f"an input does not fit into the memory of the device {device!r}, even by itself",
                remedy="use a smaller tokens_per_batch, fewer threads, or another device",
            ) from error
    # Only here, after the except clause, is the memory of the failed attempt released.
    if device != "cpu":
        torch.cuda.empty_cache()
    half = len(batch) // 2
    first, second = _fit(run, batch[:half], device), _fit(run, batch[half:], device)
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is due to a lack of memory, on a GPU or a CPU."""
    import torch

    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in OUT_OF_MEMORY)
    )


# ---------------------------------------------------------------- results of earlier attempts


def _digest(key: str, batches: Sequence[np.ndarray]) -> str:
    whole = hashlib.blake2b(key.encode(), digest_size=16)
    for batch in batches:
        whole.update(len(batch).to_bytes(8, "little"))
        whole.update(np.asarray(batch, dtype="<i8").tobytes())
    return whole.hexdigest()


def _save(folder: Path, start: int, results: Sequence[Found]) -> None:
    """Save the results of the batches from number `start` on."""
    arrays = {
        f"{number}/{name}": array
        for number, result in enumerate(results, start)
        for name, array in result.items()
    }
    with atomic(folder / f"{start}.npz") as path, path.open("wb") as stream:
        np.savez(stream, **arrays)


def _restore(folder: Path | None, count: int) -> Iterator[Found]:
    """Yield the saved results of the first batches, from an earlier attempt at `count` batches."""
    number = 0
    while folder is not None and number < count and (folder / f"{number}.npz").exists():
        path = folder / f"{number}.npz"
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as part:
                arrays = {name: part[name] for name in part.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            remove(path)  # a crash left an incomplete file
            return
        by_batch: dict[int, Found] = {}
        for name, array in arrays.items():
            which, _, short = name.partition("/")
            by_batch.setdefault(int(which), {})[short] = array
        for number in sorted(by_batch):
            yield by_batch[number]
        number += 1
