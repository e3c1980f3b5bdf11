"""The page of the classifiers, of small predictions that the real stages have scored."""

import csv
import json

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.errors import InputError
from evenhand.legal.objective_titles import Titles
from evenhand.report.sections.legal_classifiers import constant_words
from evenhand.report.sections.legal_figures import (
    describe_calibration_curves,
    describe_group_scores,
    describe_training,
    draw_table_2,
)
from evenhand.report.write_classifiers_page import write_classifiers_page
from unit.report import checks, made_classifiers
from unit.report.checks import HOSTILE
from unit.report.made_classifiers import curves, train


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    return made_classifiers.write_results(repository, tmp_path_factory.mktemp("classifiers"))


@pytest.fixture
def drawn(files):
    return made_classifiers.drawn(files["tests"][0].parent)


@pytest.fixture
def page(templates, files, tmp_path):
    def write(title="Mine", **more) -> LexborHTMLParser:
        out = tmp_path / "legal_classifiers.html"
        about = {"names": ["mine"], "kinds": ["cail"], "titles": [title]}
        write_classifiers_page(templates=templates, out=out, **(about | files | more))
        return checks.parse(out)

    return write


def text(tree, selector: str) -> str:
    return " ".join(" ".join(node.text() for node in tree.css(selector)).split())


@pytest.mark.parametrize("splits", [None, ["test"], ["dev", "train"]])
def test_numbers_lead_to_the_page_of_cases_where_it_shows_test_cases(page, drawn, splits):
    tree = page(splits=splits, **drawn)
    linked = splits is None or "test" in splits
    assert bool(tree.css("a[href^='cases.html#?']")) == linked
    assert bool(tree.css("table[data-items]")) == linked
    assert text(tree, "#mine").count("cases") > 2  # which stay where nothing leads to them


def test_whole_page(page, files):
    tree = page(provenance="../provenance.json")
    findings = json.loads(files["findings"].read_text(encoding="utf-8"))
    assert text(tree, ".lead") == " ".join(findings["headline"])
    below = [one for one in findings["findings"] if one["sentence"] not in findings["headline"]]
    assert 0 < len(tree.css("#glance li")) == len(below) < len(findings["findings"])
    own = text(tree, "#mine")
    for words in (
        "Table 4: Mine",
        "Group dro",
        "Group disparity",
        "chance up to",
        "All comparisons",
    ):
        assert words in own
    assert "female" in text(tree, "#mine")
    assert "Calibration by group" in own and "Claims: Mine" in own
    assert tree.css_first("#limits a").attributes["href"] == "../provenance.json"
    assert not tree.css(".absent")


def test_hostile_names_stay_text(page):
    tree = page(title=HOSTILE)
    checks.check_nothing_injected(tree)
    assert "{{ 7*7 }}" in text(tree, "h2")


def test_can_be_used_without_eyes_or_mouse(page, files, drawn, tmp_path):
    """With two classifiers, each of which has a Table 2 of its own."""
    both = tmp_path / "table_2.csv"
    head, *rows = files["table_2"][0].read_text(encoding="utf-8").splitlines(keepends=True)
    others = [row.replace("linear", "other") for row in rows]
    both.write_text("".join([head, *rows, *others]), encoding="utf-8")
    tree = page(table_2=[both], provenance="../provenance.json", **drawn)
    for classifier in ("linear", "other"):
        assert f"Table 2: Mine, Defendant's gender, {classifier}" in text(tree, "#mine caption")
    checks.check_usable(tree)


def test_files_that_do_not_belong_together(page, files):
    with pytest.raises(InputError, match="not one file of each kind"):
        page(tests=[])
    with pytest.raises(InputError, match="is not JSON"):
        page(findings=files["tests"][0])


def test_same_input_same_bytes(page, tmp_path):
    page()
    first = (tmp_path / "legal_classifiers.html").read_bytes()
    page()
    assert (tmp_path / "legal_classifiers.html").read_bytes() == first


def test_figures(page, drawn):
    own = page(**drawn)
    assert len(own.css("#mine td.plot svg")) >= 4
    assert "female, Group DRO" in text(own, "#mine td.plot title")
    drawn = checks.charts(own, "#mine")
    training = str([one for one in drawn if "by epoch" in one["description"]])
    assert "ERM, epoch 1: 25.0" in training and "Group DRO, epoch 1: 45.000" in training
    assert "epoch 2" not in training  # one seed stopped, so the mean would be another one
    assert "1 seed" in text(own, "#mine td")
    calibration = [one for one in drawn if "came true" in one["description"]]
    assert calibration and all("predictions" in str(one) for one in calibration)
    diagonals = [one["layer"][0]["data"]["values"][-1] for one in calibration]
    assert diagonals == [{"x": 1, "y": 1}] * len(calibration)


def test_without_figures(page):
    tree = page()
    assert not tree.css("#mine svg")
    assert "How training went" not in text(tree, "#mine h3")


def test_figures_of_files_that_do_not_belong(page, drawn):
    with pytest.raises(InputError, match="not one file of each kind"):
        page(**drawn | {"curves": drawn["curves"] * 2})
    with pytest.raises(InputError, match="not one title for each objective"):
        page(**drawn | {"objective_titles": ["ERM"]})
    with pytest.raises(InputError, match="not one file of each kind"):
        page(**drawn | {"bins": drawn["bins"] * 2})


def test_group_without_cases_is_said_once(tmp_path):
    path = tmp_path / "g.csv"
    head = (
        "classifier,objective,attribute,split,convention,group,seed,seeds,cases,score,sd,"
        "low,high,noise_low,noise_high,note\n"
    )
    some = "linear,{},a,test,all,{},mean,2,{}\n"
    path.write_text(
        head
        + "".join(
            some.format(objective, "none", "0,,,,,,,no cases")
            + some.format(objective, "some", "9,50,1,40,60,30,70,")
            for objective in ("adversarial", "erm")
        )
        + "linear,erm,a,dev,all,some,mean,2,9,1,,,,,,\nlinear,erm,a,test,all,some,0,1,9,2,,,,,,\n",
        encoding="utf-8",
    )
    [block] = describe_group_scores(path, Titles())
    none, some = block["groups"]
    assert [row["note"] for row in none["rows"]] == ["no cases"]
    assert [(row["objective"], row["score"]) for row in some["rows"]] == [
        ("erm", 50),
        ("adversarial", 50),
    ]


def test_findings_that_are_all_in_the_lead_stay_below(page, files, tmp_path):
    findings = json.loads(files["findings"].read_text(encoding="utf-8"))
    findings["headline"] = [one["sentence"] for one in findings["findings"]]
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(findings), encoding="utf-8")
    assert len(page(findings=path).css("#glance li")) == len(findings["findings"])


GROUP = {"classifier": "linear", "attribute": "a", "train_cases": 10, "score": 50.0, "drift": 0.1,
         "wci": 0.25, "few": None}  # fmt: skip


def test_table_2_is_drawn_by_the_share_of_training_cases(tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text(
        "classifier,objective,attribute,split,convention,group,seed,seeds,cases,score,sd,"
        "low,high,noise_low,noise_high,note\n"
        "linear,erm,a,test,all,most,mean,2,9,40,1,30,50,20,60,\n"
        "linear,iifr,a,test,all,most,mean,2,9,40,1,1,2,3,4,\n"
        "linear,erm,a,dev,all,least,mean,2,9,40,1,1,2,3,4,\n",
        encoding="utf-8",
    )
    rows = [
        GROUP | {"group": "least", "few": "true"},
        GROUP | {"group": "none", "score": None},
        GROUP | {"group": "<b>", "train_cases": 20},
        GROUP | {"group": "most", "train_cases": 60, "score": 40.0},
    ]
    found = draw_table_2(rows, scores)
    assert found["without"] == ["none"]
    rows = found["drawing"]["data"]["values"]
    assert [row["name"] for row in rows] == ["most", "<b>", "least"]
    shares = [row["text"].replace("\xa0", " ") for row in rows]
    assert shares == ["60.0 % of training: 40.0", "20.0 % of training: 50.0",
                      "10.0 % of training: 50.0"]  # fmt: skip
    assert [row["kind"] for row in rows] == ["plain", "plain", "unclear"]
    assert [row["low"] for row in rows] == [30, None, None]
    assert [row["from"] for row in rows] == [20, None, None]
    said = rows[0]["words"].replace("\xa0", " ")
    assert said == (
        "most: macro-F1 40.0 (30.0 to 50.0); chance 20.0 to 60.0; 60 training cases (60.0 %); "
        "drift of labels 0.100; share of the worst class 25.0 %"
    )


def test_table_2_without_scores_or_training_cases():
    nothing = draw_table_2([GROUP | {"group": "g", "score": None}], None)
    assert nothing == {"drawing": None, "without": ["g"]}
    untrained = draw_table_2([GROUP | {"group": "g", "train_cases": 0}], None)
    assert checks.rows(untrained["drawing"], "text") == ["– of training: 50.0"]


def test_table_2_says_which_groups_have_no_score(page, files, drawn, tmp_path):
    with files["table_2"][0].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    out = tmp_path / "table_2.csv"
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows([*rows, rows[0] | {"group": "neither", "score": ""}])
    own = page(table_2=[out], group_scores=drawn["group_scores"])
    assert "Without a score: neither." in text(own, "#mine figcaption")
    assert "Line: the 95 % interval" in text(own, "#mine figcaption")
    [spec] = [one for one in checks.charts(own, "#mine") if "share of the training" in str(one)]
    assert any(checks.rows(spec, "low")) and any(checks.rows(spec, "from"))
    assert "Line: the 95 % interval" not in text(page(), "#mine figcaption")


def test_lines_of_a_calibration_leave_out_bins_with_few_predictions(tmp_path):
    names = [f"region {i}" for i in range(9)]
    path = tmp_path / "bins.csv"
    path.write_text(
        "classifier,objective,attribute,group,split,predictions,confidence,share_right\n"
        + "".join(f"linear,erm,a,{name},test,{n},0.{n},0.5\n" for name in names for n in (2, 30)),
        encoding="utf-8",
    )
    [figure] = describe_calibration_curves(path)

    spec = figure["drawing"]
    assert list(dict.fromkeys(checks.rows(spec, "name"))) == names
    assert len(checks.rows(spec, "words")) == 2 * len(names)
    assert len(checks.rows(spec, "alone")) == len(names)  # those of two predictions
    assert {round(weight, 3) for weight in checks.rows(spec, "weight")} == {0.067, 1}


def test_calibration_of_erm_alone(drawn):
    blocks = {one["name"]: one for one in describe_calibration_curves(drawn["bins"][0])}
    assert set(blocks) <= {"defendant_gender", "court_region"}
    assert set(checks.rows(blocks["defendant_gender"]["drawing"], "name")) == {"female", "male"}


def test_confidence_is_held_against_what_came_true(page, drawn):
    # of a task with several labels it is not a share of right predictions
    own = text(page(bins=drawn["bins"]), "#mine")
    assert "Came true" in own and "upwards: the share that came true" in own


def test_other_classes_that_are_as_bad_stand_beside_the_worst(page, files, tmp_path):
    with files["table_2"][0].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    out = tmp_path / "table_2.csv"
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"worst_class": "11", "as_bad": "4"} for row in rows)
    assert "class 11, and 4 as bad" in text(page(table_2=[out]), "#mine")


def test_training_without_groups_or_numbers(tmp_path):
    def blocks(**given):
        history = train(tmp_path / "history.parquet", **given)
        return describe_training(curves(tmp_path / "curves.csv", history), Titles())

    [block] = blocks(scores=((0.5, 0.25),))
    assert (block["name"], block["objectives"]) == ("", ["erm"])
    assert [row["cells"][0]["macro_f1"] for row in block["rows"]] == [50, 25]
    [block] = blocks(loss=float("nan"))
    assert [figure["title"] for figure in block["figures"]] == ["Macro-F1 of the development cases"]
    assert blocks(scores=()) == []


def test_objectives_are_called_by_their_titles(page, drawn):
    named = {"objectives": ["group_dro"], "objective_titles": ["the worst first"]}
    own = text(page(**drawn | named), "#mine")
    assert "The worst first" in own and "the worst first, epoch 1" in own
    assert "group dro" not in own.lower()
    assert "Erm" in own  # one without a title has its name


def test_a_published_number_that_cannot_be_compared_says_why(page):
    own = text(page(), "#mine")
    assert "paper 60.2, not comparable" in own
    assert "Not comparable with the paper: the cases are not FairLex's own." in own


def test_a_published_number_without_a_run_says_whose_it_is(page, files, tmp_path):
    with files["table_4"][0].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    theirs = {"stands_for": "transformer", "objective": "v_rex", "classifier": "", "ours": ""}
    rows.append(rows[0] | theirs | {"measure": "mean", "published": "60.2"})
    changed = tmp_path / "table_4.csv"
    with changed.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    named = {"objectives": ["v_rex"], "objective_titles": ["V-REx"], "table_4": [changed]}
    assert "run of ours beside it: transformer with V-REx, mean over groups 60.2." in text(
        page(**named), "#mine"
    )


def test_our_side_of_a_claim_is_a_rounded_number_or_a_name(page, tmp_path):
    rows = ["attribute,quantity,group,other_group,published_low,published_high,classifier,ours,sd,"
            "verdict,reason,known_error"]  # fmt: skip
    rows += [f"court_region,score,x,,66.8,66.8,linear,{ours},,,,an-error"
             for ours in ("44.345238", "Hunan")]  # fmt: skip
    claims = tmp_path / "claims.csv"
    claims.write_text("\n".join(rows) + "\n", encoding="utf-8")
    tree = page(claims=[claims])
    assert len(tree.css("#mine a[href='known_errors.html#an-error']")) == 2
    own = text(tree, "#mine")
    assert "44.3" in own and "44.345" not in own and "Hunan" in own


@pytest.mark.parametrize(
    ("seeds", "always", "words"),
    [
        (0, "", None),
        (3, "none", "gives no label to any case"),
        (3, "<=12", "says the same of each case: <=12"),
        (3, "2, 3; none", "says the same of each case: 2, 3; no label"),
        (2, "none", "in 2 of 3 seeds gives no label to any case"),
    ],
)
def test_a_constant_classifier_has_its_words(seeds, always, words):
    assert constant_words({"constant_seeds": seeds, "always": always, "seeds": 3}) == words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"constant_seeds": "2", "always": "none"}, "in 2 of 3 seeds gives no label to any case"),
        ({"from_labels": "true"}, "above noise, but from labels that differ between groups"),
    ],
)
def test_a_classifier_that_learned_nothing_is_said_to_be_so(page, files, tmp_path, cells, words):
    with files["table_4"][0].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    changed = tmp_path / "table_4.csv"
    with changed.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | (cells if row["objective"] == "erm" else {}) for row in rows)
    assert words not in text(page(), "#mine table")
    assert words in text(page(table_4=[changed]), "#mine table")


def test_answers_to_twins(page, files, tmp_path):
    path = tmp_path / "counterfactual.csv"
    header = [
        *("dataset", "classifier", "objective", "trained_for", "split", "measure", "seeds"),
        *("cases", "twins", "value", "sd", "low", "high", "erm", "difference"),
        *("difference_low", "difference_high", "verdict"),
    ]
    same = {"dataset": "mine", "classifier": "linear", "trained_for": "none", "split": "test"}
    same |= {"seeds": 2, "cases": 9, "twins": 8, "measure": "ifr_b"}
    better = {"difference": 25, "difference_low": 5, "difference_high": 40, "verdict": "higher"}
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerow(same | {"objective": "erm", "value": 75, "sd": 1, "low": 60, "high": 90})
        writer.writerow(same | {"objective": "iifr_text", "value": 100} | better)
        writer.writerow(same | {"objective": "erm", "value": 0.00123, "measure": "divergence"})
    own = text(page(counterfactual=[path], twinned=["mine"], swapped="gender"), "#mine")
    assert "the same with other words for gender" in own
    assert "75.0 ± 1.0" in own
    assert "60.0 to 90.0" in own
    assert "Iifr text 100.0" in own
    assert "+25.0 to ERM, higher" in own
    assert "0.00123" in own
    assert "other words for" not in text(page(), "#mine")
    with pytest.raises(InputError, match="for each table of twins"):
        page(counterfactual=[path], twinned=[])
