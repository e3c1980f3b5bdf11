"""What the Vega-Lite specifications of `figures` and `planes` are made of.

A specification is plain data, which `render.as_chart` puts into a page and ``figures.js`` draws
with Vega, as wide as its place. Colours are the style sheet's, by name (``var(--male)``), so that
they follow light, dark and print. Fields have names of ours, never names from data. A mark says its
value in its ``description``, which the page shows to whoever points at it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.render import visible

Spec = dict[str, Any]
Ends = tuple[float | None, float | None]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

#: The style sheet's names for what is drawn, where they differ.
NAMES = {"plain": "ink", "unclear": "lost"}


@dataclass(frozen=True)
class Side:
    """One side of a figure.

    Attributes
    ----------
    title : str
        What lies along it, with its unit.
    domain : pair of float
        Its ends; what lies beyond is drawn at the end.
    ticks : sequence of float, optional
        The values that are marked.
    label : str, optional
        A Vega expression for what stands at a tick, instead of its number.
    signs, shares, whole : bool
        Whether numbers show their sign, are shares in percent, or are whole.
    powers : bool
        Whether it is a scale of powers.
    grid : bool
        Whether lines run from its ticks through the figure.
    """

    title: str
    domain: tuple[float, float]
    ticks: Sequence[float] | None = None
    label: str | None = None
    signs: bool = False
    shares: bool = False
    whole: bool = False
    powers: bool = False
    grid: bool = False

    def encode(self, field: str) -> Spec:
        """The encoding of a field on this side."""
        return {"field": field, **self._encode()}

    def mark(self, value: float) -> Spec:
        """The encoding of a value on this side."""
        return {"datum": value, **self._encode()}

    def _encode(self) -> Spec:
        scale: Spec = {"domain": list(self.domain), "nice": False, "clamp": True}
        scale |= {"type": "log"} if self.powers else {"zero": False}
        axis: Spec = {"grid": self.grid, "tickCount": 2 if self.powers else 5}
        if self.ticks is not None:
            axis["values"] = list(self.ticks)
        if self.label is not None:
            axis["labelExpr"] = self.label
        if self.signs:
            axis["labelExpr"] = "datum.value == 0 ? '0' : format(datum.value, '+~g')"
        if self.shares:
            axis["labelExpr"] = "format(100 * datum.value, '~g') + '\u00a0%'"
        if self.whole:
            axis |= {"tickMinStep": 1, "format": ",d"}
        return {"type": "quantitative", "title": self.title, "scale": scale, "axis": axis}


def colour(name: str) -> str:
    """A colour by the name that the style sheet gives it, or by what is drawn in it."""
    return f"var(--{NAMES.get(name, name)})"


def by_kind(rows: Iterable[Spec], **others: str) -> Spec:
    """The encoding of the colour of rows by their `kind`; `others` are names for this time."""
    kinds = sorted({row["kind"] for row in rows})
    scale = {"domain": kinds, "range": [colour(others.get(kind, kind)) for kind in kinds]}
    return {"field": "kind", "type": "nominal", "legend": None, "scale": scale}


def layer(
    mark: str,
    encoding: Spec,
    *,
    data: Iterable[Spec] | None = None,
    only: str | None = None,
    **look: Any,
) -> Spec:
    """A layer of marks that look so; only those with a ``description`` have a voice.

    Parameters
    ----------
    mark : str
        Their type.
    encoding : dict
        What of them depends on the data.
    data : iterable of dict, optional
        Their own rows.
    only : str, optional
        A Vega expression for which of the rows are drawn.
    **look
        Further properties of the mark.
    """
    made: Spec = {} if data is None else {"data": {"values": shown(data)}}
    if only:
        made["transform"] = [{"filter": only}]
    voice = {} if "description" in encoding else {"aria": False}
    return made | {"mark": {"type": mark} | voice | look, "encoding": encoding}


def specification(
    label: str,
    height: int,
    rows: Iterable[Spec],
    layers: Sequence[Spec],
    *,
    widest: int | None = None,
    names: Iterable[str] = (),
) -> Spec:
    """A figure.

    Parameters
    ----------
    label : str
        What it shows: its title as a file of its own, and for a person who cannot see it.
    height, widest : int
        Of what is drawn, without axes, and how wide it is at most with them, in pixels.
    rows, layers : iterable of dict
        The data, and what is drawn of them.
    names : iterable of str
        What stands in the legend.
    """
    return {
        "$schema": SCHEMA,
        "description": visible(label),
        "usermeta": {"widest": widest, "longest": max(map(len, names), default=0)},
        "width": "container",
        "height": max(height, 1),
        "data": {"values": shown(rows)},
        "layer": list(layers),
    }


def shown(rows: Iterable[Spec]) -> list[Spec]:
    """The rows with a visible sign for each control character in their texts."""
    return [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows
    ]
