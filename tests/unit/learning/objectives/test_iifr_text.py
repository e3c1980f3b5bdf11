import math

import pytest
import torch

from evenhand.errors import InputError
from evenhand.learning.objective import losses_of
from evenhand.learning.objectives import iifr_text
from unit.learning.objectives.cases import answers, batch_of, made

P = answers(0.5, 0.9, 0.2, 0.75)
LABELS, GROUPS = [0, 1, 0, 0], [0, 0, 1, 1]


def js(p, q):
    """Of two Bernoulli distributions, in nats."""
    middle = (p + q) / 2

    def entropy(x):
        return -sum(y * math.log(y) for y in (x, 1 - x) if y)

    return entropy(middle) - (entropy(p) + entropy(q)) / 2


def extra(batch, **options):
    """What the pairs add to the mean loss."""
    options = {**iifr_text.OPTIONS, "weight": 1.0, **options}
    value, state = iifr_text.loss(
        batch, iifr_text.initial_state(torch.ones(2, dtype=torch.bool), options), options, None
    )
    assert state == {}
    return (value - losses_of(batch).mean()).item()


def test_counterfactual_pairs_by_hand():
    batch = batch_of(
        P, LABELS, GROUPS,
        partner_logits=answers(0.5, 0.1, 0.4, 0.9),
        has_partner=torch.tensor([True, True, True, False]),
    )  # fmt: skip
    total = js(0.9, 0.1) + js(0.2, 0.4)
    assert extra(batch, pairs="counterfactual") == pytest.approx(total / 3)
    assert extra(batch, pairs="counterfactual", reduction="sum") == pytest.approx(total)
    assert extra(batch, pairs="counterfactual", weight=7.0) == pytest.approx(7 * total / 3)


def test_neighbours_of_a_graph_by_hand():
    batch = batch_of(P, LABELS, GROUPS, partner=torch.tensor([1, -1, 3, -1]))
    assert extra(batch, pairs="graph") == pytest.approx((js(0.5, 0.9) + js(0.2, 0.75)) / 2)


def test_cosine_neighbours_by_hand():
    # cosines of the nearest: 0 and 1: 0.96; 2 to 1: 0.8; 3 is at right angles to all
    features = torch.tensor([[1.0, 0, 0], [24, 7, 0], [3, 4, 0], [0, 0, 5]], dtype=torch.float64)
    batch = batch_of(P, LABELS, GROUPS, features=features)
    two = 2 * js(0.5, 0.9)
    far = js(0.2, 0.9)  # 2 is nearer to 1: (24 * 3 + 7 * 4) / 125 = 0.8, to 0: 0.6
    by_cosine = {0.0: (two + far) / 3, 0.9: two / 2, 0.97: 0.0}
    for epsilon, expected in by_cosine.items():
        found = extra(batch, epsilon=epsilon, epsilon_unit="cosine")
        assert found == pytest.approx(expected, abs=1e-12)
    # quantiles of 0, .8, .96, .96
    by_quantile = {0.8: two / 2, 0.5: two / 2, 0.3: (two + far) / 3}
    for epsilon, expected in by_quantile.items():
        assert extra(batch, epsilon=epsilon) == pytest.approx(expected)


def test_nothing_is_learned_about_who_is_near():
    batch = made(0, "multi_class")
    batch.features.requires_grad_()
    batch.logits.requires_grad_()
    iifr_text.loss(batch, {}, iifr_text.OPTIONS, None)[0].backward()
    assert batch.features.grad is None
    assert batch.logits.grad is not None


def test_several_labels_a_case_are_as_many_coins():
    p = torch.tensor([[0.5, 0.9], [0.1, 0.4]], dtype=torch.float64)
    labels = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    batch = batch_of(p.logit(), labels, [0, 1], "multi_label", partner=torch.tensor([1, -1]))
    expected = (js(0.5, 0.1) + js(0.9, 0.4)) / 2
    assert extra(batch, pairs="graph") == pytest.approx(expected)


def test_both_sides_of_a_pair_learn():
    batch = made(3, "multi_label")
    batch.partner_logits.requires_grad_()
    iifr_text.loss(batch, {}, {**iifr_text.OPTIONS, "pairs": "counterfactual"}, None)[0].backward()
    has = batch.has_partner
    assert (batch.partner_logits.grad[has] != 0).all()
    assert (batch.partner_logits.grad[~has] == 0).all()


def test_the_quantile_is_torchs():
    values = torch.randn(9, generator=torch.Generator().manual_seed(0))
    for q in (0.0, 0.3, 0.5, 0.99, 1.0):
        torch.testing.assert_close(iifr_text._quantile(values, q), values.quantile(q))


@pytest.mark.parametrize(
    "wrong", [{"pairs": "nearest"}, {"reduction": "max"}, {"epsilon_unit": "%"}, {"epsilon": 1.5}]
)
def test_options_that_are_no_choice_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        iifr_text.initial_state(torch.tensor([True]), {**iifr_text.OPTIONS, **wrong})
