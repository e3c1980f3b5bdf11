"""Batches of equal length: no padding, no attention mask, and a bounded number of tokens."""

import numpy as np


def exact_length_batches(
    lengths: np.ndarray, *, tokens: int, rows: int | None = None
) -> list[np.ndarray]:
    """Group inputs of the same length into batches of at most `tokens` tokens.

    Parameters
    ----------
    lengths : array of int, shape (n,)
        Tokens per input, including specials.
    tokens : int
        Maximum number of tokens per batch. A longer input is a batch by itself.
    rows : int, optional
        Maximum number of inputs per batch.

    Returns
    -------
    list of array of int
        Indices into `lengths`, ascending in each batch. Longest inputs come first, so that
        memory errors occur early. Every index occurs once.
    """
    lengths = np.asarray(lengths)
    order = np.lexsort((np.arange(len(lengths)), -lengths))
    borders = np.flatnonzero(np.diff(lengths[order])) + 1
    batches = []
    for group in np.split(order, borders) if len(order) else []:
        size = max(1, tokens // max(1, int(lengths[group[0]])))
        if rows is not None:
            size = max(1, min(size, rows))
        batches += [group[i : i + size] for i in range(0, len(group), size)]
    return batches
