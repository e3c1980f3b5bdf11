"""Small drawings in the cells of tables: a number on the scale of its column, as inline SVG.

The number itself stands in the cell beside it. A drawing has no view box: what lies across is
given in percent of the cell's width. Colours are classes that the page's style sheet sets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from markupsafe import Markup

from evenhand.report.render import number, visible

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Axis:
    """The values from `low` to `high` laid out from the left end to the right."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Where a value lies (0 to 1); beyond an end, at the end."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, value: float) -> str:
        """The same in percent of the width."""
        return f"{self.share(value) * 100:.3f}%"


def estimate(
    axis: Axis,
    value: float,
    span: Ends,
    label: str,
    *,
    kind: str,
    centre: float,
    band: Ends = (None, None),
) -> Markup:
    """A dot and its interval against a centre and a band.

    Parameters
    ----------
    axis : Axis
        The scale of the column.
    value : float
        Where the dot stands.
    span : pair of float
        The ends of its interval; without them no line is drawn.
    label : str
        What a person hears who cannot see the drawing.
    kind : str
        ``male``, ``female``, ``more``, ``less``, or ``unclear``, whose dot is hollow.
    centre : float
        Where the line of no difference stands.
    band : pair of float
        What is to be expected of nothing; without it no band is drawn.
    """
    svg = _drawing(24, label, kind)
    if None not in band:
        width = f"{(axis.share(band[1]) - axis.share(band[0])) * 100:.3f}%"
        _add(svg, "rect", "band", x=axis.at(band[0]), y=3, width=width, height=18)
    _add(svg, "rect", "track", x=0, y=11.5, width="100%", height=1)
    _add(svg, "line", "zero", x1=axis.at(centre), x2=axis.at(centre), y1=2, y2=22)
    if None not in span:
        _add(svg, "line", "whisker", x1=axis.at(span[0]), x2=axis.at(span[1]), y1=12, y2=12)
    _add(svg, "circle", "dot", cx=axis.at(value), cy=12, r=4.5)
    return _markup(svg)


def ruler(axis: Axis, ticks: Sequence[float], label: str, *, signs: bool = False) -> Markup:
    """The scale of a column, for its heading; `signs`: whether its numbers show theirs."""
    svg = _drawing(18, label, "ruler")
    for tick in ticks:
        share, x = axis.share(tick), axis.at(tick)
        anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
        _add(svg, "line", "tick", x1=x, x2=x, y1=0, y2=2)
        text = _add(svg, "text", "value", x=x, y=12)
        text.set("text-anchor", anchor)
        text.text = number(tick, signs=signs)
    return _markup(svg)


def ticks_between(low: float, high: float, most: int = 6) -> list[float]:
    """Round values (1, 2 or 5 times a power of ten apart) between two ends."""
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (power * times for times in (1, 2, 5, 10, 20))
    step = next(one for one in steps if (high - low) / one <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _drawing(height: int, label: str, kind: str) -> ElementTree.Element:
    svg = ElementTree.Element("svg", {"class": f"cell {kind}", "role": "img", "width": "100%"})
    svg.set("height", str(height))
    svg.set("aria-label", visible(label))
    ElementTree.SubElement(svg, "title").text = visible(label)
    return svg


def _add(
    parent: ElementTree.Element, tag: str, kind: str, **attributes: str | float
) -> ElementTree.Element:
    plain = {k: v if isinstance(v, str) else f"{v:g}" for k, v in attributes.items()}
    return ElementTree.SubElement(parent, tag, {"class": kind} | plain)


def _markup(svg: ElementTree.Element) -> Markup:
    """The element as markup; the library has escaped its texts and attributes."""
    return Markup(ElementTree.tostring(svg, encoding="unicode", short_empty_elements=False))
