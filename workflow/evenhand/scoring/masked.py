"""Probabilities of tokens at masked places: many questions, few passes.

Questions are collected first (`Questions`), each about one token at one place of one input;
equal inputs are kept once. `answer` then runs every input once, in batches of exactly equal
length, and applies the model's head at the asked places only.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from evenhand.scoring.batches import exact_length_batches
from evenhand.scoring.models import MaskedLM, logits_at

#: Logits held at once per batch (float32: 32 MB), whatever the vocabulary.
LOGITS_AT_ONCE = 8_000_000


@dataclass
class Questions:
    """Questions to a masked language model, and the distinct inputs that they are about."""

    inputs: list[np.ndarray] = field(default_factory=list)
    places: list[tuple[int, int, int]] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)

    def ask(self, ids: Sequence[int], place: int, token: int) -> int:
        """Ask for log p(`token` at `place` of `ids`); return the number of the question."""
        array = np.asarray(ids, dtype=np.int32)
        number = self._known.setdefault(array.tobytes(), len(self.inputs))
        if number == len(self.inputs):
            self.inputs.append(array)
        self.places.append((number, place, token))
        return len(self.places) - 1


@dataclass(frozen=True)
class Answers:
    """What the model said, by number of the question.

    Parameters
    ----------
    log_p : array of float64, shape (questions,)
        Natural logarithm of the probability of the token that was asked about. NaN where
        the model gave no finite number.
    best : array of int64, shape (questions,)
        The token that the model holds most probable at the place (the first one, of equals).
    """

    log_p: np.ndarray
    best: np.ndarray


def answer(
    lm: MaskedLM,
    questions: Questions,
    *,
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Answers:
    """Answer questions.

    Parameters
    ----------
    lm : MaskedLM
        The model.
    questions : Questions
        No input is longer than `lm.max_tokens`.
    tokens_per_batch : int
        The most tokens per batch. Other batches change an answer by rounding only (under
        1e-5 in fp32).
    threads : int
        CPU threads; each runs whole batches by itself, so their number changes no bit of
        the answers.
    progress : callable, optional
        Called after each batch with the number of tokens done in it.

    Returns
    -------
    Answers
    """
    import torch

    asked = np.asarray(questions.places, dtype=np.int64).reshape(-1, 3)
    order = np.lexsort((asked[:, 1], asked[:, 0]))
    first_of_input = np.searchsorted(asked[order, 0], np.arange(len(questions.inputs) + 1))
    most_places = int(np.diff(first_of_input).max(initial=1))
    batches = exact_length_batches(
        np.array([len(ids) for ids in questions.inputs]),
        tokens=tokens_per_batch,
        rows=max(1, LOGITS_AT_ONCE // (lm.vocabulary * most_places)),
    )
    log_p = np.full(len(asked), np.nan)
    best = np.full(len(asked), -1)

    def run(batch: np.ndarray) -> int:
        numbers = np.concatenate([order[first_of_input[i] : first_of_input[i + 1]] for i in batch])
        about = asked[numbers]
        row_of = {int(number): row for row, number in enumerate(batch)}
        rows = np.array([row_of[int(number)] for number in about[:, 0]])
        # Two tokens asked about at one place need its logits once.
        places, question_place = np.unique(
            np.stack([rows, about[:, 1]], axis=1), axis=0, return_inverse=True
        )
        ids = np.stack([questions.inputs[i] for i in batch]).astype(np.int64)
        with torch.inference_mode():
            logits = logits_at(
                lm.model,
                torch.from_numpy(ids).to(lm.model.device),
                *torch.from_numpy(places).T.to(lm.model.device),
            )
            index = torch.from_numpy(question_place.reshape(-1)).to(logits.device)
            token = torch.from_numpy(about[:, 2]).to(logits.device)
            found = logits[index, token] - logits.logsumexp(dim=1)[index]
            log_p[numbers] = torch.where(found.isfinite(), found, torch.nan).cpu().numpy()
            best[numbers] = logits.argmax(dim=1)[index].cpu().numpy()
        return ids.size

    before = torch.get_num_threads()
    workers = threads if lm.model.device.type == "cpu" else 1
    try:
        torch.set_num_threads(1)  # inside a batch: the order of sums must not depend on threads
        with ThreadPoolExecutor(workers, initializer=lambda: torch.set_num_threads(1)) as pool:
            for tokens in pool.map(run, batches):
                if progress:
                    progress(tokens)
    finally:
        torch.set_num_threads(before)
    return Answers(log_p=log_p, best=best)


@dataclass(frozen=True)
class WordQuestions:
    """The questions that together give the probability of a word of one or more tokens.

    Parameters
    ----------
    forward, backward : list of int
        Numbers of the questions of the chain rule, left to right and right to left.
    apart : list of int
        Numbers of the questions about each token with all of the word masked.
    """

    forward: list[int]
    backward: list[int]
    apart: list[int]

    def chain(self, answers: Answers) -> float:
        """Log p of the word by the chain rule: the mean of both orders (natural logarithm).

        A masked model has no order of its own, and the two orders do not give the same
        product; their mean (of logarithms) favours neither.
        """
        log_p = answers.log_p
        return float(log_p[self.forward].sum() + log_p[self.backward].sum()) / 2

    def independent(self, answers: Answers) -> float:
        """The sum of the tokens' log p, each read by itself with all of the word masked."""
        return float(answers.log_p[self.apart].sum())


def ask_word(
    questions: Questions, ids: Sequence[int], start: int, end: int, mask_id: int
) -> WordQuestions:
    """Ask for the probability of the tokens ``ids[start:end]``, given all others.

    A word of one token takes one input; one of k tokens takes 2k - 1 (the two orders share
    the input with all of the word masked).
    """
    word = list(ids[start:end])

    def ask(place: int, shown: range) -> int:
        masked = list(ids)
        masked[start:end] = [t if i in shown else mask_id for i, t in enumerate(word)]
        return questions.ask(masked, start + place, word[place])

    size = len(word)
    return WordQuestions(
        forward=[ask(i, range(i)) for i in range(size)],
        backward=[ask(i, range(i + 1, size)) for i in reversed(range(size))],
        apart=[ask(i, range(0)) for i in range(size)],
    )
