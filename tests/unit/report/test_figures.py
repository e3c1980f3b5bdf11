import re

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.figures import (
    MARKS,
    Axis,
    Estimate,
    Step,
    curve_sample,
    distributions,
    estimates,
    heat_map,
    histogram,
    interval,
    shares,
    ticks_between,
    waterfall,
)


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


def test_distributions_share_one_scale():
    rows = [("a", [1, 3]), ("<b>", [100, 0])]
    drawing = distributions(rows, [-1, 0, 1], "A figure.", ticks=(0,), marks=(-0.3, 0.3))
    tree = LexborHTMLParser(str(drawing))
    bars = tree.css("rect.bar")
    assert [float(bar.attributes["height"]) for bar in bars] == [11, 33, 44]
    assert [bar.attributes["class"] for bar in bars] == ["bar female", "bar male", "bar female"]
    assert bars[2].text() == "<b>, −1 to 0: 100 sentences (100.0\xa0%)"
    assert [node.text() for node in tree.css("text.label")] == ["a", "<b>"]
    assert len(tree.css("line.zero")) == 1 and len(tree.css("line.threshold")) == 2


def test_heat_map_colours_by_size_and_sign():
    values = [[None, -0.5, None], [1.0, None, 0.25], [0, 2.0, None]]
    tree = LexborHTMLParser(str(heat_map(["a", "b", "c"], values, "A figure.")))
    cells = tree.css("rect.cell")
    kinds = [cell.attributes["class"].removeprefix("cell ") for cell in cells]
    assert kinds == ["minus", "plus", "plus", "plus", "plus", "plus"]
    opacities = [float(cell.attributes["fill-opacity"]) for cell in cells]
    assert opacities == [0.25, 0, 0.5, 0.125, 0, 0.5]  # never more than half: see the next test
    texts = [node.text() for node in tree.css("text.number")]
    assert texts == ["−0.50", "–", "1.00", "0.25", "0.00", "2.00"]
    assert tree.css("g title")[0].text() == "a and b: −0.500"


def test_shares_of_rows():
    rows = [("a", [0.25, 0.75]), ("<b>", [None, 1.0])]
    tree = LexborHTMLParser(str(shares(rows, ["x", "y"], "A figure.")))
    assert [float(one.attributes["fill-opacity"]) for one in tree.css("rect.cell")] == [
        0.125, 0.375, 0, 0.5,
    ]  # fmt: skip
    texts = [node.text().replace("\xa0", " ") for node in tree.css("text.number")]
    assert texts == ["25 %", "75 %", "–", "100 %"]
    assert [node.text() for node in tree.css("text.label")] == ["a", "<b>"]
    assert [node.text() for node in tree.css("text.value")] == ["1", "2"]
    assert tree.css("g title")[1].text() == "a, y: 75.0\xa0%"
    ends = [(share(one.attributes["x"]), share(one.attributes["width"]))
            for one in tree.css("rect.cell")]  # fmt: skip
    assert ends == [(0, 50), (50, 50)] * 2
    assert not LexborHTMLParser(str(shares([], [], "A figure."))).css("rect")


def test_a_sample_shows_the_mark_of_its_points():
    assert not LexborHTMLParser(str(curve_sample("line-1"))).css(".point")
    for mark in MARKS:
        [point] = LexborHTMLParser(str(curve_sample("line-1", mark))).css("g.line-1 .point")
        assert len(point.attributes.get("points", "").split()) == len(MARKS[mark])


def luminance(colour: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_numbers_on_a_heat_map_can_be_read(repository):
    """The contrast of WCAG 2 for text (4.5) on the strongest colour, in light and in dark."""
    style = (repository / "workflow/evenhand/report/templates/style.css").read_text("utf-8")
    light, dark = style.split("@media (prefers-color-scheme: dark)")[:2]
    for block in (light, dark):
        found = dict(re.findall(r"--(\w+): #([0-9a-f]{6})", block))
        colour = {
            k: tuple(int(v[i : i + 2], 16) / 255 for i in (0, 2, 4)) for k, v in found.items()
        }
        for fill in ("kept", "evidence", "paper"):
            mixed = tuple((a + b) / 2 for a, b in zip(colour[fill], colour["paper"], strict=True))
            low, high = sorted((luminance(mixed), luminance(colour["ink"])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, fill


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


def test_estimates_stand_at_their_values_with_interval_and_band():
    rows = [
        Estimate("<a>", 50, "half", "50.0", (40, 60), (45, 55), kind="more"),
        Estimate("b" * 60, 100, "all", "100.0"),
    ]
    drawing = estimates(rows, Axis(0, 100), "A figure.", ticks=(0, 100), centre=50)
    tree = LexborHTMLParser(str(drawing))
    assert [share(node.attributes["cx"]) for node in tree.css("circle")] == [50, 100]
    assert [node.parent.attributes["class"] for node in tree.css("circle")] == ["more", "unclear"]
    (whisker,), (band,) = tree.css("line.whisker"), tree.css("rect.band")
    assert (share(whisker.attributes["x1"]), share(whisker.attributes["x2"])) == (40, 60)
    assert (share(band.attributes["x"]), share(band.attributes["width"])) == (45, 10)
    assert len(tree.css("line.zero")) == 2
    assert [node.text() for node in tree.css("g title")] == ["<a>: half", f"{'b' * 60}: all"]
    labels = [node.text() for node in tree.css("text.label")]
    assert labels == ["<a>", f"{'b' * 43}…"]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_estimates_stay_within_the_figure(value, low, high):
    drawing = estimates([Estimate("a", value, "w", "s", (low, high))], Axis(0, 1), "F", ticks=())
    tree = LexborHTMLParser(str(drawing))
    ends = [tree.css_first("circle").attributes["cx"]]
    ends += [tree.css_first("line.whisker").attributes[x] for x in ("x1", "x2")]
    assert all(0 <= share(end) <= 100 for end in ends)
