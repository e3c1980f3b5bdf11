"""Shared parts of the training of small language models: sentences, order, schedule, record.

The sentences are sorted by a digest of their text, which removes duplicates, makes the order of
the inputs irrelevant, and selects the held-out sentences. Training uses one CPU thread, since more
would change the order of sums and so the bytes of the result.

The checkpoint of an interrupted training includes the order of the sentences.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.scratch import scratch_folder
from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.io.tables import count_rows, read_rows
from evenhand.learning import loop

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

#: Shares of the tokens to predict that are replaced by the mask and by a random token. The rest
#: is unchanged (Devlin et al. 2019, section 3.1).
SHOWN_MASKED, SHOWN_RANDOM = 0.8, 0.1

#: Points of the loss curve in training.json.
CURVE_POINTS = 50


@dataclass(frozen=True)
class Corpus:
    """The sentences of a training, in the order of their digests.

    Parameters
    ----------
    trained, held_out : list of str
        Sentences to train on, and sentences to evaluate on.
    read : int
        Number of sentences read, including duplicates.
    sha256 : str
        Digest of all sentences used.
    """

    trained: list[str]
    held_out: list[str]
    read: int
    sha256: str


def read_corpus(
    tables: Sequence[Path] | None,
    files: Sequence[Path] | None,
    *,
    held_out: float,
    max_sentences: int,
) -> Corpus:
    """Read sentences and hold some of them out for evaluation.

    Parameters
    ----------
    tables : sequence of path, optional
        Parquet tables with a column sentence.
    files : sequence of path, optional
        UTF-8 text files, a sentence per line.
    held_out : float
        Share of the sentences to hold out (at least one sentence).
    max_sentences : int
        Maximum number of sentences; larger corpora are sampled by digest.

    Raises
    ------
    InputError
        There is no input, an input is not readable, or there are too few sentences.
    """
    sentences, read = _sample(_read_sentences(tables or [], files or []), max_sentences)
    kept_back = max(1, round(held_out * len(sentences)))
    if len(sentences) <= kept_back:
        raise InputError(
            f"there are {len(sentences)} distinct sentences, too few to train on and to measure",
            file=(tables or files or [None])[0],
        )
    return Corpus(
        trained=sentences[kept_back:],
        held_out=sentences[:kept_back],
        read=read,
        sha256=hashlib.sha256("\n".join(sentences).encode()).hexdigest(),
    )


def _read_sentences(tables: Sequence[Path], files: Sequence[Path]) -> Iterator[str]:
    """Yield the sentences of Parquet tables and text files."""
    if not tables and not files:
        raise InputError("there is nothing to train on", remedy="give tables or files")
    for path in tables:
        count_rows(path, ["sentence"])
        yield from (row["sentence"] for row in read_rows(path, ["sentence"]) if row["sentence"])
    for path in files:
        yield from filter(None, map(str.strip, read_text(path).split("\n")))


def _sample(sentences: Iterable[str], most: int) -> tuple[list[str], int]:
    """Return at most `most` distinct sentences, sorted by digest, and the number read."""
    chosen: dict[bytes, str] = {}
    read = 0
    for sentence in sentences:
        read += 1
        chosen[hashlib.blake2b(sentence.encode(), digest_size=16).digest()] = sentence
        if len(chosen) > 2 * most:
            chosen = dict(sorted(chosen.items())[:most])
    return [sentence for _, sentence in sorted(chosen.items())[:most]], read


class Batches(loop.Stateful):
    """An endless iterator of batches of sentence numbers of similar length, shuffled each epoch.

    Parameters
    ----------
    coded : sequence of sequences of int
        The sentences.
    batch : int
        Sentences in a batch; the last of an epoch may have fewer.
    generator : numpy.random.Generator
        Generator for shuffling. The caller may draw from it between two batches.
    """

    STATE = ("_epoch", "_used", "_generator")

    def __init__(
        self, coded: Sequence[Sequence[int]], batch: int, generator: np.random.Generator
    ) -> None:
        self._lengths = np.array([len(ids) for ids in coded])
        self._batch, self._generator = batch, generator
        self._epoch: list[list[int]] = []
        self._used = 0

    def __iter__(self) -> Iterator[list[int]]:
        return self

    def __next__(self) -> list[int]:
        if self._used == len(self._epoch):
            self._epoch, self._used = self._shuffled(), 0
        self._used += 1
        return self._epoch[self._used - 1]

    def _shuffled(self) -> list[list[int]]:
        order = self._generator.permutation(len(self._lengths))
        batches = []
        for start in range(0, len(order), 16 * self._batch):
            # sorted within a stretch: little padding
            stretch = order[start : start + 16 * self._batch]
            stretch = stretch[np.argsort(self._lengths[stretch], kind="stable")]
            batches += [stretch[i : i + self._batch] for i in range(0, len(stretch), self._batch)]
        return [batches[number].tolist() for number in self._generator.permutation(len(batches))]


def fit(
    model: "PreTrainedModel",
    loss_of: "Callable[[int], torch.Tensor]",
    *,
    steps: int,
    learning_rate: float,
    batches: Batches | None = None,
) -> list[float]:
    """Train in place with AdamW, and leave the model in evaluation mode.

    The learning rate rises over the first tenth of the steps and falls linearly to zero after
    that; gradients are clipped to norm 1.

    Parameters
    ----------
    model
        The model.
    loss_of : callable
        Returns the loss of a step, counted from 0 (a scalar tensor). It must draw from the
        generator of `batches` or from torch's only, since checkpoints save these two.
    steps : int
        Number of training steps.
    learning_rate : float
        The maximum learning rate.
    batches : Batches, optional
        The batches that `loss_of` draws.

    Returns
    -------
    list of float
        The loss of each step.

    Raises
    ------
    InputError
        A loss or gradient is not finite; the checkpoint belongs to another training, or cannot be
        written.
    """
    configuration = {
        "steps": steps,
        "learning_rate": learning_rate,
        "model": [[name, list(value.shape)] for name, value in model.state_dict().items()],
    }
    training = _Training(model, loss_of, steps, learning_rate, batches)
    device = next(model.parameters()).device
    loop.run(training, scratch_folder(), configuration, title="train", device=device)
    model.eval()
    return training.losses


class _Training(loop.Training):
    """See `fit`."""

    STATE = ("model", "descent", "batches", "losses")

    def __init__(
        self,
        model: "PreTrainedModel",
        loss_of: "Callable[[int], torch.Tensor]",
        steps: int,
        learning_rate: float,
        batches: Batches | None,
    ) -> None:
        self.model, self.loss_of, self.batches, self.steps = model, loss_of, batches, steps
        self.losses: list[float] = []
        self.descent = loop.Descent(
            [{"params": list(model.parameters()), "weight_decay": 0.01}],
            lr=learning_rate,
            steps=steps,
            warmup=max(1, steps // 10),
            clip=1.0,
        )

    @property
    def step(self) -> int:
        return len(self.losses)

    def advance(self) -> Iterator[dict[str, str]]:
        self.model.train()
        for step in range(self.step, self.steps):
            loss = self.loss_of(step)
            loss.backward()
            value, norm = self.descent.update(loss)
            if not (math.isfinite(value) and math.isfinite(norm)):
                problem = f"the loss or gradient of step {step + 1} is not finite"
                raise InputError(problem, remedy="use a lower learning rate")
            self.losses.append(value)
            yield {"loss": f"{value:.3f}"}


def mask_tokens(
    sentences: Sequence[Sequence[int]],
    ordinary: np.ndarray,
    probability: float,
    generator: np.random.Generator,
    *,
    pad_id: int,
    mask_id: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pad a batch and choose the tokens to predict.

    Parameters
    ----------
    sentences : sequence of sequences of int
        Token ids, including special tokens.
    ordinary : array of int
        The ids that can be predicted or can replace others, ascending: no special tokens, and
        not the unknown token, whose prediction would be uninformative.
    probability : float
        The share of them to predict.
    generator : numpy.random.Generator
        Generator for all choices.
    pad_id, mask_id : int
        The ids of padding and of the mask.

    Returns
    -------
    ids, attention : arrays of int64, shape (batch, longest)
        The model's input, and its attention mask (1 for a token).
    rows, columns, targets : arrays of int64, shape (k,)
        The positions to predict (at least one, unless none is ordinary) and the true tokens.
    """
    ids = pad(sentences, pad_id)
    lengths = np.array([len(sentence) for sentence in sentences])
    attention = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
    known = np.zeros(max(int(ids.max()), int(ordinary[-1])) + 1, dtype=bool)
    known[ordinary] = True
    eligible = known[ids] & (attention == 1)
    draw = np.where(eligible, generator.random(ids.shape), np.inf)
    chosen = (draw < probability) | (draw == draw.min())
    rows, columns = np.nonzero(chosen & eligible)
    targets = ids[rows, columns]
    fate = generator.random(len(rows))
    drawn = ordinary[generator.integers(len(ordinary), size=len(rows))]
    fates = [fate < SHOWN_MASKED, fate < SHOWN_MASKED + SHOWN_RANDOM]
    replaced = np.select(fates, [mask_id, drawn], targets)
    ids[rows, columns] = replaced
    return ids, attention, rows, columns, targets


def pad(sentences: Sequence[Sequence[int]], filler: int) -> np.ndarray:
    """Return sentences as an int64 array, shape (batch, longest), padded at the end."""
    ids = np.full((len(sentences), max(map(len, sentences))), filler, dtype=np.int64)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = sentence
    return ids


def loss_curve(losses: Sequence[float]) -> list[dict[str, Any]]:
    """Return the mean loss and the last step of each of at most `CURVE_POINTS` stretches."""
    return [
        {"step": int(stretch[-1]) + 1, "loss": round(float(np.mean(np.array(losses)[stretch])), 5)}
        for stretch in np.array_split(np.arange(len(losses)), min(CURVE_POINTS, len(losses)))
    ]
