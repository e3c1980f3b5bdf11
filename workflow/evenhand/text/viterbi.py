"""The hidden Markov model of jieba.posseg: the most probable states of many runs at once.

A state is a position in a word (B, M, E or S: first, inner, last, only character) and a tag. A
word is continued (M, E) only from a state of its own tag, and after its end (E, S) only a new one
begins (B, S). The search makes the same additions in the same order as jieba/posseg/viterbi.py,
so that every sum is rounded in the same way, and breaks ties as it does: states are numbered from
the largest (position, tag) to the smallest, and the first of equal ones wins. All runs advance
together, one character at a time.
"""

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import jieba  # noqa: F401  # its files are read: the code digest covers its version

#: jieba's log-probability of a character that a state never emits.
NEVER = -3.14e100

#: The tags of each position; the first state of each.
_TAGS = 64
_S, _M, _E, _B = range(0, 4 * _TAGS, _TAGS)
#: The order of positions in a character's list of states, so that those that begin a word (B, S),
#: end one (S, E) and continue one (E, M) each stand together.
_PLACE = np.repeat([1, 3, 2, 0], _TAGS)

#: Runs that are searched together, which bounds the memory.
_BATCH = 768

Array = np.ndarray[Any, Any]


@cache
def jieba_folder() -> Path:
    """Return the folder of the installed jieba."""
    spec = importlib.util.find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("jieba is not installed", name="jieba")
    return Path(spec.submodule_search_locations[0])


@cache
def model() -> "Model":
    """Return the model of the installed jieba."""
    return Model(*map(_table, ("prob_start", "prob_trans", "prob_emit", "char_state_tab")))


def _table(name: str) -> Any:
    """Return one of jieba's tables: a Python file with a literal called `P`."""
    path = jieba_folder() / "posseg" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"jieba_posseg_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.P


class Model:
    """jieba's tables as arrays, with a row for each character; an unknown one may be in any state.

    Attributes
    ----------
    names : list of (str, str)
        Position and tag of each state.
    states, emissions : array
        The states of all rows, one row after the other, and their log-probabilities.
    bounds : array of shape (rows, 5)
        Where the states B, S, E and M of each row begin, and where M ends.
    """

    def __init__(self, start: Any, transitions: Any, emissions: Any, states_of: Any) -> None:
        self.names = sorted(transitions, reverse=True)
        if "".join(name[0] for name in self.names[::_TAGS]) != "SMEB" or len(self.names) != 256:
            raise RuntimeError("the installed jieba has a model of another form")
        numbers = {name: number for number, name in enumerate(self.names)}
        self._start = np.array([start[name] for name in self.names])
        self._transitions = np.array(
            [transitions[b].get(a, -np.inf) for b in self.names for a in self.names]
        )
        tables = [emissions[name] for name in self.names]
        keys = np.concatenate(
            [
                np.fromiter(map(ord, table), np.intp, len(table)) * 256 + n
                for n, table in enumerate(tables)
            ]
        )
        values = np.fromiter(
            chain.from_iterable(table.values() for table in tables), float, len(keys)
        )
        order = keys.argsort()
        self._emission_keys, self._emissions = keys[order], values[order]

        characters = sorted(states_of)
        sizes = [len(states_of[character]) for character in characters]
        codes = np.fromiter(map(ord, characters), np.intp, len(characters))
        named = chain.from_iterable(states_of[character] for character in characters)
        states = np.fromiter(map(numbers.__getitem__, named), np.intp, sum(sizes))
        keys = np.sort((codes.repeat(sizes) * 4 + _PLACE[states]) * 256 + states)
        self.states = keys % 256
        self.emissions = self._emission(keys >> 10, self.states)
        self.bounds = keys.searchsorted(codes[:, None] * 1024 + np.arange(0, 1280, 256))
        self._rows = np.full(sys.maxunicode + 1, -1, np.int32)
        self._rows[codes] = np.arange(len(codes))
        self._every: dict[int, int] = {}

    def _row_of_all(self, code: int) -> int:
        """Return the row of all states for a character."""
        if code not in self._every:
            every = np.argsort(_PLACE, kind="stable")
            end = len(self.states)
            self.states = np.concatenate([self.states, every])
            emissions = self._emission(np.full(256, code), every)
            self.emissions = np.concatenate([self.emissions, emissions])
            self.bounds = np.vstack([self.bounds, end + np.arange(0, 320, _TAGS)])
            self._every[code] = len(self.bounds) - 1
        return self._every[code]

    def _emission(self, codes: Array, states: Array) -> Array:
        keys = codes * 256 + states
        places = self._emission_keys.searchsorted(keys).clip(max=len(self._emission_keys) - 1)
        return np.where(self._emission_keys[places] == keys, self._emissions[places], NEVER)

    def decode(self, runs: Iterable[str]) -> dict[str, bytes]:
        """Return the most probable state of each character, for each distinct run."""
        longest_first = sorted(set(runs), key=len, reverse=True)
        paths: dict[str, bytes] = {}
        for at in range(0, len(longest_first), _BATCH):
            batch = longest_first[at : at + _BATCH]
            paths.update(zip(batch, self._search(batch), strict=True))
        return paths

    def _search(self, runs: list[str]) -> Iterator[bytes]:
        """Return the paths of some runs, the longest run first."""
        lengths = np.array([len(run) for run in runs])
        codes = np.frombuffer("".join(runs).encode("utf-32-le"), "<u4")
        rows = self._rows[codes]
        rows[rows < 0] = [self._row_of_all(code) for code in codes[rows < 0].tolist()]
        firsts = lengths.cumsum() - lengths
        # how many runs have a character at each place
        active = [len(runs), *np.searchsorted(-lengths, -np.arange(1, lengths[0] + 1)).tolist()]
        before = rows[firsts]
        owner, at = _expand(self.bounds[before, 0], self.bounds[before, 4])
        state = self.states[at]
        values = np.full((len(runs), 256), -np.inf)
        reached = owner * 256 + state
        values.ravel()[reached] = self._start[state] + self.emissions[at]
        origins = [values]  # no character has an origin at place 0
        last = [values[active[1] :].argmax(axis=1)]
        for place in range(1, lengths[0]):
            n = active[place]
            row = rows[firsts[:n] + place]
            at, best, origin = self._step(values, before[:n], row)
            alive = np.bincount(at[best > -np.inf] >> 8, minlength=n) > 0
            if not alive.all():  # where no state of the character can follow, jieba allows all
                dead = codes[firsts[:n] + place][~alive]
                row[~alive] = [self._row_of_all(code) for code in dead.tolist()]
                at, best, origin = self._step(values, before[:n], row)
            values.ravel()[reached] = -np.inf
            values.ravel()[at] = best
            before, reached = row, at
            origins.append(np.zeros((n, 256), np.uint8))
            origins[-1].ravel()[at] = origin
            last.append(values[active[place + 1] : n].argmax(axis=1))
        paths = np.zeros((len(runs), lengths[0]), np.uint8)
        state = np.zeros(len(runs), np.intp)
        for place in range(lengths[0] - 1, -1, -1):
            n = active[place]
            state[active[place + 1] : n] = last[place]
            paths[:n, place] = state[:n]
            if place:
                state[:n] = origins[place][np.arange(n), state[:n]]
        together, width = paths.tobytes(), lengths[0]
        return (together[n * width : n * width + len(run)] for n, run in enumerate(runs))

    def _step(self, values: Array, before: Array, row: Array) -> tuple[Array, Array, Array]:
        """Return the next states (with 256 for each run), their values, and their predecessors."""
        values, transitions = values.ravel(), self._transitions
        bounds, closed = self.bounds[row], self.bounds[before, 1:4:2]

        owner, at = _expand(bounds[:, 2], bounds[:, 4])
        state, emission, base = self.states[at], self.emissions[at], owner * 256
        inner = _M + state % _TAGS
        first = inner + (_B - _M)
        by_inner = values[base + inner] + transitions[inner * 256 + state] + emission
        by_first = values[base + first] + transitions[first * 256 + state] + emission
        chosen = by_inner >= by_first
        base += state
        inner_values, inner = np.where(chosen, by_inner, by_first), np.where(chosen, inner, first)

        # each new state after each state that has ended a word
        owner, at = _expand(closed[:, 0], closed[:, 1])
        ended = self.states[at]
        ended_values, ended = values[owner * 256 + ended], ended * 256
        ends = (closed[:, 1] - closed[:, 0]).cumsum()
        owner, at = _expand(bounds[:, 0], np.where(closed[:, 0] < closed[:, 1], bounds[:, 2], 0))
        if not len(at):
            return base, inner_values, inner
        state = self.states[at]
        sizes = (closed[:, 1] - closed[:, 0])[owner]
        firsts = sizes.cumsum() - sizes
        pair = np.arange(firsts[-1] + sizes[-1])
        pair += (ends[owner] - sizes - firsts).repeat(sizes)
        sums = ended_values.take(pair)
        pair = ended.take(pair)
        sums += transitions.take(pair + state.repeat(sizes))
        sums += self.emissions[at].repeat(sizes)
        best = np.maximum.reduceat(sums, firsts)
        equal = np.flatnonzero(sums == best.repeat(sizes))
        equal = equal[equal.searchsorted(firsts)]  # the first of each
        return (
            np.concatenate([base, owner * 256 + state]),
            np.concatenate([inner_values, best]),
            np.concatenate([inner, pair[equal] >> 8]),
        )


def words(path: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and tag of each word of a path."""
    names = model().names
    begin = done = 0
    for place, state in enumerate(path):
        position, tag = names[state]
        if position == "B":
            begin = place
        elif position == "E":
            yield begin, place + 1, tag
            done = place + 1
        elif position == "S":
            yield place, place + 1, tag
            done = place + 1
    if done < len(path):
        yield done, len(path), names[path[done]][1]


def _expand(begins: Array, ends: Array) -> tuple[Array, Array]:
    """Return all numbers of some ranges, and before them the number of each one's range."""
    sizes = (ends - begins).clip(min=0)
    owner = np.arange(len(sizes)).repeat(sizes)
    return owner, np.arange(len(owner)) + (begins - (sizes.cumsum() - sizes)).repeat(sizes)
