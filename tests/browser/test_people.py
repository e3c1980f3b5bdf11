"""The explorer of people: what an address asks for, what is shown, its size, and its numbers."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from browser.made_pages import HOSTILE
from browser.test_numbers import NUMBERS
from evenhand.core.tables import read_tables
from evenhand.report.write_people_page import write_people_page
from in_browser import View
from unit.report import made_people, made_results

#: As many people as Adult has.
MANY = 45_000

#: Milliseconds that a slow machine may take to search or sort them: a person would call it broken.
TOO_LONG = 10_000


class People(View):
    """The page of the people in a browser."""

    def people(self) -> list[int]:
        links = self.page.locator("#explore-people tbody td.person a:visible").all_inner_texts()
        return [int(link.removeprefix("Person ")) for link in links]

    def choose(self, field: str, value: str) -> None:
        self.page.select_option(f"#explore-people [name={field}]", value)

    def chosen(self, field: str) -> str:
        return self.page.input_value(f"#explore-people [name={field}]")

    def told(self) -> str:
        return self.page.inner_text(".told")

    def measured(self) -> dict[str, float]:
        """The measures of who is asked for, by their names."""
        text = self.page.inner_text(".measured-here").replace("\u00a0", " ")
        found = re.findall(r"(accuracy|positive|IFR_b|IFR_p|all values) ([\d.]+)", text)
        return {name: float(value) for name, value in found}

    def row(self, person: int) -> str:
        rows = self.page.locator("#explore-people tbody tr", has_text=f"Person {person}")
        return " ".join(rows.first.inner_text().split())

    def ask(self, address: str) -> None:
        """Go to another address of the page, and wait until it is answered."""
        self.page.evaluate("(asked) => { location.hash = asked; }", address)
        self.page.wait_for_function("() => new Promise((done) => setTimeout(() => done(true), 5))")


@pytest.fixture
def look(browser, repository, tmp_path):
    """The page of two data sets, as it is asked for."""
    file = tmp_path / "people.html"
    write_people_page(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.joined(
            made_people.two_groups(tmp_path / "one"), made_people.three_groups(tmp_path / "two")
        ),
    )  # fmt: skip
    opened: list[People] = []

    def seen(address: str = "", **settings: Any) -> People:
        opened.append(People(browser, file, address, **settings))
        return opened[-1]

    yield seen
    for one in opened:
        one.close()


def test_shows_the_people_moved_furthest_first(look):
    view = look()
    assert view.people() == [3, 1, 0, 2, 5]
    assert view.told() == "5 of 5 people: MLP; 2 seeds, 7 answers."
    assert view.measured() == {"accuracy": 54.2, "positive": 0.25, "IFR_b": 87.5, "IFR_p": 75.0}
    three = view.row(3)
    assert "gender: woman" in three and "monthly income: 3,000.5" in three
    assert "0, 1 of 2 seeds probability 0.550; wrong, 1 of 2 seeds" in three
    assert "changes, 1 of 2 seeds beyond tau, 1 of 2 seeds" in three
    assert three.endswith("0.500")
    assert view.row(5).endswith("1 probability 0.600; wrong stays 0.000")
    view.choose("training", "1")
    assert view.told() == "5 of 5 people: MLP with IIFR, λ 1, ε 0.8; 2 seeds, 7 answers."
    assert view.people() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize(
    ("asked", "people", "answers"),
    [
        ("set=mine&training=mlp&answer=changes", [3], "1 of 7"),
        ("answer=stays", [3, 1, 0, 2, 5], "6 of 7"),
        ("answer=beyond", [3, 1], "2 of 7"),
        ("answer=beyond&group=woman", [3, 1], "2 of 4"),
        ("answer=within&order=person-asc", [0, 2, 3, 5], "5 of 7"),
        ("group=man", [0, 2], "3"),
        ("label=0", [1, 2, 5], "4"),
        ("label=1&answer=wrong", [3, 0], "2 of 3"),
        ("answer=right&seed=0", [3, 1, 2], "3 of 4"),
        ("seed=1", [0, 2, 3], "3"),
        ("answer=positive", [3, 5], "2 of 7"),
        ("answer=negative&group=woman", [3, 1], "2 of 4"),
        ("search=lighthouse", [2], "2"),
        ("search=job:%20nurse%20woman", [3, 1, 5], "4"),
        ("search=man", [0, 2], "3"),  # and no woman
        ("search=ighthouse", [], "0"),
        ("training=mlp,%20iifr_cosine,%20lambda%201,%20epsilon%200.8&answer=wrong", [0, 3], "3"),
        ("order=p-desc", [5, 3, 0, 1, 2], "7"),
        ("order=difference-asc&group=woman", [5, 1, 3], "4"),
        ("set=other&answer=changes", [1, 0], "2 of 6"),
        ("set=other&method=logistic_regression&group=other", [2, 5], "2"),
    ],
)
def test_an_address_asks_for_people(look, asked, people, answers):
    view = look(f"#?{asked}")
    assert view.people() == people
    assert view.told().startswith(f"{len(people)} of ")
    assert f" {answers}" in view.told()
    assert not view.page.locator(".unfound").is_visible()


def test_several_flips_are_told_and_measured(look):
    view = look("#?set=other")
    assert view.measured() == {
        "accuracy": 66.7, "positive": 0.0, "IFR_b": 75.0, "IFR_p": 66.7, "all values": 66.7
    }  # fmt: skip
    view.page.locator(".by-seed summary").click()
    view.page.wait_for_selector(".by-seed td")
    cells = view.page.locator(".by-seed tbody td")
    assert [one.replace("\u00a0", " ") for one in cells.all_inner_texts()] == [
        "6", "0", "2", "66.7 %", "2 (3 flips)", "75.0 %", "2 (4 flips)", "66.7 %"]  # fmt: skip


def test_a_method_has_the_groups_that_it_sees(browser, repository, tmp_path):
    file = tmp_path / "people.html"
    write_people_page(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.whole_numbers(tmp_path / "one"),
    )  # fmt: skip
    view = People(browser, file, "#?training=eidig_integers&group=old")
    assert view.people() == [2, 5]
    assert view.measured() == {
        "accuracy": 100.0, "positive": 0.0, "IFR_b": 100.0, "IFR_p": 50.0, "all values": 50.0
    }  # fmt: skip
    assert "gender: old" in view.row(2)
    groups = view.page.locator("#explore-people [name=group] option")
    assert groups.all_inner_texts() == ["All", "young", "middle", "old"]
    view.choose("training", "0")  # the MLP has no such group
    assert groups.all_inner_texts() == ["All", "young", "not young"]
    assert (view.chosen("group"), view.people()) == ("", [1, 2, 3, 5])
    view.choose("group", "0")
    view.choose("training", "1")
    assert (view.chosen("group"), view.people()) == ("0", [3, 1])
    assert "group=young" in view.page.evaluate("location.hash")
    view.ask("#?search=old&training=eidig_integers")
    assert view.people() == [2, 5]
    view.ask("#?group=middle")
    assert view.page.inner_text(".unfound") == (
        "This page does not have the group middle of gender."
    )
    view.ask("#ages/3")
    known = " ".join(view.page.inner_text("#explore-people article").split())
    assert "gender young gender, EIDIG’s whole numbers young" in known
    assert "MLP 0 0.400 not young: 0.400" in known
    assert "EIDIG on whole numbers 1 0.900 middle: 0.800 beyond tau old: 0.100 changes" in known
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
    write_people_page(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.write(tmp_path / "one", made, runs, said),
    )  # fmt: skip
    view = People(browser, file)
    for k in range(17):
        view.choose("training", str(k))
        right = sum(int(i < k) == made.y[i] for i in rows)
        assert view.measured() == {
            "accuracy": float(f"{100 * right / 16:.1f}"),
            "positive": float(f"{k / 16:.3f}"),
            "IFR_b": float(f"{100 * (16 - k) / 16:.1f}"),
            "IFR_p": float(f"{100 * (16 - k) / 16:.1f}"),
        }
    view.close()


def test_what_an_address_asks_in_vain_is_told(look):
    view = look("#?set=none&group=nobody&training=magic&seed=9&answer=odd&label=2&what=ever")
    assert view.page.inner_text(".unfound") == (
        "This page does not have the data set none, the training magic, the seed 9, the group"
        " nobody of gender, the label 2, the answer odd."
    )
    assert len(view.people()) == 5
    for address in ("#mine/99", "#mine/none", "#99", "#%E0%A4%A", "#<img src=x>", "#other/-1"):
        assert len(look(address).people()) == 5


def test_nobody_is_open_where_an_unknown_person_is_asked_for(look):
    view = look("#mine/3")
    opened = view.page.locator(".explorer article")
    opened.wait_for(state="visible")
    view.page.evaluate("location.hash = '#mine/99'")
    expect(view.page.locator(".unfound")).to_contain_text("mine/99")
    expect(opened).to_be_hidden()


def test_a_long_word_asked_in_vain_is_cut(look):
    for address in (f"#?search={'b' * 100_000}", f"#{'a' * 100_000}", f"#?group={'c' * 900}"):
        view = look(address, viewport={"width": 360, "height": 700})
        root = "document.documentElement"
        assert view.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
        assert len(view.told() + view.page.locator(".unfound").inner_text()) < 300


def test_what_is_chosen_stands_in_the_address(look):
    view = look()
    view.choose("training", "0")
    view.choose("seed", "0")
    view.choose("group", "1")
    view.choose("label", "1")
    view.choose("answer", "changes")
    view.choose("order", "person-asc")
    again = look(view.page.evaluate("location.hash"))
    assert again.told() == view.told()
    assert again.told() == (
        "1 of 4 people: MLP; seed 0; gender woman; label 1; the decision changes, in 1 of 1 answer."
    )
    assert again.chosen("order") == "person-asc"
    assert again.people() == view.people() == [3]
    again.page.locator("#explore-people button[type=reset]").click()
    assert again.told() == "5 of 5 people: MLP; 2 seeds, 7 answers."


def test_a_person_opens_with_what_is_known_and_every_training(look):
    view = look("#mine/2")
    opened = view.page.locator("#explore-people article")
    assert opened.locator("h3").inner_text() == "Mine · person 2"
    text = " ".join(opened.inner_text().split())
    for words in (
        "gender man", "Label 0: not has it", f"job {made_people.PLANTED}", "monthly income 2,000",
        "MLP 0 0.100 woman: 0.100 0 0.200 woman: 0.200",
        "MLP with IIFR, λ 1, ε 0.8 0 0.300 woman: 0.300",
    ):  # fmt: skip
        assert words in text
    heads = opened.locator("table thead th").all_inner_texts()
    assert heads == ["Method", "Seed 0", "Seed 1"]
    opened.locator("button").click()
    opened.wait_for(state="hidden")
    assert view.page.evaluate("document.activeElement.textContent") == "Person 2"
    view = look("#other/1")
    text = " ".join(view.page.inner_text("#explore-people article").split())
    assert "0 0.400 man: 0.900 changes beyond tau other: 0.900 changes beyond tau" in text
    assert view.chosen("set") == "other"
    assert view.page.locator("#explore-people article thead th").count() == 2
    view = look("#5")  # the first data set that has this number
    assert "Mine · person 5" in view.page.inner_text("#explore-people article h3")


def test_goes_by_keys_alone(look):
    view = look("#?order=person-asc")
    view.page.focus("#explore-people td.person a >> nth=1")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("#explore-people article:not([hidden])")
    assert view.page.evaluate("document.activeElement.className") == "opened"
    view.page.go_back()
    view.page.wait_for_selector("#explore-people article", state="hidden")
    assert view.page.evaluate("document.activeElement.textContent") == "Person 1"


@pytest.mark.parametrize("address", ["", "#?answer=stays&order=person-asc"])
def test_the_way_back_from_a_person_leads_to_the_same_page_of_the_table(look, address):
    view = look(address)
    table = "new DataTable.Api('#explore-people table').page"
    view.page.evaluate(f"{table}.len(2).page(1).draw('page')")
    people = view.people()
    view.page.locator("#explore-people td.person a").first.click()
    view.page.wait_for_selector("#explore-people article:not([hidden])")
    view.page.go_back()
    view.page.wait_for_selector("#explore-people article", state="hidden")
    assert view.people() == people
    assert view.page.evaluate(f"{table}()") == 1


def test_sorts_by_a_heading_and_says_so(look):
    view = look()
    view.page.locator("#explore-people thead th", has_text="Decision").click()
    view.page.wait_for_selector("#explore-people th[aria-sort=descending]:has-text('Decision')")
    assert view.people() == [5, 3, 0, 1, 2]
    assert view.chosen("order") == "p-desc"
    view.page.locator("#explore-people thead th", has_text="Label").click()
    view.page.wait_for_selector("#explore-people thead th[aria-sort=ascending]")
    assert view.chosen("order") == ""
    again = look(view.page.evaluate("location.hash"))
    assert again.people() == view.people()
    assert again.page.locator("#explore-people th[aria-sort=ascending]").inner_text() == "Label"
    view = look("#?order=toString-asc")
    assert "the order toString-asc" in view.page.inner_text(".unfound")


def test_planted_hostile_strings_stay_text(browser, places):
    view = People(browser, places("hostile") / "people.html", "#?search=window.hacked")
    assert view.people()
    view.page.locator("#explore-people td.person a").first.click()
    view.page.wait_for_selector("#explore-people article:not([hidden])")
    assert HOSTILE[:12] in view.page.inner_text("#explore-people article")
    view.page.locator(".by-seed summary").click()
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator("#explore-people img, #explore-people svg").count() == 0
    group = view.page.locator("#explore-people [name=group] option").nth(2)
    assert HOSTILE[:12] in group.inner_text()
    view.choose("group", "1")
    again = People(browser, view.file, view.page.evaluate("location.hash"))
    assert again.chosen("group") == "1"
    again.close()
    view.close()


def test_reads_without_a_script(browser, repository, tmp_path):
    file = tmp_path / "people.html"
    write_people_page(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **made_people.two_groups(tmp_path / "one"),
    )  # fmt: skip
    view = People(browser, file, java_script_enabled=False)
    assert view.page.locator("#explore-people tbody tr").count() == 5
    assert not view.page.locator("#explore-people form").is_visible()
    assert not view.page.locator(".by-seed").is_visible()
    view.context.close()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_opened_person_fits_the_page(look, width, scheme):
    view = look("#other/1", viewport={"width": width, "height": 780}, color_scheme=scheme)
    view.page.locator(".by-seed summary").click()
    view.page.wait_for_selector(".by-seed td")
    root = "document.documentElement"
    assert view.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0


def test_as_many_people_as_adult_has_are_quick_enough(browser, repository, tmp_path):
    """Asked only that nothing hangs: how long it takes is measured elsewhere."""
    given = made_people.two_groups(tmp_path / "many", many=MANY)
    file = tmp_path / "people.html"
    counts = write_people_page(
        templates=made_results.templates(repository), out=file, tables_out=tmp_path / "people",
        **given,
    )  # fmt: skip
    assert counts["people"] == {"mine": MANY + 5}
    view = People(browser, file)
    view.page.set_default_timeout(TOO_LONG)
    view.choose("order", "p-asc")
    view.page.fill("#explore-people [name=words]", "lighthouse")
    view.page.wait_for_selector(".told >> text=/^1 of/")
    assert view.people() == [2]
    view.close()


#: Measures of the tables, as the page of the people tells them.
MEASURES = {
    "acc": "accuracy",
    "positive_rate": "positive",
    "ifr_b": "IFR_b",
    "ifr_p": "IFR_p",
}


@pytest.mark.parametrize(("run", "least"), [("demo", 200), ("eidig", 90)])
def test_behind_a_number_are_as_many_people_as_its_link_tells(browser, places, run, least):
    """Each link from the page of individual fairness, followed."""
    folder = places(run)
    view = View(browser, folder / "individual_fairness.html")
    told = [(value, words, href) for value, words, href in view.page.evaluate(NUMBERS) if href]
    links = view.page.evaluate(
        """() => [...document.querySelectorAll("td[data-link]")].map((cell) => cell.dataset.link)"""
    )
    view.page.locator("td[data-link]").first.click()
    card = view.page.locator(".card:popover-open a[href^='people.html']")
    assert card.inner_text() == links[0]
    view.close()
    assert len(told) == len(links) > least
    assert {words[-1].partition(":")[0] for _, words, _ in told} >= {
        "Table 4", "Table 6", "Table 7", "Differences, paired by seed"}  # fmt: skip
    there = People(browser, folder / "people.html")
    wrong = []
    for (_, _, href), link in zip(told, links, strict=True):
        there.ask(href.partition("#")[2])
        people, answers = re.match(r"The (one|[\d,]+) p.*?(?:([\d,]+ of [\d,]+) answers|$)",
                                   link).groups()  # fmt: skip
        said = there.told()
        if not said.startswith(f"{people.replace('one', '1')} of "):
            wrong.append((link, said))
        if answers and f"in {answers} answers" not in said:
            wrong.append((link, said))
        if there.page.locator(".unfound:visible").count():
            wrong.append((href, there.page.inner_text(".unfound")))
    assert wrong == []
    there.close()


@pytest.mark.parametrize(("run", "least"), [("demo", 80), ("eidig", 50)])
def test_what_the_page_lists_comes_to_the_numbers_of_the_tables(browser, places, run, least):
    """Tables 4 and 6, read again from the page of the people."""
    folder = places(run)
    view = View(browser, folder / "individual_fairness.html")
    told = {
        (words[0], words[1].removesuffix(", %"), words[-1], href): (value.split()[0], href)
        for value, words, href in view.page.evaluate(NUMBERS)
        if href and words[-1].startswith(("Table 4", "Table 6"))
    }
    view.close()
    names = {"Accuracy": "accuracy", "Predicted positive": "positive", "IFR_b": "IFR_b",
             "IFR_p": "IFR_p"}  # fmt: skip
    compared = [(key, *found) for key, found in told.items() if key[1] in names]
    assert len(compared) > least
    there = People(browser, folder / "people.html")
    wrong = []
    for key, value, href in compared:
        there.ask(href.partition("#")[2])
        measured = there.measured()[names[key[1]]]
        if float(value) != measured:
            wrong.append((key, value, measured))
    assert wrong == []
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
        if row["metric"] in MEASURES:
            found = people[tuple(row[key] for key in keys)]
            assert found[row["metric"]] == pytest.approx(row["mean"], abs=1e-5)
            compared += 1
    assert compared > least
