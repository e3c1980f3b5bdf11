"""Linear classifiers on sparse features, trained with any objective, all seeds at once.

A training is logistic regression by AdamW on batches, with the objectives, samplers, development
scores and early stopping of `evenhand.learning.trainer`; the same training there, with a dense
layer, gives the same numbers up to rounding. Steps are short, so that overhead matters. The seeds'
weights are stacked, (seeds, features, classes). The batches of many steps are sliced from the
matrix at once, and each seed's columns are shifted to its own weights: all logits of a step are one
sparse product, and their gradient another. The objective's loss is a vmap over the seeds.

A stack's layout depends on the requested seeds, never on the machine: the same job gives the same
bytes. With other seeds in the stack, a training's sums may have another order, and its last digits
may differ.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from torch.func import functional_call, vmap

from evenhand.learning import loop
from evenhand.learning.erasure import LastLayer
from evenhand.learning.history import Epochs, Fitted
from evenhand.learning.objective import Batch, State, reads_features
from evenhand.learning.pairs import COUNTERFACTUAL
from evenhand.learning.problem import Problem
from evenhand.scoring.device import one_thread

#: Number of steps whose batches are sliced from the matrix at once.
STEPS = 128

#: AdamW divides a step by the size of past gradients plus this. With the usual 1e-8 the rarest
#: n-gram moves as far as the most frequent one, so that rare ones dominate: on SCOTUS this costs
#: 17 points of macro-F1 against logistic regression. With 1e-3, the size of typical gradients
#: here, it costs none.
EPSILON = 1e-3

#: Name prefix of parameters that belong to the objective.
_MODULE = "modules."


def train_models(
    matrix: csr_matrix,
    problem: Problem,
    seeds: Sequence[int],
    *,
    epsilon: float = EPSILON,
    swapped: csr_matrix | None = None,
    folder: Path | None = None,
    progress: bool = False,
) -> list[Fitted]:
    """Train one model per seed.

    The modules of an objective (an adversary) read the logits, as in the published adversaries of
    linear classifiers. Objectives that train modules by separate steps need a trainable
    representation, and are rejected. Other objectives that use features get the cases' features.

    Parameters
    ----------
    matrix : csr_matrix of float32 (or float64), shape (n, features)
        The cases.
    problem : Problem
        It is checked here. Of its settings, `accumulate`, `evaluation_batch`, `dtype` and `threads`
        have no effect.
    seeds : sequence of int
        Seeds of the initial weights and the batches.
    epsilon : float
        The epsilon of AdamW. See `EPSILON`.
    swapped : csr_matrix, shape (n, features), optional
        The cases' counterfactuals; `Problem.pairs` lists the cases that have one. They are
        predicted, and used in training if the objective needs them.
    folder : Path, optional
        Folder for the checkpoint, and for a batch whose loss is not finite.
    progress : bool
        Whether to show a progress bar on standard error.

    Returns
    -------
    list of Fitted
        In the order of the seeds.

    Raises
    ------
    InputError
        The cases cannot be trained on, a seed is repeated or there is none, or a loss or gradient
        is not finite.
    """
    problem.check()
    objective = problem.objective

    def train(problem: Problem, seeds: Sequence[int], part: str = "") -> list[Fitted]:
        stack = Stack(matrix, swapped, problem, seeds, epsilon, folder and folder / part)
        other = {"epsilon": epsilon, "seeds": list(seeds), "features": matrix.shape[1]}
        identity = problem.identity(other | {"part": part})
        title = f"train {objective.NAME}"
        loop.run(stack, stack.folder, identity, title=title, progress=progress)
        return list(map(stack.fitted, seeds, stack.epochs))

    with one_thread():
        if objective.again is None:
            return train(problem, seeds)
        models = []  # each seed has other cases in its second training
        for model in train(problem.first(), seeds, "first"):
            models += train(problem.second(model.logits), [model.seed], f"seed-{model.seed}")
        return models


class Stack(loop.Training):
    """Trainings that differ in the seed.

    Each case has a last feature of 1, whose weight is the bias. `active` lists the unfinished
    trainings, whose weights and states are in the stack, as indices into `seeds`.
    """

    STATE = ("active", "step", "state", "parameters", "optimizer", "samplers", "epochs")

    def __init__(
        self,
        matrix: csr_matrix,
        swapped: csr_matrix | None,
        problem: Problem,
        seeds: Sequence[int],
        epsilon: float,
        folder: Path | None,
    ) -> None:
        ones = csr_matrix(np.ones((matrix.shape[0], 1), dtype=matrix.dtype))
        self.features, self.matrix = matrix, hstack([matrix, ones], format="csr")
        self.swapped = None if swapped is None else hstack([swapped, ones], format="csr")
        self.problem, self.epsilon, self.folder = problem, epsilon, folder
        self.examples, self.settings = problem.examples, problem.settings
        self.objective, self.options = problem.objective, problem.options
        self.seeds, self.active = list(seeds), list(range(len(seeds)))
        self.width, self.classes = self.matrix.shape[1], self.examples.classes
        self.dtype = torch.float64 if matrix.dtype == np.float64 else torch.float32
        self.samplers = [problem.sampler(seed) for seed in seeds]
        self.steps, self.step = problem.steps, 0
        self.parameters = self._first_parameters()
        state = problem.initial_state()
        self.state: State = {k: torch.stack([v] * len(seeds)) for k, v in state.items()}
        # unfolding the features is costly
        self.unfolds = self.module is None and reads_features(self.objective, self.options)
        self.losses = vmap(self._loss, randomness="different")
        self.optimizer = self._optimizer()
        self.epochs = [problem.epochs() for _ in seeds]

    def _first_parameters(self) -> dict[str, torch.Tensor]:
        """Return the initial values of torch's layers, stacked; set `module`, the objective's."""
        starts = []
        for seed in self.seeds:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                layer = torch.nn.Linear(self.width - 1, self.classes, dtype=self.dtype)
                torch.manual_seed(seed)  # as in trainer: the same modules with any model
                self.module = self.objective.modules(
                    self.classes, self.problem.groups, self.options
                )
            start = {"weight": torch.cat([layer.weight.T, layer.bias[None]]).detach()}
            if self.module is not None:
                for name, value in self.module.named_parameters():
                    start[_MODULE + name] = value.detach().to(self.dtype)
            starts.append(start)
        return _trainable({n: torch.stack([start[n] for start in starts]) for n in starts[0]})

    def _optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            self.parameters.values(), lr=self.settings.learning_rate, eps=self.epsilon, fused=True
        )

    def _loss(self, fields: dict, module_parameters: dict, state: State):
        """Return the loss and the objective's state of one training."""
        fields = {"features": fields["logits"], **fields}
        batch = Batch(task=self.examples.task, step=self.step, **fields)
        modules = None
        if self.module is not None:
            modules = lambda x: functional_call(self.module, module_parameters, (x,))  # noqa: E731
        return self.objective.loss(batch, state, self.options, modules)

    # ------------------------------------------------------------------ one epoch

    def advance(self) -> Iterator[dict[str, str]]:
        """Train; see `evenhand.learning.loop.Training`. Checkpoints are taken between epochs."""
        while self.active:
            losses, norms = zip(*(self._update(*step) for step in self._batches()), strict=True)
            losses, norms = torch.stack(losses, dim=1), torch.stack(norms, dim=1).double()
            dev = self.matrix[self.examples.dev]
            for place, number in enumerate(self.active):
                weight = self.parameters["weight"][place]
                row = self.problem.epoch_row(
                    self.step,
                    losses[place].tolist(),
                    float(norms[place].mean()),
                    dev @ weight.numpy(),
                )
                state = {name: value[place] for name, value in self.state.items()}
                self.epochs[number].add(row, state, weight.clone)
            self._keep([p for p, number in enumerate(self.active) if not self.epochs[number].done])
            yield {}

    def _keep(self, places: list[int]) -> None:
        """Keep only these trainings in the stack."""
        if len(places) == len(self.active):
            return
        self.active = [self.active[place] for place in places]
        index = torch.tensor(places, dtype=torch.int64)
        before, states = self.parameters, self.optimizer.state
        self.parameters = _trainable({n: value.detach()[index] for n, value in before.items()})
        self.state = {name: value[index] for name, value in self.state.items()}
        self.optimizer = self._optimizer()
        for name, parameter in self.parameters.items():
            self.optimizer.state[parameter] = {
                key: value[index] if value.dim() else value
                for key, value in states[before[name]].items()
            }

    @cached_property
    def last_layer(self) -> LastLayer | None:
        """The layer that replaces that of every seed, since all have the same features."""
        if (refit := self.objective.last_layer) is None:
            return None
        fresh = np.concatenate([self.examples.train, self.examples.dev])
        return refit(self.features, self.problem, fresh)

    def fitted(self, seed: int, epochs: Epochs) -> Fitted:
        """Return the classifier of a seed."""
        weight, others = epochs.weights.numpy(), None
        layer = self.last_layer or LastLayer(weight[:-1], weight[-1])
        if self.last_layer is not None:
            weight = np.vstack([layer.weight, layer.bias[None]])
        if self.swapped is not None:
            others = self.swapped @ weight
            others[~self.problem.pairs.swapped] = np.nan
        features = self.features if layer.reads is None else self.features @ layer.reads
        return Fitted(seed, epochs.result(), self.matrix @ weight, others, features, layer)

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self._keep(kept["active"])
        super().load_state_dict(kept)

    # ------------------------------------------------------------------ one step

    def _batches(self) -> Iterator[tuple[np.ndarray, csr_matrix, csr_matrix | None]]:
        """Yield each step's rows (seeds, n), their features, and their counterfactuals'."""
        drawn = [self.samplers[number].epoch() for number in self.active]
        steps = [self.examples.train[np.stack(places)] for places in zip(*drawn, strict=True)]
        for start in range(0, len(steps), STEPS):
            batches = steps[start : start + STEPS]
            swapped: Iterator[csr_matrix | None] = repeat(None, len(batches))
            if self.problem.pair_kind == COUNTERFACTUAL:
                swapped = self._side_by_side(self.swapped, batches)
            yield from zip(batches, self._side_by_side(self.matrix, batches), swapped, strict=True)

    def _side_by_side(self, matrix: csr_matrix, batches: list[np.ndarray]) -> Iterator[csr_matrix]:
        """Yield the features of each step's rows, with the seeds' columns side by side."""
        seeds = len(self.active)
        whole = matrix[np.concatenate([rows.ravel() for rows in batches])]
        seed = np.concatenate([np.repeat(np.arange(seeds), rows.shape[1]) for rows in batches])
        shift = np.repeat(seed * self.width, np.diff(whole.indptr))
        columns = whole.indices + shift.astype(whole.indices.dtype)
        first = 0
        for rows in batches:
            ends = whole.indptr[first : first + rows.size + 1]
            first += rows.size
            inside = slice(ends[0], ends[-1])
            parts = (whole.data[inside], columns[inside], ends - ends[0])
            yield csr_matrix(parts, shape=(rows.size, seeds * self.width))

    def _logits(self, rows: np.ndarray, part: csr_matrix) -> torch.Tensor:
        weight = self.parameters["weight"].view(-1, self.classes).numpy()
        return torch.from_numpy(part @ weight).view(*rows.shape, self.classes).requires_grad_()

    def _update(
        self, rows: np.ndarray, part: csr_matrix, swapped: csr_matrix | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Update all trainings; return their losses, and the gradient norms before clipping."""
        weight = self.parameters["weight"]
        sides = [(self._logits(rows, part), part)]
        fields = self.problem.fields(rows, self.dtype, counterfactuals=swapped is not None)
        fields["logits"] = logits = sides[0][0]
        if self.unfolds:
            unfolded = torch.from_numpy(self.matrix[rows.ravel()].toarray())
            fields["features"] = unfolded.view(*rows.shape, self.width)[..., :-1]
        if swapped is not None:
            fields["partner_logits"] = self._logits(rows, swapped)
            sides.append((fields["partner_logits"], swapped))
        modules = {
            name.removeprefix(_MODULE): value
            for name, value in self.parameters.items()
            if name.startswith(_MODULE)
        }
        losses, self.state = self.losses(fields, modules, self.state)
        backs = torch.autograd.grad(losses.sum(), [*(side for side, _ in sides), *modules.values()])
        gradient = sum(
            features.T @ back.reshape(-1, self.classes).numpy()
            for back, (_, features) in zip(backs, sides, strict=False)
        )
        weight.grad = torch.from_numpy(gradient).view(weight.shape)
        for parameter, value in zip(modules.values(), backs[len(sides) :], strict=True):
            parameter.grad = value.contiguous()  # the fused optimiser ignores strides
        losses, norms = losses.detach(), self._clip()
        finite = torch.isfinite(losses) & torch.isfinite(norms)
        if not bool(finite.all()):
            place = int((~finite).nonzero()[0, 0])
            raise self.problem.broken_batch(
                self.folder,
                rows[place],
                logits[place],
                step=self.step,
                seed=self.seeds[self.active[place]],
                loss=losses[place].item(),
                norm=norms[place].item(),
            )
        rate = self.problem.learning_rate(self.step)
        self.optimizer.param_groups[0]["lr"] = rate
        if self.settings.weight_decay:  # as AdamW: matrices only, before the step
            with torch.no_grad():
                weight[:, :-1] *= 1 - rate * self.settings.weight_decay
                for value in modules.values():
                    value *= 1 - rate * self.settings.weight_decay * (value.dim() > 2)
        self.optimizer.step()
        self.step += 1
        return losses, norms

    def _clip(self) -> torch.Tensor:
        """Clip each training's gradient to norm `clip`; return the norms before clipping."""
        gradients = [parameter.grad for parameter in self.parameters.values()]
        lengths = [torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients]
        norm = torch.linalg.vector_norm(torch.stack(lengths), dim=0)
        clip = self.settings.clip
        if clip and bool((norm > clip).any()):
            scale = (clip / (norm + 1e-6)).clamp(max=1)
            for gradient in gradients:
                gradient *= scale.view(-1, *[1] * (gradient.dim() - 1))
        return norm


def _trainable(parameters: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the parameters, with autograd for the objective's only."""
    return {name: p.requires_grad_(name != "weight") for name, p in parameters.items()}
