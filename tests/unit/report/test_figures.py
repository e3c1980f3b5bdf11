"""Figures: valid Vega-Lite, the right numbers at the right marks, and no name of data as code."""

import json
import re
import subprocess
import sys

import altair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.figures import (
    LOOKS,
    SHARES,
    SIGNED,
    WHOLE,
    axis,
    bars,
    forest,
    heat_map,
    histogram,
    histograms,
    lines,
    padded,
    scatter,
)
from unit.report.checks import TEMPLATES, rows
from unit.report.test_style import SCHEMES

#: A name that is markup, an expression of Vega, a path into a row, and a mark of direction.
HOSTILE = "</script>'\"&\x00\u202e{{ 7*7 }}[datum.x].y\\"
SHOWN = HOSTILE.replace("\x00", "␀")

X, Y = axis("Epoch", (0, 3), **WHOLE), axis("Loss", (0.1, 9), log=True, grid=True)
ESTIMATES = [
    {"name": HOSTILE, "value": 1.0, "text": "s", "words": "w", "kind": "more"}
    | {"low": 0, "high": 2, "band_low": 0, "band_high": 1},
    {"name": "b", "value": 0.0, "text": "s", "words": "w", "kind": "unclear"},
]
DOTS = [
    {"name": HOSTILE, "x": 0, "y": 1, "words": HOSTILE, "low": 0.5, "high": 2},
    {"name": HOSTILE, "x": 1, "y": 2, "words": "b", "alone": True},
    {"name": "other", "x": 0, "y": 3, "words": "c", "hollow": True, "mark": 1},
]
STEPS = [
    {"name": HOSTILE, "amount": 200, "kind": "rest"},
    {"name": "a", "amount": 150, "removed": 50, "kind": "rest"},
    {"name": "kept", "amount": 150, "kind": "kept"},
]
CELLS = [
    {"row": 0, "column": 2, "value": -0.5, "text": HOSTILE, "words": HOSTILE},
    {"row": 1, "column": 1, "value": None, "text": "–", "words": "w"},
    {"row": 1, "column": 2, "value": 2.0, "text": "2", "words": "w"},
]
NAMES = [HOSTILE, "other"]
ALL = {
    "bars": lambda: bars(STEPS, HOSTILE, unit=HOSTILE, whole=200),
    "no bars": lambda: bars([], "Time", unit="Seconds"),
    "forest": lambda: forest(
        ESTIMATES, axis(HOSTILE, (0, 2), **SIGNED), HOSTILE, key=HOSTILE, centre=1
    ),
    "no forest": lambda: forest([], axis("T", (0, 1)), "F", key="K"),
    "histogram": lambda: histogram([1, 3], [0, 1, 3], HOSTILE, title=HOSTILE, thing=HOSTILE),
    "empty histogram": lambda: histogram([], [0], "H", title="T", thing="u"),
    "histograms": lambda: histograms(
        [("a", [1, 3]), (HOSTILE, [60, 40])], [-1, 0, 1], HOSTILE, title=HOSTILE, thing="thing",
        marks=(-0.3, 0.3),
    ),
    "heat map": lambda: heat_map([HOSTILE, "b"], CELLS, HOSTILE, title=HOSTILE),
    "empty heat map": lambda: heat_map([], [], "H"),
    "lines": lambda: lines(DOTS, HOSTILE, X, Y, series=NAMES),
    "lines without points": lambda: lines(
        DOTS, "L", X, Y, series=NAMES, points=False, diagonal=True, widest=300
    ),
    "lines of weights": lambda: lines(
        [{"name": "a", "x": 0, "y": 1, "weight": 0.5}], "L", X, Y, series=["a"]
    ),
    "no lines": lambda: lines([], "L", X, Y, series=[]),
    "scatter": lambda: scatter(DOTS, "S", X, Y, series=NAMES),
    "no points": lambda: scatter([], "S", X, Y, series=["a"]),
}  # fmt: skip


def made(name):
    return ALL[name]().to_dict()


def marks(spec, kind):
    """The layers of one kind of marks."""
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == kind]


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_vega_lite_and_the_same_twice(name):
    spec = made(name)
    altair.LayerChart.from_dict(spec)
    assert json.dumps(spec) == json.dumps(made(name))
    assert spec["width"] == "container" and spec["height"] >= 1


def test_the_vendored_script_reads_what_altair_writes():
    written = re.search(r"/v(\d+)\.(\d+)", altair.SCHEMA_URL).groups()
    described = (TEMPLATES / "vega.md").read_text(encoding="utf-8")
    read = re.search(r"vega-lite\.min\.js` \| (\d+)\.(\d+)", described).groups()
    assert read[0] == written[0] and int(read[1]) >= int(written[1])


@pytest.mark.parametrize("name", ALL)
def test_colours_are_those_of_the_style_sheet(name):
    spec = str(made(name))
    used = re.findall(r"(?:color|stroke|fill|range)'?: '([^']+)'", spec)
    used += re.findall(r"var\(--[\w-]+\)", spec)
    assert set(used) <= {f"var(--{one})" for one in SCHEMES["light"]} | {"transparent"}


@pytest.mark.parametrize("name", ALL)
def test_names_of_data_are_never_names_of_fields_or_expressions(name):
    layers = str([layer | {"data": None} for layer in made(name)["layer"]])
    # they may be titles of axes and values of scales, which are text
    text = re.sub(
        r"'(title|domain)': (\"[^\"]*\"|'[^']*'|\[[^\]]*\])", "", layers.replace("\\'", "")
    )
    text = text.replace(SHOWN.replace("\\", "\\\\").replace("'", ""), "")
    for word in ("datum.x", "7*7"):
        assert word not in text


@pytest.mark.parametrize("name", ALL)
def test_texts_have_no_control_characters_and_the_voice_is_that_of_one_layer(name):
    spec = made(name)
    assert "\\x00" not in str(spec["layer"]) + str(spec["data"]) + spec["description"]
    heard = [one for one in spec["layer"] if one["mark"].get("aria") is not False]
    assert [one["encoding"]["description"]["field"] for one in heard] in (["words"], ["name"])


@given(st.dictionaries(st.sampled_from("abc"), st.text() | st.integers() | st.none()))
def test_rows_keep_their_values_and_are_json(row):
    [shown] = lines([row], "L", X, Y, series=[]).to_dict(validate=False)["data"]["values"]
    assert json.loads(json.dumps(shown)) == shown
    assert list(shown) == [key for key, value in row.items() if value is not None]
    texts = [value for value in shown.values() if isinstance(value, str)]
    assert not [c for text in texts for c in text if ord(c) < 32 and c not in "\t\n"]


def test_stages_that_draw_nothing_do_not_load_altair():
    stages = "export_tables, write_page, write_model_cards"
    code = f"import sys; from evenhand import plan; from evenhand.report import {stages};"
    code += " print({'altair'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (SHARES, {"labelExpr": "format(100 * datum.value, '~g') + '\u00a0%'"}),
        (WHOLE, {"tickMinStep": 1, "format": ",d"}),
        ({"values": [0, 1], "grid": True}, {"values": [0, 1], "grid": True}),
    ],
)
def test_an_axis_has_its_options_and_draws_values_beyond_its_ends_there(options, expected):
    one = altair.X("a", **axis("Title", (0, 2), **options)).to_dict()
    assert one["field"] == "a" and one["title"] == "Title"
    assert one["scale"] == {"domain": [0, 2], "nice": False, "clamp": True, "zero": False}
    assert one["axis"] == {"grid": False, "tickCount": 5} | expected


def test_a_logarithmic_axis_has_no_zero():
    assert Y["scale"].to_dict() == {
        "domain": [0.1, 9], "nice": False, "clamp": True, "type": "log"
    }  # fmt: skip
    assert Y["axis"].to_dict() == {"grid": True, "tickCount": 2}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1e3))
def test_a_padded_axis_holds_its_values_and_is_long_enough(values, least):
    low, high = padded(values, least)
    assert low <= min(values) <= max(values) <= high
    assert high - low >= least * 0.999 and high > low


def test_bars_have_counts_and_a_darker_piece_for_what_is_removed():
    spec = made("bars")
    kept, removed, _ = marks(spec, "bar")
    assert kept["encoding"]["x"]["field"] == "amount" and kept["encoding"]["x2"] == {"datum": 0}
    assert removed["encoding"]["x2"] == {"field": "end"}
    assert removed["encoding"]["color"] == {"value": "var(--lost)"}
    assert removed["transform"] == [{"filter": "datum.end > datum.amount"}]
    assert rows(spec, "amount") == [200, 150, 150] and rows(spec, "end") == [200, 200, 150]
    assert rows(spec, "text") == ["200", "−50", "150"]
    assert rows(spec, "words")[1] == "a: 50 (25.0\xa0%)"
    assert rows(spec, "color") == ["var(--rest)", "var(--rest)", "var(--kept)"]
    assert kept["encoding"]["x"]["scale"]["domain"] == [0, 200]


def test_bars_have_their_own_words_and_end_at_the_largest():
    two = [{"name": name, "amount": amount, "kind": "quiet", "text": "t", "words": "w"}
           for name, amount in (("a", 2.0), ("b", 8.0))]  # fmt: skip
    spec = bars(two, "Time", unit="Seconds").to_dict()
    assert rows(spec, "text") == ["t", "t"] and rows(spec, "words") == ["w", "w"]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 8.0]
    assert spec["layer"][0]["encoding"]["x"]["title"] == "Seconds"
    none = [{"name": "a", "amount": 0, "kind": "rest"}]
    spec = bars(none, "F", unit="u", whole=0).to_dict()
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert rows(spec, "text") == ["0"]


def test_estimates_have_their_intervals_and_bands():
    spec = made("forest")
    for layer, ends in (
        (marks(spec, "bar")[0], ["band_low", "band_high"]),
        (marks(spec, "rule")[1], ["low", "high"]),
    ):
        assert [layer["encoding"][side]["field"] for side in ("x", "x2")] == ends
    [dot] = marks(spec, "point")
    assert dot["encoding"]["x"]["field"] == "value"
    hollow = {"test": "datum.kind == 'unclear'", "value": "var(--paper)"}
    assert dot["encoding"]["fill"]["condition"] == hollow
    assert rows(spec, "color") == ["var(--more)", "var(--lost)"]
    assert rows(spec, "words") == [f"{SHOWN}: w", "b: w"]
    # the line of no difference lies below the intervals and dots
    kinds = [layer["mark"]["type"] for layer in spec["layer"]]
    assert kinds[:5] == ["bar", "rule", "tick", "rule", "point"]
    [centre] = marks(spec, "tick")
    assert centre["encoding"]["x"]["datum"] == 1
    assert not marks(made("no forest"), "tick")
    assert spec["description"] == f"{SHOWN}. {SHOWN}" and spec["usermeta"]["key"] == HOSTILE


def test_the_number_at_the_end_leaves_room_for_the_name():
    wide = [ESTIMATES[1] | {"text": "1" * 30}, ESTIMATES[1]]
    name, number = marks(forest(wide, axis("T", (0, 1)), "F", key="K").to_dict(), "text")
    assert name["mark"]["limit"] == {"expr": "width - 222"}
    assert number["encoding"]["text"]["field"] == "text"


def test_a_histogram_has_shares_of_all():
    spec = histogram([1, 3, 0], [0, 10, 20, 30], "H", title="Characters", thing="sentence")
    assert spec.to_dict()["data"]["values"] == [
        {"low": 0, "high": 10, "share": 0.25, "words": "0 to 9: 1 sentence (25.0\xa0%)"},
        {"low": 10, "high": 20, "share": 0.75, "words": "10 to 19: 3 sentences (75.0\xa0%)"},
    ]
    [bar] = spec.to_dict()["layer"]
    assert bar["encoding"]["x"]["scale"]["domain"] == [0, 30]
    assert bar["encoding"]["y"]["scale"]["domain"] == [0, 0.75]
    assert bar["encoding"]["y"]["title"] == "Share of sentences"


def test_histograms_may_have_one_scale():
    spec = histogram([1, 1], [0, 1, 2], "H", title="T", thing="u", end=9, top=1.0).to_dict()
    assert [row["words"][:2] for row in spec["data"]["values"]] == ["0:", "1:"]
    [bar] = spec["layer"]
    assert bar["encoding"]["x"]["scale"]["domain"] == [0, 9]
    assert bar["encoding"]["y"]["scale"]["domain"] == [0, 1.0]


def test_histograms_below_each_other_share_one_scale():
    spec = made("histograms")
    values = spec["data"]["values"]
    assert [row["base"] - row["top"] for row in values] == pytest.approx([0.2, 0.6, 0.48, 0.32])
    assert [row["base"] for row in values] == [0.95, 0.95, 1.95, 1.95]
    assert [row["kind"] for row in values] == ["female", "male", "female", "male"]
    assert values[2]["words"] == f"{SHOWN}, 0 or less: 60 things (60.0\xa0%)"
    assert values[0]["words"].startswith("a, 0 or less: 1 thing (")
    assert rows(spec, "name")[:2] == ["a", SHOWN]
    _, *rules = marks(spec, "rule")  # the first are the lines on which the bars stand
    assert [one["encoding"]["x"]["datum"] for one in rules] == [-0.3, 0.3, 0]
    ticks = spec["layer"][0]["encoding"]["y"]["axis"]
    assert ticks["values"] == pytest.approx([0.35, 0.95, 1.35, 1.95])
    assert ticks["labelExpr"] == "datum.value % 1 > 0.65 ? '0 %' : \"75.0\\u00a0%\""


def test_a_heat_map_is_coloured_by_size_and_sign():
    spec = made("heat map")
    cells = spec["data"]["values"]
    assert [one["kind"] for one in cells] == ["evidence", "kept", "kept"]
    assert [one["size"] for one in cells] == [0.5, 0, 1]
    assert rows(spec, "name") == [SHOWN, "b"]
    cell, text = spec["layer"][0]["encoding"], spec["layer"][1]["encoding"]
    # never more than half of the colour: see test_numbers_on_cells_can_be_read
    assert cell["fillOpacity"]["scale"]["range"] == [0, 0.5]
    assert cell["x"]["title"] == SHOWN and text["text"]["field"] == "text"


def test_lines_have_their_points_and_intervals():
    spec = made("lines")
    assert spec["data"]["values"] == [
        row | {key: SHOWN for key in ("name", "words") if row[key] == HOSTILE} for row in DOTS
    ]
    [line], [point], [interval] = (marks(spec, kind) for kind in ("line", "point", "rule"))
    assert line["transform"] == [{"filter": "!datum.alone"}]
    assert interval["encoding"]["y2"] == {"field": "high"}
    assert point["encoding"]["description"]["field"] == "words"
    inside = point["encoding"]["fill"]["condition"]
    assert inside == {"test": "datum.hollow", "value": "var(--paper)"}
    assert spec["usermeta"] == {"widest": None, "longest": len(HOSTILE)}
    assert not marks(lines(DOTS[1:], "L", X, Y, series=NAMES).to_dict(), "rule")


def test_series_differ_without_their_colours():
    [point] = marks(made("lines"), "point")
    shape = point["encoding"]["shape"]["scale"]
    assert shape == {"domain": [SHOWN, "other"], "range": ["circle", "square"]}
    bare = made("lines without points")
    assert not marks(bare, "point")
    diagonal, line = marks(bare, "line")
    assert line["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [7, 3]]
    assert diagonal["data"]["values"] == [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    assert bare["usermeta"]["widest"] == 300


def test_more_series_than_looks_still_differ():
    names = [f"series {i}" for i in range(2 * max(map(len, LOOKS.values())))]
    [point] = marks(lines([], "L", X, Y, series=names).to_dict(), "point")
    channels = (point["encoding"][one]["scale"]["range"] for one in ("color", "shape"))
    assert len(set(zip(*channels, strict=True))) == len(names)


def test_points_may_be_of_different_sizes():
    [point] = marks(made("lines of weights"), "point")
    assert point["encoding"]["size"]["field"] == "weight"
    assert "size" not in marks(made("lines"), "point")[0]["encoding"]


def test_points_that_would_hide_each_other_are_beside_each_other():
    sides = axis("x", (0, 100)), axis("y", (0, 10))
    dots = [{"name": "a", "x": x, "y": y} for x, y in ((50, 5), (50, 5), (51, 5.1), (50, 6))]
    spec = scatter(dots, "S", *sides, series=["a"]).to_dict()
    assert marks(spec, "point")[0]["encoding"]["opacity"]["value"] == 1  # there is no front
    drawn = spec["data"]["values"]
    places = [(50, 5), (52, 5), (55, 5.1), (50, 6)]
    assert [(row["x"], row["y"]) for row in drawn] == places


def test_labels_of_a_front_that_are_close_are_one():
    front = [{"name": "a", "x": n / 1000, "y": 1, "mark": n} for n in (3, 1, 2)]
    front += [{"name": "b", "x": 1.0, "y": 5, "mark": 4}, {"name": "b", "x": 3, "y": 8}]
    sides = axis("x", (0, 3)), axis("y", (0, 9))
    spec = scatter(front, "S", *sides, series=["a", "b"]).to_dict()
    assert rows(spec, "marks") == ["1–3", "4"]
    [line] = marks(spec, "line")
    assert [row["mark"] for row in line["data"]["values"]] == [1, 2, 3, 4]
    two = [{"name": "a", "x": 0, "y": 1, "mark": mark} for mark in (1, 2)]
    assert rows(scatter(two, "S", *sides, series=["a"]).to_dict(), "marks") == ["1, 2"]
    [point] = marks(spec, "point")
    assert point["encoding"]["opacity"]["condition"]["test"] == "isValid(datum.mark)"
    assert point["encoding"]["opacity"]["value"] < 1
