import csv
import json
import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.core.csv_tables import write_rows
from evenhand.errors import InputError
from evenhand.report.sections.individual_people import COLUMNS, Behind
from evenhand.report.sections.individual_sweeps import describe_sweeps
from evenhand.report.write_individual_page import SECTIONS, write_individual_page
from unit.report import checks
from unit.report.checks import HOSTILE
from unit.report.made_individual import results

TRAINING = Path(__file__).parents[3] / "resources/iifr/training.csv"


@pytest.fixture
def page(templates, tmp_path):
    def write(**arguments) -> LexborHTMLParser:
        out = tmp_path / "individual_fairness.html"
        write_individual_page(templates=templates, out=out, **arguments)
        return checks.parse(out)

    return write


@pytest.fixture
def about(tmp_path) -> list[Path]:
    document = {
        "name": "adult",
        "rows": 45222,
        "features": ["a", "b"],
        "attribute_name": "sex",
        "attribute_values": ["Male", "Female"],
        "meta": {
            "title": "Adult (UCI census income)",
            "label": "earns more",
            "excluded": {"missing": 3620},
            "integer_groups": ["three", "four"],
        },
    }
    path = tmp_path / "adult.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return [path]


RATES = """dataset,quantity,value,count,of,ours,published,verdict,digits
adult,rows,,45222,1,45222,,,
adult,P(Y=1),,11208,45222,0.247844,0.248,reproduced,rounded
adult,P(A),Male,30527,45222,0.675048,,not_checked,
adult,P(Y=1|A),Female,1669,14695,0.113576,,,
"""


def text(tree, selector: str) -> str:
    return " ".join(tree.css_first(selector).text().split())


def test_layers_and_rates_are_those_of_each_data_set_of_the_page(page, about):
    tree = page(data=about, training=TRAINING)
    [row] = tree.css("#training tbody tr")
    assert [cell.text() for cell in row.css("th, td")] == [
        "Adult",
        "30, 20, 15, 15, 10",
        "10",
        "0.1",
        "256",
        "10",
    ]


def test_whole_page(page, tmp_path, about):
    tree = page(
        **results(tmp_path / "r"), data=about, training=TRAINING, provenance="../provenance.json"
    )
    assert not tree.css(".absent") or all(
        "Tables 1 and 2" in node.text() for node in tree.css(".absent")
    )
    assert text(tree, ".lead") == "The headline of my_loss."
    assert text(tree, "#glance li") == "All is my_loss."
    row = text(tree, "#table-4 tbody tr")
    assert "84.6 ± 0.5 paper 85.5 reproduced" in re.sub(r"(paper|reproduced)", r" \1", row).replace(
        "  ", " "
    )
    assert "1 diverged" in row and "2 with an empty group" in row
    own = text(tree, "#table-4 tbody tr:nth-child(2)")
    assert "μ 3, base 2" in own and "first setting that was run" in own
    assert "first setting that was run" in text(tree, "#table-4 p.small")
    assert "far away" in text(tree, "#table-4 details")
    rows = [" ".join(node.text().split()) for node in tree.css("#table-6 tbody tr")]
    assert "Female" in rows[0] and "four" in rows[2]  # EIDIG has groups of its own
    assert len(checks.charts(tree, "#sweeps")) == 4
    fronts = checks.charts(tree, "#fronts")
    assert len(fronts) == 2 and all(checks.rows(one, "marks") == ["1"] for one in fronts)
    assert "● −30.0" in text(tree, "#tests tbody")
    assert "one seed" in text(tree, "#tests tbody")
    assert "first setting that was run" in text(tree, "#tests tbody tr")
    official = text(tree, "#tests tbody tr:last-child")
    assert "My loss with IIFR on counterfactual pairs" in official
    assert official.count("official split") == 2  # the row, and what it is tested against
    assert "2 checks, of which 1 found nothing" in text(tree, "#inconsistencies p")
    assert len(tree.css("#inconsistencies tbody tr")) == 1
    links = [link.attributes["href"] for link in tree.css("#inconsistencies tbody a")]
    assert links == ["known_errors.html#one-error", "known_errors.html#other-error"]
    assert "45,222" in text(tree, "#data tbody")
    assert tree.css_first("#limits a").attributes["href"] == "../provenance.json"


def test_can_be_used_without_eyes_or_mouse(page, tmp_path, about):
    tree = page(
        **results(tmp_path / "r"), data=about, training=TRAINING, provenance="../provenance.json"
    )
    words = "Why cells of Table 7 are not reproduced: Adult"
    assert text(tree, "#table-7 details caption") == words
    checks.check_usable(tree)


def people(path: Path, *rows: dict) -> Path:
    """Counts of the people behind a setting of the MLP on Adult."""
    first = dict.fromkeys(COLUMNS, 0) | {
        "dataset": "adult", "method": "mlp", "individual": "none", "js_base": "e",
        "split": "random", "seeds": 2, "runs": 20, "answers": 30, "people": 20, "flips": 30,
    }  # fmt: skip
    blank = dict.fromkeys(("reduction", "epsilon", "epsilon_unit", "mu", "group", "label"))
    write_rows(path, list(COLUMNS), [first | blank | row for row in rows])
    return path


def links(tree, table: str) -> list[list[tuple[str, str] | None]]:
    """Of each number of each row the query and the words of its link."""
    return [
        [
            (cell.attributes["data-items"], cell.attributes["data-link"])
            if "data-items" in cell.attributes
            else None
            for cell in row.css("td.number")
        ]
        for row in tree.css(f"{table} tbody tr")
    ]


def test_numbers_lead_to_the_people_that_they_count(page, tmp_path, about):
    counts = people(
        tmp_path / "people.csv",
        {"wrong": 7, "wrong_people": 6},
        {"group": 1, "answers": 1, "people": 1, "wrong": 0},
        {"label": 0, "people": 9},
    )
    tree = page(**results(tmp_path / "r"), data=about, people=counts)
    [table] = tree.css("#table-4 table[data-items]")
    assert table.attributes["data-items"] == "people.html#?set=adult"
    rows = [row.attributes["data-items"] for row in tree.css("#table-4 tbody tr[data-items]")]
    assert rows == ["training=mlp", "-", "-"]
    over = "over the first 2 of 20 seeds"
    assert links(tree, "#table-4")[0] == [
        ("answer=wrong", f"The 6 people decided wrongly: 7 of 30 answers {over}"),
        ("", f"The 20 people who were held out {over}"),
        None,
    ]
    assert links(tree, "#table-4")[1:3] == [[None] * 3] * 2
    [group, *_] = tree.css("#table-6 tbody tr")
    assert group.attributes["data-items"] == "training=mlp&group=Female"
    assert links(tree, "#table-6")[0][0] == (
        "", f"The one person of whom none of 1 answer {over} is wrong")  # fmt: skip


def test_without_counts_no_number_leads_to_people(page, tmp_path, about):
    tree = page(**results(tmp_path / "r"), data=about)
    assert not tree.css("td[data-items]")
    assert {row.attributes["data-items"] for row in tree.css("tr[data-items]")} == {"-"}


def test_flips_are_told_where_an_answer_has_several(tmp_path):
    flips = {"flips": 90, "changed": 3, "changed_people": 3, "changed_flips": 5, "seeds": 20}
    behind = Behind(people(tmp_path / "people.csv", flips, {"label": 1, "seeds": 20, "people": 4}))
    row = dict.fromkeys(COLUMNS) | {
        "dataset": "adult", "method": "mlp", "individual": "none", "lambda": 0.0, "js_base": "e",
        "split": "random",
    }  # fmt: skip
    assert behind.cell(row, "ifr_b") == {
        "items": "answer=changes",
        "link": "The 3 people whose decision changes: 3 of 30 answers over 20 seeds (5 of 90"
        " flips)",
    }
    assert behind.cell(row, "deo_1") == {
        "items": "label=1", "link": "The 4 people with the label 1 over 20 seeds"}  # fmt: skip
    loss = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 1.0}
    assert behind.row_items(row | loss) == "training=mlp"  # nobody is that near
    assert behind.row_items(row | loss | {"epsilon": 0.9}) == "-"
    assert behind.row_items(row | {"group": 3}, "four") == "-"


def test_the_table_of_training_leads_to_its_place_among_the_sources(page, about):
    tree = page(data=about, training=TRAINING, training_file="resources/iifr/training.csv")
    hrefs = [one.attributes["href"] for one in tree.css("#training .downloads a")]
    assert hrefs[-1] == "provenance.html#source-resources-iifr-training-csv"
    tree = page(data=about, training=TRAINING)
    assert len(tree.css("#training .downloads a")) == 3


def test_a_configured_title_is_used_everywhere(page, tmp_path, about):
    document = json.loads(about[0].read_text(encoding="utf-8"))
    document["meta"]["title"] = "Census of 1994"
    about[0].write_text(json.dumps(document), encoding="utf-8")
    counts = tmp_path / "adult_groups.csv"
    counts.write_text(RATES, encoding="utf-8")
    files = results(tmp_path / "r", title="Census of 1994")
    tree = page(**files, data=about, data_tables=[counts])
    assert text(tree, "#glance li") == "All is my_loss."
    for id in ("glance", "table-4", "table-8", "sweeps", "fronts", "tests", "inconsistencies"):
        assert "Census of 1994" in tree.css_first(f"#{id}").text(), id
    assert tree.css_first("#data").text().count("Census of 1994") == 2
    labels = [node.attributes["aria-label"] for node in tree.css(".chart")]
    assert labels and all(label.startswith("Census of 1994: ") for label in labels)
    assert "Adult" not in re.sub("for Adult by sex", "", tree.css_first("main").text())


def test_the_rates_of_a_data_set_are_numbers_beside_those_of_the_paper(page, tmp_path, about):
    path = tmp_path / "adult_groups.csv"
    path.write_text(RATES, encoding="utf-8")
    table = page(data=about, data_tables=[path]).css("#data table")[-1]
    rows = [[cell.text() for cell in row.css("th, td")] for row in table.css("tr")]
    assert rows == [
        ["What", "Group", "People", "Share", "Paper", "Verdict"],
        ["People", "", "45,222", "", "", ""],
        ["Label 1, P(Y=1)", "", "11,208of 45,222", "0.2478", "0.248", "reproducedours rounded"],
        ["In the group, P(A)", "Male", "30,527of 45,222", "0.6750", "", "not checked"],
        ["Label 1 in the group, P(Y=1|A)", "Female", "1,669of 14,695", "0.1136", "", ""],
    ]
    assert len(table.css("td.number")) == 12  # which lead to what made them
    header, *lines = RATES.splitlines()  # of a data set that the paper does not have
    path.write_text(
        "\n".join([header, *(",".join([*line.split(",")[:6], "", "", ""]) for line in lines)])
    )
    tree = page(data=about, data_tables=[path])
    assert len(tree.css("#data table")[-1].css("thead th")) == 4


@pytest.mark.parametrize(
    ("base", "tau", "words"),
    [
        ("e", 0.001, "of 0.001 nats at most"),
        ("2", 0.002, "of 0.002 bits at most"),
        ("both", 0.001, "of 0.001 nats (0.001 bits in rows that say base 2) at most"),
    ],
)
def test_how_near_outputs_are_follows_the_runs(page, tmp_path, base, tau, words):
    files = results(tmp_path / "r")
    if base != "e":
        said = files["sweeps"].read_text(encoding="utf-8")
        count = -1 if base == "2" else 1
        files["sweeps"].write_text(said.replace(",e,random", ",2,random", count), encoding="utf-8")
    assert words in text(page(**files, tau=tau), "#reading")


def test_tables_of_an_older_run_are_shown(page, tmp_path):
    files = results(tmp_path / "r")
    header, *rows = files["tests"].read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("choice")
    old = [line.split(",") for line in (header, *rows)]
    text_ = "".join(",".join(cells[:place] + cells[place + 1 :]) + "\n" for cells in old)
    files["tests"].write_text(text_, encoding="utf-8")
    assert page(**files).css("#tests tbody tr")


def test_says_what_is_not_there(page):
    tree = page()
    for id, _, _ in SECTIONS:
        if id not in ("reading", "limits"):
            assert tree.css_first(f"#{id} .absent"), id
    assert text(tree, ".lead") == "Nothing was concluded yet."
    assert not tree.css("figure")


@pytest.mark.parametrize("missing", ["table_4", "sweeps", "fronts", "tests", "findings"])
def test_each_file_may_be_missing(page, tmp_path, missing):
    files = {name: path for name, path in results(tmp_path / "r").items() if name != missing}
    id = {"findings": "glance"}.get(missing, missing.replace("_", "-"))
    assert page(**files).css_first(f"#{id} .absent")


def test_hostile_strings_stay_text(page, tmp_path):
    tree = page(
        **results(tmp_path / "r", HOSTILE, HOSTILE),
        provenance=f"javascript:alert(1)//{HOSTILE}",
    )
    checks.check_nothing_injected(tree)
    assert not [node for node in tree.css("a") if node.attributes["href"].startswith("javascript:")]
    assert "<script>alert(1)" in tree.css_first("#table-4").text()
    assert "49" not in text(tree, ".lead")


def test_tables_have_captions_and_scopes(page, tmp_path, about):
    tree = page(**results(tmp_path / "r"), data=about)
    assert all(node.css_first("caption") for node in tree.css("table"))
    assert all("scope" in node.attributes for node in tree.css("th"))
    assert all(node.attributes.get("aria-label") for node in tree.css("svg, .chart"))
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))


def test_same_input_same_bytes(templates, tmp_path):
    files = results(tmp_path / "r")
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for out in pages:
        write_individual_page(templates=templates, out=out, **files)
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert str(tmp_path) not in pages[0].read_text(encoding="utf-8")


def test_findings_must_be_findings(page, tmp_path):
    path = tmp_path / "f.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="no findings"):
        page(findings=path)


def sweep(weight: float, low: float | None, high: float | None) -> dict[str, object]:
    same = {"dataset": "d", "method": "mlp", "individual": "iifr", "reduction": "sum"}
    same |= {"epsilon": 0.8, "epsilon_unit": "", "mu": "", "js_base": "e", "split": "random"}
    same |= {"metric": "balanced_acc", "sd": 1, "seeds": 2, "diverged": 0}
    return same | {"lambda": weight, "mean": 50 + weight, "low": low, "high": high}


def test_an_interval_of_few_seeds_is_cut_where_the_rest_can_still_be_seen(tmp_path):
    path = tmp_path / "sweeps.csv"
    lines = [sweep(0.1, -300, 400), sweep(1, 49, 53), sweep(10, None, None)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    [one] = describe_sweeps(path)
    [figure] = one["figures"]
    spec = figure["drawing"]
    assert checks.rows(spec, "y") == [50.1, 51, 60]
    said = [words.rpartition(", ")[2] for words in checks.rows(spec, "words")]
    assert said == ["λ 0.1: 50.1 (-300 to 400)", "λ 1: 51 (49 to 53)", "λ 10: 60"]
    assert checks.rows(spec, "low") == [-300, 49]  # as it is; drawn to the edge
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert 38 < low < 41 and 69 < high < 72
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    assert axis["labelExpr"] == '["0.1", "1", "10"][datum.value]'
