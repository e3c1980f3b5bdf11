"""Token probabilities of causal language models: each token given all tokens before it."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.scoring.batches import exact_length_batches
from evenhand.scoring.describe import fingerprint
from evenhand.scoring.execution import run_batches
from evenhand.scoring.head import enable_reading, read_places
from evenhand.scoring.masked import WHOLE_LOGITS_AT_ONCE
from evenhand.scoring.models import CausalLM


@dataclass(frozen=True)
class SequenceScores:
    """The predictions for the scored tokens of one input.

    Parameters
    ----------
    log_p : array of float64, shape (scored,)
        Natural logarithm of the probability of each token, given all tokens before it. NaN if
        the model's number is not finite.
    best : array of int64, shape (scored,)
        The most probable token (the first in case of ties).
    first : array of bool, shape (scored,)
        Whether no other token is likelier.
    entropy : array of float64, shape (scored,)
        Entropy of the prediction, in nats.
    """

    log_p: np.ndarray
    best: np.ndarray
    first: np.ndarray
    entropy: np.ndarray


def encode(
    lm: CausalLM, sentences: Sequence[str], contexts: Sequence[str | None] | None = None
) -> tuple[list[np.ndarray], list[int]]:
    """Tokenize sentences for the model, and return the position of the first scored token of each.

    A sentence is preceded only by the model's start of text, once; its first word has a leading
    space only if the tokenizer adds one. A context is followed by a blank, which is scored with
    the sentence: usually it is part of the first token, as in running text.

    Parameters
    ----------
    lm : CausalLM
        The model.
    sentences : sequence of str
        The sentences.
    contexts : sequence of (str or None), optional
        Text before each sentence, which is not scored; its trailing white space is removed.

    Returns
    -------
    ids : list of arrays of int32
        The inputs, including the start of text.
    starts : list of int
        The first scored token of each; at least 1, since the first input token is not predicted:
        without a start of text, the first token of a sentence without context is not scored.
    """
    if not sentences:
        return [], []
    before = [(context or "").rstrip() for context in contexts or [""] * len(sentences)]
    # The name of a special token in a sentence is treated as text.
    coded = lm.tokenizer(
        [f"{c} {s}" if c else s for c, s in zip(before, sentences, strict=True)],
        add_special_tokens=False,
        split_special_tokens=True,
        return_offsets_mapping=True,
        verbose=False,
    )
    prefix = [] if lm.start_id is None else [lm.start_id]
    inputs, starts = [], []
    for context, ids, offsets in zip(
        before, coded["input_ids"], coded["offset_mapping"], strict=True
    ):
        inputs.append(np.array([*prefix, *ids], dtype=np.int32))
        given = sum(end <= len(context) for _, end in offsets) if context else 0
        starts.append(max(1, len(prefix) + given))
    return inputs, starts


def read_sequences(
    lm: CausalLM,
    inputs: Sequence[np.ndarray],
    starts: Sequence[int],
    *,
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    scratch: Path | None = None,
) -> list[SequenceScores]:
    """Score the tokens of each input from its start on, each given all tokens before it.

    Parameters
    ----------
    lm : CausalLM
        The model.
    inputs : sequence of arrays of int
        Token ids, none longer than `lm.max_tokens`. Equal inputs are run once.
    starts : sequence of int
        The first scored token of each, at least 1. If it is after the last token, no token is
        scored.
    tokens_per_batch : int
        Maximum number of tokens per batch. It affects scores by rounding only (under 1e-5 in
        fp32).
    threads, scratch
        See `evenhand.scoring.execution.run_batches`.
    progress : callable, optional
        Called after each batch with its number of tokens.

    Returns
    -------
    list of SequenceScores
        One per input.

    Raises
    ------
    InputError
        A single input does not fit into memory.
    """
    import torch

    if any(start < 1 for start in starts):
        raise ValueError("a first token is given by nothing, so it cannot be scored")
    numbers: dict[tuple[bytes, int], int] = {}
    which = [
        numbers.setdefault((np.asarray(ids, dtype="<i4").tobytes(), int(start)), len(numbers))
        for ids, start in zip(inputs, starts, strict=True)
    ]
    distinct = [(np.frombuffer(ids, dtype="<i4").astype(np.int64), s) for ids, s in numbers]
    scored = np.array([max(0, len(ids) - start) for ids, start in distinct], dtype=np.int64)
    # the last token is predicted, not read
    lengths = np.array([len(ids) - 1 for ids, _ in distinct], dtype=np.int64)
    to_score = np.flatnonzero(scored)
    rows = None
    if not enable_reading(lm.model):
        longest = int(lengths[to_score].max(initial=1))
        rows = max(1, WHOLE_LOGITS_AT_ONCE // (lm.vocabulary * longest))
    batches = [
        to_score[batch]
        for batch in exact_length_batches(lengths[to_score], tokens=tokens_per_batch, rows=rows)
    ]

    def run(batch: np.ndarray) -> dict[str, np.ndarray]:
        ids = np.stack([distinct[i][0] for i in batch])
        # position t - 1 of a row predicts its token t
        row, place = np.nonzero(
            np.arange(ids.shape[1] - 1) >= np.array([distinct[i][1] - 1 for i in batch])[:, None]
        )
        with torch.inference_mode():
            shown, rows, places, tokens = (
                torch.from_numpy(array).to(lm.model.device)
                for array in (ids[:, :-1], row, place, ids[row, place + 1])
            )
            each = torch.arange(len(row), device=shown.device)
            read = read_places(lm.model, shown, rows, places, each, tokens)
            found = {
                "log_p": torch.where(read.log_p.isfinite(), read.log_p, torch.nan).double(),
                "best": read.best,
                "first": read.first,
                "entropy": read.entropy.double(),
            }
            return {name: tensor.cpu().numpy() for name, tensor in found.items()}

    nothing = {"log_p": float, "best": np.int64, "first": bool, "entropy": float}
    scores = [
        SequenceScores(**{name: np.empty(0, dtype=dtype) for name, dtype in nothing.items()})
        for _ in distinct
    ]
    for batch, found in run_batches(
        batches,
        run,
        key=_digest(lm, distinct) if scratch is not None else "",
        scratch=scratch,
        device=str(lm.model.device),
        threads=threads,
        progress=(lambda batch: progress(int(lengths[batch].sum()))) if progress else None,
    ):
        ends = np.cumsum(scored[batch])
        parts = {name: np.split(array, ends[:-1]) for name, array in found.items()}
        for position, number in enumerate(batch):
            scores[number] = SequenceScores(**{name: parts[name][position] for name in nothing})
    return [scores[number] for number in which]


def _digest(lm: CausalLM, distinct: Sequence[tuple[np.ndarray, int]]) -> str:
    """Return a digest of the inputs and the model, which determine the scores."""
    digest = hashlib.blake2b(f"causal {fingerprint(lm)}".encode(), digest_size=16)
    for ids, start in distinct:
        digest.update(f"{len(ids)} {start} ".encode() + ids.tobytes())
    return digest.hexdigest()
