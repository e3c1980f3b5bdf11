"""Data sets declared by columns: what is read, and that nothing unusable is used or lost."""

import json
from pathlib import Path

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
from expected import check_expected
from unit.legal.made_records import json_lines, tables

BIOS = {
    "text": "bio",
    "label": {"column": "job", "task": "multi_class"},
    "attributes": {"gender": {"column": "gender"}},
}


def rows(n=8, **others):
    """Short biographies of two jobs and two genders; other columns repeat their values."""
    columns = {"job": ["nurse", "surgeon"], "gender": ["F", "F", "M", "M"]} | others
    texts = [{"bio": f"A life, number {i}."} for i in range(n)]
    return [row | {k: v[i % len(v)] for k, v in columns.items()} for i, row in enumerate(texts)]


def read(tmp_path, data, label=None, **declared):
    """Return records, data set, counts and quarantine of rows or files of a declared data set."""
    files = data
    if isinstance(data[0], dict):
        files = [json_lines(tmp_path / "a.jsonl", *data)]
    label = BIOS["label"] | (label or {})
    if "columns" in label:
        del label["column"]
    entry = BIOS | {"files": list(map(str, files)), "label": label} | declared
    config = expand(complete({"text": {"datasets": {"bios": entry}}}, read_schema(SCHEMA)))
    bios = config["legal"]["datasets"]["bios"]
    out = {key: tmp_path / f"{key}.out" for key in ("records", "quarantine", "counts")}
    read_cases(
        files=[tmp_path / file for file in bios["parts"]["rows"]["files"]],
        out=out["records"],
        quarantine=out["quarantine"],
        counts=out["counts"],
        format="declared",
        declaration=bios["declaration"],
        positive=label.get("positive"),
    )
    return (
        list(read_records(out["records"])),
        read_dataset(out["records"]),
        json.loads(out["counts"].read_text()),
        pq.read_table(out["quarantine"]).to_pylist(),
    )


def outcome(tmp_path, n=8, columns=None, label=None, **declared):
    """Return the data set, the records, the counts and the quarantine as lines."""
    columns = {
        name: [f"v{i}" for i in range(values)] if isinstance(values, int) else values
        for name, values in (columns or {}).items()
    }
    try:
        records, dataset, counts, quarantine = read(tmp_path, rows(n, **columns), label, **declared)
    except InputError as error:
        return [f"error: {error}".replace(f"{tmp_path}/", "")]
    lines = [f"{dataset.task}: {', '.join(dataset.labels)}"]
    lines += [f"{each.name}: {', '.join(each.groups)}" for each in dataset.attributes]
    lines += [
        f"{one.split} {one.language} {one.labels} {one.metadata} {one.text}" for one in records[:6]
    ]
    rejected = [f"{row['position']} {row['reason']}: {row['detail']}" for row in quarantine]
    return [*lines, str(counts), *rejected]


def test_declarations_and_what_is_read_of_them(tmp_path):
    cases = yaml.safe_load((Path(__file__).parent / "declared.yaml").read_text(encoding="utf-8"))
    lines = []
    for number, (name, case) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        lines += [f"## {name}", *outcome(folder, **case)]
    check_expected("formats/declared.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("suffix", ["csv", "semicolons.csv", "tsv", "parquet", "json"])
def test_the_form_of_the_file_does_not_matter(tmp_path, suffix):
    data = rows()
    records, dataset, *_ = read(tmp_path, data)
    file = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(data), file)
    elif suffix == "json":
        file.write_text(json.dumps(data))
    else:
        cells = [[*data[0]], *([f'"{value}"' for value in row.values()] for row in data)]
        separator = {"csv": ",", "semicolons.csv": ";", "tsv": "\t"}[suffix]
        file.write_text("\n".join(separator.join(row) for row in cells) + "\n")
    again, other, *_ = read(tmp_path, [file])
    assert other == dataset
    content = [
        [(r.case_id, r.text, r.labels, r.metadata) for r in each] for each in (records, again)
    ]
    assert content[0] == content[1]


def test_a_table_with_another_separator_is_named_so(tmp_path):
    (tmp_path / "a.csv").write_text("bio|job|gender\nA life|nurse|F\n")
    with pytest.raises(
        InputError, match=r"columns: bio\|job\|gender; separate cells by comma, semicolon or tab"
    ):
        read(tmp_path, [tmp_path / "a.csv"])


def test_splits_of_files_and_folders(tmp_path):
    (tmp_path / "validation").mkdir()
    for name in ("train", "validation/a", "more"):
        json_lines(tmp_path / f"{name}.jsonl", *rows(day=["2020-01-31T10:00:00", "yesterday"]))
    files = [tmp_path / name for name in ("train.jsonl", "validation", "more.jsonl")]
    records, _, counts, _ = read(tmp_path, files, split={"date": "day"})
    # without a split of its own a row needs a date
    assert [record.split for record in records] == ["train"] * 8 + ["dev"] * 8 + [None] * 4
    assert str(records[0].date) == "2020-01-31" and records[1].date is None
    assert (counts["noted"], counts["left_out"]) == ({"bad_date": 8}, {"no_date": 4})
    json_lines(tmp_path / "more.jsonl", *rows(day=[20200131, "2020-02-01 10:00"]))
    records, *_ = read(tmp_path, [tmp_path / "more.jsonl"], split={"date": "day"})
    assert {str(record.date) for record in records} == {"2020-01-31", "2020-02-01"}
    # seconds since 1970 are no dates, even where Python takes them for July 1582
    json_lines(tmp_path / "more.jsonl", *rows(day=["31/1/2020", "", 1582070400]))
    problem = r"no_date 8 times \(line 1 of more.jsonl: day is '31/1/2020', no date like 2024-05"
    with pytest.raises(InputError, match=problem):
        read(tmp_path, [tmp_path / "more.jsonl"], split={"date": "day"})


def test_a_folder_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets")
    labels = datasets.ClassLabel(names=["nurse", "surgeon"])
    topics = datasets.Sequence(datasets.ClassLabel(names=["a", "b"]))
    text = datasets.Value("string")
    features = datasets.Features({"bio": text, "job": labels, "gender": text, "topics": topics})
    data = rows(job=[0, 1], topics=[[], [0], [0, 1]])
    made = datasets.Dataset.from_list(data, features=features)
    folder = tmp_path / "saved"
    datasets.DatasetDict({"train": made, "validation": made}).save_to_disk(folder)
    (folder / "train/cache-1.arrow").write_bytes(b"left by map()")
    records, dataset, *_ = read(tmp_path, [folder])
    assert dataset.labels == ("nurse", "surgeon")
    assert [record.split for record in records] == ["train"] * 8 + ["dev"] * 8
    assert records[1].labels == ("surgeon",)
    records, *_ = read(tmp_path, [folder], {"column": "topics", "task": "multi_label"})
    assert records[2].labels == ("a", "b")
    with pytest.raises(InputError, match=r"topics, whose cells are lists; set task: m"):
        read(tmp_path, [folder], {"column": "topics"})
    with pytest.raises(InputError, match=r"topics of an attribute has lists as cells; write"):
        read(tmp_path, [folder], attributes={"topic": {"column": "topics"}})
    (file,) = (folder / "train").glob("data-*.arrow")
    content = file.read_bytes()
    for end in (9, len(content) // 2, len(content) - 20):
        file.write_bytes(content[:end])
        with pytest.raises(InputError, match=r"arrow: is an Arrow file that is cut off; copy"):
            read(tmp_path, [folder])
    made.to_parquet(tmp_path / "hub.parquet")
    assert read(tmp_path, [tmp_path / "hub.parquet"])[1].labels == ("nurse", "surgeon")


def test_bad_rows_have_a_reason(tmp_path):
    data = rows(15, key=list("abcdefghijklmng"))
    for number, column, value in (
        *((0, "bio", float("nan")), (1, "bio", 12.5), (2, "job", "pilot"), (3, "set", "holdout")),
        *(
            (4, "key", None),
            (5, "key", "g"),
            (7, "job", None),
            (8, "gender", "n/a"),
            (14, "bio", "A life, number 5."),
        ),
    ):
        data[number][column] = value
    file = json_lines(tmp_path / "a.jsonl", *data)
    file.write_text(file.read_text() + '{"bio": \n')
    records, dataset, counts, quarantine = read(
        tmp_path, [file], {"labels": ["surgeon", "nurse"]}, split={"column": "set"}, id="key"
    )
    assert dataset.labels == ("surgeon", "nurse")
    reasons = "broken_json duplicate_case duplicate_id no_id no_text outside_labels text_is_number"
    assert counts["left_out"] == dict.fromkeys([*reasons.split(), "unknown_split"], 1)
    assert counts["read"] == 16 and counts["labels"]["unknown"] == 1
    assert [record.case_id for record in records] == list("ghijklmn")
    place = {row["reason"]: row["position"] for row in quarantine}
    assert (place["no_text"], place["text_is_number"], place["outside_labels"]) == (1, 2, 3)


@pytest.mark.parametrize(
    ("row", "columns"),
    [({"bio": {"0": "a"}, "job": {"0": "b"}}, "bio and job"), ({"data": rows()}, "data")],
)
def test_whole_columns_or_lists_are_no_rows(tmp_path, row, columns):
    words = f"has no rows, but {columns} as whole columns or lists; write a JSON"
    with pytest.raises(InputError, match=words):
        read(tmp_path, [row])
    left_out = read(tmp_path, [{"meta": row}, *rows()])[2]["left_out"]
    assert left_out == {"no_text": 1}


def test_a_column_without_a_name_is_listed_so(tmp_path):
    with pytest.raises(InputError, match=r"its columns: one without a name, bio, gender"):
        read(tmp_path, [row | {"": 1} for row in rows()], text="z")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xlsx", b"PK", "unknown_format 1 time .*; save it as CSV, JSON lines or Parquet, with"),
        ("a.csv", b"PK\x03\x04\x14\0\0\xff", "; save it as CSV in UTF-8; a Parquet or a comp"),
        ("a.csv", b"bio,job,gender\n", "no case could be read: the files have no records; the"),
    ],
)
def test_a_file_of_another_form_has_a_remedy(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read(tmp_path, [tmp_path / name])


def test_files_of_a_pattern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"text.datasets.bios.files.0 is b\*.jsonl, and there"):
        read(tmp_path, ["b*.jsonl"])
    for name in ("b2.jsonl", "b1.jsonl"):
        json_lines(Path(name), *rows())
    records, *_ = read(tmp_path, ["b*.jsonl"])
    assert [record.source for record in records] == ["b1.jsonl"] * 8 + ["b2.jsonl"] * 8


def test_other_encodings_are_decoded_and_damage_is_noted(tmp_path):
    cells = ["bio,job,gender", *(f"né en {r['bio']},{r['job']},{r['gender']}" for r in rows())]
    text = "\n".join(cells).replace("life, ", "life ")
    (tmp_path / "latin.csv").write_bytes(text.encode("latin-1"))
    (tmp_path / "utf8.csv").write_bytes(text.encode() + b"\n\xff,nurse,F\n")
    latin, utf_8 = {"open_end": 1, "other_encoding": 1}, {"undecodable_bytes": 1}
    for name, noted in (("latin", latin), ("utf8", utf_8)):
        records, _, counts, _ = read(tmp_path, [tmp_path / f"{name}.csv"])
        assert records[0].text == ("né en A life number 0.",) and counts["noted"] == noted


def test_a_table_that_cannot_be_read_to_its_end_is_refused(tmp_path):
    cells = [f"row {i} in plain words,nurse,{'FM'[i % 2]}" for i in range(9)]
    croatian = [f"Učiteljica Šime Đurić {i} piše kćeri,pilot,{'FM'[i % 2]}" for i in range(60)]
    text = "\n".join(["bio,job,gender", *cells, *croatian, ""])
    (tmp_path / "bios.csv").write_bytes(text.encode("cp1250"))
    with pytest.raises(InputError, match=r"no encoding is known for byte 27\d of .*bios.csv, so"):
        read(tmp_path, [tmp_path / "bios.csv"])


def test_points_that_separate_thousands_are_refused(tmp_path):
    words = "fee has numbers such as 1.600 beside 600, and all with a point have three digits after"
    data = [{**row, "fee": f"{n}.600"} for n, row in enumerate(rows() * 2, 1)]
    data += [{**row, "fee": f"{n}"} for n, row in enumerate(rows(), 600)]
    data = [{**row, "bio": f"{n} {row['bio']}"} for n, row in enumerate(data)]
    with pytest.raises(InputError, match=words):
        read(tmp_path, data, attributes={"fee": {"column": "fee", "bins": [500]}})


def test_a_module_finds_the_group_in_the_text(tmp_path):
    texts = [f"The applicant, {('Mr', 'Ms')[i % 2]} A. B., lives in Town {i}." for i in range(8)]
    attributes = {"sex": {"extract": "applicant_gender"}}
    _, dataset, counts, _ = read(tmp_path, rows(bio=texts), attributes=attributes)
    (sex,) = dataset.attributes
    assert (sex.name, sex.groups, sex.unknown) == ("sex", ("male", "female"), "n/a")
    assert not counts["noted"]
    found = find_attributes(
        records=[tmp_path / "records.out"],
        tables=list(tables(applicant_gender).values()),
        modules=["applicant_gender"],
        out=tmp_path / "found",
    )
    assert found["sex"]["values"] == {"female": 4, "male": 4}


def test_a_column_without_a_value_is_no_group(tmp_path):
    read(tmp_path, rows(gender=["F", "M", "M", None]))
    records, out = [tmp_path / "records.out"], tmp_path / "found"
    found = find_attributes(records=records, tables=[], modules=["given_column"], out=out)
    assert found["gender"]["rules"] == {"column": 6, "no_value": 2}


def test_the_title_of_an_overlapping_group_has_its_column(tmp_path):
    who = {"columns": ["who_am_old", "poor"], "overlapping": True}
    _, dataset, *_ = read(
        tmp_path, rows(who_am_old=[0, 1, 1], poor=[1, 0]), attributes={"who_am": who}
    )
    titles = [attribute.title for attribute in dataset.attributes]
    assert titles == ["Who am (who_am_old)", "Who am (poor)"]
