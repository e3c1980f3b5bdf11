"""The page of the sentences: without its script, and in a browser."""

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evenhand import stage
from evenhand.report.write_sentences_page import write_sentences_page
from unit.report import made_explorer
from unit.report.checks import check_no_request, parse

HOSTILE = (
    "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>\u202e&amp;{{ 7*7 }}</title></svg>"
)
PLANTED = "埋在这里的{}捧着独一无二的记号。"
HOSTILE_FRAME = HOSTILE + "记者看到{}正在等车𠮷。"
PAIRS = [
    ("The baker is kind.", "The baker is loud."),
    (f"{HOSTILE} she waits.", f"{HOSTILE} he waits."),
    ("My aunt sings at night.", "My uncle sings at night."),
    ("The same.", "The same."),
]
HOSTILE_ID = "1/" + HOSTILE


def arguments(folder: Path) -> dict[str, Any]:
    """Two editions and two sets of pairs, with hostile strings wherever data has a say."""
    rows = made_explorer.sentence_rows(120, [HOSTILE_FRAME, PLANTED])
    rows[3]["source"] = HOSTILE
    hostile = HOSTILE.replace("/", "∕")
    given = made_explorer.write_edition(folder, "slguset", rows, ["one", "two", hostile], ["two"])
    given |= made_explorer.write_edition(folder, "slguset_published", rows[60:100], ["one"])
    english = {"masked": ["aul", "cps"], "other": ["aul"], "causal": ["log_likelihood"]}
    sets = [
        made_explorer.write_pairs(
            folder, "made", PAIRS, english, ["causal"], ids=["0", HOSTILE_ID]
        ),
        made_explorer.write_pairs(folder, "second", PAIRS[:1] * 2, {"one": ["aul"]}, title=HOSTILE),
    ]
    for name in sets[0]:
        given[name] = [path for one in sets for path in one[name]]
    return given


@pytest.fixture
def page(templates, tmp_path) -> Path:
    out = tmp_path / "report/sentences.html"
    out.parent.mkdir()
    write_sentences_page(templates=templates, out=out, **arguments(tmp_path))
    return out


def data_of(tree, block):
    return json.loads(tree.css_first(f"script#{block}").text())


def test_holds_every_row(page):
    tree = parse(page)
    assert [node.attributes["id"] for node in tree.css("script[type='application/json']")] == [
        "data-slguset", "data-slguset_published", "data-stereotypes-made",
        "data-stereotypes-second"]  # fmt: skip
    assert len(data_of(tree, "data-slguset")["id"]) == 120
    assert data_of(tree, "data-slguset")["text"][1] == [
        "埋在这里的",
        "女人",
        "捧着独一无二的记号。",
    ]
    assert len(data_of(tree, "data-stereotypes-made")["text"]) == 4


def test_reads_without_the_script(page):
    tree = parse(page)
    tables = tree.css(".explorer table")
    assert [len(table.css("tbody tr")) for table in tables] == [25, 3]
    assert "120 rows in This run’s data set; the 25 furthest" in tree.css_first("#sentences").text()
    assert "two has no number in This run’s data set" in tree.css_first(".warning").text()
    for form in tree.css("form"):
        assert "hidden" in form.attributes


@pytest.mark.parametrize(
    "without", [["dataset", "bias", "bias_scores"], ["sets"], ["bias_scores"], ["bias"], ["scores"]]
)
def test_renders_without(templates, tmp_path, without):
    given = {name: value for name, value in arguments(tmp_path).items() if name not in without}
    counts = write_sentences_page(templates=templates, out=tmp_path / "page.html", **given)
    tree = parse(tmp_path / "page.html")
    assert ("slguset" in counts["rows"]) == ("dataset" not in without)
    assert "None" not in tree.css_first("main").text()


def test_says_that_nothing_is_there(templates, tmp_path):
    write_sentences_page(templates=templates, out=tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count('class="absent"') == 3
    assert "<form" not in html


def test_hostile_strings_stay_text(page):
    tree = parse(page)
    assert {node.attributes["type"] for node in tree.css("script")} == {"application/json"}
    assert not tree.css("img, iframe, object, embed, link, base")
    for node in tree.css("*"):
        assert not [name for name in node.attributes if name.startswith("on")], node.html
    assert HOSTILE in data_of(tree, "data-slguset")["text"][0][0]
    assert any(HOSTILE in node.text() for node in tree.css("option"))


def test_marks_of_direction_turn_nothing_around_them(page):
    tree = parse(page)
    for isolated in tree.css("bdi, code, script, title, option"):
        isolated.decompose()
    assert "\u202e" not in tree.body.text()


def test_asks_nothing_of_the_network(page):
    check_no_request(parse(page))


def test_can_be_used_without_eyes_or_mouse(page):
    tree = parse(page)
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    levels = [int(node.tag[1]) for node in tree.css("h1, h2, h3, h4")]
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    for field in tree.css("input, select"):
        assert field.parent.tag == "label" and field.parent.text().strip()
    for head in tree.css("th"):
        assert head.attributes["scope"] in ("col", "row")
    for node in tree.css("#sentences .sentence"):
        assert node.attributes["lang"] == "zh-Hans"


def test_the_same_input_gives_the_same_bytes(templates, tmp_path, page):
    again = tmp_path / "again.html"
    write_sentences_page(templates=templates, out=again, **reread(tmp_path))
    assert again.read_bytes() == page.read_bytes()
    assert str(tmp_path) not in page.read_text(encoding="utf-8")


def reread(folder: Path) -> dict[str, Any]:
    """The arguments of the page for results that are there."""
    given: dict[str, Any] = {}
    for prefix, edition in (("", "slguset"), ("published_", "slguset_published")):
        given[f"{prefix}dataset"] = folder / edition / "slguset.parquet"
        given[f"{prefix}bias"] = folder / "tables" / f"{edition}_bias.csv"
        given[f"{prefix}bias_scores"] = sorted((folder / edition / "bias").iterdir(), reverse=True)
    sets = folder / "stereotypes"
    given["sets"] = [sets / "made/pairs.json", sets / "second/pairs.json"]
    given["pairs"] = sorted(sets.glob("*/pairs.parquet"))
    given["scores"] = sorted(sets.glob("*/scores/*"), reverse=True)
    given["gates"] = sorted(sets.glob("*/gates/*"))
    return given


def test_runs_as_a_stage(templates, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_STATE", raising=False)
    out = tmp_path / "report/sentences.html"
    given = {"templates": templates, "out": out, **arguments(tmp_path)}
    record = stage.execute(write_sentences_page, given)
    assert record["counts"]["bytes"] == out.stat().st_size
    assert record["counts"]["rows"] == {
        "slguset": 120, "slguset_published": 40, "stereotypes/made": 4,
        "stereotypes/second": 2}  # fmt: skip


# In a browser


class Seen:
    """A page in a browser; what it says aloud and asks for is a failure."""

    def __init__(self, browser, address: str, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(5000)
        self.heard: list[str] = []
        self.page.on("console", lambda message: self.heard.append(message.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("dialog", lambda dialog: self.heard.append(dialog.message))
        self.page.on(
            "request",
            lambda request: request.url.startswith("file:") or self.heard.append(request.url),
        )
        self.page.goto(address)

    def rows(self, explorer: str = "sentences") -> list[str]:
        return self.page.locator(
            f"#explore-{explorer} .dt-container tbody .sentence:visible"
        ).all_inner_texts()

    def choose(self, field: str, value: str, explorer: str = "sentences") -> None:
        self.page.select_option(f"#explore-{explorer} [name={field}]", value)

    def search(self, words: str) -> None:
        self.page.fill("#explore-sentences [name=words]", words)
        self.page.press("#explore-sentences [name=words]", "Enter")

    def numbers(self, column: int = 2, explorer: str = "sentences") -> list[float]:
        cells = self.page.locator(
            f"#explore-{explorer} .dt-container tbody td:nth-child({column}) .number"
        ).all_inner_texts()
        return [float(text.replace("−", "-")) for text in cells]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def seen(browser, page):
    opened: list[Seen] = []

    def look(address: str = "", **settings: Any) -> Seen:
        opened.append(Seen(browser, f"file://{page}{address}", **settings))
        return opened[-1]

    yield look
    for one in opened:
        one.context.close()
        assert one.heard == []


def test_a_planted_sentence_is_found(seen):
    view = seen()
    view.search("独一无二 捧着")
    assert view.rows() == ["埋在这里的女人捧着独一无二的记号。"]
    assert view.page.locator("#explore-sentences tbody mark:visible").inner_text() == "女人"
    assert (
        view.page.locator("#explore-sentences .dt-info").inner_text() == "Rows 1 to 1 of 1 (of 120)"
    )
    assert "No number: it has more tokens" in view.page.inner_text("#explore-sentences tbody")
    view.search("没有这样的句子")
    assert view.rows() == []


def test_a_sentence_opens_by_its_address(seen):
    row = made_explorer.sentence_rows(120, [HOSTILE_FRAME, PLANTED])[1]
    view = seen(f"#{row['sentence_id']}")
    opened = view.page.locator("#explore-sentences article")
    assert row["sentence_id"] in opened.locator("h3").inner_text()
    assert opened.locator(".sentence").all_inner_texts() == [
        row["sentence"], row["swapped_sentence"]]  # fmt: skip
    assert "line 2" in opened.inner_text()
    opened.locator("button").click()
    assert not opened.is_visible()


def test_an_address_may_name_another_edition_or_a_pair_or_nothing(seen):
    row = made_explorer.sentence_rows(120)[70]
    view = seen(f"#slguset_published/{row['sentence_id']}")
    assert "The published file" in view.page.inner_text("#explore-sentences article h3")
    assert "40" in view.page.inner_text("#explore-sentences .dt-info")
    view = seen("#stereotypes/made/2")
    opened = view.page.locator("#explore-pairs article")
    assert opened.locator("mark").all_inner_texts() == ["aunt", "uncle"]
    assert opened.locator("tbody tr").count() == 3  # masked: aul, cps; other: aul
    for address in ("#0123456789abcdef", "#stereotypes/none/1", f"#<img src=x>/{1}"):
        view = seen(address)
        assert "has the address" in view.page.inner_text(".unfound")
    seen("#%E0%A4%A")  # is no text


def test_sorts_by_bias_and_by_the_difference_of_two_models(seen):
    view = seen()
    sizes = [abs(value) for value in view.numbers()]
    assert len(sizes) == 25 and sizes == sorted(sizes, reverse=True)
    view.choose("order", "value-asc")
    assert view.numbers() == sorted(view.numbers())
    assert view.numbers()[0] < 0
    head = view.page.locator("#explore-sentences thead th").nth(1)
    head.click()
    view.page.wait_for_selector("#explore-sentences thead th[aria-sort=descending]")
    assert view.numbers() == sorted(view.numbers(), reverse=True)
    view.choose("beside", "1")
    one, two, gap = (view.numbers(column) for column in (2, 3, 4))
    assert gap == pytest.approx([a - b for a, b in zip(one, two, strict=True)], abs=1e-9)
    assert [abs(value) for value in gap] == sorted(map(abs, gap), reverse=True)
    view.choose("beside", "")
    assert view.page.locator("#explore-sentences thead th").count() == 2


def test_rows_without_a_number_stand_last_either_way(seen):
    view = seen()
    for order in ("value-asc", "value-desc", "size-desc"):
        view.choose("order", order)
        view.page.locator("#explore-sentences .dt-paging button.last").first.click()
        assert "No number" in view.page.locator("#explore-sentences tbody tr").last.inner_text()


def test_chooses_by_pair_keyword_and_lean(seen):
    view = seen()
    view.page.get_by_label("Pair").first.select_option(label="他/她 (48)")
    view.page.get_by_label("Keyword").first.select_option(label="female (72)")
    assert "of 24 (of 120)" in view.page.inner_text("#explore-sentences .dt-info")
    assert {"她" in text for text in view.rows()} == {True}
    view.choose("lean", "plus")
    assert view.numbers() and min(view.numbers()) > 0.3
    view.choose("lean", "none")
    assert view.rows() == []
    view.page.click("#explore-sentences button[type=reset]")
    view.choose("lean", "unknown")
    assert len(view.rows()) == 1


def test_shows_the_swapped_form_beside(seen):
    view = seen()
    view.search("独一无二")
    view.page.check("#explore-sentences [name=swapped]")
    assert view.rows() == [
        "埋在这里的女人捧着独一无二的记号。",
        "埋在这里的男人捧着独一无二的记号。",
    ]


def test_planted_hostile_strings_stay_text(seen):
    view = seen()
    view.search("alert(1)")
    assert any(HOSTILE in text for text in view.rows())
    hostile = HOSTILE.replace("/", "∕")
    view.choose("measure", "1")
    assert hostile in view.page.locator("#explore-sentences thead th").nth(1).inner_text()
    view.choose("collection", "stereotypes/second", "pairs")
    view.choose("collection", "stereotypes/made", "pairs")
    view.page.click(f"#explore-pairs tbody a:has-text('{HOSTILE_ID[:9]}')")
    assert HOSTILE_ID in view.page.inner_text("#explore-pairs article h3")
    assert view.page.locator("img, main script:not([type='application/json']), svg").count() == 0


def test_differing_words_of_a_pair_are_marked(seen):
    view = seen()
    marks = view.page.locator("#explore-pairs tbody mark:visible").all_inner_texts()
    assert sorted(marks) == sorted(["kind", "loud", "she", "he", "aunt", "uncle"])
    options = view.page.locator("#explore-pairs [name=measure] option").all_inner_texts()
    assert options == ["masked, AUL", "masked, CPS", "other, AUL"]
    beside = view.page.locator("#explore-pairs [name=beside] option").all_inner_texts()
    assert beside == ["Nothing", "other"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_a_phone(seen, scheme):
    row = made_explorer.sentence_rows(120)[70]
    for address in (f"#{row['sentence_id']}", f"#stereotypes/made/{2}"):
        view = seen(address, viewport={"width": 390, "height": 800}, color_scheme=scheme)
        over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert view.page.evaluate(over) <= 0


def test_the_keyboard_reaches_everything(seen):
    view = seen()
    view.page.focus("#explore-sentences [name=words]")
    reached = set()
    for _ in range(16):
        view.page.keyboard.press("Tab")
        reached.add(
            view.page.evaluate("document.activeElement.name || document.activeElement.tagName")
        )
    assert {"collection", "measure", "lean", "order", "swapped"} <= reached
    view.page.focus("#explore-sentences tbody a")
    view.page.keyboard.press("Enter")
    view.page.wait_for_function("document.activeElement.tagName === 'ARTICLE'")
