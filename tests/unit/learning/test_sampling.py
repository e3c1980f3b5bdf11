import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learning import sampling

NAMES = ("shuffle", "group_uniform", "group_weighted", "group_pairs")

groups = st.lists(st.integers(0, 8), min_size=1, max_size=60).map(np.array)
batches = st.integers(1, 40)
names = st.sampled_from(NAMES)


def made(name, groups, batch, seed=0):
    return sampling.make_sampler(name, groups, batch, np.random.default_rng(seed))


def take(sampler, count):
    return [rows.tolist() for rows in itertools.islice(sampler, count)]


@given(st.integers(1, 60), batches, st.integers(0, 9))
def test_shuffled_gives_each_case_once_an_epoch(count, batch, seed):
    sampler = made("shuffle", np.zeros(count), batch, seed)
    epochs = [[rows.tolist() for rows in sampler.epoch()] for _ in range(3)]
    for epoch in epochs:
        assert len(epoch) == sampler.per_epoch == -(-count // batch)
        assert sorted(itertools.chain(*epoch)) == list(range(count))
        assert all(len(rows) == batch for rows in epoch[:-1])
    assert count < 10 or epochs[0] != epochs[1]


@given(groups, batches, st.integers(0, 9))
def test_group_uniform_is_as_even_as_can_be(groups, batch, seed):
    sampler = made("group_uniform", groups, batch, seed)
    present = sorted(set(groups.tolist()))
    assert sampler.per_epoch == -(-len(groups) // batch)
    total = Counter()
    for rows in take(sampler, 30):
        assert len(rows) == batch
        counts = Counter(groups[rows].tolist())
        assert set(counts) <= set(present)
        assert max(counts.values()) - min(counts[one] for one in present) <= 1
        total += counts
        # and over all batches so far: who gets one more goes round
        assert max(total.values()) - min(total[one] for one in present) <= 1


@given(groups, batches, st.integers(0, 9))
def test_group_uniform_repeats_no_case_before_its_group_is_through(groups, batch, seed):
    drawn = list(itertools.chain(*take(made("group_uniform", groups, batch, seed), 30)))
    for group in set(groups.tolist()):
        mine = np.flatnonzero(groups == group).tolist()
        deck = [row for row in drawn if groups[row] == group]
        for start in range(0, len(deck), len(mine)):
            round_ = deck[start : start + len(mine)]
            assert len(set(round_)) == len(round_)
            assert len(round_) < len(mine) or sorted(round_) == mine


@settings(deadline=None)
@given(names, groups, batches, st.integers(0, 50), st.integers(0, 9))
def test_a_restored_sampler_goes_on_the_same(name, groups, batch, before, seed):
    sampler = made(name, groups, batch, seed)
    take(sampler, before)
    state = json.loads(json.dumps(sampler.state_dict()))  # as a checkpoint keeps it
    expected = take(sampler, 20)
    other = made(name, groups, batch, seed + 1)
    take(other, 3)
    other.load_state_dict(state)
    assert other.drawn == before
    assert take(other, 20) == expected
    # and once more, from the same state
    other.load_state_dict(state)
    assert take(other, 20) == expected


def test_an_epoch_goes_on_where_it_stood():
    sampler = made("shuffle", np.zeros(10), 3)
    take(sampler, 3)
    assert len(list(sampler.epoch())) == 1
    assert len(list(sampler.epoch())) == 4


def test_group_weighted_draws_groups_alike():
    groups = np.array([0] * 900 + [5] * 90 + [7] * 10)
    sampler = made("group_weighted", groups, 16)
    epochs = [rows for _ in range(5) for rows in sampler.epoch()]
    assert sampler.per_epoch == 63
    assert len(epochs[62]) == 1000 % 16
    counts = Counter(groups[np.concatenate(epochs)].tolist())
    assert sum(counts.values()) == 5000
    for count in counts.values():
        assert count == pytest.approx(5000 / 3, rel=0.1)
    # with replacement: some case of the large group comes twice
    assert max(Counter(np.concatenate(epochs[:63]).tolist()).values()) > 1


@given(groups, batches, st.integers(0, 9))
def test_group_pairs_are_halves_of_two_groups(groups, batch, seed):
    for rows in take(made("group_pairs", groups, batch, seed), 10):
        assert len(rows) == batch
        counts = Counter(groups[rows].tolist())
        assert len(counts) == min(2, batch, len(set(groups.tolist())))
        assert max(counts.values()) - min(counts.values()) <= 1
        for group, count in counts.items():
            if count <= (groups == group).sum():
                mine = [row for row in rows if groups[row] == group]
                assert len(set(mine)) == len(mine)


def test_group_pairs_meet_all():
    groups = np.repeat(np.arange(4), 5)
    pairs = Counter(
        tuple(sorted(set(groups[rows].tolist())))
        for rows in take(made("group_pairs", groups, 4), 600)
    )
    assert len(pairs) == 6
    assert min(pairs.values()) > 60
