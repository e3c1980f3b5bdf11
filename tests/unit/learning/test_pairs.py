import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.learning.pairs import Pairs, among, check_pairs, kind_of_pairs, partners
from evenhand.learning.sampling import make_sampler

#: 0 and 1 are each other's nearest, 2 has 0 and 3, 3 has 2, 4 has nobody.
NEAR = np.array([[1, 2], [0, -1], [0, 3], [2, -1], [-1, -1]])


def made(near, batch, seed):
    groups = np.zeros(len(near))
    return make_sampler("neighbours", groups, batch, np.random.default_rng(seed), near)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([0, 1, 2, 3, 4], [1, 0, 0, 2, -1]),
        ([2, 3, 0], [2, 0, 0]),  # 0 has 1 first, which is not here, then 2
        ([2, 3, 1], [1, 0, -1]),
        ([4], [-1]),
    ],
)
def test_the_first_neighbour_of_the_batch(rows, expected):
    assert partners(np.array(rows), NEAR).tolist() == expected
    both = partners(np.array([rows, rows[::-1]]), NEAR)
    assert both[0].tolist() == expected
    assert both.shape == (2, len(rows))


def test_places_among_some_rows():
    assert among(np.array([3, 2, 0]), NEAR).tolist() == [[1, -1], [2, 0], [-1, 1]]


def test_what_is_asked_for():
    assert kind_of_pairs({"pairs": "graph"}) == "graph"
    assert kind_of_pairs({"pairs": "cosine"}) is None
    assert kind_of_pairs({}) is None
    pairs = Pairs(swapped=np.array([True, False]), neighbours=np.array([[1], [-1]]))
    assert pairs.digest({}) is None
    found = {pairs.digest({"pairs": one}) for one in ("graph", "counterfactual")}
    assert None not in found
    assert len(found) == 2


def test_pairs_that_are_not_there():
    train = np.array([0, 1])
    with pytest.raises(InputError, match="needs the cases' counterfactuals"):
        check_pairs({"pairs": "counterfactual"}, Pairs(), train)
    with pytest.raises(InputError, match="needs the cases' neighbours"):
        check_pairs({"pairs": "graph"}, Pairs(), train)
    assert check_pairs({"pairs": "cosine"}, Pairs(), train) == []
    none = Pairs(swapped=np.array([False, False, True]), neighbours=np.array([[-1], [-1], [0]]))
    for asked in ("graph", "counterfactual"):
        (remark,) = check_pairs({"pairs": asked}, none, train)
        assert "no pairs" in remark
        assert check_pairs({"pairs": asked}, none, np.array([0, 2])) == []


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 30))
    lists = [
        [one for one in draw(st.lists(st.integers(0, count - 1), max_size=3)) if one != case]
        for case in range(count)
    ]
    return np.array([(one + [-1] * 3)[:3] for one in lists])


@given(graphs(), st.integers(1, 9), st.integers(0, 5))
def test_each_case_stands_in_an_epoch_once(near, batch, seed):
    sampler = made(near, batch, seed)
    for _ in range(2):
        batches = list(sampler.epoch())
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(near)))
        assert [len(one) for one in batches[:-1]] == [batch] * (len(batches) - 1)


def test_neighbours_stand_together():
    count = 40
    near = np.arange(count)[:, None] ^ 1  # couples
    sampler = made(near, 8, 1)
    for one in sampler.epoch():
        assert (partners(one, near) >= 0).all()
    apart = made(np.full((count, 1), -1), 8, 1)
    assert sum(len(one) for one in apart.epoch()) == count


def test_a_couple_waits_for_the_next_batch_while_single_cases_are_left():
    near = np.concatenate([np.arange(20) ^ 1, np.full(20, -1)])[:, None]
    parted = 0
    for seed in range(20):
        sampler = made(near, 5, seed)
        parted += sum((partners(one, near) < 0)[one < 20].sum() for one in sampler.epoch())
    assert parted <= 8  # only where no single case is left
