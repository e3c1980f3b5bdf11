"""What a sentence shows of whether its keyword could be the counterpart: words, tags and names.

No feature tells the length, the punctuation or the end of a sentence, and none is made of words
that made a filter reject it: with those a model would learn the filter, which the sentences to
judge have passed. Each feature is a text that people can read, since it is shown as a reason.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

#: In place of the words that a filter gave as its evidence.
HIDDEN = "◇"

#: Characters of words for people that tell their gender, beside those of the keywords.
_GENDERED = frozenset(
    "娘婆妇嫂姨妻夫郎叔伯兄姐妹弟哥嫁娶妃后帝王僧尼姑舅爹娃婿媳妞仔汉绅爵士胎孕乳须"
)

#: Words around the keyword, and characters on either side of it, that are features.
WORDS, CHARACTERS = 2, 3

#: Odds of a language model, of which all that are reached are features.
ODDS = (2, 10, 100, 1000)

#: Lines of a file that are taken for one document.
LINES = 20


def features(
    rows: Sequence[Mapping[str, Any]], cut: Callable[[str], list[str]], *, chinese: bool = True
) -> list[list[str]]:
    """Return the features of each sentence.

    Parameters
    ----------
    rows : sequence of mapping
        sentence, surface, surface_opposite, surface_start, surface_end, and optionally: hidden
        (words that no feature shows: the evidence of filters that reject it), names (those in other
        sentences of the same document), and odds (how many times as likely as its counterpart a
        language model finds the keyword).
    cut : callable
        Cuts a sentence into words.
    chinese : bool
        Whether they have jieba's tags and names.
    """
    texts = [_veil(row) for row in rows]
    spans = [[]] * len(texts)
    if chinese:
        from evenhand.text.posseg import find_names

        spans = [[(name.start, name.end) for name in names] for names in find_names(texts)]
    return [
        _features(row, veiled, names, cut, chinese)
        for row, veiled, names in zip(rows, texts, spans, strict=True)
    ]


def _features(
    row: Mapping[str, Any],
    veiled: str,
    spans: Sequence[tuple[int, int]],
    cut: Callable[[str], list[str]],
    chinese: bool,
) -> list[str]:
    start, end, surface = row["surface_start"], row["surface_end"], row["surface"]
    made = [f"keyword {surface}"]
    # a kind of comma or of digit would give the source away
    plain = "".join(map(_plain, veiled))
    before, after = "^" + plain[max(0, start - CHARACTERS) : start], plain[end : end + CHARACTERS]
    after += "$"
    for length in range(1, CHARACTERS + 1):
        made += [f"before {before[-length:]}", f"after {after[:length]}"]
    made.append(f"around {before[-1]}{surface}{after[0]}")
    words, left, right = [], [], []
    place = 0
    for word in cut(veiled):
        begin, place = place, place + len(word)
        if not any(map(str.isalpha, word)) or HIDDEN in word:
            continue
        words.append(word)
        if chinese and begin <= start < place and word != surface:
            swapped = word.replace(surface, row["surface_opposite"], 1)
            frequency = _frequency(word, swapped)
            made += [f"within {word}", f"counterpart of the whole word {frequency}"]
        if place <= start:
            left.append(word)
        elif begin >= end:
            right.append(word)
    made += [f"word {word}" for word in words]
    near = [*(("left", w) for w in left[-WORDS:]), *(("right", w) for w in right[:WORDS])]
    made += [f"{side} {word}" for side, word in near]
    if chinese:
        from evenhand.text.posseg import dictionary_tags

        tags = dictionary_tags()
        made += [f"{side} tag {tags.get(word, 'x')}" for side, word in near]
        made += _names(veiled, spans, start, end)
    made += [f"gendered {c}" for c in veiled[:start] + veiled[end:] if c in _GENDERED]
    if not any(map(str.isalnum, veiled[:start])):
        made.append("opens the sentence")
    if any(name in veiled for name in row.get("names", ())):
        made.append("a name of the same document")
    if (odds := row.get("odds")) is not None:
        made += [f"a model finds the keyword {n} times as likely" for n in ODDS if odds >= n]
        made += [
            f"a model finds the counterpart {n} times as likely" for n in ODDS if odds * n <= 1
        ]
    return [feature for feature in dict.fromkeys(made) if HIDDEN not in feature]


def names_by_document(
    rows: Iterable[Mapping[str, Any]], plain: Callable[[str], str] = str
) -> dict[Any, dict[str, str]]:
    """Return the names that filters found, by document, each with a sentence that has it.

    `plain` makes the form of a text in which names are compared.
    """
    names_of: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if "name" in " ".join(row["reasons"]) and row["evidence"]:
            for name in plain(row["evidence"]).split("、"):
                for part in (name, name[1:]) if len(name) == 3 else (name,):
                    if len(part) > 1:
                        names_of[document(row)].setdefault(part, row["sentence_id"])
    return names_of


def document(row: Mapping[str, Any]) -> tuple[str, int]:
    """Return the document of a sentence: some lines, or records, of a file."""
    return row["source"], row["source_position"] // LINES


def _plain(character: str) -> str:
    """Return a letter or `HIDDEN` unchanged, and one sign for all marks, one for all digits."""
    if character.isalpha() or character == HIDDEN:
        return character
    return "0" if character.isalnum() else "|"


def _veil(row: Mapping[str, Any]) -> str:
    """Return the sentence with its hidden words replaced, but for its keyword."""
    sentence, start, end = row["sentence"], row["surface_start"], row["surface_end"]
    veiled = sentence
    for word in row.get("hidden", ()):
        veiled = veiled.replace(word, HIDDEN * len(word))
    return veiled[:start] + sentence[start:end] + veiled[end:]


def _names(sentence: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> list[str]:
    """Return how long the names are that jieba finds, and whether one is near the keyword."""
    spans = [(a, b) for a, b in spans if (b <= start or end <= a) and HIDDEN not in sentence[a:b]]
    gaps = [start - b if b <= start else a - end for a, b in spans]
    beside = ["jieba sees a name beside the keyword"] if min(gaps, default=9) < 3 else []
    return [f"jieba sees a name of {b - a}" for a, b in spans] + beside


def _frequency(word: str, swapped: str) -> str:
    """Return how frequent a word is beside another one, by jieba's dictionary."""
    from evenhand.text.posseg import dictionary_frequencies

    known = dictionary_frequencies()
    if swapped not in known:
        return "unknown" if word in known else "as unknown"
    return "rare" if known[swapped] * 10 < known.get(word, 0) else "known"
