"""How each model's bias is distributed over the sentences: counts between common edges."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.slguset.bias_tables import read_models

HEADER = ["model", "low", "high", "sentences", "share"]

#: Bins, half of them below zero.
BINS = 60

#: The edges reach as far as this share of each model's sentences.
REACH = 0.995

#: Edges are whole multiples of this, which the table's decimals hold exactly.
UNIT = 1e-6


def bin_bias(
    *, dataset: Input, bias: list[Input], gates: list[Input], out: Output
) -> dict[str, Any]:
    """Count the sentences of each model by bias.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias, gates : list of path
        A bias table per model, as `evenhand.slguset.score_bias` writes it, and its gate, in the
        same order. A model that is not trusted, or that scored no sentence, is left out.
    out : path
        CSV, per model `BINS` rows, rising: low and high (low <= bias < high, in the log base of
        the bias tables, the same edges for all models; low is blank in the first row of a model
        and high in its last one, which have no end there), sentences, and their share of the
        model's scored sentences.
    """
    _, read, scores = read_models(dataset, [], bias, gates)
    values = {
        name: scores[name]["bias"].dropna().to_numpy(dtype=float)
        for name, gate in read.items()
        if gate["trusted"]
    }
    values = {name: one for name, one in values.items() if len(one)}
    inner = edges(list(values.values()))
    ends = list(zip([None, *inner], [*inner, None], strict=True))
    write_rows(
        out,
        HEADER,
        (
            {"model": name, "low": low, "high": high, "sentences": n, "share": n / len(one)}
            for name, one in values.items()
            for (low, high), n in zip(ends, counted(one, inner), strict=True)
        ),
    )
    return {
        "models": len(values),
        "left_out": len(read) - len(values),
        "sentences": {name: len(one) for name, one in values.items()},
    }


def edges(values: Sequence[np.ndarray], bins: int = BINS) -> list[float]:
    """The inner edges of `bins` bins, an even number: equally wide, and the middle edge is zero.

    Parameters
    ----------
    values : sequence of array of float, each of shape (n,)
        The values of each model; none may be empty. `REACH` of each lies within as many bins'
        widths of zero as there are bins on one side.
    bins : int
        How many, at least 4.

    Returns
    -------
    list of float
        Rising, `bins` - 1 multiples of `UNIT`.
    """
    reach = max((float(np.quantile(np.abs(one), REACH)) for one in values), default=0.0) or 1.0
    half = bins // 2
    width = max(math.ceil(reach / half / UNIT), 1)
    return [width * place / round(1 / UNIT) for place in range(1 - half, half)]


def counted(values: np.ndarray, inner: Sequence[float]) -> list[int]:
    """How many values lie between each two edges, the first and last bin being open.

    Parameters
    ----------
    values : array of float, shape (n,)
        What is counted, without NaN.
    inner : sequence of float
        Rising. A value that equals an edge is above it.
    """
    places = np.searchsorted(np.asarray(inner), values, side="right")
    return np.bincount(places, minlength=len(inner) + 1).tolist()


if __name__ == "__main__":
    stage.run(bin_bias)
