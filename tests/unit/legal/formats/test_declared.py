"""Data sets declared by columns: what is read, and that nothing unusable is used or lost."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from evenhand.legal.attributes import applicant_gender
from evenhand.legal.declaration import read_dataset
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.read_cases import read_cases
from evenhand.legal.records import read_records
from evenhand.plan_legal import expand
from harness import REPOSITORY

BIOS = """
text: bio
label: {column: job, task: multi_class}
attributes: {gender: {column: gender}}
"""


def rows(n=8, **others):
    """Short biographies of two jobs and two genders."""
    return [
        {"bio": f"A life, number {i}.", "job": ["nurse", "surgeon"][i % 2],
         "gender": ["F", "M"][i // 2 % 2]} | {key: value[i % len(value)]
                                             for key, value in others.items()}
        for i in range(n)
    ]  # fmt: skip


def lines(path, *values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def read(tmp_path, declared, *files):
    """The records, data set, counts and quarantine of files that a configuration declares."""
    files = [str(file) for file in files]
    one = {"files": files} | yaml.safe_load(declared)
    config = expand(complete({"text": {"datasets": {"bios": one}}}, read_schema(SCHEMA)))
    bios = config["legal"]["datasets"]["bios"]
    out = {key: tmp_path / f"{key}.out" for key in ("records", "quarantine", "counts")}
    paths = [tmp_path / file for file in bios["parts"]["rows"]["files"]]
    read_cases(
        files=paths,
        out=out["records"],
        quarantine=out["quarantine"],
        counts=out["counts"],
        format="declared",
        declaration=bios["declaration"],
    )
    return (
        list(read_records(out["records"])),
        read_dataset(out["records"]),
        json.loads(out["counts"].read_text()),
        pq.read_table(out["quarantine"]).to_pylist(),
    )


def test_rows_become_records(tmp_path):
    data = rows(n_skills=[1, 5, None, 12], set=["train", "valid", "test", "train"])
    declared = """
text: bio
label: {column: job, task: multi_class}
attributes: {gender: {column: gender}, skills: {column: n_skills, bins: [0, 5, 10]}}
split: {column: set}
language: en
"""
    records, dataset, counts, quarantine = read(
        tmp_path, declared, lines(tmp_path / "a.jsonl", *data)
    )
    assert dataset.labels == ("nurse", "surgeon") and dataset.task == "multi_class"
    assert {one.name: one.groups for one in dataset.attributes} == {
        "gender": ("F", "M"),
        "skills": ("0 to <5", "5 to <10", "≥10"),
    }
    assert [one.split for one in records[:3]] == ["train", "dev", "test"]
    assert records[1].metadata == {"gender": "F", "skills": "5 to <10"}
    assert records[2].metadata == {"gender": "M"}
    assert records[0].text == ("A life, number 0.",) and records[0].language == "en"
    assert counts["labels"] == {"nurse": 4, "surgeon": 4} and not quarantine


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "json"])
def test_the_form_of_the_file_does_not_matter(tmp_path, suffix):
    data = rows()
    expected = read(tmp_path, BIOS, lines(tmp_path / "a.jsonl", *data))[:2]
    file = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(data), file)
    elif suffix == "json":
        file.write_text(json.dumps(data))
    else:
        by = {"csv": ",", "tsv": "\t"}[suffix]
        cells = [[f'"{value}"' for value in row.values()] for row in data]
        file.write_text("\n".join(by.join(row) for row in [[*data[0]], *cells]) + "\n")
    records, dataset, *_ = read(tmp_path, BIOS, file)
    assert dataset == expected[1]
    seen = [(one.case_id, one.text, one.labels, one.metadata) for one in records]
    assert seen == [(one.case_id, one.text, one.labels, one.metadata) for one in expected[0]]


def test_overlapping_groups_are_an_attribute_each(tmp_path):
    data = rows(male=[0.0, 0.5, 1, None], identity_muslim=["no", "yes", "true", "0"])
    declared = """
text: bio
label: {column: job, task: binary}
attributes: {identity: {columns: [male, identity_muslim], overlapping: true}}
"""
    records, dataset, *_ = read(tmp_path, declared, lines(tmp_path / "a.jsonl", *data))
    assert [(one.name, one.groups) for one in dataset.attributes] == [
        ("identity_male", ("male", "not male")),
        ("identity_muslim", ("identity_muslim", "not identity_muslim")),
    ]
    assert [one.metadata.get("identity_male") for one in records[:4]] == [
        *("not male", "male", "male", None),
    ]


def test_groups_that_do_not_overlap_are_one_attribute(tmp_path):
    data = rows(black=[1, 0, 1, 0], white=[0, 1, 1, 0])
    declared = """
text: bio
label: {column: job, task: multi_class}
attributes: {race: {columns: [black, white]}}
"""
    records, dataset, counts, quarantine = read(
        tmp_path, declared, lines(tmp_path / "a.jsonl", *data)
    )
    assert dataset.attributes[0].groups == ("black", "white")
    assert [one.metadata.get("race") for one in records[:4]] == ["black", "white", None, None]
    assert counts["noted"] == {"no_group": 2}
    assert quarantine[0]["detail"] == "race: in black and white"


def test_several_labels(tmp_path):
    data = rows(topics=[["tax", "farm"], [], ["farm"]], cell=["tax; farm", "", "farm"],
                tax=[1, 0, 0], farm=[True, False, True])  # fmt: skip
    file = lines(tmp_path / "a.jsonl", *data)
    for label in ("column: topics", "column: cell", "columns: [tax, farm]"):
        declared = BIOS.replace("column: job, task: multi_class", f"{label}, task: multi_label")
        records, dataset, *_ = read(tmp_path, declared, file)
        assert {*dataset.labels} == {"farm", "tax"}
        assert [{*one.labels} for one in records[:3]] == [{"tax", "farm"}, set(), {"farm"}]


def test_a_number_becomes_a_binary_label(tmp_path):
    data = rows(toxicity=[0.1, 0.5, 0.9, None])
    declared = BIOS.replace(
        "column: job, task: multi_class", "column: toxicity, task: binary, bins: [0.5]"
    )
    records, dataset, counts, _ = read(tmp_path, declared, lines(tmp_path / "a.jsonl", *data))
    assert dataset.labels == ("<0.5", "≥0.5")
    assert [one.labels for one in records[:4]] == [("<0.5",), ("≥0.5",), ("≥0.5",), None]
    assert counts["labels"]["unknown"] == 2


def test_values_are_compared_as_text(tmp_path):
    data = rows(gender=[1, 1.0, "1", True, False, 2])
    records, dataset, *_ = read(tmp_path, BIOS, lines(tmp_path / "a.jsonl", *data))
    assert dataset.attributes[0].groups == ("1", "2", "False", "True")
    assert [one.metadata["gender"] for one in records[:4]] == ["1", "1", "1", "True"]


def test_texts_of_several_columns_lists_and_lines(tmp_path):
    data = [row | {"title": "One", "parts": ["Two\n\nThree", "Four"]} for row in rows()]
    declared = BIOS.replace("text: bio", "text: [title, parts]")
    records, *_ = read(tmp_path, declared, lines(tmp_path / "a.jsonl", *data))
    assert records[0].text == ("One", "Two", "Three", "Four")
    assert len({one.case_id for one in records}) == len(data)


def test_splits_of_files_and_folders(tmp_path):
    for name in ("train.jsonl", "validation/a.jsonl", "more.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        lines(tmp_path / name, *rows(day=["2020-01-31T10:00:00", "yesterday"]))
    declared = BIOS + "split: {date: day}"
    names = [tmp_path / name for name in ("train.jsonl", "validation", "more.jsonl")]
    records, _, counts, _ = read(tmp_path, declared, *names)
    assert [one.split for one in records] == ["train"] * 8 + ["dev"] * 8 + [None] * 8
    assert str(records[0].date) == "2020-01-31" and records[1].date is None
    assert counts["noted"] == {"bad_date": 12}


def test_a_folder_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "bio": datasets.Value("string"),
            "job": datasets.ClassLabel(names=["nurse", "surgeon"]),
            "topics": datasets.Sequence(datasets.ClassLabel(names=["a", "b"])),
            "gender": datasets.Value("string"),
        }
    )
    data = [row | {"job": i % 2, "topics": [0, 1][: i % 3]} for i, row in enumerate(rows())]
    made = datasets.Dataset.from_list(data, features=features)
    datasets.DatasetDict({"train": made, "validation": made}).save_to_disk(tmp_path / "saved")
    (tmp_path / "saved/train/cache-1.arrow").write_bytes(b"left by map()")
    records, dataset, *_ = read(tmp_path, BIOS, tmp_path / "saved")
    assert dataset.labels == ("nurse", "surgeon")
    assert [one.split for one in records] == ["train"] * 8 + ["dev"] * 8
    assert records[1].labels == ("surgeon",)
    several = BIOS.replace("column: job, task: multi_class", "column: topics, task: multi_label")
    records, dataset, *_ = read(tmp_path, several, tmp_path / "saved")
    assert records[2].labels == ("a", "b") and dataset.task == "multi_label"
    made.to_parquet(tmp_path / "hub.parquet")
    assert read(tmp_path, BIOS, tmp_path / "hub.parquet")[1].labels == ("nurse", "surgeon")


def test_bad_rows_have_a_reason(tmp_path):
    data = rows(12, key=list("abcdefghijkl"))
    data[0]["bio"] = float("nan")
    data[1]["bio"] = 12.5
    data[2]["job"] = "pilot"
    data[3]["set"] = "holdout"
    data[4]["key"] = None
    data[5]["key"] = "g"
    data[7]["job"] = None
    data[8]["gender"] = "n/a"
    file = lines(tmp_path / "a.jsonl", *data)
    with file.open("a") as out:
        out.write('{"bio": \n')
    declared = """
text: bio
label: {column: job, task: multi_class, labels: [surgeon, nurse]}
attributes: {gender: {column: gender}}
split: {column: set}
id: key
"""
    records, dataset, counts, quarantine = read(tmp_path, declared, file)
    assert dataset.labels == ("surgeon", "nurse")
    assert counts["left_out"] == {
        **{"broken_json": 1, "duplicate_case": 1, "no_id": 1, "no_text": 1},
        **{"outside_labels": 1, "text_is_number": 1, "unknown_split": 1},
    }
    assert counts["read"] == 13 and counts["labels"]["unknown"] == 1
    assert [one.case_id for one in records] == list("ghijkl")
    place = {row["reason"]: row["position"] for row in quarantine}
    assert (place["no_text"], place["text_is_number"], place["outside_labels"]) == (1, 2, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "bio: [text]",
            "has no column 'text', which `text` names; name one of its columns: bio, ",
        ),
        ("gender: {column: sex}", "has no column 'sex', which `attributes.gender` names"),
        ("one gender", r"the attribute gender has one value only \(F\)"),
        ("three jobs", r"the label job has 3 values \(a, b, c\), and a binary one has two"),
        ("one job", "the label job has too few values to learn from: nurse"),
        ("many jobs", "the label job has 201 values, so it is no class"),
        ("many groups", "the attribute gender has 101 groups; give a number bins"),
        ("numbers", "no case could be read: text_is_number 8 times"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, change, message):
    data, declared = rows(), BIOS
    if change == "one gender":
        data = rows(gender=["F"])
    elif change == "three jobs":
        data, declared = rows(job=["a", "b", "c"]), BIOS.replace("multi_class", "binary")
    elif change == "one job":
        data = rows(job=["nurse"])
    elif change == "many jobs":
        data = rows(402, job=[f"j{i}" for i in range(201)])
    elif change == "many groups":
        data = rows(202, gender=[f"g{i}" for i in range(101)])
    elif change == "numbers":
        data = rows(bio=["1", 2.5])
    else:
        old = "text: bio" if change.startswith("bio") else "gender: {column: gender}"
        declared = BIOS.replace(old, change if old != "text: bio" else "text: text")
    with pytest.raises(InputError, match=message):
        read(tmp_path, declared, lines(tmp_path / "a.jsonl", *data))


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (BIOS.replace("column: gender", "column: gender, columns: [a]"), "columns has no effect"),
        (BIOS.replace("{column: gender}", "{}"), "text.datasets.bios.attributes.gender needs"),
        (BIOS.replace("gender: {", "language: {"), "it must be .* no name of a column"),
        (BIOS.replace("task: multi_class", "task: multi_class, bins: [1], labels: [a]"),
         "label.labels has no effect beside bins"),
        (BIOS.replace("{column: gender}", "{columns: [A b, a-b], overlapping: true}"),
         "two attributes would be called gender_a_b"),
        (BIOS.replace("task: multi_class", "task: regression"), "allowed are binary, multi_class"),
    ],
)  # fmt: skip
def test_a_declaration_is_checked_before_any_job(tmp_path, declared, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, declared, lines(tmp_path / "a.jsonl", *rows()))


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"text.datasets.bios.files.0 is b\*.jsonl, and there"):
        read(tmp_path, BIOS, "b*.jsonl")
    lines(tmp_path / "b2.jsonl", *rows()), lines(tmp_path / "b1.jsonl", *rows())
    records, *_ = read(tmp_path, BIOS, "b*.jsonl")
    assert [one.source for one in records] == ["b1.jsonl"] * 8 + ["b2.jsonl"] * 8


def test_other_encodings_are_decoded_and_broken_bytes_noted(tmp_path):
    cells = [f"né en {i},{['nurse', 'surgeon'][i % 2]},{['F', 'M'][i // 2 % 2]}" for i in range(8)]
    text = "\n".join(["bio,job,gender", *cells])
    (tmp_path / "latin.csv").write_bytes(text.encode("latin-1"))
    (tmp_path / "utf8.csv").write_bytes(text.encode() + b"\n\xff,nurse,F\n")
    for name, noted in (("latin", {}), ("utf8", {"undecodable_bytes": 1})):
        records, _, counts, _ = read(tmp_path, BIOS, tmp_path / f"{name}.csv")
        assert records[0].text == ("né en 0",) and counts["noted"] == noted


def test_a_module_finds_the_group_in_the_text(tmp_path):
    data = rows()
    for number, row in enumerate(data):
        row["bio"] = f"The applicant, {['Mr', 'Ms'][number % 2]} A. B., lives in Town {number}."
    declared = """
text: bio
label: {column: job, task: multi_class}
attributes: {sex: {extract: applicant_gender}}
"""
    _, dataset, counts, _ = read(tmp_path, declared, lines(tmp_path / "a.jsonl", *data))
    (sex,) = dataset.attributes
    assert (sex.name, sex.groups, sex.unknown) == ("sex", ("male", "female"), "n/a")
    assert not counts["noted"]
    tables = [REPOSITORY / f"resources/legal/{name}.csv" for name in applicant_gender.TABLES]
    given = {"records": [tmp_path / "records.out"], "tables": tables}
    found = find_attributes(**given, modules=["applicant_gender"], out=tmp_path / "found")
    assert found["sex"]["values"] == {"female": 4, "male": 4}


def test_a_declared_label_may_be_none_and_several_labels_a_number(tmp_path):
    label = "text: bio\nattributes: {sex: {column: gender}}\nlabel: "
    data = lines(tmp_path / "a.jsonl", *rows(kind=["none", "toxic"], many=[2.0, [1.0, 2.0]]))
    one = label + "{column: kind, task: binary, labels: [none, toxic]}"
    records, dataset, *_ = read(tmp_path, one, data)
    assert [one.labels for one in records[:2]] == [("none",), ("toxic",)]
    with pytest.raises(InputError, match=r"has 1 values .toxic.*declare the values under labels"):
        read(tmp_path, label + "{column: kind, task: binary}", data)
    records, dataset, *_ = read(tmp_path, label + "{column: many, task: multi_label}", data)
    assert dataset.labels == ("1", "2") and [*records[0].labels] == ["2"]
