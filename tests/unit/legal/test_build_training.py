import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.build_training import build_training
from evenhand.legal.built import BuiltCases
from unit.legal.test_build_cases import build, record

FILES = [
    [record(1, split="train"), record(2, labels=None, split="dev")],
    [record(2), record(3, split="dev"), record(4, split="test")],
]

LONG = "".join(map(chr, range(0x4E00, 0x4E80)))


def built(folder, attribute=None):
    """The data set, and what a training with one attribute, or with none, sees of it."""
    whole, _, data = build(folder, FILES)
    out = folder / "seen.parquet"
    arguments = {"data": data, "attribute": attribute, "out": out}
    assert stage.execute(build_training, arguments)["counts"] == {"cases": 4}
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
    assert [row["text"] for row in rows] == [[]] * 4
    seen, whole = BuiltCases(out), BuiltCases(path)
    assert [one.attribute.name for one in seen.groups] == ["defendant_gender"]
    assert (seen.groups[0].codes == whole.groups[0].codes).all()
    assert (seen.splits == whole.splits).all() and (seen.labels[1] == whole.labels[1]).all()


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        (FILES[0], r"^the data set CAIL: 2 cases, and none with a label in dev and test; divide"),
        # nearly equal texts
        (
            [record(n, text=(LONG + chr(0x5000 + n),)) for n in range(1, 6)],
            r"5 cases, and none with a label in .*: 4 are nearly .* raise `legal.near_duplicates`",
        ),
    ],
)
def test_a_split_without_a_case_is_refused_before_training(tmp_path, cases, words):
    data = build(tmp_path, [cases])[2]
    with pytest.raises(InputError, match=words):
        build_training(data=data, out=tmp_path / "seen.parquet")
