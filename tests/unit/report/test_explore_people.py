"""The data of test individuals: what the page gets is what each seed decides, by hand."""

import csv
import dataclasses

import numpy as np
import pytest

from evenhand.report.explore_people import INTEGERS, explore_people
from unit.cases import read_csv
from unit.report import made_people
from unit.report.checks import parse, sets_of
from unit.report.test_explore_sentences import answers, facts


@pytest.fixture
def made(tmp_path):
    return made_people.joined(
        made_people.two_groups(tmp_path / "one"), made_people.three_groups(tmp_path / "two")
    )


@pytest.fixture
def page(templates, tmp_path):
    def write(**given):
        out = tmp_path / "people.html"
        counts = explore_people(
            templates=templates, out=out, tables_out=tmp_path / "people", **given
        )
        return parse(out), counts

    return write


def told(data, model, ask="answer"):
    """The individuals of a model's answers, their seeds, and a column of the answers."""
    rows = [data["id"][one] for one in data["rows"][model["row"]]]
    return rows, [one[0] for one in answers(model, "seed")], answers(model, ask)


def notes(model):
    values = model["cell_notes"]["values"]
    return [values[code] for code in model["cell_notes"]["codes"]]


def test_says_of_each_individual_what_each_seed_decides(page, made):
    tree, counts = page(**made)
    assert counts["answers"] == {"mine": 14, "other": 6}
    assert counts["models"] == {"mine": 2, "other": 1}  # all runs of the third diverged
    mine, other = sets_of(tree).values()
    assert [one["asks"]["training"] for one in mine["models"]] == [
        "mlp", "mlp, iifr_cosine, lambda 1, epsilon 0.8"]  # fmt: skip
    assert [one["name"] for one in mine["models"]] == [
        "MLP",
        "MLP with IIFR on cosine pairs, λ 1, ε 0.8",
    ]
    mlp = mine["models"][0]
    rows, seeds, tags = told(mine, mlp)
    assert rows == ["1", "2", "3", "5", "0", "2", "3"] and seeds == list("0000111")
    assert mlp["measures"] == [[0.2, 0.1, 0.9, 0.6, 0.2, 0.2, 0.2], None]
    assert mlp["cells"][:8] == [0.3, None, None, 0.1, 0.4, None, 0.6, None]
    assert tags[0] == ["negative", "right", "stays", "beyond"]
    assert tags[2] == ["positive", "right", "changes", "beyond"]
    assert tags[4] == ["negative", "wrong", "stays", "within"]
    shares = [[round(one, 6) for one in share] for share in mlp["shares"]]
    assert shares[:4] == [[1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0, 0], [1, 1, 0, 1, 1, 1, 1],
                          [0, 1, 0, 1, 1, 1, 1]]  # fmt: skip
    several = other["models"][0]
    assert several["classes"] == ["man", "woman", "other"]
    assert notes(several)[:9] == [
        ["factual"], ["decision changes", "beyond tau"], ["beyond tau"],
        ["decision changes", "beyond tau"], ["factual"], ["decision changes", "beyond tau"],
        [], [], ["factual"],
    ]  # fmt: skip
    assert [round(one, 6) for one in several["shares"][2]] == [0.5, 0, 1, 1, 1, 1]
    assert facts(other, "group")[:3] == [["man"], ["woman"], ["other"]]
    assert facts(other, "label") == [[one] for one in "100100"]


def test_a_method_has_the_groups_that_it_sees(page, tmp_path):
    tree, counts = page(**made_people.whole_numbers(tmp_path / "one"))
    data = sets_of(tree)["ages"]
    assert counts["answers"] == {"ages": 8}
    mlp, eidig = data["models"]
    assert [one["asks"]["method"] for one in (mlp, eidig)] == ["mlp", "eidig_integers"]
    assert facts(data, "group") == [["young"], ["not young"], ["young"], ["not young"]]
    assert facts(data, f"group, {INTEGERS}") == [["young"], ["old"], ["young"], ["old"]]
    assert data["columns"][eidig["instead"]["group"]]["name"] == f"group, {INTEGERS}"
    assert "instead" not in mlp
    assert eidig["classes"] == ["young", "middle", "old"]
    assert eidig["cells"] == [None, 0.2, 0.2, 0.3, 0.3, None, None, 0.8, 0.1, 0.2, 0.2, None]
    assert notes(eidig)[6:9] == [["factual"], ["beyond tau"], ["decision changes", "beyond tau"]]
    assert "EIDIG on whole numbers" in tree.css_first("#reading").text()
    two = read_csv(tmp_path / "people/ages.csv")[1]
    assert (two["row"], two["group"], two[f"group, {INTEGERS}"]) == ("2", "not young", "old")


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
    data = sets_of(tree)["mine"]
    assert [one["ask"] for one in data["columns"]].count("group") == 1
    [model] = data["models"]
    assert "instead" not in model and model["classes"] == made.attribute_values[::-1]
    assert model["cells"] == [None, 0.4, 0.6, None]
    with (tmp_path / "people/mine.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert next(csv.reader(stream))[:3] == ["row", "group", "label"]


def test_probabilities_keep_their_side_of_one_half(page, tmp_path):
    made = made_people.table()
    rows = [1, 2, 3]
    said = made_people.answers(made, 0, rows, [0.5, 0.5001, 0.4999], [0.5001, 0.4999, 0.5001])
    given = made_people.write(tmp_path / "one", made, [made_people.run(0, 0)], said)
    model = sets_of(page(**given)[0])["mine"]["models"][0]
    p = model["measures"][0]
    assert p[0] == 0.5 and p[1] > 0.5 > p[2]
    assert [one[2] for one in answers(model, "answer")] == ["changes"] * 3


def test_features_are_in_words(page, made):
    tree, _ = page(**made)
    data = sets_of(tree)["mine"]
    assert facts(data, "job")[2:4] == [[made_people.PLANTED], ["nurse"]]
    assert facts(data, "monthly income")[3] == [3000.5]
    rows = [row.text() for row in tree.css(".explorer tbody tr")]
    assert "monthly income: 3,000.5" in rows[3]
    assert "the label 1 means has it" in tree.css_first("#items li").text()


def test_says_what_it_leaves_out(page, made):
    tree, counts = page(**made, most=3)
    assert counts["left_out"] == {"mine": 2, "other": 3}
    assert counts["answers"] == {"mine": 8, "other": 3}
    assert "2 more individuals are not on this page" in tree.css_first("#items").text()
    data = sets_of(tree)["mine"]
    rows, _, _ = told(data, data["models"][0])
    assert rows == ["1", "2", "0", "2"]


def test_says_how_many_seeds_it_has(page, tmp_path):
    made = made_people.table()
    said = made_people.answers(made, 0, [1, 2], [0.2, 0.3], [0.2, 0.3])
    runs = [made_people.run(0, 0), made_people.run(1, 1)]
    tree, _ = page(**made_people.write(tmp_path / "one", made, runs, said))
    assert "1 training; the first 1 of 2 seeds" in tree.css_first("#items li").text()
