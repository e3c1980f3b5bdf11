"""Figures of amounts: the right numbers at the right marks, and what the schema asks for."""

import re

import altair
import pytest

from evenhand.report.figures import (
    Bar,
    Estimate,
    Step,
    bars,
    distributions,
    estimates,
    heat_map,
    histogram,
    shares,
    waterfall,
)
from evenhand.report.vega import Side
from unit.report.checks import rows
from unit.report.test_style import SCHEMES

#: A name that is markup, an expression of Vega, a path into a row, and a mark of direction.
HOSTILE = "</script>'\"&\x00\u202e{{ 7*7 }}[datum.x].y\\"
SHOWN = HOSTILE.replace("\x00", "␀")


def marks(spec, kind):
    """The layers of one kind of marks."""
    return [one for one in spec["layer"] if one["mark"]["type"] == kind]


ALL = {
    "waterfall": waterfall([Step(HOSTILE, 9, 9, "rest"), Step("b", 9, 4)], HOSTILE, unit=HOSTILE),
    "bars": bars([Bar("a", 1.5, "1.5 s", "a job")], "Time", unit="Seconds"),
    "no bars": bars([], "Time", unit="Seconds"),
    "estimates": estimates(
        [Estimate(HOSTILE, 1.0, "w", "s", (0, 2), (0, 1), "more"), Estimate("b", 0.0, "w", "s")],
        Side(HOSTILE, (0, 2), signs=True),
        HOSTILE,
        centre=1,
    ),
    "histogram": histogram([1, 0, 3], [0, 1, 2, 3], HOSTILE, title=HOSTILE, thing=HOSTILE),
    "empty histogram": histogram([], [0], "H", title="T", thing="u"),
    "distributions": distributions(
        [(HOSTILE, [1, 3]), ("b", [0, 0])], [-1, 0, 1], "D", title="T", thing="u", marks=(-0.5, 0.5)
    ),
    "heat map": heat_map([HOSTILE, "b"], [[None, -0.5], [None, None]], HOSTILE),
    "shares": shares([(HOSTILE, [0.25, None])], [HOSTILE, "b"], HOSTILE, title=HOSTILE),
    "no shares": shares([], [], "S", title="T"),
}


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_a_specification_of_vega_lite(name):
    altair.LayerChart.from_dict(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_colours_are_the_style_sheets(name):
    used = re.findall(r"(?:color|stroke|fill|range)'?: '([^']+)'", str(ALL[name]))
    used += re.findall(r"var\(--[\w-]+\)", str(ALL[name]))
    assert set(used) <= {f"var(--{one})" for one in SCHEMES["light"]} | {"transparent"}


@pytest.mark.parametrize("name", ALL)
def test_names_of_data_are_never_names_of_fields_or_expressions(name):
    layers = str([one | {"data": None} for one in ALL[name]["layer"]])
    for text in ("datum.x", "7*7"):
        # but as titles of axes, which are text
        assert text not in re.sub(r"'title': (\"[^\"]*\"|'[^']*')", "", layers.replace("\\'", ""))


def test_a_waterfall_shows_what_is_left_and_what_is_taken():
    steps = [Step("All", 200, 200, "rest"), Step("a", 200, 150), Step("Kept", 150, 150, "kept")]
    spec = waterfall(steps, "A figure", unit="Sentences")
    piece = marks(spec, "bar")[0]
    assert piece["data"]["values"] == [
        {"row": 0, "from": 0, "to": 200, "kind": "rest"},
        {"row": 1, "from": 0, "to": 150, "kind": "rest"},
        {"row": 1, "from": 150, "to": 200, "kind": "lost"},
        {"row": 2, "from": 0, "to": 150, "kind": "kept"},
    ]
    assert piece["encoding"]["x"]["scale"]["domain"] == [0, 200]
    assert piece["encoding"]["x"]["title"] == "Sentences"
    values = spec["data"]["values"]
    assert [row["text"] for row in values] == ["200", "−50", "150"]
    assert values[1]["words"] == "a: 50 (25.0\xa0%)"
    assert spec["description"] == "A figure"


def test_a_waterfall_of_nothing():
    nothing = [Step("All", 0, 0, "rest"), Step("Kept", 0, 0, "kept")]
    spec = waterfall(nothing, "A figure", unit="Sentences")
    piece = marks(spec, "bar")[0]
    assert piece["data"]["values"] == []
    assert piece["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert [row["text"] for row in spec["data"]["values"]] == ["0", "0"]


def test_bars_end_at_the_largest():
    two = [Bar("a", 2.0, "2 s", "a: two"), Bar("b", 8.0, "8 s", "b: eight")]
    [piece, _] = marks(bars(two, "Time", unit="Seconds"), "bar")
    assert [row["to"] for row in piece["data"]["values"]] == [2.0, 8.0]
    assert piece["encoding"]["x"]["scale"]["domain"] == [0, 8.0]
    assert piece["encoding"]["color"]["scale"]["range"] == ["var(--quiet)"]


def test_estimates_have_their_intervals_and_bands():
    spec = ALL["estimates"]
    first, second = spec["data"]["values"]
    assert (first["low"], first["value"], first["high"]) == (0, 1.0, 2)
    assert (first["from"], first["to"]) == (0, 1)
    assert (second["low"], second["high"], second["from"]) == (None, None, None)
    assert (first["words"], first["kind"], second["kind"]) == (f"{SHOWN}: w", "more", "unclear")
    [dot] = marks(spec, "point")
    assert dot["encoding"]["fill"]["scale"]["range"] == ["var(--more)", "var(--paper)"]
    assert dot["encoding"]["color"]["scale"]["range"] == ["var(--more)", "var(--lost)"]
    assert dot["encoding"]["x"]["scale"]["clamp"] is True  # beyond an end, at the end
    [centre] = marks(spec, "tick")
    assert centre["encoding"]["x"]["datum"] == 1
    assert not marks(estimates([], Side("T", (0, 1)), "E"), "tick")


def test_the_number_at_the_end_leaves_room_for_the_name():
    wide = [Estimate("a", 1, "w", "1" * 30)]
    name, _ = marks(estimates(wide, Side("T", (0, 1)), "E"), "text")
    assert name["mark"]["limit"] == {"expr": "width - 222"}


def test_a_histogram_has_shares_of_all():
    spec = histogram([1, 3, 0], [0, 10, 20, 30], "H", title="Characters", thing="sentence")
    assert spec["data"]["values"] == [
        {"from": 0, "to": 10, "share": 0.25, "words": "0 to 9: 1 sentence (25.0\xa0%)"},
        {"from": 10, "to": 20, "share": 0.75, "words": "10 to 19: 3 sentences (75.0\xa0%)"},
    ]
    [bar] = spec["layer"]
    assert bar["encoding"]["x"]["scale"]["domain"] == [0, 30]
    assert bar["encoding"]["y"]["scale"]["domain"] == [0, 0.75]


def test_histograms_on_one_scale():
    spec = histogram([1, 1], [0, 1, 2], "H", title="T", thing="u", end=9, top=1.0)
    assert [row["words"][:2] for row in spec["data"]["values"]] == ["0:", "1:"]
    [bar] = spec["layer"]
    assert bar["encoding"]["x"]["scale"]["domain"] == [0, 9]
    assert bar["encoding"]["y"]["scale"]["domain"] == [0, 1.0]


def test_distributions_share_one_scale():
    two = [("a", [1, 3]), (HOSTILE, [100, 0])]
    spec = distributions(two, [-1, 0, 1], "D", title="Bias", thing="sentence", marks=(-0.3, 0.3))
    values = spec["data"]["values"]
    heights = [row["base"] - row["top"] for row in values]
    assert heights == pytest.approx([0.15, 0.45, 0.6])
    assert [row["base"] for row in values] == [0.95, 0.95, 1.95]
    assert [row["kind"] for row in values] == ["female", "male", "female"]
    assert values[2]["words"] == f"{SHOWN}, 0 or less: 100 sentences (100.0\xa0%)"
    assert values[0]["words"].startswith("a, 0 or less: 1 sentence (")
    assert rows(spec, "name")[:2] == ["a", SHOWN]
    _, *rules = marks(spec, "rule")  # the first are the lines on which the bars stand
    assert [one["encoding"]["x"]["datum"] for one in rules] == [-0.3, 0.3, 0]
    axis = spec["layer"][0]["encoding"]["y"]["axis"]
    assert axis["values"] == pytest.approx([0.35, 0.95, 1.35, 1.95])
    assert axis["labelExpr"] == "datum.value % 1 > 0.65 ? '0 %' : \"100.0\\u00a0%\""


def test_a_heat_map_is_coloured_by_size_and_sign():
    values = [[None, -0.5, None], [1.0, None, 0.25], [0, 2.0, None]]
    spec = heat_map(["a", "b", "c"], values, "H")
    cells = spec["data"]["values"]
    assert [one["kind"] for one in cells] == ["evidence", *["kept"] * 5]
    assert [one["size"] for one in cells] == [0.5, 0, 1, 0.25, 0, 1]
    assert [one["text"] for one in cells] == ["−0.50", "–", "1.00", "0.25", "0.00", "2.00"]
    assert cells[0]["words"] == "a and b: −0.500"
    assert [(one["row"], one["column"]) for one in cells[:2]] == [(0, 2), (0, 3)]
    assert rows(spec, "name") == ["1 a", "2 b", "3 c"]
    # never more than half of the colour: see test_numbers_on_cells_can_be_read
    assert spec["layer"][0]["encoding"]["fillOpacity"]["scale"]["range"] == [0, 0.5]


def test_shares_of_rows():
    spec = shares([("a", [0.25, 0.75]), (HOSTILE, [None, 1.0])], ["x", "y"], "S", title="Groups")
    cells = spec["data"]["values"]
    assert [one["size"] for one in cells] == [0.25, 0.75, 0, 1.0]
    texts = [one["text"].replace("\xa0", " ") for one in cells]
    assert texts == ["25 %", "75 %", "–", "100 %"]
    assert cells[1]["words"] == "a, y: 75.0\xa0%"
    assert rows(spec, "name") == ["a", SHOWN]
    assert spec["layer"][0]["encoding"]["x"]["axis"]["title"] == "Groups"
