from evenhand import plan_report
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA


def configured(**sections) -> dict:
    return complete(sections, read_schema(SCHEMA))


MODELS = {
    "english": {"path": "e", "language": "en"},
    "chinese": {"path": "c", "language": "zh"},
    "encoder": {"path": "l", "language": "en-law"},
}
SETS = {
    "pairs": {"format": "crows_pairs", "file": "p.csv", "language": "en"},
    "triples": {"format": "stereoset", "file": "s.json", "language": "en"},
}


def test_a_model_that_nothing_reads_has_no_card():
    config = configured(models=MODELS, stereotypes={"sets": SETS})
    assert plan_report.audited_models(config) == ["english"]
    assert plan_report.card_files(config) == [
        "<results>/cards/english/README.md",
        "<results>/stereotypes/pairs/README.md",
        "<results>/stereotypes/triples/README.md",
    ]
    assert plan_report.card_files(configured(models=MODELS)) == []


def test_cards_read_the_sets_that_models_are_scored_on():
    config = configured(models=MODELS, stereotypes={"sets": SETS})
    inputs = plan_report.card_inputs(config)
    assert inputs["gates"] == [
        "<results>/stereotypes/pairs/gates/english.json",
        "<results>/stereotypes/triples/gates/english.json",
    ]
    assert inputs["tables"] == [f"<results>/tables/pairs/{name}" for name in ("pairs", "triples")]
    assert inputs["bias"] == inputs["bias_gates"] == []


def test_a_chinese_model_is_told_of_on_each_edition():
    config = configured(models=MODELS, slguset={"published": {"file": "s.csv"}})
    assert plan_report.audited_models(config) == ["chinese"]
    inputs = plan_report.card_inputs(config)
    assert inputs["bias"] == ["<results>/tables/bias/slguset_published"]
    assert inputs["bias_gates"] == ["<results>/slguset_published/bias/chinese.gate.json"]
    assert plan_report.card_folders(config)["slguset_published"] == [
        "<results>/slguset_published/statistics.json",
        "<results>/slguset_published/slguset.parquet",
        "<results>/slguset_published/bias/chinese.parquet",
    ]
    assert inputs["sets"] == []


def test_a_folders_card_names_all_that_is_kept_of_each_model_and_method():
    people = {
        "datasets": {"t": {"format": "table", "files": ["t.csv"]}, "t2": {"format": "table"}},
        "methods": ["mlp"],
    }
    config = configured(models=MODELS, stereotypes={"sets": SETS}, individual_fairness=people)
    folders = plan_report.card_folders(config)
    assert list(folders) == ["stereotypes/pairs", "stereotypes/triples", "tabular/t", "tabular/t2"]
    pairs = "<results>/stereotypes/pairs"
    assert folders["stereotypes/pairs"] == [
        f"{pairs}/pairs.json",
        f"{pairs}/pairs.parquet",
        *(f"{pairs}/{kind}/english.parquet" for kind in ("scores", "tokens", "null")),
    ]
    tables = folders["tabular/t"]
    assert tables[:2] == [f"<results>/tabular/t/data.{kind}" for kind in ("json", "parquet")]
    assert "<results>/tabular/t/runs/random/mlp.parquet" in tables
    assert not [one for one in tables if not one.startswith("<results>/tabular/t/")]
