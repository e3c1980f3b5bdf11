"""Train a network as a classifier with any objective.

`batcher` makes the model's input from row numbers, and the model returns logits and features; all
other state that changes from step to step belongs to the training, and so to its checkpoint.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.checkpoint import random_state, set_random_state
from evenhand.learning import loop
from evenhand.learning.history import Fitted, Trained
from evenhand.learning.objective import Batch, full_precision, trains_inside, whole
from evenhand.learning.pairs import COUNTERFACTUAL
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings
from evenhand.scoring.device import settle

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

#: Makes the model's input, on its device, from row numbers.
Batcher = Callable[[np.ndarray], Any]


def fit(
    build: Callable[[], "nn.Module"],
    batcher: Batcher,
    problem: Problem,
    *,
    seed: int,
    features: int,
    device: str = "cpu",
    folder: Path | None = None,
    title: str = "train",
) -> Fitted:
    """Train a model in all phases of an objective: a first training, the training, a last layer.

    Parameters
    ----------
    build : callable
        Returns a new model on the device, whose `last_layer` is the linear layer of the logits.
        The model returns logits (n, classes) and features (n, `features`) for an input from
        `batcher`.
    batcher : callable
        Makes the model's input from row numbers, without any randomness. The counterfactual
        of row i of n is row n + i.
    problem : Problem
        The model's outputs for a case are the same, to the bit, with or without a counterfactual,
        which gets the same dropout.
    seed : int
        Seed of batches and dropout; call within `repeatable`.
    features : int
        Width of the features, for the objective's modules (such as an adversary), which are
        trained with the same rate, schedule and clipping.
    device : str
        The model's device.
    folder : path, optional
        Folder for the checkpoint, and for a batch whose loss is not finite.
    title : str
        Label of the progress bar.

    Raises
    ------
    InputError
        The cases cannot be trained on; a loss or gradient is not finite; the checkpoint belongs to
        another configuration or cannot be written.
    """
    import torch

    objective, settings = problem.objective, problem.settings
    rows = np.arange(len(problem.examples.ids))

    def train(problem: Problem, folder: Path | None) -> "tuple[nn.Module, Trained]":
        """Train a new model, and leave it in evaluation mode with the best epoch's weights."""
        problem.check()
        _check_erasure(problem)
        model = build()
        training = Training(model, batcher, problem, seed, features, device, folder)
        shapes = [[name, list(value.shape)] for name, value in model.state_dict().items()]
        identity = problem.identity({"seed": seed, "model": shapes})
        loop.run(training, folder, identity, title=title, device=device)
        model.load_state_dict(training.epochs.weights)
        return model.eval(), training.epochs.result()

    def outputs(rows: np.ndarray, title: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        return predict(model, batcher, rows, settings, device=device, title=title)

    if objective.again:
        model, _ = train(problem.first(), folder and folder / "first")
        problem = problem.second(outputs(rows)[0])
    model, trained = train(problem, folder)
    logits, read = outputs(rows, f"predict after {title}")
    if objective.last_layer:
        layer = objective.last_layer(read, problem, problem.examples.dev)
        with torch.no_grad():
            model.last_layer.weight.copy_(torch.from_numpy(layer.weight.T))
            model.last_layer.bias.copy_(torch.from_numpy(layer.bias))
        logits, _ = outputs(rows)
        read = read if layer.reads is None else read @ layer.reads
    swapped, others = problem.pairs.swapped, None
    if swapped is not None:
        others, changed = np.full_like(logits, np.nan), np.flatnonzero(swapped)
        if len(changed):
            title = f"predict counterfactuals after {title}"
            others[changed], _ = outputs(len(rows) + changed, title)
    return Fitted(seed, trained, logits, others, read, model)


def _check_erasure(problem: Problem) -> None:
    """Raise InputError if an erasure is measured in a dev split of fewer than two known groups.

    That of a linear classifier is measured in train too.
    """
    examples = problem.examples
    if problem.objective.AIM != "erase":
        return
    groups = np.unique(examples.groups[examples.dev])
    if (groups < examples.known_groups).sum() < 2:
        raise InputError(
            "the split dev has cases of fewer than two known groups, and the erasure from an"
            " encoder compares groups there",
            remedy="divide the cases otherwise, take another attribute, or `kind: linear`",
        )


class Training(loop.Training):
    """The training of one seed: its state, and its steps."""

    STATE = (
        *("model", "modules", "descent", "inner", "sampler"),
        *("epochs", "state", "losses", "norms"),
    )

    def __init__(
        self,
        model: "nn.Module",
        batcher: Batcher,
        problem: Problem,
        seed: int,
        features: int,
        device: str,
        folder: Path | None,
    ) -> None:
        import torch

        self.model, self.batcher, self.problem, self.folder = model, batcher, problem, folder
        self.examples, self.settings = problem.examples, problem.settings
        self.objective, self.options = problem.objective, problem.options
        self.device = torch.device(device)
        settle(model)
        torch.manual_seed(seed)
        self.state = {k: v.to(self.device) for k, v in problem.initial_state().items()}
        modules = self.objective.modules(features, problem.groups, self.options)
        #: The networks that belong to the objective.
        self.modules = None if modules is None else modules.to(self.device, model_dtype(model))
        self.inner = None
        if trains_inside(self.objective, self.options):
            rate = self.options["inner_rate"]
            self.inner = torch.optim.Adam(self.modules.parameters(), lr=rate)
        self.steps = problem.steps
        self.descent = loop.Descent(
            decayed([model, None if self.inner else self.modules], self.settings.weight_decay),
            lr=self.settings.learning_rate,
            steps=self.steps,
            warmup=problem.warmup,
            clip=self.settings.clip,
        )
        self.sampler = problem.sampler(seed)
        self.epochs = problem.epochs()
        self.losses: list[float] = []  # of the current epoch
        self.norms: list[float] = []

    @property
    def step(self) -> int:
        """The number of optimiser steps so far."""
        return len(self.epochs.history) * self.sampler.per_epoch + len(self.losses)

    def advance(self) -> Iterator[dict[str, str]]:
        """Train; see `evenhand.learning.loop.Training`."""
        while not self.epochs.done:
            self.model.train()
            while len(self.losses) < self.sampler.per_epoch:
                self._one_step(next(self.sampler))
                epoch = len(self.epochs.history) + 1
                yield {"epoch": f"{epoch}", "loss": f"{self.losses[-1]:.3f}"}
            self._end_epoch()
            yield {}

    # ------------------------------------------------------------------ one step

    def _one_step(self, places: np.ndarray) -> None:
        rows = self.examples.train[places]
        loss, logits = self._backward(rows)
        value, norm = self.descent.update(loss)
        if not (math.isfinite(value) and math.isfinite(norm)):
            where = {"step": self.step, "epoch": len(self.epochs.history) + 1}
            where |= {"loss": value, "norm": norm}
            raise self.problem.broken_batch(self.folder, rows, logits, **where)
        self.losses.append(value)
        self.norms.append(norm)

    def _backward(self, rows: np.ndarray) -> tuple["Tensor", "Tensor"]:
        """Compute the gradients of a batch; return its loss and logits."""
        if self.settings.accumulate == 1:
            outputs = self._forward(rows)
            loss = self._loss(rows, *outputs)
            loss.backward()
            return loss, outputs[0]
        import torch

        parts = np.array_split(rows, min(self.settings.accumulate, len(rows)))
        before, outputs = [], []
        with torch.no_grad():
            for part in parts:
                before.append(random_state(self.device))
                outputs.append(self._forward(part))
        wholes = [torch.cat(some).requires_grad_() for some in zip(*outputs, strict=True)]
        loss = self._loss(rows, *wholes)
        loss.backward()
        after = random_state(self.device)
        first = 0
        for part, state in zip(parts, before, strict=True):
            set_random_state(state, self.device)
            some = slice(first, first + len(part))
            first += len(part)
            pairs = [
                (output, whole.grad[some])
                for output, whole in zip(self._forward(part), wholes, strict=True)
                if whole.grad is not None and output.requires_grad
            ]
            torch.autograd.backward(*zip(*pairs, strict=True))
        set_random_state(after, self.device)
        return loss, wholes[0]

    def _forward(self, rows: np.ndarray) -> tuple["Tensor", ...]:
        """Return logits and features of cases, and the counterfactuals' logits if requested."""
        if self.problem.pair_kind != COUNTERFACTUAL:
            return self._outputs(rows)
        before = random_state(self.device)
        logits, features = self._outputs(rows)
        after = random_state(self.device)
        has = np.flatnonzero(self.problem.pairs.swapped[rows])
        swapped = logits.new_zeros(logits.shape)  # the loss ignores cases without one
        if len(has):
            set_random_state(before, self.device)
            swapped[has] = self._outputs(rows[has] + len(self.examples.ids))[0]
            set_random_state(after, self.device)
        return logits, features, swapped

    def _outputs(self, rows: np.ndarray) -> tuple["Tensor", "Tensor"]:
        return forward(self.model, self.batcher(rows), self.settings, self.device.type)

    def _loss(self, rows: np.ndarray, *outputs: "Tensor") -> "Tensor":
        """Return the loss of the outputs of `_forward`."""
        batch = self._batch(rows, *outputs)
        if self.inner is not None:
            fixed = replace(batch, features=batch.features.detach())
            for _ in range(whole(self.options, "inner_steps")):
                self.inner.zero_grad()
                self.objective.inner_loss(fixed, self.options, self.modules).backward()
                self.inner.step()
        loss, self.state = self.objective.loss(batch, self.state, self.options, self.modules)
        return loss

    def _batch(
        self,
        rows: np.ndarray,
        logits: "Tensor",
        features: "Tensor",
        partner_logits: "Tensor | None" = None,
    ) -> Batch:
        fields = self.problem.fields(
            rows, model_dtype(self.model), counterfactuals=partner_logits is not None
        )
        return Batch(
            logits=logits,
            features=features,
            partner_logits=partner_logits,
            task=self.examples.task,
            step=self.step,
            **{name: value.to(self.device) for name, value in fields.items()},
        )

    # ------------------------------------------------------------------ one epoch

    def _end_epoch(self) -> None:
        dev = self.examples.dev
        logits, _ = predict(self.model, self.batcher, dev, self.settings, device=self.device.type)
        if not np.isfinite(logits).all():
            row = int(np.flatnonzero(~np.isfinite(logits).all(axis=1))[0])
            raise InputError(
                f"after epoch {len(self.epochs.history) + 1} the model's logits of the case"
                f" {self.examples.ids[dev[row]]} are not finite",
                remedy="look at this case, or lower the learning rate",
            )
        norm = float(np.mean(self.norms))
        row = self.problem.epoch_row(self.step, self.losses, norm, logits)
        self.losses, self.norms = [], []
        self.epochs.add(
            row,
            self.state,
            lambda: {n: v.detach().cpu().clone() for n, v in self.model.state_dict().items()},
        )


def decayed(modules: "list[nn.Module | None]", weight_decay: float) -> list[dict[str, Any]]:
    """Return the trainable parameters as groups of AdamW: only matrices have weight decay."""
    parameters = [p for module in modules if module is not None for p in module.parameters()]
    trained = [p for p in parameters if p.requires_grad]
    return [
        {"params": [p for p in trained if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0.0},
    ]


def model_dtype(model: "nn.Module") -> "torch.dtype":
    """Return the number format of a model's weights."""
    return next(model.parameters()).dtype


def predict(
    model: "nn.Module",
    batcher: Batcher,
    rows: np.ndarray,
    settings: Settings,
    *,
    device: str = "cpu",
    title: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits of rows and the inputs of the last layer, without dropout.

    Both are float32 (float64 if the model's), of the shapes (n, classes) and (n, d). Rows are
    predicted in order, `Settings.evaluation_batch` at a time. A `title` adds a progress bar.
    """
    import torch
    from tqdm import tqdm

    was_training = model.training
    model.eval()
    batches = []
    starts = range(0, len(rows), settings.evaluation_batch)
    bar = tqdm(
        starts, desc=title, unit=" batches", mininterval=5, ascii=True, disable=title is None
    )
    with torch.inference_mode():
        for start in bar:
            some = rows[start : start + settings.evaluation_batch]
            outputs = forward(model, batcher(some), settings, device)
            batches.append([output.cpu().numpy() for output in outputs])
    model.train(was_training)
    logits, features = (np.concatenate(some) for some in zip(*batches, strict=True))
    return logits, features


def forward(
    model: "nn.Module", packed: Any, settings: Settings, device: str
) -> tuple["Tensor", "Tensor"]:
    """Return logits and features, in single precision (double if the model's are)."""
    import torch

    with torch.autocast(device, torch.bfloat16, enabled=settings.dtype == "bf16"):
        logits, features = model(packed)
    return full_precision(logits), full_precision(features)
