"""The words and tags of jieba.posseg, identical and many times faster.

`jieba.posseg` cuts each block of Chinese, Latin letters and digits along the best route
through its dictionary, and gives the runs of single characters that are left over to a
hidden Markov model with 256 states (position in the word, tag). Here

- the route comes from rjieba, whose no-HMM segmentation is jieba's own;
- the model sees the same runs as in jieba, by the same rules (`__cut_DAG` and
  `__cut_detail` in jieba/posseg/__init__.py): a run of one character, or one that is itself
  a dictionary word, is tagged from the dictionary;
- Viterbi does the same additions in the same order, and breaks ties the same way (the
  larger predecessor, as Python orders tuples), but looks only at transitions that exist;
- results for runs are cached.

The tables are read from the files of the installed jieba; jieba itself is not imported,
because that parses its dictionary twice, logs to stderr and writes a cache to the
temporary folder.
"""

import importlib.util
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.text.segmentation import cut

if TYPE_CHECKING:
    import jieba  # noqa: F401  # its files are read: the code digest covers its version

#: jieba's tags of names of persons: Chinese, transliterated, ancient.
NAME_TAGS = frozenset({"nr", "nrt", "nrfg"})

#: Number of cached runs of single characters (about 0.5 kB each).
REMEMBERED_RUNS = 1 << 17

MINUS_INFINITY = float("-inf")
#: jieba's log-probability of a character that a state never emits.
NEVER = -3.14e100

# jieba.posseg's own classes of characters; jieba.cut's and rjieba's differ from them.
_BLOCKS = re.compile("([\u4e00-\u9fd5a-zA-Z0-9+#&._]+)")
_BETWEEN = re.compile("\r\n|.", re.DOTALL)
_CHINESE = re.compile("([\u4e00-\u9fd5]+)")
_NUMBERS_AND_LATIN = re.compile("([.0-9]+|[a-zA-Z0-9]+)")
_ASCII_OF_BLOCKS = frozenset("+#&._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
#: posseg and rjieba cut a matching text into the same blocks: it holds only characters that
#: both include, and marks that both exclude.
_SAME_BLOCKS = re.compile("[\u4e00-\u9fd5a-zA-Z0-9+#&._，。、：；！？“”‘’（）《》…—·]*")


class NameToken(NamedTuple):
    """A word that jieba.posseg tags as a person's name; `end` is exclusive."""

    word: str
    flag: str
    start: int
    end: int


def tag_words(text: str) -> list[tuple[str, str]]:
    """Return the (word, flag) pairs of ``jieba.posseg.lcut(text)``."""
    tags = dictionary_tags()
    tagged: list[tuple[str, str]] = []
    for word, kind in _pieces(text):
        if kind == _RUN:
            tagged += _remembered_run(word)
        elif kind == _WORD:
            tagged.append((word, tags.get(word, "x")))
        else:
            tagged.append((word, "x"))
    return tagged


def find_names(text: str) -> list[NameToken]:
    """Return the words of ``jieba.posseg.lcut(text)`` with flag nr, nrt or nrfg, with spans."""
    name_words = dictionary_names()
    names: list[NameToken] = []
    at = 0
    for word, kind in _pieces(text):
        if kind == _RUN:
            for start, end, flag in _names_of_run(word):
                names.append(NameToken(word[start:end], flag, at + start, at + end))
        elif word in name_words:
            names.append(NameToken(word, name_words[word], at, at + len(word)))
        at += len(word)
    return names


def tag_run(run: str) -> tuple[tuple[str, str], ...]:
    """Tag a run of characters that the dictionary route left single, as posseg does."""
    tags = dictionary_tags()
    if len(run) == 1 or run in tags:
        return tuple((character, tags.get(character, "x")) for character in run)
    tagged: list[tuple[str, str]] = []
    for block in _CHINESE.split(run):
        if _CHINESE.match(block):
            tagged += _decode(block)
            continue
        for piece in _NUMBERS_AND_LATIN.split(block):
            if piece:
                head = piece[0]
                number = head in ".0123456789"
                latin = head.isascii() and head.isalnum()
                tagged.append((piece, "m" if number else "eng" if latin else "x"))
    return tuple(tagged)


_remembered_run = lru_cache(maxsize=REMEMBERED_RUNS)(tag_run)


@lru_cache(maxsize=REMEMBERED_RUNS)
def _names_of_run(run: str) -> tuple[tuple[int, int, str], ...]:
    """Return start and end within the run, and flag, of the names in it."""
    names = []
    at = 0
    for word, flag in tag_run(run):
        if flag in NAME_TAGS:
            names.append((at, at + len(word), flag))
        at += len(word)
    return tuple(names)


_WORD, _RUN, _OUTSIDE = range(3)


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield the text in order: dictionary words, runs of single characters, other characters."""
    run = ""
    for word in _route(text):
        if len(word) == 1:
            if "\u4e00" <= word <= "\u9fd5" or word in _ASCII_OF_BLOCKS:
                run += word
                continue
            kind = _OUTSIDE
        elif word.isascii() and word.isalnum():
            run += word
            continue
        else:
            kind = _OUTSIDE if word == "\r\n" else _WORD
        if run:
            yield run, _RUN
            run = ""
        yield word, kind
    if run:
        yield run, _RUN


def _route(text: str) -> list[str]:
    """Return posseg's dictionary words; letters and digits between them may be joined.

    rjieba joins single letters and digits of its route. jieba's dictionary contains no word of
    letters and digits alone (`c#` is a word), so a joined run is never a word.
    """
    if _SAME_BLOCKS.fullmatch(text):
        return cut(text)
    words: list[str] = []
    for block in _BLOCKS.split(text):
        words += cut(block) if _BLOCKS.match(block) else _BETWEEN.findall(block)
    return words


# --- the hidden Markov model -------------------------------------------------------------


class _Column(NamedTuple):
    """The states that may emit one character.

    opened, closed
        The variables of `_viterbi`, if the run begins with the character.
    new
        Those that begin a word (B, S) and can be reached from another state: (state, log
        emission, whether the word ends with it, the highest log transition to it, the log
        transitions to it by state).
    going
        Those that continue a word (M, E): (state, log emission, whether the word ends with
        it, the states that may precede it, each with its log transition, largest first).
    """

    opened: dict[int, float]
    closed: list[tuple[float, int]]
    new: list[tuple[int, float, bool, float, list[float]]]
    going: list[tuple[int, float, bool, list[tuple[int, float]]]]


class _Model(NamedTuple):
    """jieba's tables with the states numbered in the order of their tuples (position, tag)."""

    names: list[tuple[str, str]]
    numbers: dict[tuple[str, str], int]
    states_of: dict[str, tuple[tuple[str, str], ...]]
    emissions: list[dict[str, float]]
    start: list[float]
    #: For each state, the log transition to it from each state, or minus infinity; the
    #: highest of them; and those above minus infinity with their states, largest first.
    into: list[list[float]]
    highest: list[float]
    befores: list[list[tuple[int, float]]]


@cache
def _model() -> _Model:
    start, transitions, emissions, states_of = (
        _table(name) for name in ("prob_start", "prob_trans", "prob_emit", "char_state_tab")
    )
    names = sorted(transitions)
    into = [[transitions[before].get(name, MINUS_INFINITY) for before in names] for name in names]
    return _Model(
        names,
        {name: number for number, name in enumerate(names)},
        states_of,
        [emissions[name] for name in names],
        [start[name] for name in names],
        into,
        [max(row) for row in into],
        [[(s, t) for s, t in enumerate(row) if t > MINUS_INFINITY][::-1] for row in into],
    )


def _table(name: str) -> Any:
    """Return one of jieba's tables: a Python file with a literal called `P`."""
    path = _jieba_folder() / "posseg" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"jieba_posseg_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.P


@cache
def _column(character: str) -> _Column:
    model = _model()
    states = model.states_of.get(character, model.names)
    return _make_column(character, sorted(model.numbers[state] for state in states))


@cache
def _every_state(character: str) -> _Column:
    """Return all states: jieba's fallback where no state of a character can follow."""
    return _make_column(character, list(range(len(_model().names))))


def _make_column(character: str, states: list[int]) -> _Column:
    model = _model()
    column = _Column({}, [], [], [])
    for state in states:
        emission = model.emissions[state].get(character, NEVER)
        position = model.names[state][0]
        ends = position in "SE"
        if ends:
            column.closed.append((model.start[state] + emission, state))
        else:
            column.opened[state] = model.start[state] + emission
        if position in "ME":
            column.going.append((state, emission, ends, model.befores[state]))
        elif model.befores[state]:
            column.new.append((state, emission, ends, model.highest[state], model.into[state]))
    column.closed.sort(reverse=True)
    return column


def _decode(run: str) -> list[tuple[str, str]]:
    """Return words and tags of the most probable path of states."""
    path = _viterbi(run)
    names = _model().names
    words = []
    begin = done = 0
    for i, state in enumerate(path):
        position, tag = names[state]
        if position == "B":
            begin = i
        elif position == "E":
            words.append((run[begin : i + 1], tag))
            done = i + 1
        elif position == "S":
            words.append((run[i], tag))
            done = i + 1
    if done < len(run):
        words.append((run[done:], names[path[done]][1]))
    return words


#: Log probability and number of each state in which a word has ended, highest first.
_Closed = list[tuple[float, int]]


def _viterbi(run: str) -> list[int]:
    """Return the states of the most probable path, as in jieba/posseg/viterbi.py.

    A word is continued (M, E) only by a state of its own, and after its end only a new one
    (B, S) begins: `opened` holds the log probabilities of the states in which a word must go
    on, `closed` those in which it has ended. A state that cannot be reached is in neither.
    """
    opened, closed, _, _ = _column(run[0])
    back: list[dict[int, int]] = []
    for character in run[1:]:
        reached = _step(_column(character), opened, closed)
        if not reached[2]:
            # Never empty: each character has a state with a successor, and no state
            # without one can be reached from another state.
            reached = _step(_every_state(character), opened, closed)
        opened, closed, origin = reached
        back.append(origin)
    state = max([(p, s) for s, p in opened.items()] + closed[:1])[1]
    path = [state]
    for origin in reversed(back):
        state = origin[state]
        path.append(state)
    path.reverse()
    return path


def _step(
    column: _Column, opened: dict[int, float], closed: _Closed
) -> tuple[dict[int, float], _Closed, dict[int, int]]:
    """Return the states reached at one character, each with its predecessor.

    Of equal probabilities the largest predecessor wins, as in jieba's ``max`` over
    (probability, state). Predecessors with an ended word come most probable first, so that
    the search for the best one can stop: the sums are rounded, but rounding keeps their order.
    """
    origin: dict[int, int] = {}
    now_opened: dict[int, float] = {}
    now_closed: _Closed = []
    for state, emission, ends, highest, into in column.new:
        best, via = MINUS_INFINITY, -1
        for p, before in closed:
            if p + highest + emission < best:
                break
            q = p + into[before] + emission
            if q > best or (q == best and before > via):
                best, via = q, before
        if best > MINUS_INFINITY:
            origin[state] = via
            if ends:
                now_closed.append((best, state))
            else:
                now_opened[state] = best
    for state, emission, ends, befores in column.going:
        best, via = MINUS_INFINITY, -1
        for before, transition in befores:
            if before in opened:
                q = opened[before] + transition + emission
                if q > best:
                    best, via = q, before
        if via >= 0:
            origin[state] = via
            if ends:
                now_closed.append((best, state))
            else:
                now_opened[state] = best
    now_closed.sort(reverse=True)
    return now_opened, now_closed, origin


# --- the dictionary ----------------------------------------------------------------------


@cache
def _jieba_folder() -> Path:
    spec = importlib.util.find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("jieba is not installed", name="jieba")
    return Path(spec.submodule_search_locations[0])


@cache
def dictionary_tags() -> dict[str, str]:
    """Return the tag by word; every word of jieba's dictionary has a frequency above 0."""
    cells = (_jieba_folder() / "dict.txt").read_text(encoding="utf-8").split()
    return dict(zip(cells[::3], cells[2::3], strict=True))


@cache
def dictionary_frequencies() -> dict[str, int]:
    """Return the frequency of each word of jieba's dictionary."""
    cells = (_jieba_folder() / "dict.txt").read_text(encoding="utf-8").split()
    return dict(zip(cells[::3], map(int, cells[1::3]), strict=True))


@cache
def dictionary_names() -> dict[str, str]:
    """Return the tag by word, of the words that the dictionary tags as names."""
    return {word: tag for word, tag in dictionary_tags().items() if tag in NAME_TAGS}
