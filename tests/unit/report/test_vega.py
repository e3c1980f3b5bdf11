import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.vega import Side, by_kind, layer, shown, specification


def test_colours_are_names_of_the_style_sheet():
    colours = by_kind([{"kind": "unclear"}, {"kind": "male"}, {"kind": "male"}])["scale"]
    assert colours == {"domain": ["male", "unclear"], "range": ["var(--male)", "var(--lost)"]}
    other = by_kind([{"kind": "unclear"}], unclear="paper")["scale"]
    assert other["range"] == ["var(--paper)"]


def test_a_layer_without_words_has_no_voice():
    assert layer("bar", {})["mark"] == {"type": "bar", "aria": False}
    said = {"description": {"field": "words"}}
    assert layer("bar", said, color="x")["mark"] == {"type": "bar", "color": "x"}
    own = layer("rule", {}, data=[{"a": "\x07"}], only="datum.a")
    assert own["data"] == {"values": [{"a": "␇"}]}
    assert own["transform"] == [{"filter": "datum.a"}]


@pytest.mark.parametrize(
    ("given_", "axis"),
    [
        ({"shares": True}, {"labelExpr": "format(100 * datum.value, '~g') + '\u00a0%'"}),
        ({"whole": True}, {"tickMinStep": 1, "format": ",d"}),
        ({"ticks": (0, 1)}, {"values": [0, 1]}),
        ({"label": "datum.value"}, {"labelExpr": "datum.value"}),
        ({"grid": True}, {"grid": True}),
    ],
)
def test_a_side_says_how_its_ticks_are_written(given_, axis):
    made = Side("Title", (0, 2), **given_).encode("a")
    assert made["field"] == "a" and made["title"] == "Title"
    assert made["scale"] == {"domain": [0, 2], "nice": False, "clamp": True, "zero": False}
    assert made["axis"] == {"grid": False, "tickCount": 5} | axis


def test_a_scale_of_powers_has_no_zero():
    made = Side("Loss", (0.1, 2), powers=True).mark(1)
    assert made["datum"] == 1 and "field" not in made
    assert made["scale"] == {"domain": [0.1, 2], "nice": False, "clamp": True, "type": "log"}


def test_an_empty_figure_is_one():
    spec = specification("Nothing", 0, [], [])
    assert (spec["height"], spec["data"], spec["layer"]) == (1, {"values": []}, [])
    assert spec["usermeta"] == {"widest": None, "longest": 0}


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_what_is_shown_has_no_control_characters_and_is_json(row):
    [made] = shown([row])
    assert json.loads(json.dumps(made)) == made
    assert made.keys() == row.keys()
    texts = [value for value in made.values() if isinstance(value, str)]
    assert not [c for text in texts for c in text if ord(c) < 32 and c not in "\t\n"]
