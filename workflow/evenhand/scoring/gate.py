"""The gate of a model: its validity check, and its unknown tokens."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import CausalLM, LanguageModel
from evenhand.scoring.next_token import check_next_token

#: Maximum number of unknown texts that the gate lists.
UNKNOWN_NAMED = 20


def check_model(
    lm: LanguageModel, sentences: Sequence[str], *, seed: int, **options: Any
) -> dict[str, Any]:
    """Return the check for the model's kind: `check_fill_mask` or `check_next_token`."""
    if isinstance(lm, CausalLM):
        return check_next_token(lm, sentences, **options)
    return check_fill_mask(lm, sentences, seed=seed, **options)


def judge(lm: LanguageModel, check: dict[str, Any], scored: int, enough: float) -> dict[str, Any]:
    """Return whether a model is trusted, and why not.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    check : dict
        The result of `check_model`.
    scored : int
        Number of scored items.
    enough : float
        The minimum number of scored items; 0 items are never enough.

    Returns
    -------
    dict
        trusted, reason (joined by commas, None for a trusted model), check.
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
    """Return the number of sentences with unknown tokens, and the most frequent unknown texts.

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
