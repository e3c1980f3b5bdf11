"""The card of a model: what the hub's own parser reads in it, and what a person does."""

import json
from pathlib import Path

import pandas as pd
import pytest
from huggingface_hub import ModelCard

from evenhand.core.tables import write_tables
from evenhand.report.write_model_cards import write_model_cards
from evenhand.slguset.tables import models
from expected import check_expected
from unit.report import checks, made_stereotypes

SETS = list(made_stereotypes.SETS)


def arguments(folder: Path, model: str) -> dict:
    stereotypes, tables = folder / "stereotypes", folder / "tables"
    return {
        "model": model,
        "sets": [stereotypes / name / "pairs.json" for name in SETS],
        "gates": [stereotypes / name / "gates" / f"{model}.json" for name in SETS],
        "tables": [tables / "pairs" / name for name in SETS],
    }


@pytest.fixture
def card(repository, tmp_path):
    def write(model, language="", **given) -> ModelCard:
        template = repository / "workflow/evenhand/report/cards/model_card.md.jinja"
        about = {"models": [model], "languages": [language], "out": [tmp_path / "README.md"]}
        write_model_cards(template=template, **about, **given)
        return ModelCard.load(tmp_path / "README.md")

    return write


def edition(folder: Path, model: str, **columns: str) -> dict:
    """SlguSet's table and gate for a model."""
    row = {
        "model": model, "family": "masked", "sentences": 200, "scored": 190,
        "with_unknown_tokens": 6, "mean_bias": 0.412345, "mean_bias_low": 0.2,
        "mean_bias_high": 0.6, "verdict": "male", "male_degree": 0.5, "female_degree": 0.087655,
        "mean_degree": 0.587655, "within_threshold": 50, "above_threshold": 120,
        "below_threshold": 20, "log_base": 10.0, "threshold": 0.3, "check_accuracy": 0.3,
        "check_baseline": 0.06, "trusted": True,
    } | columns  # fmt: skip
    write_tables(folder / "tables/slguset", [(models.TABLE, [row])])
    gate = folder / "slguset/bias" / f"{model}.gate.json"
    gate.parent.mkdir(parents=True)
    gate.write_text(
        json.dumps(made_stereotypes.gate(model, "masked", row["trusted"], 100)), "utf-8"
    )
    return {"model": model, "bias": [folder / "tables/slguset"], "bias_gates": [gate]}


@pytest.mark.parametrize("model", made_stereotypes.MODELS)
def test_the_card_has_what_is_known_of_the_model(card, own, model):
    """Of a model that did not pass its check that is no number."""
    made = card(**arguments(own, model), language="en")
    assert str(made_stereotypes.SENTINEL)[:5] not in made.content
    check_expected(f"cards/{model}.md", made.content)


def test_a_gate_alone_takes_the_numbers_away(card, own):
    given = arguments(own, "roberta-like")
    gate = json.loads(given["gates"][0].read_text(encoding="utf-8"))
    given["gates"][0].write_text(json.dumps(gate | {"trusted": False}), encoding="utf-8")
    made = card(**given)
    assert {one.dataset_type for one in made.data.eval_results} == {SETS[1]}


def test_few_swaps_are_told_as_a_limit(card, own):
    assert "A bias of moderate size on CrowS-Pairs" in card(**arguments(own, "tiny-bert-en")).text
    document = own / "stereotypes/crows_pairs/pairs.json"
    about = json.loads(document.read_text(encoding="utf-8"))
    document.write_text(json.dumps(about | {"clusters": 64}), encoding="utf-8")
    table = own / "tables/pairs/crows_pairs/bias_scores.csv"
    scores = pd.read_csv(table, dtype=str, keep_default_na=False)
    scores = scores.assign(effective_clusters="51.0")
    scores.to_csv(table, index=False)
    text = card(**arguments(own, "tiny-bert-en")).text
    assert "A bias of moderate size on CrowS-Pairs" not in text
    shared = scores["method"].map(lambda name: "5.1" if name == "aul" else "2.0")
    scores.assign(inflation=shared).to_csv(table, index=False)
    text = card(**arguments(own, "tiny-bert-en")).text
    words = "they tell as much as 10 to 26 independent ones (by method)"
    assert words in text
    assert "A bias of moderate size on CrowS-Pairs" in text
    given = made_stereotypes.files(own)
    page = checks.write("language_models", own / "p.html", given)
    of_two = words.replace("by method", "by model and method")
    assert of_two in " ".join(page.css_first("#set-crows_pairs").text().split())


def test_slguset_has_its_mean_bias_and_degrees(card, tmp_path):
    made = card(**edition(tmp_path / "e", "m"), language="zh", notice="Only | for show.")
    check_expected("cards/model_on_slguset.md", made.content)


def test_slguset_has_no_number_of_a_model_that_did_not_pass(card, tmp_path):
    columns = {"trusted": False, "reason": "missing_weights", "verdict": "not_scored"}
    made = card(**edition(tmp_path / "e", "m", **columns))
    assert made.data.eval_results is None
    assert "0.412" not in made.content and "lacks weights" in made.text


def test_a_language_that_is_no_code_stays_out_of_the_header(card, own):
    given = arguments(own, "tiny-bert-en")
    assert card(**given, language="en-law").data.language is None
    assert card(**given).data.language is None


def test_hostile_titles_and_types_stay_text(card, tmp_path):
    text = '<script>x</script> | "a": [b](c)\n---\n\u202e=1+1'
    folder = made_stereotypes.write_results(tmp_path / "results", text=text)
    made = card(**arguments(folder, "tiny-bert-en"))
    assert {one.dataset_name for one in made.data.eval_results} == {
        title + text for title, *_ in made_stereotypes.SETS.values()
    }
    assert "<script" not in made.text and "\u202e" not in made.text
    heading = next(line for line in made.text.splitlines() if line.startswith("| type |"))
    line = next(line for line in made.text.splitlines() if line.startswith("| race-color"))
    assert line.replace(r"\|", "").count("|") == heading.count("|")


def test_same_results_give_the_same_bytes(card, own, tmp_path):
    given = arguments(own, "tiny-bert-en")
    assert card(**given).content == card(**given).content
    for path in own.rglob("*"):
        assert str(path) not in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_each_model_has_its_own_card(card, own, repository, tmp_path):
    names = ["tiny-gpt2-en", "tiny-bert-en"]
    given = arguments(own, names[0])
    given |= {"gates": [*arguments(own, names[1])["gates"], *given["gates"]]}
    del given["model"]
    gate = json.loads(given["gates"][0].read_text(encoding="utf-8"))
    longer = given["gates"][0].with_name("x-tiny-bert-en.json")  # of no model that gets a card
    longer.write_text(json.dumps(gate | {"model": "x-tiny-bert-en"}), encoding="utf-8")
    given["gates"].append(longer)
    counts = write_model_cards(
        template=repository / "workflow/evenhand/report/cards/model_card.md.jinja",
        out=[tmp_path / name for name in names], models=names, languages=["en", ""], **given,
    )  # fmt: skip
    assert list(counts) == names
    for name, language in zip(names, ("en", ""), strict=True):
        alone = card(**arguments(own, name), language=language).content
        assert (tmp_path / name).read_text(encoding="utf-8") == alone
