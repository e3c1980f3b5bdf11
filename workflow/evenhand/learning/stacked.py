"""Train many runs of one method at once.

Runs that differ in seed, weights and threshold do the same arithmetic on other numbers. Their
parameters are stacked, (seeds, configurations, ...), and one step of all is a vmap over seeds of
a vmap over configurations of the gradient of one run's loss. Runs of the same seed share the split,
the initial parameters, the batches and the neighbours, which are searched once per step. Adadelta
works element by element, so that one optimiser of the stack is equivalent to separate ones.

A stack's layout depends only on the requested runs and the table, never on the machine: the same
job gives the same bytes. In another layout the order of sums differs, and so do the last digits. A
run that becomes infinite or NaN does not affect the others.

In a stage each stack keeps a checkpoint: the next attempt skips finished stacks and continues the
unfinished one.
"""

import hashlib
import heapq
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from evenhand.core.scratch import scratch_folder
from evenhand.errors import InputError
from evenhand.learning import loop
from evenhand.learning.hyperparameters import Hyperparameters
from evenhand.learning.individual_loss import Batch, IndividualLoss, individual_loss_of
from evenhand.learning.losses.adversarial import (
    Shares,
    balanced_cross_entropy,
    label_cross_entropy,
)
from evenhand.learning.losses.iifr import individual_loss
from evenhand.learning.method import Method
from evenhand.learning.network import Network, initial
from evenhand.learning.pair_sources import near_enough
from evenhand.scoring.device import one_thread
from evenhand.tabular.prepared import Prepared, flip, scaled
from evenhand.tabular.splits import EmptyPartError, official_split, random_split

#: Runs trained at once: more exceed the caches, fewer increase the overhead of calls.
STACK = 40

#: Bytes of training rows held at once.
MEMORY = 1 << 28

#: Rows predicted at once.
ROWS = 8192

RHO, EPS = 0.9, 1e-6


@dataclass(frozen=True)
class Configuration:
    """The settings in which runs of one method and individual loss differ, besides the seed.

    Attributes
    ----------
    lam : float
        Weight of the individual loss.
    epsilon : float or None
        Threshold of the neighbours, for pairs that have one.
    mu : float or None
        Weight of the adversary's loss, for methods that have one.
    """

    lam: float
    epsilon: float | None
    mu: float | None


#: The configuration of a method without individual loss and adversary.
PLAIN = Configuration(0.0, None, None)


@dataclass(frozen=True)
class Options:
    """The options that all runs of a job share.

    Attributes
    ----------
    split : str
        ``random`` or ``official``.
    reduction : str
        ``sum`` or ``mean`` of the individual loss.
    base : float
        The base of the logarithm in its divergence.
    epsilon_unit : str
        ``cosine`` or ``quantile``.
    """

    split: str = "random"
    reduction: str = "sum"
    base: float = math.e
    epsilon_unit: str = "cosine"


@dataclass(frozen=True)
class Fold:
    """A split of a table, scaled by its training rows, for one method.

    Attributes
    ----------
    train, test : array of int
        Rows of the table.
    x_train, x_test : tensor of float32, shape (rows, d)
        The columns that the method uses.
    y_train, a_train, a_test : tensor of int64
        Labels and groups.
    columns : list of int
        The columns that carry the attribute; empty if the method does not use them.
    codes : tensor of float32, shape (values, len(columns))
        The content of these columns for each value of the attribute.
    """

    train: np.ndarray
    test: np.ndarray
    x_train: torch.Tensor
    x_test: torch.Tensor
    y_train: torch.Tensor
    a_train: torch.Tensor
    a_test: torch.Tensor
    columns: list[int]
    codes: torch.Tensor


@dataclass(frozen=True)
class Trained:
    """The result of a run, or the reason why it was not possible.

    Attributes
    ----------
    individual : str
    configuration : Configuration
    seed : int
    train_rows : int
    test : array of int, shape (n,)
        The test rows.
    p : array of float32, shape (n,)
        P(Y=1) of the test rows.
    flipped : array of float32, shape (n, values)
        P(Y=1) with each value of the attribute; NaN for the factual value.
    pairs : float or None
        Mean number of pairs per step; None without an individual loss.
    reason : str, optional
        Why the run was not possible. All its numbers are then NaN, and it counts as diverged.
    """

    individual: str
    configuration: Configuration
    seed: int
    train_rows: int
    test: np.ndarray
    p: np.ndarray
    flipped: np.ndarray
    pairs: float | None
    reason: str | None = None

    @property
    def diverged(self) -> bool:
        """Whether a probability is not finite."""
        others = self.flipped.shape[1] - 1
        finite = np.isfinite(self.flipped).sum()
        return not np.isfinite(self.p).all() or int(finite) != others * len(self.p)


def train_runs(
    table: Prepared,
    method: Method,
    hyperparameters: Hyperparameters,
    grid: Sequence[tuple[str, Sequence[Configuration]]],
    seeds: Sequence[int],
    options: Options,
    *,
    progress: bool = False,
) -> Iterator[Trained]:
    """Train every configuration of every individual loss on every seed.

    Parameters
    ----------
    table : Prepared
        The data set.
    method : Method
        The method, which must be a network.
    hyperparameters : Hyperparameters
        Sizes and optimiser settings.
    grid : sequence of (individual loss, configurations)
        The configurations to train.
    seeds : sequence of int
        Seeds of the random split, the initial parameters and the batches.
    options : Options
        The shared options.
    progress : bool
        Whether to show a progress bar on standard error.

    Yields
    ------
    Trained
        In the order individual loss, seed, configuration. If the split of a seed leaves a group
        or a label empty, its runs are not trained and give the reason.

    Raises
    ------
    EmptyPartError
        The splits of all seeds leave a group or a label empty.
    """
    lost = empty_splits(table, seeds, options.split)
    kept = [seed for seed in seeds if seed not in lost]
    order = {individual: number for number, (individual, _) in enumerate(grid)}
    place = {seed: number for number, seed in enumerate(seeds)}
    missing = (
        not_made(table, individual, one, seed, lost[seed])
        for individual, chosen in grid
        for seed in seeds
        if seed in lost
        for one in chosen
    )
    made = _train_stacks(table, method, hyperparameters, grid, kept, options, progress)
    return heapq.merge(missing, made, key=lambda run: (order[run.individual], place[run.seed]))


def empty_splits(table: Prepared, seeds: Sequence[int], kind: str) -> dict[int, EmptyPartError]:
    """Return the seeds whose split leaves a group or a label empty, with the error of each.

    Raises
    ------
    EmptyPartError
        There is no other seed.
    """
    lost = {}
    for seed in seeds:
        try:
            split(table, seed, kind)
        except EmptyPartError as error:
            lost[seed] = error
    if len(lost) == len(seeds):
        raise lost[seeds[0]]
    return lost


def not_made(
    table: Prepared, individual: str, one: Configuration, seed: int, error: EmptyPartError
) -> Trained:
    """Return the placeholder of a run whose seed has an unusable split."""
    values = len(table.attribute_values)
    return Trained(
        individual=individual,
        configuration=one,
        seed=seed,
        train_rows=len(error.train),
        test=error.test,
        p=np.full(len(error.test), np.nan, dtype=np.float32),
        flipped=np.full((len(error.test), values), np.nan, dtype=np.float32),
        pairs=None,
        reason=error.problem.removeprefix(f"{table.name}: "),
    )


def _train_stacks(
    table: Prepared,
    method: Method,
    hyperparameters: Hyperparameters,
    grid: Sequence[tuple[str, Sequence[Configuration]]],
    seeds: Sequence[int],
    options: Options,
    progress: bool,
) -> Iterator[Trained]:
    stacks = [
        stack for individual, chosen in grid for stack in _stacks(table, individual, chosen, seeds)
    ]
    common = {
        "table": _digest(table),
        "method": method.title,
        "hyperparameters": asdict(hyperparameters),
        "options": asdict(options),
    }
    with one_thread():
        for number, (individual, some, chosen) in enumerate(stacks):
            folds = [fold(table, method, seed, options.split) for seed in some]
            own = {"individual": individual, "seeds": list(some), "runs": [*map(asdict, chosen)]}
            stack = _Stack(folds, method, hyperparameters, individual, some, chosen, options)
            loop.run(
                stack,
                scratch_folder(f"stack-{number}"),
                common | own,
                title=f"{table.name}, {number + 1} of {len(stacks)}",
                progress=progress,
            )
            p, flipped = _predict(folds, method, hyperparameters, stack.parameters)
            pairs = (stack.pairs / stack.steps).numpy()
            for s, c in itertools.product(range(len(some)), range(len(chosen))):
                yield Trained(
                    individual=individual,
                    configuration=chosen[c],
                    seed=some[s],
                    train_rows=len(folds[s].train),
                    test=folds[s].test,
                    p=p[s, c],
                    flipped=flipped[s, c],
                    pairs=None if individual == "none" else float(pairs[s, c]),
                )


def _digest(table: Prepared) -> str:
    """Return the SHA-256 digest of features, labels and groups."""
    found = hashlib.sha256()
    for array in (table.x, table.y, table.a):
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def fit_classifier(
    table: Prepared, method: Method, seeds: Sequence[int], options: Options
) -> Iterator[Trained]:
    """Fit a method that is not a network, once per seed. See `train_runs`."""
    lost = empty_splits(table, seeds, options.split)
    for seed in seeds:
        if seed in lost:
            yield not_made(table, "none", PLAIN, seed, lost[seed])
            continue
        one = fold(table, method, seed, options.split)
        x = one.x_train.double().numpy()
        with one_thread():
            predict = method.fit(x, table.y[one.train])
            values = len(table.attribute_values)
            flipped = np.full((len(one.test), values), np.nan, dtype=np.float32)
            for shift in range(1, values):
                codes = (one.a_test + shift) % values
                other = with_codes(one.x_test, one, codes).double().numpy()
                flipped[np.arange(len(codes)), codes.numpy()] = predict(other)
            p = predict(one.x_test.double().numpy()).astype(np.float32)
        yield Trained("none", PLAIN, seed, len(one.train), one.test, p, flipped, None)


def split(table: Prepared, seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows."""
    return official_split(table) if kind == "official" else random_split(table, seed)


def fold(table: Prepared, method: Method, seed: int, kind: str) -> Fold:
    """Split and scale a table for a method."""
    train, test = split(table, seed, kind)
    values = len(table.attribute_values)
    examples = np.concatenate([flip(table, table.x[:1], code) for code in range(values)])
    x_train, x_test, examples = scaled(table, table.x[train], table.x[test], examples)
    columns = table.attribute_columns
    codes = examples[:, columns]
    if not method.sees_attribute:
        x_train, x_test = (np.delete(x, columns, axis=1) for x in (x_train, x_test))
        columns, codes = [], codes[:, :0]

    def numbers(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array.astype(np.int64))

    def floats(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))

    return Fold(
        train=train,
        test=test,
        x_train=floats(x_train),
        x_test=floats(x_test),
        y_train=numbers(table.y[train]),
        a_train=numbers(table.a[train]),
        a_test=numbers(table.a[test]),
        columns=list(columns),
        codes=floats(codes),
    )


def with_codes(x: torch.Tensor, one: Fold, codes: torch.Tensor) -> torch.Tensor:
    """Return a copy of scaled features (n, d) with other values of the attribute."""
    changed = x.clone()
    changed[:, one.columns] = one.codes[codes]
    return changed


def _stacks(
    table: Prepared, individual: str, chosen: Sequence[Configuration], seeds: Sequence[int]
) -> Iterator[tuple[str, Sequence[int], Sequence[Configuration]]]:
    """Yield runs to train together: some seeds with all of `chosen`, or one seed with some."""
    most = max(1, MEMORY // table.x.size // 4)
    together = max(1, min(STACK // len(chosen), most))
    for some in _chunks(seeds, together):
        for part in _chunks(chosen, STACK):
            yield individual, some, part


def _chunks(items: Sequence, size: int) -> Iterator[Sequence]:
    return (items[start : start + size] for start in range(0, len(items), size))


class _Stack:
    """The training of a stack; see `evenhand.learning.loop.Training`.

    `parameters` have the shape (seeds, configurations, ...), and `pairs`, the number of pairs so
    far, the shape (seeds, configurations).
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        method: Method,
        hyperparameters: Hyperparameters,
        individual: str,
        seeds: Sequence[int],
        chosen: Sequence[Configuration],
        options: Options,
    ) -> None:
        self.folds, self.individual, self.options = folds, individual, options
        self.seeds, self.hyperparameters = seeds, hyperparameters
        sizes = _sizes(folds[0], method, hyperparameters)
        starts = [initial(seed, *sizes) for seed in seeds]
        self.parameters = {
            name: torch.stack([start[name] for start in starts])[:, None].repeat(
                1, len(chosen), *[1] * starts[0][name].ndim
            )
            for name in starts[0]
        }
        shape = (len(seeds), len(chosen))
        mus, lams, self.epsilons = (
            torch.tensor([getattr(one, name) or 0.0 for one in chosen])
            for name in ("mu", "lam", "epsilon")
        )
        self.weights = mus.expand(shape), lams.expand(shape)
        self.loss = individual_loss_of(individual)
        self.gradient = _stacked_gradient(sizes, method, self.loss, options)
        self.optimizer = torch.optim.Adadelta(
            self.parameters.values(), lr=hyperparameters.learning_rate, rho=RHO, eps=EPS
        )
        self.groups = len(folds[0].codes)
        shares = zip(*(_shares(one, self.groups) for one in folds), strict=True)
        self.shares = Shares(*map(torch.stack, shares))
        self.pairs, self.step = torch.zeros(shape, dtype=torch.float64), 0
        self.steps = hyperparameters.epochs * -(-len(folds[0].train) // hyperparameters.batch)
        self.codes = torch.stack([one.codes for one in folds])
        self.draws = [np.random.default_rng([seed, 2]) for seed in seeds]

    def state_dict(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "optimizer": self.optimizer.state_dict(),
            "draws": json.dumps([one.bit_generator.state for one in self.draws]),
            "pairs": self.pairs,
            "step": self.step,
        }

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        for name, parameter in self.parameters.items():
            parameter.copy_(kept["parameters"][name])
        self.optimizer.load_state_dict(kept["optimizer"])
        for one, state in zip(self.draws, json.loads(kept["draws"]), strict=True):
            one.bit_generator.state = state
        self.pairs, self.step = kept["pairs"], kept["step"]

    def advance(self) -> Iterator[dict[str, str]]:
        # the batches of earlier steps are drawn again, and skipped
        batches = _batches(self.folds, self.seeds, self.hyperparameters)
        for rows in itertools.islice(batches, self.step, None):
            x, y, a = (
                torch.stack(
                    [getattr(one, name)[row] for one, row in zip(self.folds, rows, strict=True)]
                )
                for name in ("x_train", "y_train", "a_train")
            )
            partner, has_pair = self._pairs(x, y, a)
            y = torch.nn.functional.one_hot(y, 2).float()
            a = torch.nn.functional.one_hot(a, self.groups).float()
            gradients = self.gradient(
                self.parameters, *self.weights, has_pair, x, y, a, partner, self.shares
            )
            for name, parameter in self.parameters.items():
                parameter.grad = gradients[name]
            self.optimizer.step()
            if has_pair is not None:
                self.pairs += has_pair.sum(dim=-1)
            self.step += 1
            yield {}

    def _pairs(
        self, x: torch.Tensor, y: torch.Tensor, a: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Return the partners of a batch, and 1 for valid ones: (seeds, configurations, n)."""
        if self.loss.pairs is None:
            return None, None
        found = self.loss.pairs(Batch(x, y, a, self.folds[0].columns, self.codes, self.draws))
        if not self.loss.takes_epsilon:
            return found.partner, torch.ones(*self.pairs.shape, x.shape[1])
        if found.similarity is None:
            raise InputError(
                f"the individual loss {self.individual} takes epsilon, and its pairs have no"
                " similarity"
            )
        unit = self.options.epsilon_unit
        return found.partner, near_enough(found.similarity, self.epsilons, unit)


def _stacked_gradient(sizes: tuple, method: Method, individual: IndividualLoss, options: Options):
    """Return the function for the gradients of all runs' losses by their parameters.

    Its arguments are parameters, mu, lambda and has_pair (seeds, configurations, ...), and x, y,
    a, partner and shares (seeds, ...).
    """
    with torch.device("meta"):
        network = Network(*sizes)

    def loss(parameters, mu, lam, has_pair, x, y, a, partner, shares):
        absent = partner is not None and partner.ndim == x.ndim  # features, not rows of the batch
        inputs = torch.cat([x, partner]) if absent else x
        logits, outputs = functional_call(network, parameters, (inputs, len(x)))
        log_p = logits.log_softmax(dim=-1)
        own = log_p[: len(x)]
        if method.balanced_labels:
            total = balanced_cross_entropy(own, y, shares)
        else:
            total = label_cross_entropy(own, y)
        if method.adversary_loss is not None:
            seen = outputs or [logits[: len(x)]]
            total = total + mu * method.adversary_loss(seen, y, a, shares)
        if partner is not None:
            other = log_p[len(x) :] if absent else own[partner]
            total = total + lam * individual_loss(
                own,
                other,
                has_pair,
                reduction=options.reduction,
                base=options.base,
                distance=individual.distance,
            )
        return total

    has = None if individual.pairs is None else 0
    configurations = vmap(grad(loss), in_dims=(0, 0, 0, has, None, None, None, None, None))
    return vmap(configurations, in_dims=(0, 0, 0, has, 0, 0, 0, has, 0))


def _batches(
    folds: Sequence[Fold], seeds: Sequence[int], hyperparameters: Hyperparameters
) -> Iterator[list[torch.Tensor]]:
    """Yield the training rows of each step, by seed."""
    count = len(folds[0].train)
    orders = [np.random.default_rng([seed, 1]) for seed in seeds]
    for _ in range(hyperparameters.epochs):
        shuffled = [torch.from_numpy(order.permutation(count)) for order in orders]
        for start in range(0, count, hyperparameters.batch):
            yield [row[start : start + hyperparameters.batch] for row in shuffled]


def _predict(
    folds: Sequence[Fold],
    method: Method,
    hyperparameters: Hyperparameters,
    parameters: dict[str, torch.Tensor],
) -> tuple[np.ndarray, np.ndarray]:
    """Return P(Y=1) of the test rows (seeds, configurations, n), and flipped (..., n, values)."""
    with torch.device("meta"):
        network = Network(*_sizes(folds[0], method, hyperparameters))

    def positive(own: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return functional_call(network, own, (x, 0))[0].softmax(dim=-1)[:, 1]

    stacked = vmap(vmap(positive, in_dims=(0, None)), in_dims=(0, 0))

    def predict(x: list[torch.Tensor]) -> np.ndarray:
        parts = [stacked(parameters, part) for part in torch.stack(x).split(ROWS, dim=1)]
        return torch.cat(parts, dim=-1).numpy()

    p = predict([one.x_test for one in folds])
    values = len(folds[0].codes)
    flipped = np.full((*p.shape, values), np.nan, dtype=np.float32)
    for shift in range(1, values):
        codes = [(one.a_test + shift) % values for one in folds]
        other = predict([with_codes(f.x_test, f, c) for f, c in zip(folds, codes, strict=True)])
        for s, code in enumerate(codes):
            flipped[s][:, np.arange(len(code)), code.numpy()] = other[s]
    return p, flipped


def _sizes(one: Fold, method: Method, hyperparameters: Hyperparameters) -> tuple:
    return (
        one.x_train.shape[1],
        hyperparameters.hidden,
        hyperparameters.adversary,
        method.heads(len(one.codes)),
    )


def _shares(one: Fold, groups: int) -> Shares:
    """Return P(Y) and P(A | Y) of the training rows."""
    counts = torch.zeros(2, groups)
    counts.index_put_((one.y_train, one.a_train), torch.ones(len(one.y_train)), accumulate=True)
    return Shares(
        label=counts.sum(dim=1) / counts.sum(),
        group_given_label=counts / counts.sum(dim=1, keepdim=True),
    )
