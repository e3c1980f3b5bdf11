"""Which cases each training batch has.

A sampler is endless: `next` gives the rows of the next batch. All it draws comes from one numpy
Generator, so its state is where that generator started and how many batches were drawn; from
these a resumed training draws the same batches again and goes on.
"""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from evenhand.errors import InputError

#: The samplers that do not depend on groups.
GROUPLESS = ("shuffle", "neighbours")

#: Groups in a batch of `group_pairs`, the reference's default.
GROUPS_PER_BATCH = 2


class Batches(Iterator[np.ndarray]):
    """Batches without end: arrays of int64, shape (rows,), row numbers.

    Parameters
    ----------
    draw : callable
        Takes a generator and yields batches, forever.
    per_epoch : int
        Batches that make an epoch.
    generator : numpy Generator
        What decides; it belongs to this sampler from now on.

    Attributes
    ----------
    per_epoch : int
        Batches that make an epoch.
    drawn : int
        Batches drawn so far.
    """

    def __init__(
        self,
        draw: Callable[[np.random.Generator], Iterator[np.ndarray]],
        per_epoch: int,
        generator: np.random.Generator,
    ) -> None:
        self.per_epoch = per_epoch
        self.drawn = 0
        self._draw = draw
        self._generator = generator
        self._start = generator.bit_generator.state
        self._batches = draw(generator)

    def __next__(self) -> np.ndarray:
        self.drawn += 1
        return next(self._batches)

    def epoch(self) -> Iterator[np.ndarray]:
        """The rest of the epoch that it stands in; a whole one between two."""
        for _ in range(self.per_epoch - self.drawn % self.per_epoch):
            yield next(self)

    def state(self) -> dict[str, Any]:
        """Where it stands: ``start`` (the generator's state there) and ``drawn``.

        Numbers, strings and dicts of them, if the generator is numpy's default one.
        """
        return {"start": self._start, "drawn": self.drawn}

    def restore(self, state: dict[str, Any]) -> None:
        """Go where a sampler of the same cases stood when it said `state`."""
        self._start = state["start"]
        self._generator.bit_generator.state = state["start"]
        self._batches = self._draw(self._generator)
        self.drawn = 0
        for _ in range(state["drawn"]):
            next(self)


def make_sampler(
    name: str,
    groups: np.ndarray,
    batch: int,
    generator: np.random.Generator,
    near: np.ndarray | None = None,
) -> Batches:
    """Return the sampler of this name (an objective's `SAMPLER`).

    Parameters
    ----------
    name : str
        A name of `SAMPLERS`.
    groups : array of int, shape (n,)
        The group of each case; for ``cell_uniform`` its cell of label x group.
    batch : int
        Cases a batch.
    generator : numpy Generator
        The source of randomness.
    near : array of int64, shape (n, k), optional
        For ``neighbours``: those of each case among the n, nearest first; -1 where there are no
        more.

    Raises
    ------
    InputError
        No sampler has this name, there is no case, or a batch holds none.
    """
    if name not in SAMPLERS:
        raise InputError(
            f"an objective names the sampler {name!r}", remedy=f"use {', '.join(SAMPLERS)}"
        )
    if len(groups) < 1:
        raise InputError("there is no case to train on")
    if batch < 1:
        raise InputError(f"a batch of {batch} holds no case", remedy="give a batch size from 1")
    given = near if name == "neighbours" else np.asarray(groups)
    return Batches(partial(SAMPLERS[name], given, batch), -(-len(groups) // batch), generator)


def _shuffled(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Every case once an epoch, in a new order each time; the last batch may be smaller."""
    while True:
        yield from _cut(generator.permutation(len(groups)), batch)


def _neighbours(
    near: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Every case once an epoch, beside a near one where that is possible.

    In a random order each case that is still alone takes the nearest of its neighbours that is
    alone, too. A case without one stays alone. The couples and those alone come in a random order;
    a couple for which a batch has a single place left waits for the next batch, unless no single
    case is left to fill it. The last batch may be smaller.
    """
    lists = [[other for other in row if other >= 0] for row in near.tolist()]
    while True:
        alone, found = np.ones(len(near), dtype=bool), []
        for case in generator.permutation(len(near)).tolist():
            if alone[case]:
                alone[case] = False
                other = next((one for one in lists[case] if alone[one]), None)
                if other is not None:
                    alone[other] = False
                found.append([case] if other is None else [case, other])
        couples = [found[place] for place in generator.permutation(len(found))]
        yield from _cut(np.array(_together(couples, batch), dtype=np.int64), batch)


def _cut(order: np.ndarray, batch: int) -> Iterator[np.ndarray]:
    return (order[start : start + batch] for start in range(0, len(order), batch))


def _together(blocks: list[list[int]], batch: int) -> list[int]:
    """Ones and twos in a row, so that few twos lie across the borders of batches."""
    rows: list[int] = []
    waiting: deque[list[int]] = deque()

    def room() -> int:
        return batch - len(rows) % batch

    for block in blocks:
        if len(block) > room():
            waiting.append(block)
            continue
        rows += block
        while waiting and room() > 1:
            rows += waiting.popleft()
    for block in waiting:
        rows += block
    return rows


def _group_uniform(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """As many cases of each group in a batch as of any other, or one more.

    The groups take turns in having one more. A group's cases come in a random order, each once
    before any comes again; a small group is through sooner and starts anew. All batches are full.
    """
    decks = [_deck(rows, generator) for rows in _members(groups)]
    share, more = divmod(batch, len(decks))
    first = int(generator.integers(len(decks)))
    while True:
        lucky = {(first + i) % len(decks) for i in range(more)}
        rows = [next(deck) for g, deck in enumerate(decks) for _ in range(share + (g in lucky))]
        first = (first + more) % len(decks)
        yield np.array(rows, dtype=np.int64)


def _group_weighted(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Cases drawn with replacement, each weighing 1 / the size of its group.

    So FairLex's code trains Group DRO. A batch may lack groups; the last may be smaller.
    """
    members = _members(groups)
    while True:
        for start in range(0, len(groups), batch):
            of = generator.integers(len(members), size=min(batch, len(groups) - start))
            yield np.array([generator.choice(members[g]) for g in of], dtype=np.int64)


def _group_pairs(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Half a batch of each of two groups, which are drawn anew for every batch.

    So FairLex's code trains the algorithms with groups by default. A group's cases come without
    replacement within a batch, unless they are fewer than half of it. An odd case goes to the
    first of the two; with one group, all are of it.
    """
    members = _members(groups)
    few = min(GROUPS_PER_BATCH, len(members), batch)
    sizes = [batch // few + (i < batch % few) for i in range(few)]
    while True:
        chosen = generator.choice(len(members), few, replace=False)
        yield np.concatenate(
            [
                generator.choice(members[g], size, replace=size > len(members[g]))
                for g, size in zip(chosen, sizes, strict=True)
            ]
        )


def _deck(rows: np.ndarray, generator: np.random.Generator) -> Iterator[int]:
    while True:
        yield from generator.permutation(rows).tolist()


def _members(groups: np.ndarray) -> list[np.ndarray]:
    """The rows of each group that has any, by code."""
    return [np.flatnonzero(groups == code) for code in np.unique(groups)]


#: From groups (or neighbours), batch and generator to endless batches.
SAMPLERS: dict[str, Callable[[np.ndarray, int, np.random.Generator], Iterator[np.ndarray]]] = {
    "shuffle": _shuffled,
    "neighbours": _neighbours,
    "group_uniform": _group_uniform,
    "cell_uniform": _group_uniform,
    "group_weighted": _group_weighted,
    "group_pairs": _group_pairs,
}
