import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.tabular.formats.adult import read
from evenhand.tabular.prepared import scaled
from unit.tabular import made_files


def made(folder, train=(), test=()):
    lines, others = made_files.adult_lines()
    return read(made_files.adult(folder, [*lines, *train], [*others, *test]), {})


def test_columns_labels_and_groups(tmp_path):
    table = made(tmp_path)
    assert table.x.shape == (5, 114) and len(set(table.features)) == 114
    assert table.y.tolist() == [0, 1, 0, 1, 0]
    assert [table.attribute_values[code] for code in table.a] == [
        *("Male", "Female", "Male", "Male", "Female")
    ]
    assert table.official.tolist() == ["train"] * 3 + ["test"] * 2
    assert table.meta["excluded"] == {"missing_value": 1}
    assert "fnlwgt" not in table.features

    # the edges of an age bucket belong to the bucket below
    buckets = [table.features.index(f"age_bucket={i}") for i in range(11)]
    assert table.x[:, buckets].argmax(axis=1).tolist() == [2, 9, 0, 10, 2]
    for name in ("workclass", "education", "occupation", "sex", "native-country"):
        columns = [i for i, f in enumerate(table.features) if f.startswith(name + "=")]
        assert (table.x[:, columns].sum(axis=1) == 1).all()
    for code in range(2):
        rows = table.x[table.a == code][:, table.attribute_columns]
        assert (rows == table.attribute_codes[code]).all()


def test_whole_numbers_of_eidig(tmp_path):
    table = made(tmp_path)
    assert table.integers.shape == (5, 12)
    protected = [table.integer_features[i] for i in table.integer_protected]
    assert protected == ["age", "race", "sex"]
    column = dict(zip(table.integer_features, table.integers.T.tolist(), strict=True))
    assert column["age"] == [2, 3, 1, 4, 2]  # right-closed bins 15 25 45 65 120
    assert column["capital-gain"] == [1, 1, 1, 3, 1]
    assert column["hours-per-week"] == [2, 2, 2, 3, 2]
    assert column["sex"] == [1, 0, 1, 1, 0]
    assert column["native-country"][:2] == [12, 4]


def test_files_that_are_wrong(tmp_path):
    files = made_files.adult(tmp_path, *made_files.adult_lines())
    with pytest.raises(InputError, match=r"needs the file adult\.test"):
        read(files[:1], {})
    files[1].write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no rows"):
        read(files, {})


@pytest.mark.mirror
def test_the_real_files(mirror):
    table = read([mirror / "adult" / name for name in ("adult.data", "adult.test")], {})
    assert table.x.shape == (45_222, 114)
    assert (table.official == "train").sum() == 30_162
    assert table.meta["excluded"] == {"missing_value": 3_620}
    # Table 1 of the paper
    male = table.a == 0
    shares = [male.mean(), table.y.mean(), table.y[male].mean(), table.y[~male].mean()]
    assert [round(share, 3) for share in shares] == [0.675, 0.248, 0.312, 0.114]
    # one column is constant, and does not divide by zero
    (x,) = scaled(table, table.x)
    constant = [table.features[i] for i in np.flatnonzero(table.x.std(axis=0) == 0)]
    assert constant == ["workclass=Never-worked"] and np.isfinite(x).all()
    assert (x[:, table.features.index(constant[0])] == 0).all()
    assert table.integers.min(axis=0).tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]
