import json

import pytest

from evenhand.core import stage
from evenhand.core.families import load_member
from evenhand.errors import InputError
from evenhand.tabular.prepare_table import prepare_table
from evenhand.tabular.prepared import read_prepared
from unit.cases import read_cases
from unit.tabular import made_files

PEOPLE = "age,group,result\n" + "".join(
    f"{20 + i},{'xy'[i % 2]},{'yes' if i % 3 else 'no'}\n" for i in range(12)
)


def prepare(folder, **options):
    file = folder / "people.csv"
    file.write_text(PEOPLE)
    chosen = {"label": "result", "positive": ["yes"], "attribute": ["group"]}
    options = {"files": [file], "name": "people", "format": "table"} | chosen | options
    data, meta = folder / "data.parquet", folder / "data.json"
    return stage.execute(prepare_table, options | {"out": data, "meta": meta})["counts"], data, meta


def test_prepare_any_table(tmp_path):
    counts, data, meta = prepare(tmp_path, title="People", scale="none", test_share=0.5)
    assert counts == {"rows": 12, "features": 2, "excluded": {"blank_cell": 0}}
    made = read_prepared(data, meta)
    assert (made.name, made.scale, made.test_share) == ("people", "none", 0.5)
    assert made.meta["title"] == "People"
    assert made.official is None and made.integers is None


def test_prepare_a_data_set_that_is_known(tmp_path):
    files = made_files.adult(tmp_path, *made_files.adult_lines())
    counts, data, meta = prepare(tmp_path, files=files, name="adult", format="adult")
    assert counts == {"rows": 5, "features": 114, "excluded": {"missing_value": 1}}
    assert read_prepared(data, meta).official.tolist() == ["train"] * 3 + ["test"] * 2
    record = json.loads(meta.read_text())
    assert record["meta"]["title"] == "Adult (UCI census income)"
    assert record["meta"]["integer_groups"] == ["Female", "Male"]
    prepare(tmp_path, files=files, name="adult", format="adult", title="Census of 1994")
    assert json.loads(meta.read_text())["meta"]["title"] == "Census of 1994"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"label": None}, "`label` or `attribute` is missing"),
        ({"scale": "minmax"}, "`scale` is minmax, not one of standard, none"),
        ({"missing": "guess"}, "`missing` is guess, not one of"),
    ],
)
def test_prepare_with_wrong_options(tmp_path, options, match):
    with pytest.raises(InputError, match=match):
        prepare(tmp_path, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


@pytest.mark.parametrize(("format", "number", "line", "match"), read_cases(__file__, "wrong_lines"))
def test_a_line_that_is_wrong_is_named(tmp_path, format, number, line, match):
    train, test = made_files.adult_lines()
    files = {
        "adult": lambda: made_files.adult(tmp_path, [*train, line], test),
        "compas": lambda: [made_files.compas(tmp_path, *made_files.COMPAS, line)],
        "german": lambda: [made_files.german(tmp_path, made_files.german_line(), line)],
    }[format]()
    with pytest.raises(InputError, match=match) as caught:
        load_member("evenhand.tabular.formats", format, "format").read(files, {})
    assert (caught.value.file, caught.value.line) == (files[0], int(number))
