import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.errors import InputError
from evenhand.tabular.prepared import check, flip, read_prepared, standardise, write_prepared
from unit.io.damage import damage
from unit.learning.made_tables import table


def test_written_and_read_again(tmp_path):
    made = replace(
        table(30, values=3, official=True),
        integers=np.arange(60, dtype=np.int32).reshape(30, 2),
        integer_features=["p", "q"],
        integer_protected=[1],
        meta={"title": "Made", "excluded": {"blank_cell": 2}},
    )
    data, meta = tmp_path / "data.parquet", tmp_path / "data.json"
    write_prepared(made, data, meta)
    again = read_prepared(data, meta)
    for name in ("x", "y", "a", "official", "attribute_codes", "integers"):
        was, now = getattr(made, name), getattr(again, name)
        assert (was == now).all() and (name == "official" or was.dtype == now.dtype)
    for name in ("features", "attribute_columns", "scale", "test_share", "meta", "name"):
        assert getattr(made, name) == getattr(again, name)
    before = data.read_bytes(), meta.read_bytes()
    write_prepared(again, data, meta)
    assert before == (data.read_bytes(), meta.read_bytes())


def test_files_that_do_not_belong_together(tmp_path):
    data, meta = tmp_path / "data.parquet", tmp_path / "data.json"
    write_prepared(table(30), data, meta)
    record = json.loads(meta.read_text())
    for wrong, match in [
        ("[]", "not a description"),
        ("{", "not a description"),
        (json.dumps(record | {"features": ["four"]}), "lacks the column four"),
        (json.dumps({k: v for k, v in record.items() if k != "scale"}), "lacks scale"),
    ]:
        meta.write_text(wrong)
        with pytest.raises(InputError, match=match):
            read_prepared(data, meta)
    meta.write_text(json.dumps(record))
    data.write_text("row,label\n")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_prepared(data, meta)


@pytest.mark.parametrize("column", ["label", "attribute"])
def test_a_damaged_table_is_told(tmp_path, column):
    data, meta = tmp_path / "data.parquet", tmp_path / "data.json"
    write_prepared(table(30), data, meta)
    with pytest.raises(InputError, match=damage(data, column)):
        read_prepared(data, meta)


def test_a_flip_changes_the_attribute_only():
    made = table(40, values=3)
    for code in range(3):
        flipped = flip(made, made.x, code)
        assert (flipped[:, made.attribute_columns] == np.eye(3)[code]).all()
        assert (flipped[:, :3] == made.x[:, :3]).all()
        own = made.a == code
        assert (flipped[own] == made.x[own]).all() and (flipped[~own] != made.x[~own]).any(1).all()
    assert (flip(made, flip(made, made.x, 1), 2) == flip(made, made.x, 2)).all()


numbers = arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3))


@settings(max_examples=30, deadline=None)
@given(numbers, numbers)
def test_standardised_by_the_training_rows(train, other):
    train[:, 2] = 0.1  # a constant column becomes zero, whatever others have there
    mine, theirs = standardise(train, other)
    assert np.isfinite(mine).all() and (mine[:, 2] == 0).all() and (theirs[:, 2] == 0).all()
    for i in range(2):
        deviation = train[:, i].std()
        if deviation > 1e-3:
            assert mine[:, i].mean() == pytest.approx(0, abs=1e-6)
            assert mine[:, i].std() == pytest.approx(1)
            expected = (other[:, i] - train[:, i].mean()) / deviation
            np.testing.assert_allclose(theirs[:, i], expected)


def with_nan(made):
    x = made.x.copy()
    x[[4, 9], 1] = np.nan
    return replace(made, x=x)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (with_nan, "2 rows have features that are no numbers, the first is two in row 5"),
        (lambda t: replace(t, y=np.arange(30) % 3), "label has the values 0, 1, 2"),
        (lambda t: replace(t, y=t.y * 0), "label has the values 0; it needs 0 and 1"),
        (lambda t: replace(t, a=t.a * 0), r"has one value only \(g0\)"),
        (lambda t: replace(t, features=["row", *t.features[1:]]), "can be called 'row'"),
        (lambda t: replace(t, features=["two", *t.features[1:]]), "can be called 'two'"),
    ],
)
def test_a_table_that_nothing_can_be_learned_on(tmp_path, change, match):
    with pytest.raises(InputError, match=match):
        check(change(table(30)))
    with pytest.raises(InputError, match=match):
        write_prepared(change(table(30)), tmp_path / "data.parquet", tmp_path / "data.json")
    assert not list(tmp_path.iterdir())
