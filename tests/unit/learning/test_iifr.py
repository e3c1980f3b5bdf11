import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learning.individual_loss import (
    NO_NEIGHBOUR,
    js_divergence,
    near_enough,
    nearest,
    over_pairs,
)
from evenhand.learning.method import label_cross_entropy
from unit.learning import algorithm_2


def made(seed, n=24):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=generator, dtype=torch.float64)
    x[3] = 0  # a row of zeros
    x[5] = 2 * x[4] + 0.01  # a near pair
    y = torch.randint(2, (n,), generator=generator)
    w = torch.randn(5, 2, generator=generator, dtype=torch.float64)
    return x, y, w


def vectorised(x, y, w, lam, epsilon):
    log_p = (x @ w).log_softmax(dim=-1)
    similarity, partner = nearest(x)
    has_pair = near_enough(similarity, torch.tensor([epsilon], dtype=x.dtype), "cosine")[0]
    loss = label_cross_entropy(log_p, torch.nn.functional.one_hot(y, 2).to(x.dtype))
    individual = over_pairs(js_divergence(log_p, log_p[partner]), has_pair, "sum")
    return loss + lam * individual, int(has_pair.sum())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5, 0.8, 0.99]))
def test_the_vectorised_loss_is_the_double_loop(seed, epsilon):
    x, y, w = made(seed)
    values = []
    for loss in (
        lambda w: vectorised(x, y, w, 1.3, epsilon),
        lambda w: algorithm_2.loss(x, y, lambda row: (row @ w).softmax(-1), 1.3, epsilon),
    ):
        weights = w.clone().requires_grad_()
        value, pairs = loss(weights)
        value.backward()
        values.append((value.item(), pairs, weights.grad))
    assert values[0][0] == pytest.approx(values[1][0], rel=1e-12)
    assert values[0][1] == values[1][1]
    assert values[0][1] > 0 or epsilon > 0.9
    torch.testing.assert_close(values[0][2], values[1][2], rtol=1e-9, atol=1e-12)


def test_sum_mean_and_base():
    p = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]], dtype=torch.float64).clamp(1e-300)
    log_p = p.log()
    partner = log_p[[1, 0, 0]]
    has_pair = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    one = 0.2157615543388357  # of [1, 0] and [.5, .5]
    distances = js_divergence(log_p, partner)
    assert over_pairs(distances, has_pair, "sum").item() == pytest.approx(2 * one)
    assert over_pairs(distances, has_pair, "mean").item() == pytest.approx(one)
    bits = over_pairs(js_divergence(log_p, partner, base=2), has_pair, "sum")
    assert bits.item() == pytest.approx(2 * one / math.log(2))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_without_a_pair_it_is_zero_and_so_is_its_gradient(reduction):
    logits = torch.randn(4, 2, requires_grad=True, generator=torch.Generator().manual_seed(0))
    log_p = logits.log_softmax(dim=-1)
    loss = over_pairs(js_divergence(log_p, log_p.flip(0)), torch.zeros(4), reduction)
    loss.backward()
    assert loss == 0
    assert (logits.grad == 0).all()


def test_a_row_of_zeros_leaves_the_others_their_pairs():
    # COMPAS has 117 such rows; a plain quotient would make the whole batch NaN
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    similarity, partner = nearest(x)
    assert partner[1:3].tolist() == [2, 1]
    assert similarity[0] == 0
    assert similarity[1] > 0.99
    assert torch.isfinite(similarity).all()


def test_the_first_of_equals_is_taken():
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert nearest(x)[1].tolist() == [1, 2, 1, 1]


def test_nobody_is_near_to_one_alone():
    similarity, _ = nearest(torch.ones(1, 3))
    assert similarity.item() == NO_NEIGHBOUR
    for unit, epsilon in (("cosine", -1.0), ("quantile", 0.0)):
        assert near_enough(similarity, torch.tensor([epsilon]), unit).sum() == 0


def test_parallel_rows_do_not_pass_one():
    x = torch.tensor([[1.0, 2.0, 3.0]]) * torch.arange(1, 50)[:, None] / 7
    similarity, _ = nearest(x)
    assert near_enough(similarity, torch.tensor([1.0]), "cosine").sum() == 0
    assert near_enough(similarity, torch.tensor([0.999]), "cosine").sum() == 49


def test_a_quantile_switches_nobody_off_who_is_as_near_as_others():
    # people of few features are often parallel; their cosines differ from 1 by rounding alone
    x = torch.tensor([[1.0, 2.0, 3.0]]) * torch.arange(1, 9)[:, None] / 7
    far = torch.eye(3)[:2] * torch.tensor([[1.0], [-1.0]])
    similarity, _ = nearest(torch.cat([x, far]))
    for quantile in (0.3, 0.5, 0.8, 1.0):
        found = near_enough(similarity, torch.tensor([quantile]), "quantile")[0]
        assert found.tolist() == [1.0] * 8 + [0.0] * 2


def test_thresholds_are_strict_cosines_or_quantiles_with_ties():
    similarity = torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.5], [0.9, 0.8, 0.7, 0.6, 0.5]])
    epsilons = torch.tensor([0.5, 0.3])
    found = near_enough(similarity, epsilons, "cosine")
    assert found.shape == (2, 2, 5)
    assert found[0].tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]
    assert found[1].tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    found = near_enough(similarity, torch.tensor([0.5, 0.75]), "quantile")
    assert found[0].tolist() == [[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    assert found[1].tolist() == [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]
