"""The distribution of each model's bias over the sentences: counts between common edges."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.slguset.bias_tables import Scored

TABLE = Table(
    "distribution",
    title="Sentences by bias",
    key=("model", "low", "high"),
    columns=(
        text("model"),
        number("low", "Lower edge of the bin; blank for the first, which is open"),
        number("high", "Upper edge, which is not in the bin; blank for the last, which is open"),
        integer("sentences", "Sentences whose bias lies in the bin"),
        share("share", "Of the sentences that the model scored"),
    ),
)

#: Bins, half of them below zero.
BINS = 60

#: The edges reach as far as this share of each model's sentences.
REACH = 0.995

#: Edges are whole multiples of this, which the table's decimals hold exactly.
UNIT = 1e-6


def rows(scored: Scored) -> Iterator[Row]:
    """Yield `BINS` rows, rising, per trusted model that scored a sentence."""
    biases = {name: scored.bias(name) for name in scored.trusted()}
    values = {name: bias[np.isfinite(bias)] for name, bias in biases.items()}
    values = {name: bias for name, bias in values.items() if len(bias)}
    inner = edges(list(values.values()))
    ends = list(zip([None, *inner], [*inner, None], strict=True))
    for name, bias in values.items():
        for (low, high), n in zip(ends, counted(bias, inner), strict=True):
            yield {"model": name, "low": low, "high": high, "sentences": n, "share": n / len(bias)}


def edges(values: Sequence[np.ndarray]) -> list[float]:
    """Return the inner edges of `BINS` bins: equally wide, and the middle edge is zero.

    Parameters
    ----------
    values : sequence of array of float, each of shape (n,)
        The values of each model; none may be empty. `REACH` of each lies within as many bins'
        widths of zero as there are bins on one side.

    Returns
    -------
    list of float
        Rising, `BINS` - 1 multiples of `UNIT`.
    """
    reach = max((float(np.quantile(np.abs(bias), REACH)) for bias in values), default=0.0) or 1.0
    half = BINS // 2
    width = max(math.ceil(reach / half / UNIT), 1)
    return [width * place / round(1 / UNIT) for place in range(1 - half, half)]


def counted(values: np.ndarray, inner: Sequence[float]) -> list[int]:
    """Count the values between each two edges, the first and last bin being open.

    Parameters
    ----------
    values : array of float, shape (n,)
        The values, without NaN.
    inner : sequence of float
        Rising. A value that equals an edge is above it.
    """
    places = np.searchsorted(np.asarray(inner), values, side="right")
    return np.bincount(places, minlength=len(inner) + 1).tolist()
