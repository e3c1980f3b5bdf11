"""Words of sentences: the differences of two sentences, and a random order as a control.

Scripts without blanks between words (Chinese, Japanese, Thai, ...) are compared by characters;
all others by words.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenhand.errors import InputError
from evenhand.text.phrases import listed

#: Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese characters.
BLANKLESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)

#: Combining signs, which belong to the character before them: of these scripts and of all.
SIGNS = "\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef" + "".join(
    chr(code) for code in range(0x0E00, 0x1800) if unicodedata.category(chr(code))[0] == "M"
)

_PIECE = re.compile(f"[{BLANKLESS}][{SIGNS}]*|[^\\s{BLANKLESS}]+")
_BLANK_INSIDE = re.compile(f"(?<=[{BLANKLESS}]) (?=[{BLANKLESS}])")


#: Of longer lists of pieces so many are compared: difflib's time grows with the square of their
#: length, and with the cube where words recur.
LONG = 300

#: To fit another pair better, a sentence must share so many words more with it, and one of the two
#: pairs at most this part of its words: two of CrowS-Pairs have two words more in common.
MOVED, LOOSE = 3, 0.6

#: So many words more suffice where this is so of most pairs, or where so many pairs, and most of
#: those that fit another one better, fit one as many rows away: a cell was deleted or inserted.
MOSTLY_MOVED, SHIFTED = 2, 5

#: Sentences that share a smaller part of the words of the longer one are unlike.
ALIKE = 1 / 3


#: Longer sentences have a template of their own, as the places in them are too many.
MOST_WORDS = 60

#: Templates are words that take turns if so many, on average, differ at one place only.
TURNS = 3


class Edit(NamedTuple):
    """A difference of two sentences: the pieces of each at this place; one may be empty."""

    left: tuple[str, ...]
    right: tuple[str, ...]


def pieces(text: str) -> list[str]:
    """Split a text at blanks, and into single characters in scripts without blanks."""
    return _PIECE.findall(text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters, digits and combining signs."""
    plain = unicodedata.normalize("NFC", text).lower()
    return pieces("".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in plain))


def edits(left: list[str], right: list[str]) -> list[Edit]:
    """Return the differences of two lists of pieces, as `opcodes` has them.

    Two words of a script without blanks that share a character at different places (儿子, 女儿)
    count as one edit, and not as an insertion and a deletion around that character.
    """
    spans: list[tuple[int, int, int, int]] = []
    for kind, *span in opcodes(left, right):
        if kind == "equal":
            continue
        start, end, first, last = span
        if spans and _is_shift(spans[-1], (start, end, first, last), left):
            start, _, first, _ = spans.pop()
        spans.append((start, end, first, last))
    return [
        Edit(tuple(left[start:end]), tuple(right[first:last])) for start, end, first, last in spans
    ]


def opcodes(left: list[str], right: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return difflib's opcodes, by longest matching blocks, of two lists of pieces.

    Of lists of more than `LONG` pieces, the common beginning and end are equal. Between these the
    first `LONG` of each are compared; all after their last match is one difference.
    """
    if max(len(left), len(right)) <= LONG:
        return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    before = _shared_start(left, right)
    after = _shared_start(left[before:][::-1], right[before:][::-1])
    ends = len(left) - after, len(right) - after
    parts = (left[before : ends[0]], right[before : ends[1]])
    matcher = SequenceMatcher(None, *(part[:LONG] for part in parts), autojunk=False)
    codes = [("equal", 0, before, 0, before)]
    codes += [(kind, *(before + place for place in span)) for kind, *span in matcher.get_opcodes()]
    if max(map(len, parts)) > LONG:
        if codes[-1][0] != "equal":
            codes.pop()
        codes.append(("replace", codes[-1][2], ends[0], codes[-1][4], ends[1]))
    codes.append(("equal", ends[0], len(left), ends[1], len(right)))
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _shared_start(left: list[str], right: list[str]) -> int:
    """Return how many pieces both begin with."""
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
                min(len(left), len(right)))  # fmt: skip


def _is_shift(
    before: tuple[int, int, int, int], after: tuple[int, int, int, int], left: list[str]
) -> bool:
    """Return whether an insertion and a deletion surround one character of these scripts."""
    between = left[before[1] : after[0]]
    if len(between) != 1 or not re.match(f"[{BLANKLESS}]", between[0]):
        return False
    added = [start == end for start, end, _, _ in (before, after)]
    removed = [first == last for _, _, first, last in (before, after)]
    return added[0] != added[1] and removed[0] == added[1] and removed[1] == added[0]


def shared_words(more: list[str], less: list[str]) -> float:
    """Return the number of words that both sentences have, over that of the longer one."""
    shared = (Counter(more) & Counter(less)).total()
    return shared / max(len(more), len(less), 1)


def templates(pairs: Iterable[tuple[str, str, str | None]]) -> list[tuple[str, str]]:
    """Return the template of each pair of sentences, after their context, and the words in it.

    A template is the words that both sentences have. Those that are equal but for one place (*the
    nurse said that ... was late*, *the police officer said that ... was late*) are one template
    with other words in it, if these are at most half as many as the others: of all such places,
    that of the most pairs counts. Scripts without blanks have characters for words. Unlike
    (`ALIKE`) and long sentences (`MOST_WORDS`) have a template of their own, which only copies of
    the pair share.

    Returns
    -------
    list of (str, str)
        In the order of the pairs. The words in a template without others are the template itself.
    """
    wholes = [_shared(*pair) for pair in pairs]
    frames = {whole: _frames(whole) for whole in wholes}
    sizes = Counter(frame for each in frames.values() for frame in each)
    parts = {}
    for whole, each in frames.items():
        best = max(each, key=lambda frame: (sizes[frame], frame), default=None)
        is_shared = best is not None and sizes[best] > 1
        parts[whole] = ("\n".join(best), each[best]) if is_shared else ("\n".join(whole),) * 2
    return [parts[whole] for whole in wholes]


def words_taking_turns(parts: Sequence[tuple[str, str]], counted: str) -> str:
    """Return examples of the words that are counted as templates; blank where sentences are.

    `parts` is of `templates`, `counted` of `evenhand.metrics.inference.Templates`. Sentences that
    differ at two places have a template for each word at one of them: these templates are
    themselves few sentences with other words in them (`TURNS`).
    """
    if counted == "template":
        frames = {frame for frame, _ in parts}
        parts = templates((frame, frame, None) for frame in sorted(frames))
        sizes = Counter(frame for frame, _ in parts)
        [(largest, _)] = sizes.most_common(1)
        are_few = TURNS * len(sizes) <= len(frames)
        parts = [part for part in parts if are_few and part[0] == largest]
    examples = sorted({words for frame, words in parts if words != frame})
    split = [each.rpartition(" ") for each in examples]
    while all(rest for rest, *_ in split) and len({last for *_, last in split}) == 1 < len(split):
        examples = [rest for rest, *_ in split]  # the word in which all end takes no turns
        split = [each.rpartition(" ") for each in examples]
    return ", ".join(examples[:3] + ["…"] * (len(examples) > 3)) if counted != "sentence" else ""


def alike_sentences(
    sentences: Sequence[str], parts: Sequence[tuple[str, str]], counted: str
) -> str:
    """Return two of these sentences that count as one template: of the one with the most pairs.

    Blank where words are counted, or all pairs of that template have one sentence. The other
    arguments are those of `words_taking_turns`.
    """
    labels = [part if counted == "sentence" else part[0] for part in parts]
    [(largest, _)] = Counter(labels).most_common(1)
    pairs = zip(sentences, labels, strict=True)
    some = list(dict.fromkeys(text for text, label in pairs if label == largest))
    return listed([f"“{text}”" for text in some[:2]]) if counted != "words" and some[1:] else ""


def _shared(more: str, less: str, context: str | None = None) -> tuple[str, ...]:
    """Return the context and the words that both sentences have; of unlike ones these too."""
    first, second = sorted((words(more), words(less)))
    if shared_words(first, second) < ALIKE:
        return (context or "", *sorted((more, less)))
    left = Counter(second)
    kept = []
    for word in first:
        left[word] -= 1
        kept += [word] if left[word] >= 0 else []
    return (context or "", " ".join(kept))


def _frames(whole: tuple[str, ...]) -> dict[tuple[str, ...], str]:
    """Return each template that a pair may have, with its words there; none of unlike ones."""
    context, shared, *others = whole
    parts = shared.split()
    count = len(parts) if not others and len(parts) <= MOST_WORDS else 0
    fillings = {}
    for size in range(1, count // 3 + 1):
        for start in range(count - size + 1):
            before, words, after = parts[:start], parts[start : start + size], parts[start + size :]
            fillings[context, " ".join(before), " ".join(after)] = " ".join(words)
    return fillings


def misplaced(pairs: Sequence[tuple[str, str]], least: int = MOVED) -> dict[int, int]:
    """Return the places of pairs whose sentences fit another pair better, and of that pair.

    The first sentence of one and the second of the other share a larger part of their words than
    the two sentences of either pair, clearly (by `least`; `LOOSE`) or as neither shares more than
    `ALIKE`. So a pair does not count that swaps two words of a template (*he lost his keys*). After
    a shift, where neighbours swap the same names, every second pair shares a name by chance.
    """
    texts = [(words(more), words(less)) for more, less in pairs]
    owns = np.array([(Counter(more) & Counter(less)).total() for more, less in texts])
    parts = np.array([shared_words(*both) for both in texts])
    doubtful = [
        place
        for place, both in enumerate(texts)
        if parts[place] <= (LOOSE if max(map(len, both)) - owns[place] >= least else ALIKE)
    ]
    moved: dict[int, int] = {}
    for side in (0, 1):
        others = [both[1 - side] for both in texts]
        lengths = np.array([len(other) for other in others])
        having = defaultdict(list)
        for place, other in enumerate(others if doubtful else []):
            for word, count in Counter(other).items():
                having[word].append((place, count))
        index = {word: np.array(entries).T for word, entries in having.items()}
        for place in doubtful:
            sentence = Counter(texts[place][side])
            common = np.zeros(len(texts), int)
            for word in sentence.keys() & index.keys():
                places, counts = index[word]
                common[places] += np.minimum(counts, sentence[word])
            alike = common / np.maximum(np.maximum(lengths, sentence.total()), 1)
            part = np.maximum(parts, parts[place])
            is_clear = common - np.maximum(owns, owns[place]) >= least
            # the two of a pair and its reverse are equal
            fits = (alike > part) & (alike < 1) & (is_clear | (part <= ALIKE))
            if fits.any():
                moved.setdefault(place, int(np.argmax(np.where(fits, alike, 0))))
                for other in np.flatnonzero(fits):
                    moved.setdefault(int(other), place)
    return dict(sorted(moved.items()))


def check_order(pairs: Sequence[tuple[int, str, str]], file: Path) -> list[int]:
    """Return the numbers of the `misplaced` pairs, sorted; raise InputError if most pairs are.

    Parameters
    ----------
    pairs : sequence of (int, str, str)
        The number of each pair in its file, and its sentences.
    file : path
        For the error.
    """
    texts = [(more, less) for _, more, less in pairs]
    moved = misplaced(texts, MOSTLY_MOVED)
    if 2 * len(moved) > len(pairs):
        first, second = (pairs[place][0] for place in next(iter(moved.items())))
        raise InputError(
            f"has pairs whose sentences belong to other pairs ({len(moved)} of {len(pairs)}):"
            f" a sentence of pair {first} is closer to one of pair {second} than to its own"
            " (counted from 1)",
            file=file,
            remedy="was a column sorted or shuffled by itself? Bring both into one order",
        )
    distances = {place: abs(other - place) for place, other in moved.items()}
    clear = {*misplaced(texts)} if moved else set()
    for distance, count in Counter(distances.values()).most_common(1):
        if count >= SHIFTED and 2 * count > len(moved):
            clear.update(place for place in moved if distances[place] == distance)
    return [pairs[place][0] for place in sorted(clear)]


def swapped_words(more: str, less: str) -> str:
    """Return the words that a pair swaps, as ``black|white``: the name of the pair's cluster.

    This is the first difference of the words of the two sentences, in lower case and without
    punctuation, with sorted sides, so that a pair and its reverse have the same name. Later
    changes (he ... his) mostly follow from the first, so that they are ignored: the 1,508 pairs of
    CrowS-Pairs form 800 clusters with an effective number of 51 (black|white 181 pairs,
    poor|rich 49, he|she 43); with all changes joined, 887 and 68. A side without a word there is
    empty (``|not``); sentences that differ in punctuation or case only give ``|``.
    """
    differences = edits(*sorted((words(more), words(less))))
    sides = differences[0] if differences else ((), ())
    return "|".join(sorted(_BLANK_INSIDE.sub("", " ".join(side)) for side in sides))


def count_same_words(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the most pairs in which preferring the same word of each swap prefers one side.

    A swap is of all words in which the sentences differ, as each of them may be the more frequent
    one. Of a swap that occurs in both directions, those of its more frequent direction count: word
    frequencies alone explain no higher number of preferred sentences.
    """
    swaps: Counter[tuple[tuple[tuple[str, ...], ...], ...]] = Counter()
    for more, less in pairs:
        changed = edits(words(more), words(less))
        swaps[tuple(edit.left for edit in changed), tuple(edit.right for edit in changed)] += 1
    unordered = {min(swap, swap[::-1]) for swap in swaps}
    return sum(max(swaps[swap], swaps[swap[::-1]]) for swap in unordered)


#: Scripts without blanks between words, with the punctuation and full-width forms of East Asia.
_WITHOUT = f"{BLANKLESS}\u3000-\u303f\uff00-\uff65"

_WORD = re.compile(f"(?!\\s)[{_WITHOUT}][{SIGNS}]*|[^\\s{_WITHOUT}]+")
_BLANK_BESIDE = re.compile(f"(?<=[{_WITHOUT}]) | (?=[{_WITHOUT}])")


def shuffle_words(sentence: str, *, seed: int) -> str:
    """Put the words of a sentence in a random order.

    Parameters
    ----------
    sentence : str
        The sentence; leading and trailing white space is ignored.
    seed : int
        Seed, which determines the order together with the text alone.

    Returns
    -------
    str
        The same words. Two of them are joined without a blank if either is a character of a
        script without blanks, and by one blank otherwise. By chance the order may be unchanged.
    """
    words = words_of(sentence)
    digest = hashlib.blake2b(f"{seed} shuffle {sentence}".encode(), digest_size=8).digest()
    order = np.random.default_rng(int.from_bytes(digest)).permutation(len(words))
    return join_words([words[i] for i in order])


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence, in order, as defined in the module's docstring."""
    return _WORD.findall(sentence)


def join_words(words: list[str]) -> str:
    """Join words, with a blank between two words of scripts with blanks."""
    return _BLANK_BESIDE.sub("", " ".join(words))
