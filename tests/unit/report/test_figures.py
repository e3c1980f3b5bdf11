from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.figures import Axis, Step, histogram, interval, ticks_between, waterfall


def share(text: str) -> float:
    return float(text.removesuffix("%"))


def test_waterfall_bars_show_what_is_left_and_what_is_taken():
    steps = [
        Step("All", 200, 200, "whole"),
        Step("Names", 200, 150),
        Step("Kept", 150, 150, "kept"),
    ]
    tree = LexborHTMLParser(str(waterfall(steps, "A figure.")))
    taken = tree.css("rect.lost")
    assert [share(node.attributes["x"]) for node in taken] == [75]
    assert [share(node.attributes["width"]) for node in taken] == [25]
    assert share(tree.css_first("rect.kept").attributes["width"]) == 75
    assert [node.text() for node in tree.css("text.number")] == ["200", "−50", "150"]
    assert tree.css("g title")[1].text() == "Names: 50 (25.0\xa0%)"


def test_waterfall_of_nothing():
    drawing = waterfall([Step("All", 0, 0, "whole"), Step("Kept", 0, 0, "kept")], "A figure.")
    assert "NaN" not in drawing
    assert not LexborHTMLParser(str(drawing)).css("rect.bar")


def test_histogram_bars_are_as_high_as_their_share():
    drawing = histogram([1, 3, 0], [-2, -1, 0, 1], "A figure.", signs=True, height=100)
    bars = LexborHTMLParser(str(drawing)).css("rect.bar")
    assert [float(bar.attributes["height"]) for bar in bars] == [33.33, 100]
    assert [bar.attributes["class"] for bar in bars] == ["bar female", "bar female"]
    assert bars[0].text() == "−2 to −1: 1 sentences (25.0\xa0%)"


def test_histograms_on_one_scale():
    drawing = histogram([1, 1], [0, 1, 2], "A figure.", top=1.0, height=100)
    bars = LexborHTMLParser(str(drawing)).css("rect.bar")
    assert [float(bar.attributes["height"]) for bar in bars] == [50, 50]


def test_interval_keeps_within_its_axis():
    drawing = interval(Axis(-1, 1), 0.5, -3, 3, "mean +0.5")
    line = LexborHTMLParser(str(drawing)).css_first("line.whisker").attributes
    assert (share(line["x1"]), share(line["x2"])) == (0, 100)
    assert not LexborHTMLParser(str(interval(Axis(-1, 1), 0.5, None, None, "m"))).css(".whisker")


def test_labels_are_text():
    hostile = "<script>'\"&\x00"
    drawing = waterfall([Step(hostile, 1, 1, "whole")], hostile)
    tree = LexborHTMLParser(str(drawing))
    assert not tree.css("script")
    assert tree.css_first("text").text() == "<script>'\"&␀"
    assert tree.css_first("svg").attributes["aria-label"] == "<script>'\"&␀"


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
