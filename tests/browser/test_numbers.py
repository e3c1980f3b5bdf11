"""Numbers of tables: the card that tells where one comes from, and what is behind it."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from browser.made_pages import HOSTILE
from evenhand.report import render
from evenhand.report.page_list import PAGES
from in_browser import View
from unit.report import made_results

#: As many rows as the paper has sentences.
MANY = 20_000

HERE = Path(__file__).parent
NUMBERS = (HERE / "numbers.js").read_text(encoding="utf-8")


@pytest.fixture
def made(browser, repository, tmp_path):
    """A page of one table with these rows, opened."""
    opened: list[View] = []

    def make(
        rows: list[dict[str, Any]],
        pages: tuple[str, ...] = ("sentences",),
        address: str = "",
        **settings: Any,
    ) -> View:
        out = tmp_path / "page.html"
        links = [{"href": PAGES[page][0], "name": page, "current": False} for page in pages]
        engine = render.environment([*made_results.templates(repository), HERE / "numbers.html"])
        html = engine.get_template("numbers.html").render(rows=rows, sections=[], pages=links)
        out.write_text(html, encoding="utf-8")
        opened.append(View(browser, out, address, **settings))
        return opened[-1]

    yield make
    for view in opened:
        view.close()


def row(name: str, n: int | None, p: float = 0.5) -> dict[str, Any]:
    return {"name": name, "n": n, "low": 1, "high": 9, "p": p}


def numbers_of(view: View) -> dict[tuple[str, str], tuple[str, str]]:
    """Value and address of each number by its row and its column."""
    return {(told[0], told[1]): (value, href)
            for value, told, href, _ in view.page.evaluate(NUMBERS, 1)}  # fmt: skip


def test_a_number_tells_its_row_its_column_its_files_and_what_is_behind_it(made):
    view = made([row("甲 & 乙", 1200), row("other", 30, 0.0)])
    found = numbers_of(view)
    assert set(found) == {(name, column) for name in ("甲 & 乙", "other")
                          for column in ("Male, Cases", "Male, p", "Share")}  # fmt: skip
    value, href = found["甲 & 乙", "Male, Cases"]
    assert value.split() == ["1,200", "1", "to", "9"]
    assert href == (
        "sentences.html#?set=slguset&order=text-asc&keyword=male&lean=scored"
        "&model=%E7%94%B2+%26+%E4%B9%99"
    )
    assert found["other", "Male, p"][1] == ""  # a p-value has no sentences
    assert found["甲 & 乙", "Share"][1].endswith("&lean=plus")  # the cell's own
    # none of those that were counted, which it leads to
    assert found["other", "Share"][1].endswith("&model=other&lean=scored")
    view.page.locator("td.number").last.click()
    assert view.page.inner_text(".card:popover-open a[href*='#?']") == "None of these sentences"
    view.page.keyboard.press("Escape")
    view.page.locator("td.number").first.click()
    card = view.page.locator(".card:popover-open")
    assert card.locator("a[href*='#?']").inner_text() == "The sentences behind it"
    files = card.locator("a[href^=provenance]")
    assert [one.get_attribute("href") for one in files.all()] == [
        "provenance.html#file-made-one-csv", "provenance.html#file-made-two-csv"]  # fmt: skip
    assert "Made table" in card.inner_text()
    view.page.mouse.click(5, 5)
    expect(card).to_have_count(0)


def test_nothing_stands_behind_no_items(made):
    found = numbers_of(made([row("none", 0), row("ten", 10)]))
    assert found["none", "Male, Cases"] == ("0 1 to 9", "")
    assert "sentences.html" in found["ten", "Male, Cases"][1]


def test_a_row_that_begins_with_its_number_is_called_by_what_comes_next(made):
    view = made([row("one", 5), row("two", 6)])
    turn = "(row) => row.cells[0].before(row.cells[1])"
    view.page.evaluate(f"[...document.querySelectorAll('tbody tr')].forEach({turn})")
    view.page.locator("td.number").first.click()
    card = view.page.locator(".card:popover-open")
    assert card.locator("dd").all_inner_texts()[0] == "one"


def test_a_name_in_a_caption_stands_before_its_comma(made):
    view = made([row("one", 5), row("two", 6)])
    caption = "document.querySelector('caption span')"
    view.page.evaluate(f"{caption}.innerHTML = 'Rules: <bdi>Mine</bdi>, age'")
    view.page.locator("td.number").first.click()
    told = view.page.locator(".card:popover-open dd").all_inner_texts()
    assert told[-1] == "Rules: Mine, age"


def test_without_the_page_behind_it_a_number_has_no_way_to_it(made):
    view = made([row("one", 5), row("two", 6)], pages=("provenance",))
    assert {href for _, href in numbers_of(view).values()} == {""}


def test_a_number_is_asked_by_keys_alone(made):
    view = made([row("one", 5), row("two", 6), row("three", None)])
    assert view.page.locator("button.ask").count() == 1  # one stop for the whole table
    view.page.focus("button.ask")
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("ArrowDown")  # there is no number
    view.page.keyboard.press("Enter")
    card = view.page.locator(".card:popover-open")
    assert card.get_attribute("aria-label") == "About 0.500"
    assert card.locator("dd").all_inner_texts()[:2] == ["two", "Male, p"]
    assert view.page.evaluate("document.activeElement.className") == "card"
    view.page.keyboard.press("Tab")
    assert card.locator("a:focus").count() == 1
    view.page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    assert view.page.evaluate("document.activeElement.closest('tr').cells[0].textContent") == "two"
    view.page.keyboard.press("Space")
    card.locator("button").click()
    expect(card).to_have_count(0)
    assert view.page.evaluate("document.activeElement.className") == "ask"


def test_a_row_that_says_why_it_has_no_number_sorts_with_the_others(made):
    view = made([row("b", 900), row("a", None), row("d", 1100), row("c", 30)])
    names = "[...document.querySelectorAll('tbody th')].map((one) => one.textContent)"
    head = view.page.locator("thead th", has_text="Cases")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert [one for one in view.page.evaluate(names) if one != "a"] == ["c", "b", "d"]
    head.click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert view.page.evaluate(names) == ["d", "b", "c", "a"]
    head = view.page.locator("thead th", has_text="Name")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert view.page.evaluate(names) == ["a", "b", "c", "d"]
    assert view.page.locator("tbody td:visible").count() == 3 * 3 + 1


def test_hostile_names_stay_text_in_the_card(made):
    view = made([row(HOSTILE, 7), row("two", 8)])
    view.page.locator("td.number").first.click()
    assert HOSTILE.split("\u202e")[0] in view.page.locator(".card:popover-open").inner_text()
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator(".card :is(img, script, svg)").count() == 0


def test_as_many_rows_as_the_paper_has_sentences_sort_filter_and_turn(made):
    rows = [row(f"第{i * 7919 % MANY}对", i * 104_729 % 90_001, i % 500 / 500) for i in range(MANY)]
    view = made(rows)
    page = view.page
    info, names = page.locator(".dt-info"), page.locator("tbody th")
    assert info.inner_text() == "Rows 1 to 25 of 20,000"
    assert page.locator("tbody tr").count() == 25
    head = page.locator("thead th", has_text="Cases")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    least = sorted(rows, key=lambda one: one["n"])
    assert names.first.inner_text() == least[0]["name"]
    page.locator(".dt-paging button.last").click()
    assert names.last.inner_text() == least[-1]["name"]
    page.locator("thead th", has_text="Name").click()
    expect(names.first).to_have_text("第0对")  # numbers in words count as such
    expect(names.nth(24)).to_have_text("第24对")
    page.fill(".dt-search input", "第1234对")
    expect(info).to_have_text(re.compile("^Rows 1 to 1 of 1 "))
    page.locator("td.number").first.click()
    assert "第1234对" in page.locator(".card:popover-open").inner_text()
    page.keyboard.press("Escape")
    page.fill(".dt-search input", "")
    expect(info).to_have_text("Rows 1 to 25 of 20,000")
    assert page.locator("button.ask").count() == 1


#: The rows that a table shows, and what it says of them; without what DataTables, the button of
#: the keyboard and sorting add to cells.
SHOWN = """() => [
  document.querySelector(".dt-info").textContent,
  [...document.querySelectorAll("tbody tr")].map((row) => {
    const copy = row.cloneNode(true);
    copy.querySelectorAll(".ask").forEach((button) => button.remove());
    for (const cell of copy.cells) {
      cell.classList.remove("dt-type-numeric");
      if (!cell.classList.length) cell.removeAttribute("class");
      cell.removeAttribute("data-order");
    }
    return copy.outerHTML;
  }),
]"""


def several(n: int) -> list[dict[str, Any]]:
    """Rows with ties, without numbers, with the same name, and with a hostile one."""
    names = [HOSTILE, "a & b", "<b>", "Ärger", "第2对", "第10对"]
    return [
        row(f"{names[i % 6]} {i % 250}", None if i % 7 == 3 else i * 31 % 97, i % 13 / 26)
        for i in range(n)
    ]


def order_by(page: Any, name: str) -> None:
    head = page.locator("thead th", has_text=name).last
    before = str(head.get_attribute("aria-sort"))
    head.click()
    expect(head).not_to_have_attribute("aria-sort", before)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # drawn


def turn_to_last(page: Any) -> None:
    button = page.locator(".dt-paging button.last")
    button.click()
    expect(button).to_have_attribute("aria-disabled", "true")


def filter_by(page: Any, words: str) -> None:
    page.fill(".dt-search input", words)


def test_many_rows_look_sort_and_filter_as_few_do(made, monkeypatch):
    """A table of many rows, which stand behind it as text, beside the same one laid out whole."""
    rows = several(render.MANY_ROWS + 61)
    many = made(rows)
    monkeypatch.setattr(render, "MANY_ROWS", len(rows))
    whole = made(rows)
    assert [view.page.locator("thead ~ tbody tr").count() for view in (many, whole)] == [25, 25]
    steps = [
        lambda page: None,
        turn_to_last,
        *(partial(order_by, name=name) for name in ("Cases", "Cases", "Share", "p", "p")),
        turn_to_last,
        *(partial(filter_by, words=words) for words in
          ("a & 19", "it was not asked <b>", "72 1 to", "scope=row", "", "第", "arger")),
        partial(order_by, name="Name"),
        turn_to_last,
    ]  # fmt: skip
    seen = []
    for step in steps:
        step(many.page)
        step(whole.page)
        seen.append(many.page.evaluate(SHOWN))
        assert seen[-1] == whole.page.evaluate(SHOWN)
    infos = [info for info, _ in seen]
    assert len(set(infos[:2] + infos[8:])) == 9  # whatever was filtered had its own rows
    assert infos[11].startswith("No rows")  # tags hold no words
    assert many.page.evaluate("window.hacked") is None
    many.page.locator("td.number").first.click()
    href = many.page.locator(".card:popover-open a[href*='#?']").get_attribute("href")
    whole.page.locator("td.number").first.click()
    assert whole.page.locator(".card:popover-open a[href*='#?']").get_attribute("href") == href


def test_a_link_turns_to_one_of_many_rows(made):
    rows = several(render.MANY_ROWS + 61)
    rows[533]["id"] = "here-第2对"
    view = made(rows, address="#here-%E7%AC%AC2%E5%AF%B9")
    assert view.page.inner_text(".dt-info") == "Rows 526 to 550 of 561"
    told = view.page.locator("[id='here-第2对']")
    assert told.inner_text().startswith("第10对 33") and told.count() == 1
    expect(told).to_be_in_viewport()


def test_many_rows_are_printed_and_too_many_as_they_stand(made):
    view = made(several(render.MANY_ROWS + 61))
    lengths = []
    for event in ("beforeprint", "afterprint"):
        view.page.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        lengths.append(view.page.locator("tbody tr").count())
    assert lengths == [render.MANY_ROWS + 61, 25]
    view = made(several(2001))
    view.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert view.page.locator("tbody tr").count() == 25


def test_without_scripts_the_first_of_many_rows_are_shown_and_the_others_named(made):
    view = made(several(render.MANY_ROWS + 61), java_script_enabled=False)
    assert view.page.locator("tbody tr:visible").count() == render.FIRST_ROWS
    told = view.page.locator(".scroll > noscript")
    assert "the first 100 of its 561 rows; the CSV has all of them" in told.inner_text()
    assert told.is_visible()
    view.page.click("details.files summary")
    assert view.page.locator("ul.downloads a[download]:visible").count() == 6


@pytest.mark.parametrize("file", ["slguset.html", "language_models.html"])
def test_behind_a_count_are_as_many_rows(browser, places, file):
    """Some whole numbers of the demo that lead to sentences or pairs, followed, and some shares
    of none, which lead to some."""
    folder: Path = places("demo")
    view = View(browser, folder / file)
    numbers = view.page.evaluate(NUMBERS, 11)  # no period of a table's columns
    told = [
        (int(value.replace(",", "")), href)
        for value, _, href, _ in numbers
        if href.startswith("sentences.html") and re.fullmatch(r"[\d,]+", value)
    ]
    shares = [
        (None, href) for value, _, href, _ in numbers if href and re.fullmatch(r"0\s%", value)
    ]
    view.close()
    assert len(told) > 2
    assert len(shares) > 1 or file != "slguset.html"
    view = View(browser, folder / "sentences.html")
    wrong = []
    for n, href in told + shares:
        view.page.evaluate("(hash) => { location.hash = hash; }", href.partition("#")[2])
        view.page.wait_for_function("() => new Promise((done) => setTimeout(() => done(true), 5))")
        for _ in range(100):  # a busy machine draws the rows later
            info = view.page.inner_text(".dt-info")
            found = re.match(r"\w+ 1 to [\d,]+ of ([\d,]+)", info)
            exact = found and (n is None or found[1] == f"{n:,}")
            if exact:
                break
            view.page.wait_for_timeout(20)
        if not exact or view.page.locator(".unfound:visible").count():
            wrong.append((n, href, info))
    assert wrong == []
    view.close()


def test_a_verdict_on_published_numbers_stands_in_the_results_that_its_row_names(browser, places):
    view = View(browser, places("demo") / "reproduction.html")
    card = view.page.locator(".card:popover-open")
    rows = view.page.locator("tr[data-files]:visible")
    seen = set()
    for i in range(rows.count()):
        own = rows.nth(i).get_attribute("data-files").split()
        if not rows.nth(i).locator("td.number").count():
            continue
        rows.nth(i).locator("td.number").first.click()
        assert card.locator("li bdi").all_inner_texts() == list(dict.fromkeys(own))
        assert ("No result of this run stands behind it." in card.inner_text()) == (not own)
        seen.add(bool(own))
        view.page.keyboard.press("Escape")
    assert seen == {True, False}
    view.close()
