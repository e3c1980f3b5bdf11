import dataclasses

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.tabular.prepared import with_integer_groups
from unit.learning.made_eidig import people
from unit.learning.made_tables import table


def with_ages(**meta):
    """Four people whose whole numbers make three groups of them."""
    made = people(4)
    codes = np.zeros((4, 3), dtype=np.int32)
    codes[:, made.integer_features.index("sex")] = [4, 1, 9, 4]
    return dataclasses.replace(made, integers=codes, meta=meta)


def test_groups_are_those_of_the_whole_numbers_in_their_order():
    made = with_ages(integer_groups=["young", "middle", "old"])
    found, values = with_integer_groups(made)
    assert values.tolist() == [1, 4, 9]
    assert found.a.tolist() == [1, 0, 2, 1] and found.a.dtype == made.a.dtype
    assert found.attribute_values == ["young", "middle", "old"]
    same = {one.name for one in dataclasses.fields(made)} - {"a", "attribute_values"}
    assert all(getattr(found, name) is getattr(made, name) for name in same)


def test_groups_without_names_have_their_places():
    assert with_integer_groups(with_ages())[0].attribute_values == ["0", "1", "2"]


@pytest.mark.parametrize("names", [["young"], ["young", "middle", "old", "very old"]])
def test_names_of_more_or_fewer_groups_are_refused(names):
    words = rf"sex make 3 groups of made, which names {len(names)} \({', '.join(names)}\)"
    with pytest.raises(InputError, match=words):
        with_integer_groups(with_ages(integer_groups=names))


def test_a_table_without_such_numbers_is_refused():
    renamed = dataclasses.replace(people(4), attribute_name="age")
    for made, name in ((table(), "group"), (renamed, "age")):
        with pytest.raises(InputError, match=f"made has no whole numbers for {name}"):
            with_integer_groups(made)
