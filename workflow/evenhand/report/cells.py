"""Small drawings in the cells of tables: a number on the scale of its column, as inline SVG.

The number itself is in the cell beside the drawing. A drawing has no view box: horizontal positions
are percentages of the cell's width. Colours are classes of the style sheet.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from evenhand.report.render import number, visible

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Axis:
    """The values from `low`, at the left end, to `high`, at the right end."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the position of a value in percent of the width; beyond an end, the end."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def reach(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    least: float,
    most: float = math.inf,
    centre: float = 0.0,
) -> float:
    """Return the distance to the ends of a scale about a centre that has space for some numbers."""
    known = (row[name] for row in rows for name in columns if row[name] is not None)
    return min(max([least, *(abs(number - centre) * 1.05 for number in known)]), most)


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
    """Draw a dot and its interval against a centre and a band.

    Parameters
    ----------
    axis : Axis
        The scale of the column.
    value : float
        The position of the dot.
    span : pair of float
        The ends of its interval; without them no line is drawn.
    label : str
        The text alternative.
    kind : str
        ``male``, ``female``, ``more``, ``less``, or ``unclear``, whose dot is hollow.
    centre : float
        The value of no difference.
    band : pair of float
        A range to compare with; without it no band is drawn.
    """
    shapes = ['<rect class="track" x="0" y="11.5" width="100%" height="1"/>']
    if None not in band:
        low, high = map(axis.at, band)
        where = f'x="{low:.3f}%" y="3" width="{high - low:.3f}%" height="18"'
        shapes.insert(0, f'<rect class="band" {where}/>')
    shapes.append(_line("zero", axis.at(centre), axis.at(centre), 2, 22))
    if None not in span:
        shapes.append(_line("whisker", *map(axis.at, span), 12, 12))
    shapes.append(f'<circle class="dot" cx="{axis.at(value):.3f}%" cy="12" r="4.5"/>')
    return _drawing(24, label, kind, shapes)


def ruler(axis: Axis, ticks: Sequence[float], label: str, *, signs: bool = False) -> Markup:
    """Draw the scale of a column, for its heading; `signs`: whether its numbers have signs."""
    shapes = []
    for tick in ticks:
        x = axis.at(tick)
        anchor = "start" if x < 2 else "end" if x > 98 else "middle"
        text = f'<text class="value" x="{x:.3f}%" y="12" text-anchor="{anchor}">'
        shapes += [_line("tick", x, x, 0, 2), text, number(tick, signs=signs), "</text>"]
    return _drawing(18, label, "ruler", shapes)


def ticks_between(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values (1, 2 or 5 times a power of ten apart) between two ends."""
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (power * times for times in (1, 2, 5, 10, 20))
    step = next(step for step in steps if (high - low) / step <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _line(kind: str, x1: float, x2: float, y1: int, y2: int) -> str:
    return f'<line class="{kind}" x1="{x1:.3f}%" x2="{x2:.3f}%" y1="{y1}" y2="{y2}"/>'


def _drawing(height: int, label: str, kind: str, shapes: Sequence[str]) -> Markup:
    """Return the drawing; its shapes hold numbers only."""
    return Markup(
        '<svg class="cell {}" role="img" width="100%" height="{}" aria-label="{}"><title>{}</title>'
        "{}</svg>"
    ).format(kind, height, visible(label), visible(label), Markup("".join(shapes)))
