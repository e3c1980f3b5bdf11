"""Train a network as a classifier with any objective.

`batcher` makes the model's input from row numbers, and the model returns logits and features; all
other state that changes from step to step belongs to the training, and so to its checkpoint.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import InputError
from evenhand.io.checkpoint import random_state, set_random_state
from evenhand.learning import loop
from evenhand.learning.evaluation import (
    Batcher,
    dev_scores,
    forward,
    predict,
    predict_features,
)
from evenhand.learning.examples import Examples, check
from evenhand.learning.history import Epochs, Trained, broken_batch
from evenhand.learning.objective import (
    Batch,
    Objective,
    Options,
    load_objective,
    losses_of,
    sampler_of,
    trains_inside,
    whole,
)
from evenhand.learning.pairs import (
    COUNTERFACTUAL,
    GRAPH,
    Pairs,
    among,
    check_pairs,
    kind_of_pairs,
    partners,
)
from evenhand.learning.sampling import make_sampler
from evenhand.learning.settings import Settings
from evenhand.scoring.device import settle

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


class Fitted(NamedTuple):
    """A trained network, and its outputs for all cases.

    Attributes
    ----------
    model : module
    trained : Trained
    logits : array, shape (n, classes)
    features : array, shape (n, d)
        The input of the last layer; without the attribute, if the objective erases it.
    """

    model: "nn.Module"
    trained: Trained
    logits: np.ndarray
    features: np.ndarray


def fit(
    build: Callable[[], "nn.Module"],
    batcher: Batcher,
    examples: Examples,
    objective: Objective,
    options: Options,
    settings: Settings,
    *,
    seed: int,
    features: int,
    device: str = "cpu",
    folder: Path | None = None,
    title: str = "train",
    **how: Any,
) -> Fitted:
    """Train a model in all phases of an objective: a first training, the training, a last layer.

    Parameters
    ----------
    build : callable
        Returns a new model, whose `last_layer` is the linear layer of the logits.
    batcher, examples, objective, options, settings, seed, features, device, folder, title, **how
        As for `train`.
    """
    import torch

    shared = {"seed": seed, "features": features, "device": device, **how}
    every = np.arange(len(examples.ids))
    if objective.again:
        model, first = build(), first_settings(settings, options)
        erm, below = load_objective("erm"), None if folder is None else folder / "first"
        train(model, batcher, examples, erm, {}, first, folder=below, title=title, **shared)
        logits = predict(model, batcher, every, settings, device=device)
        examples = objective.again(examples, logits, options)
    model = build()
    trained = train(
        model, batcher, examples, objective, options, settings, folder=folder, title=title, **shared
    )
    logits, outputs = predict_features(
        model, batcher, every, settings, device=device, title=f"predict after {title}"
    )
    if objective.last_layer:
        found = objective.last_layer(outputs, examples, examples.dev, options)
        layer = model.last_layer
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(found.weight.T))
            layer.bias.copy_(torch.from_numpy(found.bias))
        logits = predict(model, batcher, every, settings, device=device)
        outputs = outputs if found.reads is None else outputs @ found.reads
    return Fitted(model, trained, logits, outputs)


def first_settings(settings: Settings, options: Options) -> Settings:
    """Return the settings of a first training: ``first_epochs`` epochs, chosen by macro-F1."""
    return replace(settings, epochs=whole(options, "first_epochs"), select="macro_f1")


def train(
    model: "nn.Module",
    batcher: Batcher,
    examples: Examples,
    objective: Objective,
    options: Options,
    settings: Settings,
    *,
    seed: int,
    features: int,
    device: str = "cpu",
    folder: Path | None = None,
    configuration: Mapping[str, Any] | None = None,
    pairs: Pairs | None = None,
    title: str = "train",
) -> Trained:
    """Train a model in place, and leave it in evaluation mode with the best epoch's weights.

    Parameters
    ----------
    model : module
        On the device; it returns logits (n, classes) and features (n, `features`) for an input
        from `batcher`.
    batcher : callable
        Makes the model's input from row numbers, without any randomness. The counterfactual
        (`pairs`) of row i of n is row n + i.
    examples : Examples
        See `check`, which is called here too.
    objective, options
        See `evenhand.learning.objective`.
    settings : Settings
        Rates, batches, epochs.
    seed : int
        Seed of batches and dropout; call within `repeatable`.
    features : int
        Width of the features, for the objective's modules (such as an adversary), which are
        trained with the same rate, schedule and clipping.
    device : str
        The model's device.
    folder : path, optional
        Folder for the checkpoint, and for a batch whose loss is not finite.
    configuration : mapping, optional
        Other determinants of the training (such as the model); part of the checkpoint.
    pairs : Pairs, optional
        The pairs of an objective that compares pairs. The model's outputs for a case are the same,
        to the bit, with or without a counterfactual, which gets the same dropout.
    title : str
        Label of the progress bar.

    Raises
    ------
    InputError
        The cases cannot be trained on; a loss or gradient is not finite; the checkpoint belongs to
        another configuration or cannot be written.
    """
    check(examples, objective, options, settings)
    pairs = pairs or Pairs()
    check_pairs(options, pairs, examples.train)
    training = Training(
        model, batcher, examples, objective, options, settings, seed, features, device, pairs
    )
    training.folder = folder
    identity = {
        **(configuration or {}),
        "settings": asdict(settings),
        "seed": seed,
        "objective": [objective.NAME, dict(options)],
        "cases": examples.digest(),
        "model": [[name, list(one.shape)] for name, one in model.state_dict().items()],
    }
    if (used := pairs.digest(options)) is not None:
        identity["pairs"] = used
    loop.run(training, folder, identity, title=title, device=device)
    model.load_state_dict(training.epochs.weights)
    model.eval()
    return training.epochs.result()


class Training:
    """The training of one seed: its state, and its steps."""

    def __init__(
        self,
        model: "nn.Module",
        batcher: Batcher,
        examples: Examples,
        objective: Objective,
        options: Options,
        settings: Settings,
        seed: int,
        features: int,
        device: str,
        pairs: Pairs,
    ) -> None:
        import torch

        self.pairs, self.pair_kind = pairs, kind_of_pairs(options)
        self.model, self.batcher, self.examples = model, batcher, examples
        self.objective, self.options, self.settings = objective, options, settings
        self.device = torch.device(device)
        self.folder: Path | None = None
        settle(model)
        torch.manual_seed(seed)
        codes = torch.as_tensor(examples.codes[examples.train])
        groups = max(1, len(examples.group_names))
        present = torch.bincount(codes, minlength=groups) > 0
        self.state = {
            name: value.to(self.device)
            for name, value in objective.initial_state(present, options).items()
        }
        modules = objective.modules(features, groups, options)
        #: the objective's own
        self.modules = None if modules is None else modules.to(self.device, model_dtype(model))
        self.inner = None
        if trains_inside(objective, options):
            rate = options["inner_rate"]
            self.inner = torch.optim.Adam(self.modules.parameters(), lr=rate)
        self.labels = torch.as_tensor(examples.labels)
        if examples.task == "multi_label":
            self.labels = self.labels.to(model_dtype(model))
        self.codes = torch.as_tensor(examples.codes)
        self.epoch_steps = math.ceil(len(examples.train) / settings.batch)
        self.steps = self.epoch_steps * settings.epochs
        self.warmup = int(settings.warmup * self.steps)
        self.descent = loop.Descent(
            decayed([model, None if self.inner else self.modules], settings.weight_decay),
            lr=settings.lr,
            steps=self.steps,
            warmup=self.warmup,
            clip=settings.clip,
        )
        sampler = sampler_of(objective, options)
        self.sampler = make_sampler(
            sampler,
            examples.sampled(sampler),
            settings.batch,
            np.random.default_rng(seed),
            among(examples.train, pairs.neighbours) if self.pair_kind == GRAPH else None,
        )
        self.epochs = Epochs(settings.epochs, settings.patience, settings.select)
        self.losses: list[float] = []  # of the current epoch
        self.norms: list[float] = []

    @property
    def step(self) -> int:
        """The number of optimiser steps so far."""
        return len(self.epochs.history) * self.epoch_steps + len(self.losses)

    def advance(self) -> Iterator[dict[str, str]]:
        """Train; see `evenhand.learning.loop.Training`."""
        while not self.epochs.done:
            self.model.train()
            while len(self.losses) < self.epoch_steps:
                self._one_step(next(self.sampler))
                epoch = len(self.epochs.history) + 1
                yield {"epoch": f"{epoch}", "loss": f"{self.losses[-1]:.3f}"}
            self._end_epoch()
            yield {}

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "model": self.model.state_dict(),
            "modules": self.modules.state_dict() if self.modules is not None else None,
            "descent": self.descent.state_dict(),
            "inner": self.inner and self.inner.state_dict(),
            "sampler": json.dumps(self.sampler.state()),
            "epochs": self.epochs.state_dict(),
            "state": self.state,
            "losses": self.losses,
            "norms": self.norms,
        }

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        for name in ("model", "descent", "epochs", *(() if self.modules is None else ("modules",))):
            getattr(self, name).load_state_dict(kept[name])
        if self.inner is not None:
            self.inner.load_state_dict(kept["inner"])
        self.sampler.restore(json.loads(kept["sampler"]))
        self.state, self.losses, self.norms = (kept[n] for n in ("state", "losses", "norms"))

    # ------------------------------------------------------------------ one step

    def _one_step(self, places: np.ndarray) -> None:
        rows = self.examples.train[places]
        loss, logits = self._backward(rows)
        value, norm = self.descent.update(loss)
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise broken_batch(
                self.folder,
                step=self.step,
                epoch=len(self.epochs.history) + 1,
                loss=value,
                norm=norm,
                ids=[self.examples.ids[row] for row in rows],
                losses=losses_of(self._batch(rows, logits.detach(), logits.detach())).tolist(),
            )
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
        if self.pair_kind != COUNTERFACTUAL:
            return self._outputs(rows)
        before = random_state(self.device)
        logits, features = self._outputs(rows)
        after = random_state(self.device)
        has = np.flatnonzero(self.pairs.swapped[rows])
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
        swapped: "Tensor | None" = None,
    ) -> Batch:
        import torch

        near = has = None
        if swapped is not None:
            has = torch.from_numpy(self.pairs.swapped[rows]).to(self.device)
        if self.pair_kind == GRAPH:
            near = torch.from_numpy(partners(rows, self.pairs.neighbours)).to(self.device)
        return Batch(
            logits=logits,
            labels=self.labels[rows].to(self.device),
            groups=self.codes[rows].to(self.device),
            features=features,
            task=self.examples.task,
            step=self.step,
            partner_logits=swapped,
            has_partner=has,
            partner=near,
        )

    # ------------------------------------------------------------------ one epoch

    def _end_epoch(self) -> None:
        dev = self.examples.dev
        logits = predict(self.model, self.batcher, dev, self.settings, device=self.device.type)
        if not np.isfinite(logits).all():
            row = int(np.flatnonzero(~np.isfinite(logits).all(axis=1))[0])
            raise InputError(
                f"after epoch {len(self.epochs.history) + 1} the model's logits of the case"
                f" {self.examples.ids[dev[row]]} are not finite",
                remedy="look at this case, or lower the learning rate",
            )
        steps = self.step
        factor = loop.schedule_factor(steps - 1, steps=self.steps, warmup=self.warmup)
        row = {
            "steps": steps,
            "learning_rate": self.settings.lr * factor,
            "losses": self.losses,
            "gradient_norm": float(np.mean(self.norms)),
            **dev_scores(logits, self.examples, sampler_of(self.objective, self.options)),
        }
        self.losses, self.norms = [], []
        self.epochs.add(
            row,
            self.state,
            lambda: {n: v.detach().cpu().clone() for n, v in self.model.state_dict().items()},
        )


def decayed(modules: "list[nn.Module | None]", weight_decay: float) -> list[dict[str, Any]]:
    """Return the trainable parameters as groups of AdamW: only matrices have weight decay."""
    trained = [
        one
        for module in modules
        if module is not None
        for one in module.parameters()
        if one.requires_grad
    ]
    return [
        {"params": [one for one in trained if one.dim() > 1], "weight_decay": weight_decay},
        {"params": [one for one in trained if one.dim() <= 1], "weight_decay": 0.0},
    ]


def model_dtype(model: "nn.Module") -> "torch.dtype":
    """Return the number format of a model's weights."""
    return next(model.parameters()).dtype
