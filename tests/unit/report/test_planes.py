"""Figures with two sides: the right points on the right lines, and what the schema asks for."""

import altair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.planes import LOOKS, Dot, around, lines, scatter
from evenhand.report.vega import Side
from unit.report.checks import rows

HOSTILE = "</script>'\"&\x00\u202e{{ 7*7 }}[datum.x].y\\"
SHOWN = HOSTILE.replace("\x00", "␀")
X, Y = Side("Epoch", (0, 3), whole=True), Side("Loss", (0.1, 9), powers=True, grid=True)

SERIES = [
    (HOSTILE, [Dot(0, 1, HOSTILE, (0.5, 2)), Dot(1, 2, "b", alone=True)]),
    ("other", [Dot(0, 3, "c")]),
]
ALL = {
    "lines": lines(SERIES, HOSTILE, X, Y),
    "lines without points": lines(SERIES, "L", X, Y, points=False, diagonal=True, widest=300),
    "weighed": lines([("a", [Dot(0, 1, "w", weight=0.5)])], "L", X, Y),
    "no lines": lines([], "L", X, Y),
    "scatter": scatter(
        [(HOSTILE, [Dot(0, 1, "w", mark=1), Dot(1, 1, "w", hollow=True)])], "S", X, Y
    ),
    "no points": scatter([("a", [])], "S", X, Y),
}  # fmt: skip


def layers(spec, kind):
    return [one for one in spec["layer"] if one["mark"]["type"] == kind]


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_a_specification_of_vega_lite(name):
    altair.LayerChart.from_dict(ALL[name])


def test_points_have_what_they_have():
    spec = ALL["lines"]
    assert spec["data"]["values"] == [
        {"name": SHOWN, "x": 0, "y": 1, "low": 0.5, "high": 2, "words": SHOWN},
        {"name": SHOWN, "x": 1, "y": 2, "words": "b", "alone": True},
        {"name": "other", "x": 0, "y": 3, "words": "c"},
    ]
    [line], [point], [interval] = (layers(spec, kind) for kind in ("line", "point", "rule"))
    assert line["transform"] == [{"filter": "!datum.alone"}]
    assert interval["encoding"]["y2"] == {"field": "high"}
    assert point["encoding"]["description"] == {"field": "words"}
    assert spec["usermeta"]["longest"] == len(HOSTILE)


def test_series_differ_without_their_colours():
    [point] = layers(ALL["lines"], "point")
    shape = point["encoding"]["shape"]["scale"]
    assert shape == {"domain": [SHOWN, "other"], "range": ["circle", "square"]}
    bare = ALL["lines without points"]
    assert not layers(bare, "point")
    _, line = layers(bare, "line")
    assert line["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [7, 3]]
    assert line["encoding"]["description"] == {"field": "name"}


def test_more_series_than_looks_still_differ():
    names = [f"series {i}" for i in range(2 * max(map(len, LOOKS.values())))]
    spec = lines([(name, [Dot(0, 1, "w")]) for name in names], "L", X, Y)
    [point] = layers(spec, "point")
    channels = (point["encoding"][one]["scale"]["range"] for one in ("color", "shape"))
    assert len(set(zip(*channels, strict=True))) == len(names)


def test_the_diagonal_runs_from_corner_to_corner():
    diagonal, _ = layers(ALL["lines without points"], "line")
    assert diagonal["data"]["values"] == [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    assert len(layers(ALL["lines"], "line")) == 1


def test_points_may_be_of_different_sizes():
    [point] = layers(ALL["weighed"], "point")
    assert point["encoding"]["size"]["field"] == "weight"
    assert "size" not in layers(ALL["lines"], "point")[0]["encoding"]


def test_marks_that_lie_together_stand_together():
    close = [Dot(n / 1000, 1, "p", mark=n) for n in (1, 2, 3)]
    series = [("a", close), ("b", [Dot(1.0, 5, "q", mark=4), Dot(3, 8, "r")])]
    spec = scatter(series, "S", Side("x", (0, 3)), Side("y", (0, 9)))
    assert rows(spec, "marks") == ["1–3", "4"]
    [front] = layers(spec, "line")
    assert [row["mark"] for row in front["data"]["values"]] == [1, 2, 3, 4]
    two = [Dot(0, 1, "p", mark=1), Dot(0, 1, "q", mark=2)]
    assert rows(scatter([("a", two)], "S", X, Side("y", (0, 9))), "marks") == ["1, 2"]


def test_hollow_points_have_the_colour_of_the_paper_inside():
    [point] = layers(ALL["scatter"], "point")
    inside = point["encoding"]["fill"]["condition"]
    assert inside == {"test": "datum.hollow", "value": "var(--paper)"}
    assert rows(ALL["scatter"], "hollow") == [True]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1e3))
def test_a_side_around_values_holds_them_and_is_long_enough(values, least):
    low, high = around(values, least)
    assert low < min(values) or min(values) == low
    assert low <= min(values) <= max(values) <= high
    assert high - low >= least * 0.999 and high > low
