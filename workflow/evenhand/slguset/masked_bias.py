"""The bias of sentences, read from a masked language model: the keyword is masked.

A keyword of one token has one mask, and there is nothing to choose. For one of several tokens
these are kept beside each other, each a difference of log p(male word) - log p(female word):

- `bias_left_to_right`, `bias_right_to_left`: the chain rule. All tokens are masked, the first
  (or last) is read, then put in its place, and so on. Both are true factorisations of the
  word's probability, but a masked model was not trained to make them agree.
- `bias`: their mean, which favours neither order.
- `bias_one_character`: all tokens are masked and each is read by itself; the logarithms are
  added. For words like 爸爸, where the second token follows from the first, this counts the
  same evidence twice, so it comes out about twice as large.
- `bias_single_mask`: the slot is one mask, whatever the length of the word, and the word's
  first token is read there. It says which word could begin at a slot of one token. The model
  sees a sentence that is one token short, and for words with the same first token (as
  byte-level tokenizers write 他 and 她) it says nothing: it is null there.

SlguSet's authors write that the keyword is masked and p_man and p_woman are read, and do not
say how for words of two characters (爸爸/妈妈); 18 in 100 of their sentences have such a word.
The whole word by the chain rule is a probability of that word, so it is the `bias`; the last
two are the two ways in which one token at a time can be meant.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.scoring.masked import Answers, Questions, WordQuestions, answer, ask_word
from evenhand.scoring.models import MaskedLM
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.progress import Share
from evenhand.slguset.slots import Slot, keyword_slots


def score_masked(
    lm: MaskedLM,
    rows: Sequence[dict[str, Any]],
    *,
    log_base: float,
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
        sentence, keyword, opposite, gender (``male`` or ``female``: that of `keyword`),
        start, end (of the keyword, in characters).
    log_base : float
        Base of all logarithms.
    tokens_per_batch, threads, scratch
        See `evenhand.scoring.masked.answer`.
    progress : callable, optional
        Called with numbers of sentences done.

    Returns
    -------
    list of (dict, list of Slot)
        For each row the columns of `BIAS` but the first, and the tokens of the sentence with
        the keyword and with its opposite (an empty list where a word has none of its own).
    """
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
        result: dict[str, Any] = dict.fromkeys(BIAS.names[1:])
        result["has_unk"] = any(slot.unknown for slot in slots) if slots else None
        result["excluded"] = pair if isinstance(pair, str) else _excluded(lm, pair)
        if slots:
            result["n_masks"], result["n_masks_opposite"] = (s.last - s.first for s in slots)
        if words is not None:
            male, female = words if row["gender"] == "male" else reversed(words)
            found = _compare(male.read(answers, unit), female.read(answers, unit))
            if male.first_token == female.first_token:
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
        self.whole: WordQuestions = ask_word(questions, slot.ids, slot.first, slot.last, mask_id)
        self.first_token = slot.ids[slot.first]
        one_mask = [*slot.ids[: slot.first], mask_id, *slot.ids[slot.last :]]
        self.single = questions.ask(one_mask, slot.first, self.first_token)

    def read(self, answers: Answers, unit: float) -> dict[str, float]:
        log_p = answers.log_p
        return {
            "log_p": self.whole.chain(answers) / unit,
            "left_to_right": float(log_p[self.whole.forward].sum()) / unit,
            "right_to_left": float(log_p[self.whole.backward].sum()) / unit,
            "one_character": self.whole.independent(answers) / unit,
            "single_mask": float(log_p[self.single]) / unit,
        }


def _compare(male: dict[str, float], female: dict[str, float]) -> dict[str, float | None]:
    found: dict[str, float | None] = {
        "log_p_male": male["log_p"],
        "log_p_female": female["log_p"],
        "bias": male["log_p"] - female["log_p"],
    }
    variants = ("left_to_right", "right_to_left", "one_character", "single_mask")
    return found | {f"bias_{name}": male[name] - female[name] for name in variants}


def _excluded(lm: MaskedLM, pair: list[Slot]) -> str | None:
    own, other = pair
    if max(len(own.ids), len(other.ids)) > lm.max_tokens:
        return "too_long"
    if any(lm.unknown_id in slot.ids[slot.first : slot.last] for slot in pair):
        return "keyword_unknown"
    if own.ids[: own.first] != other.ids[: other.first]:
        return "context_differs"
    if own.ids[own.last :] != other.ids[other.last :]:
        return "context_differs"
    return None
