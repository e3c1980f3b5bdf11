"""Samplers, which choose the cases of each training batch.

A sampler is endless: `next` returns the rows of the next batch. All random numbers come from one
numpy Generator, so that its state is the initial state of the generator and the number of batches
drawn; a resumed training draws these batches again and continues.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

#: The samplers that do not depend on groups.
GROUPLESS = ("shuffle", "neighbours")

#: Groups in a batch of `group_pairs`, the reference's default.
GROUPS_PER_BATCH = 2


class Batches(Iterator[np.ndarray]):
    """An endless iterator of batches: row numbers, int64, shape (rows,).

    Parameters
    ----------
    draw : callable
        Takes a generator and yields batches, forever.
    per_epoch : int
        Number of batches in an epoch.
    generator : numpy Generator
        The source of randomness; only this sampler may use it.

    Attributes
    ----------
    per_epoch : int
        Number of batches in an epoch.
    drawn : int
        Number of batches drawn so far.
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
        """Yield the rest of the current epoch, or a whole one at the end of the last."""
        for _ in range(self.per_epoch - self.drawn % self.per_epoch):
            yield next(self)

    def state_dict(self) -> dict[str, Any]:
        """Return the state: ``start`` (the generator's initial state, JSON) and ``drawn``."""
        return {"start": json.dumps(self._start), "drawn": self.drawn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from the state of a sampler of the same cases."""
        self._start = json.loads(state["start"])
        self._generator.bit_generator.state = self._start
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
        Cases per batch.
    generator : numpy Generator
        The source of randomness.
    near : array of int64, shape (n, k), optional
        For ``neighbours``: the neighbours of each of the n cases, nearest first; -1 after the
        last.
    """
    cases = near if name == "neighbours" else np.asarray(groups)
    return Batches(partial(SAMPLERS[name], cases, batch), -(-len(groups) // batch), generator)


def _shuffled(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield every case once per epoch, in a new order each time; the last batch may be smaller."""
    while True:
        yield from _cut(generator.permutation(len(groups)), batch)


def _neighbours(
    near: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield every case once per epoch, in pairs with a neighbour where possible.

    In a random order, each unpaired case is paired with its nearest unpaired neighbour, if there is
    one. Pairs and single cases come in a random order. If a batch has room for one case only, a
    pair waits for the next batch, unless no single case is left. The last batch may be smaller.
    """
    lists = [[other for other in row if other >= 0] for row in near.tolist()]
    while True:
        alone, blocks = np.ones(len(near), dtype=bool), []
        for case in generator.permutation(len(near)).tolist():
            if alone[case]:
                alone[case] = False
                other = next((neighbour for neighbour in lists[case] if alone[neighbour]), None)
                if other is not None:
                    alone[other] = False
                blocks.append([case] if other is None else [case, other])
        couples = [blocks[place] for place in generator.permutation(len(blocks))]
        yield from _cut(np.array(_together(couples, batch), dtype=np.int64), batch)


def _cut(order: np.ndarray, batch: int) -> Iterator[np.ndarray]:
    return (order[start : start + batch] for start in range(0, len(order), batch))


def _together(blocks: list[list[int]], batch: int) -> list[int]:
    """Concatenate blocks of one or two rows so that few pairs are split between batches."""
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
    """Yield batches with equal numbers of cases of each group, up to one.

    The groups take turns in having one more. A group's cases come in a random order, each once
    before any is repeated; small groups repeat sooner. All batches are full.
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
    """Yield cases drawn with replacement, with weights of 1 / group size.

    FairLex's code trains Group DRO like this. A batch may lack groups; the last may be smaller.
    """
    members = _members(groups)
    while True:
        for start in range(0, len(groups), batch):
            of = generator.integers(len(members), size=min(batch, len(groups) - start))
            yield np.array([generator.choice(members[g]) for g in of], dtype=np.int64)


def _group_pairs(
    groups: np.ndarray, batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield batches with half of the cases from each of two groups, drawn anew for every batch.

    FairLex's code trains the algorithms with groups like this by default. A group's cases are drawn
    without replacement within a batch, unless they are fewer than half of it. In odd batches the
    first group has one more case; with one group, it fills the batch.
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
    """Return the rows of each nonempty group, by code."""
    return [np.flatnonzero(groups == code) for code in np.unique(groups)]


#: Functions from groups (or neighbours), batch size and generator to endless batches.
SAMPLERS: dict[str, Callable[[np.ndarray, int, np.random.Generator], Iterator[np.ndarray]]] = {
    "shuffle": _shuffled,
    "neighbours": _neighbours,
    "group_uniform": _group_uniform,
    "cell_uniform": _group_uniform,
    "group_weighted": _group_weighted,
    "group_pairs": _group_pairs,
}
