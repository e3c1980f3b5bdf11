"""Can a model fill in a masked token at all? A check before its probabilities are believed.

Some published checkpoints come without the head that they were trained with; such a model
still gives a number for every word. So each model has to beat, on ordinary sentences, a
baseline that knows nothing but the most frequent token.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.scoring.masked import Questions, answer
from evenhand.scoring.models import MaskedLM


def check_fill_mask(
    lm: MaskedLM,
    sentences: Sequence[str],
    *,
    seed: int,
    tokens_per_batch: int,
    threads: int = 1,
    share: float = 0.15,
) -> dict[str, Any]:
    """Masked-token accuracy on ordinary sentences, against the most frequent token.

    Parameters
    ----------
    lm : MaskedLM
        The model.
    sentences : sequence of str
        Sentences of the kind that the model is used on; those longer than it are left out.
    seed : int
        Seed of the choice of tokens.
    tokens_per_batch, threads : int
        See `evenhand.scoring.masked.answer`.
    share : float
        Share of a sentence's tokens that are masked at once (at least one). Special and
        unknown tokens are never masked.

    Returns
    -------
    dict
        sentences, tokens (masked and asked for), accuracy, accuracy_low and accuracy_high
        (Wilson's 95 % interval), baseline (share of the asked tokens that are the most
        frequent one of the whole text), baseline_token, passed (accuracy_low > baseline).
        Without a token to ask for, the numbers are None and passed is False.
    """
    from scipy.stats import binomtest

    generator = np.random.default_rng(seed)
    special = {*lm.tokenizer.all_special_ids}
    questions, expected, seen, used = Questions(), [], Counter(), 0
    for sentence in sentences:
        ids = lm.tokenizer(sentence, split_special_tokens=True, verbose=False).input_ids
        open_places = [i for i, token in enumerate(ids) if token not in special]
        if len(ids) > lm.max_tokens or not open_places:
            continue
        used += 1
        seen.update(ids[i] for i in open_places)
        size = max(1, round(share * len(open_places)))
        places = sorted(int(i) for i in generator.choice(open_places, size, replace=False))
        masked = list(ids)
        for place in places:
            masked[place] = lm.mask_id
        for place in places:
            questions.ask(masked, place, ids[place])
            expected.append(ids[place])
    if not expected:
        nothing = dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "baseline"))
        return {"sentences": 0, "tokens": 0, **nothing, "baseline_token": None, "passed": False}
    answers = answer(lm, questions, tokens_per_batch=tokens_per_batch, threads=threads)
    wanted = np.array(expected)
    finite = np.isfinite(answers.log_p)  # a model that answers NaN has not filled anything in
    correct = int(((answers.best == wanted) & finite).sum())
    # Of equally frequent tokens the one with the smaller id, so that the record is stable.
    frequent = min(seen, key=lambda token: (-seen[token], token))
    baseline = float((wanted == frequent).mean())
    interval = binomtest(correct, len(wanted)).proportion_ci(0.95, method="wilson")
    return {
        "sentences": used,
        "tokens": len(wanted),
        "accuracy": round(correct / len(wanted), 6),
        "accuracy_low": round(float(interval.low), 6),
        "accuracy_high": round(float(interval.high), 6),
        "baseline": round(baseline, 6),
        "baseline_token": lm.tokenizer.convert_ids_to_tokens(frequent),
        "passed": bool(interval.low > baseline),
    }
