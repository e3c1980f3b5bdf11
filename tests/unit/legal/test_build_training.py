from evenhand.core import stage
from evenhand.io.tables import read_rows
from evenhand.legal.build_training import build_training
from evenhand.legal.built import BuiltCases
from unit.legal.test_build_cases import build, record

FILES = [[record(1), record(2, labels=None)], [record(2), record(3)]]


def built(folder, attribute=None):
    """The data set, and what a training with one attribute, or with none, sees of it."""
    whole, _, data = build(folder, FILES)
    out = folder / "seen.parquet"
    arguments = {"data": data, "attribute": attribute, "out": out}
    assert stage.execute(build_training, arguments)["counts"] == {"cases": 3}
    return list(whole.values()), list(read_rows(out)), data, out


def test_without_an_attribute_all_but_the_attributes_is_there(tmp_path):
    whole, rows, _, out = built(tmp_path)
    assert rows == [
        {name: value for name, value in row.items() if not name.startswith(("defen", "court"))}
        for row in whole
    ]
    assert BuiltCases(out).groups == []


def test_with_one_its_groups_are_there_and_no_texts(tmp_path):
    _, rows, path, out = built(tmp_path, "defendant_gender")
    assert [row["text"] for row in rows] == [[]] * 3
    seen, whole = BuiltCases(out), BuiltCases(path)
    assert [one.attribute.name for one in seen.groups] == ["defendant_gender"]
    assert (seen.groups[0].codes == whole.groups[0].codes).all()
    assert (seen.splits == whole.splits).all() and (seen.labels[1] == whole.labels[1]).all()
