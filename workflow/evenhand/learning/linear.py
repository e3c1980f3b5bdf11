"""Linear classifiers on sparse features, trained with any objective, all seeds at once.

A training is logistic regression by AdamW on batches, with the objectives, samplers, development
scores and stops of `evenhand.learning.trainer`; the same training there, with a dense layer, gives
the same numbers to rounding. Its steps are short, so what counts is how little is done around
them. The seeds' weights are stacked, (seeds, features, classes). The batches of many steps are cut
out of the matrix in one go, and each seed's columns moved to its own weights: all logits of a step
are one sparse product, and their gradient another. The objective's loss is a vmap over the seeds.

A stack's layout follows from the seeds asked for, never from the machine: the same job gives the
same bytes. Beside other seeds a training's sums may be taken in another order, and then its last
digits differ.
"""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from torch.func import functional_call, vmap

from evenhand.errors import InputError
from evenhand.learning.evaluation import dev_scores, rank
from evenhand.learning.examples import Examples, check
from evenhand.learning.history import save_broken_batch
from evenhand.learning.objective import Batch, Objective, Options, State, sampler_of
from evenhand.learning.pairs import (
    COUNTERFACTUAL,
    GRAPH,
    Pairs,
    among,
    asked_for,
    check_pairs,
    partners,
)
from evenhand.learning.sampling import make_sampler
from evenhand.learning.settings import Settings, schedule_factor
from evenhand.scoring.device import one_thread

#: Steps whose batches are cut out of the matrix at once.
STEPS = 128

#: AdamW divides a step by the size of the gradients so far plus this. With its usual 1e-8 the
#: rarest n-gram moves as far as the most frequent one, so that rare ones decide: on SCOTUS that
#: costs 17 points of macro-F1 against logistic regression. With 1e-3, the size of usual gradients
#: here, it costs none.
EPSILON = 1e-3

#: How the names of parameters begin that belong to the objective.
_OWN = "modules."


@dataclass(frozen=True)
class Model:
    """A training that is over.

    Attributes
    ----------
    seed : int
    weight, bias : array of float32, shapes (features, classes) and (classes,)
        Those of the best epoch.
    logits : array of float32, shape (n, classes)
        What it says of all cases.
    twin_logits : array of float32, shape (n, classes), or None
        What it says of their twins, NaN where a case has none; None without twins.
    history, epoch, score, steps
        As of `evenhand.learning.trainer.Trained`.
    """

    seed: int
    weight: np.ndarray
    bias: np.ndarray
    logits: np.ndarray
    twin_logits: np.ndarray | None
    history: list[dict[str, Any]]
    epoch: int
    score: float
    steps: int


def train_models(
    matrix: csr_matrix,
    examples: Examples,
    objective: Objective,
    options: Options,
    settings: Settings,
    seeds: Sequence[int],
    *,
    epsilon: float = EPSILON,
    pairs: Pairs | None = None,
    twins: csr_matrix | None = None,
    folder: Path | None = None,
    progress: bool = False,
) -> list[Model]:
    """Train one model a seed.

    An objective that trains modules along (an adversary) gives them the logits: the features of
    a linear model are fixed, and nothing could be removed from them (Zhang et al. 2018 let an
    adversary read the predictions too). Another that reads the features gets the cases' own.

    Parameters
    ----------
    matrix : csr_matrix of float32 (or float64), shape (n, features)
        The cases.
    examples : Examples
        Their labels and groups; see `evenhand.learning.examples.check`, which is called here too.
    objective, options
        See `evenhand.learning.objective`.
    settings : Settings
        `accumulate`, `evaluation_batch`, `dtype`, `threads` and `deterministic` say nothing here.
    seeds : sequence of int
        Each decides on the first weights and the batches.
    epsilon : float
        AdamW's. See `EPSILON`.
    pairs : Pairs, optional
        For an objective that compares pairs.
    twins : csr_matrix, shape (n, features), optional
        The cases' twins, of whom `pairs` says who has one. They are predicted, and learned from
        if the objective asks for them.
    folder : Path, optional
        Where a batch whose loss is no number is noted (`evenhand.learning.history.BROKEN_BATCH`).
    progress : bool
        Whether to show a bar on standard error.

    Returns
    -------
    list of Model
        In the order of the seeds.

    Raises
    ------
    InputError
        The cases cannot be trained on, a seed stands there twice or none, or a loss or gradient
        is no finite number.
    """
    from tqdm import tqdm

    check(examples, objective, options, settings)
    pairs = pairs or Pairs()
    check_pairs(options, pairs, examples.train)
    if twins is not None and (pairs.twins is None or twins.shape != matrix.shape):
        raise ValueError("twins are of other cases or features, or nobody knows who has one")
    if not 0 < epsilon < math.inf:
        raise InputError(f"epsilon is {epsilon}, and must be above 0")
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError("there is no seed, or one twice", remedy="name each seed once")
    if not np.isfinite(matrix.data).all():
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        first = examples.ids[row[~np.isfinite(matrix.data)][0]]
        raise InputError(f"a feature of the case {first} is no finite number")
    with one_thread():
        run = _Stack(matrix, examples, objective, options, settings, seeds, epsilon, pairs, twins)
        run.folder = folder
        look = {"desc": objective.NAME, "unit": " steps", "mininterval": 5, "ascii": True}
        with tqdm(total=run.steps, disable=not progress, **look) as bar:
            while run.active:
                run.epoch(bar.update)
        return run.models()


class _Stack:
    """Trainings that differ in the seed.

    Each case has a last feature that is 1, whose weight is the bias. `active` says whose weights
    and states are in the stack: those not done, as places in `seeds`.
    """

    def __init__(
        self,
        matrix: csr_matrix,
        examples: Examples,
        objective: Objective,
        options: Options,
        settings: Settings,
        seeds: Sequence[int],
        epsilon: float,
        pairs: Pairs | None = None,
        twins: csr_matrix | None = None,
    ) -> None:
        ones = csr_matrix(np.ones((matrix.shape[0], 1), dtype=matrix.dtype))
        self.matrix, self.examples = hstack([matrix, ones], format="csr"), examples
        self.twins = None if twins is None else hstack([twins, ones], format="csr")
        self.pairs, self.asked = pairs or Pairs(), asked_for(options)
        has = self.pairs.twins
        self.has_twin = None if has is None else torch.from_numpy(has)
        self.objective, self.options, self.settings = objective, options, settings
        self.epsilon = epsilon
        self.folder: Path | None = None
        self.seeds, self.active = list(seeds), list(range(len(seeds)))
        self.width, self.classes = self.matrix.shape[1], examples.classes
        self.labels = torch.as_tensor(examples.labels)
        if examples.task == "multi_label":
            self.labels = self.labels.to(_dtype(matrix))
        codes = examples.codes
        self.groups = torch.as_tensor(codes)
        group_count = max(1, len(examples.group_names))
        sampler = sampler_of(objective, options)
        train = codes[examples.train]
        self.samplers = [
            make_sampler(sampler, train, settings.batch, np.random.default_rng(seed), self._near())
            for seed in seeds
        ]
        self.steps = self.samplers[0].per_epoch * settings.epochs
        self.step = 0
        self.parameters = self._first_parameters(group_count)
        present = torch.bincount(torch.as_tensor(train), minlength=group_count) > 0
        state = objective.initial_state(present, options)
        self.state: State = {k: torch.stack([v] * len(seeds)) for k, v in state.items()}
        self.sees = "logits" if self.module is not None else self._what_it_sees(state)
        inputs = 0 if self.sees == "inputs" else None
        twin = 0 if self.asked == COUNTERFACTUAL else None
        near = 0 if self.asked == GRAPH else None
        dims = (0, 0, 0, 0, inputs, twin, twin, near, 0)
        self.losses = _over_seeds(self._loss, dims, objective.NAME)
        self.optimizer = self._optimizer()
        self.best: list[torch.Tensor | None] = [None] * len(seeds)
        self.epochs, self.ranks = [0] * len(seeds), [(-math.inf, -math.inf)] * len(seeds)
        self.history: list[list[dict[str, Any]]] = [[] for _ in seeds]

    def _first_parameters(self, groups: int) -> dict[str, torch.Tensor]:
        """What torch's layers start with, stacked; sets `module`, the objective's own."""
        starts, dtype = [], _dtype(self.matrix)
        for seed in self.seeds:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                layer = torch.nn.Linear(self.width - 1, self.classes, dtype=dtype)
                torch.manual_seed(seed)  # as trainer does: the same modules beside any model
                self.module = self.objective.modules(self.classes, groups, self.options)
            start = {"weight": torch.cat([layer.weight.T, layer.bias[None]]).detach()}
            if self.module is not None:
                own = self.module.named_parameters()
                start |= {_OWN + name: value.detach().to(dtype) for name, value in own}
            starts.append(start)
        stacked = {name: torch.stack([one[name] for one in starts]) for name in starts[0]}
        return {name: one.requires_grad_(name != "weight") for name, one in stacked.items()}

    def _near(self) -> np.ndarray | None:
        """The neighbours of the training cases, as places among them."""
        if self.asked != GRAPH:
            return None
        return among(self.examples.train, self.pairs.neighbours)

    def _optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            self.parameters.values(), lr=self.settings.lr, eps=self.epsilon, fused=True
        )

    def _what_it_sees(self, state: State) -> str:
        """``inputs`` if the loss reads the features, which are costly to unfold; or ``nothing``."""
        rows = self.examples.train[:2]
        batch = _Watched(
            logits=torch.zeros(len(rows), self.classes),
            labels=self.labels[rows],
            groups=self.groups[rows],
            features=torch.eye(len(rows), 2),
            task=self.examples.task,
            step=0,
            partner_logits=torch.zeros(len(rows), self.classes),
            has_partner=torch.ones(len(rows), dtype=torch.bool),
            partner=torch.zeros(len(rows), dtype=torch.int64),
        )
        _Watched.read.clear()
        self.objective.loss(batch, state, self.options, None)
        return "inputs" if "features" in _Watched.read else "nothing"

    def _loss(self, logits, own, labels, groups, inputs, twin_logits, has_twin, near, state):
        """Loss and state of one training."""

        def modules(features):
            return functional_call(self.module, own, (features,))

        batch = Batch(
            logits=logits,
            labels=labels,
            groups=groups,
            features=logits if inputs is None else inputs,
            task=self.examples.task,
            step=self.step,
            partner_logits=twin_logits,
            has_partner=has_twin,
            partner=near,
        )
        called = None if self.module is None else modules
        return self.objective.loss(batch, state, self.options, called)

    # ------------------------------------------------------------------ one epoch

    def epoch(self, tick: Callable[[], Any]) -> None:
        """Train all for an epoch, measure, keep the best weights, and let go of who is done."""
        losses, norms = [], []
        for rows, part, twins in self._batches():
            loss, norm = self._update(rows, part, twins)
            losses.append(loss)
            norms.append(norm)
            self.step += 1
            tick()
        losses, norms = torch.stack(losses, dim=1), torch.stack(norms, dim=1).double()
        rate = self.settings.lr * self._factor(self.step - 1)
        dev = self.matrix[self.examples.dev]
        for place, one in enumerate(self.active):
            weight = self.parameters["weight"][place]
            scores = dev_scores(dev @ weight.numpy(), self.examples)
            epoch = len(self.history[one]) + 1
            here = rank(scores, self.settings.select)
            if here > self.ranks[one]:
                self.ranks[one], self.epochs[one] = here, epoch
                self.best[one] = weight.clone()
            self.history[one].append(
                {
                    "epoch": epoch,
                    "steps": self.step,
                    "learning_rate": rate,
                    "losses": losses[place].tolist(),
                    "gradient_norm": float(norms[place].mean()),
                    **scores,
                    "state": {
                        name: value[place].double().reshape(-1).tolist()
                        for name, value in sorted(self.state.items())
                    },
                    "best": False,
                }
            )
        self._let_go([place for place, one in enumerate(self.active) if self._done(one)])

    def _done(self, one: int) -> bool:
        epochs = len(self.history[one])
        tired = epochs - self.epochs[one] >= self.settings.patience
        return epochs == self.settings.epochs or tired

    def models(self) -> list[Model]:
        """What came of all seeds."""
        found = []
        for one, seed in enumerate(self.seeds):
            for row in self.history[one]:
                row["best"] = row["epoch"] == self.epochs[one]
            weight, twin_logits = self.best[one].numpy(), None
            if self.twins is not None:
                twin_logits = self.twins @ weight
                twin_logits[~self.pairs.twins] = np.nan
            found.append(
                Model(
                    seed=seed,
                    weight=weight[:-1],
                    bias=weight[-1],
                    logits=self.matrix @ weight,
                    twin_logits=twin_logits,
                    history=self.history[one],
                    epoch=self.epochs[one],
                    score=self.ranks[one][0],
                    steps=self.history[one][-1]["steps"],
                )
            )
        return found

    def _let_go(self, places: list[int]) -> None:
        """Take trainings out of the stack."""
        if not places:
            return
        stay = [place for place in range(len(self.active)) if place not in places]
        self.active = [self.active[place] for place in stay]
        index = torch.tensor(stay, dtype=torch.int64)
        before, states = self.parameters, self.optimizer.state
        self.parameters = {
            name: one.detach()[index].requires_grad_(one.requires_grad)
            for name, one in before.items()
        }
        self.state = {name: one[index] for name, one in self.state.items()}
        self.optimizer = self._optimizer()
        for name, parameter in self.parameters.items():
            self.optimizer.state[parameter] = {
                key: value[index] if value.dim() else value
                for key, value in states[before[name]].items()
            }

    # ------------------------------------------------------------------ one step

    def _factor(self, step: int) -> float:
        warmup = int(self.settings.warmup * self.steps)
        return schedule_factor(step, steps=self.steps, warmup=warmup)

    def _batches(self) -> Iterator[tuple[np.ndarray, csr_matrix, csr_matrix | None]]:
        """Each step's rows (seeds, n), their features, and those of their twins if asked for."""
        drawn = [self.samplers[one].epoch() for one in self.active]
        together = [self.examples.train[np.stack(places)] for places in zip(*drawn, strict=True)]
        for start in range(0, len(together), STEPS):
            some = together[start : start + STEPS]
            twins: Iterator[csr_matrix | None] = repeat(None, len(some))
            if self.asked == COUNTERFACTUAL:
                twins = self._side_by_side(self.twins, some)
            yield from zip(some, self._side_by_side(self.matrix, some), twins, strict=True)

    def _side_by_side(self, matrix: csr_matrix, some: list[np.ndarray]) -> Iterator[csr_matrix]:
        """The features of each step's rows, each seed's beside the others'."""
        seeds = len(self.active)
        whole = matrix[np.concatenate([rows.ravel() for rows in some])]
        seed = np.concatenate([np.repeat(np.arange(seeds), rows.shape[1]) for rows in some])
        shift = np.repeat(seed * self.width, np.diff(whole.indptr))
        columns = whole.indices + shift.astype(whole.indices.dtype)
        first = 0
        for rows in some:
            ends = whole.indptr[first : first + rows.size + 1]
            first += rows.size
            inside = slice(ends[0], ends[-1])
            parts = (whole.data[inside], columns[inside], ends - ends[0])
            yield csr_matrix(parts, shape=(rows.size, seeds * self.width))

    def _logits(self, rows: np.ndarray, part: csr_matrix) -> torch.Tensor:
        weight = self.parameters["weight"].view(-1, self.classes).numpy()
        return torch.from_numpy(part @ weight).view(*rows.shape, self.classes).requires_grad_()

    def _update(
        self, rows: np.ndarray, part: csr_matrix, twins: csr_matrix | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """A step of all; their losses, and the gradients' lengths before clipping."""
        weight = self.parameters["weight"]
        logits = self._logits(rows, part)
        twin_logits = has_twin = near = inputs = None
        if self.sees == "inputs":
            unfolded = self.matrix[rows.ravel()].toarray()
            inputs = torch.from_numpy(unfolded).view(*rows.shape, self.width)[..., :-1]
        own = {k.removeprefix(_OWN): v for k, v in self.parameters.items() if k.startswith(_OWN)}
        index = torch.from_numpy(rows)
        if twins is not None:
            twin_logits, has_twin = self._logits(rows, twins), self.has_twin[index]
        if self.asked == GRAPH:
            near = torch.from_numpy(partners(rows, self.pairs.neighbours))
        losses, self.state = self.losses(
            logits, own, self.labels[index], self.groups[index], inputs,
            twin_logits, has_twin, near, self.state,
        )  # fmt: skip
        sides = [(logits, part), *([(twin_logits, twins)] if twins is not None else [])]
        backs = torch.autograd.grad(losses.sum(), [*(side for side, _ in sides), *own.values()])
        of_own = backs[len(sides) :]
        gradient = sum(
            features.T @ back.reshape(-1, self.classes).numpy()
            for back, (_, features) in zip(backs, sides, strict=False)
        )
        weight.grad = torch.from_numpy(gradient).view(weight.shape)
        for parameter, value in zip(own.values(), of_own, strict=True):
            parameter.grad = value.contiguous()  # the fused optimiser reads memory as it lies
        losses, norm = losses.detach(), self._clip()
        if not bool((torch.isfinite(losses) & torch.isfinite(norm)).all()):
            self._stop(rows, losses, norm)
        rate = self.settings.lr * self._factor(self.step)
        self.optimizer.param_groups[0]["lr"] = rate
        if self.settings.weight_decay:  # AdamW's: of matrices, before the step
            with torch.no_grad():
                weight[:, :-1] *= 1 - rate * self.settings.weight_decay
                for one in own.values():
                    one *= 1 - rate * self.settings.weight_decay * (one.dim() > 2)
        self.optimizer.step()
        return losses, norm

    def _clip(self) -> torch.Tensor:
        """Shorten each training's gradient to `clip`; the lengths it had."""
        gradients = [one.grad for one in self.parameters.values()]
        lengths = [torch.linalg.vector_norm(one.flatten(1), dim=1) for one in gradients]
        norm = torch.linalg.vector_norm(torch.stack(lengths), dim=0)
        clip = self.settings.clip
        if clip and bool((norm > clip).any()):
            scale = (clip / (norm + 1e-6)).clamp(max=1)
            for one in gradients:
                one *= scale.view(-1, *[1] * (one.dim() - 1))
        return norm

    def _stop(self, rows: np.ndarray, losses: torch.Tensor, norm: torch.Tensor) -> None:
        """Name the batch, and raise."""
        place = int((~(torch.isfinite(losses) & torch.isfinite(norm))).nonzero()[0, 0])
        ids = [self.examples.ids[row] for row in rows[place]]
        what = "gradient" if bool(torch.isfinite(losses[place])) else "loss"
        seed = self.seeds[self.active[place]]
        where = save_broken_batch(self.folder, {"step": self.step, "seed": seed, "cases": ids})
        raise InputError(
            f"the {what} of step {self.step + 1} is no finite number (seed {seed}, cases"
            f" {', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})",
            remedy=f"look at these cases ({where}), or lower the learning rate",
        )


def _over_seeds(loss: Callable, in_dims: tuple, name: str) -> Callable:
    """`loss` of one training for a stack of them; one after the other if vmap cannot take it."""
    together, stackable = vmap(loss, in_dims=in_dims, randomness="different"), True

    def of_all(*arguments):
        nonlocal stackable
        if stackable:
            try:
                return together(*arguments)
            except RuntimeError as error:
                if "vmap" not in str(error):
                    raise
                said = str(error).strip().splitlines()[0]
                print(f"{name}: seed by seed, for it cannot be stacked: {said}", file=sys.stderr)
                stackable = False
        found = [loss(*(_part(one, i) for one in arguments)) for i in range(len(arguments[0]))]
        losses, states = zip(*found, strict=True)
        return torch.stack(losses), {k: torch.stack([one[k] for one in states]) for k in states[0]}

    return of_all


class _Watched(Batch):
    """A batch that notes which of its fields are read."""

    read: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        _Watched.read.add(name)
        return super().__getattribute__(name)


def _part(value: Any, place: int) -> Any:
    """One training's part of what is stacked."""
    if isinstance(value, dict):
        return {name: one[place] for name, one in value.items()}
    return None if value is None else value[place]


def _dtype(matrix: csr_matrix) -> torch.dtype:
    return torch.float64 if matrix.dtype == np.float64 else torch.float32
