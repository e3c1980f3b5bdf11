from dataclasses import replace

import numpy as np
import pytest

from evenhand.learning.eidig import space as spaces
from evenhand.learning.eidig.network import glorot, probability
from evenhand.tabular.prepared import scaled
from unit.learning.made_eidig import example, people
from unit.learning.made_tables import table

TRAIN = np.arange(280)


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_codes_give_back_the_features(scale):
    made = people(scale=scale)
    space = spaces.one_hot(made, TRAIN)
    assert (space.protected, space.hidden, space.inputs) == (3, [3], 6)
    assert space.codes[:, 0].tolist() == made.integers[:, 0].tolist()
    assert space.codes[:, 1].tolist() == made.integers[:, 1].tolist()
    _, x = scaled(made, made.x[TRAIN], made.x)
    np.testing.assert_array_equal(space.encode(space.codes), x.astype(np.float32))


def test_a_column_with_many_values_is_walked_faster():
    space = spaces.one_hot(people(), TRAIN)
    assert space.steps.tolist() == [1, 1, 20, 1]
    assert space.highest.tolist() == [2, 5, space.codes[TRAIN, 2].max(), 1]


def test_columns_that_exclude_nothing_are_attributes_of_their_own():
    made = people()
    x = made.x.copy()
    x[0, :3] = 0  # nobody's colour: so the three columns are no one-hot group
    space = spaces.one_hot(replace(made, x=x), TRAIN)
    assert space.codes.shape[1] == 6
    _, wanted = scaled(made, x[TRAIN], x)
    np.testing.assert_array_equal(space.encode(space.codes), wanted.astype(np.float32))


def test_one_hot_attributes_with_several_values():
    made = table(60, values=3)
    space = spaces.one_hot(made, np.arange(40))
    assert space.codes.shape[1] == 4
    assert (space.codes[:, -1] == made.a).all()
    _, x = scaled(made, made.x[:40], made.x)
    np.testing.assert_array_equal(space.encode(space.codes), x.astype(np.float32))


def test_whole_numbers():
    made = people()
    space = spaces.native(made, TRAIN)
    assert (space.protected, space.hidden, space.inputs) == (2, [2], 3)
    assert (space.encode(space.codes) == made.integers).all()
    assert space.highest.tolist() == [2, 5, 1]


def test_slopes_are_half_the_difference_of_a_step_up_and_down():
    made = people()
    space = spaces.one_hot(made, TRAIN)
    network = glorot((6, 5, 2), np.random.default_rng(0))
    rows = space.codes[:9]
    slopes = space.gradient(network, rows)
    assert slopes.shape == (9, 4) and (slopes[:, 3] == 0).all()
    for i, row in enumerate(rows):
        for j, step in enumerate([1, 1, 20]):
            up, down = row.copy(), row.copy()
            up[j] = min(row[j] + step, space.highest[j])
            down[j] = max(row[j] - step, space.lowest[j])
            p = space.predict(network, np.stack([up, down]))
            assert slopes[i, j] == pytest.approx((p[0] - p[1]) / 2, abs=1e-6)


def test_predictions_are_those_of_the_encoded_rows():
    space = spaces.one_hot(people(), TRAIN)
    network = glorot((6, 5, 2), np.random.default_rng(0))
    wanted = probability(network, space.encode(space.codes))
    np.testing.assert_allclose(space.predict(network, space.codes), wanted, atol=1e-6)
    assert space.predict(network, space.codes[:0]).shape == (0,)


def test_exact_slopes_are_those_of_small_steps():
    _, _, space, network = example()
    # all zero would be the kink of a unit whose bias is 0
    rows = space.codes[space.codes.any(axis=1)][:20]
    slopes = space.gradient(network, rows)
    assert (slopes[:, 2] == 0).all()
    network = replace(network, theta=network.theta.astype(np.float64))
    for j in range(2):
        around = [rows + sign * 1e-7 * np.eye(3)[j] for sign in (1, -1)]
        up, down = (probability(network, x) for x in around)
        np.testing.assert_allclose(slopes[:, j], (up - down) / 2e-7, atol=1e-4)
