"""The sentences with the strongest bias of each trusted model, in either direction.

Per model and direction (male: bias > 0, female: < 0) up to `top` sentences by |bias|, ties by
sentence_id: rank from 1, bias, the sentence with its keyword, and its source.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.slguset.bias_tables import Scored

if TYPE_CHECKING:
    import numpy as np

HEADER = [
    *("model", "direction", "rank", "bias", "sentence_id", "sentence", "pair", "surface_pair"),
    *("surface", "surface_opposite", "gender", "start", "end", "surface_start", "surface_end"),
    *("source", "source_position"),
]


def rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    ids = scored.sentences["sentence_id"].tolist()
    records = scored.sentences.to_dict("records")
    for name in scored.trusted():
        bias = scored.bias(name)
        for direction in ("male", "female"):
            chosen = by_bias(bias, ids, direction)[: scored.settings.top]
            for rank, row in enumerate(chosen, start=1):
                where = {"model": name, "direction": direction, "rank": rank}
                yield where | {"bias": float(bias[row])} | records[row]


def by_bias(bias: "np.ndarray", ids: Sequence[str], direction: str) -> list[int]:
    """The rows of the sentences with bias in a direction, the strongest first.

    Parameters
    ----------
    bias : array of float, shape (n,)
        NaN where there is none.
    ids : sequence of str
        What decides between equal sentences.
    direction : str
        ``male`` (> 0) or ``female`` (< 0).
    """
    sign = 1 if direction == "male" else -1
    strength = [sign * float(value) for value in bias]
    rows = [row for row, value in enumerate(strength) if value > 0]
    return sorted(rows, key=lambda row: (-strength[row], ids[row]))
