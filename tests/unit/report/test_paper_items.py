import re

import pytest

from evenhand.errors import InputError
from evenhand.report.page_list import PAGES
from evenhand.report.paper_items import COLUMNS, PAPERS, read_items

ROW = dict(zip(COLUMNS, ["wang", "Table 9", "S", "slguset", "a-b", "partly", "R"], strict=True))


def write(folder, *changes):
    path = folder / "items.csv"
    lines = [",".join((ROW | change)[name] for name in COLUMNS) for change in changes]
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def known(repository):
    return read_items(repository / "resources/paper_items.csv")


def test_each_paper_has_items(known):
    assert {row["paper"] for row in known} == set(PAPERS)


def test_numbers_of_tables_and_figures_stand_there_once(known):
    for paper in PAPERS:
        seen = [
            (kind, number)
            for row in known
            if row["paper"] == paper and row["item"]
            for kind, number in numbers(row["item"])
        ]
        assert len(seen) == len(set(seen))


def test_no_number_of_a_table_is_left_out(known):
    """FairLex numbers its tables to 11, IIFR its tables to 8 and its figures to 6."""
    last = {("chalkidis", "Table"): 11, ("wang", "Table"): 8, ("wang", "Figure"): 6}
    for (paper, kind), highest in last.items():
        found = [
            number
            for row in known
            if row["paper"] == paper
            for one, number in numbers(row["item"])
            if one == kind
        ]
        assert sorted(found) == [*range(1, highest + 1)]


def numbers(item):
    """``Tables 6 and 7`` as two numbers, ``Figures 4 to 6`` as three; no item has none."""
    if not item:
        return []
    kind, first, last = re.fullmatch(r"(Table|Figure)s? (\d+)(?: (?:to|and) (\d+))?", item).groups()
    return [(kind, n) for n in range(int(first), int(last or first) + 1)]


def test_each_anchor_stands_in_a_template(repository, known):
    """A place that the demo does not fill is not mistyped."""
    folder = repository / "workflow/evenhand/report/templates"
    texts = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.html"))
    ids = set(re.findall(r'\bid="([^"]+)"', texts))
    sections = ("table-4", "table-6", "table-7", "table-8")
    written = {id.replace("{{ id }}", one) for id in ids for one in ("", *sections)}
    for anchor in {one for row in known for one in row["anchor"].split()}:
        if anchor.startswith("*"):
            assert any(id.endswith("}}" + anchor[1:]) for id in ids), anchor
        else:
            assert anchor in written, anchor


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"paper": "mine"}, r"items.csv:2: the paper is 'mine'; write one of zhao"),
        ({"page": "mine"}, f"the page is 'mine'; write one of {next(iter(PAGES))}"),
        ({"published": "some"}, "the published is 'some'; write one of yes, partly, no"),
        ({"anchor": "A"}, "'A' cannot be an anchor"),
        ({"anchor": "a *b"}, r"'\*b' cannot be an anchor"),
        ({"anchor": "a--b"}, "'a--b' cannot be an anchor"),
        ({"anchor": ""}, "numbers of a paper stand beside nothing"),
        ({"reason": ""}, "does not say why the paper's numbers are not there"),
        ({"shows": ""}, "the cell of shows is blank"),
    ],
)
def test_a_table_that_is_not_well_formed_is_an_error(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_items(write(tmp_path, change))


def test_an_item_stands_there_once(tmp_path):
    with pytest.raises(InputError, match="says the same as line 2"):
        read_items(write(tmp_path, {}, {"reason": "T"}))


def test_numbers_that_are_all_there_need_no_reason(tmp_path):
    [row] = read_items(write(tmp_path, {"published": "yes", "reason": "", "item": ""}))
    assert row["reason"] == row["item"] == ""
