import csv
import json
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.scoring.methods import METHODS
from unit.cases import read_csv
from unit.report import checks, made_stereotypes
from unit.report.checks import text

SET_IDS = ["set-crows_pairs", "set-stereoset_intrasentence"]


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> LexborHTMLParser:
    """The page of all made results, which no test changes."""
    folder = made_stereotypes.write_results(tmp_path_factory.mktemp("models") / "results")
    return checks.write("language_models", folder.parent / "p.html", made_stereotypes.files(folder))


@pytest.fixture
def page(write):
    def written(folder: Path, *without: str) -> LexborHTMLParser:
        return write("language_models", made_stereotypes.files(folder, *without))

    return written


def table(tree, *words: str):
    """The first table whose caption holds all of these."""
    return next(
        node
        for node in tree.css("table")
        if all(word in node.css_first("caption").text() for word in words)
    )


def rows(node) -> dict[str, list[str]]:
    """Cells of a table by the head of their row."""
    return {
        " ".join(row.css_first("th").text().split()): [
            " ".join(cell.text().split()) for cell in row.css("td")
        ]
        for row in node.css("tbody tr")
    }


def change(path: Path, **columns: str) -> None:
    """Overwrite columns of every row of a CSV table, or keys of a JSON document."""
    if path.suffix == ".json":
        document = json.loads(path.read_text(encoding="utf-8")) | columns
        path.write_text(json.dumps(document), encoding="utf-8")
    else:
        write_rows(path, [row | columns for row in read_csv(path)])


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_the_direction_is_in_the_words_of_the_set(page, own):
    change(own / "stereotypes/crows_pairs/pairs.json", more_means="male", less_means="female")
    section = page(own).css_first("#set-crows_pairs").text()
    assert "Above 50, a model prefers the male sentence; below 50, the female sentence." in section
    assert "Prefers the male sentence." in section
    assert "the stereotype by" not in section


def test_models_of_random_weights_are_shown_where_there_are_some(page, full, own):
    assert "models of the same architecture with random weights" in text(full, "#set-crows_pairs")
    change(own / "tables/pairs/crows_pairs/bias_scores.csv", null_seeds="0", null_beyond="")
    found = page(own)
    assert "with random weights have" not in text(found, "#set-crows_pairs")
    assert len(rows(table(found, "Scores:", "CrowS-Pairs", "tiny-bert-en"))["AUL"]) == 7


def test_a_gate_alone_is_enough_not_to_trust_a_model(page, own):
    for path in (own / "tables").glob("pairs/*/bias_scores.csv"):
        change(path, trusted="true", reason="")
    tree = page(own)
    assert "77.1" not in tree.css_first("main").text()
    assert page(own, "stereotypes/*/gates/*").css_first("main").text().count("77.1") > 10


def test_the_row_of_a_model_without_scores_has_no_method(page, own):
    path = own / "tables/pairs/crows_pairs/bias_scores.csv"
    rows = read_csv(path)
    kept = [row for row in rows if row["model"] not in ("headless", "tiny-gpt2-en")]
    blank = dict.fromkeys(rows[0], "") | {"subset": "all", "bias_type": "all", "pairs": 240}
    blank["verdict"] = "not_scored"
    kept += [
        blank | {"model": "headless", "trusted": "false", "reason": "few_scored"},
        blank | {"model": "tiny-gpt2-en", "trusted": "true", "reason": "nothing_scored"},
    ]
    write_rows(path, kept)
    tree = page(own)
    assert "Cannot be judged: no main method could score a pair." in text(tree, "#glance tbody")
    assert "tiny-gpt2-en cannot be judged, since no pair could be scored." in text(
        tree, "#set-crows_pairs .say"
    )
    assert "None" not in tree.css_first("#set-crows_pairs").text()


#: Files without which the page is written.
FILES = {
    "tables": "tables/pairs/*",
    "sets": "stereotypes/*/pairs.json",
    "gates": "stereotypes/*/gates/*",
    "released": "tables/released",
}


#: Each has a place of its own on the page, but for the two of people's judgements.
OTHERS = [name for name in made_stereotypes.TABLES if name != "bias_scores"]


@pytest.mark.parametrize(
    "kinds",
    [OTHERS, ["bias_scores"], ["tables"], ["sets"], ["gates", "models"], ["released"]],
    ids=str,
)
def test_sections_without_a_table_are_left_out(page, own, full, kinds):
    for path in own.glob("tables/pairs/*/datapackage.json"):
        package = json.loads(path.read_text(encoding="utf-8"))
        change(path, resources=[one for one in package["resources"] if one["name"] not in kinds])
    tree = page(own, *(FILES[kind] for kind in kinds if kind in FILES))
    assert "None" not in tree.css_first("main").text()
    assert len(tree.css("h2")) == len(full.css("h2")) - (kinds == ["released"])
    if kinds == OTHERS:
        titles = [[node.text() for node in part.css("[id^=set-] h3")] for part in (tree, full)]
        assert set(titles[0]) == {"Scores", "The pairs themselves"} < set(titles[1])
    elif kinds != ["released"]:
        assert len(tree.css(".absent")) > len(full.css(".absent"))


def test_sentences_on_published_sets_are_not_of_others(page, own, full):
    assert full.css_first("#released") and "disadvantaged" in full.css_first("main").text()
    for name in ("crows_pairs", "stereoset_intrasentence"):
        change(own / f"stereotypes/{name}/pairs.json", format="crows_pairs")
    for path in own.glob("tables/pairs/*/all_masked.csv"):
        change(path, group="all")
    tree = page(own, FILES["released"])
    assert not tree.css_first("#released") and "Check on StereoSet" not in tree.html
    control = " ".join(tree.css_first("#set-crows_pairs").text().split())
    assert "About any group" in control and "disadvantaged" not in control


def test_renders_with_nothing(write):
    tree = write("language_models")
    assert text(tree, ".lead") == "No model has a score, so bias cannot be judged."
    assert [text(tree, f"#{id} .absent") for id in ("glance", "models")]
    assert "Blodgett" in text(tree, "#limits")
    assert len(tree.css("#reading dt")) == len(METHODS)  # where none has a score


def test_two_sets_of_one_title_are_told_apart(page, own):
    change(own / "stereotypes/stereoset_intrasentence/pairs.json", title="CrowS-Pairs")
    titles = [text(page(own), f"#{id} h2") for id in SET_IDS]
    assert titles == ["CrowS-Pairs (crows_pairs)", "CrowS-Pairs (stereoset_intrasentence)"]


def test_a_model_that_fails_on_one_set_only_has_no_number_there(page, own):
    path = own / "stereotypes/crows_pairs/gates/roberta-like.json"
    change(path, trusted=False, reason="fill_mask_not_above_baseline")
    verdicts = text(page(own), "#glance tbody")
    assert verdicts.count("Cannot be judged: this model did not pass its check.") == 3
