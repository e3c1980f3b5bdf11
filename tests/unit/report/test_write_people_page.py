"""The page of the people without its script; tests/browser looks at it with it."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.report.digits import from_digits
from evenhand.report.sections.people import INTEGERS, STEPS, decoded
from evenhand.report.write_people_page import write_people_page
from unit.report import checks, made_people
from unit.report.checks import HOSTILE, parse


@pytest.fixture
def made(tmp_path):
    return made_people.joined(
        made_people.two_groups(tmp_path / "one", HOSTILE),
        made_people.three_groups(tmp_path / "two"),
    )


@pytest.fixture
def page(templates, tmp_path):
    def write(**given):
        out = tmp_path / "people.html"
        counts = write_people_page(
            templates=templates, out=out, tables_out=tmp_path / "people", **given
        )
        return parse(out), counts

    return write


def data_of(tree):
    return [json.loads(one.text()) for one in tree.css("script[type='application/json']")]


def test_holds_every_person_held_out_of_every_data_set(page, made):
    tree, counts = page(**made)
    mine, other = data_of(tree)
    assert (mine["key"], mine["id"]) == ("mine", [0, 1, 2, 3, 5])
    assert (other["key"], other["id"]) == ("other", list(range(6)))
    assert counts["people"] == {"mine": 5, "other": 6}
    assert counts["trainings"] == {"mine": 2, "other": 1}  # all runs of the third diverged
    assert counts["answers"] == {"mine": 14, "other": 6}
    assert counts["left_out"] == {"mine": 0, "other": 0}


def test_says_of_each_person_what_each_seed_decides(page, made):
    mine, other = data_of(page(**made)[0])
    assert [one["training"] for one in mine["trainings"]] == [
        "mlp", "mlp, iifr_cosine, lambda 1, epsilon 0.8"]  # fmt: skip
    assert [one["name"] for one in mine["trainings"]] == ["MLP", "MLP with IIFR, λ 1, ε 0.8"]
    mlp = mine["trainings"][0]
    assert (mlp["seeds"], mlp["runs"]) == ([0, 1], 2)
    person, own, flipped = decoded(mine, mlp, 2)
    assert [mine["id"][one] for one in person] == [1, 2, 3, 5, 0, 2, 3]
    assert (own % STEPS).tolist() == [200, 100, 900, 600, 200, 200, 200]
    assert (own // STEPS).tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert (flipped[:, 0] % STEPS).tolist() == [300, 100, 400, 600, 200, 200, 200]
    assert (flipped[:, 0] // STEPS).tolist() == [2, 0, 3, 0, 0, 0, 0]
    _, _, several = decoded(other, other["trainings"][0], 3)
    assert (several // STEPS).tolist() == [[3, 2], [3, 3], [0, 0], [0, 0], [0, 0], [0, 0]]
    [grouping] = other["groupings"]
    assert (grouping["name"], grouping["values"]) == ("", ["man", "woman", "other"])
    assert from_digits(grouping["group"]).tolist() == [0, 1, 2, 0, 1, 2]
    assert from_digits(other["truth"], 1).tolist() == [1, 0, 0, 1, 0, 0]


def test_a_method_has_the_groups_that_it_sees(page, tmp_path):
    tree, counts = page(**made_people.whole_numbers(tmp_path / "one"))
    [data] = data_of(tree)
    assert counts["answers"] == {"ages": 8}
    assert [one["method"] for one in data["trainings"]] == ["mlp", "eidig_integers"]
    assert [one["grouping"] for one in data["trainings"]] == [0, 1]
    own, eidig = data["groupings"]
    assert (own["name"], own["values"]) == ("", ["young", "not young"])
    assert from_digits(own["group"]).tolist() == [0, 1, 0, 1]
    assert (eidig["name"], eidig["values"]) == (INTEGERS, ["young", "middle", "old"])
    assert from_digits(eidig["group"]).tolist() == [0, 2, 0, 2]
    person, own, flipped = decoded(data, data["trainings"][1], 3)
    assert [data["id"][one] for one in person] == made_people.HELD[0]
    assert (own % STEPS).tolist() == [200, 200, 900, 200]
    assert (flipped % STEPS).tolist() == [[200, 200], [300, 300], [800, 100], [200, 200]]
    assert (flipped // STEPS).tolist() == [[0, 0], [2, 2], [2, 3], [0, 0]]
    assert "EIDIG on whole numbers" in tree.css_first("#reading").text()
    with (tmp_path / "people/ages.csv").open(encoding="utf-8-sig", newline="") as stream:
        two = [*csv.DictReader(stream)][1]
    assert (two["row"], two["group"], two[f"group, {INTEGERS}"]) == ("2", "not young", "old")
    with (tmp_path / "people/ages.answers.csv").open(encoding="utf-8-sig", newline="") as stream:
        said = {(one["training"], one["row"]): one for one in csv.DictReader(stream)}
    assert said["mlp", "2"]["group"] == "not young" and said["mlp", "2"]["flips"] == "1"
    three = said["eidig_integers", "3"]
    assert (three["group"], three["flips"], three["changed_flips"]) == ("young", "2", "1")
    assert said["eidig_integers", "2"]["group"] == "old"


def test_groups_in_another_order_are_no_others(page, tmp_path):
    """As those of Adult are: women before men, and men before women."""
    made = made_people.table()
    codes = (1 - made.a[:, None]).astype(np.int32)
    names = {"integer_groups": made.attribute_values[::-1]}
    made = dataclasses.replace(
        made, integers=codes, integer_features=["gender"], meta=made.meta | names
    )
    said = made_people.answers(made, 0, [1, 2], [0.2, 0.3], [0.4, 0.6])
    for one in said:
        one["p_flipped"].reverse()
    given = made_people.write(
        tmp_path / "one", made, [made_people.run(0, 0, method="eidig_integers")], said
    )
    tree, _ = page(**given)
    [data] = data_of(tree)
    assert [one["name"] for one in data["groupings"]] == ["", ""]
    one, two = data["groupings"]
    assert two["values"] == one["values"][::-1] and data["trainings"][0]["grouping"] == 1
    with (tmp_path / "people/mine.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert next(csv.reader(stream))[:3] == ["row", "group", "label"]
    _, own, flipped = decoded(data, data["trainings"][0], 2)
    assert (own % STEPS).tolist() == [200, 300]
    assert (flipped[:, 0] % STEPS).tolist() == [400, 600]


def test_probabilities_keep_their_side_of_one_half(page, tmp_path):
    made = made_people.table()
    rows = [1, 2, 3]
    said = made_people.answers(made, 0, rows, [0.5, 0.5001, 0.4999], [0.5001, 0.4999, 0.5001])
    given = made_people.write(tmp_path / "one", made, [made_people.run(0, 0)], said)
    [data] = data_of(page(**given)[0])
    _, own, flipped = decoded(data, data["trainings"][0], 2)
    assert (own % STEPS).tolist() == [500] * 3
    assert (own // STEPS).tolist() == [0, 1, 0]
    assert (flipped[:, 0] // STEPS).tolist() == [1, 1, 1]


def test_reads_without_the_script(page, made):
    tree, _ = page(**made)
    rows = [row.text() for row in tree.css(".explorer tbody tr")]
    assert len(rows) == 5
    assert made_people.PLANTED in rows[2] and "gender: man" in rows[2]
    assert "monthly income: 3,000.5" in rows[3]
    assert "hidden" in tree.css_first("form").attributes
    assert "The first 5 of 5 people" in tree.css_first(".without-script").text()
    assert f"the label 1 means has it {HOSTILE}" in tree.css_first("#people li").text()


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
    assert "../tabular/mine/predictions/random/mlp.parquet" in links
    assert "provenance.html#file-tabular-other-data-parquet" in links
    tree, _ = page(**made, pages=["people"])
    assert not [one for one in tree.css("#files a") if "provenance" in one.attributes["href"]]


def test_says_which_data_sets_have_no_answers(page, made, tmp_path):
    bare = {name: made[name] for name in ("people", "meta", "formats")}
    tree, counts = page(**bare)
    assert counts["people"] == {"mine": 0, "other": 0}
    assert not tree.css("form") and not tree.css("script")
    assert tree.css_first(".absent").text().startswith("Of Mine")


def test_says_what_it_leaves_out(page, made):
    tree, counts = page(**made, most=3)
    assert counts["left_out"] == {"mine": 2, "other": 3}
    assert counts["answers"] == {"mine": 8, "other": 3}
    assert "2 more of whom are not on this page" in tree.css_first("#people").text()
    mine, _ = data_of(tree)
    person, own, _ = decoded(mine, mine["trainings"][0], 2)
    assert [mine["id"][one] for one in person] == [1, 2, 0, 2]
    assert (own % STEPS).tolist() == [200, 100, 200, 200]
    with pytest.raises(InputError, match="cannot show 0 people"):
        page(**made, most=0)


def test_says_how_many_seeds_it_has(page, tmp_path):
    made = made_people.table()
    said = made_people.answers(made, 0, [1, 2], [0.2, 0.3], [0.2, 0.3])
    runs = [made_people.run(0, 0), made_people.run(1, 1)]
    tree, _ = page(**made_people.write(tmp_path / "one", made, runs, said))
    assert "1 training with the first 1 of 2 seeds" in tree.css_first("#people li").text()


def test_writes_what_it_shows_as_tables(page, made, tmp_path):
    tree, _ = page(**made)
    files = [one.attributes["href"] for one in tree.css("#people .downloads a")]
    names = ("mine", "mine.answers", "other", "other.answers")
    assert files == [f"people/{name}.csv" for name in names]

    def read(name):
        with (tmp_path / f"people/{name}.csv").open(encoding="utf-8-sig", newline="") as stream:
            return list(csv.DictReader(stream))

    people = read("mine")
    assert people[3] == {
        "row": "3", "group": f"woman {HOSTILE}", "label": "1", "job": "nurse",
        "monthly income": "3000.5",
    }  # fmt: skip
    answers = read("mine.answers")
    assert [one["row"] for one in answers if one["training"] == "mlp"] == ["0", "1", "2", "3", "5"]
    three = answers[3]
    assert {name: three[name] for name in list(three)[4:]} == {
        "seeds": "2", "wrong": "1", "positive": "1", "changed": "1", "beyond": "1",
        "flips": "2", "changed_flips": "1", "beyond_flips": "1",
        "probability": "0.55", "difference": "0.5",
    }  # fmt: skip
    several = read("other.answers")
    assert [(one["changed"], one["changed_flips"]) for one in several[:2]] == [
        ("1", "1"), ("1", "2")]  # fmt: skip


def test_trainings_that_hold_out_other_people_are_refused(page, made, tmp_path):
    one = made_people.two_groups(tmp_path / "three")
    table = made_people.table()
    said = made_people.answers(table, 0, [0, 1], [0.2, 0.3], [0.2, 0.3])
    runs = [made_people.run(0, 0, method="majority")]
    two = made_people.write(tmp_path / "four", table, runs, said)
    both = made_people.joined(one, two) | {
        name: one[name] for name in ("people", "meta", "formats")
    }
    with pytest.raises(InputError, match="do not hold out the same people for seed 0"):
        page(**both)


@pytest.mark.parametrize("name", ["formats", "meta", "predictions", "trained_on"])
def test_what_does_not_belong_together_is_refused(page, made, name):
    with pytest.raises(InputError, match="there is not one"):
        page(**made | {name: made[name][:-1]})


def test_the_same_input_gives_the_same_page(templates, made, tmp_path):
    checks.check_same_twice(write_people_page, {"templates": templates, **made}, tmp_path)
