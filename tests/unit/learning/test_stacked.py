import dataclasses
import math

import numpy as np
import pytest
import torch

from evenhand.learning import stacked
from evenhand.learning.hyperparameters import Hyperparameters
from evenhand.learning.individual_loss import js_divergence, near_enough, nearest, over_pairs
from evenhand.learning.method import Shares
from evenhand.learning.methods import alfr, cfair, laftr_dp, mlp
from evenhand.learning.stacked import Configuration, Network, Options, train_runs
from evenhand.tabular.prepared import make_split
from unit.learning.made_tables import table

SMALL = Hyperparameters(hidden=(8, 6), adversary=(4,), learning_rate=1.0, batch=32, epochs=2)

#: Stacked and alone differ in the order of float32 sums, which training carries on.
TOLERANCE = {"rtol": 0, "atol": 2e-4}


def train(made, method, individual, configurations, seeds, hyperparameters=SMALL, **options):
    grid = [(individual, configurations)]
    return list(
        train_runs(made, method.METHOD, hyperparameters, grid, list(seeds), Options(**options))
    )


def alone(made, method, configuration, seed, individual="none"):
    """One run with plain torch: a module, autograd, an optimiser, and boolean masks."""
    one = stacked.fold(made, method.METHOD, make_split(made, seed))
    torch.manual_seed(seed)
    groups = len(made.attribute_values)
    heads = method.METHOD.heads(groups)
    network = Network(one.x_train.shape[1], SMALL.hidden, SMALL.adversary, heads)
    optimizer = torch.optim.Adadelta(network.parameters(), lr=1.0, rho=0.9, eps=1e-6)
    generator = np.random.default_rng([seed, 1])
    count = len(one.y_train)
    y_all, a_all = one.y_train.numpy(), one.a_train.numpy()
    shares = Shares(
        torch.tensor([np.mean(y_all == j) for j in (0, 1)], dtype=torch.float32),
        torch.tensor(
            [[np.mean(a_all[y_all == j] == g) for g in range(groups)] for j in (0, 1)],
            dtype=torch.float32,
        ),
    )
    for _ in range(SMALL.epochs):
        order = generator.permutation(count)
        for start in range(0, count, SMALL.batch):
            rows = order[start : start + SMALL.batch]
            x, y, a = one.x_train[rows], one.y_train[rows], one.a_train[rows]
            logits, outputs = network(x, len(x))
            weight = 1 / shares.label if method.METHOD.balanced_labels else None
            loss = torch.nn.functional.cross_entropy(logits, y, weight=weight)
            if heads:
                hot = (torch.nn.functional.one_hot(v, n).float() for v, n in ((y, 2), (a, groups)))
                loss = loss + configuration.mu * method.METHOD.adversary_loss(outputs, *hot, shares)
            if individual == "iifr_cosine":
                log_p = logits.log_softmax(-1)
                similarity, partner = nearest(x)
                has = near_enough(similarity, torch.tensor([configuration.epsilon]), "cosine")[0]
                distances = js_divergence(log_p, log_p[partner])
                loss = loss + configuration.lam * over_pairs(distances, has, "sum")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return network(one.x_test, 0)[0].softmax(-1)[:, 1].numpy()


def test_the_trunk_is_trained_against_the_adversaries():
    """Its gradient is that of the negated loss; that of the adversaries is not."""
    network, x = Network(3, (5, 4), (2,), (2,)), torch.randn(9, 3)
    before = network.trunk(x)
    _, (outputs,) = network(x, 6)
    assert torch.equal(outputs, network.adversaries[0](before[:6]))
    found = torch.autograd.grad(outputs.square().sum(), network.parameters(), allow_unused=True)
    loss = network.adversaries[0](before[:6]).square().sum()
    plain = torch.autograd.grad(loss, network.parameters(), allow_unused=True)
    for (name, _), ours, other in zip(network.named_parameters(), found, plain, strict=True):
        assert (ours is None) == (other is None) == name.startswith("labels")
        if ours is not None:
            torch.testing.assert_close(ours, -other if name.startswith("trunk") else other)


@pytest.mark.parametrize("method", [mlp, alfr, laftr_dp, cfair])
@pytest.mark.parametrize("individual", ["none", "iifr_cosine"])
def test_stacked_is_what_each_run_is_alone(method, individual):
    made = table(values=2 if method is laftr_dp else 3)
    mus = [0.5, 2.0] if method.METHOD.mus else [None]
    lams = [0.0] if individual == "none" else [0.1, 1.0]
    epsilon = None if individual == "none" else 0.6
    chosen = [Configuration(lam, epsilon, mu) for lam in lams for mu in mus]
    for run in train(made, method, individual, chosen, [0, 3]):
        expected = alone(made, method, run.configuration, run.seed, individual)
        np.testing.assert_allclose(run.p, expected, **TOLERANCE)


def test_the_same_job_gives_the_same_bytes_on_any_number_of_threads():
    made, chosen = table(), [Configuration(lam, 0.6, None) for lam in (0.1, 1.0)]
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(train(made, mlp, "iifr_cosine", chosen, [0, 1]))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert one.p.tobytes() == other.p.tobytes()
        assert one.flipped.tobytes() == other.flipped.tobytes()


def test_training_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(table(), mlp, "none", [Configuration(0.0, None, None)], [0])
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("values", [2, 4])
def test_counterfactual_pairs_bring_the_flips_together(values):
    made = table(n=400, values=values)
    runs = train(
        made,
        mlp,
        "iifr_counterfactual",
        [Configuration(w, None, None) for w in (0.0, 1.0)],
        [0, 1],
        dataclasses.replace(SMALL, epochs=10),
    )
    distance = [np.nanmean(np.abs(run.flipped - run.p[:, None])) for run in runs]
    assert distance[1] < distance[0] / 3
    assert distance[3] < distance[2] / 3
    assert runs[0].pairs == pytest.approx(280 / 9)  # all of each batch; the last has 24


def test_neighbours_are_counted_and_the_attribute_can_be_left_out():
    made = table(scale="none")
    chosen = [Configuration(0.1, 0.9, None), Configuration(0.1, 0.99, None)]
    many, few = train(made, mlp, "iifr_cosine", chosen, [0])
    assert many.pairs > few.pairs > 0
    blind, _ = train(made, mlp, "iifr_cosine_without_attribute", chosen, [0])
    assert blind.pairs != many.pairs
    third = train(
        made, mlp, "iifr_cosine", [Configuration(1.0, 0.75, None)], [0], epsilon_unit="quantile"
    )
    # a quarter of the batch, 8 of 32 and 2 of the last 8, more where two are equally near
    assert (5 * 8 + 2) / 6 <= third[0].pairs < 8


def test_a_run_that_diverges_leaves_the_others_as_they_are():
    made = table()
    weights = [0.1, math.inf, 1.0]
    chosen = [Configuration(w, 0.6, None) for w in weights]
    runs = train(made, mlp, "iifr_cosine", chosen, [0, 1])
    assert [run.diverged for run in runs] == [False, True, False] * 2
    # in the same layout, with a tame run in the place of the wild one: the same bytes
    chosen[1] = Configuration(0.5, 0.6, None)
    tame = train(made, mlp, "iifr_cosine", chosen, [0, 1])
    for i in (0, 2, 3, 5):
        assert runs[i].p.tobytes() == tame[i].p.tobytes()


def test_more_configurations_than_a_stack_holds(monkeypatch):
    made = table()
    chosen = [Configuration(w, 0.6, None) for w in (0.1, 0.2, 0.3)]
    whole = train(made, mlp, "iifr_cosine", chosen, [0, 1])
    monkeypatch.setattr(stacked, "STACK", 2)
    parts = train(made, mlp, "iifr_cosine", chosen, [0, 1])
    assert [(run.seed, run.configuration) for run in parts] == [
        (run.seed, run.configuration) for run in whole
    ]
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one.p, other.p, **TOLERANCE)


def test_the_official_split_is_the_same_for_all_seeds():
    made = table(official=True)
    runs = train(made, mlp, "none", [Configuration(0.0, None, None)], [0, 1], split="official")
    assert (runs[0].split.test == np.flatnonzero(made.official == "test")).all()
    assert (runs[1].split.test == runs[0].split.test).all()
    assert not np.array_equal(runs[1].p, runs[0].p)


def test_a_last_batch_of_one_is_no_trouble():
    made = table(n=47)  # 33 rows to train on
    runs = train(made, mlp, "iifr_cosine", [Configuration(1.0, 0.0, None)], [0, 1])
    assert not any(run.diverged for run in runs)
    assert runs[0].pairs <= 32 / 2
