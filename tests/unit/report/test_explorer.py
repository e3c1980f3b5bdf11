"""What holds of every explorer page without its script; tests/browser looks at it with it."""

import base64
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.explore_cases import explore_cases
from evenhand.report.explore_people import explore_people
from evenhand.report.explore_sentences import explore_sentences
from evenhand.report.explorer import SHOWN, cell, coded, packed, rounded
from evenhand.report.render import visible
from unit.cases import read_csv
from unit.legal.made_cases import write_cases
from unit.report import checks, made_case_page, made_explorer, made_people
from unit.report.checks import HOSTILE, parse, sets_of, unpacked


def cases(folder):
    return made_case_page.joined(
        made_case_page.ecthr(folder / "one", HOSTILE), made_case_page.cail(folder / "two")
    )


def people(folder):
    return made_people.joined(
        made_people.two_groups(folder / "one", HOSTILE), made_people.three_groups(folder / "two")
    )


def sentences(folder):
    return made_explorer.write_results(folder, HOSTILE)


#: Of each page: its stage, what it is made of, its sets with how many items, a column that is
#: searched in the page without the script, and results that it links to.
PAGES = {
    "sentences": (explore_sentences, sentences, {
        "slguset": 120, "slguset_published": 40, "stereotypes/made": 4, "stereotypes/second": 2,
    }, "有人看到", ["../slguset/slguset.parquet", "../stereotypes/made/scores/masked.parquet"]),
    "cases": (explore_cases, cases, {"mine": 4, "other": 3}, "Applicant's gender: female", [
        "../legal/mine/mine.parquet", "../legal/mine/predictions/linear/erm/none/all.parquet"]),
    "people": (explore_people, people, {"mine": 5, "other": 6}, made_people.PLANTED, [
        "../tabular/mine/predictions/random/mlp.parquet", "../tabular/other/data.parquet"]),
}  # fmt: skip


@pytest.fixture(params=PAGES)
def name(request):
    return request.param


@pytest.fixture
def write(name, templates, tmp_path):
    stage, make, *_ = PAGES[name]
    made = make(tmp_path)

    def write(**given):
        out = tmp_path / f"{name}.html"
        arguments = {**made, **given}
        counts = stage(templates=templates, out=out, tables_out=tmp_path / "written", **arguments)
        return parse(out), counts

    return write


def test_holds_every_item_of_every_set(write, name):
    tree, counts = write()
    sets = sets_of(tree)
    assert {key: len(one["id"]) for key, one in sets.items()} == PAGES[name][2] == counts["items"]
    assert counts["models"] == {key: len(one["models"]) for key, one in sets.items()}
    for one in sets.values():
        for column in one["columns"]:
            assert len(column["codes"]) == len(one["id"])
        for model in one["models"]:
            rows = one["rows"][model["row"]] or one["id"]
            for values in [*filter(None, model["measures"]), *model.get("shares", ())]:
                assert len(values) == len(rows)
            for column in model["columns"]:
                assert len(column["codes"]) == len(rows)
            cells = len(rows) * len(model.get("classes", ()))
            assert len(model.get("cells", ())) == cells
            assert len(model.get("cell_notes", {"codes": ()})["codes"]) == cells


def test_reads_without_the_script(write, name):
    tree, counts = write()
    rows = [row.text() for row in tree.css(".explorer tbody tr")]
    assert len(rows) == min(SHOWN, next(iter(counts["items"].values())))
    assert any(PAGES[name][3] in row for row in rows)
    assert "hidden" in tree.css_first("form").attributes


def test_hostile_strings_stay_text(write):
    tree, _ = write()
    checks.check_nothing_injected(tree)
    assert "{{ 7*7 }}" in tree.css_first("main").text()
    assert HOSTILE in json.dumps(list(sets_of(tree).values()), ensure_ascii=False).replace(
        '\\"', '"'
    )
    checks.check_no_request(tree)
    checks.check_usable(tree)
    for isolated in tree.css("bdi, code, script, title, option, caption"):
        isolated.decompose()
    assert "\u202e" not in tree.body.text()


def test_leads_to_the_files_and_to_what_made_them(write, name):
    tree, _ = write()
    links = [one.attributes["href"] for one in tree.css("#files a")]
    assert set(PAGES[name][4]) <= set(links)
    assert any(link.startswith("provenance.html#file-") for link in links)
    tree, _ = write(pages=[name])
    assert not [one for one in tree.css("#files a") if "provenance" in one.attributes["href"]]


def test_writes_what_it_shows_as_tables(write, name, tmp_path):
    tree, _ = write()
    links = [one.attributes["href"] for one in tree.css("#items .downloads a")]
    written = [f"{name}/{file.name}" for file in (tmp_path / "written").iterdir()]
    assert sorted(links) == sorted(written)
    for key, data in sets_of(tree).items():
        items = read_csv(tmp_path / f"written/{key.replace('/', '_')}.csv")
        assert [one[data.get("id_name", "id")] for one in items] == data["id"]
        for column in (one for one in data["columns"] if one["name"] in items[0]):
            for i, row in enumerate(items):
                assert row[column["name"]] == "; ".join(map(str, cell(column, i)))
        path = tmp_path / f"written/{key}.answers.csv"
        if name in ("cases", "people"):
            check_answers(data, read_csv(path))


def check_answers(data, rows):
    """Check that the table of answers has those of all models, in their order."""
    places = [
        (model, i) for model in data["models"] for i in range(len(model["columns"][0]["codes"]))
    ]
    measure = data["measures"][0]["name"]
    for row, (model, i) in zip(rows, places, strict=True):
        items = data["rows"][model["row"]]
        assert row[data.get("id_name", "id")] == data["id"][items[i]]
        assert [row[ask] for ask in model["asks"]] == list(model["asks"].values())
        assert float(row[measure]) == model["measures"][0][i]
        for column in model["columns"]:
            assert row[column["name"]] == "; ".join(map(str, cell(column, i)))
        size = len(model["classes"])
        for label, number in zip(model["classes"], model["cells"][i * size :], strict=False):
            assert row[f"number: {label}"] == ("" if number is None else str(number))


@pytest.mark.parametrize("name", ["people", "cases"], indirect=False)
def test_an_empty_set_is_named_and_needs_no_script(templates, tmp_path, name):
    if name == "cases":
        empty = write_cases(tmp_path / "empty.parquet", "ecthr", [])
        given = {"titles": ["Empty"], "cases": [empty]}
        words = "Empty: no case in test or dev."
    else:
        made = made_people.two_groups(tmp_path / "one")
        given = {one: made[one] for one in ("people", "meta", "formats")}
        words = "Mine: no training of this run has predictions for test individuals."
    out = tmp_path / "page.html"
    PAGES[name][0](templates=templates, out=out, tables_out=tmp_path / "tables", **given)
    tree = parse(out)
    assert tree.css_first(".absent").text() == words
    assert not tree.css("form") and not tree.css("script")


def test_the_same_input_gives_the_same_page(name, templates, tmp_path):
    stage, make, *_ = PAGES[name]
    given = {"templates": templates, **make(tmp_path)}
    checks.check_same_twice(stage, given, tmp_path)
    assert str(tmp_path) not in (tmp_path / "first/page.html").read_text(encoding="utf-8")


def test_the_script_makes_no_markup_of_data():
    script = (checks.TEMPLATES / "explorer.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


VALUE = st.one_of(st.none(), st.text(max_size=3), st.integers(0, 9), st.lists(st.text(max_size=3)))


@given(st.lists(VALUE))
def test_a_coded_column_is_the_column(values):
    column = coded(values)
    for i, value in enumerate(values):
        items = value if isinstance(value, list) else [] if value is None else [value]
        assert cell(column, i) == [visible(x) if isinstance(x, str) else x for x in items]
    assert len(column["values"]) == len({json.dumps(one) for one in column["values"]})


def test_a_packed_set_is_the_set_without_what_the_script_works_out():
    document = {
        "measures": [{"name": "p"}, {"name": "d", "furthest": True}],
        "models": [{"row": rows, "measures": [[0.5], [1]]} for rows in ([3, 1], None, [3, 1])],
    }
    assert base64.b64decode(packed(document))[4:8] == bytes(4)  # no time
    found = unpacked(packed(document))
    assert found["rows"] == [[3, 1], None]
    assert [one["row"] for one in found["models"]] == [0, 1, 0]
    assert [one["measures"] for one in found["models"]] == [[[0.5], None]] * 3


@given(st.floats(-2, 2), st.floats(0, 1))
def test_rounding_moves_no_number_over_an_edge(value, edge):
    (near,) = rounded(np.array([value]), 3, (-edge, 0.0, edge))
    for border in (-edge, 0.0, edge):
        assert (near > border, near < border) == (value > border, value < border)
    assert near == pytest.approx(value, abs=0.000501)


def test_what_is_no_number_is_none():
    assert rounded(np.array([math.nan, math.inf, 0.1234]), 3) == [None, None, 0.123]
    found = rounded(np.array([0.3, 0.3004, 0.2996, -0.0001, 0.31]), 3, (-0.3, 0.0, 0.3))
    assert found == [0.3, 0.3004, 0.2996, -0.0001, 0.31]
