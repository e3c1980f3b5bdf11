"""The validity check of causal language models: next-token accuracy above the baseline."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.scoring.causal import encode, read_sequences
from evenhand.scoring.fill_mask import compare_with_baseline
from evenhand.scoring.models import CausalLM


def check_next_token(
    lm: CausalLM,
    sentences: Sequence[str],
    *,
    tokens_per_batch: int,
    threads: int = 1,
) -> dict[str, Any]:
    """Return the next-token accuracy on ordinary sentences, and that of the baseline.

    Every token is predicted from all tokens before it, except special and unknown ones, and first
    ones if the model has no start of text.

    Parameters
    ----------
    lm : CausalLM
        The model.
    sentences : sequence of str
        Sentences of the kind to be scored; those longer than the model's input are left out.
    tokens_per_batch, threads : int
        See `evenhand.scoring.causal.read_sequences`.

    Returns
    -------
    dict
        See `evenhand.scoring.fill_mask.check_fill_mask`.
    """
    special = {*lm.tokenizer.all_special_ids}
    inputs, starts = [], []
    for ids, start in zip(*encode(lm, sentences), strict=True):
        if len(ids) <= lm.max_tokens and any(int(token) not in special for token in ids[start:]):
            inputs.append(ids)
            starts.append(start)
    scores = read_sequences(lm, inputs, starts, tokens_per_batch=tokens_per_batch, threads=threads)
    expected: list[int] = []
    correct = 0
    for ids, start, score in zip(inputs, starts, scores, strict=True):
        targets = ids[start:]
        open_places = ~np.isin(targets, list(special))
        # a NaN is not a correct prediction
        correct += int(((score.best == targets) & np.isfinite(score.log_p))[open_places].sum())
        expected += targets[open_places].tolist()
    return compare_with_baseline(lm, len(inputs), expected, correct, Counter(expected))
