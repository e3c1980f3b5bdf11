"""Compute probabilities of tokens at positions of inputs, in few passes.

Questions are collected first (`Questions`), each about one token at one position of one input;
equal inputs are stored once. `answer` then runs every input once, in batches of exactly equal
length, and applies the model's head at the requested positions only. A masked model predicts the
token at a position from the whole input, a causal model from the tokens before it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.scoring.attention import collecting, enable_attention
from evenhand.scoring.describe import fingerprint
from evenhand.scoring.execution import exact_length_batches, run_batches
from evenhand.scoring.head import enable_reading, read_places
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM
from evenhand.scoring.selection import text_config

if TYPE_CHECKING:
    import torch

#: Logits in memory at once per batch if a head cannot be run in pieces (float32: 32 MB).
WHOLE_LOGITS_AT_ONCE = 8_000_000


@dataclass
class Questions:
    """Questions to a language model, and their distinct inputs."""

    inputs: list[np.ndarray] = field(default_factory=list)
    places: list[tuple[int, int, int]] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)

    def ask(self, ids: Sequence[int], place: int, token: int) -> int:
        """Add a question for log p(`token` at `place` of `ids`); return its number."""
        array = np.asarray(ids, dtype=np.int32)
        number = self._known.setdefault(array.tobytes(), len(self.inputs))
        if number == len(self.inputs):
            self.inputs.append(array)
        self.places.append((number, place, token))
        return len(self.places) - 1


@dataclass(frozen=True)
class Answers:
    """The model's predictions, by number of the question.

    Parameters
    ----------
    log_p : array of float64, shape (questions,)
        Natural logarithm of the probability of the requested token. NaN if the model's number is
        not finite.
    best : array of int64, shape (questions,)
        The most probable token at the position (the first in case of ties).
    first : array of bool, shape (questions,), or None
        Whether no other token is likelier than the requested one.
    entropy : array of float64, shape (questions,), or None
        Entropy of the prediction at the position, in nats.
    alpha : array of float64, shape (questions,), or None
        Attention that the position receives, averaged over all layers, heads and query positions
        (see `evenhand.scoring.attention`).
    """

    log_p: np.ndarray
    best: np.ndarray
    first: np.ndarray | None = None
    entropy: np.ndarray | None = None
    alpha: np.ndarray | None = None


def answer(
    lm: LanguageModel,
    questions: Questions,
    *,
    tokens_per_batch: int,
    attention: bool = False,
    entropy: bool = True,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    scratch: Path | None = None,
) -> Answers:
    """Run the model on all inputs, and return the answers to the questions.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model. A causal model cannot be asked about the first token of an input.
    questions : Questions
        The questions; no input may be longer than `lm.max_tokens`.
    tokens_per_batch : int
        Maximum number of tokens per batch. It affects answers by rounding only (under 1e-5 in
        fp32).
    attention : bool
        Whether to collect the attention that the positions receive. It does not change any bit of
        the other answers.
    entropy : bool
        Whether to compute the entropy, which takes a third longer in a very small model.
    threads : int
        CPU threads; each runs whole batches, so that their number does not change any bit of the
        answers.
    progress : callable, optional
        Called after each batch with its number of tokens.
    scratch : Path, optional
        Folder for partial results, from which the next attempt continues (see
        `evenhand.scoring.execution.run_batches`). Several calls may share a folder.

    Returns
    -------
    Answers

    Raises
    ------
    InputError
        The model's attention is requested, and cannot be collected; or a single input does not
        fit into memory.
    """
    import torch

    if attention and not enable_attention(lm.model):
        problem = f"the attention of {type(lm.model).__name__} cannot be read"
        remedy = "leave out the methods that weigh tokens by attention (aula, aula_norm)"
        raise InputError(problem, remedy=remedy)
    in_pieces = enable_reading(lm.model)
    typed = isinstance(lm, MaskedLM) and _tells_texts_apart(lm)
    # a causal model predicts a token at the position before it, and does not read the last one
    shift = int(isinstance(lm, CausalLM))
    queries = np.asarray(questions.places, dtype=np.int64).reshape(-1, 3) - [0, shift, 0]
    if (queries[:, 1] < 0).any():
        raise ValueError("nothing stands before a first token, so it cannot be scored")
    order = np.lexsort((queries[:, 1], queries[:, 0]))
    first_of_input = np.searchsorted(queries[order, 0], np.arange(len(questions.inputs) + 1))
    lengths = np.array([len(ids) - shift for ids in questions.inputs], dtype=np.int64)
    rows_per_batch = None
    if not in_pieces:
        most = int(np.minimum(np.diff(first_of_input), lengths).max(initial=1))
        rows_per_batch = max(1, WHOLE_LOGITS_AT_ONCE // (lm.vocabulary * most))
    batches = exact_length_batches(lengths, tokens=tokens_per_batch, rows=rows_per_batch)

    def numbers_of(batch: np.ndarray) -> np.ndarray:
        return np.concatenate([order[first_of_input[i] : first_of_input[i + 1]] for i in batch])

    def run(batch: np.ndarray) -> dict[str, np.ndarray]:
        _, positions, tokens = queries[numbers_of(batch)].T
        length = int(lengths[batch[0]])
        counts = first_of_input[batch + 1] - first_of_input[batch]
        flat = np.repeat(np.arange(len(batch)), counts) * length + positions
        # Two tokens at the same position share its prediction.
        places, place = np.unique(flat, return_inverse=True)
        ids = np.stack([questions.inputs[i][:length] for i in batch]).astype(np.int64)
        with torch.inference_mode(), collecting(attention) as received:
            ids, place, places, token = (
                torch.from_numpy(array).to(lm.model.device)
                for array in (ids, place.reshape(-1), places, tokens)
            )
            rows, columns = places // length, places % length
            types = {"token_type_ids": _second_text(lm, ids)} if typed else {}
            read = read_places(lm.model, ids, rows, columns, place, token, entropy=entropy, **types)
            arrays = {
                "log_p": torch.where(read.log_p.isfinite(), read.log_p, torch.nan),
                "best": read.best[place],
                "first": read.first,
            }
            if read.entropy is not None:
                arrays["entropy"] = read.entropy[place]
            if received is not None:
                arrays["alpha"] = received.mean()[rows, columns][place]
            return {name: tensor.cpu().numpy() for name, tensor in arrays.items()}

    whole = {
        "log_p": np.full(len(queries), np.nan),
        "best": np.full(len(queries), -1),
        "first": np.zeros(len(queries), dtype=bool),
    }
    whole |= {
        name: np.full(len(queries), np.nan)
        for name, included in (("entropy", entropy), ("alpha", attention))
        if included
    }
    for batch, arrays in run_batches(
        batches,
        run,
        key=_digest(lm, questions, queries, attention, entropy) if scratch is not None else "",
        scratch=scratch,
        device=str(lm.model.device),
        threads=threads,
        progress=(lambda batch: progress(int(lengths[batch].sum()))) if progress else None,
    ):
        numbers = numbers_of(batch)
        for name, array in arrays.items():
            whole[name][numbers] = array
    return Answers(**whole)


def _tells_texts_apart(lm: MaskedLM) -> bool:
    """Return whether the model distinguishes the second of two texts by token types."""
    import torch

    if (
        lm.tokenizer.sep_token_id is None
        or getattr(text_config(lm.model), "type_vocab_size", 0) < 2
    ):
        return False
    (two,) = lm.tokenizer(["a"], ["b"]).encodings
    return _second_text(lm, torch.tensor([two.ids])).tolist() == [two.type_ids] != [[0] * len(two)]


def _second_text(lm: MaskedLM, ids: "torch.Tensor") -> "torch.Tensor":
    """Return token types, shape (batch, length): 1 after the first separator, else 0."""
    separators = (ids == lm.tokenizer.sep_token_id).long()
    return (separators.cumsum(dim=1) > separators).long()


def _digest(lm: LanguageModel, questions: Questions, queries: np.ndarray, *options: bool) -> str:
    """Return a digest of the determinants of the answers, except the batches."""
    digest = hashlib.blake2b(f"{fingerprint(lm)} {options}".encode(), digest_size=16)
    digest.update(queries.tobytes())
    for ids in questions.inputs:
        digest.update(len(ids).to_bytes(8, "little") + ids.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class WordQuestions:
    """The questions for the probability of a word of one or more tokens.

    Parameters
    ----------
    forward, backward : list of int
        Numbers of the questions of the chain rule, left to right and right to left.
    apart : list of int
        Numbers of the questions about each token with the whole word masked.
    """

    forward: list[int]
    backward: list[int]
    apart: list[int]

    def chain(self, answers: Answers) -> float:
        """Return log p of the word by the chain rule: the mean of both orders (natural logarithm).

        A masked model has no order, and the products in the two orders differ; the mean of their
        logarithms favours neither.
        """
        log_p = answers.log_p
        return float(log_p[self.forward].sum() + log_p[self.backward].sum()) / 2

    def independent(self, answers: Answers) -> float:
        """Return the sum of the tokens' log p, each with the whole word masked."""
        return float(answers.log_p[self.apart].sum())


def ask_word(
    questions: Questions, ids: Sequence[int], places: Sequence[int], mask_id: int
) -> WordQuestions:
    """Add questions for the probability of the tokens at some positions, given all others.

    A word of k tokens needs 2k - 1 inputs (the two orders share the input with the whole word
    masked).
    """

    def ask(number: int, visible: range) -> int:
        masked = list(ids)
        for i, place in enumerate(places):
            masked[place] = ids[place] if i in visible else mask_id
        return questions.ask(masked, places[number], ids[places[number]])

    size = len(places)
    return WordQuestions(
        forward=[ask(i, range(i)) for i in range(size)],
        backward=[ask(i, range(i + 1, size)) for i in reversed(range(size))],
        apart=[ask(i, range(0)) for i in range(size)],
    )


def encode_sequences(
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
