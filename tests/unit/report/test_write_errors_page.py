import csv

import pytest

from evenhand.report.known_errors import COLUMNS
from evenhand.report.write_errors_page import code, write_errors_page
from unit.report import checks


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
