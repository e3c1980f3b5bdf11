"""The validity check of masked language models: masked-token accuracy above the baseline.

Some published checkpoints lack the head that they were trained with; such a model still returns a
number for every word. So each model has to beat, on ordinary sentences, the baseline that always
predicts the most frequent token.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.scoring.questions import Questions, answer
from evenhand.scoring.models import LanguageModel, MaskedLM

#: The record of a check without any token.
NOTHING_CHECKED: dict[str, Any] = {
    "sentences": 0,
    "tokens": 0,
    **dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "baseline")),
    "baseline_token": None,
    "passed": False,
}


def check_fill_mask(
    lm: MaskedLM,
    sentences: Sequence[str],
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
    sentences : sequence of str
        Sentences of the kind to be scored; those longer than the model's input are left out.
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
    coded = [
        lm.tokenizer(sentence, split_special_tokens=True, verbose=False).input_ids
        for sentence in sentences
    ]
    return check_inputs(
        lm,
        [ids for ids in coded if len(ids) <= lm.max_tokens],
        seed=seed,
        tokens_per_batch=tokens_per_batch,
        threads=threads,
        share=share,
        least_tokens=least_tokens,
    )


def check_inputs(
    lm: MaskedLM,
    inputs: Sequence[Sequence[int]],
    *,
    seed: int,
    tokens_per_batch: int,
    threads: int = 1,
    share: float = 0.15,
    least_tokens: int = 300,
) -> dict[str, Any]:
    """Return the check on texts given as token ids, including special tokens.

    Parameters
    ----------
    inputs : sequence of sequences of int
        None longer than the model's input; those with special tokens only are left out.
    lm, seed, tokens_per_batch, threads, share, least_tokens
        See `check_fill_mask`.

    Returns
    -------
    dict
        See `check_fill_mask`; sentences are inputs.
    """
    generator = np.random.default_rng(seed)
    special = {*lm.tokenizer.all_special_ids}
    used: list[Sequence[int]] = []
    left: list[list[int]] = []  # the positions of each input that were not masked yet
    seen: Counter[int] = Counter()
    for ids in inputs:
        open_places = [i for i, token in enumerate(ids) if token not in special]
        if open_places:
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
    correct = 0
    if expected:
        answers = answer(lm, questions, tokens_per_batch=tokens_per_batch, threads=threads)
        # a NaN is not a correct prediction
        correct = int(((answers.best == np.array(expected)) & np.isfinite(answers.log_p)).sum())
    return compare_with_baseline(lm, len(used), expected, correct, seen)


def compare_with_baseline(
    lm: LanguageModel,
    sentences: int,
    expected: Sequence[int],
    correct: int,
    seen: Counter[int],
) -> dict[str, Any]:
    """Return the record of a check: accuracy, and that of the most frequent token.

    Parameters
    ----------
    lm : LanguageModel
        The model.
    sentences : int
        Number of sentences used.
    expected : sequence of int
        The true tokens.
    correct : int
        Number of correct predictions.
    seen : Counter of int
        Frequencies of tokens in the sentences.

    Returns
    -------
    dict
        See `check_fill_mask`.
    """
    from scipy.stats import binomtest

    if not expected:
        return dict(NOTHING_CHECKED)
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
