import csv

import pytest

from evenhand.report.known_errors import COLUMNS
from evenhand.report.write_errors_page import code, write_errors_page
from unit.report import checks
from unit.report.checks import HOSTILE


def errors(folder, *rows):
    path = folder / "errors.csv"
    common = {"system": "legal", "kind": "paper", "right": "", "effect": ""}
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="words")
        writer.writeheader()
        writer.writerows(common | row for row in rows)
    return path


@pytest.fixture
def page(templates, tmp_path):
    def made(*rows, **other):
        out = tmp_path / "known_errors.html"
        write_errors_page(templates=templates, errors=errors(tmp_path, *rows), out=out, **other)
        return checks.parse(out)

    return made


def test_each_error_has_an_anchor_and_a_row_that_leads_to_it(page):
    rows = [{"id": "a-b"}, {"id": "c", "system": "slguset", "kind": "data"}]
    tree = page(*rows)
    assert [node.attributes["id"] for node in tree.css("article")] == ["c", "a-b"]
    table = tree.css_first("table.sortable")
    assert [a.attributes["href"] for a in table.css("th a")] == ["#c", "#a-b"]
    checks.check_usable(tree)
    checks.check_no_request(tree)


def test_what_is_unknown_is_left_out(page):
    tree = page({"id": "a"}, {"id": "b", "right": "Right.", "effect": "Follows."})
    shown = [[node.text() for node in one.css("dt")] for one in tree.css("article")]
    assert shown == [
        ["Statement", "Evenhand", "Evidence"],
        ["Statement", "Correction", "Effect", "Evenhand", "Evidence"],
    ]


def test_the_style_can_choose_each_system_and_kind(page, repository):
    rows = [
        {"id": f"e{i}", "system": system, "kind": kind}
        for i, (system, kind) in enumerate(
            [("slguset", "paper"), ("language_models", "reference_code"),
             ("individual_fairness", "data"), ("legal", "paper")]
        )
    ]  # fmt: skip
    tree = page(*rows)
    style = (repository / "workflow/evenhand/report/templates/style.css").read_text()
    chosen = {node.attributes["id"] for node in tree.css("fieldset input")}
    assert len(chosen) == 9
    for one in chosen - {"only-all", "kind-all"}:
        assert f"main:has(#{one}:checked) .error:not(.{one.replace('only', 'of')}" in style or (
            f"main:has(#{one}:checked) .error:not(.{one.replace('kind', 'is')}" in style
        )
    for node in tree.css("article"):
        classes = set(node.attributes["class"].split())
        assert len(classes) == 3
        assert all(
            one.replace("of-", "only-").replace("is-", "kind-") in chosen
            for one in classes - {"error"}
        )


def test_hostile_words_stay_words(page):
    tree = page({"id": "a", **dict.fromkeys(("where", "says", "right", "handled"), HOSTILE)})
    checks.check_nothing_injected(tree)
    assert tree.css_first("article h3").text() == HOSTILE
    assert "49" not in tree.css_first("article").text()
    checks.check_no_request(tree)


def test_words_between_backticks_are_code():
    assert code("a `b<c` d") == "a <code>b&lt;c</code> d"
    assert code("<a>\x00") == "&lt;a&gt;␀"


def test_counts_and_bytes_are_the_same_for_the_same_table(templates, repository, tmp_path):
    table = repository / "resources/known_errors.csv"
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    counts = [write_errors_page(templates=templates, errors=table, out=out) for out in pages]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert counts[0] == counts[1]
    assert counts[0]["errors"] == sum(counts[0][k] for k in ("paper", "reference_code", "data"))
    tree = checks.parse(pages[0])
    assert len(tree.css("article")) == counts[0]["errors"]
    checks.check_no_request(tree)
