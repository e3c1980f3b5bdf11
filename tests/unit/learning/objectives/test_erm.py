import math

import pytest

from evenhand.learning.objective import load_objective
from unit.learning.objectives.cases import answers, batch_of

erm, erm_group_uniform = map(load_objective, ("erm", "erm_group_uniform"))


@pytest.mark.parametrize("objective", [erm, erm_group_uniform])
def test_it_is_the_mean_loss(objective):
    batch = batch_of(answers(0.5, 0.75, 0.1, 0.9), [0, 1, 0, 0], [0, 0, 1, 2])
    value, state = objective.loss(batch, {}, {}, None)
    assert value.item() == pytest.approx(-math.log(0.5 * 0.75 * 0.9 * 0.1) / 4)
    assert state == {}
