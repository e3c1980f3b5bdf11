"""Linear models, stacked over seeds, against the trainer of all models with a dense layer."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import nn

from evenhand.errors import InputError
from evenhand.learning.examples import Examples
from evenhand.learning.linear import train_models
from evenhand.learning.objective import load_objective
from evenhand.learning.pairs import Pairs
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings
from evenhand.learning.trainer import fit
from evenhand.scoring.device import repeatable
from unit.learning.made_training import OBJECTIVES, examples

#: Those that need no representation that learns.
NAMES = [one for one in OBJECTIVES if load_objective(one).inner_loss is None]
WIDTH = 12


def matrix(some: Examples, dtype: type = np.float64) -> csr_matrix:
    """Few features a case, with the label in them; the fifth case has none."""
    generator = np.random.default_rng(3)
    dense = generator.random((len(some.ids), WIDTH)) * (generator.random((1, WIDTH)) < 0.9)
    dense[dense < 0.5] = 0
    dense[:, : some.classes] += some.hot
    dense[4] = 0
    return csr_matrix(dense.astype(dtype))


def settings(**given: object) -> Settings:
    usual = {
        "learning_rate": 0.05,
        "batch": 8,
        "epochs": 4,
        "patience": 9,
        "clip": 0.3,
        "warmup": 0.2,
    }
    return Settings(**usual | given)


class Dense(nn.Module):
    """The same model as any other: a layer; the adversary sees its logits."""

    def __init__(self, width: int, classes: int, sees_logits: bool) -> None:
        super().__init__()
        self.layer, self.sees_logits = nn.Linear(width, classes, dtype=torch.float64), sees_logits

    @property
    def last_layer(self) -> nn.Linear:
        return self.layer

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.layer(x)
        return logits, logits if self.sees_logits else x


def plainly(x: csr_matrix, some: Examples, objective, options, how: Settings, seed: int):
    """One seed by `evenhand.learning.trainer`, in float64; history and logits."""
    dense = torch.from_numpy(x.toarray())
    adversary = objective.modules(some.classes, 3, options) is not None

    def build() -> Dense:
        torch.manual_seed(seed)
        return Dense(x.shape[1], some.classes, adversary)

    with repeatable(seed, threads=how.threads):
        problem = Problem(some, objective, options, how)
        found = fit(build, lambda rows: dense[rows], problem, seed=seed, features=some.classes)
    return found.trained, found.logits


def run(x, some, name="erm", seeds=(1,), options=None, how=None, pairs=None, **given):
    module = load_objective(name) if isinstance(name, str) else name
    chosen = {**module.OPTIONS, **(options or {})}
    problem = Problem(some, module, chosen, how or settings(), pairs or Pairs())
    return train_models(x, problem, list(seeds), **{"epsilon": 1e-8} | given)


@pytest.mark.parametrize("task", ["multi_class", "multi_label"])
@pytest.mark.parametrize("name", NAMES)
def test_stacked_seeds_train_as_the_trainer_trains_each(name: str, task: str) -> None:
    some, module = examples(task), load_objective(name)
    x = matrix(some)
    how = settings(epochs=5, patience=2, weight_decay=0.1)
    found = run(x, some, name, seeds=(1, 2), how=how)
    assert [one.seed for one in found] == [1, 2]
    for one in found:
        trained, logits = plainly(x, some, module, dict(module.OPTIONS), how, one.seed)
        assert (one.trained.epoch, one.trained.steps, len(one.trained.history)) == (
            trained.epoch, trained.steps, len(trained.history),
        )  # fmt: skip
        if not module.last_layer:  # it depends on which rows the representation was fitted to
            np.testing.assert_allclose(one.logits, logits, atol=1e-7)
        np.testing.assert_allclose(x @ one.model.weight + one.model.bias, one.logits, atol=1e-12)
        for ours, theirs in zip(one.trained.history, trained.history, strict=True):
            assert ours.keys() == theirs.keys()
            for key in ("losses", "gradient_norm", "dev_loss", "learning_rate"):
                np.testing.assert_allclose(ours[key], theirs[key], atol=1e-7)
            for state in theirs["state"]:
                np.testing.assert_allclose(ours["state"][state], theirs["state"][state], atol=1e-7)
            same = ("epoch", "steps", "dev_macro_f1", "dev_group_f1", "best")
            assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


@pytest.mark.parametrize("name", [n for n in OBJECTIVES if "compat" in load_objective(n).OPTIONS])
def test_the_quirks_of_the_reference_can_be_stacked(name: str) -> None:
    some, module = examples(), load_objective(name)
    options = {**module.OPTIONS, "compat": True}
    x, how = matrix(some), settings(batch=7)
    (one,) = run(x, some, name, how=how, options=options)
    _, logits = plainly(x, some, module, options, how, 1)
    np.testing.assert_allclose(one.logits, logits, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_odd_groups_stay_finite(name: str) -> None:
    some = examples()
    groups = np.zeros(len(some.ids), dtype=np.int64)
    groups[some.train[0]] = 1  # a group of one case, none in dev; nobody is unknown
    odd = replace(some, groups=groups, group_names=("one", "two"))
    for one in run(matrix(odd), odd, name, seeds=(1, 2), how=settings(batch=3)):
        assert np.isfinite(one.logits).all()


def test_bad_input() -> None:
    some = examples()
    x = matrix(some)
    with pytest.raises(InputError, match="no case with a label in the split dev"):
        run(x, replace(some, dev=np.empty(0, dtype=np.int64)))
    with pytest.raises(InputError, match="only the group"):
        same = replace(some, groups=np.zeros(len(some.ids), dtype=np.int64))
        run(x, same, "group_dro")


def test_a_loss_that_is_not_finite_names_and_saves_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = examples()
    groups = np.zeros(len(some.ids), dtype=np.int64)
    groups[some.train[7]] = 2

    def loss(batch, state, options, modules):
        mean = nn.functional.cross_entropy(batch.logits, batch.labels)
        return torch.where((batch.groups == 2).any(), torch.nan, mean), state

    monkeypatch.setattr("evenhand.learning.objectives.erm.loss", loss, raising=False)
    with pytest.raises(InputError, match=r"is not finite \(seed 4, cases case-"):
        run(matrix(some), replace(some, groups=groups), "erm", seeds=(4, 5), folder=tmp_path)
    note = json.loads((tmp_path / "broken_batch.json").read_text(encoding="utf-8"))
    assert note["seed"] == 4
    assert f"case-{some.train[7]}" in [one["case_id"] for one in note["cases"]]


@pytest.mark.parametrize(("name", "at"), [("group_dro", 8), ("jtt", 3)])
def test_it_goes_on_to_the_same_bits(interrupted, name: str, at: int) -> None:
    """From a stack that some seeds have left, and within the second trainings of the seeds."""
    some, how = examples(cases=45), settings(epochs=12, patience=1, learning_rate=0.3)

    def train(folder):
        found = run(matrix(some), some, name, seeds=(1, 2, 3), how=how, folder=folder)
        if name != "jtt":
            lengths = [len(one.trained.history) for one in found]
            assert min(lengths) < at < max(lengths)
        return [(one.trained, one.logits.tobytes()) for one in found]

    interrupted.goes_on(train, at)


def swapped_of(some: Examples, x: csr_matrix) -> tuple[csr_matrix, Pairs]:
    """Two cases in three with two features swapped; and three neighbours of each."""
    dense = x.toarray()
    has = np.arange(len(dense)) % 3 > 0
    dense[has, 5:7] = 0.7 - dense[has, 5:7]
    near = np.random.default_rng(2).integers(-1, len(dense), (len(dense), 3))
    near[~np.isin(near, some.train)] = -1
    return csr_matrix(dense.astype(x.dtype)), Pairs(swapped=has, neighbours=near)


@pytest.mark.parametrize("task", ["multi_class", "multi_label"])
@pytest.mark.parametrize("kind", ["counterfactual", "graph"])
def test_pairs_train_as_the_trainer_trains_them(kind: str, task: str) -> None:
    some, module, how = examples(task), load_objective("iifr_text"), settings(weight_decay=0.1)
    x = matrix(some)
    swapped, pairs = swapped_of(some, x)
    options = {**module.OPTIONS, "pairs": kind, "weight": 3.0}
    found = run(x, some, module, (1, 2), options, how, pairs=pairs, swapped=swapped)
    both = torch.from_numpy(np.concatenate([x.toarray(), swapped.toarray()]))
    for one in found:
        with repeatable(one.seed, threads=how.threads):
            fitted = fit(
                lambda: Dense(x.shape[1], some.classes, False),
                lambda rows: both[rows],
                Problem(some, module, options, how, pairs),
                seed=one.seed,
                features=some.classes,
            )
        for ours, theirs in (
            (one.logits, fitted.logits),
            (one.counterfactual_logits, fitted.counterfactual_logits),
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-7)
        assert (np.isnan(one.counterfactual_logits).all(axis=1) == ~pairs.swapped).all()
        for ours, theirs in zip(one.trained.history, fitted.trained.history, strict=True):
            np.testing.assert_allclose(ours["losses"], theirs["losses"], atol=1e-7)


def test_counterfactuals_are_predicted_for_whoever_does_not_learn_from_them() -> None:
    some = examples()
    x = matrix(some)
    swapped, pairs = swapped_of(some, x)
    (plain,), (also,) = run(x, some), run(x, some, pairs=pairs, swapped=swapped)
    np.testing.assert_array_equal(plain.logits, also.logits)
    assert plain.counterfactual_logits is None
    expected = swapped @ plain.model.weight + plain.model.bias
    expected[~pairs.swapped] = np.nan
    np.testing.assert_allclose(also.counterfactual_logits, expected, atol=1e-12)
    with pytest.raises(InputError, match="needs the cases' counterfactuals"):
        run(x, some, "iifr_text", options={"pairs": "counterfactual"})
