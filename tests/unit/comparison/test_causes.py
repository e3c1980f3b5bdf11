import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.comparison.causes import (
    CHANGED,
    GONE,
    ITEMS,
    NEW,
    Change,
    Relabelled,
    find_causes,
    other_cases,
)
from evenhand.comparison.results import Results
from evenhand.errors import InputError
from unit.comparison.made_folders import (
    SWEEPS,
    sweep_row,
    write_provenance,
    write_table,
    write_texts,
)


def write_folder(path, start="results/", mean=50.0, **entry):
    write_table(path, SWEEPS, [sweep_row(mean)])
    write_provenance(path, start, grid=entry)
    return Results(path)


def causes(folders, base=None, head=None):
    return find_causes(
        write_folder(folders[0], **(base or {})), write_folder(folders[1], **(head or {}))
    )


def source(*files):
    return {"inputs": {"corpus": [{"file": file, "sha256": sha256} for file, sha256 in files]}}


def test_the_same_run_elsewhere_has_no_cause(folders):
    result = causes(folders, head={"start": "/somewhere/else/"})
    assert result == ([], [], [], [], [], [], [], {"base": 0, "head": 0}, [])


STAGE, FILE = ("made.grid",), (SWEEPS,)


@pytest.mark.parametrize(
    ("kind", "base", "head", "changes"),
    [
        (
            "data",
            source(("a.txt", "1"), ("b.txt", "2"), ("old/c.txt", "3"), ("d.txt", "4")),
            source(("a.txt", "1"), ("b.txt", "9"), ("new/c.txt", "3"), ("e.txt", "5")),
            [
                Change("b.txt", CHANGED, where=STAGE),
                Change("d.txt", GONE, where=STAGE),
                Change("e.txt", NEW, where=STAGE),
            ],
        ),
        (
            "data",
            source((None, "1")),
            source((None, "2")),
            [Change("corpus of made.grid", CHANGED, where=STAGE)],
        ),
        (
            "configuration",
            {"parameters": {"seed": 0, "level": 0.9, "gone": [1]}, "config": {"seed": "bias.seed"}},
            {"parameters": {"seed": 1, "level": 0.9, "fresh": None}},
            [
                Change("bias.seed", CHANGED, "0", "1", FILE),
                Change("fresh of made.grid", NEW, None, "null", FILE),
                Change("gone of made.grid", GONE, "[1]", None, FILE),
            ],
        ),
        (  # of a mapping, the key that differs
            "configuration",
            {"parameters": {"set": '{"a": {"bins": [30, 50]}, "b": 1}'}, "config": {"set": "d.x"}},
            {"parameters": {"set": '{"a": {"bins": [40]}, "b": 1}'}},
            [Change("d.x.a.bins", CHANGED, "[30, 50]", "[40]", FILE)],
        ),
        (
            "packages",
            {"packages": {"numpy": "1", "old": "3", "same": "4"}},
            {"packages": {"numpy": "2", "fresh": "5", "same": "4"}},
            [
                Change("fresh", NEW, None, "5"),
                Change("numpy", CHANGED, "1", "2"),
                Change("old", GONE, "3", None),
            ],
        ),
        (
            "code",
            {"stage": "evenhand.x.old"},
            {"stage": "evenhand.x.new"},
            [Change("x.new", NEW), Change("x.old", GONE)],
        ),
        (
            "configuration",
            {"stage": "evenhand.x.old"},
            {"stage": "evenhand.x.new", "parameters": {}},
            [],
        ),
        # an intermediate file is no result
        ("files", {"sha256": "1", "result": False}, {"sha256": "2", "result": False}, []),
    ],
)
def test_changes(folders, kind, base, head, changes):
    assert getattr(causes(folders, base, head), kind) == changes


def test_a_value_that_only_one_run_has_is_a_change(folders):
    """An objective that was added has files of its own, and none that both runs have."""
    for folder, objectives in zip(folders, (["erm"], ["erm", "dro"]), strict=True):
        write_table(folder, SWEEPS, [sweep_row(50.0)])
        for name in objectives:
            (folder / f"{name}.parquet").write_text(name, encoding="utf-8")
        trained = {name: {"stage": "evenhand.train", "parameters": {"objective": name}}
                   for name in objectives}  # fmt: skip
        write_provenance(folder, **trained)
    added = Change("objective of train", NEW, None, '"dro"', ("dro.parquet",))
    base, head = map(Results, folders)
    assert find_causes(base, head).configuration == [added]
    gone = added._replace(kind=GONE, base='"dro"', head=None)
    assert find_causes(head, base).configuration == [gone]
    # what has a key of the configuration is first, then names that follow from it
    parameters = {"objective": "dro", "name": "mine_dro"}
    key = {"objective": "text.classifiers.words.objectives"}
    trained["dro"] |= {"parameters": parameters, "config": key}
    write_provenance(folders[1], **trained)
    head = Results(folders[1])
    names = [change.name for change in find_causes(base, head).configuration]
    assert names == ["text.classifiers.words.objectives", "name of train"]


def test_a_file_that_the_run_made_is_no_source(folders):
    runs = [
        write_folder(folder, **source(("results/between.parquet", digest)))
        for folder, digest in zip(folders, ("aa", "bb"), strict=True)
    ]
    assert [change.name for change in find_causes(*runs).data] == ["between.parquet"]
    for folder, digest in zip(folders, ("aa", "bb"), strict=True):
        path = folder / ".evenhand/records/1.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"outputs": {"out": {"file": "x", "sha256": digest}}}))
        (path.parent / "2.json").write_text("{")  # a killed run
    assert find_causes(*map(Results, folders)).data == []


def test_code_with_the_modules_behind_it(folders):
    result = causes(folders, {"code": "c1"}, {"code": "c2"})
    assert result.code == [Change("made.grid", CHANGED)]
    modules = (
        {"evenhand.a": {"f": "1"}, "evenhand.b": {"g": "1"}},
        {"evenhand.a": {"f": "2"}, "evenhand.b": {"g": "1"}, "evenhand.c": {}},
    )
    for folder, digest, manifest in zip(folders, ("c1", "c2"), modules, strict=True):
        path = folder / ".evenhand" / "code" / f"{digest}.json"
        path.parent.mkdir(parents=True)
        assert find_causes(*map(Results, folders)).code == [Change("made.grid", CHANGED)]
        path.write_text(json.dumps({"modules": manifest}))
    result = find_causes(*map(Results, folders))
    assert result.code == [Change("made.grid", CHANGED, where=("a", "c"))]


def test_files_and_those_without_a_record(folders):
    base, head = write_folder(folders[0]), write_folder(folders[1], mean=51.0)
    write_table(folders[0], "tables/old.csv", [{"a": 1}])
    write_provenance(folders[0])
    write_provenance(folders[1], grid={"stage": None, "code": None, "inputs": {}})
    result = find_causes(base, head)
    assert result.files == [Change(SWEEPS, CHANGED), Change("tables/old.csv", GONE)]
    assert result.untraced == {"base": 0, "head": 1}
    assert result.configuration == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "does not say where the results come from"),
        ('{"files": [{"file": "x"}]}', "does not say where the results come from"),
        ('{"files": []}', "none of the files"),
    ],
)
def test_a_broken_provenance_is_an_error(folders, text, message):
    results = write_folder(folders[0])
    (folders[0] / "provenance.json").write_text(text)
    with pytest.raises(InputError, match=message):
        find_causes(results, results)


def test_a_folder_without_tables_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Results(tmp_path / "none")
    with pytest.raises(InputError, match="holds no table"):
        Results(tmp_path)


def test_a_file_of_the_same_name_does_not_mislead_about_the_folder(folders):
    """README.md lies in the folder itself and, when it was made, in a folder below."""
    write_folder(folders[0], "/far/results/")
    write_table(folders[0], "tables/two.csv", [{"a": 1}])
    (folders[0] / "README.md").write_text("x")
    path = write_provenance(folders[0], "/far/results/")
    document = json.loads(path.read_text())
    document["files"].insert(0, document["files"][0] | {"file": "/far/results/gone/README.md"})
    path.write_text(json.dumps(document))
    assert SWEEPS in Results(folders[0]).files


CASES, PEOPLE = "predictions/mine/cases.parquet", "tabular/mine/data.parquet"
PAIRS = "stereotypes/*/pairs.parquet"


@pytest.mark.parametrize(
    ("file", "base", "head", "totals"),
    [
        (CASES, {"task": "tt", "id": "01", "sentences": "ab"}, {"sentences": "ac"}, (2, 2, 1)),
        # the ids of a filtered task, and another name of a bias type
        (CASES, {"task": "tt", "id": "01", "sentences": "ab"}, {"id": "67"}, None),
        (
            CASES,
            {"task": "tt", "category": "gr", "sentences": "ab"},
            {"category": "sr"},
            (2, 2, 2, 0, 0, 1),
        ),
        (CASES, {"id": "01", "label": "yn", "sex": "fm"}, {"label": "yy"}, (2, 2, 2, 0, 0, 1)),
        (CASES, {"id": "0123", "sex": "fmfm"}, {"sex": "fmff"}, (4, 4, 4, 0, 0, 1)),
        (CASES, {"id": "01", "sex": "fm"}, {"sex": "mf"}, (2, 2, 2)),
        (CASES, {"id": "01", "sex": "ff"}, {"sex": "mm"}, (2, 2, 0)),
        (CASES, {"id": "01", "label": "yn", "outcome": "fm"}, {"outcome": "mm"}, None),
        (CASES, {"id": "01", "sex": "fm"}, {"sex": None, "age": "ab"}, None),
        (PEOPLE, {"row": "01", "a=v": "00", "x": "12"}, {"x": "13"}, (2, 2, 1)),
        (PEOPLE, {"row": "01", "official_split": "ab", "x": "12"}, {"x": "21"}, None),
        (PEOPLE, {"a=v": "00", "x": "12"}, {"a=v": "000", "x": "121"}, (2, 3, 2, 0, 1)),
    ],
)
def test_files_with_the_same_columns_and_other_items(folders, file, base, head, totals):
    for folder, columns in zip(folders, (base, base | head), strict=True):
        path = folder / file
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({name: [*cells] for name, cells in columns.items() if cells}), path)
        (path.parent / "meta.json").write_text('{"name": "mine"}')
    found = [one[2:9] for one in causes(folders).items]
    is_numbered = file == CASES and "sentences" not in base
    assert found == ([(*(*totals, 0, 0, 0)[:6], is_numbered)] if totals else [])


def test_cases_without_their_description_are_an_error(folders):
    for folder in folders:
        (folder / "predictions/mine").mkdir(parents=True)
        pq.write_table(pa.table({"id": ["0"], "sex": ["f"]}), folder / CASES)
    with pytest.raises(InputError, match=r"meta\.json: is missing beside cases\.parquet; copy"):
        causes(folders)


@pytest.mark.parametrize(
    ("file", "rows"),
    [
        (CASES, [{"task": "t", "id": "0", "sentences": ["he", "she"]}]),
        ("stereotypes/mine/pairs.parquet", [dict.fromkeys(ITEMS[PAIRS][1], "") | {"more": "he"}]),
    ],
)
def test_pairs_with_exchanged_sides_are_counted(folders, file, rows):
    (row,) = rows
    turned = {"sentences": ["she", "he"]} if "task" in row else {"more": "", "less": "he"}
    for folder, one in zip(folders, (row, row | turned), strict=True):
        path = folder / file
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([one]), path)
        (path.parent / "meta.json").write_text('{"name": "mine"}')
    (others,) = causes(folders).items
    assert (others.base, others.shared, others.exchanged) == (1, 0, 1)


@pytest.mark.parametrize("described", [{"id": "case"}, {"trained": {"dataset": "d"}}])
def test_ids_that_were_named_are_those_of_the_cases(folders, described):
    """Whatever the groups of them: most have another name for one."""
    groups = (["f", "m", "f"], ["w", "m", "w"]), (["x", "y", "z"], ["x", "v", "v"])
    for folder, sex, age in zip(folders, *groups, strict=True):
        (folder / "predictions/mine").mkdir(parents=True)
        pq.write_table(pa.table({"id": ["0", "1", "2"], "sex": sex, "age": age}), folder / CASES)
        description = {"name": "mine", "trained": None} | described
        (folder / "predictions/mine/meta.json").write_text(json.dumps(description))
    (others,) = causes(folders).items
    renamed = Relabelled("sex", ("f",), ("w",), is_renamed=True)
    rebinned = Relabelled("age", ("y", "z"), ("v",), is_renamed=False)
    assert others[2:] == (3, 3, 3, 0, 0, 3, False, 0, "", (renamed, rebinned), 0, 0, False)
    swapped = Relabelled("sex", ("f", "m"), ("m", "f"), is_renamed=True)
    columns = [(renamed,), (renamed, rebinned), (swapped,)]
    assert [others._replace(columns=some).only_renamed for some in columns] == [True, False, False]


def test_ids_that_are_spelt_otherwise_are_counted(folders):
    for folder, ids in zip(folders, (["a1", "b2", "c"], ["A1", "b 2", "d"]), strict=True):
        (folder / "predictions/mine").mkdir(parents=True)
        pq.write_table(pa.table({"id": ids, "sex": ["f", "m", "f"]}), folder / CASES)
        (folder / "predictions/mine/meta.json").write_text('{"name": "mine", "id": "case"}')
    (others,) = causes(folders).items
    assert (others.shared, others.spelt_alike) == (0, 2)


@pytest.mark.parametrize(("texts", "changed"), [("abcd", 0), ("ayzd", 0), ("xyzd", 3)])
def test_the_same_ids_of_other_texts_are_other_cases(folders, texts, changed):
    for folder, content in zip(folders, ("abcd", texts), strict=True):
        write_texts(folder, content)
    result = causes(folders)
    assert [one[2:] for one in result.items] == (
        [(4, 4, 1, 0, 0, 0, False, changed, "d", (), 0, 0, False)] if changed else []
    )
    places = {"tables/classifiers/d", "tables/predictions/mine"}
    assert other_cases(result) == (places if changed else set())


def test_another_label_is_a_choice_and_not_other_people(folders):
    for folder, label in zip(folders, ("y = 1", "z = 1"), strict=True):
        path = folder / PEOPLE
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"label": [label == "y = 1"], "x": [1.0]}), path)
        described = {"name": "mine", "meta": {"label": label}}
        path.with_suffix(".json").write_text(json.dumps(described))
    result = causes(folders)
    assert [change.name for change in result.choices] == ["label"] and not result.items


def test_each_setting_of_a_training_is_named_by_its_key(folders):
    for folder, settings in zip(folders, (None, ["select=worst_group_f1"]), strict=True):
        write_table(folder, SWEEPS, [sweep_row(50.0)])
        (folder / "p.parquet").write_text(str(settings), encoding="utf-8")
        trained = {"stage": "evenhand.train", "config": {"settings": "text.classifiers.words"}}
        write_provenance(folder, p=trained | {"parameters": {"settings": settings}})
    (change,) = find_causes(*map(Results, folders)).configuration
    key = "text.classifiers.words.select"
    assert change == Change(key, NEW, None, "worst_group_f1", ("p.parquet",))
