"""The bias of sentences: log p(first word) - log p(second word), in the order of the values.

A masked model predicts the keyword at masks, given the rest of the sentence. Where several words
of a sentence change together (die Ärztin, ihren), all of them are masked and scored as one word
with separated tokens. A word of several tokens is read in several ways:

- `left_to_right`, `right_to_left`: the chain rule. All tokens are masked, the first (or last) is
  read, then put in its place, and so on. Both are true factorisations of the word's probability,
  but a masked model was not trained to make them agree.
- `bias`: their mean, which favours neither order.
- `one_character`: all tokens are masked and each is read by itself; the logarithms are added. For
  words like 爸爸, where the second token follows from the first, this counts the same evidence
  twice, so it is about twice as large.
- `single_mask`: the slot is one mask, whatever the length of the word, and the word's first token
  is scored there. It compares words that could begin at a slot of one token. The model gets a
  sentence that is one token short. It is null for words with the same first token (他 and 她 in
  byte-level tokenizers) and for separated tokens.

SlguSet's authors write that the keyword is masked and p_man and p_woman are read. They do not
specify words of two characters (爸爸/妈妈), which 18 % of their sentences have. The chain rule
gives a probability of the whole word, so it is the `bias`; the last two are the two possible
readings of "one token at a time".

A causal model has no mask: it reads from left to right. So two whole sentences are compared, with
either word. The text before the word has the same probability in both and cancels; the text after
it is conditioned on the word, as in the original sentence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.scoring.models import CausalLM, MaskedLM
from evenhand.scoring.questions import Questions, answer, ask_word, read_sequences
from evenhand.slguset.bias_tables import bias_columns, log_p_columns
from evenhand.slguset.dataset import Spans, spans_of, swap, swapped_spans
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import is_first

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
        words = []
        for k in (number, number + 1):
            offsets = coded["offset_mapping"][k]
            words.append([tokens_of(texts[k], offsets, start, end) for start, end, _ in spans[k]])
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


#: The log-probabilities of a word, by the column of their difference.
Readings = dict[str, float | None]


def score_sentences(
    lm: MaskedLM | CausalLM,
    rows: Sequence[dict[str, Any]],
    *,
    log_base: float,
    values: Sequence[str] = GENDERS,
    **running: Any,
) -> list[tuple[dict[str, Any], list[Slot]]]:
    """Score sentences with a language model.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model. A causal model's sequences begin with `lm.start_id`; without one, the first
        token of a sentence is not scored.
    rows : sequence of dict
        sentence, keyword, opposite, the attribute (the value of `keyword`), start, end (of the
        keyword, in characters); spans and {attribute}_opposite where the pack has them.
    log_base : float
        Base of all logarithms.
    values : sequence of str
        The values of the attribute.
    **running
        tokens_per_batch, threads, scratch; see `evenhand.scoring.questions.answer`.

    Returns
    -------
    list of (dict, list of Slot)
        For each row the columns of `BIAS` but the first, and the tokens of the sentence with
        the keyword and with its opposite (an empty list where a word has none of its own). Of a
        causal model, the log_p are those of the whole sentences, the other ways to read a word are
        null, and n_masks counts the tokens that contain a part of the word.
    """
    masked = isinstance(lm, MaskedLM)
    pairs = keyword_slots(lm.tokenizer, lm.unknown_id, rows, specials=masked)
    reasons = [pair if isinstance(pair, str) else _excluded(lm, *pair) for pair in pairs]
    slots = [
        slot for pair, reason in zip(pairs, reasons, strict=True) if not reason for slot in pair
    ]

    read = _read_masked if masked else _read_causal
    unit = math.log(log_base)
    readings = iter(
        {name: None if value is None else value / unit for name, value in reading.items()}
        for reading in read(lm, slots, running)
    )
    results = []
    for row, pair, reason in zip(rows, pairs, reasons, strict=True):
        slots = [] if isinstance(pair, str) else pair
        result: dict[str, Any] = dict.fromkeys(bias_columns(values).names[1:])
        result["excluded"] = reason
        if slots:
            result["has_unk"] = any(slot.unknown for slot in slots)
            result["n_masks"], result["n_masks_opposite"] = (len(slot.places) for slot in slots)
        if not reason:
            words = [next(readings), next(readings)]
            first, second = words if is_first(row, values) else words[::-1]
            scores = {
                name: None if None in (first[name], second[name]) else first[name] - second[name]
                for name in first
            }
            scores |= zip(log_p_columns(row, values), (first["bias"], second["bias"]), strict=True)
            if len({slot.word()[0] for slot in slots}) == 1:
                scores["bias_single_mask"] = None
            if all(math.isfinite(value) for value in scores.values() if value is not None):
                result |= scores
            else:
                result["excluded"] = "not_finite"
        results.append((result, slots))
    return results


def _read_masked(lm: MaskedLM, slots: list[Slot], running: dict[str, Any]) -> list[Readings]:
    """Return the log-probabilities of the word in each slot, in all ways to read it."""
    questions = Questions()
    words, single_masks = [], []
    for slot in slots:
        words.append(ask_word(questions, slot.ids, slot.places, lm.mask_id))
        first, last = slot.places[0], slot.places[-1] + 1
        single_masks.append(None)
        if last - first == len(slot.places):
            one_mask = [*slot.ids[:first], lm.mask_id, *slot.ids[last:]]
            single_masks[-1] = questions.ask(one_mask, first, slot.ids[first])
    answers = answer(lm, questions, entropy=False, **running)
    return [
        {
            "bias": word.chain(answers),
            "bias_left_to_right": float(answers.log_p[word.forward].sum()),
            "bias_right_to_left": float(answers.log_p[word.backward].sum()),
            "bias_one_character": word.independent(answers),
            "bias_single_mask": None if single is None else float(answers.log_p[single]),
        }
        for word, single in zip(words, single_masks, strict=True)
    ]


def _read_causal(lm: CausalLM, slots: list[Slot], running: dict[str, Any]) -> list[Readings]:
    """Return the log-probability of each sentence."""
    start = [] if lm.start_id is None else [lm.start_id]
    inputs = [np.array([*start, *slot.ids], dtype=np.int32) for slot in slots]
    scores = read_sequences(lm, inputs, [1] * len(inputs), **running)
    return [{"bias": float(sequence.log_p.sum())} for sequence in scores]


def _excluded(lm: MaskedLM | CausalLM, keyword: Slot, opposite: Slot) -> str | None:
    """Return why a model cannot score a pair of sentences, or None."""
    causal = isinstance(lm, CausalLM)
    starts = int(causal and lm.start_id is not None)
    if max(len(keyword.ids), len(opposite.ids)) + starts > lm.max_tokens:
        return "too_long"
    if any(lm.unknown_id in slot.word() for slot in (keyword, opposite)):
        return "keyword_unknown"
    if causal and keyword.ids == opposite.ids:
        return "identical_tokens"
    if causal and not starts and 0 in keyword.places:
        return "keyword_first"
    return None
