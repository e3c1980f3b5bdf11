"""Which pages there are, and what they and the front page show."""

from pathlib import PurePosixPath

import pytest

from evenhand import plan_individual, plan_legal, plan_predictions, plan_report
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA

#: What each part of a configuration needs to be there.
PARTS = {
    "slguset": {"slguset": {"corpora": {"a": {"files": ["a.txt"]}}}},
    "language_models": {
        "models": {"m": {"path": "m", "language": "en"}},
        "stereotypes": {
            "sets": {"p": {"format": "crows_pairs", "file": "p.csv", "language": "en"}}
        },
    },
    "individual_fairness": {
        "individual_fairness": {"datasets": {"t": {"format": "table", "files": ["t.csv"]}}}
    },
    "legal": {
        "legal": {
            "datasets": {
                "c": {"kind": "ecthr", "parts": {"x": {"format": "hudoc_text", "files": ["x"]}}}
            }
        }
    },
}
PAGES = {
    "slguset": ["slguset"],
    "language_models": ["sentences", "language_models"],
    "individual_fairness": ["individual_fairness", "people", "mitigation"],
    "legal": ["legal_cases", "cases"],
}


def configured(*parts: str) -> dict:
    sections = {key: value for part in parts for key, value in PARTS[part].items()}
    return plan_legal.expand(complete(sections, read_schema(SCHEMA)))


@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone_has_its_pages_and_those_that_always_are(part):
    config = configured(part)
    assert plan_report.pages(config, ["a-1"] if part == "slguset" else []) == [
        *("front", *PAGES[part]),
        *("reproduction", "certificate", "known_errors", "provenance"),
    ]


def test_each_result_is_traced_once():
    """The page of cases shows results that are traced anyway."""
    files = plan_report.traced_files(configured(*PARTS), ["a-1"])
    assert len(files) == len(set(files))
    assert {"<results>/legal/c/c.parquet", "<results>/tables/corpus"} <= set(files)
    assert "<results>/legal/c/counts.json" in files  # which no page reads
    config = configured("slguset")
    config["slguset"]["acceptance"]["learn"] = True
    assert "<results>/tables/acceptance" in plan_report.traced_files(config, ["a-1"])


def test_cards_of_models_and_folders_are_traced_and_no_pages():
    files = plan_report.traced_files(configured(*PARTS), ["a-1"])
    cards = [file for file in files if file.endswith("/README.md")]
    assert cards == [
        "<results>/legal/c/README.md",
        *("<results>/cards/m/README.md", "<results>/stereotypes/p/README.md"),
        "<results>/tabular/t/README.md",
    ]
    assert not [file for file in files if file.startswith("<results>/report/")]


@pytest.mark.parametrize("part", PARTS)
def test_the_front_page_reads_what_this_part_makes(part):
    found = plan_report.headline_files(configured(part), ["a-1"] if part == "slguset" else [])
    assert list(found) == [part, *(["mitigation"] if part == "individual_fairness" else [])]
    assert found[part], "nothing to make a headline of"


def test_the_front_page_reads_what_the_paper_counts_by_bias():
    found = plan_report.headline_files(configured("slguset"), ["a-1"])
    assert "resources/packs/zh_gender/published_bias.csv" in found["slguset"]


def test_text_classifiers_are_answered_from_the_audits_of_their_predictions(tmp_path):
    file = tmp_path / "t.csv"
    file.touch()
    data = {"files": [str(file)], "text": "x", "label": {"column": "y", "task": "binary"}}
    data["attributes"] = {"group": {"column": "g"}}
    linear = {"kind": "linear", "datasets": ["t"], "objectives": ["erm"], "seeds": 1}
    own = {"text": {"datasets": {"t": data}}, "legal": {"classifiers": {"linear": linear}}}
    config = plan_predictions.expand(plan_legal.expand(complete(own, read_schema(SCHEMA))))
    assert config["predictions"]["t_linear_erm"]["title"] == "t, linear, ERM"
    balanced = {"objectives": ["erm_group_uniform"], "groups": ["label", "some_group"]}
    data |= {"attributes": {"some_group": {"column": "g"}}, "audited": ["erm_group_uniform"]}
    own["legal"]["classifiers"]["linear"] = linear | balanced
    other = plan_predictions.expand(plan_legal.expand(complete(own, read_schema(SCHEMA))))
    assert {name: entry["title"] for name, entry in other["predictions"].items()} == {
        "t_linear_erm_group_uniform_label_some_group": (
            "t, linear, balanced batches, trained on groups of label x Some group"
        )
    }
    audit = {"<results>/predictions/t_linear_erm/meta.json"}
    audit.add("<results>/tables/predictions/t_linear_erm")
    assert audit <= set(plan_report.page_inputs(config, [])["legal_classifiers"])
    assert audit <= set(plan_report.headline_files(config, [])["legal"])
    for page in ("legal_classifiers", "predictions", "mitigation"):
        assert "<results>/tables/cases/t" in plan_report.page_inputs(config, [])[page]


def test_tables_are_offered_once_each_and_are_no_data_sets():
    config = configured(*PARTS)
    tables = plan_report.tables(config, ["a-1"])
    assert len(set(tables)) == len(tables) > 7
    assert {PurePosixPath(table).suffix for table in tables} == {".csv", ".json", ""}
    documents = [table for table in tables if table.endswith(".json")]
    assert documents == [
        "<results>/stereotypes/p/pairs.json",
        "<results>/tabular/t/data.json",
        "<results>/legal/c/splits.json",
    ]
    assert "<results>/slguset/slguset.csv" not in tables
    assert "<results>/tables/corpus" in tables


def test_what_pages_list_is_offered_too():
    config = configured(*PARTS)
    one = {"kind": "linear", "datasets": ["c"], "objectives": ["erm"], "seeds": 1}
    given = {**config, "legal": {**PARTS["legal"]["legal"], "classifiers": {"linear": one}}}
    config = plan_legal.expand(complete(given, read_schema(SCHEMA)))
    assert {
        "<results>/tables/corpus",
        "<results>/tables/pairs/p",
        "<results>/tables/classifiers/c",
    } <= {*plan_report.tables(config, ["a-1"])}


def test_the_page_of_the_people_has_a_table_for_each_training():
    config = configured("individual_fairness")
    files = plan_individual.people_files(config)
    assert plan_individual.people_options(config) == {"formats": ["table"]}
    assert files["people"] == ["<results>/tabular/t/data.parquet"]
    for kind in ("runs", "predictions"):
        folder = f"<results>/tabular/t/{kind}/random"
        first = [f"{folder}/mlp.parquet", f"{folder}/mlp_without_attribute.parquet"]
        assert files[kind][:2] == first
    runs = [file.replace("/predictions/", "/runs/") for file in files["predictions"]]
    assert runs == files["runs"]
    assert not plan_individual.people_files(configured("legal"))
    assert {*plan_report.flat(files)} <= {*plan_report.traced_files(config, [])}


def test_pages_lie_beside_the_front_page():
    files = plan_report.page_files(configured("legal"), [])
    assert files[0] == "<results>/report/index.html"
    assert files[-1] == "<results>/report/provenance.html"
    assert {PurePosixPath(file).parent.as_posix() for file in files} == {"<results>/report"}
