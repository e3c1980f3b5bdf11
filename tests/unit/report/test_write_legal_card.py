import re

import pytest
from huggingface_hub import DatasetCard

from evenhand.core.tables import write_tables
from evenhand.legal.findings import Finding
from evenhand.legal.read_audit import TABLE
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.report.write_legal_card import write_legal_card
from unit.legal.made_cases import evidence, record, write_cases, write_found

CASES = [
    {"labels": ["3", "6"], "applicant_gender": "male", "text": ["a violation of Article 3"]},
    {"labels": [], "applicant_gender": "female", "text": ["word " * 20] * 40},
    {"labels": None, "text": ["He was born."]},
    *[{"labels": ["3"], "split": "test", "applicant_gender": "male"}] * 2,
]

AUDITED = {"dataset": "mine", "attribute": "applicant_gender", "scope": "rule", "rule": "pronouns"}
AUDITED |= dict(
    zip(["cases", "answered", "right", "wrong", "cannot_tell"], [4, 3, 2, 1, 0], strict=True)
)
AUDITED |= {"precision": 0.666667, "low": 0.207660, "high": 0.938507}


def made(folder, repository, kind, cases, **options):
    """The arguments of the stage for these cases."""
    data = write_cases(folder / "d.parquet", kind, cases)
    tables = repository / "resources/legal"
    tabulate_cases(
        data=data,
        claims=tables / "published_cross.csv",
        words=tables / "outcome_words.csv",
        out=folder / "tables",
        kind=kind,
        dataset="mine",
        resamples=20,
        **options,
    )
    template = repository / "workflow/evenhand/report/cards/legal_card.md.jinja"
    given = {"data": data, "tables": folder / "tables", "kind": kind, "dataset": "mine"}
    return given | {"template": template, "out": folder / "README.md"}


@pytest.fixture
def arguments(tmp_path, repository):
    return made(tmp_path, repository, "ecthr", CASES)


def text_of(arguments):
    return re.sub(r"\s+", " ", arguments["out"].read_text(encoding="utf-8"))


def test_the_header_is_the_hubs(arguments):
    counts = write_legal_card(**arguments, name='Our "cases": one', licence="cc-by-nc-sa-4.0")
    assert counts == {"cases": 5}
    head = DatasetCard.load(arguments["out"]).data.to_dict()
    assert head["language"] == ["en"]
    assert head["license"] == "cc-by-nc-sa-4.0"
    assert head["pretty_name"] == 'Our "cases": one'
    assert head["size_categories"] == ["n<1K"]
    assert head["task_categories"] == ["text-classification"]
    assert head["task_ids"] == ["multi-label-classification"]
    files = [{"split": "cases", "path": "mine.parquet"}]
    assert head["configs"] == [{"config_name": "default", "data_files": files}]


def test_the_least_card_names_its_limits(arguments):
    write_legal_card(**arguments)
    text = text_of(arguments)
    for part in (
        "# ECtHR: 5 cases",
        "It is another data set than FairLex's",
        "| cases, train | 3 | 9000 | not run |",
        "| 3 | 1 | 0 | 2 | 3 |",
        "| applicant_gender | male | 1 | 0 | 2 | 3 | 60.0% |",
        "does not state (`unknown`): 1.",
        "No sample of the attributes",
        "No licence of the whole has been stated",
        "Gender is the Court's choice of words",
        "whose applicant_gender is unknown (1 of 5, 20.0%)",
        "Anything about defendant_state: it is known of no case.",
        "there are fewer than 100 test cases of male, female",
        "Anything about the outcome of 1 of 5 cases",
        "Words of a case: 5 in the median, 800 at most;",
        "which the published encoder does not read",
        "Paragraphs of a case: 1 in the median, 40 at most.",
        "| all cases | 2 | 2 |",
        "| `violations? of Article` | en | 1 | 20.0% |",
        "these are other cases",
    ):
        assert part in text, part
    assert "None" not in text and "How the attributes were found" not in text


def test_findings_audit_and_notes(tmp_path, repository):
    one = record(1, text=("He was born.",))
    pairs = [(one, Finding("male", "pronouns", 0.9, (evidence(one, "He"),)))]
    findings = {"findings": [write_found(tmp_path, pairs)[1]], "attributes": ["applicant_gender"]}
    arguments = made(tmp_path, repository, "ecthr", CASES, **findings)
    audit = tmp_path / "audit"
    none = {**AUDITED, "scope": "no_values", "rule": None, "cases": 1}
    none |= dict.fromkeys(("answered", "right", "wrong"), 0)
    none |= dict.fromkeys(("precision", "low", "high"))
    write_tables(audit, [(TABLE, [AUDITED, none])])
    write_legal_card(
        **arguments, audit=audit, sources=["hudoc", "rmu"], notice="For show.", published=True
    )
    text = text_of(arguments)
    for part in (
        "> **Note.** For show.",
        "The cases come from: hudoc, rmu.",
        "| applicant_gender | pronouns | male | 1 | 100.0% | 0.90 |",
        "| applicant_gender | pronouns | 4 | 3 | 2 | 1 | 0 | 66.7% | 20.8% to 93.9% |",
        "| applicant_gender | all no values | 1 | 0 | 0 | 0 | 0 | – | – to – |",
        "The ECtHR data set of FairLex",
    ):
        assert part in text, part
    for absent in ("No sample", "was checked by people", "these are other cases"):
        assert absent not in text


@pytest.mark.parametrize(
    ("kind", "part"), [("scotus", "reasons and disposition too"), ("cail", "one label of a case")]
)
def test_other_kinds(tmp_path, repository, kind, part):
    arguments = made(tmp_path, repository, kind, [{}, {"language": None}])
    write_legal_card(**arguments)
    assert part in text_of(arguments)
    assert ("none` are cases" in text_of(arguments)) is False


def test_no_case_at_all(tmp_path, repository):
    assert write_legal_card(**made(tmp_path, repository, "ecthr", [])) == {"cases": 0}


def test_the_folder_opens_with_datasets(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets  # reads the environment when it is imported

    write_legal_card(**arguments)
    folder = tmp_path / "hub"
    (folder / "attributes").mkdir(parents=True)
    arguments["data"].rename(folder / "mine.parquet")
    arguments["out"].rename(folder / "README.md")
    (folder / "attributes/other.parquet").write_bytes(b"of another kind")
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert list(found) == ["cases"]
    assert found["cases"].num_rows == 5
    test = found["cases"].filter(lambda case: case["split"] == "test")
    assert [case["applicant_gender"] for case in test] == ["male", "male"]
    assert found["cases"][0]["text"] == ["a violation of Article 3"]
