"""The report on the legal data sets, of a small set that the real stages have counted."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.legal.read_audit import TABLE
from evenhand.report.write_legal_page import write_legal_page
from unit.legal.made_cases import declaration
from unit.made_tables import edited
from unit.report import checks, made_legal

COUNTS = ("cases", "drawn", "answered", "right", "wrong", "cannot_tell")
KNOWN = {"precision": 0.75, "low": 0.3, "high": 0.95}
AUDIT = [
    {"dataset": "mine", "attribute": "applicant_gender", "scope": scope, "rule": rule}
    | dict(zip(COUNTS, counts, strict=True))
    | known
    for scope, rule, counts, known in (
        ("rule", "title_in_procedure", (20, 5, 4, 3, 1, 0), KNOWN),
        ("rule", "pronouns", (9, 5, 0, 0, 0, 0), {}),
        ("values", None, (29, 10, 4, 3, 1, 0), KNOWN | {"recall": 0.9}),
    )
]


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    return made_legal.write_results(repository, tmp_path_factory.mktemp("legal"))


@pytest.fixture
def page(templates, files, tmp_path):
    def write(title="Mine", changes=None, **more) -> LexborHTMLParser:
        out = tmp_path / "legal_cases.html"
        names = {"declarations": [declaration("ecthr")], "titles": [title]}
        if changes:
            more["tables"] = [edited(files["tables"][0], tmp_path / "mine", **changes)]
        write_legal_page(templates=templates, out=out, **(names | files | more))
        return checks.parse(out)

    return write


def text(tree, selector: str) -> str:
    return " ".join(" ".join(node.text() for node in tree.css(selector)).split())


@pytest.mark.parametrize(
    "linked, expected",
    [
        (None, {"dev": "split=dev", "test": "split=test"}),
        (["test"], {"test": "split=test"}),
        (
            ["test", "dev", "train"],
            {"all": "split="} | {one: f"split={one}" for one in ("train", "dev", "test")},
        ),
    ],
)
def test_columns_lead_to_the_cases_of_the_splits_in_the_explorer(page, linked, expected):
    tree = page(linked=linked)
    tables = [
        node
        for node in tree.css("#mine table[data-items]")
        if text(node, "caption").startswith(("Cases by group", "Cases by label"))
    ]
    assert len(tables) > 2
    for table in tables:
        heads = {head.text(): head.attributes.get("data-items") for head in table.css("thead th")}
        assert {name: items for name, items in heads.items() if items is not None} == expected
        assert set(heads) >= {"train", "dev", "test", "all"}


def test_a_data_set_without_outcomes_says_so(page):
    assert "No outcomes" not in text(page(), "#mine")

    def none_known(rows):
        return [row | ({"share": 0} if row["quantity"] == "labels known" else {}) for row in rows]

    assert "No outcomes" in text(page(changes={"sizes": none_known}), "#mine")


def test_an_audit(page, tmp_path):
    audit = tmp_path / "audits/mine"
    write_tables(audit, [(TABLE, AUDIT)])
    own = text(page(audits=[audit]), "#mine")
    assert "title in procedure204 of 5" in own  # of its 20 cases 5 were drawn
    assert "all that give a value" in own
    assert "0 of 5" not in own  # a rule without an answer


def crossed(group, cases):
    cell = {"dataset": "mine", "attribute": "applicant_age", "group": group}
    cell |= {"other_attribute": "applicant_gender", "of": sum(cases)}
    return [
        cell | {"other_group": name, "cases": n} | ({"share": n / sum(cases)} if n else {})
        for name, n in zip(("male", "female"), cases, strict=True)
    ]


def test_how_attributes_cross_is_drawn(page):
    both = [*crossed("old", (3, 1)), *crossed("young", (0, 0))]
    tree = page(changes={"cross": lambda rows: both})
    [drawing] = [one for one in checks.charts(tree) if "Shares" in one["description"]]
    assert drawing["description"] == (
        "Mine: Shares of applicant gender in each group of applicant age: 1 male, 2 female"
    )
    assert checks.rows(drawing, "text") == ["75\xa0%", "25\xa0%"]
    assert checks.rows(drawing, "name") == ["old"]
    caption = text(tree, "#mine details figcaption")
    assert "1 male, 2 female." in caption and "Without cases: young." in caption
    assert "– to –" not in text(tree, "#mine details td")
    tree = page(changes={"cross": lambda rows: both[2:]})
    assert "Shares" not in str(checks.charts(tree))


def test_long_cases(page):
    def longer(rows):
        return [
            row | ({"value": 1012.4} if row["quantity"] == "percentile 95" else {}) for row in rows
        ]

    assert "95 % below 1,012." in text(page(changes={"lengths": longer}), "#mine figcaption")


def test_the_label_with_the_strongest_ratio_is_named(page):
    row = {"dataset": "mine", "language": "en", "pattern": "x"}
    label = {"of_with": 4, "label_without": 1, "of_without": 10}
    rows = [
        row | {"cases": 4, "of": 14},
        row | label | {"label": "weak", "label_with": 1, "risk_ratio": 2, "low": 0.9, "high": 4},
        row | label | {"label": "less", "label_with": 0, "risk_ratio": 0.1, "low": 0, "high": 0.4},
        row | label | {"label": "more", "label_with": 2, "risk_ratio": 5, "low": 1.5, "high": 9},
        row | {"pattern": "absent", "cases": 0},
    ]
    own = text(page(changes={"leakage": lambda _: rows}), "#mine td.wide")
    assert own == "less: 0 % with it, 10 % without"


def test_files_that_do_not_belong_together(page, tmp_path):
    for name in ("splits", "duplicates", "declarations", "counts"):
        with pytest.raises(InputError, match="not one declaration, title, split and count"):
            page(**{name: []})
    broken = tmp_path / "mine" / "records" / "part.counts.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{}")
    with pytest.raises(InputError, match="how many records"):
        page(counts=[broken])
