from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.cells import Axis, estimate, reach, ruler, ticks_between

HOSTILE = "<script>'\"&\x00"


def drawn(markup) -> LexborHTMLParser:
    return LexborHTMLParser(str(markup))


def test_a_number_stands_on_its_scale():
    one = estimate(Axis(30, 70), 60, (55, 65), "score 60", kind="more", centre=50, band=(45, 52))
    tree = drawn(one)
    assert tree.css_first("svg").attributes["class"] == "cell more"
    assert tree.css_first("circle").attributes["cx"] == "75.000%"
    assert tree.css_first(".zero").attributes["x1"] == "50.000%"
    ends = tree.css_first(".whisker").attributes
    assert (ends["x1"], ends["x2"]) == ("62.500%", "87.500%")
    band = tree.css_first(".band").attributes
    assert (band["x"], band["width"]) == ("37.500%", "17.500%")


def test_without_interval_or_band_neither_is_drawn():
    for nothing in ((None, None), (None, 1.0), (0.0, None)):
        one = estimate(Axis(0, 1), 0.5, nothing, "m", kind="unclear", centre=0, band=nothing)
        assert not drawn(one).css(".whisker, .band")


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_drawing_stays_within_its_cell(value, low, high):
    one = drawn(estimate(Axis(-1, 1), value, (low, high), "m", kind="male", centre=0))
    ends = [one.css_first("circle").attributes["cx"]]
    ends += [one.css_first(".whisker").attributes[x] for x in ("x1", "x2")]
    assert all(0 <= float(end.removesuffix("%")) <= 100 for end in ends)


def test_what_is_said_is_text():
    tree = drawn(estimate(Axis(0, 1), 0, (0, 0), HOSTILE, kind="male", centre=0))
    assert not tree.css("script")
    assert tree.css_first("svg").attributes["aria-label"] == "<script>'\"&␀"
    assert tree.css_first("title").text() == "<script>'\"&␀"


def test_a_ruler_has_its_ends_within_the_cell():
    texts = drawn(ruler(Axis(-1, 1), (-1, 0, 0.5, 1), "Scale", signs=True)).css("text")
    assert [text.text() for text in texts] == ["−1", "0", "+0.5", "+1"]
    anchors = [text.attributes["text-anchor"] for text in texts]
    assert anchors == ["start", "middle", "middle", "end"]
    assert drawn(ruler(Axis(0, 9000), (9000,), "Scale")).css_first("text").text() == "9,000"


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_ticks_are_round_and_lie_between(low, width):
    high = low + width
    ticks = ticks_between(low, high)
    assert len(ticks) <= 7
    assert all(low - width * 1e-6 <= tick <= high + width * 1e-6 for tick in ticks)


def test_ticks():
    assert ticks_between(0, 120) == [0, 20, 40, 60, 80, 100, 120]
    assert ticks_between(-1.2, 1.2, 4) == [-1, 0, 1]
    assert ticks_between(3, 3) == [3]


def test_a_scale_reaches_beyond_its_numbers_within_bounds():
    rows = [{"low": 40.0, "high": 70.0}, {"low": None, "high": 55.0}]
    assert reach(rows, ("low", "high"), centre=50, least=10, most=50) == 21
    assert reach(rows, ("low", "high"), centre=50, least=30, most=50) == 30
    assert reach(rows, ("low", "high"), centre=50, least=10, most=15) == 15
    assert reach([], ("low",), least=0.5) == 0.5
