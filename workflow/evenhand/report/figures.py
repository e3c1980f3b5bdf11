"""Figures of the report as Altair charts, which ``figures.js`` draws offline with Vega.

Each function takes rows with named columns and returns a chart. `label` describes the chart: its
text alternative, and its title in a file of its own. Colours are variables of the style sheet, so
that they follow light, dark and print. Fields have fixed names, never names from data. A mark's
``description`` is its tooltip and its text alternative; other marks are hidden from both.
A table with the same numbers is next to each figure.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from evenhand.report.render import count, number, percent, plural, readable, visible

Row = Mapping[str, Any]

#: Altair would check each part as it is made, which takes longer than to make it; the tests check
#: whole charts.
quick = debug_mode(False)

alt.data_transformers.consolidate_datasets = False  # rows stay where they are drawn

#: Labels of an axis: numbers with signs, percentages of shares (0 to 1), whole numbers.
SIGNED = {"labelExpr": "datum.value == 0 ? '0' : format(datum.value, '+~g')"}
SHARES = {"labelExpr": "format(100 * datum.value, '~g') + '\u00a0%'"}
WHOLE = {"tickMinStep": 1, "format": ",d"}

#: Channels: the colour of a mark, its text alternative, and the whole width of the plot area.
COLOUR = alt.Color("color:N", scale=None)
WORDS = alt.Description("words:N")
ACROSS = alt.XValue(0), alt.X2Value("width")

#: How series differ, in the order of the series.
LOOKS: dict[str, Sequence[Any]] = {
    "Color": (colours := [
        f"var(--{name})"
        for name in ("male", "female", "more", "less", "warn", "evidence", "quiet", "ink", "link")
    ]),
    "Fill": colours,
    "Shape": ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross",
              "triangle-right", "triangle-left",
              "M-1,-1L1,-1L-1,1L1,1Z", "M-1,-1L-1,1L1,-1L1,1Z"],
    "StrokeDash": [[1, 0], [7, 3], [2, 2], [7, 3, 1, 3], [12, 3], [4, 4], [1, 3],
                   [12, 3, 1, 3], [3, 6]],
}  # fmt: skip


def axis(
    title: str, domain: tuple[float, float], *, log: bool = False, **options: Any
) -> dict[str, Any]:
    """Return the options of a quantitative x or y channel; values beyond an end are drawn there.

    Parameters
    ----------
    title : str
        The quantity, with its unit.
    domain : pair of float
        The ends.
    log : bool
        Whether the scale is logarithmic.
    **options
        Of `altair.Axis`, such as `SIGNED`, `SHARES` and `WHOLE`.
    """
    kind = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(domain=list(domain), nice=False, clamp=True, **kind)
    ticks = alt.Axis(**({"grid": False, "tickCount": 2 if log else 5} | options))
    return {"type": "quantitative", "title": visible(title), "scale": scale, "axis": ticks}


def padded(values: Sequence[float], least: float) -> tuple[float, float]:
    """Return ends of an axis that leave some space around the values, at least `least` apart."""
    low, high = min(values), max(values)
    space = max((high - low) * 0.06, (least - (high - low)) / 2, 1e-9)
    return low - space, high + space


@quick
def bars(
    rows: Sequence[Row], label: str, *, unit: str, whole: float | None = None
) -> alt.LayerChart:
    """Draw a horizontal bar for each amount, or the steps of a waterfall.

    Parameters
    ----------
    rows : sequence of mapping
        name, amount, kind (a colour of the style sheet); optionally removed (a darker piece
        behind the bar: the amount that the step of a waterfall removes), text and words (by
        default the count and its share of `whole`).
    label : str
        The description.
    unit : str
        The title of the axis.
    whole : float, optional
        The end of the axis, if not the largest amount.
    """
    whole = whole or max((row["amount"] for row in rows), default=0) or 1
    drawn = []
    for row in rows:
        amount = row.get("removed", row["amount"])
        sign = "−" if row.get("removed") else ""
        words = f"{row['name']}: {count(amount)} ({percent(amount / whole)})"
        end = row["amount"] + row.get("removed", 0)
        drawn.append({"text": sign + count(amount), "words": words, "end": end} | row)
    x = alt.X("amount", **axis(unit, (0, whole)))
    bar = alt.Chart().mark_bar(height=9, yOffset=8)
    kept = bar.encode(x, alt.X2(datum=0), COLOUR)
    removed = bar.encode(x, alt.X2("end"), alt.ColorValue(_variable("lost")))
    return _rows([kept, removed.transform_filter("datum.end > datum.amount")], drawn, label, 40)


def estimated(
    name: str,
    number: tuple[float, float | None, float | None],
    *,
    text: str,
    words: str,
    kind: str = "plain",
    band: tuple[float | None, float | None] = (None, None),
) -> Row:
    """Return a row of `forest`; `number` is a value with the ends of its interval."""
    ends = dict(zip(("value", "low", "high", "band_low", "band_high"), number + band, strict=True))
    return {"name": name} | ends | {"text": text, "words": words, "kind": kind}


@quick
def forest(
    rows: Sequence[Row], x: Mapping[str, Any], label: str, *, key: str, centre: float | None = None
) -> alt.LayerChart:
    """Draw estimates with their intervals, from top to bottom.

    Parameters
    ----------
    rows : sequence of mapping
        Of `estimated`: name, value, text (at the right end), words, kind (a colour of the style
        sheet, ``plain``, or ``unclear``: a hollow dot), low and high (the interval), band_low and
        band_high (a range to compare with).
    x : mapping
        The options of `axis`.
    label : str
        The description.
    key : str
        The meaning of the lines, bands and hollow dots: ``figure_key`` of the sentences.
    centre : float, optional
        The value of no difference, marked by a line.
    """
    base = alt.Chart()
    line = alt.X("low", **x), alt.X2("high"), COLOUR
    hollow, fill = alt.value(_variable("paper")), alt.Fill("color:N", scale=None)
    fill = alt.condition("datum.kind == 'unclear'", hollow, fill)
    layers = [
        base.mark_bar(color=_variable("band"), height=13, yOffset=9).encode(
            alt.X("band_low", **x), alt.X2("band_high")
        ),
        base.mark_rule(color=_variable("faint"), yOffset=9).encode(*ACROSS),
        base.mark_rule(size=2, yOffset=9).encode(*line),
        base.mark_point(size=60, strokeWidth=2, opacity=1, yOffset=9).encode(
            alt.X("value", **x), COLOUR, fill
        ),
    ]
    if centre is not None:
        look = {"color": _variable("ink"), "orient": "vertical", "size": 19, "yOffset": 9}
        layers.insert(2, base.mark_tick(**look).encode(alt.XDatum(centre, **x)))
    drawn = [row | {"words": f"{row['name']}: {row['words']}"} for row in rows]
    return _rows(layers, drawn, label, 46, key)


@quick
def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    label: str,
    *,
    title: str,
    thing: str,
    end: float | None = None,
    top: float | None = None,
) -> alt.LayerChart:
    """Draw the shares of things by a whole number.

    Parameters
    ----------
    counts : sequence of int
        Of length n.
    edges : sequence of float
        Whole numbers, of length n + 1, ascending: a bin contains its lower edge but not its upper
        edge.
    label : str
        The description.
    title, thing : str
        The title of the axis, and the noun for one of the things counted.
    end : float, optional
        The end of the axis, if not the last edge.
    top : float, optional
        The share (0 to 1) at the upper end, for several figures on one scale.
    """
    ends = [(number(low), number(high - 1)) for low, high in pairwise(edges)]
    rows = _bins(counts, edges, [a if a == b else f"{a} to {b}" for a, b in ends], thing)
    top = top or max((row["share"] for row in rows), default=1)
    x = alt.X("low", **axis(title, (edges[0], edges[-1] if end is None else end), **WHOLE))
    y = alt.Y("share", **axis(f"Share of {thing}s", (0, top), grid=True, **SHARES))
    bar = alt.Chart().mark_bar(color=_variable("quiet"), stroke=_variable("paper"), strokeWidth=1)
    bar = bar.encode(x, y, alt.X2("high"), alt.Y2(datum=0), WORDS)
    return _chart([bar], rows, label, 130, widest=560)


@quick
def histograms(
    series: Sequence[tuple[str, Sequence[int]]],
    edges: Sequence[float],
    label: str,
    *,
    title: str,
    thing: str,
    marks: Sequence[float] = (),
) -> alt.LayerChart:
    """Draw histograms below each other, on one scale; negative bins are female, others male.

    Parameters
    ----------
    series : sequence of (str, sequence of int)
        The name and the counts of each.
    edges : sequence of float
        Ascending. The first and the last bin are open.
    label : str
        The description.
    title, thing : str
        The title of the axis, and the noun for one of the things counted.
    marks : sequence of float
        The values of dashed lines.
    """
    ends = [number(edge, signs=True) for edge in edges]
    words = [f"{low} to {high}" for low, high in pairwise(ends)]
    words[0], words[-1] = f"{ends[1]} or less", f"{ends[-2]} or more"
    bins = [_bins(counts, edges, words, thing) for _, counts in series]
    top = max((bar["share"] for row in bins for bar in row), default=1)
    # a row is 1 high: its bars rise from 0.95 to 0.35 at most, below its name
    foot, reach = 0.95, 0.6
    rows = [
        bar | {"base": i + foot, "top": i + foot - reach * bar["share"] / top,
               "kind": "female" if bar["low"] + bar["high"] < 0 else "male",
               "words": f"{name}, {bar['words']}"}
        for i, ((name, _), row) in enumerate(zip(series, bins, strict=True))
        for bar in row
    ]  # fmt: skip
    names = [
        {"at": i + 0.16, "foot": i + foot, "name": name, "text": plural(sum(counts), thing)}
        for i, (name, counts) in enumerate(series)
    ]
    x = axis(title, (edges[0], edges[-1]), **SIGNED)
    ticks = [i + end for i in range(len(series)) for end in (foot - reach, foot)]
    ends = f"datum.value % 1 > {foot - reach / 2:.2f} ? '0 %' : {json.dumps(percent(top))}"
    y = axis("Share", (len(series), 0), values=ticks, labelExpr=ends)
    base, named = alt.Chart(), alt.Chart(_data(names))
    left = named.mark_text(align="left", dx=5, limit=alt.ExprRef("width - 130"))
    right = named.mark_text(align="right", color=_variable("soft"))
    layers = [
        base.mark_bar(stroke=_variable("paper"), strokeWidth=0.5).encode(
            alt.X("low", **x), alt.X2("high"), alt.Y("top", **y), alt.Y2("base"), WORDS,
            COLOUR,
        ),
        named.mark_rule(color=_variable("line")).encode(alt.Y("foot", **y), *ACROSS),
        *(base.mark_rule(strokeDash=[2, 3]).encode(alt.XDatum(mark, **x)) for mark in marks),
        base.mark_rule(color=_variable("ink")).encode(alt.XDatum(0, **x)),
        left.encode(alt.Y("at", **y), alt.Text("name:N"), alt.XValue(0)),
        right.encode(alt.Y("at", **y), alt.Text("text:N"), alt.XValue("width")),
    ]  # fmt: skip
    return _chart(layers, rows, label, 76 * len(series), widest=760)


@quick
def heat_map(
    names: Sequence[str], cells: Sequence[Row], label: str, *, title: str | None = None
) -> alt.LayerChart:
    """Draw rows of cells below their names, the stronger coloured the larger their values are.

    Parameters
    ----------
    names : sequence of str
        The names of the rows.
    cells : sequence of mapping
        row (from 0), column (from 1), value (from -1 to 1, or None), text, words.
    label : str
        The description.
    title : str, optional
        The title of the columns.
    """
    drawn = [
        cell | {"size": min(abs(cell["value"] or 0), 1),
                "kind": "evidence" if (cell["value"] or 0) < 0 else "kept"}
        for cell in cells
    ]  # fmt: skip
    look = {"orient": "top", "labelAngle": 0, "domain": False, "ticks": False}
    x = alt.X("column:O", title=title and visible(title), axis=alt.Axis(**look)).scale(padding=0)
    y = alt.Y("row:O", axis=None).scale(padding=0)
    # half of the colour at most, so that the numbers can be read
    strength = alt.FillOpacity("size:Q", legend=None).scale(domain=[0, 1], range=[0, 0.5])
    base = alt.Chart()
    look = {"height": 28, "yOffset": 9, "stroke": _variable("paper"), "strokeWidth": 2}
    named = alt.Chart(_data([{"row": i, "name": name} for i, name in enumerate(names)]))
    left = named.mark_text(align="left", yOffset=-14, limit=alt.ExprRef("width"))
    layers = [
        base.mark_bar(**look).encode(x, y, COLOUR, strength, WORDS),
        base.mark_text(yOffset=9).encode(x, y, alt.Text("text:N")),
        left.encode(y, alt.Text("name:N"), alt.XValue(0)),
    ]
    return _chart(layers, drawn, label, 48 * len(names), widest=620)


@quick
def lines(
    rows: Sequence[Row],
    label: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    series: Sequence[str],
    points: bool = True,
    diagonal: bool = False,
    height: int = 190,
    widest: int | None = None,
    key: str = "",
) -> alt.LayerChart:
    """Draw a line for each series.

    Parameters
    ----------
    rows : sequence of mapping
        name (of the series), x, y; optionally words, low and high (the interval of y), weight
        (0 to 1: the area of the point), alone (the line leaves the point out), hollow.
    label : str
        The description.
    x, y : mapping
        The options of `axis`.
    series : sequence of str
        The names of all series, which get the looks in this order.
    points : bool
        Whether points have marks and words; without, a line has its name as its words.
    diagonal : bool
        Whether a dashed line runs from corner to corner.
    height, widest : int
        Of the plot area, and of the whole figure at most, in pixels.
    key : str
        The meaning of the intervals: ``figure_key`` of the sentences.
    """
    place = alt.X("x", **x), alt.Y("y", **y)
    line = alt.Chart().mark_line(strokeWidth=1.75).transform_filter("!datum.alone")
    line = line.encode(*place, *_looks(series, "Color"))
    if not points:
        line = line.encode(*_looks(series, "StrokeDash"), alt.Description("name:N"))
    layers = [line]
    if diagonal:
        look = {"strokeDash": [2, 3], "strokeWidth": 1, "color": _variable("soft")}
        ends = alt.Chart(_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(**look)
        layers.insert(0, ends.encode(*place))
    if any(row.get("low") is not None for row in rows):
        span = alt.Chart().mark_rule(opacity=0.5).encode(place[0], alt.Y("low", **y))
        layers.insert(0, span.encode(alt.Y2("high"), *_looks(series, "Color")))
    if points:
        layers.append(_points(rows, series, *place))
    return _chart(layers, rows, label, height, widest=widest, names=series, key=key)


@quick
def scatter(
    rows: Sequence[Row],
    label: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    series: Sequence[str],
    height: int = 260,
) -> alt.LayerChart:
    """Draw points, with a line through those that have a `mark`, a number: the front.

    The parameters are those of `lines`. Points that would hide each other are drawn beside each
    other. Where points of the front are close to each other, they share one label: ``1, 2``, or
    ``1–4``.
    """
    domains = x["scale"].domain, y["scale"].domain
    rows = _apart(rows, *domains)
    front = sorted((row for row in rows if row.get("mark")), key=lambda row: row["mark"])
    labels = _share_labels(front, *domains)
    place = alt.X("x", **x), alt.Y("y", **y)
    marked = {"test": "isValid(datum.mark)", "value": 1}
    pale = alt.OpacityValue(0.55 if front else 1, condition=marked)
    through = alt.Chart(_data(front)).mark_line(strokeWidth=1, color=_variable("soft"))
    text = alt.Chart(_data(labels)).mark_text(dy=-11, fontSize=12, fontWeight=600)
    layers = [
        through.encode(*place),
        _points(rows, series, *place).encode(pale),
        text.encode(*place, alt.Text("marks:N")),
    ]
    return _chart(layers, rows, label, height, names=series)


def _variable(name: str) -> str:
    """Return a colour by its name in the style sheet, or by the kind of a mark."""
    return f"var(--{ {'plain': 'ink', 'unclear': 'lost'}.get(name, name) })"


def _looks(series: Sequence[str], *channels: str) -> list[Any]:
    """Return the channels that make series differ, each with a legend."""
    made = []
    for channel in channels:
        looks = LOOKS[channel]
        scale = alt.Scale(
            domain=[readable(name) for name in series],
            range=[looks[i % len(looks)] for i in range(len(series))],
        )
        legend = {"legend": alt.Legend(symbolSize=500)} if channel == "StrokeDash" else {}
        made.append(getattr(alt, channel)("name:N", title=None, scale=scale, **legend))
    return made


def _points(rows: Sequence[Row], series: Sequence[str], *place: Any) -> alt.Chart:
    """Return the layer of points, whose colours and shapes are those of the series."""
    colour, shape, fill = _looks(series, "Color", "Shape", "Fill")
    paper = alt.condition("datum.hollow", alt.value(_variable("paper")), fill)
    points = alt.Chart().mark_point(size=45, opacity=1)
    points = points.encode(*place, colour, shape, WORDS, paper)
    if any("weight" in row for row in rows):
        scale = alt.Scale(domain=[0, 1], range=[15, 130])
        points = points.encode(alt.Size("weight:Q", legend=None, scale=scale))
    return points


#: Points nearer to each other than this share of the axes would hide each other.
HIDDEN = 0.02


def _apart(rows: Sequence[Row], *domains: Sequence[float]) -> list[Row]:
    """Return the points, those that would hide an earlier one moved to the right of it."""
    reach = [HIDDEN * (high - low) for low, high in domains]
    apart: list[Row] = []
    for row in rows:
        while any(
            all(abs(other[side] - row[side]) < far for side, far in zip("xy", reach, strict=True))
            for other in apart
        ):
            row = row | {"x": row["x"] + reach[0]}
        apart.append(row)
    return apart


def _share_labels(front: Sequence[Row], *domains: Sequence[float]) -> list[Row]:
    """Return the labels of the points of a front; points close to each other share one."""
    reach = [0.07 * (high - low) for low, high in domains]
    groups: list[list[Row]] = []
    for row in front:
        for group in groups:
            if all(abs(group[0][x] - row[x]) < far for x, far in zip("xy", reach, strict=True)):
                group.append(row)
                break
        else:
            groups.append([row])
    labels = []
    for group in groups:
        marks = [row["mark"] for row in group]
        whole = len(marks) > 2 and marks[-1] - marks[0] == len(marks) - 1
        text = f"{marks[0]}–{marks[-1]}" if whole else ", ".join(map(str, marks))
        labels.append({"x": group[0]["x"], "y": max(row["y"] for row in group), "marks": text})
    return labels


def _bins(
    counts: Sequence[int], edges: Sequence[float], words: Sequence[str], thing: str
) -> list[Row]:
    """Return the bins that are not empty, with their shares; `words` describe the bins."""
    whole = max(sum(counts), 1)
    return [
        {"low": low, "high": high, "share": n / whole,
         "words": f"{text}: {plural(n, thing)} ({percent(n / whole)})"}
        for n, (low, high), text in zip(counts, pairwise(edges), words, strict=False)
        if n
    ]  # fmt: skip


def _rows(
    layers: Sequence[alt.Chart], rows: Sequence[Row], label: str, step: int, key: str = ""
) -> alt.LayerChart:
    """Return layers over rows with their names above and their texts at the right end.

    The words are the tooltip of the whole row. Names are above the marks: a phone has no space
    beside them.
    """
    space = 7 * max((len(row["text"]) for row in rows), default=0) + 12
    base = alt.Chart()
    lines = {"lineBreak": "\n", "lineHeight": 16, "baseline": "line-bottom"}
    left = base.mark_text(align="left", yOffset=-3, limit=alt.ExprRef(f"width - {space}"), **lines)
    right = base.mark_text(align="right", yOffset=-9, color=_variable("soft"))
    layers = [
        *layers,
        left.encode(alt.Text("name:N"), alt.XValue(0)),
        right.encode(alt.Text("text:N"), alt.XValue("width")),
        base.mark_bar(color="transparent").encode(WORDS, *ACROSS),
    ]
    y = alt.Y("row:O", axis=None).scale(padding=0)
    numbered = [{"row": i} | row for i, row in enumerate(rows)]
    height = step * len(rows)
    layers = [layer.encode(y) for layer in layers]
    return _chart(layers, numbered, label, height, widest=720, key=key)


def _chart(
    layers: Sequence[alt.Chart],
    rows: Iterable[Row],
    label: str,
    height: int,
    *,
    widest: int | None = None,
    names: Iterable[str] = (),
    key: str = "",
) -> alt.LayerChart:
    """Return a chart as wide as its place, but at most `widest`; `names` are in its legend.

    The `key` is below the chart, and in its description.
    """
    for layer in layers:
        if layer.encoding.description is alt.Undefined:
            layer.mark.aria = False
    return alt.layer(
        *layers,
        data=_data(rows),
        description=readable(f"{label}. {key}" if key else label),
        width="container",
        height=max(height, 1),
        usermeta={"widest": widest, "longest": max(map(len, names), default=0)}
        | ({"key": key} if key else {}),
    )


class _Rows(alt.InlineData):
    """Rows that Altair neither checks nor copies value by value, which would take a second."""

    def __init__(self, values: list[Row]) -> None:
        super().__init__(values=values)

    def __deepcopy__(self, _: Any) -> "_Rows":
        return self

    def to_dict(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"values": self.values}


def _data(rows: Iterable[Row]) -> _Rows:
    """Return the rows without missing values, with a colour for their kind, and with a visible
    sign for each control character.
    """
    coloured = (row | ({"color": _variable(row["kind"])} if "kind" in row else {}) for row in rows)
    cleaned = [
        {key: readable(value) if isinstance(value, str) else value
         for key, value in row.items() if value is not None}
        for row in coloured
    ]  # fmt: skip
    return _Rows(cleaned)
