"""The headline of predictions that were made elsewhere, and the page that begins with it."""

import json
import re

import pytest
from markupsafe import Markup

from evenhand.core.tables import read_tables
from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.predictions.words import TITLES, findings
from evenhand.report.headlines.predictions import _short, by_chance_in, conclude, draw
from unit.predictions.test_audit_predictions import people, unlike_labels
from unit.predictions.test_lm_eval import audit, crows
from unit.report import checks
from unit.report.checks import headline_of, text

describe = headline_of("predictions")


@pytest.fixture
def audited(tmp_path):
    """The description and the folder of tables of an audit, by their places below the results."""

    def made(name, shift, blank=0, groups=("group",), table=None):
        file = tmp_path / f"{name}.csv"
        table = people(shift=shift) if table is None else table
        table["sex"] = ["f", "m"] * (len(table) // 2)
        table["p"] = table["p"].mask(table.index < blank)
        table.to_csv(file, index=False)
        meta = tmp_path / "predictions" / name / "meta.json"
        tables = tmp_path / "tables/predictions" / name
        meta.parent.mkdir(parents=True)
        tables.parent.mkdir(parents=True, exist_ok=True)
        audit_predictions(
            files=[file], label="y", prediction="p", groups=[*groups], name=name,
            title=f"<{name}>", out=tables, cases=meta.with_name("cases"), meta=meta,
        )  # fmt: skip
        return [meta, tables]

    return made


def test_the_set_with_the_clearest_gap_comes_first(audited):
    found = describe([*audited("fair", 0.0), *audited("unfair", 0.2)], {})
    assert found.strength > 1
    assert found.sentence.startswith("<bdi>&lt;unfair&gt;</bdi>: ")
    assert "differs by group" in found.sentence and "95 % CI" in found.sentence
    assert found.figure_files == [
        f"tables/predictions/unfair/{one}.csv" for one in ("gaps", "groups")
    ]
    fair = describe(audited("other", 0.0), {})
    assert fair.strength == 0
    assert fair.short == "Nothing is significant, which does not exclude a difference."
    assert "between groups is significant, adjusted" in fair.sentence
    assert not found.left_out
    assert conclude([]).sentence == "There are no predictions."


@pytest.fixture
def trained(audited):
    """Make the files of an audit of a classifier that was trained by an objective."""

    def make(name, shift, objective, **more):
        meta, tables = audited(name, shift)
        more |= {"trained": {"objective": objective, "dataset": "mine"}}
        meta.write_text(json.dumps(json.loads(meta.read_text()) | more))
        return [meta, tables]

    return make


def test_a_set_of_which_all_predictions_are_alike_does_not_lead(audited):
    def constant(name, shift):
        meta, tables = audited(name, shift)
        meta.write_text(json.dumps(json.loads(meta.read_text()) | {"uniform": "same"}))
        return [meta, tables]

    files = constant("constant", 0.4)
    alone = describe(files, {})
    assert "differs by group" in alone.sentence and "same prediction, so that" in alone.sentence
    assert alone.short == "Cannot be judged (the same prediction for every case)."
    assert alone.strength == 0 and not alone.doubts
    for other in (audited("unfair", 0.3), audited("fair", 0.0)):
        found = describe([*files, *other], {})
        assert "constant" not in found.sentence + found.short
        assert any("constant" in words and "same prediction" in words for words in found.more)


def test_a_classifier_at_the_share_of_the_majority_follows_one_with_a_gap(trained):
    """But it precedes those without one, so that its gap is not denied, and mitigated ones."""
    poor = trained("poor", 0.4, "erm", majority=0.99)
    able = trained("able", 0.2, "erm", majority=0.5)
    (alone,) = describe(poor, {}).sentence.split("The accuracy of this classifier")[1:]
    assert "is below the majority-class baseline (99.0 %)" in alone
    found = describe([*poor, *able], {})
    assert found.sentence.startswith("<bdi>&lt;able&gt;</bdi>: ")
    assert "poor" not in found.short and any("poor" in words for words in found.more)
    fair = trained("fair", 0.0, "erm", majority=0.5)
    mitigated = trained("dro", 0.2, "group_dro", majority=0.5)
    found = describe([*fair, *mitigated, *poor], {})
    assert found.short.startswith("Perhaps (the classifier is not shown to be better than the most")
    assert "<bdi>&lt;poor&gt;</bdi>" in found.short and found.figure_files[0].endswith(
        "poor/gaps.csv"
    )


def test_a_set_whose_gap_unlike_labels_explain_follows_one_with_errors(audited):
    def explained(name):
        table = unlike_labels(lambda label, region: 0.97).drop(columns="region")
        return audited(name, 0.0, table=table.rename(columns={"sex": "group"}))

    alone = describe(explained("labels"), {})
    assert alone.short.endswith(", which unlike labels may explain.") and alone.strength > 1
    found = describe([*explained("other"), *audited("errors", 0.2)], {})
    assert "other" not in found.short and "<bdi>&lt;errors" in found.sentence


def test_plain_training_precedes_mitigation(trained):
    files = [*trained("dro", 0.4, "group_dro"), *trained("plain", 0.3, "erm")]
    found = describe(files, {})
    plain = ["<bdi>&lt;plain&gt;</bdi>" in words for words in (found.sentence, *found.more)]
    assert plain[:2] == [True, True] and plain == sorted(plain, reverse=True)
    assert re.search(
        r"; \d further results of plain training, all significant; [1-9] of mitigated classifiers, "
        "all significant.$",
        found.short,
    )
    dro, alone = describe(files[:2], {}).short, describe(files[2:], {}).short
    assert re.search(r"; \d further results of mitigated classifiers, all significant.$", dro)
    assert re.search("; [1-9] further results?, all significant.$", alone)
    files = [*trained("even", 0.0, "group_dro"), *files[2:]]
    short = describe(files, {}).short
    assert re.search(r"training, all significant; 1 of a mitigated .*, not significant.$", short)


def test_a_gap_of_mitigated_classifiers_alone_is_none_of_plain_training(trained):
    files = [*trained("dro", 0.4, "group_dro"), *trained("plain", 0.0, "erm")]
    found = describe(files, {})
    of_plain = found.sentence.removeprefix("<bdi>&lt;plain&gt;</bdi>: ")
    words = " gaps between groups, besides macro-F1 (see Text classifiers), is significant"
    assert of_plain.startswith(f"None of 5{words}, adjusted for the metrics of each attribute.")
    assert found.short.startswith("Nothing is significant under plain training, which does not")
    assert re.search(r"; \d further results of mitigated .*, all significant.$", found.short)


@pytest.mark.parametrize(
    ("sets", "p", "doubt"), [(1, 0.02, False), (3, 0.02, True), (3, 1e-4, False)]
)
def test_one_gap_among_many_attributes_is_in_doubt(sets, p, doubt):
    gaps = [{"attribute": name, "p_adjusted": least} for name, least in (("a", p), ("b", 0.4))]
    documents = [
        {"name": str(n), "tables": {"gaps": gaps if n == 0 else gaps[1:]}} for n in range(sets)
    ]
    mitigated = {"trained": {"objective": "group_dro"}, "name": "dro", "tables": {"gaps": gaps}}
    chances = by_chance_in([*documents, *[mitigated] * 9])[documents[0]["name"]]
    attribute = gaps[0]["attribute"]
    assert (attribute in chances) == doubt
    if doubt:  # Holm: four attributes and sets
        assert chances[attribute] == {"count": 4, "several": True, "p": pytest.approx(0.08)}


def test_a_finding_that_may_be_chance_says_so(audited):
    (tables,) = [read_tables(path) for path in audited("mine", 0.3) if path.is_dir()]
    chance = {"count": 4, "several": False, "p": 0.08}
    end = "It may be chance: not significant after adjustment for 4 attributes and intersections"
    first = findings(tables, 5, {}, {"group": chance})[0]
    assert first.startswith("Perhaps: ") and first.endswith(f"{end} (p = 0.08).")
    assert end not in findings(tables, 5, {})[0]


def test_one_training_of_several_classifiers_counts_once(trained, write):
    several = (("a", 0.3), ("b", 0.3), ("other", 0.2))
    files = [file for name, shift in several for file in trained(name, shift, "leace")]
    found = describe(files, {})
    words = "<bdi>&lt;b&gt;</bdi> has the same training as <bdi>&lt;a&gt;</bdi>, so that"
    assert sum(each.startswith(words) for each in found.doubts) == 1
    assert "&lt;b&gt;" not in "".join([found.sentence, found.short, *found.more])
    assert "&lt;other&gt;" in "".join(found.more)
    page = write("predictions", files, systems=["predictions"])
    (section,) = page.css("#set-b > ul li")[:1]
    assert section.text().startswith("<b> has the same training as <a>")
    assert "differs by group" not in page.css_first("#set-b > ul").text()


def test_the_figure_has_the_metric_that_the_first_finding_names(audited, write):
    files = audited("mine", 0.3)
    headline = describe(files, {})
    (name,) = [
        title for title in TITLES.values() if headline.sentence.startswith(f"{title} differs by")
    ]
    assert name != "Accuracy" and headline.caption.startswith(f"{name} of each group, of ")
    groups = read_tables(files[1])["groups"]
    values = [
        row["value"]
        for row in groups
        if (TITLES[row["metric"]], row["attribute"]) == (name, "group")
    ]
    drawn = [float(text) for text in checks.rows(headline.figure, "text")]
    assert drawn == [pytest.approx(100 * value, abs=0.06) for value in values]
    assert f"{name} of each group." in text(write("predictions", files), "figcaption")
    assert {*checks.rows(headline.figure, "kind")} == {"plain"}
    (meta, tables), row = files, {"score": 60.0, "score_low": None, "score_high": None}
    document = json.loads(meta.read_text()) | {"tables": read_tables(tables)}
    for verdict, kind in (("above", "plain"), ("inconclusive", "unclear")):
        row |= {"task": "t", "condition": "", "bias_type": "all", "verdict": verdict}
        row |= {"p_adjusted": 0.01, "samples": 40, "misplaced": 4}
        document["tables"] |= {"preferences": [row], "groups": []}
        assert checks.rows(draw(document), "kind") == [kind]
        document |= {"tables": {"preferences": [row]}, "place": "tables"}
        perhaps = "Perhaps (4 of 40 pairs look misplaced, so this may not hold): <bdi>t</bdi>"
        assert _short([document], [document], {}).startswith(perhaps) == (verdict == "above")
    assert describe(audited("fair", 0.0), {}).caption.startswith("Accuracy of each group")


def test_the_first_page_and_the_console_have_the_further_findings_of_each_set(audited, write):
    files = [*audited("first", 0.4), *audited("second", 0.3)]
    tree = write("front", files, systems=["predictions"])
    console = json.loads(tree.css_first("#findings").text())
    assert len(console) == 7 and console[-1].endswith("statements: see the page Predictions.")
    assert [words.partition(":")[0] for words in console[:2]] == ["<first>", "<second>"]
    details = tree.css_first("#predictions details")
    assert "open" in details.attributes
    further = [p.text() for p in details.css("p")]
    assert [each.partition(" [")[0] for each in further] == console[1:]
    short = tree.css_first("#short dd").text()
    assert short.startswith("Yes: <first>, ") and short.endswith(
        "further results, all significant."
    )
    assert "95 % CI" not in short
    page = write("predictions", files, systems=["predictions"])
    answer = [page.css_first(".lead").text(), *(each.text() for each in page.css(".lead + ul li"))]
    rest = [each.text() for each in page.css("section > ul li")]
    assert rest and not any(each.endswith(words) for each in answer for words in rest)
    assert page.css(".lead + ul li")[-1].text().endswith(" further statements: see below.")
    assert "differs by group" in page.css_first("#set-first > ul").text()
    page = write("predictions", files[:2], systems=["predictions"])
    lists = [each.text() for each in page.css("#set-first > ul")]
    assert "differs by group" not in "".join(lists)  # all are in the answer


def test_rows_that_are_left_out_are_stated_on_the_front_page_and_the_console(audited, write):
    meta, tables = audited("mine", 0.0, blank=3)
    (words,) = describe([meta, tables], {}).left_out
    assert Markup(words).striptags().startswith("3 of 400 rows of <mine> were left out.")
    tree = write("front", [meta, tables], systems=["predictions"])
    printed = json.loads(tree.css_first("#findings").text())
    assert (
        printed[-1].startswith("3 of 400 rows of") and "3 of 400" in tree.css_first("#trust").text()
    )


def test_doubtful_cells_are_stated_on_the_front_page_and_beside_the_findings(audited, write):
    meta, tables = audited("mine", 0.0)
    document = json.loads(meta.read_text())
    meta.write_text(json.dumps(document | {"doubtful": {"group": {"unknown": 7}}}))
    words = "In group, “unknown” (7) may mean a missing value"
    (doubt,) = describe([meta, tables], {}).doubts
    assert words in doubt
    for page in ("front", "predictions"):
        assert words in write(page, [meta, tables], systems=["predictions"]).text()


def test_a_gap_that_may_come_from_ties_is_in_doubt(audited):
    meta, tables = audited("mine", 0.4)
    tied = {"all": {"all": 12}, "group": {"a": 12, "b": 0}}
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"tied": tied}))
    assert describe([meta, tables], {}).short.startswith("Perhaps (12 of 179 cases of a (6.7 %) ")


def test_the_gaps_of_intersections_that_no_finding_has_are_counted_on_the_pages(audited, write):
    files = audited("mine", 0.4, groups=("group", "sex"))
    words = "significant gaps of intersections are not clearly beyond those of their"
    assert words in "".join(describe(files, {}).doubts)
    for page in ("front", "predictions"):
        assert words in write(page, files, systems=["predictions"]).text()


def test_attributes_of_trained_classifiers_have_their_titles(audited, write):
    meta, tables = audited("mine", 0.4)
    titles = {"bios/group": "Group of people"}
    document = json.loads(meta.read_text())
    assert "by group:" in describe([meta, tables], titles).sentence
    trained = {"dataset": "bios", "classifier": "linear", "objective": "erm"}
    meta.write_text(json.dumps(document | {"trained": trained, "unknown": {"group": 2}}))
    headline = describe([meta, tables], titles)
    assert "by Group of people:" in headline.sentence
    assert "&lt;mine&gt;</bdi>: " in headline.sentence
    assert all(
        name.startswith("Group of people: ") for name in checks.rows(headline.figure, "name")
    )
    tree = write("predictions", [meta, tables], **checks.titles(bios__group="Group of people"))
    assert {*text(tree, "#set-mine tbody th").split()} == {*["Group", "of", "people", "all"]}
    links = [row.attributes["data-items"] for row in tree.css("tr[data-items]")]
    assert any(link.startswith("group%3A+group=") for link in links)  # as the explorer names it


def test_the_front_page_asks_the_questions_of_logs_and_of_other_predictions(
    tmp_path, audited, write
):
    place = tmp_path / "predictions/logs"
    place.mkdir(parents=True)
    (place / "tables/predictions").mkdir(parents=True)
    audit(place, crows(hits=30))
    logs = [place / "meta", (place / "out").rename(place / "tables/predictions/logs")]
    logs[0] = logs[0].rename(place / "meta.json")
    page = write("predictions", logs, systems=["predictions"])
    assert page.css_first(".lead").text().startswith("crows_pairs_english: for the")
    assert page.css_first("#set-logs td[data-label='Adjusted p']").text() == "–"  # one cluster
    assert "Holm over the tests of the same model and task" in page.text()
    both = "Do groups differ in rates and errors? Do models prefer stereotypes?"
    for files, question, answer in (
        (logs, "Do the models prefer stereotypes?", "Nothing can be tested"),
        ([*audited("mine", 0.0), *logs], both, "Groups: Nothing is significant, which"),
    ):
        tree = write("front", files, systems=["predictions"])
        assert tree.css_first("#predictions h2").text() == question
        assert f"{question}{answer}" in " ".join(tree.css_first("#short").text().split())
    assert "Preferences: Nothing can be tested" in tree.css_first("#short").text()


def test_the_console_has_the_clearest_finding_of_each_data_set(audited, write):
    files = [*audited("first", 0.4), *audited("again", 0.35), *audited("second", 0.3)]
    for meta, dataset in zip(files[::2], ("a", "a", "b"), strict=True):
        trained = {"dataset": dataset, "classifier": "linear", "objective": "erm"}
        document = json.loads(meta.read_text()) | {"trained": trained}
        meta.write_text(json.dumps(document))
    tree = write("front", files, systems=["predictions", "mitigation"])
    console = json.loads(tree.css_first("#findings").text())
    names = [words.partition(":")[0] for words in console if words.startswith("<")]
    assert names == ["<first>", "<second>"]
