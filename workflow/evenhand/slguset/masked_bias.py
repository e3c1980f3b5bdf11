"""The bias of sentences under a masked language model: the keyword is masked.

Where several words of a sentence change together (die Ärztin, ihren), all of them are masked and
scored as one word with separated tokens.

A keyword of one token has one mask and one score. For a keyword of several tokens, these scores
are all kept, each a difference of log p(first word) - log p(second word), in the order of the
values (male, female):

- `bias_left_to_right`, `bias_right_to_left`: the chain rule. All tokens are masked, the first
  (or last) is read, then put in its place, and so on. Both are true factorisations of the
  word's probability, but a masked model was not trained to make them agree.
- `bias`: their mean, which favours neither order.
- `bias_one_character`: all tokens are masked and each is read by itself; the logarithms are
  added. For words like 爸爸, where the second token follows from the first, this counts the
  same evidence twice, so it comes out about twice as large.
- `bias_single_mask`: the slot is one mask, whatever the length of the word, and the word's
  first token is scored there. It compares words that could begin at a slot of one token. The
  model gets a sentence that is one token short. The score is null for words with the same first
  token (他 and 她 in byte-level tokenizers) and for separated tokens.

SlguSet's authors write that the keyword is masked and p_man and p_woman are read. They do not
specify words of two characters (爸爸/妈妈), which 18 % of their sentences have. The chain rule
gives a probability of the whole word, so it is the `bias`; the last two are the two possible
readings of "one token at a time".
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.scoring.models import MaskedLM
from evenhand.scoring.questions import Answers, Questions, WordQuestions, answer, ask_word
from evenhand.slguset.bias_tables import bias_columns, log_p_columns
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.progress import Share
from evenhand.slguset.slots import Slot, keyword_slots
from evenhand.slguset.surface_pairs import is_first


def score_masked(
    lm: MaskedLM,
    rows: Sequence[dict[str, Any]],
    *,
    log_base: float,
    values: Sequence[str] = GENDERS,
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    scratch: Path | None = None,
) -> list[tuple[dict[str, Any], list[Slot]]]:
    """Score sentences with a masked language model.

    Parameters
    ----------
    lm : MaskedLM
        The model.
    rows : sequence of dict
        sentence, keyword, opposite, the attribute (the value of `keyword`), start, end (of the
        keyword, in characters); spans and {attribute}_opposite where the pack has them.
    log_base : float
        Base of all logarithms.
    values : sequence of str
        The values of the attribute.
    tokens_per_batch, threads, scratch
        See `evenhand.scoring.questions.answer`.
    progress : callable, optional
        Called with numbers of sentences done.

    Returns
    -------
    list of (dict, list of Slot)
        For each row the columns of `BIAS` but the first, and the tokens of the sentence with
        the keyword and with its opposite (an empty list where a word has none of its own).
    """
    names = bias_columns(values).names[1:]
    pairs = keyword_slots(lm.tokenizer, lm.unknown_id, rows)
    questions = Questions()
    asked = [
        [_Word(questions, slot, lm.mask_id) for slot in pair]
        if isinstance(pair, list) and _excluded(lm, pair) is None
        else None
        for pair in pairs
    ]
    done = Share(len(rows), sum(len(ids) for ids in questions.inputs), progress)
    answers = answer(
        lm,
        questions,
        tokens_per_batch=tokens_per_batch,
        entropy=False,
        threads=threads,
        progress=done.add,
        scratch=scratch,
    )
    done.finish()
    unit = math.log(log_base)
    results = []
    for row, pair, words in zip(rows, pairs, asked, strict=True):
        slots = pair if isinstance(pair, list) else []
        result: dict[str, Any] = dict.fromkeys(names)
        result["has_unk"] = any(slot.unknown for slot in slots) if slots else None
        result["excluded"] = pair if isinstance(pair, str) else _excluded(lm, pair)
        if slots:
            result["n_masks"], result["n_masks_opposite"] = (len(s.places) for s in slots)
        if words is not None:
            first, second = words if is_first(row, values) else reversed(words)
            found = _compare(first.read(answers, unit), second.read(answers, unit))
            found |= dict(zip(log_p_columns(row, values), found.pop("log_p"), strict=True))
            if first.first_token == second.first_token:
                found["bias_single_mask"] = None
            if all(math.isfinite(value) for value in found.values() if value is not None):
                result |= found
            else:
                result["excluded"] = "not_finite"
        results.append((result, slots))
    return results


class _Word:
    """The questions about one word in its slot."""

    def __init__(self, questions: Questions, slot: Slot, mask_id: int) -> None:
        self.whole: WordQuestions = ask_word(questions, slot.ids, slot.places, mask_id)
        first, last = slot.places[0], slot.places[-1] + 1
        self.first_token, self.single = None, None
        if last - first == len(slot.places):
            self.first_token = slot.ids[first]
            one_mask = [*slot.ids[:first], mask_id, *slot.ids[last:]]
            self.single = questions.ask(one_mask, first, self.first_token)

    def read(self, answers: Answers, unit: float) -> dict[str, float | None]:
        log_p = answers.log_p
        return {
            "log_p": self.whole.chain(answers) / unit,
            "left_to_right": float(log_p[self.whole.forward].sum()) / unit,
            "right_to_left": float(log_p[self.whole.backward].sum()) / unit,
            "one_character": self.whole.independent(answers) / unit,
            "single_mask": None if self.single is None else float(log_p[self.single]) / unit,
        }


def _compare(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    found = {
        "log_p": (first["log_p"], second["log_p"]),
        "bias": first["log_p"] - second["log_p"],
    }
    variants = ("left_to_right", "right_to_left", "one_character", "single_mask")
    return found | {
        f"bias_{name}": None if None in (first[name], second[name]) else first[name] - second[name]
        for name in variants
    }


def _excluded(lm: MaskedLM, pair: list[Slot]) -> str | None:
    own, other = pair
    if max(len(own.ids), len(other.ids)) > lm.max_tokens:
        return "too_long"
    if any(lm.unknown_id in slot.word() for slot in pair):
        return "keyword_unknown"
    return None
