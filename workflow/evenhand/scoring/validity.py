"""The validity check of a language model, and its gate: the record of whether it is trusted.

Some published checkpoints lack the head that they were trained with; such a model still returns a
number for every word. So each model has to beat, on ordinary sentences, the baseline that always
predicts the most frequent token.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM
from evenhand.scoring.questions import Questions, answer, encode_sequences

#: The record of a check without any token.
NOTHING_CHECKED: dict[str, Any] = {
    "sentences": 0,
    "tokens": 0,
    **dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "baseline")),
    "baseline_token": None,
    "passed": False,
}

#: Maximum number of unknown texts that the gate lists.
UNKNOWN_NAMED = 20


def check_model(
    lm: LanguageModel, sentences: Sequence[str], *, seed: int, **options: Any
) -> dict[str, Any]:
    """Return the check for the model's kind: `check_fill_mask` or `check_next_token`."""
    if isinstance(lm, CausalLM):
        return check_next_token(lm, sentences, **options)
    return check_fill_mask(lm, sentences, seed=seed, **options)


def check_fill_mask(
    lm: MaskedLM,
    sentences: Sequence[str] | Sequence[Sequence[int]],
    *,
    seed: int,
    tokens_per_batch: int,
    threads: int = 1,
    share: float = 0.15,
    least_tokens: int = 300,
) -> dict[str, Any]:
    """Return the masked-token accuracy on ordinary sentences, and that of the baseline.

    Parameters
    ----------
    lm : MaskedLM
        The model.
    sentences : sequence of str, or of sequences of int
        Sentences of the kind to be scored, or their token ids with special tokens; those longer
        than the model's input, and those with special tokens only, are left out.
    seed : int
        Seed of the choice of tokens.
    tokens_per_batch, threads : int
        See `evenhand.scoring.questions.answer`.
    share : float
        Share of a sentence's tokens that are masked at once (at least one). Special and
        unknown tokens are never masked.
    least_tokens : int
        Sentences are masked again at other positions until there are this many tokens: with a few
        short sentences, no model would pass.

    Returns
    -------
    dict
        sentences, tokens (masked and predicted), accuracy, accuracy_low and accuracy_high
        (Wilson's 95 % interval), baseline (share of these tokens that are the most frequent one
        of the whole text), baseline_token, passed (accuracy_low > baseline). Without any token,
        the numbers are None and passed is False.
    """
    inputs = [
        lm.tokenizer(sentence, split_special_tokens=True, verbose=False).input_ids
        if isinstance(sentence, str)
        else sentence
        for sentence in sentences
    ]
    generator = np.random.default_rng(seed)
    special = {*lm.tokenizer.all_special_ids}
    used: list[Sequence[int]] = []
    left: list[list[int]] = []  # the positions of each input that were not masked yet
    seen: Counter[int] = Counter()
    for ids in inputs:
        open_places = [i for i, token in enumerate(ids) if token not in special]
        if open_places and len(ids) <= lm.max_tokens:
            used.append(ids)
            left.append(open_places)
            seen.update(ids[i] for i in open_places)
    sizes = [max(1, round(share * len(places))) for places in left]
    questions, expected = Questions(), []
    while any(left) and (not expected or len(expected) < least_tokens):
        for number, (ids, places) in enumerate(zip(used, left, strict=True)):
            size = min(sizes[number], len(places))
            chosen = sorted(int(i) for i in generator.choice(places, size, replace=False))
            left[number] = [place for place in places if place not in chosen]
            masked = list(ids)
            for place in chosen:
                masked[place] = lm.mask_id
            for place in chosen:
                questions.ask(masked, place, ids[place])
                expected.append(ids[place])
    return _compare_with_baseline(
        lm, len(used), questions, expected, seen, tokens_per_batch=tokens_per_batch, threads=threads
    )


def check_next_token(lm: CausalLM, sentences: Sequence[str], **options: int) -> dict[str, Any]:
    """Return the next-token accuracy on ordinary sentences, and that of the baseline.

    Every token is predicted from all tokens before it, except special and unknown ones, and first
    ones if the model has no start of text.

    Parameters
    ----------
    lm : CausalLM
        The model.
    sentences : sequence of str
        Sentences of the kind to be scored; those longer than the model's input are left out.
    **options
        tokens_per_batch, threads: see `evenhand.scoring.questions.answer`.

    Returns
    -------
    dict
        See `check_fill_mask`.
    """
    special = {*lm.tokenizer.all_special_ids}
    questions, expected, used = Questions(), [], 0
    for ids, start in zip(*encode_sequences(lm, sentences), strict=True):
        open_places = [i for i in range(start, len(ids)) if int(ids[i]) not in special]
        if open_places and len(ids) <= lm.max_tokens:
            used += 1
            for place in open_places:
                questions.ask(ids, place, int(ids[place]))
                expected.append(int(ids[place]))
    return _compare_with_baseline(lm, used, questions, expected, Counter(expected), **options)


def _compare_with_baseline(
    lm: LanguageModel,
    sentences: int,
    questions: Questions,
    expected: Sequence[int],
    seen: Counter[int],
    **options: int,
) -> dict[str, Any]:
    """Return the record of a check: accuracy, and that of the most frequent token.

    `seen` has the frequencies of tokens in the sentences.
    """
    from scipy.stats import binomtest

    if not expected:
        return dict(NOTHING_CHECKED)
    answers = answer(lm, questions, **options)
    # a NaN is not a correct prediction
    correct = int(((answers.best == np.array(expected)) & np.isfinite(answers.log_p)).sum())
    # Of equally frequent tokens the one with the smaller id, so that the record is stable.
    frequent = min(seen, key=lambda token: (-seen[token], token))
    baseline = float(np.mean(np.array(expected) == frequent))
    interval = binomtest(correct, len(expected)).proportion_ci(0.95, method="wilson")
    return {
        "sentences": sentences,
        "tokens": len(expected),
        "accuracy": round(correct / len(expected), 6),
        "accuracy_low": round(float(interval.low), 6),
        "accuracy_high": round(float(interval.high), 6),
        "baseline": round(baseline, 6),
        "baseline_token": lm.tokenizer.convert_ids_to_tokens(frequent),
        "passed": bool(interval.low > baseline),
    }


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
    few = scored == 0 or scored < enough
    if lm.missing:
        reasons.append("missing_weights")
    if not check["passed"] and not _is_finite(lm):
        reasons.append("weights_not_finite")
    elif not check["passed"] and not (few and check["tokens"] == 0):  # else nothing was checked
        kind = "next_token" if isinstance(lm, CausalLM) else "fill_mask"
        reasons.append(f"{kind}_not_above_baseline")
    if few:
        reasons.append("few_scored")
    return {"trusted": not reasons, "reason": ", ".join(reasons) or None, "check": check}


def _is_finite(lm: LanguageModel) -> bool:
    return all(bool(weights.isfinite().all()) for weights in lm.model.parameters())


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
