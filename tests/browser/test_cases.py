"""The explorer of cases: what an address asks for, what is shown, and its size."""

from typing import Any

import pytest

from browser.made_pages import HOSTILE
from evenhand.report.write_cases_page import write_cases_page
from evenhand.report.write_classifiers_page import write_classifiers_page
from evenhand.report.write_legal_page import write_legal_page
from in_browser import View
from unit.report import made_case_page, made_classifiers, made_legal, made_results

#: As many cases as a page holds by default.
MANY = 10_000

#: Milliseconds that a slow machine may take to search or sort them: a person would call it broken.
TOO_LONG = 10_000


class Cases(View):
    """The page of the cases in a browser."""

    def ids(self) -> list[str]:
        return self.page.locator("#explore-cases tbody td.case a:visible").all_inner_texts()

    def choose(self, field: str, value: str) -> None:
        self.page.select_option(f"#explore-cases [name={field}]", value)

    def chosen(self, field: str) -> str:
        return self.page.input_value(f"#explore-cases [name={field}]")

    def told(self) -> str:
        return self.page.inner_text(".told")

    def row(self, case: str) -> str:
        rows = self.page.locator("#explore-cases tbody tr", has_text=case)
        return " ".join(rows.first.inner_text().split())


#: Addresses behind the numbers of a page, as the card of a number joins them, with the number.
BEHIND = r"""() => [...document.querySelectorAll("table[data-items]")].flatMap((table) =>
  [...table.tBodies].flatMap((body) => [...body.rows]).flatMap((row) =>
    [...row.querySelectorAll("td.number")].flatMap((cell) => {
      const fromEnd = row.cells.length - cell.cellIndex;
      const heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
      const { items } = heads[heads.length - fromEnd].dataset;
      if (items === undefined || !/\d/.test(cell.textContent)) return [];
      const address = [table.dataset.items, items, row.dataset.items].filter(Boolean).join("&");
      return [[table.caption.textContent.trim(), address, cell.firstChild.textContent.trim()]];
    })))"""


@pytest.fixture
def look(browser, repository, tmp_path):
    """The page of two data sets, as it is asked for."""
    templates = made_results.templates(repository)
    file = tmp_path / "cases.html"
    given = made_case_page.joined(
        made_case_page.ecthr(tmp_path / "one"), made_case_page.cail(tmp_path / "two")
    )
    write_cases_page(
        templates=templates, out=file,
        tables_out=tmp_path / "cases", **given,
    )  # fmt: skip
    opened: list[Cases] = []

    def seen(address: str = "", **settings: Any) -> Cases:
        opened.append(Cases(browser, file, address, **settings))
        return opened[-1]

    yield seen
    for one in opened:
        one.close()


def test_shows_the_test_cases_furthest_from_their_labels_first(look):
    view = look()
    assert view.ids() == ["ecthr-2", "ecthr-1", "ecthr-4"]  # the last has no label
    assert view.told() == (
        "3 of 4 cases: test. Answered exactly right by most seeds: 0 of 2 with a known label"
        " (linear, ERM, 2 seeds)."
    )
    assert "6 right 2 of 2, 95.3 %" in view.row("ecthr-2").replace("\u00a0", " ")
    assert "label 8 missed 0 of 2, 12 %" in view.row("ecthr-2").replace("\u00a0", " ")
    assert view.row("ecthr-1").endswith("0.227")
    view.choose("training", "1")
    assert "label 2 wrong 1 of 1, 73" in view.row("ecthr-2")
    view.choose("split", "")
    assert len(view.ids()) == 4


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ("set=mine&split=&applicant_gender=female", ["ecthr-2", "ecthr-3"]),
        ("set=mine&split=dev&label=none", ["ecthr-3"]),
        ("label=8&which=missed", ["ecthr-2"]),
        ("label=6&which=found", ["ecthr-2"]),
        ("label=3&which=missed", ["ecthr-1"]),  # one of two seeds gives it, which is not most
        ("label=2&which=wrongly&objective=group_dro&order=case-asc", ["ecthr-1", "ecthr-2"]),
        ("split=&answer=right", ["ecthr-3"]),
        ("answer=differ", ["ecthr-1"]),
        ("answer=unlabelled", ["ecthr-4"]),
        ("search=lantern", ["ecthr-2"]),
        ("search=123/45", ["ecthr-2"]),
        ("search=orch%20lan", ["ecthr-2"]),
        ("search=antern", []),
        ("set=other&split=test&defendant_gender=unknown", ["cail-3"]),
        ("set=other&label=%3C%3D12&which=found", ["cail-2", "cail-3"]),
        ("split=&order=date-desc&search=ecthr", ["ecthr-2", "ecthr-4", "ecthr-1", "ecthr-3"]),
        ("split=&order=differ-desc", ["ecthr-1", "ecthr-2", "ecthr-3", "ecthr-4"]),
    ],
)
def test_an_address_asks_for_cases(look, asked, ids):
    view = look(f"#?{asked}")
    assert view.ids() == ids
    assert view.told().startswith(f"{len(ids)} of ")
    assert not view.page.locator(".unfound").is_visible()


def test_an_address_names_a_training_by_the_attribute_it_asks_of(look):
    view = look("#?classifier=linear&objective=group_dro&applicant_gender=female")
    assert "trained for Applicant's gender" in view.told()
    view = look("#?classifier=linear&objective=erm&trained=")
    assert "(linear, ERM, 2 seeds)" in view.told()


def test_what_an_address_asks_in_vain_is_told(look):
    view = look("#?set=none&applicant_gender=nobody&objective=magic&label=99&order=odd&what=ever")
    assert view.page.inner_text(".unfound") == (
        "This page does not have the data set none, the group nobody of Applicant's gender,"
        " the training magic, the label 99, the order odd."
    )
    assert len(view.ids()) == 3
    for address in ("#mine/none", "#none", "#%E0%A4%A", "#<img src=x>"):
        look(address)


def test_a_long_word_asked_in_vain_is_cut(look):
    for address in (f"#?search={'b' * 100_000}", f"#{'a' * 100_000}", f"#?answer={'c' * 900}"):
        view = look(address, viewport={"width": 360, "height": 700})
        root = "document.documentElement"
        assert view.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
        assert len(view.told() + view.page.locator(".unfound").inner_text()) < 300
    assert view.page.inner_text(".unfound").startswith("This page does not have the answer ccc")


def test_what_is_chosen_stands_in_the_address(look):
    view = look()
    view.choose("set", "mine")
    view.page.select_option("[data-attribute=applicant_gender]", "female")
    view.choose("label", "8")
    view.choose("which", "missed")
    view.choose("order", "case-asc")
    again = look(view.page.evaluate("location.hash"))
    assert again.told() == view.told()
    assert "Applicant's gender female; label 8: it applies and is not given" in again.told()
    assert again.chosen("order") == "case-asc"
    assert again.ids() == view.ids() == ["ecthr-2"]


def test_groups_are_counted_within_the_split(look):
    view = look()
    gender = view.page.locator("[data-attribute=applicant_gender] option")
    assert gender.all_inner_texts() == ["All", "male (1)", "female (1)", "n/a (1)"]
    view.choose("split", "dev")
    assert gender.all_inner_texts() == ["All", "male (0)", "female (1)", "n/a (0)"]


def test_a_case_opens_with_its_words_and_every_training(look):
    view = look("#mine/ecthr-2")
    opened = view.page.locator("#explore-cases article")
    assert "ecthr-2" in opened.locator("h3").inner_text()
    text = " ".join(opened.inner_text().split()).replace("\u00a0", " ")
    for words in (
        "2015", "Application 123/45", made_case_page.PLANTED, "title in procedure", "She",
        "facts, paragraph 1", "6 applies", "95.3 % 2 of 2", "Applicant's year of birth 1950",
    ):  # fmt: skip
        assert words in text
    assert opened.locator("table").nth(1).locator("tbody tr").count() == 2
    opened.locator("button").click()
    opened.wait_for(state="hidden")
    assert view.page.evaluate("document.activeElement.textContent") == "ecthr-2"
    view = look("#cail-3")
    assert "Other" in view.page.inner_text("#explore-cases article h3")
    assert view.chosen("set") == "other"


def test_goes_by_keys_alone(look):
    view = look()
    view.page.focus("#explore-cases td.case a >> nth=1")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("#explore-cases article:not([hidden])")
    assert view.page.evaluate("document.activeElement.className") == "opened"
    view.page.go_back()
    view.page.wait_for_selector("#explore-cases article", state="hidden")


@pytest.mark.parametrize("address", ["", "#?split=&search=ecthr"])
def test_the_way_back_from_a_case_leads_to_the_same_page_of_the_table(look, address):
    view = look(address)
    if not address:
        view.choose("order", "case-asc")
    table = "new DataTable.Api('#explore-cases table').page"
    view.page.evaluate(f"{table}.len(2).page(1).draw('page')")
    ids = view.ids()
    view.page.locator("#explore-cases td.case a").first.click()
    view.page.wait_for_selector("#explore-cases article:not([hidden])")
    view.page.go_back()
    view.page.wait_for_selector("#explore-cases article", state="hidden")
    assert view.ids() == ids
    assert view.page.evaluate(f"{table}()") == 1
    view.page.locator("#explore-cases td.case a").first.click()
    view.page.wait_for_selector("#explore-cases article:not([hidden])")
    view.choose("split", "dev")  # beside the opened case: the way back asks again
    view.page.go_back()
    view.page.wait_for_selector(".told >> text=/ of 4 cases: (test|all splits)/")


def test_sorts_by_a_heading_and_says_so(look):
    view = look()
    view.page.locator("#explore-cases thead th", has_text="Seeds right").click()
    view.page.wait_for_selector("#explore-cases thead th[aria-sort=ascending]")
    assert view.ids() == ["ecthr-2", "ecthr-1", "ecthr-4"]
    assert view.chosen("order") == ""
    again = look(view.page.evaluate("location.hash"))
    assert (
        again.page.locator("#explore-cases th[aria-sort=ascending]").inner_text() == "Seeds right"
    )
    view = look("#?order=answer-asc")
    assert "the order answer-asc" in view.page.inner_text(".unfound")


def test_planted_hostile_strings_stay_text(browser, places):
    view = Cases(browser, places("hostile") / "cases.html", "#?split=&search=window.hacked")
    assert "4 of" not in view.told() and view.ids()
    view.page.locator("#explore-cases td.case a").first.click()
    view.page.wait_for_selector("#explore-cases article:not([hidden])")
    assert HOSTILE[:12] in view.page.inner_text("#explore-cases article")
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator("#explore-cases img, #explore-cases svg").count() == 0
    view.close()


def test_does_without_classifiers_and_without_a_script(browser, repository, tmp_path):
    made = made_case_page.ecthr(tmp_path)
    given = {name: made[name] for name in ("names", "kinds", "titles", "cases")}
    file = tmp_path / "cases.html"
    write_cases_page(
        templates=made_results.templates(repository), out=file,
        tables_out=tmp_path / "cases", **given,
    )  # fmt: skip
    view = Cases(browser, file)
    assert view.told() == "3 of 4 cases: test."
    assert view.page.locator("#explore-cases thead th").all_inner_texts() == ["Case", "Labels"]
    view.page.locator("#explore-cases td.case a").first.click()
    view.page.wait_for_selector("#explore-cases article:not([hidden])")
    assert "No classifier was trained" in view.page.inner_text("#explore-cases article")
    view.close()
    view = Cases(browser, file, java_script_enabled=False)
    assert view.page.locator("#explore-cases tbody tr").count() == 4
    assert not view.page.locator("#explore-cases form").is_visible()
    view.context.close()


def test_ten_thousand_cases_are_quick_enough(browser, repository, tmp_path):
    """Asked only that nothing hangs: how long it takes is measured elsewhere."""
    given = made_case_page.ecthr(tmp_path / "many", many=MANY - 4)
    file = tmp_path / "cases.html"
    counts = write_cases_page(
        templates=made_results.templates(repository), out=file,
        tables_out=tmp_path / "cases", **given,
    )  # fmt: skip
    assert counts["cases"] == {"mine": MANY}
    view = Cases(browser, file)
    view.page.set_default_timeout(TOO_LONG)
    view.choose("order", "loss-asc")
    view.page.fill("#explore-cases [name=words]", "lantern")
    view.page.wait_for_selector(".told >> text=/^1 of/")
    assert view.ids() == ["ecthr-2"]
    view.close()


@pytest.fixture
def pages(repository, tmp_path):
    """The pages of classifiers and of legal data, and the cases behind their numbers."""
    common = {"templates": made_results.templates(repository)}
    results = made_classifiers.write_results(repository, tmp_path)
    about = {"names": ["mine"], "kinds": ["cail"], "titles": ["Mine"]}
    write_classifiers_page(
        **common, out=tmp_path / "legal_classifiers.html", **about, **results,
        **made_classifiers.drawn(tmp_path),
    )  # fmt: skip
    (tmp_path / "legal").mkdir()
    legal = made_legal.write_results(repository, tmp_path / "legal")
    write_legal_page(
        **common, out=tmp_path / "legal_cases.html", names=["other"], kinds=["ecthr"],
        titles=["Other"], parts=["other/part"], **legal,
    )  # fmt: skip
    write_cases_page(
        **common, out=tmp_path / "cases.html", tables_out=tmp_path / "cases",
        names=["mine", "other"], kinds=["cail", "ecthr"], titles=["Mine", "Other"],
        cases=[tmp_path / "d.parquet", tmp_path / "legal/mine.parquet"],
        predictions=[tmp_path / "p.parquet"], trainings=["mine/linear/any/none/all"],
    )  # fmt: skip
    return tmp_path


def test_a_group_leads_to_its_cases(browser, pages):
    view = View(browser, pages / "legal_classifiers.html")
    links = view.page.locator("th a[href^='cases.html#?']")
    asked = [(one.text_content(), one.get_attribute("href")) for one in links.all()]
    view.close()
    assert [words for words, _ in asked[:2]] == ["60 cases", "60 cases"]
    assert {words for words, _ in asked[2:]} == {"0 cases"}  # nobody's region is known
    for words, address in asked[:3]:
        there = Cases(browser, pages / "cases.html", address.removeprefix("cases.html"))
        assert there.told().startswith(f"{words.split()[0]} of 120 cases: test; ")
        assert ("(linear, erm, 3 seeds)" in there.told()) == (words != "0 cases")
        assert not there.page.locator(".unfound").is_visible()
        there.close()


def test_numbers_lead_to_the_cases_that_they_count(browser, pages):
    counted = []
    for page in ("legal_classifiers", "legal_cases"):
        view = View(browser, pages / f"{page}.html")
        behind = view.page.evaluate(BEHIND)
        view.close()
        counted += behind
    tables = {table.partition(":")[0] for table, *_ in counted}
    assert tables == {
        "Macro-F1 by group", "Table 4", "Table 2", "Calibration by group, ERM", "Cases by group",
        "Cases by label",
    }  # fmt: skip
    there = Cases(browser, pages / "cases.html")
    for table, address, number in counted:
        there.page.evaluate("(asked) => { location.hash = asked; }", address.partition("#")[2])
        there.page.wait_for_timeout(20)  # the event comes later
        assert not there.page.locator(".unfound").is_visible(), (address, there.told())
        shown = int(there.told().partition(" of ")[0])
        if table.startswith(("Cases by", "Calibration")):
            assert shown == int(number), address
        elif table.startswith("Macro-F1"):
            assert shown == 60
    there.close()
