"""Training a classifier with any objective: steps, development scores, stops, checkpoints.

It knows no model: a model is a module that turns what `batcher` makes of row numbers into logits
and features, and a training owns everything else that changes from step to step. All of it is
in a checkpoint, so that a training that is killed goes on as if nothing had happened: on a CPU
to the same bits.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.checkpoint import Checkpoints, random_state, set_random_state
from evenhand.io.files import atomic
from evenhand.learning.board import note_scores
from evenhand.learning.history import SELECTIONS
from evenhand.learning.objective import (
    Batch,
    Objective,
    Options,
    full_precision,
    losses_of,
    per_example_loss,
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
from evenhand.learning.sampling import GROUPLESS, make_sampler
from evenhand.metrics.classification import (
    counts_of,
    over_all,
    predicted_labels,
    stacked,
    with_none_class,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

#: What a step is computed in: single precision, or bfloat16 where autocast takes it.
DTYPES = ("fp32", "bf16")

#: Where the cases of a batch with a loss that is no number are noted.
BROKEN_BATCH = "broken_batch.json"

#: Makes of row numbers what the model takes, on its device.
Batcher = Callable[[np.ndarray], Any]


def save_broken_batch(folder: Path | None, note: dict[str, Any]) -> str:
    """Note the batch of a loss or gradient that is no number; where its cases are named."""
    print(f"broken batch: {json.dumps(note)}", file=sys.stderr)
    if folder is None:
        return "the log names its cases"
    with atomic(folder / BROKEN_BATCH) as path:
        path.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return f"{folder / BROKEN_BATCH} names its cases"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The cases of a training.

    Attributes
    ----------
    ids : sequence of str, length n
    labels : array
        ``multi_class``: numbers, int64, shape (n,); ``multi_label``: 0 and 1, (n, classes).
    classes : int
    task : str
        One of `evenhand.learning.objective.TASKS`.
    train, dev : array of int64
        Rows to learn from, and to choose the epoch by.
    groups : array of int64, shape (n,), or None
        Codes of one attribute.
    group_names : sequence of str
        Their names; empty without groups.
    known_groups : int
        The codes below are of known groups: their scores count.
    """

    ids: Sequence[str]
    labels: np.ndarray
    classes: int
    task: str
    train: np.ndarray
    dev: np.ndarray
    groups: np.ndarray | None = None
    group_names: Sequence[str] = ()
    known_groups: int = 0

    @property
    def hot(self) -> np.ndarray:
        """The labels as bool, shape (n, classes)."""
        if self.task == "multi_label":
            return self.labels.astype(bool)
        return self.labels[:, None] == np.arange(self.classes)

    @property
    def codes(self) -> np.ndarray:
        """The groups; without an attribute all are of one."""
        return np.zeros(len(self.ids), dtype=np.int64) if self.groups is None else self.groups


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to train.

    Attributes
    ----------
    lr : float
        Learning rate of AdamW, highest after the warm-up; it falls linearly to 0 at the end of
        all `epochs`.
    batch : int
        Cases a step.
    epochs, patience : int
        How many at most; after how many without a better one (see `rank`) it stops.
    select : str
        The development score that epochs are chosen by, one of
        `evenhand.learning.history.SELECTIONS`.
    clip : float
        Norm that a gradient is clipped to; 0 does not clip.
    warmup : float
        Share of the steps in which the rate rises.
    weight_decay : float
        Of matrices; biases and norms have none.
    accumulate : int
        Parts in which a batch is worked on, for models whose batches do not fit into memory. The
        gradient is that of the whole batch for every objective: a first pass without gradients
        gives the logits, and a second one, with the same dropout, the gradients part by part.
    evaluation_batch : int
        Cases predicted at once.
    dtype : str
        One of `DTYPES`.
    threads : int
        CPU threads: another number may change the last bits.
    deterministic : bool
        Also on a GPU use kernels that give the same bits each time; on a CPU they always do.
    """

    lr: float = 3e-5
    batch: int = 16
    epochs: int = 20
    patience: int = 2
    select: str = "macro_f1"
    clip: float = 1.0
    warmup: float = 0.0
    weight_decay: float = 0.0
    accumulate: int = 1
    evaluation_batch: int = 64
    dtype: str = "fp32"
    threads: int = 1
    deterministic: bool = False

    def __post_init__(self) -> None:
        whole = ("batch", "epochs", "patience", "accumulate", "evaluation_batch", "threads")
        for name in whole:
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}, and must be at least 1")
        for name in ("clip", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}, and must be at least 0")
        if not 0 < self.lr < math.inf:
            raise InputError(f"lr is {self.lr}, and must be above 0")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup}, and must be a share from 0 to below 1")
        for name, values in (("select", SELECTIONS), ("dtype", DTYPES)):
            if getattr(self, name) not in values:
                value = getattr(self, name)
                raise InputError(f"{name} is {value!r}, not one of {', '.join(values)}")


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


def uses_groups(objective: Objective, options: Options, select: str) -> bool:
    """Whether a training depends on the groups: its loss, its batches, or the choice of epoch."""
    return (
        objective.USES_GROUPS
        or sampler_of(objective, options) not in GROUPLESS
        or select != "macro_f1"
    )


def check(
    examples: Examples, objective: Objective, options: Options, settings: Settings
) -> list[str]:
    """Refuse cases that cannot be trained on, and say what is doubtful about others.

    Returns
    -------
    list of str
        Remarks, one a sentence: classes without a case, groups of a single case.

    Raises
    ------
    InputError
        A split is empty, labels are out of range or all the same, or the objective needs groups
        and there are fewer than two.
    """
    for split in ("train", "dev"):
        if not len(getattr(examples, split)):
            raise InputError(
                f"there is no case with a label in the split {split}",
                remedy="divide the cases otherwise, or give more of them",
            )
    if examples.task == "multi_class":
        labels = examples.labels
        if len(labels) and not 0 <= labels.min() <= labels.max() < examples.classes:
            raise InputError(f"there is a label that is none of the {examples.classes}")
    elif examples.labels.shape[1] != examples.classes:
        raise InputError(
            f"cases have {examples.labels.shape[1]} labels, and there are {examples.classes}"
        )
    remarks = []
    per_class = {split: examples.hot[getattr(examples, split)] for split in ("train", "dev")}
    if (per_class["train"] == per_class["train"][0]).all():
        raise InputError(
            "all cases of the split train have the same labels, so that there is nothing to learn"
        )
    for split, hot in per_class.items():
        absent = np.flatnonzero(~hot.any(axis=0))
        if len(absent):
            numbers = ", ".join(map(str, absent))
            remarks.append(f"no case of the split {split} has the label {numbers} (from 0)")
    if uses_groups(objective, options, settings.select):
        remarks += _check_groups(examples, objective, settings)
    return remarks


def _check_groups(examples: Examples, objective: Objective, settings: Settings) -> list[str]:
    names = examples.group_names
    if examples.groups is None:
        raise InputError(
            f"{objective.NAME} with epochs chosen by {settings.select} needs groups",
            remedy="name an attribute",
        )
    sizes = {
        split: np.bincount(examples.groups[rows], minlength=len(names))
        for split, rows in (("train", examples.train), ("dev", examples.dev))
    }
    there = np.flatnonzero(sizes["train"][: examples.known_groups])
    if len(there) < 2:
        only = f"only the group {names[there[0]]!r}" if len(there) else "no known group"
        raise InputError(
            f"the split train has {only} of the attribute, and {objective.NAME} needs two",
            remedy="take another attribute",
        )
    if settings.select != "macro_f1" and not sizes["dev"][: examples.known_groups].any():
        raise InputError(
            f"the split dev has no case of a known group, and epochs are chosen by"
            f" {settings.select}",
            remedy="choose by macro_f1",
        )
    return [
        f"the group {names[code]!r} has a single case in the split {split}"
        for split, counts in sizes.items()
        for code in np.flatnonzero(counts == 1)
    ]


def check_device(device: str) -> None:
    """Refuse a device that is not there."""
    import torch

    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"device {device!r} is unknown", remedy="use cpu, cuda or cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"there is no GPU for the device {device!r}", remedy="use cpu")


@contextmanager
def repeatable(seed: int, settings: Settings, device: str = "cpu") -> Iterator[None]:
    """Run a block from a seed, on so many threads; then put all back.

    A model is built in it too: its first weights come from the seed.
    """
    import torch

    remember = torch.random.get_rng_state(), torch.get_num_threads()
    before = torch.are_deterministic_algorithms_enabled()
    deterministic = settings.deterministic or device == "cpu"
    if deterministic and device != "cpu":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        torch.set_num_threads(settings.threads)
        torch.use_deterministic_algorithms(deterministic)
        torch.manual_seed(seed)
        yield
    finally:
        torch.random.set_rng_state(remember[0])
        torch.set_num_threads(remember[1])
        torch.use_deterministic_algorithms(before)


def settle(model: "nn.Module") -> None:
    """Move weights to memory of their own, which begins where torch lets memory begin.

    Weights that are mapped from a file begin anywhere, and the last bits of a sum depend on it:
    the same weights from another file would give other bits.
    """
    for one in model.parameters():
        one.data = one.data.clone()


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


def predict(
    model: "nn.Module",
    batcher: Batcher,
    rows: np.ndarray,
    settings: Settings,
    *,
    device: str = "cpu",
    title: str | None = None,
) -> np.ndarray:
    """The logits of rows, without dropout: float32 (float64 if the model's are), (n, classes).

    Rows are predicted `Settings.evaluation_batch` at a time, in their order. With a `title`
    there is a progress bar.
    """
    import torch
    from tqdm import tqdm

    was_training = model.training
    model.eval()
    found = []
    starts = range(0, len(rows), settings.evaluation_batch)
    bar = tqdm(
        starts, desc=title, unit=" batches", mininterval=5, ascii=True, disable=title is None
    )
    with torch.inference_mode():
        for start in bar:
            some = rows[start : start + settings.evaluation_batch]
            logits, _ = _forward(model, batcher(some), settings, device)
            found.append(logits.cpu().numpy())
    model.train(was_training)
    return np.concatenate(found) if found else np.empty((0, 0), dtype=np.float32)


def dev_scores(logits: np.ndarray, examples: Examples) -> dict[str, Any]:
    """The history's development scores.

    Parameters
    ----------
    logits : array, shape (d, classes)
        What the model says of the d rows of `examples.dev`.
    examples : Examples
        Their labels and groups.

    Returns
    -------
    dict
        dev_loss, dev_macro_f1 (of a task with several labels, having none of them is a class
        more), dev_mean_group_f1, dev_worst_group_f1, dev_group_f1.
    """
    import torch

    truth, said = examples.hot[examples.dev], predicted_labels(logits, examples.task)
    if examples.task == "multi_label":
        truth, said = with_none_class(truth), with_none_class(said)
    values, classes = stacked(truth, said[None]), truth.shape[1]
    labels = torch.as_tensor(examples.labels[examples.dev])
    loss = per_example_loss(torch.as_tensor(logits), labels, examples.task).double().mean()
    scores: dict[str, Any] = {
        "dev_loss": loss.item(),
        "dev_macro_f1": float(over_all(counts_of(values.sum(axis=0), classes))[0]),
        "dev_mean_group_f1": None,
        "dev_worst_group_f1": None,
        "dev_group_f1": None,
    }
    if examples.groups is None:
        return scores
    codes = examples.groups[examples.dev]
    members = codes == np.arange(examples.known_groups)[:, None]
    sums = members.astype(values.dtype) @ values
    by_group = over_all(counts_of(sums, classes))[:, 0]
    there = members.any(axis=1)
    return scores | {
        "dev_mean_group_f1": float(by_group[there].mean()) if there.any() else None,
        "dev_worst_group_f1": float(by_group[there].min()) if there.any() else None,
        "dev_group_f1": [
            float(one) if is_there else None for one, is_there in zip(by_group, there, strict=True)
        ],
    }


def rank(scores: Mapping[str, Any], select: str) -> tuple[float, float]:
    """What epochs are compared by: the higher one is the better epoch.

    It is the development score, and among equal scores the loss. On a small split scores are
    often equal: a classifier of several labels begins by predicting none of them, for some epochs,
    while its loss falls.

    Parameters
    ----------
    scores : mapping
        Of `dev_scores`.
    select : str
        One of `evenhand.learning.history.SELECTIONS`.
    """
    return scores[f"dev_{select}"], -scores["dev_loss"]


def schedule_factor(step: int, *, steps: int, warmup: int) -> float:
    """What the learning rate is multiplied with in a step, counted from 0."""
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (steps - step) / (steps - warmup))


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
            "cases": _digest(examples),
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
        return _forward(self.model, self.batcher(rows), self.settings, self.device.type)

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


def _forward(
    model: "nn.Module", packed: Any, settings: Settings, device: str
) -> tuple["Tensor", "Tensor"]:
    """Logits and features, in single precision (double if the model's are)."""
    import torch

    with torch.autocast(device, torch.bfloat16, enabled=settings.dtype == "bf16"):
        logits, features = model(packed)
    return full_precision(logits), full_precision(features)


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


def _digest(examples: Examples) -> str:
    """What the cases are, without their texts."""
    digest = hashlib.sha256(json.dumps([*examples.ids]).encode())
    digest.update(json.dumps([examples.classes, examples.task, *examples.group_names]).encode())
    for part in (examples.labels, examples.codes, examples.train, examples.dev):
        digest.update(np.ascontiguousarray(part, dtype=np.int64).data)
    return digest.hexdigest()
