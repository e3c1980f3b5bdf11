"""Each page of the report: of the finished demo, of hostile results, and of one system alone."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from browser.made_pages import DEMO, HOSTILE, ONE_SYSTEM, WHOLE
from evenhand.report.page_list import PAGES
from in_browser import View

HERE = Path(__file__).parent
LOOK = (HERE / "look.js").read_text(encoding="utf-8")
OVERFLOW = (HERE / "overflow.js").read_text(encoding="utf-8")

LOOKS = [
    *(("demo", page) for page in DEMO),
    *(("hostile", page) for page in WHOLE),
    *(("one_system", page) for page in ONE_SYSTEM),
]
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 780}

#: A picture is no higher, in pixels.
HIGHEST = 6000

SVG = "{http://www.w3.org/2000/svg}"


#: Neighbours in a column that stand the wrong way round; cells without a value stand last.
#: DataTables takes words as they are spelled or, with other letters than English ones among
#: them, as the reader's language orders them.
UNSORTED = """(table, [column, way]) => {
  const cells = [...table.tBodies[0].rows].map((row) => row.cells[column]);
  const keys = cells.map((cell) => cell.dataset.order ?? cell.textContent.trim()).filter(Boolean);
  const numbers = keys.every((key) => !Number.isNaN(Number(key)));
  const as = { numeric: true, ignorePunctuation: true };
  const local = (a, b) => a.localeCompare(b, navigator.languages[0], as);
  const spelled = (a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);
  const sign = way === "ascending" ? 1 : -1;
  const wrong = (compare) =>
    keys.filter((key, i) => i && key !== keys[i - 1] && sign * compare(keys[i - 1], key) > 0);
  if (numbers) return wrong((a, b) => a - b);
  return wrong(local).length ? wrong(spelled) : [];
}"""


#: Texts of figures that stick out of them, or are smaller than 11 pixels.
CUT = """() => [...document.querySelectorAll(".chart")].flatMap((chart) => {
  const { left, right } = chart.getBoundingClientRect();
  return [...chart.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    const small = parseFloat(getComputedStyle(text).fontSize) < 11;
    return text.checkVisibility() && (small || box.left < left - 3 || box.right > right + 3);
  }).map((text) => text.textContent);
})"""

#: What the pages count.
THINGS = (
    "answer|case|character|check|comparison|difference|distance|file|job|model|pair|pattern"
    "|prediction|row|rule|run|seed|sentence|setting|source|stage|training"
)

#: How many figures there are, and how many of them are drawn once the page is to be printed.
PRINTED = """addEventListener("DOMContentLoaded", async () => {
  dispatchEvent(new Event("beforeprint"));
  for (let i = 0; i < 50; i++) await null; // what is under way without a timer
  const count = (drawn) => document.querySelectorAll(`.chart${drawn}`).length;
  window.printed = [count(""), count(":has(svg text)")];
})"""


#: The widths of the figures and the names that they cut.
DRAWN = """() => [
  [...document.querySelectorAll(".chart > div > svg")].map((svg) => svg.getAttribute("width")),
  [...document.querySelectorAll(".chart text")].map((text) => text.textContent)
    .filter((text) => text.includes("…")),
]"""


#: Places of a figure that are some pixels beside or below a mark and further from all others, with
#: what the mark says.
BESIDE = """(chart, away) => {
  const marks = [...chart.querySelectorAll(".role-mark [aria-label]")];
  const paths = marks.map((mark) => {
    const { a, d, e, f } = mark.getScreenCTM();
    const long = mark.closest(".mark-line") ? mark.getTotalLength() : 0;
    const at = (share) => (long ? mark.getPointAtLength(share * long) : { x: 0, y: 0 });
    return Array.from({ length: 401 }, (_, i) => [a * at(i / 400).x + e, d * at(i / 400).y + f]);
  });
  const far = (path, [x, y]) => Math.min(...path.map(([u, v]) => Math.hypot(x - u, y - v)));
  const beside = ([x, y]) => [[x + away, y], [x - away, y], [x, y + away], [x, y - away]];
  return paths.flatMap((path, i) => path.filter((_, n) => n % 50 === 0).flatMap(beside)
    .filter((spot) => document.elementFromPoint(...spot) === chart.querySelector("div"))
    .filter((spot) => paths.every((other, j) => i === j || far(other, spot) > far(path, spot) + 3))
    .map((spot) => [...spot, marks[i].getAttribute("aria-label")]));
}"""


@pytest.fixture(scope="module", params=LOOKS, ids="-".join)
def look(request) -> tuple[str, str]:
    """The place of a page and its name."""
    return request.param


@pytest.fixture(scope="module")
def opened(browser, places, look):
    place, page = look
    one = View(browser, places(place) / PAGES[page][0], viewport=WIDE)
    yield one
    one.close()


@pytest.fixture
def view(opened):
    yield opened
    opened.page.emulate_media(media="screen", color_scheme="light")
    opened.page.set_viewport_size(WIDE)


def take(view: View, pictures: Path, look: tuple[str, str], name: str) -> None:
    """Leave a picture of a page of the demo, for a person to look at."""
    place, page = look
    if place != "demo":
        return
    folder = pictures / place
    folder.mkdir(exist_ok=True)
    view.settle()
    width = view.page.viewport_size["width"]
    height = min(view.page.evaluate("document.documentElement.scrollHeight"), HIGHEST)
    view.page.screenshot(
        path=folder / f"{page}-{name}.jpeg",
        full_page=True,
        clip={"x": 0, "y": 0, "width": width, "height": height},
    )


def test_loads_in_silence(view, look, pictures):
    assert view.page.locator("h1:visible").count() == 1
    assert view.heard == [] == view.page.evaluate("window.violations")
    take(view, pictures, look, "light")


def test_one_thing_is_told_as_one(look, places):
    """In texts, labels and what figures say, which all stand in the file of the page."""
    place, page = look
    html = (places(place) / PAGES[page][0]).read_text(encoding="utf-8")
    assert re.findall(rf"(?<![\d.,])1(?:</\w+>)? (?:(?:{THINGS})s|people)\b.{{,30}}", html) == []


def test_can_be_used_without_eyes_or_mouse(view):
    assert view.page.evaluate(LOOK) == []


def test_is_dark_in_the_dark(view, look, pictures):
    brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
    assert min(map(int, view.page.evaluate(brightness))) > 200
    view.page.emulate_media(color_scheme="dark")
    assert max(map(int, view.page.evaluate(brightness))) < 60
    assert view.page.evaluate(OVERFLOW) == []
    take(view, pictures, look, "dark")


def test_fits_a_phone(view, look, pictures):
    view.page.set_viewport_size(PHONE)
    assert view.page.evaluate(OVERFLOW) == []
    view.settle()
    assert view.page.evaluate(CUT) == []
    take(view, pictures, look, "phone")
    view.page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    assert view.page.evaluate(OVERFLOW) == []


def test_prints_without_what_only_a_screen_needs(view, look, pictures):
    view.page.emulate_media(media="print")
    needless = "nav, .skip, form, button, input, select, [role=button], .downloads, .tip"
    assert view.page.locator(f":is({needless}):visible").count() == 0
    view.page.emulate_media(media="screen")
    if look[0] == "demo":  # for a person to look at, as `take`
        path = pictures / look[0] / f"{look[1]}-print.pdf"
        view.page.pdf(path=path, format="A4", page_ranges="1")
        assert path.read_bytes().startswith(b"%PDF")


def test_tables_sort_by_mouse_and_keys_and_filter(view):
    left = view.page.evaluate(
        """[...document.querySelectorAll("main table.sortable:not(.dataTable)")]
          .filter((table) => table.tBodies[0].rows.length > 1)
          .map((table) => table.caption.textContent)"""
    )
    assert left == []
    tables = view.page.locator("main table.sortable.dataTable")
    for i in range(min(tables.count(), 2)):
        sort_and_filter(tables.nth(i))


def sort_and_filter(table: Any) -> None:
    table.evaluate(
        "(one) => { for (; one; one = one.parentElement) if (one.matches('details')) one.open = 1 }"
    )
    buttons = table.locator("thead th:has([role=button]:visible)")
    for i in sorted({0, buttons.count() - 1}):
        head = buttons.nth(i)
        column = int(head.get_attribute("data-dt-column"))
        ways = []
        for press in (head.click, lambda one=head: one.locator("[role=button]").press("Enter")):
            wanted = {"ascending", "descending"}.difference(ways)
            press()
            expect(head).to_have_attribute("aria-sort", re.compile(f"^({'|'.join(wanted)})$"))
            ways.append(head.get_attribute("aria-sort"))
            assert table.evaluate(UNSORTED, [column, ways[-1]]) == []
    box = table.locator("xpath=ancestor::*[contains(@class, 'dt-container')][1]")
    field = box.locator("input[type=search]")
    if field.count():
        before = box.locator(".dt-info").inner_text()
        field.fill("no such words in any row")
        assert "No row holds these words" in table.inner_text()
        field.fill("")
        assert box.locator(".dt-info").inner_text() == before


def test_figures_tell_their_values_and_save_as_svg(view, look, tmp_path):
    figures = view.page.locator("main figure:has(.chart):visible")
    for i in range(min(figures.count(), 4)):
        chart = figures.nth(i).locator(".chart")
        marks = chart.locator(".role-mark [aria-label]")
        tip = view.page.locator(".tip:visible")
        if chart.locator(".role-mark:not(.mark-line) [aria-label]").count():
            marks.last.hover(force=True)  # which lies on top
            assert tip.inner_text().split() == marks.last.get_attribute("aria-label").split()
            view.page.mouse.move(0, 0)
            assert tip.count() == 0
        chart.focus()
        for key, place in (("ArrowRight", 0), ("ArrowLeft", marks.count() - 1)):
            view.page.keyboard.press(key)
            said = marks.nth(place).get_attribute("aria-label")
            assert tip.inner_text().split() == said.split() != []
        view.page.keyboard.press("Escape")
        assert tip.count() == 0
        with view.page.expect_download() as waiting:
            figures.nth(i).locator(".save").click()
        path = tmp_path / waiting.value.suggested_filename
        assert path.suffix == ".svg"
        waiting.value.save_as(path)
        legend = chart.locator(".role-legend-symbol > *").count()
        spec = json.loads(chart.locator("script").text_content())
        check_picture(path, spec["description"], legend)


@pytest.mark.parametrize(
    "page, kind", [("language_models", "line"), ("legal_classifiers", "symbol")]
)
def test_a_thin_mark_is_told_near_it_too(browser, places, page, kind):
    view = View(browser, places("demo") / PAGES[page][0], viewport=WIDE)
    view.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    for chart in view.page.locator(f".chart:visible:has(.mark-{kind} [aria-label])").all():
        chart.scroll_into_view_if_needed()
        if spots := chart.evaluate(BESIDE, 10):  # not where all marks lie on each other
            break
    tip = view.page.locator(".tip:visible")
    assert len({said for _, _, said in spots}) > 1
    for x, y, said in spots[:: len(spots) // 20 + 1]:
        view.page.mouse.move(x, y)
        assert tip.inner_text().split() == said.split()
        box = tip.bounding_box()
        assert abs(box["y"] + box["height"] / 2 - y) < 60
    box = chart.bounding_box()
    view.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    assert tip.count() == 0
    view.close()


def check_picture(path: Path, title: str, legend: int) -> None:
    """An SVG file that needs no page around it, with its title and so many lines of a legend."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    nodes = list(root.iter())
    assert {node.tag.removeprefix(SVG) for node in nodes} <= {
        "svg", "g", "rect", "circle", "line", "path", "text", "title", "polyline", "polygon",
        "ellipse", "tspan",
    }  # fmt: skip
    for node in nodes:
        assert not [name for name in node.attrib if name.startswith("on") or "href" in name]
        assert "style" not in node.attrib and "var(" not in str(node.attrib)
    assert "".join(title.split()) in "".join("".join(root.itertext()).split())
    symbols = [node for node in nodes if "role-legend-symbol" in node.get("class", "")]
    assert sum(len(list(node)) for node in symbols) == legend
    assert any("role-mark" in node.get("class", "") and len(node) for node in nodes)


def test_figures_take_the_colours_of_light_and_dark_and_print(view):
    texts = view.page.locator(".chart svg .role-axis-label text").first
    if not texts.count():
        return
    told = "(node) => getComputedStyle(node).fill"
    light = texts.evaluate(told)
    view.page.emulate_media(color_scheme="dark")
    dark = texts.evaluate(told)
    view.page.emulate_media(media="print", color_scheme="dark")
    printed = texts.evaluate(told)
    assert light != dark and printed not in (light, dark)


def test_all_figures_are_drawn_before_the_page_is_printed(browser, places):
    """Even if that happens before the page had the time for those further down."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.add_init_script(PRINTED)
    page.goto((places("demo") / PAGES["legal_classifiers"][0]).as_uri())
    charts, drawn = page.evaluate("() => window.printed")
    context.close()
    assert charts == drawn > 20


@pytest.mark.parametrize("page", ["front", "mitigation"])
def test_names_of_marks_have_room(browser, places, page, tmp_path):
    """On a wide screen, on paper and in files; a phone may cut those of mitigation."""
    found = []
    for screen in (PHONE, WIDE):
        view = View(browser, places("demo") / PAGES[page][0], viewport=screen)
        widths, cut = view.page.evaluate(DRAWN)
        of_changes = page == "mitigation" or all("↓" in name or "↑" in name for name in cut)
        assert not cut or (screen == PHONE and of_changes)
        view.page.evaluate(
            f"addEventListener('beforeprint', () => {{ window.paper = ({DRAWN})(); }})"
        )
        view.page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
        paper = view.page.evaluate("window.paper")
        assert paper[0] != widths and paper[1] == []
        view.settle()
        assert view.page.evaluate(DRAWN) == [widths, cut]
        saved = []
        for i, button in enumerate(view.page.locator("main .save:visible").all()):
            with view.page.expect_download() as waiting:
                button.click()
            waiting.value.save_as(tmp_path / f"{i}.svg")
            saved.append((tmp_path / f"{i}.svg").read_text(encoding="utf-8"))
        assert saved and "…" not in "".join(saved)
        found.append((paper, saved))
        view.close()
    assert found[0] == found[1]


def test_hostile_strings_stay_text(view, look):
    place, _ = look
    body = "document.body.textContent"
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator("img, iframe, object, embed").count() == 0
    if place == "hostile":
        shown = HOSTILE.replace("\u202e", "\ufffd")  # which would turn all that follows
        assert shown in view.page.evaluate(body)
        assert view.page.locator("main svg[onload], main [onerror]").count() == 0
