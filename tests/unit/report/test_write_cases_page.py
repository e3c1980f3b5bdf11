"""The page of the cases without its script; tests/browser looks at it with it."""

import csv
import json

import pytest

from evenhand.errors import InputError
from evenhand.report.write_cases_page import write_cases_page
from unit.legal.made_cases import write_cases
from unit.report import checks, made_case_page
from unit.report.checks import HOSTILE, parse


@pytest.fixture
def made(tmp_path):
    return made_case_page.joined(
        made_case_page.ecthr(tmp_path / "one", HOSTILE), made_case_page.cail(tmp_path / "two")
    )


@pytest.fixture
def page(templates, tmp_path):
    def write(**given):
        out = tmp_path / "cases.html"
        counts = write_cases_page(
            templates=templates, out=out, tables_out=tmp_path / "cases", **given
        )
        return parse(out), counts

    return write


def test_holds_every_case_of_every_data_set(page, made):
    tree, counts = page(**made)
    blocks = tree.css("script[type='application/json']")
    assert [one.attributes["id"] for one in blocks] == ["cases-mine", "cases-other"]
    assert [len(json.loads(one.text())["id"]) for one in blocks] == [4, 3]
    assert counts["cases"] == {"mine": 4, "other": 3}
    assert counts["trainings"] == {"mine": 2, "other": 1}
    assert counts["left_out"] == {"mine": 0, "other": 0}


def test_reads_without_the_script(page, made):
    tree, _ = page(**made)
    rows = [row.text() for row in tree.css(".explorer tbody tr")]
    assert len(rows) == 4
    assert "ecthr-2" in rows[1] and "6, 8" in rows[1] and "Applicant's gender: female" in rows[1]
    assert "not known" in rows[2] and "none" in rows[3]
    assert "hidden" in tree.css_first("form").attributes
    assert "The first 4 of 4 cases" in tree.css_first(".without-script").text()


def test_hostile_strings_stay_text(page, made):
    tree, _ = page(**made)
    checks.check_nothing_injected(tree)
    assert "{{ 7*7 }}" in tree.css_first("main").text()
    checks.check_no_request(tree)


def test_can_be_used_without_eyes_or_mouse(page, made):
    checks.check_usable(page(**made)[0])


def test_leads_to_the_files_and_to_what_made_them(page, made):
    tree, _ = page(**made)
    links = [one.attributes["href"] for one in tree.css("#files a")]
    assert "../legal/mine/mine.parquet" in links
    assert "../legal/mine/predictions/linear/erm/none/all.parquet" in links
    assert "provenance.html#file-legal-mine-mine-parquet" in links
    tree, _ = page(**made, pages=["cases"])
    assert not [one for one in tree.css("#files a") if "provenance" in one.attributes["href"]]


def test_without_classifiers_it_has_the_cases(page, made):
    given = {name: made[name] for name in ("names", "kinds", "titles", "cases")}
    tree, counts = page(**given)
    assert counts["trainings"] == {"mine": 0, "other": 0}
    assert tree.css_first("#cases").text().count("no classifier was trained on it") == 2


def test_data_sets_with_classifiers_stand_first(page, made, tmp_path):
    plain = made_case_page.ecthr(tmp_path / "plain")
    given = {name: plain[name] for name in ("kinds", "titles", "cases")} | {"names": ["plain"]}
    tree, _ = page(**made_case_page.joined(given, made))
    options = [one.attributes["value"] for one in tree.css("select[name=set] option")]
    assert options == ["mine", "other", "plain"]


def test_says_which_data_sets_have_no_case(page, made, tmp_path):
    empty = write_cases(tmp_path / "empty.parquet", "ecthr", [])
    given = {"names": ["empty"], "kinds": ["ecthr"], "titles": ["Empty"], "cases": [empty]}
    tree, counts = page(**made_case_page.joined(made, given))
    assert tree.css_first(".absent").text() == "Empty has no case in test or dev."
    assert counts["cases"]["empty"] == 0
    tree, _ = page(**given)
    assert not tree.css("form") and not tree.css("script")


def test_says_what_it_leaves_out(page, made):
    tree, counts = page(**made, most=3)
    assert counts["left_out"] == {"mine": 1, "other": 0}
    assert "the last 1 of which are not on this page" in tree.css_first("#cases").text()
    tree, _ = page(**made, characters=0)
    assert "The facts of the cases are not on this page" in tree.css_first("#reading").text()


def test_writes_what_it_shows_as_tables(page, made, tmp_path):
    tree, _ = page(**made)
    files = [one.attributes["href"] for one in tree.css("#cases .downloads a")]
    names = ("mine", "mine.answers", "other", "other.answers")
    assert files == [f"cases/{name}.csv" for name in names]
    with (tmp_path / "cases/mine.csv").open(encoding="utf-8-sig", newline="") as stream:
        cases = list(csv.DictReader(stream))
    assert [one["id"] for one in cases] == ["ecthr-1", "ecthr-2", f"4/{HOSTILE}", "ecthr-3"]
    assert (
        cases[1]["labels"] == "6; 8" and cases[2]["labels"] == "" and cases[3]["labels"] == "none"
    )
    assert (cases[1]["applicant_gender"], cases[1]["applicant_gender_rule"]) == (
        "female", "title in procedure")  # fmt: skip
    assert (cases[1]["numbers"], cases[1]["date"]) == ("Application 123/45", "2015")
    with (tmp_path / "cases/mine.answers.csv").open(encoding="utf-8-sig", newline="") as stream:
        answers = list(csv.DictReader(stream))
    assert len(answers) == 2 * 3  # two trainings of three cases with a known label
    first = answers[0]
    assert (first["id"], first["objective"], first["trained_for"]) == ("ecthr-1", "erm", "")
    assert (first["seeds"], first["seeds_right"], first["loss"]) == ("2", "1", "0.227")
    assert (first["seeds 3"], first["probability 3"], first["seeds none"]) == ("1", "0.5", "1")
    assert "probability none" not in first
    assert answers[3]["trained_for"] == "applicant_gender"


@pytest.mark.parametrize("name", ["titles", "parts", "trainings", "objective_titles"])
def test_what_does_not_belong_together_is_refused(page, made, name):
    with pytest.raises(InputError, match="there is not one"):
        page(**made | {name: made[name][:-1]})


def test_a_training_of_another_data_set_is_refused(page, made):
    with pytest.raises(InputError, match="not one data set of the page for each training"):
        page(**made | {"trainings": ["else/linear/erm/none/all", *made["trainings"][1:]]})


def test_the_same_input_gives_the_same_page(templates, made, tmp_path):
    checks.check_same_twice(write_cases_page, {"templates": templates, **made}, tmp_path)
