"""The explorer of sentences and pairs: its search, its order, its addresses, and its size."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from browser.made_pages import HOSTILE, HOSTILE_NAME
from evenhand.report.write_sentences_page import write_sentences_page
from in_browser import View
from unit.report import made_explorer, made_results

FRAMES = [HOSTILE + made_explorer.FRAME, made_explorer.PLANTED]
HOSTILE_ID = f"1/{HOSTILE}"

#: As many as the paper has.
MANY = 20_000

#: Milliseconds that a slow machine may take to search or sort them: a person would call it broken.
TOO_LONG = 10_000

#: Waits until the page is where it stays.
SETTLED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


class Explorer(View):
    """The page of the sentences in a browser."""

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


@pytest.fixture
def seen(browser, places):
    opened: list[Explorer] = []

    def look(address: str = "", **settings: Any) -> Explorer:
        file = places("hostile") / "sentences.html"
        opened.append(Explorer(browser, file, address, **settings))
        return opened[-1]

    yield look
    for one in opened:
        one.close()


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
    planted = made_explorer.sentence_rows(120, FRAMES)[1]["sentence_id"]
    for word, found in ((planted[:9], True), (planted[1:], False)):
        view.search(word)
        assert bool(view.rows()) == found


def test_a_sentence_opens_by_its_address(seen):
    row = made_explorer.sentence_rows(120, FRAMES)[1]
    view = seen(f"#{row['sentence_id']}")
    opened = view.page.locator("#explore-sentences article")
    assert row["sentence_id"] in opened.locator("h3").inner_text()
    assert opened.locator(".sentence").all_inner_texts() == [
        row["sentence"], row["swapped_sentence"]]  # fmt: skip
    assert "line 2" in opened.inner_text()
    opened.locator("button").click()
    opened.wait_for(state="hidden")


@pytest.mark.parametrize("address", ["", "#?set=slguset&lean=scored&order=value-asc"])
@pytest.mark.parametrize("way", ["back", "button", "another"])
def test_the_way_back_from_a_row_leads_to_where_it_was_opened(seen, address, way):
    view = seen(address, viewport={"width": 1000, "height": 500})
    page, root = view.page, "#explore-sentences"
    page.locator(f"{root} .dt-paging button", has_text="2").first.click()
    link = page.locator(f"{root} tbody a").nth(13)
    link.scroll_into_view_if_needed()
    before, rows = page.evaluate("scrollY"), view.rows()
    assert before > 500 and "Rows 26 to 50" in page.inner_text(f"{root} .dt-info")
    opened = page.locator(f"{root} article")
    link.click()
    opened.wait_for(state="visible")
    assert page.evaluate("history.scrollRestoration") == "manual"  # or it goes elsewhere, later
    if way == "another":  # from the table below the open row, and both ways back
        page.locator(f"{root} tbody a").nth(20).scroll_into_view_if_needed()
        page.evaluate(SETTLED)
        page.locator(f"{root} tbody a").nth(20).click()
        opened.locator("h3", has_text=page.url.rpartition("/")[2]).wait_for()
        page.evaluate(SETTLED)
        page.go_back()
        opened.locator("h3", has_text=link.inner_text()).wait_for()
        page.evaluate(SETTLED)
        assert opened.bounding_box()["y"] == pytest.approx(0, abs=40)
    if way == "button":
        opened.locator("button").click()
    else:
        page.go_back()
    opened.wait_for(state="hidden")
    assert view.rows() == rows
    page.evaluate(SETTLED)
    assert page.evaluate("scrollY") == pytest.approx(before, abs=10)
    assert page.evaluate("document.activeElement.textContent") == link.inner_text()
    assert page.url.partition("#")[2] == address.removeprefix("#")
    if way == "back":
        page.go_forward()
        opened.wait_for(state="visible")
        assert link.inner_text() in opened.locator("h3").inner_text()


def test_the_way_back_asks_anew_what_was_changed_beside_an_open_row(seen):
    view = seen("#?set=slguset&keyword=female")
    opened = view.page.locator("#explore-sentences article")
    view.page.locator("#explore-sentences tbody a").first.click()
    opened.wait_for(state="visible")
    view.choose("lean", "none")
    view.page.go_back()
    opened.wait_for(state="hidden")
    assert "of 72 (of 120)" in view.page.inner_text("#explore-sentences .dt-info")


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


def asked_of(view: Explorer) -> dict[str, str]:
    """What the page's address asks."""
    return dict(parse_qsl(view.page.url.partition("#?")[2]))


def test_an_address_asks_a_question(seen):
    asked = {"set": "slguset", "model": "one", "pair": "他/她", "keyword": "female",
             "lean": "above", "order": "value-asc", "search": "有人"}  # fmt: skip
    view = seen(f"#?{urlencode(asked)}")
    numbers = view.numbers()
    assert numbers and min(numbers) > 0 and numbers == sorted(numbers)
    assert {"她" in text for text in view.rows()} == {True}
    assert view.page.locator(".unfound:visible").count() == 0
    view.choose("lean", "")
    assert asked_of(view) == {name: value for name, value in asked.items() if name != "lean"}
    copied = seen(f"#{view.page.url.partition('#')[2]}")
    assert copied.rows() == view.rows()
    view.page.click("#explore-sentences button[type=reset]")
    assert asked_of(view).keys() == {"set", "model", "order"}


def test_an_address_asks_for_pairs_by_model_method_and_what_they_lack(seen):
    view = seen("#?set=stereotypes/made&model=masked&method=cps&lean=scored")
    assert "CPS" in view.page.inner_text("#explore-pairs thead")
    assert "of 3 (of 4)" in view.page.inner_text("#explore-pairs .dt-info")
    view = seen("#?set=stereotypes/made&not+scored=&doubts=")
    info = view.page.inner_text("#explore-pairs .dt-info")
    every = seen(
        "#?set=stereotypes/made&not+scored=&doubts=the+sentences+differ+in+more+than+one+place"
    )
    assert "of 2 (of 4)" in info
    assert "of 1 (of 4)" in every.page.inner_text("#explore-pairs .dt-info")


@pytest.mark.parametrize(
    "address, words",
    [
        ("#?set=none", "has the address none"),
        ("#?model=nobody&lean=plus", "does not have the model nobody"),
        ("#?lean=sideways&pair=no/pair", "the lean sideways, the pair no/pair"),
        ("#?keyword=", "the keyword none"),
        ("#?set=%3Cimg%20src%3Dx%3E", "<img src=x>"),
        ("#?order=toString-asc", "the order toString-asc"),
        ("#?order=value-desc-asc", "the order value-desc-asc"),
        ("#?order=gap-desc", "the order gap-desc"),  # of one model
    ],
)
def test_what_an_address_asks_and_the_page_does_not_have_is_told(seen, address, words):
    view = seen(address)
    assert words in view.page.locator(".unfound:visible").inner_text()
    assert view.page.locator("img").count() == 0


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
    assert asked_of(view)["order"] == "value-desc"
    view.choose("beside", "1")
    view.page.locator("#explore-sentences thead th [role=button]").nth(3).press("Enter")
    view.page.wait_for_url("**order=difference-desc**")
    assert view.numbers(4) == sorted(view.numbers(4), reverse=True)
    copied = seen(f"#{view.page.url.partition('#')[2]}")
    assert copied.rows() == view.rows()
    view.choose("order", "gap-desc")
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
    view.search("window.hacked=2")
    assert any(HOSTILE in text for text in view.rows())
    view.choose("measure", "1")
    assert HOSTILE_NAME in view.page.locator("#explore-sentences thead th").nth(1).inner_text()
    view.choose("collection", "stereotypes/second", "pairs")
    view.choose("collection", "stereotypes/made", "pairs")
    view.page.click(f"#explore-pairs tbody a:has-text('{HOSTILE_ID[:9]}')")
    assert HOSTILE_ID in view.page.inner_text("#explore-pairs article h3")
    assert view.page.locator("img, main script:not([type='application/json']), svg").count() == 0
    assert view.page.evaluate("window.hacked") is None


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
        view = seen(address, viewport={"width": 360, "height": 800}, color_scheme=scheme)
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
    view.page.locator("article:focus").wait_for()


def test_as_many_sentences_as_the_paper_has_stay_quick(browser, repository, tmp_path):
    rows = made_explorer.sentence_rows(MANY - 1)
    rows += [made_explorer.sentence_rows(1, [made_explorer.PLANTED])[0]]
    given = made_explorer.write_edition(tmp_path, "slguset", rows)
    page = tmp_path / "sentences.html"
    write_sentences_page(
        templates=made_results.templates(repository), out=page, tables_out=tmp_path / "t", **given
    )
    view = Explorer(browser, page)
    view.page.set_default_timeout(TOO_LONG)
    info = view.page.locator("#explore-sentences .dt-info")
    assert info.inner_text() == "Rows 1 to 25 of 20,000"
    view.search("独一无二")
    assert view.rows() == ["埋在这里的男人捧着独一无二的记号。"]
    view.search("")
    view.choose("order", "value-asc")
    assert view.numbers() == sorted(view.numbers())
    view.page.locator("#explore-sentences .dt-paging button.last").first.click()
    assert "of 20,000" in info.inner_text()
    view.page.evaluate("(id) => { location.hash = id }", rows[12_345]["sentence_id"])
    opened = view.page.locator("#explore-sentences article")
    opened.wait_for(state="visible")
    assert rows[12_345]["sentence"] in opened.inner_text()
    view.close()
