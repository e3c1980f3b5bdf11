"""Token probabilities of causal language models: each token given all tokens before it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.scoring.models import CausalLM
from evenhand.scoring.questions import Answers, Questions, answer


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
        before_start = sum(end <= len(context) for _, end in offsets) if context else 0
        starts.append(max(1, len(prefix) + before_start))
    return inputs, starts


def read_sequences(
    lm: CausalLM, inputs: Sequence[np.ndarray], starts: Sequence[int], **options: Any
) -> list[Answers]:
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
    **options
        tokens_per_batch, threads, progress, scratch: see `evenhand.scoring.questions.answer`.

    Returns
    -------
    list of Answers
        For each input, the answers about its scored tokens, in order.

    Raises
    ------
    InputError
        A single input does not fit into memory.
    """
    questions = Questions()
    numbers = [
        [questions.ask(ids, place, int(ids[place])) for place in range(start, len(ids))]
        for ids, start in zip(inputs, starts, strict=True)
    ]
    answers = answer(lm, questions, **options)
    return [
        Answers(answers.log_p[row], answers.best[row], answers.first[row], answers.entropy[row])
        for row in (np.array(part, dtype=int) for part in numbers)
    ]
