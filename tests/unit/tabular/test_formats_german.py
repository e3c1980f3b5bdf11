import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.tabular.formats.german import read
from unit.tabular.made_files import german, german_line


def test_columns_labels_and_groups(tmp_path):
    ages = [25, 26, 35, 45, 55, 56, 75]
    lines = [german_line(age, 1 + i % 2, label=1 + i % 2) for i, age in enumerate(ages)]
    table = read([german(tmp_path, *lines, "")], {})
    assert table.meta["gap"] == "deviation"
    assert table.x.shape == (7, 30) and len(set(table.features)) == 30
    assert table.a.tolist() == [0, 1, 1, 2, 3, 4, 4]  # an edge belongs to the group below
    assert table.y.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert (table.x[:, table.attribute_columns] == np.eye(5)[table.a]).all()
    columns = dict(zip(table.features, table.x.T.tolist(), strict=True))
    assert columns["telephone=2"] == [0, 1, 0, 1, 0, 1, 0]
    assert columns["foreign_worker=2"] == [0] * 7


def test_whole_numbers_of_eidig(tmp_path):
    months, ages = [4, 12, 18, 24, 72], [25, 26, 46, 65, 66]
    lines = [german_line(a, months=m, amount=m) for m, a in zip(months, ages, strict=True)]
    table = read([german(tmp_path, *lines)], {})
    column = dict(zip(table.integer_features, table.integers.T.tolist(), strict=True))
    # quartiles 12, 18 and 24, each an upper end
    assert column["months"] == column["amount"] == [1, 1, 2, 3, 4]
    assert column["age"] == [1, 2, 3, 3, 4]
    protected = [table.integer_features[i] for i in table.integer_protected]
    assert protected == ["personal_status", "age"]


@pytest.mark.parametrize(("most", "last"), [(200, 4), (201, 5)])
def test_the_upper_end_of_eidigs_amounts(tmp_path, most, last):
    lines = [german_line(amount=amount) for amount in (4, 12, 18, 24, most)]
    table = read([german(tmp_path, *lines)], {})
    assert table.integers[:, table.integer_features.index("amount")].tolist()[-1] == last


def test_files_that_are_wrong(tmp_path):
    path = german(tmp_path, "")
    with pytest.raises(InputError, match="has no rows"):
        read([path], {})


@pytest.mark.mirror
def test_the_real_file(mirror):
    table = read([mirror / "german_credit" / "german.data-numeric"], {})
    assert table.x.shape == (1_000, 30) and table.y.sum() == 300
    # Table 2 of the paper; all of it is rounded
    assert np.bincount(table.a).tolist() == [190, 398, 226, 115, 71]
    shares = [table.y[table.a == code].mean() for code in range(5)]
    assert [round(share, 3) for share in shares] == [0.421, 0.296, 0.243, 0.243, 0.268]
    assert (table.x[:, table.attribute_columns].sum(axis=1) == 1).all()
    assert table.integers.shape == (1_000, 24)
    months = table.integer_features.index("months")
    assert sorted(set(table.integers[:, months].tolist())) == [1, 2, 3, 4]
