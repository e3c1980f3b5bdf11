import itertools
import threading
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.scoring import execution
from evenhand.scoring.execution import run_batches

BATCHES = [np.array(b) for b in ([4, 1], [0, 2, 3], [5], [6, 7, 8, 9], [10])]
NO_CPU_MEMORY = (
    "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)"
)


def squares(indices):
    """Two entries per index under one name, one under the other."""
    return {
        "twice": np.repeat(indices.astype(float) ** 2, 2),
        "once": np.array([[i, np.nan] for i in indices]),
    }


class Counting:
    """`squares`, noting what was run; it fails at an index if told so."""

    def __init__(self, fail_at=None, error=None):
        self.ran, self.fail_at, self.error = [], fail_at, error

    def __call__(self, indices):
        if self.fail_at in indices:
            raise self.error or KeyError("broken")
        self.ran.append(indices.tolist())
        return squares(indices)


def same(one, other):
    assert len(one) == len(other)
    for (batch, found), (batch_2, found_2) in zip(one, other, strict=True):
        assert batch.tolist() == batch_2.tolist()
        assert found.keys() == found_2.keys()
        for name in found:
            assert found[name].dtype == found_2[name].dtype
            assert found[name].tobytes() == found_2[name].tobytes()


def test_in_order_whatever_the_threads():
    def slow_first(indices):
        time.sleep(0.05 if 4 in indices else 0)
        return squares(indices)

    expected = [(batch, squares(batch)) for batch in BATCHES]
    for threads in (1, 2, 5):
        same(list(run_batches(BATCHES, slow_first, threads=threads)), expected)


def test_one_torch_thread_in_each_batch_and_as_before_outside():
    torch.set_num_threads(3)
    try:
        inside = set()
        threads = set()

        def run(indices):
            inside.add(torch.get_num_threads())
            threads.add(threading.get_ident())
            time.sleep(0.01)
            return squares(indices)

        list(run_batches(BATCHES, run, threads=2))
        assert inside == {1} and len(threads) == 2
        assert torch.get_num_threads() == 3
        threads.clear()
        list(run_batches(BATCHES, run, device="cuda", threads=2))
        assert len(threads) == 1
    finally:
        torch.set_num_threads(1)


def test_few_batches_are_ahead_of_the_reader():
    counting = Counting()
    running = run_batches([np.array([i]) for i in range(100)], counting, threads=2)
    next(running)
    time.sleep(0.05)
    assert len(counting.ran) <= 5
    running.close()


# ---------------------------------------------------------------- over a crash


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_run_goes_on(tmp_path, threads):
    with pytest.raises(KeyError, match="broken"):
        list(run_batches(BATCHES, Counting(fail_at=7), scratch=tmp_path, threads=threads))
    again, told = Counting(), []
    found = list(
        run_batches(
            BATCHES,
            again,
            scratch=tmp_path,
            threads=threads,
            progress=lambda b: told.append(b.tolist()),
        )
    )
    assert again.ran == [[6, 7, 8, 9], [10]]
    same(found, [(batch, squares(batch)) for batch in BATCHES])
    assert told == [b.tolist() for b in BATCHES]


def test_saved_in_several_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(execution, "SAVE_SECONDS", 0)
    with pytest.raises(KeyError):
        list(run_batches(BATCHES, Counting(fail_at=10), scratch=tmp_path))
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [f"{i}.npz" for i in range(4)]
    counting = Counting()
    same(
        list(run_batches(BATCHES, counting, scratch=tmp_path)),
        [(batch, squares(batch)) for batch in BATCHES],
    )
    assert counting.ran == [[10]]


@pytest.mark.parametrize(
    ("batches", "key"),
    [
        (BATCHES, "another model"),
        ([*BATCHES[:-1], np.array([11])], ""),
        ([np.concatenate(BATCHES[:2]), *BATCHES[2:]], ""),
        ([np.array([4]), np.array([1, 0, 2, 3]), *BATCHES[2:]], ""),
        (BATCHES[::-1], ""),
    ],
)
def test_what_is_stale_is_not_used(tmp_path, batches, key):
    list(run_batches(BATCHES, squares, scratch=tmp_path))
    counting = Counting()
    list(run_batches(batches, counting, key=key, scratch=tmp_path))
    assert counting.ran == [b.tolist() for b in batches]


@pytest.mark.parametrize("broken", [b"", b"PK\x03\x04 cut"])
def test_a_broken_part_is_made_again(tmp_path, monkeypatch, broken):
    monkeypatch.setattr(execution, "SAVE_SECONDS", 0)
    list(run_batches(BATCHES, squares, scratch=tmp_path))
    (folder,) = tmp_path.iterdir()
    (folder / "2.npz").write_bytes(broken)
    for expected in ([b.tolist() for b in BATCHES[2:]], []):
        counting = Counting()
        same(
            list(run_batches(BATCHES, counting, scratch=tmp_path)),
            [(batch, squares(batch)) for batch in BATCHES],
        )
        assert counting.ran == expected


# ---------------------------------------------------------------- where memory is short


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError(NO_CPU_MEMORY)]
)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_batches_that_do_not_fit_are_halved(error, most):
    sizes = []

    def run(indices):
        sizes.append(len(indices))
        if len(indices) > most:
            raise error
        return squares(indices)

    expected = [(batch, squares(batch)) for batch in BATCHES]
    same(list(run_batches(BATCHES, run)), expected)
    assert max(sizes) == 4


def test_the_failed_attempt_is_freed_before_the_next():
    alive = []

    class Large:
        def __init__(self):
            alive.append(self)

        def __del__(self):
            freed.append(True)

    freed = []

    def run(indices):
        large = Large()
        alive.clear()
        if len(indices) > 1:
            raise torch.OutOfMemoryError
        assert len(freed) >= 1, large
        return squares(indices)

    list(run_batches([np.array([1, 2])], run))


def test_a_single_input_that_does_not_fit():
    def run(indices):
        if 3 in indices:
            raise RuntimeError(NO_CPU_MEMORY)
        return squares(indices)

    with pytest.raises(InputError, match=r"does not fit .*smaller tokens_per_batch.*device"):
        list(run_batches(BATCHES, run))


def test_real_allocations_that_fail_are_recognised():
    def run(indices):
        if len(indices) > 1:
            torch.empty(2**58, dtype=torch.uint8)
        return squares(indices)

    same(list(run_batches(BATCHES, run)), [(batch, squares(batch)) for batch in BATCHES])


def test_other_errors_are_not_taken_for_it():
    with pytest.raises(RuntimeError, match="shapes"):
        list(run_batches(BATCHES, Counting(fail_at=4, error=RuntimeError("shapes"))))


@given(
    st.lists(st.integers(1, 6), max_size=8), st.integers(1, 6), st.integers(1, 3), st.integers(0, 8)
)
def test_halving_and_stopping_change_nothing(tmp_path_factory, sizes, most, threads, stop):
    scratch = tmp_path_factory.mktemp("scratch")
    borders = np.cumsum([0, *sizes])
    batches = [np.arange(a, b) for a, b in itertools.pairwise(borders)]

    def run(indices):
        if len(indices) > most:
            raise torch.OutOfMemoryError
        return squares(indices)

    first = run_batches(batches, run, scratch=scratch, threads=threads)
    for _ in zip(range(stop), first, strict=False):
        pass
    first.close()
    found = list(run_batches(batches, run, scratch=scratch, threads=threads))
    same(found, [(batch, squares(batch)) for batch in batches])
