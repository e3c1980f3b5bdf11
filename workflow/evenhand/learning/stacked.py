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
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from evenhand.core.scratch import scratch_folder
from evenhand.learning import loop
from evenhand.learning.hyperparameters import Hyperparameters
from evenhand.learning.individual_loss import (
    Batch,
    IndividualLoss,
    individual_loss_of,
    near_enough,
    over_pairs,
)
from evenhand.learning.method import Method, Shares, balanced_cross_entropy, label_cross_entropy
from evenhand.metrics.individual import BASES
from evenhand.scoring.device import one_thread
from evenhand.tabular.prepared import Prepared, Split, flip, make_splits, scaled


class Network(nn.Module):
    """A multi-layer perceptron with adversaries behind reversed gradients.

    Parameters
    ----------
    inputs : int
        Number of features.
    hidden : sequence of int
        Sizes of the trunk's layers.
    adversary : sequence of int
        Sizes of the hidden layers of each adversary.
    heads : sequence of int
        Each adversary's number of outputs; empty for no adversary.
    """

    def __init__(
        self, inputs: int, hidden: Sequence[int], adversary: Sequence[int], heads: Sequence[int]
    ) -> None:
        super().__init__()
        self.trunk = _layers([inputs, *hidden])
        features = [inputs, *hidden][-1]
        self.labels = nn.Linear(features, 2)  # before the heads, so that all methods start alike
        self.adversaries = nn.ModuleList(
            nn.Sequential(_layers([features, *adversary]), nn.Linear([features, *adversary][-1], n))
            for n in heads
        )

    def forward(self, x: torch.Tensor, rows: int | None = None) -> tuple[torch.Tensor, list]:
        """Return the logits of all rows (n, 2), and the adversaries' logits of the first `rows`.

        The gradient of what the adversaries see is negated, so that the trunk is trained against
        them (Ganin and Lempitsky 2015).
        """
        features = self.trunk(x)
        outputs = []
        if len(self.adversaries):
            seen = 2 * features[:rows].detach() - features[:rows]
            outputs = [adversary(seen) for adversary in self.adversaries]
        return self.labels(features), outputs


class _Linear(nn.Linear):
    """nn.Linear in an order that vmap turns into a single matrix product.

    Runs of one seed share x. With the weights on the left, their stack (runs, m, n) times
    x (n, rows) is a single product (runs * m, n) times (n, rows), forward and backward.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight @ x.T).T + self.bias


def _layers(sizes: Sequence[int]) -> nn.Sequential:
    pairs = itertools.pairwise(sizes)
    return nn.Sequential(*(layer for n, m in pairs for layer in (_Linear(n, m), nn.ReLU())))


def initial(seed: int, *sizes: object) -> dict[str, torch.Tensor]:
    """Return the initial parameters of a network of these sizes: torch's defaults from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return {name: value.detach() for name, value in Network(*sizes).named_parameters()}


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
        ``random``, another for each seed, or ``official``.
    reduction : str
        ``sum`` or ``mean`` of the individual loss.
    js_base : str
        Base of the logarithm in its divergence: ``e`` or ``2``.
    epsilon_unit : str
        ``cosine`` or ``quantile``.
    """

    split: str = "random"
    reduction: str = "sum"
    js_base: str = "e"
    epsilon_unit: str = "cosine"


@dataclass(frozen=True)
class Fold:
    """A split of a table, scaled by its training rows, for one method.

    Attributes
    ----------
    split : Split
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

    split: Split
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
    split : Split
        With n test rows. If it is unusable, all numbers are NaN, and the run counts as diverged.
    p : array of float32, shape (n,)
        P(Y=1) of the test rows.
    flipped : array of float32, shape (n, values)
        P(Y=1) with each value of the attribute; NaN for the factual value.
    pairs : float or None
        Mean number of pairs per step; None without an individual loss.
    """

    individual: str
    configuration: Configuration
    seed: int
    split: Split
    p: np.ndarray
    flipped: np.ndarray
    pairs: float | None

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
        The method.
    hyperparameters : Hyperparameters
        Sizes and optimiser settings of the network.
    grid : sequence of (individual loss, configurations)
        The configurations to train; without a network, `PLAIN` of ``none`` only.
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
    InputError
        The splits of all seeds leave a group or a label empty.
    """
    splits = make_splits(table, seeds, options.split)
    usable = {seed: split for seed, split in splits.items() if not split.problem}
    if method.fit is None:
        made = _train_stacks(table, method, hyperparameters, grid, usable, options, progress)
    else:
        made = (_fit_classifier(table, method, seed, split) for seed, split in usable.items())
    for individual, configurations in grid:
        for seed, configuration in itertools.product(seeds, configurations):
            if seed in usable:
                yield next(made)
            else:
                yield not_made(table, individual, configuration, seed, splits[seed])


def not_made(
    table: Prepared, individual: str, configuration: Configuration, seed: int, split: Split
) -> Trained:
    """Return the placeholder of a run whose seed has an unusable split."""
    flipped = np.full((len(split.test), len(table.attribute_values)), np.nan, dtype=np.float32)
    return Trained(individual, configuration, seed, split, flipped[:, 0], flipped, None)


def _train_stacks(
    table: Prepared,
    method: Method,
    hyperparameters: Hyperparameters,
    grid: Sequence[tuple[str, Sequence[Configuration]]],
    splits: Mapping[int, Split],
    options: Options,
    progress: bool,
) -> Iterator[Trained]:
    most = max(1, MEMORY // table.x.size // 4)
    stacks = [  # some seeds with all configurations, or one seed with some
        (individual, some, part)
        for individual, configurations in grid
        for some in _chunks(list(splits), max(1, min(STACK // len(configurations), most)))
        for part in _chunks(configurations, STACK)
    ]
    identity = {
        "table": _digest(table),
        "method": method.title,
        "hyperparameters": asdict(hyperparameters),
        "options": asdict(options),
    }
    with one_thread():
        for number, (individual, some, part) in enumerate(stacks):
            folds = {seed: fold(table, method, splits[seed]) for seed in some}
            stack = _Stack(method, hyperparameters, options, individual, folds, part)
            runs = {"individual": individual, "seeds": [*some], "runs": [*map(asdict, part)]}
            loop.run(
                stack,
                scratch_folder(f"stack-{number}"),
                identity | runs,
                title=f"{table.name}, {number + 1} of {len(stacks)}",
                progress=progress,
            )
            yield from stack.results()


def _digest(table: Prepared) -> str:
    """Return the SHA-256 digest of features, labels and groups."""
    digest = hashlib.sha256()
    for array in (table.x, table.y, table.a):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _fit_classifier(table: Prepared, method: Method, seed: int, split: Split) -> Trained:
    """Fit a method that is not a network."""
    part = fold(table, method, split)
    with one_thread():
        predict = method.fit(part.x_train.double().numpy(), table.y[split.train])
        (p,), (flipped,) = predictions([part], lambda x: [predict(x[0].double().numpy())])
    return Trained("none", PLAIN, seed, split, p, flipped, None)


def predictions(
    folds: Sequence[Fold], predict: Callable[[list[torch.Tensor]], Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Predict the test rows, and the same rows with each other value of the attribute.

    Parameters
    ----------
    folds : sequence of Fold
        The splits of several seeds.
    predict : callable
        Returns P(Y=1), shape (seeds, ..., n), from the rows of each seed.

    Returns
    -------
    p, flipped : arrays of float32, shapes (seeds, ..., n) and (seeds, ..., n, values)
        See `Trained`.
    """
    p = np.asarray(predict([part.x_test for part in folds]), dtype=np.float32)
    values = len(folds[0].codes)
    flipped = np.full((*p.shape, values), np.nan, dtype=np.float32)
    for shift in range(1, values):
        codes = [(part.a_test + shift) % values for part in folds]
        others = predict(list(map(with_codes, folds, codes)))
        for seed, code in enumerate(codes):
            flipped[seed][..., np.arange(len(code)), code.numpy()] = others[seed]
    return p, flipped


def fold(table: Prepared, method: Method, split: Split) -> Fold:
    """Split and scale a table for a method."""
    train, test, _ = split
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
        split=split,
        x_train=floats(x_train),
        x_test=floats(x_test),
        y_train=numbers(table.y[train]),
        a_train=numbers(table.a[train]),
        a_test=numbers(table.a[test]),
        columns=list(columns),
        codes=floats(codes),
    )


def with_codes(part: Fold, codes: torch.Tensor) -> torch.Tensor:
    """Return the scaled test rows (n, d) with other values of the attribute."""
    changed = part.x_test.clone()
    changed[:, part.columns] = part.codes[codes]
    return changed


def _chunks(items: Sequence, size: int) -> Iterator[Sequence]:
    return (items[start : start + size] for start in range(0, len(items), size))


class _Stack(loop.Training):
    """The training of a stack.

    `parameters` have the shape (seeds, configurations, ...), and `pairs`, the number of pairs so
    far, the shape (seeds, configurations).
    """

    STATE = ("parameters", "optimizer", "draws", "pairs", "step")

    def __init__(
        self,
        method: Method,
        hyperparameters: Hyperparameters,
        options: Options,
        individual: str,
        folds: Mapping[int, Fold],
        configurations: Sequence[Configuration],
    ) -> None:
        self.hyperparameters, self.options = hyperparameters, options
        self.individual, self.configurations = individual, configurations
        seeds, self.folds = list(folds), list(folds.values())
        self.seeds = seeds
        first = self.folds[0]
        self.groups = len(first.codes)
        sizes = (
            first.x_train.shape[1],
            hyperparameters.hidden,
            hyperparameters.adversary,
            method.heads(self.groups),
        )
        starts = [initial(seed, *sizes) for seed in seeds]
        self.parameters = {
            name: torch.stack([start[name] for start in starts])[:, None].repeat(
                1, len(configurations), *[1] * starts[0][name].ndim
            )
            for name in starts[0]
        }
        shape = (len(seeds), len(configurations))
        mus, lams, self.epsilons = (
            torch.tensor([getattr(configuration, name) or 0.0 for configuration in configurations])
            for name in ("mu", "lam", "epsilon")
        )
        self.weights = mus.expand(shape), lams.expand(shape)
        self.loss = individual_loss_of(individual)
        with torch.device("meta"):
            self.network = Network(*sizes)
        self.gradient = _stacked_gradient(self.network, method, self.loss, options)
        self.optimizer = torch.optim.Adadelta(
            self.parameters.values(), lr=hyperparameters.learning_rate, rho=RHO, eps=EPS
        )
        shares = zip(*(_shares(part, self.groups) for part in self.folds), strict=True)
        self.shares = Shares(*map(torch.stack, shares))
        self.pairs, self.step = torch.zeros(shape, dtype=torch.float64), 0
        self.steps = hyperparameters.epochs * -(-len(first.y_train) // hyperparameters.batch)
        self.codes = torch.stack([part.codes for part in self.folds])
        self.draws = [np.random.default_rng([seed, 2]) for seed in seeds]

    def advance(self) -> Iterator[dict[str, str]]:
        # the batches of earlier steps are drawn again, and skipped
        for rows in itertools.islice(self._batches(), self.step, None):
            x, y, a = (
                torch.stack(
                    [getattr(part, name)[row] for part, row in zip(self.folds, rows, strict=True)]
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

    def _batches(self) -> Iterator[list[torch.Tensor]]:
        """Yield the training rows of each step, by seed."""
        count, batch = len(self.folds[0].y_train), self.hyperparameters.batch
        generators = [np.random.default_rng([seed, 1]) for seed in self.seeds]
        for _ in range(self.hyperparameters.epochs):
            orders = [torch.from_numpy(generator.permutation(count)) for generator in generators]
            for start in range(0, count, batch):
                yield [order[start : start + batch] for order in orders]

    def _pairs(
        self, x: torch.Tensor, y: torch.Tensor, a: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Return the partners of a batch, and 1 for valid ones: (seeds, configurations, n)."""
        if self.loss.pairs is None:
            return None, None
        pairs = self.loss.pairs(Batch(x, y, a, self.folds[0].columns, self.codes, self.draws))
        if not self.loss.takes_epsilon:
            return pairs.partner, torch.ones(*self.pairs.shape, x.shape[1])
        unit = self.options.epsilon_unit
        return pairs.partner, near_enough(pairs.similarity, self.epsilons, unit)

    def results(self) -> Iterator[Trained]:
        """Yield the result of each run."""
        p, flipped = predictions(self.folds, self._predict)
        pairs = (self.pairs / self.steps).numpy()
        for s, c in itertools.product(*map(range, pairs.shape)):
            yield Trained(
                individual=self.individual,
                configuration=self.configurations[c],
                seed=self.seeds[s],
                split=self.folds[s].split,
                p=p[s, c],
                flipped=flipped[s, c],
                pairs=None if self.individual == "none" else float(pairs[s, c]),
            )

    def _predict(self, x: list[torch.Tensor]) -> np.ndarray:
        """Return P(Y=1) of the rows of each seed (seeds, configurations, n)."""

        def positive(parameters: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
            return functional_call(self.network, parameters, (x, 0))[0].softmax(dim=-1)[:, 1]

        stacked = vmap(vmap(positive, in_dims=(0, None)), in_dims=(0, 0))
        parts = [stacked(self.parameters, part) for part in torch.stack(x).split(ROWS, dim=1)]
        return torch.cat(parts, dim=-1).numpy()


def _stacked_gradient(
    network: Network, method: Method, individual: IndividualLoss, options: Options
):
    """Return the function for the gradients of all runs' losses by their parameters.

    Its arguments are parameters, mu, lambda and has_pair (seeds, configurations, ...), and x, y,
    a, partner and shares (seeds, ...).
    """

    def loss(parameters, mu, lam, has_pair, x, y, a, partner, shares):
        absent = partner is not None and partner.ndim == x.ndim  # features, not rows of the batch
        inputs = torch.cat([x, partner]) if absent else x
        logits, outputs = functional_call(network, parameters, (inputs, len(x)))
        log_p = logits.log_softmax(dim=-1)
        factual = log_p[: len(x)]
        if method.balanced_labels:
            total = balanced_cross_entropy(factual, y, shares)
        else:
            total = label_cross_entropy(factual, y)
        if method.adversary_loss is not None:
            inputs = outputs or [logits[: len(x)]]
            total = total + mu * method.adversary_loss(inputs, y, a, shares)
        if partner is not None:
            other = log_p[len(x) :] if absent else factual[partner]
            distances = individual.distance(factual, other, base=BASES[options.js_base])
            total = total + lam * over_pairs(distances, has_pair, options.reduction)
        return total

    pair_dim = None if individual.pairs is None else 0
    configurations = vmap(grad(loss), in_dims=(0, 0, 0, pair_dim, None, None, None, None, None))
    return vmap(configurations, in_dims=(0, 0, 0, pair_dim, 0, 0, 0, pair_dim, 0))


def _shares(part: Fold, groups: int) -> Shares:
    """Return P(Y) and P(A | Y) of the training rows."""
    counts = torch.zeros(2, groups)
    counts.index_put_((part.y_train, part.a_train), torch.ones(len(part.y_train)), accumulate=True)
    return Shares(
        label=counts.sum(dim=1) / counts.sum(),
        group_given_label=counts / counts.sum(dim=1, keepdim=True),
    )
