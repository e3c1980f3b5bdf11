import json

import pytest

from evenhand.compare.causes import CHANGED, GONE, NEW, Change, find_causes
from evenhand.compare.results import Results
from evenhand.errors import InputError
from unit.compare.made_folders import sweep_row, write_provenance, write_table

NAME = "tables/individual/grid.csv"


def folder(path, start="results/", mean=50.0, **about):
    write_table(path, NAME, [sweep_row(mean)])
    write_provenance(path, start, grid=about)
    return Results(path)


def causes(tmp_path, base=None, head=None):
    return find_causes(
        folder(tmp_path / "base", **(base or {})), folder(tmp_path / "head", **(head or {}))
    )


def source(*files):
    return {"inputs": {"corpus": [{"file": file, "sha256": sha256} for file, sha256 in files]}}


def test_the_same_run_elsewhere_has_no_cause(tmp_path):
    found = causes(tmp_path, head={"start": "/somewhere/else/"})
    assert found == ([], [], [], [], [], {"base": 0, "head": 0})


def test_sources(tmp_path):
    found = causes(
        tmp_path,
        source(("a.txt", "1"), ("b.txt", "2"), ("old/c.txt", "3"), ("d.txt", "4")),
        source(("a.txt", "1"), ("b.txt", "9"), ("new/c.txt", "3"), ("e.txt", "5")),
    )
    stage = ("made.grid",)
    assert found.data == [
        Change("b.txt", CHANGED, where=stage),
        Change("d.txt", GONE, where=stage),
        Change("e.txt", NEW, where=stage),
    ]


def test_a_source_without_a_path_is_known_by_who_read_it(tmp_path):
    found = causes(tmp_path, source((None, "1")), source((None, "2")))
    name = "corpus of made.grid"
    assert found.data == [Change(name, CHANGED, where=("made.grid",))]


def test_what_the_run_made_is_no_source(tmp_path):
    head = folder(tmp_path / "head", **source(("results/between.parquet", "bb")))
    record = head.folder / ".evenhand/records/1.json"
    record.parent.mkdir(parents=True)
    assert [one.what for one in find_causes(head, head).data] == []
    base = folder(tmp_path / "base", **source(("results/between.parquet", "aa")))
    assert [one.what for one in find_causes(base, Results(head.folder)).data] == ["between.parquet"]
    for results, sha256 in ((base, "aa"), (head, "bb")):
        path = results.folder / ".evenhand/records/1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"outputs": {"out": {"file": "x", "sha256": sha256}}}))
        (path.parent / "2.json").write_text("{")  # a killed run
    assert find_causes(Results(base.folder), Results(head.folder)).data == []


def test_parameters(tmp_path):
    found = causes(
        tmp_path,
        {"parameters": {"seed": 0, "level": 0.9, "gone": [1]}, "config": {"seed": "bias.seed"}},
        {"parameters": {"seed": 1, "level": 0.9, "fresh": None}, "config": {"seed": "bias.seed"}},
    )
    where = (NAME,)
    assert found.configuration == [
        Change("bias.seed", CHANGED, "0", "1", where),
        Change("fresh of made.grid", NEW, None, "null", where),
        Change("gone of made.grid", GONE, "[1]", None, where),
    ]


def test_code_with_the_modules_behind_it(tmp_path):
    found = causes(tmp_path, {"code": "c1"}, {"code": "c2"})
    assert found.code == [Change("made.grid", CHANGED)]
    for run, digest, modules in (
        ("base", "c1", {"evenhand.a": {"f": "1"}, "evenhand.b": {"g": "1"}}),
        ("head", "c2", {"evenhand.a": {"f": "2"}, "evenhand.b": {"g": "1"}, "evenhand.c": {}}),
    ):
        path = tmp_path / run / ".evenhand" / "code" / f"{digest}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"modules": modules}))
    found = find_causes(Results(tmp_path / "base"), Results(tmp_path / "head"))
    assert found.code == [Change("made.grid", CHANGED, where=("a", "c"))]


def test_another_stage_is_new_and_the_former_gone(tmp_path):
    found = causes(tmp_path, {"stage": "evenhand.x.old"}, {"stage": "evenhand.x.new"})
    assert found.code == [Change("x.new", NEW), Change("x.old", GONE)]
    assert found.configuration == []


def test_packages(tmp_path):
    found = causes(
        tmp_path,
        {"packages": {"numpy": "1", "old": "3", "same": "4"}},
        {"packages": {"numpy": "2", "fresh": "5", "same": "4"}},
    )
    assert found.packages == [
        Change("fresh", NEW, None, "5"),
        Change("numpy", CHANGED, "1", "2"),
        Change("old", GONE, "3", None),
    ]


def test_files_and_those_without_a_record(tmp_path):
    base = folder(tmp_path / "base")
    write_table(tmp_path / "base", "tables/old.csv", [{"a": 1}])
    write_provenance(tmp_path / "base")
    head = folder(tmp_path / "head", mean=51.0)
    write_provenance(tmp_path / "head", grid={"stage": None, "code": None, "inputs": {}})
    found = find_causes(base, head)
    assert found.files == [Change(NAME, CHANGED), Change("tables/old.csv", GONE)]
    assert found.untraced == {"base": 0, "head": 1}
    assert found.configuration == []


def test_what_lies_between_is_no_result(tmp_path):
    found = causes(tmp_path, {"sha256": "1", "result": False}, {"sha256": "2", "result": False})
    assert found.files == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "does not say where the results come from"),
        ('{"files": [{"file": "x"}]}', "does not say where the results come from"),
        ('{"files": []}', "none of the files"),
    ],
)
def test_a_broken_provenance_is_an_error(tmp_path, text, message):
    made = folder(tmp_path / "base")
    (made.folder / "provenance.json").write_text(text)
    with pytest.raises(InputError, match=message):
        find_causes(made, Results(made.folder))


def test_a_folder_without_tables_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Results(tmp_path / "none")
    with pytest.raises(InputError, match="holds no table"):
        Results(tmp_path)


def test_a_file_of_the_same_name_does_not_mislead_about_the_folder(tmp_path):
    """README.md lies in the folder itself and, when it was made, in a folder below."""
    made = folder(tmp_path / "base", "/far/results/")
    write_table(made.folder, "tables/two.csv", [{"a": 1}])
    (made.folder / "README.md").write_text("x")
    path = write_provenance(made.folder, "/far/results/")
    document = json.loads(path.read_text())
    document["files"].insert(0, document["files"][0] | {"file": "/far/results/gone/README.md"})
    path.write_text(json.dumps(document))
    assert NAME in Results(made.folder).files
