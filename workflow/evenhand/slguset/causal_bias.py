"""The bias of sentences under a causal language model: two whole sentences are compared.

Such a model has no mask: it reads from left to right. So the sentence is completed with the
male and with the female word, and bias = log P(sentence with the male word) - log P(sentence
with the female word). The text before the word has the same probability in both and cancels;
the text after it is conditioned on the word, as in the original sentence.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.scoring.causal import read_sequences
from evenhand.scoring.models import CausalLM
from evenhand.slguset.bias_tables import bias_columns, log_p_columns
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.progress import Share
from evenhand.slguset.slots import Slot, keyword_slots
from evenhand.slguset.surface_pairs import is_first


def score_causal(
    lm: CausalLM,
    rows: Sequence[dict[str, Any]],
    *,
    log_base: float,
    values: Sequence[str] = GENDERS,
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    scratch: Path | None = None,
) -> list[tuple[dict[str, Any], list[Slot]]]:
    """Score sentences with a causal language model.

    Parameters
    ----------
    lm : CausalLM
        The model. Its sequences begin with `lm.start_id`; without one, the first token of a
        sentence is given and not scored.
    rows, log_base, values, progress
        As for `evenhand.slguset.masked_bias.score_masked`.
    tokens_per_batch, threads, scratch
        See `evenhand.scoring.causal.read_sequences`.

    Returns
    -------
    list of (dict, list of Slot)
        As `score_masked` does, with the log_p of the whole sentences, the
        other ways to read a word null, and in n_masks the tokens that hold a part of it (a
        token may hold text beside it too).
    """
    pairs = keyword_slots(lm.tokenizer, lm.unknown_id, rows, specials=False)
    start = [] if lm.start_id is None else [lm.start_id]
    inputs: list[np.ndarray] = []
    asked: list[slice | None] = []
    for pair in pairs:
        if isinstance(pair, str) or _excluded(lm, pair, len(start)):
            asked.append(None)
            continue
        asked.append(slice(len(inputs), len(inputs) + 2))
        inputs += [np.array([*start, *slot.ids], dtype=np.int32) for slot in pair]
    done = Share(len(rows), sum(len(ids) - 1 for ids in inputs), progress)
    read = read_sequences(
        lm,
        inputs,
        [1] * len(inputs),
        tokens_per_batch=tokens_per_batch,
        threads=threads,
        progress=done.add,
        scratch=scratch,
    )
    done.finish()
    log_p = [float(one.log_p.sum()) / math.log(log_base) for one in read]
    results = []
    for row, pair, both in zip(rows, pairs, asked, strict=True):
        slots = pair if isinstance(pair, list) else []
        result: dict[str, Any] = dict.fromkeys(bias_columns(values).names[1:])
        result["has_unk"] = any(slot.unknown for slot in slots) if slots else None
        result["excluded"] = pair if isinstance(pair, str) else _excluded(lm, pair, len(start))
        if slots:
            result["n_masks"], result["n_masks_opposite"] = (len(s.places) for s in slots)
        if both is not None:
            first, second = log_p[both] if is_first(row, values) else log_p[both][::-1]
            if math.isfinite(first) and math.isfinite(second):
                result |= dict(zip(log_p_columns(row, values), (first, second), strict=True))
                result["bias"] = first - second
            else:
                result["excluded"] = "not_finite"
        results.append((result, slots))
    return results


def _excluded(lm: CausalLM, pair: list[Slot], specials: int) -> str | None:
    own, other = pair
    if max(len(own.ids), len(other.ids)) + specials > lm.max_tokens:
        return "too_long"
    if any(lm.unknown_id in slot.word() for slot in pair):
        return "keyword_unknown"
    if own.ids == other.ids:
        return "identical_tokens"
    if not specials and 0 in own.places:
        return "keyword_first"
    return None
