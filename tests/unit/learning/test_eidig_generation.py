import numpy as np
import pytest

from evenhand.learning.eidig import generation
from evenhand.learning.eidig import space as spaces
from unit.learning.made_eidig import example, people, trained


@pytest.fixture(scope="module", params=["whole numbers", "one-hot"])
def found(request):
    """Space, network, seeds, what the global search found, and the local one."""
    table, rows, space, network = example()
    if request.param == "one-hot":
        space = spaces.one_hot(table, rows)
        network = trained(space, table.y, rows)
    generator = np.random.default_rng(0)
    seeds = generation.seed_rows(space, rows, generator)
    starts = generation.global_search(space, network, seeds)
    near = generation.local_search(space, network, starts, generator, interval=5, tries=40)
    return space, network, seeds, starts, near


def test_what_is_found_is_discriminatory(found):
    space, network, _, starts, near = found
    assert len(starts) and len(near)
    for rows in (starts, near):
        turned = rows.copy()
        turned[:, space.protected] = 1 - turned[:, space.protected]
        labels = space.predict(network, rows) > 0.5
        assert (labels != (space.predict(network, turned) > 0.5)).all()


def test_the_global_search_leaves_rows_that_are_not_discriminatory(found):
    space, network, seeds, *_ = found
    quiet = seeds[~generation.outcomes(space, network, seeds)[0]]
    reached = generation.global_search(space, network, quiet)
    assert len(reached) and generation.outcomes(space, network, reached)[0].all()


def test_what_is_found_is_distinct_and_stays_in_range(found):
    space, _, _, starts, near = found
    for rows in (starts, near):
        assert (rows >= space.lowest).all() and (rows <= space.highest).all()
        listed = list(map(tuple, rows.tolist()))
        assert listed == sorted(set(listed))


def test_the_searches_leave_their_input_alone(found):
    space, network, seeds, starts, _ = found
    before = seeds.copy(), starts.copy()
    generation.global_search(space, network, seeds)
    generator = np.random.default_rng(1)
    generation.local_search(space, network, starts, generator, interval=None, tries=5)
    assert (seeds == before[0]).all() and (starts == before[1]).all()


def test_the_local_search_goes_on_from_the_global_one(found):
    space, network, _, starts, _ = found
    generator = np.random.default_rng(1)
    near = generation.local_search(space, network, starts[:1], generator, interval=5, tries=40)
    assert len(near) > 3
    # one step from a start changes one attribute by one step at most
    generator = np.random.default_rng(1)
    once = generation.local_search(space, network, starts[:1], generator, interval=5, tries=1)
    moved = np.abs(once - starts[0])
    assert (moved <= space.steps).all() and ((moved > 0).sum(axis=1) <= 1).all()


def test_gradients_are_computed_again_after_five_successful_steps(found, monkeypatch):
    space, network, _, starts, _ = found
    computed = []

    def odds(space, network, codes, partner):
        computed.append(len(codes))
        return real(space, network, codes, partner)

    real = generation._odds
    monkeypatch.setattr(generation, "_odds", odds)

    def sizes(interval, tries):
        computed.clear()
        generator = np.random.default_rng(1)
        generation.local_search(space, network, starts, generator, interval=interval, tries=tries)
        return computed[1:]  # the first are of all starts

    assert sizes(5, 5) == sizes(None, 40) == []
    assert 0 < sum(sizes(5, 6)) < sum(sizes(5, 11)) < 2 * len(starts)


def test_partners_lie_farthest():
    table, rows, space, network = example()
    codes = space.codes[:50]
    differs, partner = generation.outcomes(space, network, codes)
    assert 0 < differs.sum() < 50
    assert (partner[:, 2] == 1 - codes[:, 2]).all() and (partner[:, :2] == codes[:, :2]).all()
    # a network that does not look at the attribute discriminates against nobody
    blind = type(network)(network.sizes, network.theta.copy())
    blind.layers()[0][0][2] = 0
    differs, partner = generation.outcomes(space, blind, codes)
    assert not differs.any() and (partner == codes).all()
    starts = generation.global_search(space, blind, space.codes[rows])
    assert len(starts) == 0
    near = generation.local_search(
        space, blind, starts, np.random.default_rng(0), interval=5, tries=3
    )
    assert near.shape == (0, 3)
    assert len(table.y) == 400


def test_odds_favour_what_matters_little():
    _, _, space, network = example()
    codes = space.codes[:30]
    odds = np.diff(generation._odds(space, network, codes, codes), prepend=0, axis=1)
    slopes = np.abs(space.gradient(network, codes))
    np.testing.assert_allclose(odds.sum(axis=1), 1)
    assert (odds[:, 2] == 0).all()
    assert ((odds[:, 0] > odds[:, 1]) == (slopes[:, 0] < slopes[:, 1])).all()


def test_seeds_are_taken_from_each_cluster_in_turn(monkeypatch):
    made = people()
    rows = np.arange(280)
    space = spaces.native(made, rows)
    everyone = generation.seed_rows(space, rows, np.random.default_rng(0))
    assert (everyone == space.codes[:280]).all()
    monkeypatch.setattr(generation, "SEEDS", 40)
    some = generation.seed_rows(space, rows, np.random.default_rng(0))
    again = generation.seed_rows(space, rows, np.random.default_rng(0))
    assert some.shape == (40, 3) and (some == again).all()
    # clusters of the sizes 0 to 5 part by it: small and large are equally many
    assert 10 <= (some[:, 1] <= 2).sum() <= 30


@pytest.mark.parametrize(("count", "drawn"), [(0, 0), (19, 0), (20, 1), (400, 20)])
def test_a_share_is_drawn(count, drawn):
    rows = np.arange(2 * count).reshape(count, 2)
    some = generation.draw(rows, np.random.default_rng(0))
    assert some.shape == (drawn, 2)
    assert set(map(tuple, some.tolist())) <= set(map(tuple, rows.tolist()))


def test_votes_do_not_see_the_attribute():
    table, rows, space, _ = example()
    fewer = rows[:120]
    codes = space.codes[280:310]
    turned = codes.copy()
    turned[:, 2] = 1 - turned[:, 2]
    labels = generation.vote(space, fewer, table.y[fewer], codes, 0)
    assert set(labels.tolist()) == {0, 1} and labels.dtype == np.int8
    assert (labels == generation.vote(space, fewer, table.y[fewer], turned, 0)).all()
    # large ones have the label 1, small ones have not
    assert labels[codes[:, 1] == 5].all() and not labels[codes[:, 1] == 0].any()


def test_a_vote_on_nobody():
    table, rows, space, _ = example()
    assert len(generation.vote(space, rows, table.y[rows], space.codes[:0], 0)) == 0
