"""What stands in a model's gate: whether its numbers can be believed, and what it cannot read."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import CausalLM, LanguageModel
from evenhand.scoring.next_token import check_next_token

#: How many unknown pieces of text the gate names.
UNKNOWN_NAMED = 20


def check_model(
    lm: LanguageModel, sentences: Sequence[str], *, seed: int, **options: Any
) -> dict[str, Any]:
    """The check of the model's kind: `check_fill_mask` or `check_next_token`."""
    if isinstance(lm, CausalLM):
        return check_next_token(lm, sentences, **options)
    return check_fill_mask(lm, sentences, seed=seed, **options)


def judge(lm: LanguageModel, check: dict[str, Any], scored: int, enough: float) -> dict[str, Any]:
    """Whether a model is trusted, and why not.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    check : dict
        What `check_model` found.
    scored : int
        What got a score.
    enough : float
        With fewer it says nothing; none at all never are enough.

    Returns
    -------
    dict
        trusted, reason (words joined by commas, None for a trusted model), check.
    """
    reasons = []
    if lm.missing:
        reasons.append("missing_weights")
    if not check["passed"]:
        kind = "next_token" if isinstance(lm, CausalLM) else "fill_mask"
        reasons.append(f"{kind}_not_above_baseline")
    if scored == 0 or scored < enough:
        reasons.append("few_scored")
    return {"trusted": not reasons, "reason": ", ".join(reasons) or None, "check": check}


def count_unknown(sentences: int, unknown: Counter[str]) -> dict[str, Any]:
    """How many sentences have text that the tokenizer does not know, and the most frequent of it.

    Returns
    -------
    dict
        sentences_with_unknown, unknown_tokens, unknown_most_frequent.
    """
    frequent = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))
    return {
        "sentences_with_unknown": sentences,
        "unknown_tokens": unknown.total(),
        "unknown_most_frequent": dict(frequent[:UNKNOWN_NAMED]),
    }
