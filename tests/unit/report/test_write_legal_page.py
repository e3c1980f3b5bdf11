"""The page of the legal data sets, of a small set that the real stages have counted."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.errors import InputError
from evenhand.report.write_legal_page import write_legal_page
from unit.report import checks, made_legal
from unit.report.checks import HOSTILE

AUDIT = (
    "dataset,attribute,scope,rule,cases,drawn,answered,right,wrong,cannot_tell,unanswered,"
    "contradicted,changed_since,precision,low,high,recall\n"
    "mine,applicant_gender,rule,title_in_procedure,20,5,4,3,1,0,1,0,0,0.75,0.3,0.95,\n"
    "mine,applicant_gender,rule,pronouns,9,5,0,0,0,0,5,0,0,,,,\n"
    "mine,applicant_gender,values,,29,10,4,3,1,0,6,0,0,0.75,0.3,0.95,0.9\n"
)


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    return made_legal.write_results(repository, tmp_path_factory.mktemp("legal"))


@pytest.fixture
def page(templates, files, tmp_path):
    def write(title="Mine", part="mine/part", **more) -> LexborHTMLParser:
        out = tmp_path / "legal_cases.html"
        names = {"names": ["mine"], "kinds": ["ecthr"], "titles": [title], "parts": [part]}
        write_legal_page(templates=templates, out=out, **(names | files | more))
        return checks.parse(out)

    return write


def text(tree, selector: str) -> str:
    return " ".join(" ".join(node.text() for node in tree.css(selector)).split())


def test_whole_page(page):
    tree = page(provenance="../provenance.json")
    assert text(tree, ".lead") == "Mine has 30 cases."
    assert "without a date by a digest 5" in text(tree, "#glance tbody")
    assert "Applicant's gender 67" in text(tree, "#glance tbody")
    own = text(tree, "#mine")
    assert "part: 30 cases; left out or noted: no facts 2, bad date 1" in own
    assert "One case is nearly another" in own
    assert "The source’s own split parts 1 such group:" in own
    assert "5 of 30 cases have no date" in own
    assert "pronouns" in own
    assert "of Article" in own  # the pattern that was found
    titles = [one["description"] for one in checks.charts(tree, "#mine")]
    assert len([one for one in titles if one.startswith("Mine: Cases by number of")]) == 2
    assert tree.css("#mine svg.cell")
    assert tree.css_first("#limits a").attributes["href"] == "../provenance.json"
    assert not tree.css(".absent")


@pytest.mark.parametrize(
    "splits, linked",
    [
        (None, {"dev": "split=dev", "test": "split=test"}),
        (["test"], {"test": "split=test"}),
        (["train", "test"], {"train": "split=train", "test": "split=test"}),
        (
            ["test", "dev", "train"],
            {"all": "split="} | {one: f"split={one}" for one in ("train", "dev", "test")},
        ),
    ],
)
def test_columns_lead_to_the_cases_of_the_splits_that_their_page_shows(page, splits, linked):
    tree = page(splits=splits)
    tables = [
        node
        for node in tree.css("#mine table[data-items]")
        if text(node, "caption").startswith(("Cases by group", "Cases by label"))
    ]
    assert len(tables) > 2
    for table in tables:
        heads = {head.text(): head.attributes.get("data-items") for head in table.css("thead th")}
        assert {name: items for name, items in heads.items() if items is not None} == linked
        assert set(heads) >= {"train", "dev", "test", "all"}


def test_a_data_set_without_outcomes_says_so(page, files, tmp_path):
    assert "No outcomes" not in text(page(), "#mine")
    sizes = tmp_path / "sizes.csv"
    lines = files["sizes"][0].read_text().splitlines()
    sizes.write_text(
        "\n".join(
            "mine,labels known,,0,30,0,," if ",labels known," in one else one for one in lines
        )
    )
    assert "No outcomes" in text(page(sizes=[sizes]), "#mine")


def test_what_people_said(page, tmp_path):
    audit = tmp_path / "legal_mine_audit.csv"
    audit.write_text(AUDIT)
    own = text(page(audits=[audit]), "#mine")
    assert "title in procedure204 of 5" in own  # of its 20 cases 5 were drawn
    assert "all that give a value" in own
    assert "0 of 5" not in own  # nobody answered for it


CROSS = (
    "dataset,attribute,group,other_attribute,other_group,cases,of,share,low,high,published,verdict\n"
    "mine,applicant_age,old,applicant_gender,male,3,4,0.75,0.3,0.95,,\n"
    "mine,applicant_age,old,applicant_gender,female,1,4,0.25,0.05,0.7,,\n"
    "mine,applicant_age,young,applicant_gender,male,0,0,,,,,\n"
    "mine,applicant_age,young,applicant_gender,female,0,0,,,,,\n"
)


def test_how_attributes_cross_is_drawn(page, tmp_path):
    cross = tmp_path / "cross.csv"
    cross.write_text(CROSS)
    tree = page(cross=[cross])
    [drawing] = [one for one in checks.charts(tree) if "Shares" in one["description"]]
    assert drawing["description"] == (
        "Mine: Shares of applicant gender in each group of applicant age: 1 male, 2 female"
    )
    assert checks.rows(drawing, "text") == ["75\xa0%", "25\xa0%"]
    assert checks.rows(drawing, "name") == ["old"]
    caption = text(tree, "#mine details figcaption")
    assert "1 male, 2 female." in caption and "Without cases: young." in caption
    assert "– to –" not in text(tree, "#mine details td")
    nothing = "\n".join(one for one in CROSS.splitlines() if ",old," not in one)
    cross.write_text(nothing + "\n")
    assert "Shares" not in str(checks.charts(page(cross=[cross])))


def test_one_rule_and_long_cases(page, files, tmp_path):
    rules = tmp_path / "rules.csv"
    rules.write_text("\n".join(files["rules"][0].read_text().splitlines()[:2]) + "\n")
    own = text(page(rules=[rules]), "#mine summary")
    assert "1 rule and value" in own and "1 rules" not in own
    lengths = tmp_path / "lengths.csv"
    lines = files["lengths"][0].read_text().splitlines()
    place = lines[0].split(",").index("value")
    longer = [
        ",".join([*(cells := one.split(","))[:place], "1012.4", *cells[place + 1 :]])
        if ",percentile 95," in one
        else one
        for one in lines
    ]
    lengths.write_text("\n".join(longer) + "\n")
    assert "95 % below 1,012." in text(page(lengths=[lengths]), "#mine figcaption")


def test_hostile_names_stay_text(page):
    tree = page(title=HOSTILE, part=f"mine/{HOSTILE}")
    checks.check_nothing_injected(tree)
    assert "{{ 7*7 }}" in text(tree, "h2")
    assert "49" not in text(tree, "h2")


def test_can_be_used_without_eyes_or_mouse(page):
    tree = page(provenance="../provenance.json")
    assert "Share of each row’s cases: Mine, Respondent state by " in text(tree, "#mine caption")
    checks.check_usable(tree)


def test_files_that_do_not_belong_together(page, files):
    with pytest.raises(InputError, match="not one file of each kind"):
        page(shift=[])
    with pytest.raises(InputError, match="how many records"):
        page(counts=files["divided"])


def test_same_input_same_bytes(page, tmp_path):
    page()
    first = (tmp_path / "legal_cases.html").read_bytes()
    page()
    assert (tmp_path / "legal_cases.html").read_bytes() == first
