"""The explorer of each kind of item: what an address asks for, what is shown, and its size."""

import functools
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from browser.made_pages import HOSTILE
from browser.test_numbers import NUMBERS
from evenhand.core.tables import read_tables
from evenhand.report.explore_cases import explore_cases
from evenhand.report.explore_people import explore_people
from evenhand.report.explore_sentences import explore_sentences
from evenhand.report.write_page import write_page
from in_browser import View
from unit.cases import load_cases
from unit.legal.made_cases import declaration
from unit.legal.made_predictions import predictions, right, write
from unit.report import (
    made_case_page,
    made_classifiers,
    made_explorer,
    made_legal,
    made_people,
    made_results,
)

CASES = load_cases(__file__)

#: Milliseconds that a slow machine may take to search or sort: a person would call it broken.
TOO_LONG = 10_000

#: Waits until the page is where it stays.
SETTLED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 5)))"

OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Explorer(View):
    """An explorer page in a browser."""

    def ids(self) -> list[str]:
        links = self.page.locator(".dt-container tbody td.item a:visible").all_inner_texts()
        return [link.removeprefix("Individual ") for link in links]

    def texts(self) -> list[str]:
        return self.page.locator(".dt-container tbody .sentence:visible").all_inner_texts()

    def row(self, text: str) -> str:
        row = self.page.locator(".dt-container tbody tr", has_text=text).first
        return " ".join(row.inner_text().split())

    def told(self) -> str:
        return self.page.inner_text(".matched")

    def lost(self) -> str:
        return self.page.locator(".unfound").inner_text()

    def choose(self, field: str, value: str) -> None:
        self.page.select_option(f".explorer [name='{field}']", value)
        self.page.evaluate(SETTLED)

    def chosen(self, field: str) -> str:
        return self.page.input_value(f".explorer [name='{field}']")

    def search(self, words: str) -> None:
        self.page.fill(".explorer [name=words]", words)
        self.page.press(".explorer [name=words]", "Enter")

    def numbers(self, column: int = 2) -> list[float]:
        cells = self.page.locator(f".dt-container tbody td:nth-child({column}) .number")
        return [float(text.replace("−", "-")) for text in cells.all_inner_texts()]

    def asked(self) -> dict[str, str]:
        return dict(parse_qsl(self.page.url.partition("#?")[2], keep_blank_values=True))

    def ask(self, address: str) -> None:
        """Go to another address of the page, and wait until it is answered."""
        self.page.evaluate("(asked) => { location.hash = asked; }", address)
        self.page.evaluate(SETTLED)

    def opened(self) -> str:
        self.page.locator("article:visible").wait_for()
        return " ".join(self.page.inner_text("article").split())

    def measures(self) -> dict[str, float]:
        """The measures of the items that are asked for, by their names."""
        text = self.page.inner_text(".measured-here").replace("\u00a0", " ")
        found = re.findall(r"(accuracy|positive|IFR_b|IFR_p|all values) ([\d.]+)", text)
        return {name: float(value) for name, value in found}


def written(kind: str, repository, folder, text: str = "", many: int = 0) -> Path:
    """An explorer page of made results, with this text in them, and at least `many` items."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{kind}.html"
    if kind == "cases":
        stage, made = (
            explore_cases,
            made_case_page.joined(
                made_case_page.ecthr(folder / "one", text, many),
                made_case_page.cail(folder / "two"),
            ),
        )
    elif kind == "people":
        stage, made = (
            explore_people,
            made_people.joined(
                made_people.two_groups(folder / "one", text, many),
                made_people.three_groups(folder / "two"),
            ),
        )
    elif many:
        rows = made_explorer.sentence_rows(many, [made_explorer.PLANTED])
        models = [f"model-{i}" for i in range(5)]
        stage, made = (
            explore_sentences,
            made_explorer.write_edition(folder, "slguset", rows, models),
        )
    else:
        stage, made = explore_sentences, made_explorer.write_results(folder, text or HOSTILE)
    templates = made_results.templates(repository)
    stage(templates=templates, out=file, tables_out=folder / "written", **made)
    return file


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    """The explorer page of each kind of item, made when it is first asked for."""
    return functools.cache(lambda kind: written(kind, repository, tmp_path_factory.mktemp(kind)))


@pytest.fixture
def look(browser, files):
    """An explorer page as it is asked for; `kind` names its items."""
    opened: list[Explorer] = []

    def seen(kind: str, address: str = "", **settings: Any) -> Explorer:
        opened.append(Explorer(browser, files(kind), address, **settings))
        return opened[-1]

    yield seen
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def stay(browser, files):
    """The page of a kind, which stays open and is asked for one address after another."""
    opened: dict[str, Explorer] = {}

    def asked(kind: str, address: str) -> Explorer:
        if kind not in opened:
            opened[kind] = Explorer(browser, files(kind))
        opened[kind].ask(address)
        return opened[kind]

    yield asked
    for one in opened.values():
        one.close()


#: Of each kind of item: an address that asks for more than one page or some rows of its first set,
#: an item, and what its page and its opened form show.
KINDS = {
    "sentences": ("#?set=slguset&lean=scored&order=value-asc", "slguset_published/", "Bias"),
    "pairs": ("#?set=stereotypes/made&order=text-asc", "stereotypes/made/2", "uncle"),
    "cases": ("#?set=mine&split=&order=case-asc", "mine/ecthr-2", "Application 123/45"),
    "people": ("#?set=mine&order=person-asc", "mine/2", made_people.PLANTED),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def item(kind):
    if kind == "sentences":
        return f"slguset_published/{made_explorer.sentence_rows(120)[70]['sentence_id']}"
    return KINDS[kind][1]


def test_an_item_opens_by_its_address_and_closes(look, kind, item):
    view = look(kind, f"#{item}")
    assert KINDS[kind][2] in view.opened()
    key, _, name = item.rpartition("/")
    assert name in view.page.inner_text("article h3") and view.chosen("set") == key
    assert view.page.evaluate("document.activeElement.className") == "opened"
    view.page.locator("article button").click()
    view.page.locator("article").wait_for(state="hidden")
    view = look(kind, f"#{name}")  # the first set that has it
    assert name in view.page.inner_text("article h3")


def test_an_item_that_is_not_there_is_named(look, kind, item):
    view = look(kind, f"#{item}")
    view.opened()
    view.ask(f"#{item.rpartition('/')[0]}/none")
    assert view.lost().endswith("/none.")
    assert not view.page.locator("article").is_visible()
    for address in ("#none", "#%E0%A4%A", "#<img src=x>", "#none/-1"):
        view.ask(address)
        assert view.ids() and not view.page.locator("article").is_visible()
    assert look(kind, address).ids()


@pytest.mark.parametrize("way", ["back", "button", "another"])
def test_the_way_back_from_an_item_leads_to_where_it_was_opened(look, kind, way):
    view = look(kind, KINDS[kind][0], viewport={"width": 1000, "height": 300})
    page = view.page
    page.evaluate("new DataTable.Api('.grid table').page.len(2).page(1).draw('page')")
    link = page.locator("tbody a:visible").nth(0)
    link.scroll_into_view_if_needed()
    before, ids, name = page.evaluate("scrollY"), view.ids(), link.inner_text()
    assert before > 200
    link.click()
    view.opened()
    assert page.evaluate("history.scrollRestoration") == "manual"  # or it goes elsewhere, later
    if way == "another":  # from the table below the open item, and both ways back
        page.locator("tbody a:visible").nth(1).click()
        page.evaluate(SETTLED)
        page.go_back()
        page.locator("article h3", has_text=name.removeprefix("Individual ")).wait_for()
        page.evaluate(SETTLED)
    if way == "button":
        page.locator("article button").click()
    else:
        page.go_back()
    page.locator("article").wait_for(state="hidden")
    page.evaluate(SETTLED)
    assert view.ids() == ids
    assert page.evaluate("new DataTable.Api('.grid table').page()") == 1
    assert page.evaluate("scrollY") == pytest.approx(before, abs=10)
    assert page.evaluate("document.activeElement.textContent") == name
    assert f"#{page.url.partition('#')[2]}" == KINDS[kind][0]


def test_the_way_back_asks_anew_what_was_changed_beside_an_open_item(look):
    view = look("sentences", "#?set=slguset&keyword=female")
    view.page.locator("tbody a").first.click()
    view.opened()
    view.choose("lean", "=none")
    view.page.go_back()
    view.page.locator("article").wait_for(state="hidden")
    assert view.told().startswith("72 of 120")


def test_goes_by_keys_alone(look, kind):
    view = look(kind, KINDS[kind][0])
    view.page.focus(".explorer [name=words]")
    reached = set()
    for _ in range(16):
        view.page.keyboard.press("Tab")
        reached.add(view.page.evaluate("document.activeElement.name"))
    assert {"set", "model", "order"} - {"set"} <= reached
    view.page.focus("td.item a >> nth=1")
    view.page.keyboard.press("Enter")
    view.page.locator("article:focus").wait_for()
    view.page.go_back()
    view.page.locator("article").wait_for(state="hidden")
    assert view.page.evaluate("document.activeElement.tagName") == "A"
    view.page.locator("thead th [role=button]").nth(1).press("Enter")
    view.page.wait_for_selector("thead th[aria-sort]")


def test_sorts_by_a_heading_and_the_address_says_so(look, kind):
    view = look(kind, KINDS[kind][0])
    assert view.chosen("order") == KINDS[kind][0].rpartition("order=")[2]
    before = view.page.evaluate("location.hash")
    view.page.locator(".grid thead th").nth(1).click()
    view.page.wait_for_function("(before) => location.hash !== before", arg=before)
    view.page.evaluate(SETTLED)
    assert view.page.locator(".grid thead th").nth(1).get_attribute("aria-sort")
    again = look(kind, f"#{view.page.url.partition('#')[2]}")
    assert again.ids() == view.ids() and again.asked() == view.asked()
    assert again.page.locator(".grid thead th").nth(1).get_attribute("aria-sort")
    for order in ("toString-asc", "value-desc-asc", "gap-desc", "none-asc"):
        again.ask(f"#?order={order}")
        assert f"order {order}" in again.lost()


def test_what_is_chosen_is_in_the_address_until_it_is_cleared(look, kind):
    view = look(kind, KINDS[kind][0])
    view.search({"sentences": "有人", "pairs": "aunt", "cases": "lantern", "people": "job"}[kind])
    again = look(kind, f"#{view.page.url.partition('#')[2]}")
    assert again.ids() == view.ids() and again.told() == view.told() and "“" in view.told()
    again.page.click("button[type=reset]")
    assert "search" not in again.asked() and "“" not in again.told()


@pytest.mark.parametrize("width", [1280, 360])
def test_an_opened_item_fits_the_page(look, kind, item, width):
    view = look(kind, f"#{item}", viewport={"width": width, "height": 780})
    view.opened()
    for scheme in ("light", "dark"):
        view.page.emulate_media(color_scheme=scheme)
        assert view.page.evaluate(OVER) <= 0


def test_long_words_asked_in_vain_are_cut(look, kind):
    view = look(kind, viewport={"width": 360, "height": 700})
    for address in (f"#?search={'b' * 9999}", f"#{'a' * 9999}", f"#?model={'c' * 900}"):
        view.ask(address)
        assert view.page.evaluate(OVER) == 0
        assert len(view.told() + view.lost()) < 300


def test_planted_hostile_strings_stay_text(browser, repository, tmp_path, kind):
    addresses = {"pairs": "#?set=stereotypes/made&search=window.hacked",
                 "cases": "#?split=&search=window.hacked"}  # fmt: skip
    file = written(kind, repository, tmp_path, HOSTILE)
    view = Explorer(browser, file, addresses.get(kind, "#?search=window.hacked"))
    assert view.ids()
    view.page.locator("tbody a").first.click()
    assert HOSTILE[:12] in view.opened()
    for name in ("model", "set"):
        for value in view.page.locator(f"[name={name}] option").all()[:3]:
            view.choose(name, value.get_attribute("value"))
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator("img, main svg").count() == 0
    view.close()


@pytest.mark.parametrize("page", ["sentences", "cases", "people"])
def test_reads_without_a_script(browser, files, page):
    view = Explorer(browser, files(page), java_script_enabled=False)
    assert view.page.locator("tbody tr").count() >= 4
    assert not view.page.locator("form").is_visible()
    assert not view.page.locator(".by-part").is_visible()
    view.context.close()


@pytest.mark.parametrize(
    ("page", "many"), [("sentences", 10_000), ("cases", 3_000), ("people", 10_000)]
)
def test_as_many_items_as_real_sets_have_stay_quick(browser, repository, tmp_path, page, many):
    """Checked only that nothing hangs: how long it takes is measured elsewhere."""
    view = Explorer(browser, written(page, repository, tmp_path, many=many))
    view.page.set_default_timeout(TOO_LONG)
    words = {"sentences": "独一无二", "cases": "lantern", "people": "lighthouse"}[page]
    view.search(words)
    assert view.told().startswith("1 of ")
    view.search("")
    view.choose("order", {"sentences": "value-asc", "cases": "loss-asc", "people": "p-asc"}[page])
    first = view.ids()
    assert len(first) == 25
    view.page.locator(".dt-paging button.last").first.click()
    assert not set(view.ids()) & set(first)
    view.close()


@pytest.mark.parametrize(("kind", "asked", "ids"), CASES["an_address_asks_for_items"])
def test_an_address_asks_for_items(look, stay, kind, asked, ids):
    view = stay(kind, f"#?{asked}") if asked else look(kind)
    if isinstance(ids, list):
        assert view.ids() == ids
    assert view.told().startswith(f"{ids if isinstance(ids, int) else len(ids)} of ")
    assert not view.page.locator(".unfound").is_visible()


@pytest.mark.parametrize(
    ("kind", "asked", "words"), CASES["what_an_address_asks_in_vain_is_listed"]
)
def test_what_an_address_asks_in_vain_is_listed(stay, kind, asked, words):
    view = stay(kind, f"#?{asked}")
    assert all(one in view.lost() for one in words)
    assert view.ids() and view.page.locator("img").count() == 0


def test_numbers_are_sorted_and_compared_with_another_model(look):
    view = look("sentences")
    sizes = [abs(value) for value in view.numbers()]
    assert len(sizes) == 25 and sizes == sorted(sizes, reverse=True)
    view.choose("order", "value-asc")
    assert view.numbers() == sorted(view.numbers()) and view.numbers()[0] < 0
    view.choose("beside", "1")
    one, two, gap = (view.numbers(column) for column in (2, 3, 4))
    assert gap == pytest.approx([a - b for a, b in zip(one, two, strict=True)], abs=1e-9)
    assert [abs(value) for value in gap] == sorted(map(abs, gap), reverse=True)
    view.page.locator("thead th [role=button]").nth(3).press("Enter")
    view.page.wait_for_url("**order=difference-desc**")
    again = look("sentences", f"#{view.page.url.partition('#')[2]}")
    assert again.numbers(4) == sorted(view.numbers(4), reverse=True)
    view.choose("beside", "")
    assert view.page.locator("thead th").count() == 2
    for order in ("value-asc", "value-desc", "size-desc"):  # without a number: last either way
        view.choose("order", order)
        view.page.locator(".dt-paging button.last").first.click()
        assert "No number" in view.page.locator("tbody tr").last.inner_text()


def test_a_filter_counts_what_the_others_keep(look):
    view = look("sentences")
    assert "他/她 (48)" in view.page.locator("[name=pair] option").all_inner_texts()
    view.choose("pair", "=他/她")
    genders = view.page.locator("[name=keyword] option").all_inner_texts()
    assert genders == ["All", "male (24)", "female (24)"]
    view.choose("keyword", "=female")
    view.choose("lean", "=plus")
    assert view.numbers() and min(view.numbers()) > 0.3
    assert {"她" in text for text in view.texts()} == {True}


def test_pairs_mark_what_differs_and_sentences_show_their_counterfactual(look):
    view = look("pairs", KINDS["pairs"][0])
    marks = view.page.locator("tbody mark:visible").all_inner_texts()
    assert marks == ["kind", "loud", "she", "he", "aunt", "uncle"]
    assert view.page.locator("[name=beside] option").all_inner_texts() == ["Nothing", "other, AUL"]
    view = look("sentences", "#?search=独一无二")
    assert view.texts() == ["埋在这里的女人捧着独一无二的记号。"]
    assert "No number: it has more tokens" in view.row("独一无二")
    assert "contains unknown tokens" in look("sentences", "#?lean=unknown").row("Keyword")
    view.page.check("[name=both]")
    assert view.texts()[1] == "埋在这里的男人捧着独一无二的记号。"


def test_a_case_shows_its_evidence_and_every_training(look):
    view = look("cases", "#mine/ecthr-2")
    text = view.opened().replace("\u00a0", " ")
    for words in ("2015", "Application 123/45", made_case_page.PLANTED, "title in procedure", "She",
                  "facts, paragraph 1", "95.3 2 of 2", "year of birth 1950"):  # fmt: skip
        assert words in text
    assert view.page.locator("article tbody tr").count() == 2
    assert "Predicted: 6 Missed: 8" in view.row("ecthr-2")
    assert view.row("ecthr-1").endswith("0.227")
    view = look("cases", "#?classifier=linear&objective=group_dro&applicant_gender=female")
    assert "trained for Applicant's gender" in view.told()
    view = look("cases", "#?classifier=linear&objective=erm&trained=")
    assert "linear, ERM (2 seeds)" in view.told()


def test_an_objective_is_that_of_the_attribute_a_filter_asks_for(browser, repository, tmp_path):
    made = made_case_page.ecthr(tmp_path)
    other = predictions(made["cases"][0], right, objective="group_dro",
                        attribute="applicant_age")  # fmt: skip
    made["predictions"].insert(1, write(tmp_path / "age.parquet", other))
    file = tmp_path / "cases.html"
    explore_cases(templates=made_results.templates(repository), out=file,
                  tables_out=tmp_path / "cases", **made)  # fmt: skip
    view = Explorer(browser, file, "#?objective=group_dro&applicant_gender=female")
    assert "trained for Applicant's gender" in view.told()
    view.ask("#?objective=group_dro")
    assert "trained for Applicant's age" in view.told()
    view.close()


def test_without_classifiers_there_are_the_cases(browser, repository, tmp_path):
    made = made_case_page.ecthr(tmp_path)
    given = {name: made[name] for name in ("titles", "cases")}
    file = tmp_path / "cases.html"
    explore_cases(templates=made_results.templates(repository), out=file,
                  tables_out=tmp_path / "cases", **given)  # fmt: skip
    view = Explorer(browser, file)
    assert view.told() == "3 of 4 cases: Split: test."
    assert view.page.locator("thead th").all_inner_texts() == ["Case"]
    view.page.locator("td.item a").first.click()
    assert "No model has an answer" in view.opened()
    view.close()


def test_measures_of_individuals_are_means_over_seeds(look):
    view = look("people")
    assert view.told() == "5 of 5 individuals: MLP (2 seeds), 7 answers."
    assert view.measures() == {"accuracy": 54.2, "positive": 0.25, "IFR_b": 87.5, "IFR_p": 75.0}
    three = view.row("Individual 3")
    assert "gender: woman" in three and "monthly income: 3,000.5" in three
    assert "0.550 decided 1, 1 of 2 decided 0, 1 of 2 wrong, 1 of 2 the decision changes" in three
    assert three.endswith("0.500")
    view = look("people", "#?seed=0&group=woman&answer=changes")
    assert view.told() == (
        "1 of 4 individuals: MLP (2 seeds); gender: woman; Seed: 0; Answer: the decision changes,"
        " in 1 of 3 answers."
    )
    view = look("people", "#?set=other")
    assert view.measures() == {
        "accuracy": 66.7, "positive": 0.0, "IFR_b": 75.0, "IFR_p": 66.7, "all values": 66.7
    }  # fmt: skip
    view.page.locator(".by-part summary").click()
    cells = view.page.locator(".by-part tbody td").all_inner_texts()
    assert cells[:2] == ["6", "66.7\u00a0%"]
    view = look("people", "#other/1")
    assert "0.9 decision changes, beyond tau" in view.opened()


def test_a_method_has_the_groups_that_it_sees(browser, repository, tmp_path):
    file = tmp_path / "people.html"
    explore_people(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.whole_numbers(tmp_path / "one"),
    )  # fmt: skip
    view = Explorer(browser, file, "#?training=eidig_integers&group=old")
    assert view.ids() == ["2", "5"]
    assert view.measures() == {
        "accuracy": 100.0, "positive": 0.0, "IFR_b": 100.0, "IFR_p": 50.0, "all values": 50.0
    }  # fmt: skip
    assert "old" in view.row("Individual 2")
    groups = view.page.locator("[name=group] option")
    assert groups.all_inner_texts() == ["All", "young (2)", "middle (0)", "old (2)"]
    view.choose("model", "0")  # the MLP has no such group
    assert groups.all_inner_texts() == ["All", "young (2)", "not young (2)"]
    assert (view.chosen("group"), view.ids()) == ("", ["1", "2", "3", "5"])
    view.choose("group", "=young")
    view.choose("model", "1")
    assert (view.chosen("group"), view.ids()) == ("=young", ["3", "1"])
    view.ask("#?search=old&training=eidig_integers")
    assert view.ids() == ["2", "5"]
    view.close()


def test_measures_are_rounded_as_in_the_tables(browser, repository, tmp_path):
    """Sixteenths have halves where they are cut; tables are written by Python."""
    made, rows = made_people.table(many=10), list(range(16))
    loss = {"individual": "iifr_cosine", "reduction": "sum", "epsilon": 0.8}
    runs = [made_people.run(k, 0, **loss, **{"lambda": float(k)}) for k in range(17)]
    said = [
        one
        for k in range(17)
        for one in made_people.answers(made, k, rows, [0.9] * k + [0.1] * (16 - k), [0.1] * 16)
    ]
    file = tmp_path / "people.html"
    explore_people(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.write(tmp_path / "one", made, runs, said),
    )  # fmt: skip
    view = Explorer(browser, file)
    for k in range(17):
        view.choose("model", str(k))
        right = sum(int(i < k) == made.y[i] for i in rows)
        assert view.measures() == {
            "accuracy": float(f"{100 * right / 16:.1f}"),
            "positive": float(f"{k / 16:.3f}"),
            "IFR_b": float(f"{100 * (16 - k) / 16:.1f}"),
            "IFR_p": float(f"{100 * (16 - k) / 16:.1f}"),
        }
    view.close()


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
def legal_pages(repository, tmp_path):
    """The pages of classifiers and of legal data, and the cases behind their numbers."""
    common = {"templates": made_results.templates(repository)}
    common |= {"titles": ["Mine", "Other"]}
    names = ["mine", "other"]
    write_page(
        page="legal_classifiers", out=tmp_path / "legal_classifiers.html", **common, names=names,
        files=made_classifiers.write_results(repository, tmp_path),
        declarations=[declaration("cail")],
    )  # fmt: skip
    write_page(
        page="legal_cases", out=tmp_path / "legal_cases.html", **common, names=names,
        files=made_legal.write_results(repository, tmp_path, "other"),
        declarations=[declaration("ecthr")],
    )  # fmt: skip
    explore_cases(
        **common, out=tmp_path / "cases.html", tables_out=tmp_path / "cases",
        cases=[tmp_path / "mine.parquet", tmp_path / "legal/other/other.parquet"],
        predictions=[tmp_path / "p.parquet"],
    )  # fmt: skip
    return tmp_path


def test_numbers_lead_to_the_cases_that_they_count(browser, legal_pages):
    counted = []
    for page in ("legal_classifiers", "legal_cases"):
        view = View(browser, legal_pages / f"{page}.html")
        counted += view.page.evaluate(BEHIND)
        for one in view.page.locator("th a[href^='cases.html#?']").all():
            counted.append(["a group", one.get_attribute("href"), one.text_content().split()[0]])
        view.close()
    tables = {table.partition(":")[0] for table, *_ in counted}
    assert tables == {
        "Macro-F1 by group", "Scores by objective", "Possible causes", "Calibration by group, ERM",
        "Cases by group",
        "Cases by label", "a group",
    }  # fmt: skip
    there = Explorer(browser, legal_pages / "cases.html")
    for table, address, number in counted[::2]:
        there.ask(address.partition("#")[2])
        assert not there.page.locator(".unfound").is_visible(), (address, there.told())
        shown = int(there.told().partition(" of ")[0])
        if table.startswith(("Cases by", "Calibration", "a group")):
            assert shown == int(number), address
        elif table.startswith("Macro-F1"):
            assert shown == 60
    there.close()


#: Measures of the tables, as the explorer names them.
MEASURES = {"Accuracy": "accuracy", "Predicted positive": "positive", "IFR_b": "IFR_b",
            "IFR_p": "IFR_p"}  # fmt: skip
#: The tables whose numbers the explorer computes again.
TABLES = ("Accuracy and individual fairness", "Individual fairness by group")
COLUMNS = {"acc": "accuracy", "positive_rate": "positive", "ifr_b": "IFR_b", "ifr_p": "IFR_p"}


@pytest.mark.parametrize(("run", "least"), [("demo", 10), ("eidig", 5)])
def test_behind_a_number_are_as_many_individuals_as_its_link_tells(browser, places, run, least):
    """Some links from the pages of test individuals, followed, and `TABLES` computed again;
    `test_the_counts_of_a_run_come_to_the_numbers_of_its_tables` does that for all."""
    folder = places(run)
    told = []
    for page in ("individual_fairness", "mitigation"):
        view = View(browser, folder / f"{page}.html")
        found = view.page.evaluate(NUMBERS, 13)  # no period of a table's columns
        told += [one for one in found if one[2].startswith("people.html")]
        view.close()
    assert len(told) > least
    assert {words[-1].partition(":")[0] for _, words, *_ in told} >= {
        *TABLES, "Group fairness", "Differences, paired by seed"}  # fmt: skip
    there = Explorer(browser, folder / "people.html")
    wrong, compared = [], 0
    for value, words, href, link in told:
        there.ask(href.partition("#")[2])
        people, answers = re.match(r"The (one|[\d,]+) p.*?(?:([\d,]+ of [\d,]+) answers|$)",
                                   link).groups()  # fmt: skip
        said = there.told()
        if not said.startswith(f"{people.replace('one', '1')} of "):
            wrong.append((link, said))
        if answers and f"in {answers} answers" not in said:
            wrong.append((link, said))
        if there.page.locator(".unfound:visible").count():
            wrong.append((href, there.lost()))
        measure = MEASURES.get(words[1].removesuffix(", %"))
        if measure and words[-1].startswith(TABLES):
            compared += 1
            if float(value.split()[0]) != there.measures()[measure]:
                wrong.append((words, value, there.measures()))
    assert wrong == []
    assert compared > least / 3
    there.close()


@pytest.mark.parametrize(("run", "least"), [("demo", 80), ("eidig", 50)])
def test_the_counts_of_a_run_come_to_the_numbers_of_its_tables(places, run, least):
    """The same of the files: no browser is needed."""
    tables = read_tables(places(run).parent / "tables/individual")
    keys = ("dataset", "method", "individual", "reduction", "lambda", "epsilon", "epsilon_unit")
    keys += ("mu", "js_base", "split", "group")
    people = {
        tuple(row[key] for key in keys): row
        for row in tables["individuals"]
        if row["label"] is None
    }
    compared = 0
    for row in tables["table_4"] + tables["table_6"]:
        if row["metric"] in COLUMNS:
            found = people[tuple(row[key] for key in keys)]
            assert found[row["metric"]] == pytest.approx(row["mean"], abs=1e-5)
            compared += 1
    assert compared > least
