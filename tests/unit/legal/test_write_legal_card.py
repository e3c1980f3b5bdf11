import re

import pytest
from huggingface_hub import DatasetCard

from evenhand.errors import InputError
from evenhand.legal.check_leakage import check_leakage
from evenhand.legal.count_rules import count_rules
from evenhand.legal.describe_cases import describe_cases
from evenhand.legal.findings import Finding
from evenhand.legal.measure_lengths import measure_lengths
from evenhand.legal.measure_shift import measure_shift
from evenhand.legal.write_legal_card import write_legal_card
from unit.legal.made_cases import evidence, record, write_cases, write_found

CASES = [
    {"labels": ["3", "6"], "applicant_gender": "male", "text": ["a violation of Article 3"]},
    {"labels": [], "applicant_gender": "female", "text": ["word " * 20] * 40},
    {"labels": None, "text": ["He was born."]},
    *[{"labels": ["3"], "split": "test", "applicant_gender": "male"}] * 2,
]

AUDIT = """dataset,attribute,scope,rule,cases,answered,right,wrong,cannot_tell,precision,low,high
mine,applicant_gender,rule,pronouns,4,3,2,1,0,0.666667,0.207660,0.938507
mine,applicant_gender,no_values,,1,0,0,0,0,,,
"""


@pytest.fixture
def arguments(tmp_path, repository):
    return made(tmp_path, repository, "ecthr", CASES)


def made(folder, repository, kind, cases):
    data = write_cases(folder / "d.parquet", kind, cases)
    about = {"kind": kind, "dataset": "mine"}
    tables = {name: folder / f"{name}.csv" for name in ("sizes", "groups", "labels")}
    describe_cases(data=data, **tables, **about)
    template = repository / "workflow/evenhand/legal/templates/data_card.md.jinja"
    out = folder / "README.md"
    return {"data": data, **tables, **about, "template": template, "out": out}


def more(arguments, repository):
    """The tables that may be there."""
    folder, data = arguments["out"].parent, arguments["data"]
    about = {"kind": arguments["kind"], "dataset": "mine"}
    names = ("shift", "lengths", "leakage", "rules", "audit")
    tables = {name: folder / f"{name}.csv" for name in names}
    measure_shift(data=data, out=tables["shift"], resamples=20, **about)
    measure_lengths(data=data, out=tables["lengths"], **about)
    words = repository / "resources/legal/outcome_words.csv"
    check_leakage(data=data, words=words, out=tables["leakage"], resamples=20, **about)
    one = record(1, text=("He was born.",))
    pairs = [(one, Finding("male", "pronouns", 0.9, (evidence(one, "He"),)))]
    findings = [write_found(folder, pairs)[1]]
    count_rules(findings=findings, attributes=["applicant_gender"], out=tables["rules"], **about)
    tables["audit"].write_text(AUDIT, encoding="utf-8")
    return tables


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


def test_the_least_card_says_what_nobody_checked(arguments):
    write_legal_card(**arguments)
    text = text_of(arguments)
    for part in (
        "# ECtHR: 5 cases",
        "It is another data set than FairLex's",
        "| 3 | 1 | 0 | 2 | 3 |",
        "| applicant_gender | male | 1 | 0 | 2 | 3 | 60.0% |",
        "does not tell the label (`unknown`): 1.",
        "Nobody has checked a sample",
        "No licence of the whole has been stated",
        "Gender is the Court's choice of words",
        "the applicant_gender is not known (1 of 5, 20.0%)",
        "Anything about defendant_state: it is known of no case.",
        "fewer than 100 test cases are of male, female",
        "Anything about the outcome of 1 of 5 cases",
    ):
        assert part in text
    for absent in ("Shift of the labels", "### Length", "Words that may tell", "None"):
        assert absent not in text


def test_everything_that_was_measured(arguments, repository):
    write_legal_card(
        **arguments, **more(arguments, repository), sources=["hudoc", "rmu"], notice="For show."
    )
    text = text_of(arguments)
    for part in (
        "> **Note.** For show.",
        "The cases come from: hudoc, rmu.",
        "| applicant_gender | pronouns | male | 1 | 100.0% | 0.90 |",
        "| applicant_gender | pronouns | 4 | 3 | 2 | 1 | 0 | 66.7% | 20.8% to 93.9% |",
        "| applicant_gender | all no values | 1 | 0 | 0 | 0 | 0 | – | – to – |",
        "| all cases | 2 | 2 |",
        "which the published encoder does not read",
        "| `violations? of Article` | en | 1 | 20.0% |",
    ):
        assert part in text
    assert "Nobody has checked" not in text
    assert "was checked by people" not in text


def test_fairlexs_own(arguments):
    write_legal_card(**arguments, published=True)
    text = text_of(arguments)
    assert "The ECtHR data set of FairLex" in text
    assert "these are other cases" not in text


@pytest.mark.parametrize(
    ("kind", "said"), [("scotus", "reasons and disposition too"), ("cail", "one label of a case")]
)
def test_other_kinds(tmp_path, repository, kind, said):
    arguments = made(tmp_path, repository, kind, [{}, {"language": None}])
    write_legal_card(**arguments, **more_of_kind(arguments, repository))
    assert said in text_of(arguments)
    assert ("none` are cases" in text_of(arguments)) is False


def more_of_kind(arguments, repository):
    folder, about = arguments["out"].parent, {"kind": arguments["kind"], "dataset": "mine"}
    words = repository / "resources/legal/outcome_words.csv"
    check_leakage(data=arguments["data"], words=words, out=folder / "k.csv", resamples=20, **about)
    measure_lengths(data=arguments["data"], out=folder / "l.csv", **about)
    return {"leakage": folder / "k.csv", "lengths": folder / "l.csv"}


def test_no_case_at_all(tmp_path, repository):
    arguments = made(tmp_path, repository, "ecthr", [])
    assert write_legal_card(**arguments, **more(arguments, repository)) == {"cases": 0}


def test_tables_of_another_data_set(arguments, tmp_path, repository):
    (tmp_path / "other").mkdir()
    other = made(tmp_path / "other", repository, "ecthr", CASES[:2])
    with pytest.raises(InputError, match="no table of a data set of 5 cases"):
        write_legal_card(**arguments | {"sizes": other["sizes"]})
    with pytest.raises(InputError, match="is about the data set mine"):
        write_legal_card(**arguments | {"dataset": "yours"})
    arguments["groups"].write_text("dataset,attribute\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column split"):
        write_legal_card(**arguments)


def test_the_folder_opens_with_datasets(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets  # reads the environment when it is imported

    write_legal_card(**arguments)
    arguments["data"].rename(tmp_path / "mine.parquet")
    (tmp_path / "attributes").mkdir()
    (tmp_path / "attributes/other.parquet").write_bytes(b"of another kind")
    found = datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert list(found) == ["cases"]
    assert found["cases"].num_rows == 5
    test = found["cases"].filter(lambda case: case["split"] == "test")
    assert [case["applicant_gender"] for case in test] == ["male", "male"]
    assert found["cases"][0]["text"] == ["a violation of Article 3"]
