from dataclasses import replace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.tabular.splits import official_split, random_split
from unit.learning.made_tables import table


@pytest.mark.parametrize(("rows", "share", "held"), [(1000, 0.4, 400), (240, 0.3, 72)])
def test_a_random_split_takes_every_row_once(rows, share, held):
    made = replace(table(rows), test_share=share)
    train, test = random_split(made, 3)
    assert len(test) == held
    assert sorted([*train, *test]) == list(range(rows))
    assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()


def test_the_official_split():
    train, test = official_split(table(30, official=True))
    assert test.tolist() == list(range(0, 30, 3)) and len(train) == 20
    with pytest.raises(InputError, match="made has no official split"):
        official_split(table(30))


def test_a_part_without_a_group_or_a_label():
    made = table(40, values=2, official=True)
    tests = made.official == "test"
    lonely = replace(made, a=np.where(tests, 0, made.a))
    with pytest.raises(InputError, match="test part of the split that is official has nobody"):
        official_split(lonely)
    lonely = replace(made, y=np.where(tests, made.y, 1))
    with pytest.raises(InputError, match=r"training part .* has one label only"):
        official_split(lonely)
    rare = replace(made, a=(np.arange(40) == 0).astype(np.int16))
    with pytest.raises(InputError, match="split of seed 0 has nobody with group = g1"):
        random_split(rare, 0)
