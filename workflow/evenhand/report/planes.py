"""Figures with two sides, of lines and of points, as Vega-Lite specifications.

As in `evenhand.report.figures`, `label` says what a figure shows, also to a person who cannot see
it. Series differ in colour and in their marks or, where they have none, in their dashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.render import visible
from evenhand.report.vega import Ends, Side, Spec, colour, layer, specification

#: What tells series apart, in the order in which it is given out.
LOOKS: dict[str, Sequence[Any]] = {
    "color": [
        colour(name)
        for name in ("male", "female", "more", "less", "warn", "evidence", "quiet", "ink", "link")
    ],
    "shape": ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross",
              "triangle-right", "triangle-left"],
    "strokeDash": [[1, 0], [7, 3], [2, 2], [7, 3, 1, 3], [12, 3], [4, 4], [1, 3],
                   [12, 3, 1, 3], [3, 6]],
}  # fmt: skip


@dataclass(frozen=True)
class Dot:
    """A point of a plane.

    Attributes
    ----------
    x, y : float
        Where it lies.
    words : str
        What is said of it.
    span : pair of float
        The ends of the interval of `y`; without them no line is drawn.
    weight : float, optional
        Its area beside that of the largest (0 to 1).
    alone : bool
        Whether the line of its series leaves it out.
    hollow : bool
        Whether only its border is drawn.
    mark : int, optional
        What is written beside it if it is on the front of a `scatter`.
    """

    x: float
    y: float
    words: str = ""
    span: Ends = (None, None)
    weight: float | None = None
    alone: bool = False
    hollow: bool = False
    mark: int | None = None


#: A name of its own for each series, and its points from left to right.
Series = Sequence[tuple[str, Sequence[Dot]]]


def lines(
    series: Series,
    label: str,
    x: Side,
    y: Side,
    *,
    points: bool = True,
    diagonal: bool = False,
    height: int = 190,
    widest: int | None = None,
) -> Spec:
    """Lines over a plane.

    Parameters
    ----------
    series : sequence of (str, sequence of Dot)
        The lines, from left to right.
    label : str
        What it shows.
    x, y : Side
        What lies along the lower and the left side.
    points : bool
        Whether points have marks, which say their words; without, a line says its name.
    diagonal : bool
        Whether a dashed line runs from corner to corner.
    height, widest : int
        Of the plane, and how wide the figure is at most, in pixels.
    """
    rows = _dots(series)
    place = {"x": x.encode("x"), "y": y.encode("y")}
    line = place | {"color": _look("color", series)}
    if not points:
        line |= {"strokeDash": _look("strokeDash", series), "description": {"field": "name"}}
    layers = [layer("line", line, only="!datum.alone", strokeWidth=1.75)]
    if diagonal:
        ends = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
        look = {"strokeDash": [2, 3], "strokeWidth": 1, "color": colour("soft")}
        layers.insert(0, layer("line", place, data=ends, **look))
    if any("low" in row for row in rows):
        span = {"y": y.encode("low"), "y2": {"field": "high"}, "color": _look("color", series)}
        layers.insert(0, layer("rule", place | span, opacity=0.5))
    if points:
        layers.append(_points(series, rows, place))
    names = [name for name, _ in series]
    return specification(label, height, rows, layers, widest=widest, names=names)


def scatter(series: Series, label: str, x: Side, y: Side, *, height: int = 260) -> Spec:
    """Points of a plane, with a line through those that have a mark: the front.

    Where points of the front lie together, their marks do, too: ``1, 2``, or ``1–4``.
    """
    rows = _dots(series)
    front = sorted((row for row in rows if "mark" in row), key=lambda row: row["mark"])
    place = {"x": x.encode("x"), "y": y.encode("y")}
    pale = {"condition": {"test": "isValid(datum.mark)", "value": 1}, "value": 0.55}
    text = place | {"text": {"field": "marks"}}
    layers = [
        layer("line", place, data=front, strokeWidth=1, color=colour("soft")),
        _points(series, rows, place | {"opacity": pale}),
        layer("text", text, data=_together(front, x, y), dy=-11, fontSize=12, fontWeight=600),
    ]
    return specification(label, height, rows, layers, names=[name for name, _ in series])


def around(values: Sequence[float], least: float) -> tuple[float, float]:
    """Ends of a side that holds the values with some room, at least `least` apart."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.06, (least - (high - low)) / 2, 1e-9)
    return low - room, high + room


def _dots(series: Series) -> list[Spec]:
    """The rows of all series, each with what it has."""
    rows = []
    for name, dots in series:
        for dot in dots:
            some = {"low": dot.span[0], "high": dot.span[1], "weight": dot.weight}
            some |= {"mark": dot.mark, "words": dot.words or None}
            some |= {key: True for key in ("alone", "hollow") if getattr(dot, key)}
            has = {key: value for key, value in some.items() if value is not None}
            rows.append({"name": name, "x": dot.x, "y": dot.y} | has)
    return rows


def _points(series: Series, rows: Sequence[Spec], place: Spec) -> Spec:
    """A layer of marks that tell the series apart."""
    paper = {"condition": {"test": "datum.hollow", "value": colour("paper")}}
    encoding = place | {
        "color": _look("color", series),
        "fill": paper | _look("color", series),
        "shape": _look("shape", series),
        "description": {"field": "words"},
    }
    if any("weight" in row for row in rows):
        scale = {"domain": [0, 1], "range": [15, 130]}
        size = {"field": "weight", "type": "quantitative", "legend": None, "scale": scale}
        encoding["size"] = size
    return layer("point", encoding, size=45, opacity=1)


def _look(channel: str, series: Series) -> Spec:
    """The encoding of a channel of `LOOKS` by the series."""
    looks = LOOKS[channel]
    scale = {
        "domain": [visible(name) for name, _ in series],
        "range": [looks[i % len(looks)] for i in range(len(series))],
    }
    legend = {"symbolSize": 500} if channel == "strokeDash" else {}
    return {"field": "name", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _together(front: Sequence[Spec], x: Side, y: Side) -> list[Spec]:
    """The marks of the front, those that would lie on each other as one."""
    wide, high = (side.domain[1] - side.domain[0] for side in (x, y))
    groups: list[list[Spec]] = []
    for row in front:
        near = (
            group
            for group in groups
            if abs(group[0]["x"] - row["x"]) < 0.07 * wide
            and abs(group[0]["y"] - row["y"]) < 0.07 * high
        )
        group = next(near, None)
        groups.append([row]) if group is None else group.append(row)
    found = []
    for group in groups:
        marks = [row["mark"] for row in group]
        whole = len(marks) > 2 and marks[-1] - marks[0] == len(marks) - 1
        text = f"{marks[0]}–{marks[-1]}" if whole else ", ".join(map(str, marks))
        at = {"x": group[0]["x"], "y": max(row["y"] for row in group)}
        found.append(at | {"marks": text})
    return found
