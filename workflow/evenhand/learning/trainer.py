"""Training a classifier with any objective: steps, development scores, stops, checkpoints.

It knows no model: a model is a module that turns what `batcher` makes of row numbers into logits
and features, and a training owns everything else that changes from step to step. All of it is
in a checkpoint, so that a training that is killed goes on as if nothing had happened: on a CPU
to the same bits.
"""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.checkpoint import Checkpoints, random_state, set_random_state
from evenhand.learning.board import note_scores
from evenhand.learning.evaluation import Batcher, dev_scores, forward, predict, rank
from evenhand.learning.examples import Examples, check
from evenhand.learning.history import save_broken_batch
from evenhand.learning.objective import (
    Batch,
    Objective,
    Options,
    losses_of,
    sampler_of,
)
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
from evenhand.scoring.device import settle

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class Trained:
    """What a training came to; the model has the weights of the best epoch.

    Attributes
    ----------
    history : list of dict
        A row per epoch: the columns of `evenhand.learning.history.HISTORY` but the first four.
    epoch : int
        The best one, from 1.
    score : float
        Its development score.
    steps : int
        Optimiser steps in all.
    """

    history: list[dict[str, Any]]
    epoch: int
    score: float
    steps: int


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
    board: Any = None,
) -> Trained:
    """Train a model in place, and leave it in evaluation mode with the best epoch's weights.

    Parameters
    ----------
    model : module
        On the device; called with what `batcher` gives, it returns logits (n, classes) and
        features (n, `features`).
    batcher : callable
        Turns row numbers into what the model takes. It must draw nothing at random. Where cases
        have twins (`pairs`), the twin of row i of n is row n + i.
    examples : Examples
        See `check`, which is called here too.
    objective, options
        See `evenhand.learning.objective`.
    settings : Settings
        How.
    seed : int
        Of batches and dropout; call within `repeatable`.
    features : int
        Width of the features, for what the objective trains along (an adversary, say): with the
        same rate, schedule and clipping.
    device : str
        Where the model is.
    folder : path, optional
        Where the checkpoint lies, and where a batch is noted whose loss is no number.
    configuration : mapping, optional
        What else determines the training (the model, say); it goes into the checkpoint.
    pairs : Pairs, optional
        For an objective that compares pairs. A case with a twin goes through the model as without
        one, to the same bits, and then the twin, with dropout from the same random state.
    title : str
        What the progress bar says.
    board : SummaryWriter, optional
        Of `evenhand.learning.board`.

    Raises
    ------
    InputError
        The cases cannot be trained on; a loss or gradient is no finite number; the checkpoint
        is of another configuration or cannot be written.
    """
    check(examples, objective, options, settings)
    run = _Run(
        model=model,
        batcher=batcher,
        examples=examples,
        objective=objective,
        options=options,
        settings=settings,
        seed=seed,
        features=features,
        device=device,
        folder=folder,
        configuration=configuration or {},
        pairs=pairs,
    )
    return run.all_epochs(title, board)


class _Run:
    """A training on its way: what changes from step to step, and how."""

    def __init__(
        self,
        *,
        model: "nn.Module",
        batcher: Batcher,
        examples: Examples,
        objective: Objective,
        options: Options,
        settings: Settings,
        seed: int,
        features: int,
        device: str,
        folder: Path | None,
        configuration: Mapping[str, Any],
        pairs: Pairs | None = None,
    ) -> None:
        import torch

        pairs = pairs or Pairs()
        check_pairs(options, pairs, examples.train)
        self.pairs, self.asked = pairs, asked_for(options)
        self.model, self.batcher, self.examples = model, batcher, examples
        self.objective, self.options, self.settings = objective, options, settings
        self.device, self.folder = torch.device(device), folder
        settle(model)
        torch.manual_seed(seed)
        codes = torch.as_tensor(examples.codes[examples.train])
        groups = max(1, len(examples.group_names))
        present = torch.bincount(codes, minlength=groups) > 0
        self.state = {
            name: value.to(self.device)
            for name, value in objective.initial_state(present, options).items()
        }
        self.modules = objective.modules(features, groups, options)
        if self.modules is not None:
            self.modules.to(self.device, next(model.parameters()).dtype)
        self.labels = torch.as_tensor(examples.labels)
        if examples.task == "multi_label":
            self.labels = self.labels.to(next(model.parameters()).dtype)
        self.codes = torch.as_tensor(examples.codes)
        self.epoch_steps = math.ceil(len(examples.train) / settings.batch)
        self.steps = self.epoch_steps * settings.epochs
        warmup = int(settings.warmup * self.steps)
        self.optimizer = _optimizer(model, self.modules, settings)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: schedule_factor(step, steps=self.steps, warmup=warmup)
        )
        self.sampler = make_sampler(
            sampler_of(objective, options),
            codes.numpy(),
            settings.batch,
            np.random.default_rng(seed),
            among(examples.train, pairs.neighbours) if self.asked == GRAPH else None,
        )
        self.losses: list[float] = []  # of the epoch that is on its way
        self.norms: list[float] = []
        self.history: list[dict[str, Any]] = []
        self.best: dict[str, Tensor] | None = None
        self.best_epoch, self.best_score = 0, -math.inf
        self.best_loss = math.inf
        identity = {
            **configuration,
            "settings": asdict(settings),
            "seed": seed,
            "objective": [objective.NAME, dict(options)],
            "cases": examples.digest(),
            "model": [[name, list(one.shape)] for name, one in model.state_dict().items()],
        }
        if (used := pairs.digest(options)) is not None:
            identity["pairs"] = used
        self.checkpoints = Checkpoints(folder, identity)

    @property
    def step(self) -> int:
        """Optimiser steps done."""
        return len(self.history) * self.epoch_steps + len(self.losses)

    @property
    def done(self) -> bool:
        """Whether the last epoch is over, or enough of them without a better one."""
        epochs = len(self.history)
        tired = epochs - self.best_epoch >= self.settings.patience
        return epochs == self.settings.epochs or (epochs > 0 and tired)

    def all_epochs(self, title: str, board: Any) -> Trained:
        from tqdm import tqdm

        self._restore()
        with tqdm(
            total=self.steps,
            initial=self.step,
            desc=title,
            unit=" steps",
            mininterval=5,
            ascii=True,
        ) as bar:
            while not self.done:
                self.model.train()
                while len(self.losses) < self.epoch_steps:
                    self._one_step(next(self.sampler))
                    bar.update()
                    bar.set_postfix(self._postfix(), refresh=False)
                    if board is not None:
                        board.add_scalar("loss", self.losses[-1], self.step)
                    self.checkpoints.save_if_due(self._collect)
                self._end_epoch(board)
                self.checkpoints.save_if_due(self._collect)
        self.model.load_state_dict(self.best)
        self.model.eval()
        for row in self.history:
            row["best"] = row["epoch"] == self.best_epoch
        return Trained(self.history, self.best_epoch, self.best_score, self.step)

    def _postfix(self) -> dict[str, str]:
        shown = {"epoch": str(len(self.history) + 1), "loss": f"{self.losses[-1]:.3f}"}
        if self.best_epoch:
            shown["dev"] = f"{self.best_score:.3f}"
        return shown

    # ------------------------------------------------------------------ one step

    def _one_step(self, places: np.ndarray) -> None:
        import torch

        rows = self.examples.train[places]
        self.optimizer.zero_grad()
        loss, logits = self._backward(rows)
        trained = [one for group in self.optimizer.param_groups for one in group["params"]]
        norm = torch.nn.utils.clip_grad_norm_(trained, self.settings.clip or math.inf)
        value, length = torch.stack([loss.detach().double(), norm.double()]).tolist()
        if not (math.isfinite(value) and math.isfinite(length)):
            self._stop(rows, logits, value, length)
        self.optimizer.step()
        self.schedule.step()
        self.losses.append(value)
        self.norms.append(length)

    def _backward(self, rows: np.ndarray) -> tuple["Tensor", "Tensor"]:
        """Gradients of a batch; its loss and logits."""
        if self.settings.accumulate == 1:
            found = self._forward(rows)
            loss = self._loss(rows, *found)
            loss.backward()
            return loss, found[0]
        import torch

        parts = np.array_split(rows, min(self.settings.accumulate, len(rows)))
        before, found = [], []
        with torch.no_grad():
            for part in parts:
                before.append(random_state(self.device))
                found.append(self._forward(part))
        wholes = [torch.cat(some).requires_grad_() for some in zip(*found, strict=True)]
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
        """Logits and features of cases, and the logits of their twins if they are asked for."""
        if self.asked != COUNTERFACTUAL:
            return self._answers(rows)
        before = random_state(self.device)
        logits, features = self._answers(rows)
        after = random_state(self.device)
        has = np.flatnonzero(self.pairs.twins[rows])
        twins = logits.new_zeros(logits.shape)  # whoever has none is left out of the loss
        if len(has):
            set_random_state(before, self.device)
            said, _ = self._answers(rows[has] + len(self.examples.ids))
            set_random_state(after, self.device)
            twins[has] = said
        return logits, features, twins

    def _answers(self, rows: np.ndarray) -> tuple["Tensor", "Tensor"]:
        return forward(self.model, self.batcher(rows), self.settings, self.device.type)

    def _loss(self, rows: np.ndarray, *found: "Tensor") -> "Tensor":
        """Of what `_forward` gives."""
        loss, self.state = self.objective.loss(
            self._batch(rows, *found), self.state, self.options, self.modules
        )
        return loss

    def _batch(
        self,
        rows: np.ndarray,
        logits: "Tensor",
        features: "Tensor",
        twins: "Tensor | None" = None,
    ) -> Batch:
        import torch

        near = has = None
        if twins is not None:
            has = torch.from_numpy(self.pairs.twins[rows]).to(self.device)
        if self.asked == GRAPH:
            near = torch.from_numpy(partners(rows, self.pairs.neighbours)).to(self.device)
        return Batch(
            logits=logits,
            labels=self.labels[rows].to(self.device),
            groups=self.codes[rows].to(self.device),
            features=features,
            task=self.examples.task,
            step=self.step,
            partner_logits=twins,
            has_partner=has,
            partner=near,
        )

    def _stop(self, rows: np.ndarray, logits: "Tensor", loss: float, norm: float) -> None:
        """Note the batch, and raise."""
        losses = losses_of(self._batch(rows, logits.detach(), logits.detach())).tolist()
        ids = [self.examples.ids[row] for row in rows]
        note = {
            "step": self.step,
            "epoch": len(self.history) + 1,
            "loss": repr(loss),
            "gradient_norm": repr(norm),
            "cases": [
                {"case_id": one, "loss": repr(value)}
                for one, value in zip(ids, losses, strict=True)
            ],
        }
        where = save_broken_batch(self.folder, note)
        what = "loss" if not math.isfinite(loss) else "gradient"
        raise InputError(
            f"the {what} of step {self.step + 1} is no finite number"
            f" (epoch {note['epoch']}, cases {', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})",
            remedy=f"look at these cases ({where}), or lower the learning rate",
        )

    # ------------------------------------------------------------------ one epoch

    def _end_epoch(self, board: Any) -> None:
        logits = predict(
            self.model, self.batcher, self.examples.dev, self.settings, device=self.device.type
        )
        if not np.isfinite(logits).all():
            row = int(np.flatnonzero(~np.isfinite(logits).all(axis=1))[0])
            raise InputError(
                f"after epoch {len(self.history) + 1} the model gives no finite number for the"
                f" case {self.examples.ids[self.examples.dev[row]]}",
                remedy="look at this case, or lower the learning rate",
            )
        scores = dev_scores(logits, self.examples)
        steps = self.step  # before the epoch's losses move into the history
        rate = self.settings.lr * schedule_factor(
            steps - 1, steps=self.steps, warmup=int(self.settings.warmup * self.steps)
        )
        epoch = len(self.history) + 1
        self.history.append(
            {
                "epoch": epoch,
                "steps": steps,
                "learning_rate": rate,
                "losses": self.losses,
                "gradient_norm": float(np.mean(self.norms)),
                **scores,
                "state": {
                    name: value.detach().double().reshape(-1).tolist()
                    for name, value in sorted(self.state.items())
                },
                "best": False,
            }
        )
        self.losses, self.norms = [], []
        here = rank(scores, self.settings.select)
        if here > (self.best_score, -self.best_loss):
            self.best_epoch, self.best_score, self.best_loss = epoch, here[0], -here[1]
            self.best = {
                name: value.detach().cpu().clone()
                for name, value in self.model.state_dict().items()
            }
        if board is not None:
            note_scores(board, self.history[-1])

    # ------------------------------------------------------------------ checkpoints

    def _collect(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "modules": self.modules.state_dict() if self.modules is not None else None,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "sampler": json.dumps(self.sampler.state()),
            "random": random_state(self.device),
            "state": self.state,
            "losses": self.losses,
            "norms": self.norms,
            "history": self.history,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "best_score": self.best_score,
            "best_loss": self.best_loss,
        }

    def _restore(self) -> None:
        kept = self.checkpoints.restore(str(self.device))
        if kept is None:
            return
        self.model.load_state_dict(kept["model"])
        if self.modules is not None:
            self.modules.load_state_dict(kept["modules"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.schedule.load_state_dict(kept["schedule"])
        self.sampler.restore(json.loads(kept["sampler"]))
        set_random_state(kept["random"], self.device)
        for name in ("state", "losses", "norms", "history"):
            setattr(self, name, kept[name])
        for name in ("best", "best_epoch", "best_score", "best_loss"):
            setattr(self, name, kept[name])
        print(f"goes on after step {self.step}", file=sys.stderr)


def _optimizer(
    model: "nn.Module", modules: "nn.Module | None", settings: Settings
) -> "torch.optim.Optimizer":
    import torch

    trained = [
        one
        for module in (model, modules)
        if module is not None
        for one in module.parameters()
        if one.requires_grad
    ]
    decays = [one for one in trained if one.dim() > 1]
    others = [one for one in trained if one.dim() <= 1]
    groups = [
        {"params": decays, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([one for one in groups if one["params"]], lr=settings.lr, fused=True)
