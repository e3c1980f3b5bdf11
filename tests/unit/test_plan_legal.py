from pathlib import Path

import pytest

from evenhand import plan, plan_legal
from evenhand.config import complete, read_schema
from evenhand.config_reference import SCHEMA
from evenhand.errors import InputError

SOURCES = {"judgments": {"name": "judgments", "file": "j.zip", "licence": "CC0"}}


def configured(parts: dict, kind: str = "ecthr", models: dict | None = None, **more) -> dict:
    one = {"kind": kind, "parts": parts} | {k: v for k, v in more.items() if k == "tokenizers"}
    legal = {"datasets": {"mine": one}} | {k: v for k, v in more.items() if k != "tokenizers"}
    return complete({"legal": legal, "models": models or {}}, read_schema(SCHEMA))


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    return tmp_path


HUDOC = {"format": "hudoc_json", "sources": ["judgments"]}
TEXTS = {"format": "hudoc_text", "files": ["texts"]}


def test_parts_are_read_in_the_order_of_their_names(here):
    config = configured({"z": HUDOC, "a": TEXTS})
    assert plan_legal.parts(config, "mine") == ["a", "z"]
    assert [Path(one).stem for one in plan_legal.records(config, "mine")] == ["a", "z"]
    assert plan_legal.part_files(config, SOURCES, "mine", "a") == ["texts"]
    assert plan_legal.part_files(config, SOURCES, "mine", "z") == [
        "results/sources/judgments/j.zip"
    ]


def test_a_reader_is_told_its_own_options_only(here):
    config = configured({"z": HUDOC, "a": TEXTS})
    told = plan_legal.part_options(config, "mine", "z")
    assert told == ["format", "documents", "no_finding", "encoding"]
    assert plan_legal.part_options(config, "mine", "a") == ["format", "no_finding", "encoding"]


def test_findings_are_in_the_order_that_build_cases_reads(here):
    config = configured({"z": HUDOC, "a": TEXTS})
    names = plan_legal.attributes(config, "mine")
    found = [Path(one) for one in plan_legal.findings(config, "mine")]
    assert [(one.parent.name, one.stem) for one in found] == [
        (part, name) for part in ("a", "z") for name in names
    ]
    assert plan_legal.names_of_findings(config, "mine") == [one.stem for one in found]


def test_tables_of_readers_and_attributes(here):
    config = configured({"x": {"format": "scdb", "files": ["texts"]}}, kind="scotus")
    assert "resources/legal/scdb_issue_areas.csv" in plan_legal.part_tables(config, "mine", "x")
    assert plan_legal.attribute_tables(config, "mine", "respondent_type") == [
        "resources/legal/scdb_respondents.csv"
    ]
    assert plan_legal.attribute_module(config, "mine", "respondent_type").endswith(
        "respondent_type"
    )


@pytest.mark.parametrize(
    ("parts", "more", "match"),
    [
        ({"a": {"format": "hudoc_text"}}, {}, "parts.a names neither files nor sources"),
        ({"a": TEXTS}, {"kind": "cail"}, "is read as hudoc_text, which is ecthr"),
        ({"a": TEXTS}, {"tokenizers": ["bert"]}, "tokenizers.0 is bert, which is none of the"),
        (
            {"a": {"format": "hudoc_text", "files": ["nowhere"]}},
            {},
            "legal.datasets.mine.parts.a.files.0 is nowhere, and there is no such",
        ),
    ],
)
def test_configurations_that_cannot_be(here, parts, more, match):
    with pytest.raises(InputError, match=match):
        plan.check_files(configured(parts, **more))


def test_legal_cases_alone_are_enough(here):
    config = configured({"a": TEXTS})
    plan.check_files(config)
    assert plan.pages(config) == ["slguset", "legal_cases"]
    assert "<results>/legal/mine/README.md" in plan.other_files(config, [])
    assert not plan_legal.page_files(configured_without())


def test_each_training_of_the_page_has_its_history_and_data_set(here):
    one = {"kind": "linear", "datasets": ["mine"], "seeds": 2}
    one |= {"objectives": ["erm", "group_dro"], "attributes": ["applicant_gender"]}
    config = configured({"a": TEXTS}, classifiers={"linear": one})
    files = plan_legal.classifiers_page_files(config)
    assert files["histories"] == [
        "<results>/legal/mine/history/linear/erm/none/all.parquet",
        "<results>/legal/mine/history/linear/group_dro/applicant_gender/all.parquet",
    ]
    assert plan_legal.classifiers_page_options(config)["trainings"] == ["mine", "mine"]
    assert files["bins"] == ["<results>/tables/legal_mine_calibration_bins.csv"]
    assert files["group_scores"] == ["<results>/tables/legal_mine_group_scores.csv"]
    assert not plan_legal.classifiers_page_files(configured({"a": TEXTS}))


def configured_without() -> dict:
    return complete({}, read_schema(SCHEMA))


def test_only_fairlex_own_files_meet_the_published_sizes(here):
    fairlex = {"format": "fairlex", "sources": ["judgments"]}
    assert plan_legal.is_published(configured({"a": fairlex}), "mine")
    assert not plan_legal.is_published(configured({"a": fairlex, "b": TEXTS}), "mine")


def test_an_audit_counts_once_its_sheets_are_back(here):
    config = configured({"a": TEXTS}, audit={"filled": "audit"})
    folder = Path("audit/mine/applicant_gender")
    folder.mkdir(parents=True)
    assert plan_legal.audited(config, "mine") == ([], [])
    (folder / "mine.xlsx").touch()
    assert plan_legal.audited(config, "mine") == ([], [])  # nobody knows what was drawn
    (folder / "handed_out.csv").touch()
    (folder / "~$mine.xlsx").touch()
    lists, sheets = plan_legal.audited(config, "mine")
    assert lists == [str(folder / "handed_out.csv")]
    assert sheets == [str(folder / "mine.xlsx")]
    assert plan_legal.audit_table(config, "mine") == ["<results>/tables/legal_mine_audit.csv"]
    assert plan_legal.handed_out(config, "mine", "applicant_age") == []


def test_the_card_names_its_sources(here):
    config = configured({"a": TEXTS, "z": HUDOC})
    assert plan_legal.card_options(config, SOURCES, "mine") == {
        "name": "",
        "sources": ["texts", "judgments (CC0)"],
    }
