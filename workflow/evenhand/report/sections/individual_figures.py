"""Figures of individual fairness: points in a plane, and lines over steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from markupsafe import Markup

from evenhand.report.figures import (
    Axis,
    _add,
    _draw,
    _figure,
    _ruler,
    _text,
    _tick,
    _title,
    ticks_between,
)

#: The share of the width on the left that the upward axis's numbers have to themselves.
LEFT = 0.14

#: Room in pixels above the plot, and below it for the ruler.
ABOVE, BELOW = 12, 22


@dataclass(frozen=True)
class Point:
    """A point of the plane; `mark`, a whole number, is written beside it if it is on the front."""

    x: float
    y: float
    name: str
    kind: str
    mark: str = ""


@dataclass(frozen=True)
class Line:
    """Values over steps; None is a gap. `spans` are their intervals."""

    name: str
    values: Sequence[float | None]
    spans: Sequence[tuple[float, float] | None]
    kind: str


def axis_around(values: Sequence[float], least: float) -> Axis:
    """An axis that holds the values with some room, at least `least` long."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.06, (least - (high - low)) / 2, 1e-9)
    return Axis(low - room, high + room)


def beside_numbers(axis: Axis) -> Axis:
    """The same axis with room on the left for the numbers of the upward one."""
    return Axis(axis.low - (axis.high - axis.low) * LEFT / (1 - LEFT), axis.high)


def scatter(points: Sequence[Point], label: str, *, least: float, height: int = 240) -> Markup:
    """Points of a plane; those with a mark come last, on top, with their mark beside them.

    Marks of points that lie together stand together: ``1, 2``, or ``1–4``; give them in order.
    Points of a kind that fall on the same half percent and pixel are drawn once.
    """
    inner = axis_around([point.x for point in points], 5.0)
    across = beside_numbers(inner)
    up = axis_around([point.y for point in points], least)
    svg = _figure(ABOVE + height + BELOW, label, "plane")
    _grid(svg, up, height)
    drawn: set[tuple[str, int, int]] = set()
    marks: list[tuple[float, float, list[str]]] = []
    for point in sorted(points, key=lambda one: bool(one.mark)):
        y = _height(up, point.y, height)
        place = (point.kind, round((point.x - across.low) / (across.high - across.low) * 200))
        if not point.mark and (*place, round(y)) in drawn:
            continue
        drawn.add((*place, round(y)))
        group = _add(svg, "g", point.kind + (" front" if point.mark else ""))
        _title(group, point.name)
        _add(group, "circle", "point", cx=across.at(point.x), cy=round(y, 1), r=5)
        if point.mark:
            share = (point.x - across.low) / (across.high - across.low)
            near = next((one for one in marks if _near(one, share, y)), None)
            if near:
                near[2].append(point.mark)
            else:
                marks.append((share, y, [point.mark]))
    for share, y, together in marks:
        end = share > 0.9
        x = f"{share * 100:.3f}%"
        node = _add(svg, "text", "value mark", x=x, y=round(y - 7, 1))
        node.set("text-anchor", "end" if end else "start")
        node.set("dx", "-4" if end else "4")
        first, last = int(together[0]), int(together[-1])
        whole = len(together) > 2 and last - first == len(together) - 1
        node.text = f"{first}–{last}" if whole else ", ".join(together)
    _ruler(svg, across, ticks_between(inner.low, inner.high), ABOVE + height, signs=False)
    return _draw(svg)


def _near(mark: tuple[float, float, list[str]], share: float, y: float) -> bool:
    """Whether two marks would lie on each other."""
    return abs(mark[0] - share) < 0.06 and abs(mark[1] - y) < 14


def lines_over(
    steps: Sequence[str], lines: Sequence[Line], label: str, *, least: float, height: int = 150
) -> Markup:
    """Lines over steps that stand at equal distances, with an interval at each value."""
    known = [value for line in lines for value in line.values if value is not None]
    ends = [end for line in lines for span in line.spans if span for end in span]
    # An interval of few seeds may be wider than what can be shown.
    reach = max(max(known) - min(known), least)
    ends = [min(max(end, min(known) - reach), max(known) + reach) for end in ends]
    up = axis_around([*known, *ends], least)
    across = beside_numbers(Axis(-0.35, max(len(steps) - 1, 1) + 0.35))
    svg = _figure(ABOVE + height + BELOW, label, "sweep")
    _grid(svg, up, height)
    for number, line in enumerate(lines):
        group = _add(svg, "g", line.kind)
        shift = (number - (len(lines) - 1) / 2) * 0.04
        before: tuple[str, float] | None = None
        for step, value in enumerate(line.values):
            if value is None:
                continue  # the line goes on to the next step that has a value
            x, y = across.at(step + shift), _height(up, value, height)
            if before:
                _add(group, "line", "curve", x1=before[0], y1=before[1], x2=x, y2=round(y, 1))
            before = (x, round(y, 1))
        for step, (value, span) in enumerate(zip(line.values, line.spans, strict=True)):
            if value is None:
                continue
            x = across.at(step + shift)
            dot = _add(group, "g")
            said = f"{line.name}, {steps[step]}: {value:.3g}"
            if span:
                said += f" ({span[0]:.3g} to {span[1]:.3g})"
                low, high = (_height(up, min(max(end, up.low), up.high), height) for end in span)
                _add(dot, "line", "reach", x1=x, x2=x, y1=round(low, 1), y2=round(high, 1))
            _title(dot, said)
            _add(dot, "circle", "point", cx=x, cy=round(_height(up, value, height), 1), r=3)
    bottom = ABOVE + height
    _add(svg, "line", "base", x1=f"{LEFT:.0%}", x2="100%", y1=bottom, y2=bottom)
    for step, name in enumerate(steps):
        _text(svg, across.at(step), bottom + 18, name, "value", "middle")
    return _draw(svg)


def _height(axis: Axis, value: float, height: int) -> float:
    return ABOVE + height * (1 - (value - axis.low) / (axis.high - axis.low))


def _grid(svg: ElementTree.Element, axis: Axis, height: int) -> None:
    """Lines across, with their values to the left of them."""
    for tick in ticks_between(axis.low, axis.high, 4):
        y = round(_height(axis, tick, height), 1)
        _add(svg, "line", "tick", x1=f"{LEFT:.0%}", x2="100%", y1=y, y2=y)
        _text(svg, "0", y + 4, _tick(tick, False), "value")
