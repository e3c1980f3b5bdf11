"""The words and tags of jieba.posseg, identical and many times faster.

`jieba.posseg` cuts each block of Chinese, Latin letters and digits along the best route
through its dictionary, and gives the runs of single characters that are left over to a
hidden Markov model with 256 states (position in the word, tag). Here

- the route comes from rjieba, whose no-HMM segmentation is jieba's own;
- the model sees the same runs as in jieba, by the same rules (`__cut_DAG` and
  `__cut_detail` in jieba/posseg/__init__.py): a run of one character, or one that is itself
  a dictionary word, is tagged from the dictionary;
- `evenhand.text.viterbi` searches the states of all runs at once, with the same sums and ties;
- the names in a run are remembered.

The tables are read from the files of the installed jieba; jieba itself is not imported,
because that parses its dictionary twice, logs to stderr and writes a cache to the
temporary folder.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from evenhand.text.segmentation import cut, cut_all
from evenhand.text.viterbi import jieba_folder, model
from evenhand.text.viterbi import words as words_of

#: jieba's tags of names of persons: Chinese, transliterated, ancient.
NAME_TAGS = frozenset({"nr", "nrt", "nrfg"})

#: Number of runs of single characters whose names are remembered (about 0.2 kB each).
REMEMBERED_RUNS = 1 << 17

# jieba.posseg's own classes of characters; jieba.cut's and rjieba's differ from them.
_BLOCKS = re.compile("([\u4e00-\u9fd5a-zA-Z0-9+#&._]+)")
_BETWEEN = re.compile("\r\n|.", re.DOTALL)
_CHINESE = re.compile("([\u4e00-\u9fd5]+)")
_NUMBERS_AND_LATIN = re.compile("([.0-9]+|[a-zA-Z0-9]+)")
#: Whether each ASCII character is one of `_BLOCKS`.
_ASCII_OF_BLOCKS = np.array([bool(_BLOCKS.match(chr(code))) for code in range(128)])
#: posseg and rjieba cut a matching text into the same blocks: it holds only characters that
#: both include, and marks that both exclude.
_SAME_BLOCKS = re.compile(
    "[\n\u4e00-\u9fd5a-zA-Z0-9+#&._，。、：；！？“”‘’（）《》『』…—·,:;!?()/０-９％．－／]*"
)


class NameToken(NamedTuple):
    """A word that jieba.posseg tags as a person's name; `end` is exclusive."""

    word: str
    flag: str
    start: int
    end: int


def tag_words(texts: Iterable[str]) -> list[list[tuple[str, str]]]:
    """Return, for each text, the (word, flag) pairs of ``jieba.posseg.lcut(text)``."""
    pieces = [list(_pieces(text)) for text in texts]
    runs = {piece for text in pieces for piece, kind in text if kind == _RUN}
    paths = _decode(runs)
    tagged_runs = {run: _tag_run(run, paths) for run in runs}
    tags = dictionary_tags()
    tagged: list[list[tuple[str, str]]] = []
    for text in pieces:
        tagged.append([])
        for piece, kind in text:
            if kind == _RUN:
                tagged[-1] += tagged_runs[piece]
            else:
                tagged[-1].append((piece, tags.get(piece, "x") if kind == _WORD else "x"))
    return tagged


def find_names(
    texts: Sequence[str], words_of: Sequence[Sequence[str]] | None = None
) -> list[list[NameToken]]:
    """Return, for each text, the words of ``jieba.posseg.lcut(text)`` with flag nr, nrt or nrfg.

    `words_of` are the texts' words without the model, where they are known.
    """
    if not texts:
        return []
    words: list[str] = []
    for text, known_words in zip(texts, words_of or cut_all(texts), strict=True):
        words += known_words if _SAME_BLOCKS.fullmatch(text) else _route(text)
        words.append("\n")
    joined = "\n".join([*texts, ""])
    ends = np.fromiter(map(len, words), np.intp, len(words)).cumsum()
    begins = np.concatenate([[0], ends[:-1]])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
    in_run = _in_run(words, codes[begins], ends - begins == 1)
    edges = np.flatnonzero(np.diff(in_run, prepend=False, append=False)).reshape(-1, 2)
    begin, end = begins[edges[:, 0]], ends[edges[:, 1] - 1]
    alone = end - begin == 1
    in_run[edges[alone, 0]] = False  # tagged from the dictionary, like a word
    begin, end = begin[~alone].tolist(), end[~alone].tolist()
    runs = [joined[i:j] for i, j in zip(begin, end, strict=True)]
    names = _names_of_runs(runs)
    name_spans = [
        (start + first, start + last, flag)
        for run, start in zip(runs, begin, strict=True)
        for first, last, flag in names[run]
    ]
    known = dictionary_names()
    likely = _shapes_of_names()[_shape(codes[begins], codes[ends - 1], ends - begins)] & ~in_run
    places = np.flatnonzero(likely)
    spans = zip(places.tolist(), begins[places].tolist(), ends[places].tolist(), strict=True)
    name_spans += [
        (first, last, flag) for place, first, last in spans if (flag := known.get(words[place]))
    ]
    return _by_text(sorted(name_spans), texts)


def _in_run(words: list[str], codes: np.ndarray, single: np.ndarray) -> np.ndarray:
    """Return whether each word goes to the hidden Markov model, with those next to it.

    `codes` are those of their first characters, and `single` whether they have no other.
    """
    chinese = (codes >= 0x4E00) & (codes <= 0x9FD5)
    ascii_ = codes < 128
    chinese[ascii_] = _ASCII_OF_BLOCKS[codes[ascii_]]
    for place in np.flatnonzero(ascii_ & ~single):
        single[place] = words[place].isascii() and words[place].isalnum()
    return chinese & single


def _by_text(names: list[tuple[int, int, str]], texts: Sequence[str]) -> list[list[NameToken]]:
    """Assign names to texts that were joined with a character between them."""
    by_text: list[list[NameToken]] = [[] for _ in texts]
    begins = [0, *accumulate(len(text) + 1 for text in texts)]
    for start, end, flag in names:
        number = bisect_right(begins, start) - 1
        at = start - begins[number]
        word = texts[number][at : at + end - start]
        by_text[number].append(NameToken(word, flag, at, at + end - start))
    return by_text


#: The names in runs that were met: start, end and flag.
_NAMES: dict[str, Sequence[tuple[int, int, str]]] = {}


def _names_of_runs(runs: list[str]) -> dict[str, Sequence[tuple[int, int, str]]]:
    """Return the names in each run of two characters or more, and remember them.

    A run that is a word of the dictionary is tagged from it, by single characters.
    """
    new = set(runs) - _NAMES.keys()
    if len(_NAMES) + len(new) > REMEMBERED_RUNS:
        forget_runs()
        new = set(runs)
    unknown = new.difference(dictionary_tags())
    paths = model().decode(_CHINESE.findall("\n".join(unknown)))
    none = bytes(n for n, (_, tag) in enumerate(model().names) if tag not in NAME_TAGS)
    named = {
        part: [word for word in words_of(path) if word[2] in NAME_TAGS]
        for part, path in paths.items()
        if path.translate(None, none)
    }
    _NAMES.update(dict.fromkeys(new, ()))
    _NAMES.update((run, named[run]) for run in unknown & named.keys())
    for run in unknown - paths.keys():
        if not run.isascii():
            _NAMES[run] = [
                (part.start() + start, part.start() + end, flag)
                for part in _CHINESE.finditer(run)
                for start, end, flag in named.get(part[0], ())
            ]
    known = dictionary_names()
    for run in new - unknown:
        singles = map(known.get, run)
        _NAMES[run] = [(n, n + 1, flag) for n, flag in enumerate(singles) if flag]
    return _NAMES


def forget_runs() -> None:
    """Forget the names in runs that were met."""
    _NAMES.clear()


def _decode(runs: Iterable[str]) -> dict[str, bytes]:
    """Return the paths of the Chinese parts of runs that the model tags."""
    tags = dictionary_tags()
    unknown = [run for run in runs if len(run) > 1 and run not in tags]
    return model().decode(_CHINESE.findall("\n".join(unknown)))


def _tag_run(run: str, paths: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Tag a run of characters that the dictionary route left single, as posseg does."""
    tags = dictionary_tags()
    if len(run) == 1 or run in tags:
        return [(character, tags.get(character, "x")) for character in run]
    tagged: list[tuple[str, str]] = []
    for block in _CHINESE.split(run):
        if block in paths:
            tagged += [(block[start:end], tag) for start, end, tag in words_of(paths[block])]
            continue
        for piece in _NUMBERS_AND_LATIN.split(block):
            if piece:
                head = piece[0]
                number = head in ".0123456789"
                latin = head.isascii() and head.isalnum()
                tagged.append((piece, "m" if number else "eng" if latin else "x"))
    return tagged


_WORD, _RUN, _OUTSIDE = range(3)


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield the text in order: dictionary words, runs of single characters, other characters."""
    run = ""
    for word in _route(text):
        if len(word) == 1:
            if _BLOCKS.match(word):
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


# --- the dictionary ----------------------------------------------------------------------


@cache
def _dictionary() -> tuple[list[str], list[str], list[str]]:
    """Return the words of jieba's dictionary, their frequencies and their tags."""
    cells = (jieba_folder() / "dict.txt").read_text(encoding="utf-8").split()
    return cells[::3], cells[1::3], cells[2::3]


@cache
def dictionary_tags() -> dict[str, str]:
    """Return the tag by word; every word of jieba's dictionary has a frequency above 0."""
    words, _, tags = _dictionary()
    return dict(zip(words, tags, strict=True))


@cache
def dictionary_frequencies() -> dict[str, int]:
    """Return the frequency of each word of jieba's dictionary."""
    words, frequencies, _ = _dictionary()
    return dict(zip(words, map(int, frequencies), strict=True))


@cache
def dictionary_names() -> dict[str, str]:
    """Return the tag by word, of the words that the dictionary tags as names."""
    return {word: tag for word, tag in dictionary_tags().items() if tag in NAME_TAGS}


@cache
def _shapes_of_names() -> np.ndarray:
    """Return whether a name of the dictionary has each shape."""
    shapes = np.zeros(1 << 20, bool)
    names = dictionary_names()
    codes = np.frombuffer("".join(names).encode("utf-32-le"), "<u4")
    lengths = np.fromiter(map(len, names), np.intp, len(names))
    ends = lengths.cumsum()
    shapes[_shape(codes[ends - lengths], codes[ends - 1], lengths)] = True
    return shapes


def _shape(first: np.ndarray, last: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return a number below 2**20 of each word, by its first and last character and its length."""
    return (first * 0x9E3779B1 + last * 0x85EBCA6B + lengths * 0xC2B2AE35) >> 11 & 0xFFFFF


def is_alone(text: str, position: int) -> bool:
    """Return whether a character of a text is a word by itself, without segmenting the text.

    It is if no word of the dictionary has it beside the character before or after it. Letters and
    digits, which rjieba joins, are not.
    """
    character = text[position]
    before, after = _neighbours(character)
    return not (
        character.isascii()
        or text[position - 1 : position] in before
        or text[position + 1 : position + 2] in after
    )


@cache
def _neighbours(character: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the characters before and after a character in words of the dictionary."""
    text = _dictionary_text()
    places, at = [], text.find(character)
    while at >= 0:
        places.append(at)
        at = text.find(character, at + 1)
    return frozenset(text[at - 1] for at in places), frozenset(text[at + 1] for at in places)


@cache
def _dictionary_text() -> str:
    """Return the words of the dictionary, each between line ends."""
    return "\n".join(["", *dictionary_tags(), ""])
