import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.core.families import member_names
from evenhand.learning.hyperparameters import Hyperparameters
from evenhand.learning.individual_loss import (
    Batch,
    IndividualLoss,
    Pairs,
    individual_loss_of,
    nearest,
)
from evenhand.learning.method import Method
from evenhand.learning.stacked import Configuration, Options, train_runs
from unit.learning.made_tables import table, train

SMALL = Hyperparameters(hidden=(8, 6), adversary=(4,), learning_rate=1.0, batch=32, epochs=4)
HERE = "evenhand.learning.individual_losses"


def batch(seeds=2, n=6, values=3):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(seeds, n, 5, generator=generator)
    a = torch.arange(n).expand(seeds, n) % values
    codes = torch.eye(values).expand(seeds, values, values)
    x[..., 2:] = torch.stack([codes[i][a[i]] for i in range(seeds)])
    draws = [np.random.default_rng(seed) for seed in range(seeds)]
    return Batch(x, a % 2, a, [2, 3, 4], codes, draws)


@pytest.fixture
def add(monkeypatch):
    """Puts a module of one's own into the folder."""

    def make(name, loss):
        monkeypatch.setitem(sys.modules, f"{HERE}.{name}", SimpleNamespace(LOSS=loss))
        return name

    return make


def test_each_module_of_the_folder_has_a_loss():
    for name in member_names(HERE):
        assert isinstance(individual_loss_of(name.rpartition(".")[2]), IndividualLoss)


def test_the_nearest_with_the_attribute_and_without():
    made = batch()
    found = individual_loss_of("iifr_cosine").pairs(made)
    assert torch.equal(found.partner, nearest(made.x)[1])
    blind = individual_loss_of("iifr_cosine_without_attribute").pairs(made)
    assert torch.equal(blind.partner, nearest(made.x[..., :2])[1])
    assert not torch.equal(blind.similarity, found.similarity)


def test_flipped_people_have_another_value_and_nothing_else_changes():
    made = batch()
    before = made.x.clone()
    seen = set()
    for _ in range(20):
        found = individual_loss_of("iifr_counterfactual").pairs(made)
        assert found.similarity is None
        assert torch.equal(found.partner[..., :2], made.x[..., :2])
        other = found.partner[..., 2:].argmax(dim=-1)
        assert (found.partner[..., 2:].sum(dim=-1) == 1).all()
        assert (other != made.a).all()
        seen |= set(zip(made.a[0].tolist(), other[0].tolist(), strict=True))
    assert len(seen) == 6  # all pairs of different values
    assert torch.equal(made.x, before)


def test_flipped_people_of_one_numeric_column_have_another_of_its_values():
    made = batch()
    codes = torch.tensor([[20.0], [30.0], [40.0]]).repeat(2, 1, 1)
    x = torch.cat([made.x[..., :2], codes[0][made.a.clone()]], dim=-1)
    flip = individual_loss_of("iifr_counterfactual").pairs
    found = [flip(Batch(x, made.y, made.a, [2], codes, made.draws)).partner[..., 2] for _ in "12"]
    assert all((one != x[..., 2]).all() and torch.isin(one, codes).all() for one in found)


def test_a_module_that_a_loss_lacks_is_no_missing_loss(monkeypatch, tmp_path):
    from evenhand.learning import individual_losses

    (tmp_path / "broken.py").write_text("import no_such_module\n")
    monkeypatch.setattr(individual_losses, "__path__", [str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        individual_loss_of("broken")


def run(tmp_path, **options):
    return train(tmp_path, table(), epochs=4, **options)[1]


def test_a_loss_of_ones_own(tmp_path, add):
    """Counterfactual logit pairing: |difference of logits| to the same person flipped."""

    def logits_apart(log_p, log_q, *, base):
        return (log_p - log_q).diff(dim=-1).abs().squeeze(dim=-1)

    pairs = individual_loss_of("iifr_counterfactual").pairs
    name = add("logit_pairing", IndividualLoss(pairs, distance=logits_apart))
    rows = run(tmp_path, individual=["none", name], lambdas=[0.0, 1.0], epsilons=[0.8, 0.9])
    assert [(row["individual"], row["lambda"], row["epsilon"]) for row in rows] == [
        ("none", 0.0, None),
        ("none", 0.0, None),
        *[("logit_pairing", lam, None) for _ in range(2) for lam in (0.0, 1.0)],
    ]
    plain, idle, at_work = rows[0], rows[2], rows[3]
    assert idle["ifr_p"] == pytest.approx(plain["ifr_p"], abs=0.1)
    assert at_work["ifr_p"] > plain["ifr_p"] + 20


def test_neighbours_of_ones_own_take_epsilons(tmp_path, add):
    def same_group(batch):
        """The next person of the batch; near is who has the same group."""
        partner = torch.arange(batch.x.shape[1]).roll(-1).expand(batch.a.shape)
        return Pairs(partner, (batch.a == batch.a.gather(1, partner)).float())

    name = add("same_group", IndividualLoss(same_group, takes_epsilon=True))
    rows = run(tmp_path, individual=[name], lambdas=[0.1], epsilons=[0.5, -1.0])
    assert [row["epsilon"] for row in rows] == [0.5, -1.0] * 2
    some, all_ = rows[0]["n_pairs"], rows[1]["n_pairs"]
    assert all_ == pytest.approx(168 / 6)  # everybody of each batch
    assert 0.3 * all_ < some < 0.7 * all_  # two groups of one size


def test_a_penalty_without_heads_has_mus_and_sees_the_logits(tmp_path, monkeypatch):
    """The square of the gap between two groups' mean logit: with weight, the gap closes."""

    def penalty(outputs, y, a, shares):
        (logits,) = outputs
        score = logits[:, 1] - logits[:, 0]
        means = (score @ a) / a.sum(dim=0).clamp(min=1)
        return (means[0] - means[1]) ** 2

    method = Method(title="gap", mus=(0.0, 1.0), adversary_loss=penalty)
    assert method.takes_mu and not Method(title="none").takes_mu
    monkeypatch.setitem(
        sys.modules, "evenhand.learning.methods.gap", SimpleNamespace(METHOD=method)
    )
    rows = run(tmp_path, method="gap")  # the mus of the method itself
    assert [row["mu"] for row in rows] == [0.0, 1.0] * 2
    assert [row["mu"] for row in run(tmp_path, method="gap", mus=[3.0])] == [3.0, 3.0]
    grid = [("none", [Configuration(0.0, None, mu) for mu in (0.0, 1.0)])]
    free, bound = train_runs(table(n=600), method, SMALL, grid, [0], Options())

    def gap(found):
        a = table(n=600).a[found.split.test]
        logit = np.log(found.p / (1 - found.p))
        return abs(logit[a == 0].mean() - logit[a == 1].mean())

    assert gap(bound) < gap(free) / 3
