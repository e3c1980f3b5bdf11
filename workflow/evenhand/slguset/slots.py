"""Where a sentence's keyword stands among a tokenizer's tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Slot:
    """A sentence in tokens: `ids`, of which ``ids[first:last]`` are the keyword."""

    ids: list[int]
    first: int
    last: int
    unknown: list[str]  #: the text behind each unknown token outside the keyword


def keyword_slots(
    tokenizer: "PreTrainedTokenizerBase",
    unknown_id: int | None,
    rows: Sequence[dict[str, Any]],
    *,
    specials: bool = True,
    inside: bool = False,
) -> list[list[Slot] | str]:
    """The sentence with its keyword and with the opposite, in tokens.

    Parameters
    ----------
    tokenizer
        One that gives offsets.
    unknown_id : int or None
        The token of unknown text.
    rows : sequence of dict
        sentence, keyword, opposite, start, end (of the keyword, in characters).
    specials : bool
        Whether the special tokens of a sentence stand around it.
    inside : bool
        Whether a token may hold the keyword and text beside it; it is then a token of the
        keyword.

    Returns
    -------
    list of (list of Slot) or str
        For each row two slots, of the keyword and of its opposite, or why there are none:
        ``keyword_vanishes`` or ``keyword_inside_token``.
    """
    texts, ends = [], []
    for row in rows:
        before, after = row["sentence"][: row["start"]], row["sentence"][row["end"] :]
        for word in (row["keyword"], row["opposite"]):
            texts.append(before + word + after)
            ends.append(row["start"] + len(word))
    # A special token's name in a sentence is text there, not a command.
    coded = tokenizer(
        texts,
        add_special_tokens=specials,
        return_offsets_mapping=True,
        split_special_tokens=True,
        verbose=False,
    )
    pairs: list[list[Slot] | str] = []
    for number, row in enumerate(rows):
        pair: list[Slot] = []
        for k in (2 * number, 2 * number + 1):
            ids, offsets = coded["input_ids"][k], coded["offset_mapping"][k]
            span = tokens_of(texts[k], offsets, row["start"], ends[k], inside=inside)
            if isinstance(span, str):
                pairs.append(span)
                break
            unknown = [
                texts[k][left:right]
                for i, (token, (left, right)) in enumerate(zip(ids, offsets, strict=True))
                if token == unknown_id and not span[0] <= i < span[1]
            ]
            pair.append(Slot(ids, *span, unknown))
        else:
            pairs.append(pair)
    return pairs


def tokens_of(
    text: str, offsets: Sequence[tuple[int, int]], start: int, end: int, *, inside: bool = False
) -> tuple[int, int] | str:
    """Which tokens are ``text[start:end]``: (first, last + 1), or why none are.

    Parameters
    ----------
    text : str
        The tokenized text.
    offsets : sequence of (int, int)
        Start and end of each token in `text`; equal for special tokens. White space at a
        token's borders does not count as its text (SentencePiece puts it there).
    start, end : int
        The span, in characters.
    inside : bool
        Whether a token counts that holds text beside the span.
    """
    touching = []
    for index, (left, right) in enumerate(offsets):
        while left < right and text[left].isspace():
            left += 1
        while left < right and text[right - 1].isspace():
            right -= 1
        if left < right and left < end and right > start:
            if (left < start or right > end) and not inside:
                return "keyword_inside_token"
            touching.append(index)
    if not touching:
        return "keyword_vanishes"
    return touching[0], touching[-1] + 1
