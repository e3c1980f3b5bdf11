"""Pack documents into batches of paragraphs of similar length, without empty paragraphs.

The published input of a document is an array of 32 x 128 tokens, most of which is padding. Here
the paragraphs of a whole batch are sorted by length and put into buckets whose width is a
multiple of 16 tokens, together with the document and position of each paragraph.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from evenhand.errors import InputError

#: Bucket widths are multiples of this many tokens, up to the limit.
BUCKET = 16

#: The maximum number of tokens, including padding, that the encoder processes at once, by kind of
#: device.
TOKENS_PER_BATCH = {"cpu": 4096, "cuda": 65_536}


@dataclass(frozen=True)
class Limits:
    """The maximum lengths that are read of a document.

    Attributes
    ----------
    segments : int
        Paragraphs per document; further ones are not read.
    tokens : int
        Tokens per paragraph, including special tokens; longer ones are cut.
    """

    segments: int
    tokens: int


@dataclass(frozen=True)
class Bucket:
    """Paragraphs that go through the encoder together.

    Attributes
    ----------
    ids : int64 tensor, shape (m, width)
        Token ids, padded at the ends.
    lengths : int64 tensor, shape (m,)
        Number of tokens of each.
    full : bool
        Whether all are as long as the bucket is wide, so that no mask is needed.
    """

    ids: torch.Tensor
    lengths: torch.Tensor
    full: bool

    def mask(self) -> torch.Tensor | None:
        """Return the mask, 1 for tokens: int64 tensor, shape (m, width); None if all are 1."""
        if self.full:
            return None
        places = torch.arange(self.ids.shape[1], device=self.ids.device)
        return (places < self.lengths[:, None]).long()


@dataclass(frozen=True)
class Packed:
    """A batch of n documents with p paragraphs in all.

    Paragraphs are ordered by bucket, as are the vectors from the encoder.

    Attributes
    ----------
    buckets : tuple of Bucket
    documents, slots : int64 tensors, shape (p,)
        The document of each paragraph, and its position there, from 0.
    counts : int64 tensor, shape (n,)
        Number of paragraphs of each document.
    most : int
        The largest of these numbers.
    limits : Limits
    """

    buckets: tuple[Bucket, ...]
    documents: torch.Tensor
    slots: torch.Tensor
    counts: torch.Tensor
    most: int
    limits: Limits

    def to(self, device: str | torch.device) -> "Packed":
        """Return a copy on a device."""

        def move(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.to(device, non_blocking=True)

        buckets = (
            replace(bucket, ids=move(bucket.ids), lengths=move(bucket.lengths))
            for bucket in self.buckets
        )
        return replace(
            self,
            buckets=tuple(buckets),
            documents=move(self.documents),
            slots=move(self.slots),
            counts=move(self.counts),
        )


def cut(
    paragraphs: Sequence[np.ndarray], limits: Limits, after: Sequence[int] = ()
) -> list[np.ndarray]:
    """Return the first paragraphs of a document, and their first tokens.

    Parameters
    ----------
    paragraphs : sequence of int arrays
        The token ids of each paragraph, including special tokens.
    limits : Limits
        The maximum lengths to read.
    after : sequence of int
        The special ids at the end of a paragraph, which cut ones get too.
    """
    if len(after) >= limits.tokens:
        raise ValueError(f"paragraphs of {limits.tokens} tokens cannot end with {after}")
    end = limits.tokens - len(after)
    return [
        part
        if len(part) <= limits.tokens
        else np.concatenate([part[:end], np.array(after, part.dtype)])
        for part in paragraphs[: limits.segments]
    ]


def pack(
    documents: Sequence[Sequence[np.ndarray]],
    limits: Limits,
    *,
    pad_id: int,
    tokens_per_batch: int | None = None,
    device: str = "cpu",
) -> Packed:
    """Pack documents given as lists of paragraphs.

    Parameters
    ----------
    documents : sequence of sequences of int arrays
        The token ids of each paragraph of each document, as from `cut`.
    limits : Limits
        The maximum lengths.
    pad_id : int
        The id for padding, which is masked.
    tokens_per_batch : int, optional
        The maximum number of tokens in a bucket, including padding; at least one paragraph. By
        default, `TOKENS_PER_BATCH`.
    device : str
        The device that the batch is for. On a CPU, the paragraphs of a bucket have one width. A GPU
        loses more time by many buckets than by padding, so that a bucket is filled whatever the
        widths.

    Raises
    ------
    InputError
        A paragraph has no tokens.
    """
    kind = torch.device(device).type
    tokens_per_batch = tokens_per_batch or TOKENS_PER_BATCH[kind]
    counts = np.array([len(document) for document in documents], dtype=np.int64)
    paragraphs = list(itertools.chain.from_iterable(documents))
    sizes = np.array([len(paragraph) for paragraph in paragraphs], dtype=np.int64)
    if (sizes < 1).any():
        problem = "a paragraph has no tokens, so that it has no vector"
        raise InputError(problem, remedy="use a tokenizer that puts special tokens around a text")
    widths = np.minimum(-(-sizes // BUCKET) * BUCKET, limits.tokens)
    flat = np.concatenate([np.zeros(0, np.int64), *paragraphs])
    starts = np.cumsum(sizes) - sizes
    documents, slots = places(counts)
    order = np.argsort(-widths, kind="stable")  # the widest first, to run out of memory early
    buckets = []
    for rows in _groups(order, widths, tokens_per_batch, mixed=kind != "cpu"):
        columns = np.arange(widths[rows[0]])
        inside = columns < sizes[rows, None]
        at = np.minimum(starts[rows, None] + columns, len(flat) - 1)
        ids = np.where(inside, flat[at], pad_id).astype(np.int64)
        lengths, full = torch.from_numpy(sizes[rows]), bool(inside.all())
        buckets.append(Bucket(ids=torch.from_numpy(ids), lengths=lengths, full=full))
    return Packed(
        buckets=tuple(buckets),
        documents=torch.from_numpy(documents[order]),
        slots=torch.from_numpy(slots[order]),
        counts=torch.from_numpy(counts),
        most=int(counts.max(initial=0)),
        limits=limits,
    )


def places(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the document and the position of each paragraph, from the counts per document."""
    documents = np.repeat(np.arange(len(counts)), counts)
    return documents, np.arange(len(documents)) - np.repeat(np.cumsum(counts) - counts, counts)


def _groups(
    order: np.ndarray, widths: np.ndarray, tokens: int, mixed: bool
) -> Iterator[np.ndarray]:
    """Yield rows in groups within the budget of tokens, of equal width unless `mixed`."""
    borders = [] if mixed else np.flatnonzero(np.diff(widths[order])) + 1
    for group in np.split(order, borders):
        while len(group):
            rows = max(1, tokens // int(widths[group[0]]))
            yield group[:rows]
            group = group[rows:]
