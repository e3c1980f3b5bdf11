"""Erasure: against the published equation, and on problems with a planted attribute."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from scipy.special import softmax

from evenhand.learning import erasure
from evenhand.learning.erasure import (
    balanced_weights,
    contrasts,
    erased_last_layer,
    fit_inlp,
    fit_last_layer,
    group_reading,
    leace,
)
from evenhand.learning.examples import Examples
from evenhand.learning.objective import load_objective
from evenhand.learning.planted import plant_cases
from evenhand.learning.probes import DECAY, EVERY, PATIENCE, PROBES, probe
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings
from evenhand.metrics.group import LEAST, merge_rare


def rows(n=400, width=7, groups=3, seed=0):
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, groups, n)
    x = generator.normal(size=(n, width)) @ generator.normal(size=(width, width))
    x[:, 2] += codes
    x[:, 4] -= 2 * (codes == 1)
    return x, codes


def published_leace(x, codes):
    """Belrose et al. (2023), theorem 4.3: x - W^+ P W (x - mean), W the whitening of x.

    Their package concept-erasure 0.2.4 (shrinkage and constrain_cov_trace off) gives the same.
    """
    groups = np.eye(codes.max() + 1)[codes]
    centred, values = x - x.mean(axis=0), groups - groups.mean(axis=0)
    lengths, vectors = np.linalg.eigh(centred.T @ centred / len(x))
    whitening = vectors / np.sqrt(lengths) @ vectors.T
    u, s, _ = np.linalg.svd(whitening @ (centred.T @ values / len(x)), full_matrices=False)
    u = u[:, s > 1e-9]
    return x - centred @ (np.linalg.inv(whitening) @ u @ u.T @ whitening).T


def erased(x, codes, hot):
    """Return x after LEACE: the outputs of the identity, as a classifier's weights."""
    groups = np.eye(codes.max() + 1)[codes]
    cross, reading = x.T @ contrasts(groups, hot), group_reading(x, groups, hot)
    return x @ leace(np.eye(x.shape[1]), cross, reading, reading.T @ cross)


def test_leace_is_the_published_one():
    x, codes = rows()
    same = np.ones((len(x), 1))
    apart = erased(x, codes, same) - published_leace(x, codes)
    np.testing.assert_allclose(apart, [apart[0]] * len(x), atol=1e-4)
    sparse = erased(csr_matrix(x), codes, same)
    np.testing.assert_allclose(sparse, erased(x, codes, same), atol=1e-9)


@pytest.mark.parametrize("wide", [False, True])
def test_after_leace_features_do_not_depend_on_groups_within_labels(wide):
    x, codes = rows(n=40 if wide else 400, width=60 if wide else 7)
    labels = np.random.default_rng(1).permuted(codes)
    labels[: len(x) // 2] = codes[: len(x) // 2]
    x[:, 3] += labels
    x[:, 5] = 1.0  # a constant feature
    hot = np.eye(3)[labels]
    after = erased(x, codes, hot)
    effects = np.linalg.lstsq(np.hstack([hot, np.eye(3)[codes]]), after)[0]
    np.testing.assert_allclose(effects[3:], [effects[3]] * 3, atol=1e-5)
    assert wide or np.ptp(effects[:3, 3]) > 1
    assert np.abs(x - after).max() > 0.5


def test_inlp_stops_when_nothing_is_left_to_read():
    x, codes = rows(n=2000)
    weights = balanced_weights(codes)
    basis = fit_inlp(x, codes, weights, 5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
    assert 2 <= basis.shape[1] < 7
    noise, two = (
        np.random.default_rng(1).normal(size=x.shape),
        np.random.default_rng(2).permuted(np.arange(len(x)) % 2),
    )
    assert fit_inlp(noise, codes, weights, 5).shape[1] == 0
    noise[:, 3] += two  # read with an accuracy of 69 %
    assert fit_inlp(noise, two, balanced_weights(two), 5).shape[1] >= 1
    assert not fit_inlp(x[:, [2, 4]], codes, weights, 5).any()  # nothing else would be left


def test_inlp_keeps_a_label_that_is_correlated_with_the_groups():
    rng = np.random.default_rng(2)
    codes = rng.permuted(np.arange(2000) % 2)
    labels = np.where(rng.random(2000) < 0.95, codes, 1 - codes)
    x = rng.normal(size=(2000, 7))
    x[:, 3] += 3 * labels  # all that tells the groups
    assert fit_inlp(x, codes, balanced_weights(2 * labels + codes), 5).shape[1] == 0


def test_rows_weigh_the_same_by_group_and_unknown_ones_nothing():
    weights = balanced_weights(np.array([0, 0, 0, 2, -1]))
    np.testing.assert_allclose(weights, [1 / 6, 1 / 6, 1 / 6, 1 / 2, 0])
    cells, labels = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 0, 0, 1])
    weights = balanced_weights(cells, labels)  # 4 of 5 rows have label 0, 3 of them of one group
    np.testing.assert_allclose(weights, [2 / 15, 2 / 15, 2 / 15, 2 / 5, 1 / 5])


@pytest.mark.parametrize("objective", ["leace", "inlp"])
@pytest.mark.parametrize(("select", "share"), [("macro_f1", None), ("worst_group_f1", 0.48)])
def test_erasure_keeps_the_shares_of_labels_unless_the_worst_group_counts(objective, select, share):
    rng = np.random.default_rng(6)
    labels, groups = np.divmod(rng.choice(4, 2000, p=[0.6, 0.2, 0.05, 0.15]), 2)
    x = rng.normal(size=(2000, 5))
    x[:, 0] += 0.5 * labels
    train, dev = np.split(np.arange(2000), [1500])
    some = Examples(
        ids=[str(i) for i in range(2000)], labels=labels, classes=2, task="multi_class",
        train=train, dev=dev, groups=groups, group_names=["a", "b"], known_groups=2,
    )  # fmt: skip
    module = load_objective(objective)
    problem = Problem(some, module, module.OPTIONS, Settings(select=select))
    layer = module.last_layer(x, problem, np.arange(2000))
    predicted = softmax(x @ layer.weight + layer.bias, axis=1)[:, 1]
    assert predicted.mean() == pytest.approx(labels.mean() if share is None else share, abs=0.02)


def test_rare_labels_of_a_group_count_as_its_most_frequent():
    groups = np.repeat([0, 1], [2 * LEAST + 1, LEAST + 1])
    labels = np.array([*[0] * LEAST, *[2] * (LEAST + 1), *[1] * (LEAST), 0])
    merged = merge_rare(labels, groups, np.arange(len(groups)))
    assert merged.tolist() == [*[0] * LEAST, *[2] * (LEAST + 1), *[1] * (LEAST + 1)]
    # only training cases count
    assert set(merge_rare(labels, groups, np.flatnonzero(labels == 2))[groups == 0]) == {2}


@pytest.fixture(scope="module", params=[0.5, 0.95])
def planted(request):
    return plant_cases(4, request.param, sizes=(2000, 500, 2000)), request.param


def test_the_planted_truth(planted):
    cases, agreement = planted
    some, test = cases.examples, cases.test
    for part, share in ((some.train, agreement), (some.dev, agreement), (test, 0.5)):
        assert np.mean(some.labels[part] == some.groups[part]) == pytest.approx(share, abs=0.04)
    assert len(np.unique(cases.words)) == cases.terms == 300
    matrix = cases.tfidf()
    np.testing.assert_allclose(np.sqrt(matrix.power(2).sum(axis=1)), 1, atol=1e-5)
    splits = some.train, some.dev, test
    found = {name: probe(matrix.toarray()[None], some.groups, splits, hidden=hidden)
             for name, hidden in PROBES.items()}  # fmt: skip
    for one in found.values():
        assert (one.groups, one.cases, one.chance) == (2, 2000, 0.5)
        assert one.low < one.mean < one.high
        assert one.mean > 0.9


def test_a_probe_of_nothing_ends_early_and_its_weights_decay(monkeypatch):
    ratios, step = [], torch.optim.Adam.step

    def seen(optimizer):
        weight = optimizer.param_groups[0]["params"][0]
        ratios.append((weight.grad / weight).detach())
        step(optimizer)

    monkeypatch.setattr(torch.optim.Adam, "step", seen)
    splits = np.split(np.arange(60), 3)
    found = probe(np.ones((1, 60, 3)), np.arange(60) % 2, splits, hidden=0)
    assert (found.mean, len(ratios)) == (0.5, EVERY * (1 + PATIENCE))
    np.testing.assert_allclose(ratios[0], DECAY, rtol=1e-5)


@pytest.mark.parametrize("rounds", [0, 8])
def test_what_the_last_layer_reads_does_not_tell_the_group(planted, rounds):
    cases, _ = planted
    some, matrix = cases.examples, cases.tfidf()
    fresh = np.union1d(some.train, some.dev)
    layer = erased_last_layer(matrix, some, fresh, rounds)
    logits, kept = matrix @ layer.weight + layer.bias, matrix @ layer.reads
    plain = fit_last_layer(matrix, some, some.train, some.dev)
    splits = some.train, some.dev, cases.test
    for hidden in PROBES.values():
        for values in (kept, logits):
            found = probe(values[None], some.groups, splits, hidden=hidden)
            assert found.mean < 0.53
    right = np.mean(logits[cases.test].argmax(axis=1) == some.labels[cases.test])
    of_plain = (matrix @ plain.weight + plain.bias)[cases.test].argmax(axis=1)
    assert right > np.mean(of_plain == some.labels[cases.test]) - 0.005


def test_an_erasure_that_ignores_labels_takes_the_label_along(monkeypatch):
    """Why groups are compared within labels: else half of the accuracy above chance is lost."""
    cases = plant_cases(4, 0.95, sizes=(2000, 500, 2000))
    some, matrix = cases.examples, cases.tfidf()

    def accuracy():
        layer = erased_last_layer(matrix, some, np.union1d(some.train, some.dev))
        predicted = (matrix @ layer.weight + layer.bias)[cases.test].argmax(axis=1)
        return np.mean(predicted == some.labels[cases.test])

    within = accuracy()
    monkeypatch.setattr(erasure, "contrasts", lambda g, hot, w=None: contrasts(g, hot[:, :1] ** 0))
    assert accuracy() < within - 0.1


def test_a_difference_of_one_label_counts_for_each_label_alike():
    labels, groups = np.divmod(np.repeat(np.arange(4), [300, 20, 20, 60]), 2)
    gaps = np.where(labels == 1, 2.0, 0.0) * groups + 5 * labels
    hot, group = np.eye(2)[labels], groups[:, None]
    weighted = contrasts(group, hot, balanced_weights(2 * labels + groups))
    assert gaps @ weighted[:, 0] == pytest.approx(0.25 * 1.0)  # variance of the group, mean gap
    assert gaps @ contrasts(group, hot)[:, 0] != pytest.approx(0.25, rel=0.3)


def test_erasure_weighs_the_labels_alike():
    """In most cases the groups are alike, but not in those of the rarer label."""
    rng, n = np.random.default_rng(8), 40_000
    labels, groups = np.divmod(rng.choice(4, n, p=[0.55, 0.25, 0.05, 0.15]), 2)
    x = rng.normal(size=(n, 2)) + np.outer(labels, [2, 0]) + np.outer(groups, [0, 2])
    x[:, 0] += groups * np.where(labels == 1, 1.0, 0.0)
    some = Examples(
        ids=[*map(str, range(n))], labels=labels, classes=2, task="multi_class",
        train=np.arange(n // 2), dev=np.arange(n // 2, n), groups=groups, group_names=("a", "b"),
        known_groups=2,
    )  # fmt: skip
    for fresh in (some.dev, np.arange(n)):
        read = (x @ erased_last_layer(x, some, fresh).reads)[:, 0]
        means = [[read[(labels == y) & (groups == g)].mean() for g in (0, 1)] for y in (0, 1)]
        assert abs(np.diff(means).sum()) < 0.1 * np.abs(np.diff(means)).sum()


def group_shift(rng, *, sizes, width, learned=0.0, fresh=slice(None), along=0.6, own=2.0):
    """Return by how far the group shifts what is read after erasure, in standard deviations.

    Of Gaussian features with few cases in one cell. The group shifts them `along` the label's
    direction and in its `own` one. In the training rows, the shift along the label's direction is
    less by `learned`, as if a network had learned them by heart.
    """
    n, (label, group) = sum(sizes), np.eye(2, width) * [[2], [own]]
    group[0] = along
    labels, groups = np.divmod(rng.choice(4, n, p=[0.46, 0.03, 0.1, 0.41]), 2)
    x = rng.normal(size=(n, width)) + np.outer(labels, label) + np.outer(groups, group)
    train, dev = np.split(np.arange(n), [sizes[0]])
    x[train, 0] -= learned * groups[train]
    some = Examples(
        ids=[f"case-{row}" for row in range(n)], labels=labels, classes=2, task="multi_class",
        train=train, dev=dev, groups=groups, group_names=("a", "b"), known_groups=2,
    )  # fmt: skip
    read = erased_last_layer(x, some, np.arange(n)[fresh]).reads[:, 0]
    return float(group @ read / np.linalg.norm(read) * np.sign(label @ read))


def test_the_group_is_measured_in_rows_that_the_features_were_not_fitted_to():
    rng, sizes = np.random.default_rng(3), (3000, 4000)
    some = {"sizes": sizes, "width": 20, "learned": 0.6}
    fresh = [group_shift(rng, **some, fresh=slice(3000, None)) for _ in range(3)]
    assert np.abs(fresh).max() < 0.15
    assert np.mean([group_shift(rng, **some) for _ in range(3)]) > 0.2  # taken for fresh ones
    few = {"sizes": (300, 500), "fresh": slice(300, None)}
    wide = few | {"width": 200, "learned": 0.6}
    # nor the classifier, nor what reads the group: else 0.3
    assert np.abs(np.mean([group_shift(rng, **wide) for _ in range(4)])) < 0.15
    # a group that only the label's direction tells is not subtracted by chance, with the label
    one_way = few | {"width": 40, "learned": 0.3, "along": 0.3, "own": 0.0}
    assert np.mean([group_shift(rng, **one_way) for _ in range(4)]) > 0.16


def test_the_label_is_read_without_the_directions_of_the_group_classifiers(monkeypatch, planted):
    cases, _ = planted
    some, matrix = cases.examples, cases.tfidf()
    own = np.eye(300)[:, :40]  # the words of the labels
    monkeypatch.setattr(erasure, "fit_inlp", lambda *some: own if some[-1] else own[:, :0])
    for objective, most in (("leace", 1.0), ("inlp", 0.5)):
        module = load_objective(objective)
        problem = Problem(some, module, module.OPTIONS, Settings())
        reads = module.last_layer(matrix, problem, some.dev).reads
        share = np.linalg.norm(reads[:40]) / np.linalg.norm(reads)
        assert most - 0.5 < share < most


def test_fixed_features_are_measured_by_classifiers_that_did_not_see_the_rows():
    rng = np.random.default_rng(3)
    shifts = [group_shift(rng, sizes=(600, 200), width=250) for _ in range(4)]
    assert np.abs(np.mean(shifts)) < 0.2  # 0.7 if measured in the rows of the fit


def test_several_labels_and_an_unknown_group():
    cases = plant_cases(5, 0.5, sizes=(600, 200, 200))
    one = cases.examples
    hot = np.stack([one.labels, 1 - one.labels, np.arange(1000) % 2], axis=1)
    groups = np.where(np.arange(1000) % 7 == 0, 2, one.groups)
    some = replace(
        one, labels=hot, classes=3, task="multi_label",
        groups=groups, group_names=("zero", "one", "unknown"),
    )  # fmt: skip
    layer = erased_last_layer(cases.tfidf(), some, np.union1d(some.train, some.dev))
    predicted = (cases.tfidf() @ layer.weight + layer.bias) > 0
    assert (predicted[:, 0] == hot[:, 0]).mean() > 0.85
    assert layer.reads.shape == (300, 2)  # two labels are each other's opposite
