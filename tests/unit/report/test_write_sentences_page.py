"""The page of the sentences without its script; tests/browser looks at it with it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.core import stage
from evenhand.report.write_sentences_page import write_sentences_page
from unit.report import checks, made_explorer
from unit.report.checks import HOSTILE, parse


def arguments(folder: Path) -> dict[str, Any]:
    return made_explorer.write_results(folder, HOSTILE)


@pytest.fixture
def page(templates, tmp_path) -> Path:
    out = tmp_path / "report/sentences.html"
    out.parent.mkdir()
    write_sentences_page(
        templates=templates, out=out, tables_out=tmp_path / "t", **arguments(tmp_path)
    )
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
    counts = write_sentences_page(
        templates=templates, out=tmp_path / "page.html", tables_out=tmp_path / "t", **given
    )
    tree = parse(tmp_path / "page.html")
    assert ("slguset" in counts["rows"]) == ("dataset" not in without)
    assert "None" not in tree.css_first("main").text()


def test_says_that_nothing_is_there(templates, tmp_path):
    write_sentences_page(templates=templates, out=tmp_path / "page.html", tables_out=tmp_path / "t")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count('class="absent"') == 3
    assert "<form" not in html


def test_what_the_script_shows_is_there_as_tables(page, tmp_path):
    tree = parse(page)
    links = [link.attributes["href"] for link in tree.css(".downloads a")]
    assert links == [
        "sentences/slguset.csv",
        "sentences/slguset_published.csv",
        "sentences/stereotypes_made.csv",
        "sentences/stereotypes_second.csv",
    ]
    for link in links:
        data = data_of(tree, f"data-{Path(link).stem}".replace("stereotypes_", "stereotypes-"))
        with (tmp_path / "t" / Path(link).name).open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = csv.reader(stream)
        assert [row[0] for row in rows] == data["id"]
        for column, measure in enumerate(data["measures"], len(header) - len(data["measures"])):
            assert header[column] == measure["name"]
            scale = 10 ** measure["digits"]
            assert [float(row[column]) * scale if row[column] else None for row in rows] == [
                None if value is None else pytest.approx(value) for value in measure["values"]
            ]
    with (tmp_path / "t/slguset.csv").open(encoding="utf-8-sig", newline="") as stream:
        second = list(csv.DictReader(stream))[1]
    assert second["Sentence"] == "埋在这里的女人捧着独一无二的记号。"
    assert second["Swapped form"] == "埋在这里的男人捧着独一无二的记号。"


def test_hostile_strings_stay_text(page):
    tree = parse(page)
    checks.check_nothing_injected(tree)
    assert HOSTILE in data_of(tree, "data-slguset")["text"][0][0]
    assert any(HOSTILE in node.text() for node in tree.css("option"))


def test_marks_of_direction_turn_nothing_around_them(page):
    tree = parse(page)
    for isolated in tree.css("bdi, code, script, title, option"):
        isolated.decompose()
    assert "\u202e" not in tree.body.text()


def test_asks_nothing_of_the_network(page):
    checks.check_no_request(parse(page))


def test_can_be_used_without_eyes_or_mouse(page):
    tree = parse(page)
    checks.check_usable(tree)
    for node in tree.css("#sentences .sentence"):
        assert node.attributes["lang"] == "zh-Hans"


def test_the_same_input_gives_the_same_bytes(templates, tmp_path, page):
    again = tmp_path / "again.html"
    write_sentences_page(
        templates=templates, out=again, tables_out=tmp_path / "u", **reread(tmp_path)
    )
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
    given = {"templates": templates, "out": out, "tables_out": tmp_path / "t"}
    given |= arguments(tmp_path)
    record = stage.execute(write_sentences_page, given)
    assert record["counts"]["bytes"] == out.stat().st_size
    assert record["counts"]["rows"] == {
        "slguset": 120, "slguset_published": 40, "stereotypes/made": 4,
        "stereotypes/second": 2}  # fmt: skip
