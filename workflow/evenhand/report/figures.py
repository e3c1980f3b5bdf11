"""Figures as inline SVG: as wide as their place, in the page's own fonts and colours.

A figure has no view box: what lies across is given in percent of its width, what lies down in
pixels. So it fills a phone as well as a sheet of paper, and its text keeps its size. Colours
are classes (`male`, `female`, `kept`, `lost`, `quiet`, …) that the page's style sheet sets,
for light and for dark. Each mark tells its value in a `<title>`, and the whole figure in its
label; beside each figure stands a table with the same numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from markupsafe import Markup

from evenhand.report.render import count, decimal, percent, signed, visible


@dataclass(frozen=True)
class Step:
    """One step of a waterfall: so many were left before it, so many after it."""

    label: str
    before: int
    after: int
    kind: str = "lost"


@dataclass(frozen=True)
class Bar:
    """An amount with its name, as text, and in words for whoever asks."""

    label: str
    amount: float
    text: str
    words: str


@dataclass(frozen=True)
class Axis:
    """The values from `low` to `high` laid out from the left end to the right."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Where a value lies, in percent of the width; beyond an end, at the end."""
        share = (value - self.low) / (self.high - self.low)
        return f"{min(max(share, 0.0), 1.0) * 100:.3f}%"

    def width(self, low: float, high: float) -> str:
        """How wide the stretch between two values is, in percent."""
        low, high = max(low, self.low), min(high, self.high)
        return f"{max(high - low, 0.0) / (self.high - self.low) * 100:.3f}%"


def waterfall(steps: Sequence[Step], label: str) -> Markup:
    """What is left after each step: a bar for the rest, a darker piece for what the step took.

    The first step's `before` is the full width.
    """
    height, whole = 38, max(steps[0].before, 1)
    axis = Axis(0, whole)
    svg = _figure(height * len(steps), label, "waterfall")
    for row, step in enumerate(steps):
        top = row * height
        taken = step.before - step.after
        value = taken if step.kind == "lost" else step.after
        group = _add(svg, "g")
        _title(group, f"{step.label}: {count(value)} ({percent(value / whole)})")
        _text(group, "0", top + 14, _cut(step.label))
        sign = "−" if step.kind == "lost" and value else ""
        _text(group, "100%", top + 14, sign + count(value), "number", "end")
        _add(group, "rect", "track", x="0", y=top + 21, width="100%", height=8)
        rest = "rest" if step.kind == "lost" else step.kind
        _bar(group, axis, 0, step.after, top + 21, 8, rest)
        _bar(group, axis, step.after, step.before, top + 21, 8, "lost")
    return _draw(svg)


def bars(rows: Sequence[Bar], label: str) -> Markup:
    """A bar for each amount, under its name; the largest has the full width."""
    height = 38
    axis = Axis(0, max((row.amount for row in rows), default=0) or 1)
    svg = _figure(height * len(rows), label, "bars")
    for number, row in enumerate(rows):
        top = number * height
        group = _add(svg, "g")
        _title(group, row.words)
        _text(group, "0", top + 14, _cut(row.label))
        _text(group, "100%", top + 14, row.text, "number", "end")
        _add(group, "rect", "track", x="0", y=top + 21, width="100%", height=8)
        _bar(group, axis, 0, row.amount, top + 21, 8, "quiet")
    return _draw(svg)


def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    label: str,
    *,
    end: float | None = None,
    top: float | None = None,
    ticks: Sequence[float] = (),
    marks: Sequence[float] = (),
    signs: bool = False,
    unit: str = "sentences",
    height: int = 120,
) -> Markup:
    """How many fall between each two edges.

    Parameters
    ----------
    counts : sequence of int
        Of length n.
    edges : sequence of float
        Of length n + 1, rising. The first and last bin may hold what lies beyond.
    label : str
        What a person hears who cannot see the figure.
    end : float, optional
        Where the axis ends, if not with the last edge.
    top : float, optional
        The share (0 to 1) at the upper border, for several figures on one scale.
    ticks : sequence of float
        Values marked on the axis.
    marks : sequence of float
        Values at which a dashed line stands.
    signs : bool
        Below zero is coloured as female, above as male, and zero gets a line.
    unit : str
        What is counted, in the plural.
    height : int
        Height of the plot in pixels.
    """
    whole = max(sum(counts), 1)
    top = top or max((n / whole for n in counts), default=1) or 1
    axis = Axis(edges[0], edges[-1] if end is None else end)
    svg = _figure(height + 22, label, "histogram")
    for n, low, high in zip(counts, edges, edges[1:], strict=False):
        kind = "quiet" if not signs else "female" if low + high < 0 else "male"
        tall = min(n / whole / top, 1) * height
        if n:
            bar = _add(
                svg,
                "rect",
                f"bar {kind}",
                x=axis.at(low),
                width=axis.width(low, high),
                y=f"{height - max(tall, 1):.2f}",
                height=f"{max(tall, 1):.2f}",
            )
            _title(
                bar,
                f"{_tick(low, signs)} to {_tick(high, signs)}: "
                f"{count(n)} {unit} ({percent(n / whole)})",
            )
    for mark in marks:
        x = axis.at(mark)
        _add(svg, "line", "threshold", x1=x, x2=x, y1=0, y2=height)
    if signs:
        _add(svg, "line", "zero", x1=axis.at(0), x2=axis.at(0), y1=0, y2=height)
    _ruler(svg, axis, ticks, height, signs)
    return _draw(svg)


#: Height in pixels of one distribution among several: its name, its bars, and the room below.
NAME, BARS, ROOM = 18, 44, 10


def distributions(
    rows: Sequence[tuple[str, Sequence[int]]],
    edges: Sequence[float],
    label: str,
    *,
    ticks: Sequence[float] = (),
    marks: Sequence[float] = (),
    unit: str = "sentences",
) -> Markup:
    """Several histograms under each other, over one axis and in one scale of shares.

    Parameters
    ----------
    rows : sequence of (str, sequence of int)
        For each a name and how many fall between each two edges.
    edges : sequence of float
        Rising. The first and last bin may hold what lies beyond. Below zero is coloured as
        female, above as male.
    label : str
        What a person hears who cannot see the figure.
    ticks, marks : sequence of float
        Values marked on the axis, and values at which a dashed line stands.
    unit : str
        What is counted, in the plural.
    """
    axis = Axis(edges[0], edges[-1])
    shares = [[n / max(sum(counts), 1) for n in counts] for _, counts in rows]
    top = max((share for row in shares for share in row), default=0) or 1
    each = NAME + BARS + ROOM
    height = each * len(rows)
    svg = _figure(height + 22, label, "histogram distributions")
    for mark in marks:
        _add(svg, "line", "threshold", x1=axis.at(mark), x2=axis.at(mark), y1=NAME, y2=height)
    for number, ((name, counts), row) in enumerate(zip(rows, shares, strict=True)):
        base = number * each + NAME + BARS
        group = _add(svg, "g")
        for n, share, low, high in zip(counts, row, edges, edges[1:], strict=False):
            if n:
                tall = max(share / top * BARS, 1)
                bar = _add(
                    group,
                    "rect",
                    f"bar {'female' if low + high < 0 else 'male'}",
                    x=axis.at(low),
                    width=axis.width(low, high),
                    y=f"{base - tall:.2f}",
                    height=f"{tall:.2f}",
                )
                words = f"{_tick(low, True)} to {_tick(high, True)}"
                _title(bar, f"{name}, {words}: {count(n)} {unit} ({percent(share)})")
        _add(group, "line", "base", x1=0, x2="100%", y1=base, y2=base)
        _text(group, "0", base - BARS - 4, name)
        _text(group, "100%", base - BARS - 4, f"{count(sum(counts))} {unit}", "value", "end")
    _add(svg, "line", "zero", x1=axis.at(0), x2=axis.at(0), y1=NAME, y2=height - ROOM)
    _ruler(svg, axis, ticks, height, signs=True)
    return _draw(svg)


#: Height in pixels of a row of a heat map, and the share of its width that the names take.
CELL, MARGIN = 34, 0.07


def heat_map(names: Sequence[str], values: Sequence[Sequence[float | None]], label: str) -> Markup:
    """Values from -1 to 1 between each two things, which have numbers from 1.

    Parameters
    ----------
    names : sequence of str
        The things; what each number means stands beside the figure.
    values : sequence of sequence of float or None
        Rows and columns in the order of the names. The diagonal is not shown; None is a dash.
    label : str
        What a person hears who cannot see the figure.
    """
    size = len(names)
    width = (1 - MARGIN) / max(size, 1)
    svg = _figure(CELL * size + 22, label, "heat")
    for i in range(size):
        middle = f"{(MARGIN + (i + 0.5) * width) * 100:.3f}%"
        _text(svg, "0", 22 + CELL * i + 21, str(i + 1), "value")
        _text(svg, middle, 14, str(i + 1), "value", "middle")
        for j in range(size):
            if i == j:
                continue
            value = values[i][j]
            group = _add(svg, "g")
            _title(group, f"{names[i]} and {names[j]}: {signed(value, 3)}")
            cell = _add(
                group,
                "rect",
                "cell minus" if value is not None and value < 0 else "cell plus",
                x=f"{(MARGIN + j * width) * 100:.3f}%",
                width=f"{width * 100:.3f}%",
                y=22 + CELL * i,
                height=CELL,
            )
            # Half of the colour at most, so that the number on it can be read.
            cell.set("fill-opacity", f"{min(abs(value or 0), 1) / 2:.3f}")
            middle = f"{(MARGIN + (j + 0.5) * width) * 100:.3f}%"
            _text(group, middle, 22 + CELL * i + 21, decimal(value, 2), "number", "middle")
    return _draw(svg)


#: Height in pixels of a row of `shares`: its name, and its cells below.
SHARES = 46


def shares(
    rows: Sequence[tuple[str, Sequence[float | None]]], columns: Sequence[str], label: str
) -> Markup:
    """The shares of each row that fall in each column, as a map; columns have numbers from 1.

    Parameters
    ----------
    rows : sequence of (str, sequence of float or None)
        From top to bottom: a name, and a share (0 to 1) for each column. None is a dash.
    columns : sequence of str
        What each number means stands beside the figure.
    label : str
        What a person hears who cannot see the figure.
    """
    width = 100 / max(len(columns), 1)
    svg = _figure(20 + SHARES * len(rows), label, "heat")
    for j in range(len(columns)):
        _text(svg, f"{(j + 0.5) * width:.3f}%", 12, str(j + 1), "value", "middle")
    for i, (name, values) in enumerate(rows):
        top = 20 + SHARES * i
        _text(svg, "0", top + 13, _cut(name))
        for j, value in enumerate(values):
            group = _add(svg, "g")
            _title(group, f"{name}, {columns[j]}: {percent(value)}")
            place = {"x": f"{j * width:.3f}%", "width": f"{width:.3f}%"}
            cell = _add(group, "rect", "cell plus", y=top + 18, height=SHARES - 20, **place)
            # As in `heat_map`, half of the colour at most.
            cell.set("fill-opacity", f"{min(value or 0, 1) / 2:.3f}")
            middle = f"{(j + 0.5) * width:.3f}%"
            _text(group, middle, top + 35, percent(value, 0), "number", "middle")
    return _draw(svg)


def interval(axis: Axis, value: float, low: float | None, high: float | None, label: str) -> Markup:
    """A dot at a value and a line over its interval, for a cell of a table."""
    svg = _figure(24, label, "interval")
    _add(svg, "rect", "track", x=0, y=11.5, width="100%", height=1)
    if axis.low < 0 < axis.high:
        _add(svg, "line", "zero", x1=axis.at(0), x2=axis.at(0), y1=2, y2=22)
    kind = "female" if value < 0 else "male"
    group = _add(svg, "g", kind)
    _title(group, label)
    if low is not None and high is not None:
        _add(group, "line", "whisker", x1=axis.at(low), x2=axis.at(high), y1=12, y2=12)
    _add(group, "circle", "dot", cx=axis.at(value), cy=12, r=4.5)
    return _draw(svg)


def ruler(axis: Axis, ticks: Sequence[float], label: str) -> Markup:
    """The axis for a column of `interval` cells."""
    svg = _figure(18, label, "ruler")
    _ruler(svg, axis, ticks, -6, signs=True)
    return _draw(svg)


def ticks_between(low: float, high: float, most: int = 6) -> list[float]:
    """Round values (1, 2 or 5 times a power of ten apart) between two ends."""
    if not high > low:
        return [low]
    step = next(s for s in _steps((high - low) / most) if (high - low) / s <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _steps(least: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(least))
    return [power, 2 * power, 5 * power, 10 * power, 20 * power]


def _ruler(
    svg: ElementTree.Element, axis: Axis, ticks: Sequence[float], y: float, signs: bool
) -> None:
    """Ticks and their values under a plot that ends at `y`."""
    for tick in ticks:
        share = (tick - axis.low) / (axis.high - axis.low)
        anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
        x = axis.at(tick)
        _add(svg, "line", "tick", x1=x, x2=x, y1=max(y, 0), y2=y + 4 if y > 0 else 2)
        _text(svg, x, y + 18, _tick(tick, signs), "value", anchor)
    if y > 0:
        _add(svg, "line", "base", x1=0, x2="100%", y1=y, y2=y)


def _tick(value: float, signs: bool) -> str:
    digits = 0 if value == round(value) else 1 if value * 10 == round(value * 10) else 2
    return signed(value, digits) if signs else f"{value:,.{digits}f}"


def _bar(
    group: ElementTree.Element,
    axis: Axis,
    low: float,
    high: float,
    y: float,
    height: float,
    kind: str,
) -> None:
    if high > low:
        x, width = axis.at(low), axis.width(low, high)
        _add(group, "rect", f"bar {kind}", x=x, y=y, width=width, height=height)


def _figure(height: float, label: str, kind: str) -> ElementTree.Element:
    return ElementTree.Element(
        "svg",
        {
            "class": f"figure {kind}",
            "role": "img",
            "aria-label": visible(label),
            "width": "100%",
            "height": f"{height:g}",
        },
    )


def _add(
    parent: ElementTree.Element, tag: str, kind: str = "", **attributes: str | float
) -> ElementTree.Element:
    """A child element; numbers become pixels."""
    plain = {k: v if isinstance(v, str) else f"{v:g}" for k, v in attributes.items()}
    return ElementTree.SubElement(parent, tag, {"class": kind} | plain if kind else plain)


def _text(
    parent: ElementTree.Element,
    x: str,
    y: float,
    text: str,
    kind: str = "label",
    anchor: str = "start",
) -> None:
    node = ElementTree.SubElement(
        parent, "text", {"class": kind, "x": x, "y": f"{y:g}", "text-anchor": anchor}
    )
    node.text = visible(text)


def _title(parent: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(parent, "title").text = visible(text)


def _draw(svg: ElementTree.Element) -> Markup:
    """The element as markup; the library has escaped its texts and attributes."""
    return Markup(ElementTree.tostring(svg, encoding="unicode", short_empty_elements=False))


def scale(axis: Axis, ticks: Sequence[float], label: str) -> Markup:
    """As `ruler`, for values without a sign."""
    svg = _figure(18, label, "ruler")
    _ruler(svg, axis, ticks, -6, signs=False)
    return _draw(svg)


def score_on_scale(
    axis: Axis,
    value: float,
    span: tuple[float | None, float | None],
    band: tuple[float | None, float | None],
    label: str,
    *,
    centre: float = 50,
    kind: str = "unclear",
) -> Markup:
    """A dot and its interval against a centre and a band, for a cell of a table.

    Parameters
    ----------
    axis : Axis
        The scale of the column.
    value : float
        Where the dot stands.
    span : pair of float
        The ends of its interval; without them no line is drawn.
    band : pair of float
        What is to be expected of nothing; without it no band is drawn.
    label : str
        What a person hears who cannot see the figure.
    centre : float
        Where the line of no difference stands.
    kind : str
        ``more``, ``less``, or ``unclear``, whose dot is hollow.
    """
    svg = _figure(24, label, "interval")
    if None not in band:
        _add(svg, "rect", "band", x=axis.at(band[0]), y=3, width=axis.width(*band), height=18)
    _add(svg, "rect", "track", x=0, y=11.5, width="100%", height=1)
    _add(svg, "line", "zero", x1=axis.at(centre), x2=axis.at(centre), y1=2, y2=22)
    group = _add(svg, "g", kind)
    _title(group, label)
    if None not in span:
        _add(group, "line", "whisker", x1=axis.at(span[0]), x2=axis.at(span[1]), y1=12, y2=12)
    _add(group, "circle", "dot", cx=axis.at(value), cy=12, r=4.5)
    return _draw(svg)


@dataclass(frozen=True)
class Curve:
    """A line through points of the unit square, from left to right."""

    name: str
    points: Sequence[tuple[float, float]]
    kind: str


#: A curve's next point lies at least so far from the one before: more cannot be seen.
STEP = 0.006


def roc_curves(curves: Sequence[Curve], label: str, height: int = 220) -> Markup:
    """Curves over the unit square with its diagonal; both axes are marked 0, ½ and 1.

    The curves lie in an inner drawing with a view box, which is stretched to the place; their
    strokes keep their width (``vector-effect`` in the style sheet).
    """
    svg = _figure(height + 22, label, "roc")
    inner = ElementTree.SubElement(
        svg,
        "svg",
        {
            "viewBox": "0 0 100 100",
            "preserveAspectRatio": "none",
            "width": "100%",
            "height": f"{height:g}",
        },
    )
    _add(inner, "rect", "plane", x=0, y=0, width=100, height=100)
    _add(inner, "line", "chance", x1=0, y1=100, x2=100, y2=0)
    for curve in curves:
        group = _add(inner, "g", curve.kind)
        _title(group, curve.name)
        corners = " ".join(f"{x * 100:.1f},{100 - y * 100:.1f}" for x, y in _thinned(curve.points))
        _add(group, "polyline", "curve", points=corners)
    _ruler(svg, Axis(0, 1), (0, 0.5, 1), height, signs=False)
    return _draw(svg)


def curve_sample(kind: str, mark: str | None = None) -> Markup:
    """A piece of a curve's line, and one of its marks, for a legend whose words stand beside it."""
    svg = ElementTree.Element(
        "svg", {"class": "figure sample", "aria-hidden": "true", "width": "32", "height": "10"}
    )
    group = _add(svg, "g", kind)
    _add(group, "line", "curve", x1=0, x2=32, y1=5, y2=5)
    if mark is not None:
        point(group, mark, "50%", 5, 4)
    return _draw(svg)


#: The marks of points, and their corners where the radius is 1; a circle has none.
MARKS: dict[str, Sequence[tuple[float, float]]] = {
    "circle": (),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle": ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    "wedge": ((0, 1.3), (1.2, -0.9), (-1.2, -0.9)),
}


def point(parent: ElementTree.Element, mark: str, x: str, y: float, radius: float) -> None:
    """One of `MARKS` at a place, `x` in percent of the width; about as large as its circle."""
    if not MARKS[mark]:
        _add(parent, "circle", "point", cx=x, cy=y, r=round(radius, 1))
        return
    # A polygon's corners are pixels: an inner drawing, which can lie at a percentage, holds it.
    inner = _add(parent, "svg", "", x=x, y=y, width=1, height=1, overflow="visible")
    corners = " ".join(f"{a * radius:.1f},{b * radius:.1f}" for a, b in MARKS[mark])
    _add(inner, "polygon", "point", points=corners)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The first and the last point, and those between that can be told from the one before."""
    kept = list(points[:1])
    for point in points[1:-1]:
        if max(abs(a - b) for a, b in zip(point, kept[-1], strict=True)) >= STEP:
            kept.append(point)
    return [*kept, *points[-1:]] if len(points) > 1 else kept


@dataclass(frozen=True)
class Estimate:
    """A number and its noise, for a row of `estimates`.

    Attributes
    ----------
    name : str
        Whose number it is.
    value : float
        The number.
    words : str
        The number and its noise, for a person who points at the row or cannot see it.
    span : pair of float
        The ends of its interval; without them no line is drawn.
    band : pair of float
        What is to be expected of chance; without it no band is drawn.
    kind : str
        ``male``, ``female``, ``more``, ``less``, ``plain``, or ``unclear``, whose dot is hollow.
    shown : str
        The number as it stands at the right end.
    """

    name: str
    value: float
    words: str
    shown: str
    span: tuple[float | None, float | None] = (None, None)
    band: tuple[float | None, float | None] = (None, None)
    kind: str = "unclear"


#: Height in pixels of a row of `estimates`, and how many characters of a name are shown.
ESTIMATE, NAME_LENGTH = 44, 44


def estimates(
    rows: Sequence[Estimate],
    axis: Axis,
    label: str,
    *,
    ticks: Sequence[float],
    centre: float | None = None,
    signs: bool = False,
) -> Markup:
    """Numbers with their intervals under each other, each below its name.

    Parameters
    ----------
    rows : sequence of Estimate
        From top to bottom.
    axis : Axis
        What lies beyond an end is drawn at the end.
    label : str
        What a person hears who cannot see the figure.
    ticks : sequence of float
        Values marked on the axis.
    centre : float, optional
        Where a line for no difference stands.
    signs : bool
        Whether the ticks show their sign.
    """
    height = ESTIMATE * len(rows)
    svg = _figure(height + 22, label, "estimates")
    for number, row in enumerate(rows):
        y = number * ESTIMATE + 30
        group = _add(svg, "g", row.kind)
        _title(group, f"{row.name}: {row.words}")
        _text(group, "0", y - 15, _cut(row.name))
        _text(group, "100%", y - 15, row.shown, "value", "end")
        if None not in row.band:
            x, width = axis.at(row.band[0]), axis.width(*row.band)
            _add(group, "rect", "band", x=x, y=y - 6, width=width, height=12)
        _add(group, "rect", "track", x=0, y=y - 0.5, width="100%", height=1)
        if centre is not None:
            x = axis.at(centre)
            _add(group, "line", "zero", x1=x, x2=x, y1=y - 9, y2=y + 9)
        if None not in row.span:
            low, high = (axis.at(end) for end in row.span)
            _add(group, "line", "whisker", x1=low, x2=high, y1=y, y2=y)
        _add(group, "circle", "dot", cx=axis.at(row.value), cy=y, r=4.5)
    _ruler(svg, axis, ticks, height + 2, signs)
    return _draw(svg)


def _cut(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"
