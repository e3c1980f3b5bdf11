"""The sentences with the strongest bias of each trusted model, in either direction."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.slguset.bias_tables import Scored

if TYPE_CHECKING:
    import numpy as np

TABLE = Table(
    "sentences",
    title="The most biased sentences of each model",
    key=("model", "direction", "rank"),
    columns=(
        text("model"),
        text("direction", "male: bias > 0; female: bias < 0"),
        integer("rank"),
        number("bias"),
        *map(text, ("sentence_id", "sentence", "pair", "surface_pair", "surface")),
        *map(text, ("surface_opposite", "gender")),
        *map(integer, ("start", "end", "surface_start", "surface_end")),
        text("source"),
        integer("source_position"),
    ),
)


def rows(scored: Scored) -> Iterator[Row]:
    """Yield up to `top` sentences per trusted model and direction, ranked by |bias| and id."""
    scored.check_genders()
    ids = scored.sentences["sentence_id"].tolist()
    shown = [name for name in scored.sentences if name in TABLE.header]
    records = scored.sentences[shown].to_dict("records")
    for name in scored.trusted():
        bias = scored.bias(name)
        for direction in ("male", "female"):
            chosen = by_bias(bias, ids, direction)[: scored.settings.top]
            for rank, row in enumerate(chosen, start=1):
                where = {"model": name, "direction": direction, "rank": rank}
                yield where | {"bias": float(bias[row])} | records[row]


def by_bias(bias: "np.ndarray", ids: Sequence[str], direction: str) -> list[int]:
    """Return the rows of the sentences with bias in a direction, the strongest first.

    Parameters
    ----------
    bias : array of float, shape (n,)
        NaN where there is none.
    ids : sequence of str
        The order of sentences with equal bias.
    direction : str
        ``male`` (> 0) or ``female`` (< 0).
    """
    sign = 1 if direction == "male" else -1
    strength = [sign * float(value) for value in bias]
    rows = [row for row, value in enumerate(strength) if value > 0]
    return sorted(rows, key=lambda row: (-strength[row], ids[row]))
