"""Documents as batches of real tokens: paragraphs of like length side by side, no empty ones.

The published input of a document is a square of 32 x 128 tokens, most of which is padding. Here
the paragraphs of a whole batch are sorted by length and go into buckets whose width is a
multiple of 16 tokens; which document and place each came from is kept beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from evenhand.errors import InputError

#: Widths of buckets are multiples of this many tokens; and tokens, padding included, that
#: go through the encoder at once.
BUCKET, TOKENS_PER_BATCH = 16, 4096


@dataclass(frozen=True)
class Limits:
    """How much of a document is read.

    Attributes
    ----------
    segments : int
        Paragraphs of a document; those that follow are not read.
    tokens : int
        Tokens of a paragraph, special ones included; a longer one is cut.
    """

    segments: int
    tokens: int

    def __post_init__(self) -> None:
        if self.segments < 1 or self.tokens < 1:
            raise InputError(
                f"limits of {self.segments} paragraphs and {self.tokens} tokens",
                remedy="read at least one paragraph of one token",
            )


@dataclass(frozen=True)
class Bucket:
    """Paragraphs that go through the encoder together.

    Attributes
    ----------
    ids : int64 tensor, shape (m, width)
        Token ids, padded at the ends.
    lengths : int64 tensor, shape (m,)
        Tokens of each.
    full : bool
        Whether all are as long as the bucket is wide: nothing is to be masked.
    """

    ids: torch.Tensor
    lengths: torch.Tensor
    full: bool

    def mask(self) -> torch.Tensor | None:
        """1 where there is a token: int64 tensor, shape (m, width); None if there is everywhere."""
        if self.full:
            return None
        places = torch.arange(self.ids.shape[1], device=self.ids.device)
        return (places < self.lengths[:, None]).long()


@dataclass(frozen=True)
class Packed:
    """A batch of n documents with p paragraphs in all.

    Paragraphs are counted bucket by bucket, in the order in which the encoder gives their
    vectors.

    Attributes
    ----------
    buckets : tuple of Bucket
    documents, slots : int64 tensors, shape (p,)
        The document of each paragraph, and its place in it, from 0.
    counts : int64 tensor, shape (n,)
        Paragraphs of each document.
    most : int
        Paragraphs of the longest.
    limits : Limits
    """

    buckets: tuple[Bucket, ...]
    documents: torch.Tensor
    slots: torch.Tensor
    counts: torch.Tensor
    most: int
    limits: Limits

    def to(self, device: str | torch.device) -> "Packed":
        """The same on a device."""
        return self._mapped(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> "Packed":
        """The same in memory that a GPU can fetch from while it works."""
        return self._mapped(torch.Tensor.pin_memory)

    def _mapped(self, change) -> "Packed":
        return replace(
            self,
            buckets=tuple(
                replace(one, ids=change(one.ids), lengths=change(one.lengths))
                for one in self.buckets
            ),
            documents=change(self.documents),
            slots=change(self.slots),
            counts=change(self.counts),
        )


def pack(
    documents: Sequence[Sequence[np.ndarray]],
    limits: Limits,
    *,
    pad_id: int,
    after: Sequence[int] = (),
    bucket: int = BUCKET,
    tokens_per_batch: int = TOKENS_PER_BATCH,
) -> Packed:
    """Pack documents that are given paragraph by paragraph.

    Parameters
    ----------
    documents : sequence of sequences of int arrays
        The token ids of each paragraph of each document, special ones included.
    limits : Limits
        What is read of them.
    pad_id : int
        What a bucket is padded with; it is masked.
    after : sequence of int
        The special ids at the end of a paragraph, which a cut one gets too.
    bucket : int
        Widths are multiples of this, up to the limit.
    tokens_per_batch : int
        The most tokens in a bucket, padding included; at least one paragraph goes in.

    Raises
    ------
    InputError
        A paragraph has no tokens.
    """
    return pack_flat(
        [
            np.concatenate(one[: limits.segments]) if len(one) else np.zeros(0, np.int64)
            for one in documents
        ],
        [
            np.fromiter(map(len, one[: limits.segments]), np.int64, min(len(one), limits.segments))
            for one in documents
        ],
        limits,
        pad_id=pad_id,
        after=after,
        bucket=bucket,
        tokens_per_batch=tokens_per_batch,
    )


def pack_flat(
    ids: Sequence[np.ndarray],
    lengths: Sequence[np.ndarray],
    limits: Limits,
    *,
    pad_id: int,
    after: Sequence[int] = (),
    bucket: int = BUCKET,
    tokens_per_batch: int = TOKENS_PER_BATCH,
) -> Packed:
    """Pack documents whose paragraphs lie one behind the other, as a token store has them.

    Parameters
    ----------
    ids : sequence of int arrays, shape (t,) each
        Per document all ids of its paragraphs.
    lengths : sequence of int arrays, shape (paragraphs,) each
        How many ids belong to each paragraph.
    limits, pad_id, after, bucket, tokens_per_batch
        See `pack`.
    """
    if bucket < 1 or tokens_per_batch < 1 or len(after) >= limits.tokens:
        raise ValueError(f"no such buckets: {bucket}, {tokens_per_batch}, {after}")
    counts = np.array([min(len(one), limits.segments) for one in lengths], dtype=np.int64)
    sizes, starts = _layout(ids, lengths, counts)
    if (sizes < 1).any():
        raise InputError(
            "a paragraph has no tokens, so that it has no vector",
            remedy="use a tokenizer that puts special tokens around a text",
        )
    flat = np.concatenate([np.zeros(0, np.int64), *ids])
    kept = np.minimum(sizes, limits.tokens)
    widths = np.minimum(-(-kept // bucket) * bucket, limits.tokens)
    documents, slots = places(counts)
    order = np.argsort(-widths, kind="stable")  # the widest first: memory is short at once or never
    buckets = []
    for rows in _groups(order, widths, tokens_per_batch):
        width = int(widths[rows[0]])
        columns = np.arange(width)
        inside = columns < kept[rows, None]
        at = np.minimum(starts[rows, None] + columns, len(flat) - 1)
        table = np.where(inside, flat[at], pad_id).astype(np.int64)
        if len(after):
            cut = np.flatnonzero(sizes[rows] > limits.tokens)
            table[cut, limits.tokens - len(after) :] = after
        buckets.append(
            Bucket(
                ids=torch.from_numpy(table),
                lengths=torch.from_numpy(kept[rows]),
                full=bool(inside.all()),
            )
        )
    return Packed(
        buckets=tuple(buckets),
        documents=torch.from_numpy(documents[order]),
        slots=torch.from_numpy(slots[order]),
        counts=torch.from_numpy(counts),
        most=int(counts.max(initial=0)),
        limits=limits,
    )


def places(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the document of each paragraph, and its place in it, from paragraphs by document."""
    documents = np.repeat(np.arange(len(counts)), counts)
    return documents, np.arange(len(documents)) - np.repeat(np.cumsum(counts) - counts, counts)


def _layout(
    ids: Sequence[np.ndarray], lengths: Sequence[np.ndarray], counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Size of each paragraph that is read, and where it starts in all ids of the batch."""
    sizes, starts, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for one, of_document, count in zip(ids, lengths, counts.tolist(), strict=True):
        size = np.asarray(of_document[:count], dtype=np.int64)
        end = np.cumsum(size)
        if count and end[-1] > len(one):
            raise ValueError("a document has fewer ids than its paragraphs say")
        sizes.append(size)
        starts.append(before + end - size)
        before += len(one)
    return np.concatenate(sizes), np.concatenate(starts)


def _groups(order: np.ndarray, widths: np.ndarray, tokens: int) -> list[np.ndarray]:
    """Rows of equal width, as many at once as the budget of tokens allows."""
    groups = []
    borders = np.flatnonzero(np.diff(widths[order])) + 1
    for group in np.split(order, borders) if len(order) else []:
        rows = max(1, tokens // int(widths[group[0]]))
        groups += [group[i : i + rows] for i in range(0, len(group), rows)]
    return groups
