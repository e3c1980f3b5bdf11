"""Figures of amounts, estimates and shares, as Vega-Lite specifications (`evenhand.report.vega`).

In each, `label` says what it shows, also to a person who cannot see it. Names stand above what is
drawn, so that a phone has room for them. Beside each figure stands a table with the same numbers.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evenhand.report.render import count, decimal, number, percent, plural, signed
from evenhand.report.vega import Ends, Side, Spec, by_kind, colour, layer, specification


@dataclass(frozen=True)
class Step:
    """One step of a waterfall: so many were left before it, so many after it.

    `kind` is ``lost``, or of a step that takes nothing ``kept`` or ``rest``.
    """

    label: str
    before: int
    after: int
    kind: str = "lost"


@dataclass(frozen=True)
class Bar:
    """An amount with its name, as text, and in words for whoever asks.

    `kind` is its colour; a darker piece behind it shows what was `lost`.
    """

    label: str
    amount: float
    text: str
    words: str
    kind: str = "quiet"
    lost: float = 0


@dataclass(frozen=True)
class Estimate:
    """A number and its noise.

    Attributes
    ----------
    name : str
        Whose number it is.
    value : float
        The number.
    words : str
        The number and its noise, for a person who points at the row.
    shown : str
        The number as it stands at the right end.
    span : pair of float
        The ends of its interval; without them no line is drawn.
    band : pair of float
        What is to be expected of chance; without it no band is drawn.
    kind : str
        ``male``, ``female``, ``more``, ``less``, ``plain``, or ``unclear``, whose dot is hollow.
    """

    name: str
    value: float
    words: str
    shown: str
    span: Ends = (None, None)
    band: Ends = (None, None)
    kind: str = "unclear"


def waterfall(steps: Sequence[Step], label: str, *, unit: str) -> Spec:
    """What is left after each step: a bar for the rest, a darker piece for what the step took.

    The first step's `before` is the whole; `unit` is what is counted, for the axis.
    """
    whole = max(steps[0].before, 1)
    rows = []
    for step in steps:
        lost = step.kind == "lost"
        value = step.before - step.after if lost else step.after
        words = f"{step.label}: {count(value)} ({percent(value / whole)})"
        text = ("−" if lost and value else "") + count(value)
        kind = "rest" if lost else step.kind
        rows.append(Bar(step.label, step.after, text, words, kind, step.before - step.after))
    return bars(rows, label, unit=unit, whole=whole)


def bars(rows: Sequence[Bar], label: str, *, unit: str, whole: float | None = None) -> Spec:
    """A bar for each amount, from top to bottom; the axis ends at `whole`, or the largest one."""
    x = Side(unit, (0, whole or max((row.amount for row in rows), default=0) or 1))
    pieces = [
        {"row": i, "from": low, "to": high, "kind": kind}
        for i, row in enumerate(rows)
        for low, high, kind in (
            (0, row.amount, row.kind),
            (row.amount, row.amount + row.lost, "lost"),
        )
        if high > low
    ]
    place = {"x": x.encode("from"), "x2": {"field": "to"}, "color": by_kind(pieces)}
    named = [{"name": row.label, "text": row.text, "words": row.words} for row in rows]
    return _rows(label, 40, named, [layer("bar", place, data=pieces, height=9, yOffset=8)])


def estimates(
    rows: Sequence[Estimate], side: Side, label: str, *, centre: float | None = None
) -> Spec:
    """Numbers with their intervals, from top to bottom; a line for no difference at `centre`."""
    values = [
        {"name": row.name, "text": row.shown, "words": f"{row.name}: {row.words}",
         "value": row.value, "low": row.span[0], "high": row.span[1],
         "from": row.band[0], "to": row.band[1], "kind": row.kind}
        for row in rows
    ]  # fmt: skip
    band = {"x": side.encode("from"), "x2": {"field": "to"}}
    track = {"x": {"value": 0}, "x2": {"value": "width"}}
    whisker = {"x": side.encode("low"), "x2": {"field": "high"}, "color": by_kind(values)}
    dot = {"x": side.encode("value"), "color": by_kind(values)}
    dot["fill"] = by_kind(values, unclear="paper")
    layers = [
        layer("bar", band, color=colour("band"), height=13, yOffset=9),
        layer("rule", track, color=colour("faint"), yOffset=9),
        layer("rule", whisker, size=2, yOffset=9),
        layer("point", dot, size=60, strokeWidth=2, opacity=1, yOffset=9),
    ]
    if centre is not None:
        look = {"color": colour("ink"), "orient": "vertical", "size": 19, "yOffset": 9}
        layers.insert(2, layer("tick", {"x": side.mark(centre)}, **look))
    return _rows(label, 46, values, layers)


def _rows(label: str, step: int, rows: Sequence[Spec], layers: Sequence[Spec]) -> Spec:
    """Layers over rows with names above what is drawn, and numbers at their right ends.

    Each row as a whole says its words.
    """
    room = 7 * max((len(row["text"]) for row in rows), default=0) + 12
    left = {"x": {"value": 0}, "text": {"field": "name"}}
    right = {"x": {"value": "width"}, "text": {"field": "text"}}
    whole = {"x": {"value": 0}, "x2": {"value": "width"}, "description": {"field": "words"}}
    layers = [
        *layers,
        layer("text", left, align="left", yOffset=-9, limit={"expr": f"width - {room}"}),
        layer("text", right, align="right", yOffset=-9, color=colour("soft")),
        layer("bar", whole, color="transparent"),
    ]
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0}}
    for one in layers:
        one["encoding"]["y"] = y
    numbered = [{"row": i} | row for i, row in enumerate(rows)]
    return specification(label, step * len(rows), numbered, layers, widest=720)


def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    label: str,
    *,
    title: str,
    thing: str,
    end: float | None = None,
    top: float | None = None,
) -> Spec:
    """How many there are of each number of things, as shares of all.

    Parameters
    ----------
    counts : sequence of int
        Of length n.
    edges : sequence of float
        Whole numbers, of length n + 1, rising: a bin holds those from its own up to the next one,
        but not the next one.
    label : str
        What it shows.
    title, thing : str
        What the numbers are of, and what is counted: one of them.
    end : float, optional
        Where the axis ends, if not with the last edge.
    top : float, optional
        The share (0 to 1) at the upper border, for several figures on one scale.
    """
    ends = [(number(low), number(high - 1)) for low, high in pairwise(edges)]
    said = [low if low == high else f"{low} to {high}" for low, high in ends]
    values = _bins(counts, edges, said, thing)
    top = top or max((one["share"] for one in values), default=1)
    x = Side(title, (edges[0], edges[-1] if end is None else end), whole=True)
    y = Side(f"Share of {thing}s", (0, top), shares=True, grid=True)
    place = {"x": x.encode("from"), "x2": {"field": "to"}, "y": y.encode("share")}
    place |= {"y2": {"datum": 0}, "description": {"field": "words"}}
    look = {"color": colour("quiet"), "stroke": colour("paper"), "strokeWidth": 1}
    return specification(label, 130, values, [layer("bar", place, **look)], widest=560)


def _bins(
    counts: Sequence[int], edges: Sequence[float], said: Sequence[str], thing: str
) -> list[Spec]:
    """The bins that hold something, with their shares of all; `said` is each in words."""
    whole = max(sum(counts), 1)
    return [
        {"from": low, "to": high, "share": n / whole,
         "words": f"{words}: {plural(n, thing)} ({percent(n / whole)})"}
        for n, (low, high), words in zip(counts, pairwise(edges), said, strict=False)
        if n
    ]  # fmt: skip


def distributions(
    rows: Sequence[tuple[str, Sequence[int]]],
    edges: Sequence[float],
    label: str,
    *,
    title: str,
    thing: str,
    marks: Sequence[float] = (),
) -> Spec:
    """Several histograms under each other, over one axis and in one scale of shares.

    Parameters
    ----------
    rows : sequence of (str, sequence of int)
        For each a name and how many fall between each two edges.
    edges : sequence of float
        Rising. The first and last bin may hold what lies beyond. Below zero is coloured as
        female, above as male.
    label : str
        What it shows.
    title, thing : str
        What the edges measure, and what is counted: one of them.
    marks : sequence of float
        Values at which a dashed line stands.
    """
    ends = [number(edge, signs=True) for edge in edges]
    said = [f"{low} to {high}" for low, high in pairwise(ends)]
    said[0], said[-1] = f"{ends[1]} or less", f"{ends[-2]} or more"
    bins = [_bins(counts, edges, said, thing) for _, counts in rows]
    top = max((one["share"] for row in bins for one in row), default=1)
    # A row is 1 high: its bars stand at 0.95 and reach up to 0.35, its name lies above them.
    foot, reach = 0.95, 0.6
    values = [
        one | {"base": i + foot, "top": i + foot - reach * one["share"] / top,
               "kind": "female" if one["from"] + one["to"] < 0 else "male",
               "words": f"{name}, {one['words']}"}
        for i, ((name, _), row) in enumerate(zip(rows, bins, strict=True))
        for one in row
    ]  # fmt: skip
    names = [
        {"at": i + 0.16, "foot": i + foot, "name": name, "text": plural(sum(counts), thing)}
        for i, (name, counts) in enumerate(rows)
    ]
    x = Side(title, (edges[0], edges[-1]), signs=True)
    ticks = [i + end for i in range(len(rows)) for end in (foot - reach, foot)]
    ends = f"datum.value % 1 > {foot - reach / 2:.2f} ? '0 %' : {json.dumps(percent(top))}"
    y = Side("Share", (len(rows), 0), ticks=ticks, label=ends)
    place = {"x": x.encode("from"), "x2": {"field": "to"}, "y": y.encode("top")}
    place |= {"y2": {"field": "base"}, "color": by_kind(values), "description": {"field": "words"}}
    left = {"x": {"value": 0}, "y": y.encode("at"), "text": {"field": "name"}}
    right = {"x": {"value": "width"}, "y": y.encode("at"), "text": {"field": "text"}}
    base = {"x": {"value": 0}, "x2": {"value": "width"}, "y": y.encode("foot")}
    layers = [
        layer("bar", place, stroke=colour("paper"), strokeWidth=0.5),
        layer("rule", base, data=names, color=colour("line")),
        *(layer("rule", {"x": x.mark(mark)}, strokeDash=[2, 3]) for mark in marks),
        layer("rule", {"x": x.mark(0)}, color=colour("ink")),
        layer("text", left, data=names, align="left", dx=5, limit={"expr": "width - 130"}),
        layer("text", right, data=names, align="right", color=colour("soft")),
    ]
    return specification(label, 76 * len(rows), values, layers, widest=760)


def heat_map(names: Sequence[str], values: Sequence[Sequence[float | None]], label: str) -> Spec:
    """Values from -1 to 1 between each two things, which are numbered from 1.

    Parameters
    ----------
    names : sequence of str
        The things.
    values : sequence of sequence of float or None
        Rows and columns in the order of the names. The diagonal is not shown; None is a dash.
    label : str
        What it shows.
    """
    cells = [
        {"row": i, "column": j + 1, "size": min(abs(value or 0), 1),
         "kind": "evidence" if (value or 0) < 0 else "kept", "text": decimal(value, 2),
         "words": f"{names[i]} and {names[j]}: {signed(value, 3)}"}
        for i, row in enumerate(values)
        for j, value in enumerate(row)
        if i != j
    ]  # fmt: skip
    return _cells([f"{i} {name}" for i, name in enumerate(names, 1)], cells, label, None)


def shares(
    rows: Sequence[tuple[str, Sequence[float | None]]],
    columns: Sequence[str],
    label: str,
    *,
    title: str,
) -> Spec:
    """The shares of each row that fall in each column, as a map; columns are numbered from 1.

    Parameters
    ----------
    rows : sequence of (str, sequence of float or None)
        From top to bottom: a name, and a share (0 to 1) for each column. None is a dash.
    columns : sequence of str
        What each number means stands beside the figure.
    label, title : str
        What it shows, and what the columns are.
    """
    cells = [
        {"row": i, "column": j + 1, "size": min(value or 0, 1), "kind": "kept",
         "text": percent(value, 0), "words": f"{name}, {columns[j]}: {percent(value)}"}
        for i, (name, values) in enumerate(rows)
        for j, value in enumerate(values)
    ]  # fmt: skip
    return _cells([name for name, _ in rows], cells, label, title)


def _cells(names: Sequence[str], cells: list[Spec], label: str, title: str | None) -> Spec:
    """Rows of cells under their names, the stronger coloured the larger their numbers are.

    Half of the colour at most, so that the numbers can be read.
    """
    scale = {"padding": 0}
    axis = {"orient": "top", "labelAngle": 0, "domain": False, "ticks": False, "title": title}
    x = {"field": "column", "type": "ordinal", "axis": axis, "scale": scale}
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": scale}
    strength = {"domain": [0, 1], "range": [0, 0.5]}
    strong = {"field": "size", "type": "quantitative", "legend": None, "scale": strength}
    cell = {"x": x, "y": y, "color": by_kind(cells), "fillOpacity": strong}
    cell["description"] = {"field": "words"}
    left = {"x": {"value": 0}, "y": y, "text": {"field": "name"}}
    named = [{"row": i, "name": name} for i, name in enumerate(names)]
    layers = [
        layer("bar", cell, height=28, yOffset=9, stroke=colour("paper"), strokeWidth=2),
        layer("text", {"x": x, "y": y, "text": {"field": "text"}}, yOffset=9),
        layer("text", left, data=named, align="left", yOffset=-14, limit={"expr": "width"}),
    ]
    return specification(label, 48 * len(names), cells, layers, widest=620)
