from dataclasses import replace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.tabular.prepared import make_split, make_splits
from unit.learning.made_tables import table


@pytest.mark.parametrize(("rows", "share", "held"), [(1000, 0.4, 400), (240, 0.3, 72)])
def test_a_random_split_takes_every_row_once(rows, share, held):
    made = replace(table(rows), test_share=share)
    train, test, problem = make_split(made, 3)
    assert problem is None
    assert len(test) == held
    assert sorted([*train, *test]) == list(range(rows))
    assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()


def test_copies_of_a_row_are_in_the_same_part():
    made = table(100)
    fivefold = {name: np.repeat(getattr(made, name), 5, axis=0) for name in ("x", "y", "a")}
    copied = replace(made, **fivefold, meta={"copies": 400})
    for seed in range(3):
        train, test, _ = make_split(copied, seed)
        assert len(test) == 150 and len({*(train // 5)} & {*(test // 5)}) <= 1
    once = replace(made, meta={"copies": 1})  # the others keep their parts
    assert all(map(np.array_equal, make_split(once, 4)[:2], make_split(made, 4)[:2]))


def test_the_official_split():
    train, test, _ = make_split(table(30, official=True), 0, "official")
    assert test.tolist() == list(range(0, 30, 3)) and len(train) == 20
    with pytest.raises(InputError, match="made has no official split"):
        make_split(table(30), 0, "official")


def test_a_part_without_a_group_or_a_label():
    made = table(40, values=2, official=True)
    tests = made.official == "test"
    lonely = replace(made, a=np.where(tests, 0, made.a))
    expected = "the test part of the split that is given has no row with group = g1"
    assert make_split(lonely, 0, "official").problem == expected
    assert make_split(made, 0, "official", lonely).problem == expected
    lonely = replace(made, y=np.where(tests, made.y, 1))
    expected = "the training part of the split that is given has one label only"
    assert make_split(lonely, 0, "official").problem == expected
    rare = replace(made, a=(np.arange(40) < 2).astype(np.int16))
    splits = make_splits(rare, range(9))
    assert 0 < sum(split.problem is None for split in splits.values()) < 9
    rare = replace(made, a=(np.arange(40) == 0).astype(np.int16))
    with pytest.raises(InputError, match=r"made: the .* part of the split of seed 0 has no row"):
        make_splits(rare, range(2))
