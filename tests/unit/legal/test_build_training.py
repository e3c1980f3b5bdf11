import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.build_training import build_training
from evenhand.legal.built import attributes_of, load_dataset, read_groups, read_labels, read_splits
from unit.legal.test_build_cases import NAMES, build, record, write_parts

FILES = [[record(1), record(2, labels=None)], [record(2), record(3)]]


def built(folder, attribute=None, **changed):
    """The data set for one attribute (of two, found in two files), or for none."""
    made = write_parts(folder, FILES)
    files = made.pop("attributes")
    findings = files[NAMES.index(attribute) :: 2] if attribute else None
    arguments = made | {"findings": findings, "attribute": attribute, "kind": "cail"} | changed
    out = folder / "seen.parquet"
    counts = stage.execute(build_training, arguments | {"out": out})["counts"]
    return list(read_rows(out)), counts, out


def test_without_an_attribute_all_but_the_attributes_is_there(tmp_path):
    whole, _, _ = build(tmp_path, FILES)
    rows, counts, out = built(tmp_path)
    assert rows == [
        {name: value for name, value in row.items() if not name.startswith(("defen", "court"))}
        for row in whole.values()
    ]
    assert (counts["cases"], counts["same_id"], counts["unknown"]) == (3, 1, {})
    assert attributes_of(out, load_dataset("cail")) == []


def test_with_one_its_groups_are_there_and_no_texts(tmp_path):
    _, _, path = build(tmp_path, FILES)
    rows, counts, out = built(tmp_path, "defendant_gender")
    assert [row["text"] for row in rows] == [[]] * 3
    dataset = load_dataset("cail")
    assert [one.attribute.name for one in read_groups(out, dataset)] == ["defendant_gender"]
    assert (read_groups(out, dataset)[0].codes == read_groups(path, dataset)[0].codes).all()
    for read in (read_splits, lambda file: read_labels(file, dataset)[1]):
        assert (read(out) == read(path)).all()
    assert counts["unknown"] == {"defendant_gender": 0}


def test_findings_that_do_not_fit(tmp_path):
    with pytest.raises(InputError, match="0 files of findings are there for 2 files of records"):
        built(tmp_path, "court_region", findings=[])
    with pytest.raises(InputError, match=r"1 files of findings .* and no attribute"):
        built(tmp_path, findings=[tmp_path / "court_region_0.parquet"])
