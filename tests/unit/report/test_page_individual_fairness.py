import pytest

from evenhand.individual.tables import findings, groups, individuals
from evenhand.individual.tables import table_4 as four
from evenhand.report.pages.mitigation import describe_sweeps
from evenhand.report.sections.individual_tables import Behind
from evenhand.report.sections.individual_words import likeness
from unit.report import checks
from unit.report.checks import text
from unit.report.made_individual import counts, results, rows

SECTIONS = ("glance", "reading", "table-4", "table-6", "table-7", "table-8", "data", "training",
            "limits")  # fmt: skip


@pytest.fixture
def page(write, tmp_path):
    def written(made=None, title=""):
        files = results(tmp_path / "r", rows() if made is None else made, title)
        return write("individual_fairness", files)

    return written


def test_the_rates_of_a_data_set_are_numbers_beside_those_of_the_paper(page):
    tables = page().css("#data table")
    assert "45,222" in text(tables[0], "tbody")
    assert [[cell.text() for cell in row.css("th, td")] for row in tables[-1].css("tr")] == [
        ["Quantity", "Group", "People", "Share", "Paper", "Verdict"],
        ["People", "", "45,222", "", "", ""],
        ["Label 1, P(Y=1)", "", "11,208of 45,222", "0.2478", "0.248", "reproducedours rounded"],
        ["In the group, P(A)", "Male", "30,527of 45,222", "0.6750", "", "not checked"],
        ["Label 1 in the group, P(Y=1|A)", "Female", "1,669of 14,695", "0.1136", "", ""],
    ]
    assert len(tables[-1].css("td.number")) == 12  # which lead to what made them
    made = rows()  # of a data set that the paper does not have
    for row in made[groups]:
        row |= dict.fromkeys(("published", "verdict", "digits"))
    assert len(page(made).css("#data table")[-1].css("thead th")) == 4


def test_a_remedy_comes_first_and_rows_left_out_last(page):
    names = ("copied_rows", "missing_rows", "noise_of_runs", "counterfactual_pairs", "front_ddp")
    sentences = [{"finding": name, "dataset": "adult", "sentence": name} for name in names]
    tree = page(rows() | {findings: sentences})
    shown = [item.text() for item in tree.css("#glance li bdi")]
    assert shown[:-1] == ["counterfactual_pairs", "noise_of_runs", *names[:2]]  # then the file


def links(tree, selector: str) -> list[list[tuple[str, str] | None]]:
    """Of each number of each row the query and the words of its link."""
    return [
        [
            (cell.attributes["data-items"], cell.attributes["data-link"])
            if "data-items" in cell.attributes
            else None
            for cell in row.css("td.number")
        ]
        for row in tree.css(f"{selector} tbody tr")
    ]


def test_numbers_lead_to_the_people_that_they_count(page):
    made = rows()
    made[individuals] = [
        counts(wrong=7, wrong_people=6),
        counts(group=1, answers=1, people=1),
        counts(label=0, people=9),
    ]
    tree = page(made)
    [shown] = tree.css("#table-4 table[data-items]")
    assert shown.attributes["data-items"] == "people.html#?set=adult"
    row_items = [row.attributes["data-items"] for row in tree.css("#table-4 tr[data-items]")]
    assert row_items == ["training=mlp", "-", "-"]
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
    tree = page()  # without counts
    assert not tree.css("td[data-items]")
    assert {row.attributes["data-items"] for row in tree.css("tr[data-items]")} == {"-"}


def test_flips_are_counted_where_an_answer_has_several():
    flips = {"flips": 90, "changed": 3, "changed_people": 3, "changed_flips": 5, "seeds": 20}
    behind = Behind([counts(**flips), counts(label=1, seeds=20, people=4)])
    row = counts() | {"lambda": 0.0}
    assert behind.cell(row, "ifr_b") == {
        "items": "answer=changes",
        "link": "The 3 people whose decision changes: 3 of 30 answers over 20 seeds (5 of 90"
        " flips)",
    }
    assert behind.cell(row, "deo_1") == {
        "items": "label=1", "link": "The 4 people with the label 1 over 20 seeds"}  # fmt: skip
    loss = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 1.0}
    assert behind.row_items(row | loss) == "training=mlp"  # no individual is that near
    assert behind.row_items(row | loss | {"epsilon": 0.9}) == "-"
    assert behind.row_items(row | {"group": 3}, "four") == "-"


def test_a_configured_title_is_used_everywhere(page):
    tree = page(title="Census of 1994")
    for id in ("glance", "table-4", "table-8"):
        assert "Census of 1994" in tree.css_first(f"#{id}").text(), id
    assert tree.css_first("#data").text().count("Census of 1994") == 2
    main = tree.css_first("main").text().replace("for Adult and German", "")
    assert "Adult" not in main


@pytest.mark.parametrize(
    ("bases", "tau", "words"),
    [
        ({"e"}, 0.001, "0.001 nats"),
        ({"2"}, 0.002, "0.002 bits"),
        ({"e", "2", None}, 0.001, "0.001 nats (0.001 bits in rows that say base 2)"),
    ],
)
def test_how_near_outputs_are_follows_the_runs(page, bases, tau, words):
    assert likeness(bases, tau) == words
    if words == "0.001 nats":
        assert f"of {words} at most" in text(page(), "#reading")


def test_says_what_is_not_there(page):
    tree = page({})
    assert tree.css_first("#glance .absent").text() == "There are no further findings."
    absent = {id for id in SECTIONS if tree.css_first(f"#{id} .absent")}
    assert absent == {*SECTIONS} - {"reading", "limits", "table-8"}
    assert not tree.css("#table-8")
    assert text(tree, ".lead") == "Cannot be judged: there is no result yet."
    assert not tree.css("figure")
    lost = page({four: [row | {"mean": None} for row in rows()[four]]})
    assert text(lost, ".lead") == "Cannot be judged: the plain network (mlp) has no result."


@pytest.mark.parametrize(("member", "id"), [(four, "table-4"), (findings, "glance")])
def test_each_table_may_be_missing(page, member, id):
    tree = page({one: own for one, own in rows().items() if one is not member})
    assert tree.css(".absent") == tree.css(f"#{id} .absent") and len(tree.css(".absent")) == 1


def test_an_interval_of_few_seeds_is_cut_where_the_rest_can_still_be_seen():
    same = {"dataset": "d", "method": "mlp", "individual": "iifr", "reduction": "sum"}
    same |= {"epsilon": 0.8, "epsilon_unit": None, "mu": None, "js_base": "e", "split": "random"}
    same |= {"metric": "balanced_acc", "sd": 1, "seeds": 2, "diverged": 0}
    ends = {0.1: (-300, 400), 1: (49, 53), 10: (None, None)}
    lines = [
        same | {"lambda": weight, "mean": 50 + weight, "low": low, "high": high}
        for weight, (low, high) in ends.items()
    ]
    [one] = describe_sweeps(lines, {})
    [figure] = one["figures"]
    spec = figure["drawing"].to_dict()
    assert checks.rows(spec, "y") == [50.1, 51, 60]
    words = [words.rpartition(", ")[2] for words in checks.rows(spec, "words")]
    assert words == ["λ 0.1: 50.1 (-300 to 400)", "λ 1: 51 (49 to 53)", "λ 10: 60"]
    assert checks.rows(spec, "low") == [-300, 49]  # as it is; drawn to the edge
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert 38 < low < 41 and 69 < high < 72
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    assert axis["labelExpr"] == '["0.1", "1", "10"][datum.value]'
