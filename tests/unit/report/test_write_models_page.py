import csv
import json
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.write_models_page import _methods, write_models_page
from evenhand.scoring.methods import METHODS
from unit.report import checks, made_results, made_stereotypes

SET_IDS = ["set-crows_pairs", "set-stereoset_intrasentence"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A results folder that no test changes."""
    return made_stereotypes.write_results(tmp_path_factory.mktemp("models") / "results")


@pytest.fixture(scope="module")
def full(made, repository, tmp_path_factory) -> LexborHTMLParser:
    """The page of all of it, which no test changes."""
    out = tmp_path_factory.mktemp("page") / "language_models.html"
    write_models_page(
        templates=made_results.templates(repository), out=out, **made_stereotypes.arguments(made)
    )
    return checks.parse(out)


@pytest.fixture
def own(tmp_path) -> Path:
    """A results folder of the test's own."""
    return made_stereotypes.write_results(tmp_path / "results")


@pytest.fixture
def page(templates, tmp_path):
    def write(folder: Path, *without: str, **more) -> LexborHTMLParser:
        out = tmp_path / "language_models.html"
        arguments = made_stereotypes.arguments(folder, *without)
        write_models_page(templates=templates, out=out, **arguments | more)
        return checks.parse(out)

    return write


def text(tree, selector: str) -> str:
    node = tree.css_first(selector)
    assert node is not None, selector
    return " ".join(node.text().split())


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
    """Overwrite columns of every row of a CSV table."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        header, kept = reader.fieldnames, list(reader)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(row | columns for row in kept)


def test_direction_is_told_in_the_words_of_the_set(page, own):
    path = own / "stereotypes/crows_pairs/pairs.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"more_means": "male", "less_means": "female"}
    path.write_text(json.dumps(document), encoding="utf-8")
    section = page(own).css_first("#set-crows_pairs").text()
    assert "Above 50, a model prefers the male sentence; below 50, the female sentence." in section
    assert "Prefers the male sentence." in section
    assert "the stereotype by" not in section


def test_models_of_random_weights_are_shown_where_there_are_some(page, full, own):
    assert "models of the same architecture with random weights" in text(full, "#set-crows_pairs")
    change(own / "tables/pairs/crows_pairs/bias_scores.csv", null_seeds="0", null_beyond="")
    found = page(own)
    assert "with random weights have" not in text(found, "#set-crows_pairs")
    assert len(rows(table(found, "Scores:", "CrowS-Pairs", "tiny-bert-en"))["AUL"]) == 8


def test_a_gate_alone_is_enough_not_to_trust_a_model(page, own):
    for path in (own / "tables").glob("pairs/*/bias_scores.csv"):
        change(path, trusted="true", reason="")
    tree = page(own)
    assert "77.1" not in tree.css_first("main").text()
    assert page(own, "gates").css_first("main").text().count("77.1") > 10


def test_the_row_of_a_model_without_scores_has_no_method(page, own):
    path = own / "tables/pairs/crows_pairs/bias_scores.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        kept = list(csv.DictReader(stream))
    header = list(kept[0])
    kept = [row for row in kept if row["model"] not in ("headless", "tiny-gpt2-en")]
    blank = dict.fromkeys(header, "") | {"subset": "all", "bias_type": "all", "pairs": 240}
    blank["verdict"] = "not_scored"
    kept += [
        blank | {"model": "headless", "trusted": "false", "reason": "few_scored"},
        blank | {"model": "tiny-gpt2-en", "trusted": "true", "reason": "nothing_scored"},
    ]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(kept)
    tree = page(own)
    assert "No number: no method that counts could score a pair." in text(tree, "#glance tbody")
    assert "tiny-gpt2-en has no number, since no pair could be scored." in text(
        tree, "#set-crows_pairs .say"
    )
    assert "None" not in tree.css_first("#set-crows_pairs").text()


def test_examples_are_the_pairs_that_lean_most(page, made):
    import pyarrow.parquet as pq

    scores = pq.read_table(made / "stereotypes/crows_pairs/scores/tiny-bert-en.parquet").to_pylist()
    values = {(row["pair_id"], row["side"]): row["aul"] for row in scores}
    leans = sorted((v - values[p, "less"], p) for (p, side), v in values.items() if side == "more")
    tree = page(made, examples=2)
    group = next(
        node
        for node in tree.css("#set-crows_pairs details")
        if node.css_first("summary").text().startswith("tiny-bert-en by AUL")
    )
    more, less = group.css("ol.leans")
    assert [item.css("bdi")[-1].text() for item in more.css("li")] == [p for _, p in leans[:-3:-1]]
    assert [item.css("bdi")[-1].text() for item in less.css("li")] == [p for _, p in leans[:2]]
    first = more.css_first("li")
    assert first.css_first("mark.more").text() != first.css_first("mark.less").text()
    assert not page(made, examples=0).css(".leans")


ABSENT = [
    *made_stereotypes.TABLES, "tables", "sets", "gates", "pairs", "scores", "released"
]  # fmt: skip


@pytest.mark.parametrize("kind", ABSENT)
def test_says_so_where_a_table_is_missing(page, own, full, kind):
    for path in own.glob("tables/pairs/*/datapackage.json"):
        package = json.loads(path.read_text(encoding="utf-8"))
        package["resources"] = [one for one in package["resources"] if one["name"] != kind]
        path.write_text(json.dumps(package), encoding="utf-8")
    tree = page(own, kind)
    assert "None" not in tree.css_first("main").text()
    assert len(tree.css("h2")) == len(full.css("h2"))
    if kind not in ("roc", "auc_tests"):
        assert len(tree.css(".absent")) > len(full.css(".absent"))


def test_renders_with_nothing(templates, tmp_path):
    write_models_page(templates=templates, out=tmp_path / "page.html")
    tree = checks.parse(tmp_path / "page.html")
    assert text(tree, ".lead") == "No model has a score, so nothing is known of bias."
    assert [text(tree, f"#{id} .absent") for id in ("glance", "models", "released")]
    assert "Blodgett" in text(tree, "#limits")


def test_two_sets_of_one_title_are_told_apart(page, own):
    path = own / "stereotypes/stereoset_intrasentence/pairs.json"
    document = json.loads(path.read_text(encoding="utf-8")) | {"title": "CrowS-Pairs"}
    path.write_text(json.dumps(document), encoding="utf-8")
    titles = [text(page(own), f"#{id} h2") for id in SET_IDS]
    assert titles == ["CrowS-Pairs (crows_pairs)", "CrowS-Pairs (stereoset_intrasentence)"]


def test_a_model_that_fails_on_one_set_only_is_said_to(page, own):
    path = own / "stereotypes/crows_pairs/gates/roberta-like.json"
    gate = json.loads(path.read_text(encoding="utf-8")) | {
        "trusted": False,
        "reason": "fill_mask_not_above_baseline",
    }
    path.write_text(json.dumps(gate), encoding="utf-8")
    verdicts = text(page(own), "#glance tbody")
    assert verdicts.count("No number: this model did not pass its check.") == 3


def test_the_methods_are_those_that_the_page_mentions_or_all():
    scores = {"models": [{"rows": [{"method": "aul"}, {"method": "cps"}]}]}
    assert _methods([{"scores": scores}]) == {name: METHODS[name] for name in ("aul", "cps")}
    assert _methods([]) == METHODS
