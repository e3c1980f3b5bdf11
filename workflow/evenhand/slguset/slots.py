"""The positions of a sentence's exchanged words among a tokenizer's tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import TYPE_CHECKING, Any

from evenhand.slguset.swap import Spans, spans_of, swap, swapped_spans

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Slot:
    """A sentence in tokens: `ids`, of which those at `places` are the exchanged words."""

    ids: list[int]
    places: list[int]
    unknown: list[str]  #: the text behind each unknown token outside the words

    def word(self) -> list[int]:
        """The tokens of the words."""
        return [self.ids[place] for place in self.places]


def keyword_slots(
    tokenizer: "PreTrainedTokenizerBase",
    unknown_id: int | None,
    rows: Sequence[dict[str, Any]],
    *,
    specials: bool = True,
) -> list[list[Slot] | str]:
    """Return each sentence and its counterpart in tokens.

    A token that holds a part of a word and text beside it belongs to the word. If the two
    sentences still differ beside the words, because the tokenizer merges across their borders, all
    tokens in which they differ take the words' place.

    Parameters
    ----------
    tokenizer
        One that gives offsets.
    unknown_id : int or None
        The token of unknown text.
    rows : sequence of dict
        sentence, keyword, opposite, start, end (of the keyword, in characters); spans (of all
        words to exchange) where there are several.
    specials : bool
        Whether to add the special tokens around a sentence.

    Returns
    -------
    list of (list of Slot) or str
        For each row two slots, of the sentence and of its counterpart, or the reason for none:
        ``keyword_vanishes``, or ``context_differs`` where one sentence is the other with tokens
        added.
    """
    texts: list[str] = []
    spans: list[Spans] = []
    for row in rows:
        row_spans = spans_of(row)
        texts += [row["sentence"], swap(row["sentence"], row_spans)]
        spans += [row_spans, swapped_spans(row["sentence"], row_spans)]
    # A special token's name in a sentence is text there, not a command.
    coded = tokenizer(
        texts,
        add_special_tokens=specials,
        return_offsets_mapping=True,
        split_special_tokens=True,
        verbose=False,
    )
    pairs: list[list[Slot] | str] = []
    for number in range(0, len(texts), 2):
        words = [
            [
                tokens_of(texts[k], coded["offset_mapping"][k], start, end)
                for start, end, _ in spans[k]
            ]
            for k in (number, number + 1)
        ]
        if not all(map(all, words)):
            pairs.append("keyword_vanishes")
            continue
        places = [sorted({*chain.from_iterable(some)}) for some in words]
        ids = coded["input_ids"][number : number + 2]
        if _beside(ids[0], places[0]) != _beside(ids[1], places[1]):
            places = _differences(*ids)
        if not all(places):
            pairs.append("context_differs")
            continue
        pair = []
        for k in (0, 1):
            text, offsets = texts[number + k], coded["offset_mapping"][number + k]
            unknown = [
                text[left:right]
                for place, (token, (left, right)) in enumerate(zip(ids[k], offsets, strict=True))
                if token == unknown_id and place not in places[k]
            ]
            pair.append(Slot(ids[k], places[k], unknown))
        pairs.append(pair)
    return pairs


def _beside(ids: Sequence[int], places: Sequence[int]) -> list[int]:
    return [token for place, token in enumerate(ids) if place not in places]


def _differences(ids: Sequence[int], other: Sequence[int]) -> list[list[int]]:
    """The places of the tokens in which two sentences differ."""
    blocks = SequenceMatcher(None, ids, other, autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    return [
        [place for block in changed for place in range(block[1], block[2])],
        [place for block in changed for place in range(block[3], block[4])],
    ]


def tokens_of(text: str, offsets: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """Return the tokens that hold a part of ``text[start:end]``.

    Parameters
    ----------
    text : str
        The tokenized text.
    offsets : sequence of (int, int)
        Start and end of each token in `text`; equal for special tokens. White space at a
        token's borders does not count as its text (SentencePiece puts it there).
    start, end : int
        The span, in characters.
    """
    touching = []
    for index, (left, right) in enumerate(offsets):
        while left < right and text[left].isspace():
            left += 1
        while left < right and text[right - 1].isspace():
            right -= 1
        if left < right and left < end and right > start:
            touching.append(index)
    return touching
