import re

import pytest
from huggingface_hub import DatasetCard

from evenhand.core.tables import read_table, write_tables
from evenhand.legal.findings import Finding
from evenhand.legal.read_audit import TABLE
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.report.pages.legal_cases import describe_shift
from evenhand.report.write_legal_cards import write_legal_cards
from expected import check_expected
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
        dataset="mine",
        permutations=100,
        **options,
    )
    template = repository / "workflow/evenhand/report/cards/legal_card.md.jinja"
    return {
        **{"data": [data], "tables": [folder / "tables"], "datasets": ["mine"]},
        **{"titles": [kind], "sources": ["hudoc, rmu"]},
        **{"template": template, "out": [folder / "README.md"]},
    }


@pytest.fixture
def arguments(tmp_path, repository):
    return made(tmp_path, repository, "ecthr", CASES)


def text_of(arguments):
    return re.sub(r"\s+", " ", arguments["out"][0].read_text(encoding="utf-8"))


def test_the_header_is_the_hubs(arguments):
    counts = write_legal_cards(**arguments | {"titles": ['Our "cases": one']})
    assert counts == {"mine": 5}
    head = DatasetCard.load(arguments["out"][0]).data.to_dict()
    assert head["language"] == ["en"]
    assert head["license"] == "other"
    assert head["pretty_name"] == 'Our "cases": one'
    assert head["size_categories"] == ["n<1K"]
    assert head["task_categories"] == ["text-classification"]
    assert head["task_ids"] == ["multi-label-classification"]
    files = [{"split": "cases", "path": "mine.parquet"}]
    assert head["configs"] == [{"config_name": "default", "data_files": files}]


def test_the_least_card_names_its_limits(arguments):
    write_legal_cards(**arguments)
    check_expected("cards/legal.md", arguments["out"][0].read_text(encoding="utf-8"))


def test_findings_and_audit(tmp_path, repository):
    one = record(1, text=("He was born.",))
    pairs = [(one, Finding("male", "pronouns", 0.9, (evidence(one, "He"),)))]
    findings = write_found(tmp_path, pairs)[1]
    arguments = made(tmp_path, repository, "ecthr", CASES, findings=findings)
    audit = tmp_path / "mine"
    none = {**AUDITED, "scope": "no_values", "rule": None, "cases": 1}
    none |= dict.fromkeys(("answered", "right", "wrong"), 0)
    none |= dict.fromkeys(("precision", "low", "high"))
    write_tables(audit, [(TABLE, [AUDITED, none])])
    write_legal_cards(**arguments, audits=[audit], published=["mine"])
    check_expected("cards/legal_audited.md", arguments["out"][0].read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("kind", "part", "tasks"),
    [
        ("scotus", "reasons and disposition too", ["multi-class-classification"]),
        ("cail", "one label of a case", ["multi-class-classification"]),
        ("fscs", "one label of a case", None),  # the hub has no name of a binary task
    ],
)
def test_other_kinds(tmp_path, repository, kind, part, tasks):
    arguments = made(tmp_path, repository, kind, [{}, {"language": None}])
    write_legal_cards(**arguments)
    assert part in text_of(arguments)
    assert DatasetCard.load(arguments["out"][0]).data.to_dict().get("task_ids") == tasks
    assert ("none` are cases" in text_of(arguments)) is False


def test_the_card_counts_shifts_as_the_page_does(tmp_path, repository):
    cases = [
        {"labels": [label], "split": split, "applicant_gender": "male"}
        for label, split in (("3", "train"), ("6", "test"))
        for _ in range(20)
    ]
    arguments = made(tmp_path, repository, "ecthr", cases)
    write_legal_cards(**arguments)
    shift = describe_shift(read_table(tmp_path / "tables/shift.csv"))
    assert (
        0 < len(shift["significant"]) <= shift["measured"] < len(shift["rows"])
    )  # groups without cases
    counts = (
        f"in {len(shift['significant'])} of {shift['measured']} comparisons of train, dev and test"
    )
    assert counts in text_of(arguments)


def test_the_card_has_copies_in_test_and_labels_that_go_with_attributes(tmp_path, repository):
    cases = [
        {"labels": [label], "applicant_gender": gender}
        for label, gender in (("3", "male"), ("6", "female"))
        for _ in range(20)
    ]
    copies = [{"split": "test", "duplicate_of": f"ecthr-{number}"} for number in (1, 42)]
    arguments = made(tmp_path, repository, "ecthr", [*cases, {"split": "test"}, *copies])
    write_legal_cards(**arguments)
    shown = text_of(arguments).partition("## What it shows ")[2]
    assert shown.startswith(
        "In ecthr, 1 of 3 test texts is a near duplicate of training texts, which the data’s own"
        " split separates: results on it say little about new texts. Labels go with attributes in"
        " the training cases. ecthr, Applicant's gender: 100.0 % of female ("
    )
    assert "| near duplicates, test of train | 1 of 3 |" in text_of(arguments)


def test_no_case_at_all(tmp_path, repository):
    assert write_legal_cards(**made(tmp_path, repository, "ecthr", [])) == {"mine": 0}


def test_each_data_set_has_its_own_card(tmp_path, repository):
    both = []
    for name, kind in (("mine", "ecthr"), ("other", "scotus")):
        (tmp_path / name).mkdir()
        both.append(made(tmp_path / name, repository, kind, [{}]) | {"datasets": [name]})
    lists = both[0].keys() - {"template"}
    joined = {key: [one for part in both for one in part[key]] for key in lists}
    audit = tmp_path / "audits" / "mine"
    write_tables(audit, [(TABLE, [AUDITED])])
    more = {"template": both[0]["template"], "audits": [audit], "published": ["other"]}
    assert write_legal_cards(**joined | more) == {"mine": 1, "other": 1}
    mine, other = (path.read_text(encoding="utf-8") for path in joined["out"])
    assert "# ecthr: 1 cases" in mine and "### Checked by people" in mine
    assert "built anew from the records" in mine
    assert "# scotus: 1 cases" in other and "### Checked by people" not in other
    assert "The SCOTUS data set of FairLex" in other


def test_the_folder_opens_with_datasets(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets  # reads the environment when it is imported

    write_legal_cards(**arguments)
    folder = tmp_path / "hub"
    (folder / "attributes").mkdir(parents=True)
    arguments["data"][0].rename(folder / "mine.parquet")
    arguments["out"][0].rename(folder / "README.md")
    (folder / "attributes/other.parquet").write_bytes(b"of another kind")
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert list(found) == ["cases"]
    assert found["cases"].num_rows == 5
    test = found["cases"].filter(lambda case: case["split"] == "test")
    assert [case["applicant_gender"] for case in test] == ["male", "male"]
    assert found["cases"][0]["text"] == ["a violation of Article 3"]
