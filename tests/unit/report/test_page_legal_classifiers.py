"""The report on the classifiers, of small predictions that the real stages have scored."""

import pytest

from evenhand.core.tables import read_package, read_tables, write_tables
from evenhand.legal.classifier_tables import counterfactual
from evenhand.report.sections.legal_classifiers import (
    constant_words,
    describe_calibration_curves,
    describe_group_scores,
    describe_training,
    draw_table_2,
)
from evenhand.text.phrases import Titles
from unit.legal.made_cases import declaration
from unit.made_tables import edited
from unit.report import checks, made_classifiers
from unit.report.checks import text
from unit.report.made_legal import audit, rate_gap
from unit.report.made_pages import OBJECTIVES


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    return made_classifiers.write_results(repository, tmp_path_factory.mktemp("classifiers"))


@pytest.fixture(scope="module")
def rows(files):
    return read_tables(files[0])


@pytest.fixture
def page(write, files, tmp_path):
    def written(changes=None, *more_files, tables=files[0], **options):
        if changes:
            tables = tmp_path / "tables/classifiers/mine"
            edited(files[0], tables, **changes)
        options |= checks.titles(mine="Mine", **OBJECTIVES)
        options |= {"declarations": [declaration("cail")]}
        return write("legal_classifiers", [tables, files[1], *more_files], **options)

    return written


def test_the_answer_begins_with_rates_where_they_are_tested(page, tmp_path):
    tree = page()
    assert text(tree, "h1") == "Is this classifier fair to groups by macro-F1?"
    assert text(tree, ".lead").startswith("Does the macro-F1 of a group differ from")
    assert "with which the answer begins" not in text(tree, "#reading")
    audited = audit(tmp_path, rate_gap(attribute="defendant_gender"), dataset="mine")
    tree = page(None, *audited)
    assert text(tree, "h1") == "Is this classifier fair to groups?"
    lead = text(tree, ".lead")
    assert lead.startswith("Under plain training, 1 of 1 gap of selection rate, TPR and FPR")
    assert "linear, Mine, Defendant's gender: selection rate of 6 82.0 % for men" in lead
    assert "with which the answer begins" in text(tree, "#reading")


def test_a_page_without_plain_training_says_what_was_trained(page):
    def mitigated(rows):
        return [row | {"objective": "group_dro"} for row in rows]

    names = ("table_4", "group_scores", "scores", "tests", "calibration")
    tree = page(changes=dict.fromkeys(names, mitigated))
    assert "linear is trained with group_dro alone: the tests here are" in text(tree, ".lead")
    assert "No classifier has plain training." in text(tree, "#mine")


def test_classifiers_of_one_plain_training_are_named_in_its_row(page):
    def doubled(rows):
        return [*rows, *(row | {"classifier": "balanced"} for row in rows)]

    tree = page(changes={"table_4": doubled, "group_scores": doubled})
    assert "linear and balanced: one training" in text(tree, "main table")


def test_the_calibration_error_is_of_the_confidence(page):
    words = "of the confidence, which is the probability of the predicted label; mean over seeds."
    assert words in text(page(), "#mine")


@pytest.mark.parametrize("linked", [None, ["test"], ["dev", "train"]])
def test_numbers_lead_to_the_case_explorer_where_it_contains_test_cases(page, linked):
    tree = page(linked=linked)
    has_test = linked is None or "test" in linked
    assert bool(tree.css("a[href^='cases.html#?']")) == has_test
    assert bool(tree.css("table[data-items]")) == has_test
    assert text(tree, "#mine").count("cases") > 2  # which stay where nothing leads to them


def test_can_be_used_without_eyes_or_mouse(page):
    """With two classifiers, each of which has a table of causes."""

    def two(rows):
        return [*rows, *(row | {"classifier": "other"} for row in rows)]

    tree = page(changes={"table_2": two})
    for classifier in ("linear", "other"):
        assert f"Possible causes: Mine, Defendant's gender, {classifier}" in text(
            tree, "#mine caption"
        )
    checks.check_usable(tree)


def test_a_group_without_cases_is_listed_once():
    row = {"classifier": "linear", "attribute": "a", "split": "test", "convention": "all"}
    row |= dict.fromkeys(("score", "sd", "low", "high", "noise_low", "noise_high"))
    row |= {"seed": "mean", "seeds": 2, "cases": 0, "note": "no cases"}
    some = row | {"group": "some", "cases": 9, "score": 50, "note": None}
    rows = [
        one | {"objective": objective}
        for objective in ("adversarial", "erm")
        for one in (row | {"group": "none"}, some)
    ]
    rows += [some | {"objective": "erm"} | other for other in ({"split": "dev"}, {"seed": "0"})]
    [block] = describe_group_scores(rows)
    none, some = block["groups"]
    assert [row["note"] for row in none["rows"]] == ["no cases"]
    assert [(row["objective"], row["score"]) for row in some["rows"]] == [
        ("erm", 50),
        ("adversarial", 50),
    ]


GROUP = {"classifier": "linear", "attribute": "a", "train_cases": 10, "score": 50.0, "drift": 0.1,
         "wci": 0.25, "few": None}  # fmt: skip


def test_table_2_is_drawn_by_the_share_of_training_cases():
    score = {"classifier": "linear", "objective": "erm", "attribute": "a", "split": "test",
             "convention": "all", "group": "most", "seed": "mean", "low": 30, "high": 50,
             "noise_low": 20, "noise_high": 60}  # fmt: skip
    other = {"low": 1, "high": 2, "noise_low": 3, "noise_high": 4}
    scores = [
        score,
        score | other | {"objective": "iifr"},
        score | other | {"group": "least", "split": "dev"},
    ]
    rows = [
        GROUP | {"group": "least", "few": True},
        GROUP | {"group": "none", "score": None},
        GROUP | {"group": "<b>", "train_cases": 20},
        GROUP | {"group": "most", "train_cases": 60, "score": 40.0},
    ]
    found = draw_table_2(rows, scores)
    assert found["without"] == ["none"]
    rows = found["drawing"].data.values
    assert [row["name"] for row in rows] == ["most", "<b>", "least"]
    shares = [row["text"].replace("\xa0", " ") for row in rows]
    assert shares == ["60.0 % of training: 40.0", "20.0 % of training: 50.0",
                      "10.0 % of training: 50.0"]  # fmt: skip
    assert [row["kind"] for row in rows] == ["plain", "plain", "unclear"]
    assert [row.get("low") for row in rows] == [30, None, None]
    assert [row.get("band_low") for row in rows] == [20, None, None]
    assert rows[0]["words"].replace("\xa0", " ") == (
        "most: macro-F1 40.0 (30.0 to 50.0); in 95 % of random groups 20.0 to 60.0; "
        "60 training cases (60.0 %); drift of labels 0.100; share of the worst class 25.0 %"
    )


def test_table_2_without_scores_or_training_cases():
    nothing = draw_table_2([GROUP | {"group": "g", "score": None}], [])
    assert nothing == {"drawing": None, "without": ["g"]}
    untrained = draw_table_2([GROUP | {"group": "g", "train_cases": 0}], [])
    assert checks.rows(untrained["drawing"], "text") == ["– of training: 50.0"]


def test_table_2_on_the_page(page):
    def more(rows):
        neither = rows[0] | {"group": "neither", "score": None}
        return [*(row | {"worst_class": "11", "as_bad": 4} for row in rows), neither]

    own = page(changes={"table_2": more})
    caption = text(own, "#mine figcaption")
    assert "Without a score: neither." in caption
    [spec] = [one for one in checks.charts(own, "#mine") if "share of the training" in str(one)]
    assert any(checks.rows(spec, "low")) and any(checks.rows(spec, "band_low"))
    assert "class 11, and 4 as bad" in text(own, "#mine")


def test_calibration_curves(rows):
    blocks = {one["name"]: one for one in describe_calibration_curves(rows["calibration_bins"])}
    assert set(blocks) <= {"defendant_gender", "court_region"}
    # ERM alone
    assert set(checks.rows(blocks["defendant_gender"]["drawing"], "name")) == {"female", "male"}
    names = [f"region {i}" for i in range(9)]
    row = {"classifier": "linear", "objective": "erm", "attribute": "a", "split": "test"}
    bins = [
        row | {"group": name, "predictions": n, "confidence": n / 100, "share_right": 0.5}
        for name in names
        for n in (2, 30)
    ]
    [figure] = describe_calibration_curves(bins)
    spec = figure["drawing"]
    assert list(dict.fromkeys(checks.rows(spec, "name"))) == names
    assert len(checks.rows(spec, "words")) == 2 * len(names)
    assert checks.rows(spec, "alone").count(True) == len(names)  # those of two predictions
    assert {round(weight, 3) for weight in checks.rows(spec, "weight")} == {0.067, 1}


def test_training_without_groups_or_numbers():
    row = {"classifier": "linear", "objective": "erm", "trained_for": "none", "seed": "mean"}
    row |= {"seeds": 1, "loss": 1.0, "loss_sd": None, "macro_f1_sd": None}
    epochs = [row | {"epoch": n, "macro_f1": score} for n, score in ((1, 50), (2, 25))]
    [block] = describe_training([*epochs, row | {"seed": "1"}], Titles())
    assert (block["name"], block["objectives"]) == ("", ["erm"])
    assert [row["cells"][0]["macro_f1"] for row in block["rows"]] == [50, 25]
    [block] = describe_training([row | {"loss": None} for row in epochs], Titles())
    assert [figure["title"] for figure in block["figures"]] == ["Macro-F1 of the development cases"]
    assert describe_training([], Titles()) == []


def test_our_side_of_a_claim_is_a_rounded_number_or_a_name(page):
    def two(rows):
        return [
            rows[0] | {"ours": ours, "known_error": "an-error"} for ours in ("44.345238", "Hunan")
        ]

    tree = page(changes={"claims": two})
    assert len(tree.css("#mine a[href='known_errors.html#an-error']")) == 2
    own = text(tree, "#mine")
    assert "44.3" in own and "44.345" not in own and "Hunan" in own


@pytest.mark.parametrize(
    ("seeds", "always", "words"),
    [
        (0, None, None),
        (3, "none", "predicts no label for any case"),
        (3, "<=12", "predicts the same for every case: &lt;=12"),
        (3, "2, 3; none", "predicts the same for every case: 2, 3; no label"),
        (2, "none", "in 2 of 3 seeds predicts no label for any case"),
    ],
)
def test_a_constant_classifier_has_its_words(seeds, always, words):
    assert constant_words({"constant_seeds": seeds, "always": always, "seeds": 3}) == words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"constant_seeds": 2, "always": "none"}, "in 2 of 3 seeds predicts no label for any case"),
        (
            {"from_labels": True},
            "significant before adjustment, but from labels that differ between groups",
        ),
    ],
)
def test_a_classifier_that_learned_nothing_is_marked(page, cells, words):
    def erm(rows):
        return [row | (cells if row["objective"] == "erm" else {}) for row in rows]

    assert words not in text(page(), "#mine table")
    assert words in text(page(changes={"table_4": erm}), "#mine table")


def test_predictions_for_counterfactuals(page, files, tmp_path):
    same = {"dataset": "mine", "classifier": "linear", "trained_for": "none", "split": "test"}
    same |= {"seeds": 2, "cases": 9, "twins": 8, "measure": "ifr_b"}
    better = {"difference": 25, "difference_low": 5, "difference_high": 40, "verdict": "above"}
    rows = [
        same | {"objective": "erm", "value": 75, "sd": 1, "low": 60, "high": 90},
        same | {"objective": "iifr_text", "value": 100} | better,
        same | {"objective": "erm", "value": 0.00123, "measure": "divergence"},
    ]
    tables = read_package(files[0])
    others = [(tables[name], values) for name, values in read_tables(files[0]).items()]
    folder = tmp_path / "tables/classifiers/mine"
    write_tables(folder, [*others, (counterfactual.TABLE, rows)])
    section = text(page(tables=folder), "#mine")
    for words in ("when the words for gender are swapped", "75.0 ± 1.0", "60.0 to 90.0",
                  "IIFR 100.0", "+25.0 to ERM, significantly above", "0.00123"):  # fmt: skip
        assert words in section
