from evenhand.core import stage
from evenhand.io.tables import read_rows
from evenhand.legal.build_training import build_training
from evenhand.legal.built import attributes_of, read_groups, read_labels, read_splits
from unit.legal.made_cases import court
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
    assert attributes_of(out, court("cail")) == []


def test_with_one_its_groups_are_there_and_no_texts(tmp_path):
    _, rows, path, out = built(tmp_path, "defendant_gender")
    assert [row["text"] for row in rows] == [[]] * 3
    dataset = court("cail")
    assert [one.attribute.name for one in read_groups(out, dataset)] == ["defendant_gender"]
    assert (read_groups(out, dataset)[0].codes == read_groups(path, dataset)[0].codes).all()
    for read in (read_splits, lambda file: read_labels(file, dataset)[1]):
        assert (read(out) == read(path)).all()
