"""The training of individual fairness on tables: how fast, both sides measured in one run.

    python benchmarks/iifr.py --data FOLDER [--what loss stack grid tables] [--seeds 2]

FOLDER holds {adult,compas,german}.parquet and .json as `prepare_table` writes them. One thread.

loss    the individual loss with its gradient, against algorithm 2 in Python loops (a batch of 256)
stack   40 runs of IIFR on Adult, stacked, against the same one after another in plain torch
grid    3 data sets x 4 models x 8 lambdas x 5 seeds = 480 runs, from files to measures
tables  the runs of all tables with so many seeds as --seeds says
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow"), str(REPOSITORY / "tests")]

from evenhand.learning import stacked  # noqa: E402
from evenhand.learning.hyperparameters import Hyperparameters, read_hyperparameters  # noqa: E402
from evenhand.learning.individual_loss import js_divergence, near_enough, nearest, over_pairs  # noqa: E402
from evenhand.learning.method import label_cross_entropy  # noqa: E402
from evenhand.learning.methods.mlp import METHOD  # noqa: E402
from evenhand.learning.stacked import Network  # noqa: E402
from evenhand.learning.train_table import train_table  # noqa: E402
from evenhand.tabular.prepared import make_split, read_prepared  # noqa: E402
from unit.learning import algorithm_2  # noqa: E402

TRAINING = REPOSITORY / "resources/iifr/training.csv"
DATASETS = ("german", "compas", "adult")
LAMBDAS = [0.1, 0.3, 0.5, 0.8, 1.0, 1.25, 1.5, 2.0]
ADVERSARIAL = ("alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo")
EPSILON = 0.8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--what", nargs="+", default=["loss", "stack", "grid", "tables"])
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| what | processor s | wall s | |")
    print("|---|---|---|---|")
    for what in arguments.what:
        {"loss": loss, "stack": stack, "grid": grid, "tables": tables}[what](arguments)


def timed(function: Callable[[], object]) -> tuple[float, float, object]:
    """Processor seconds, wall seconds, and what the function gave."""
    processor, wall = time.process_time(), time.perf_counter()
    result = function()
    return time.process_time() - processor, time.perf_counter() - wall, result


def report(what: str, processor: float, wall: float, note: str = "") -> None:
    print(f"| {what} | {processor:.4g} | {wall:.4g} | {note} |", flush=True)


def batch_of_adult(data: Path) -> tuple[stacked.Fold, torch.Tensor, torch.Tensor, Network]:
    table = read_prepared(data / "adult.parquet", data / "adult.json")
    one = stacked.fold(table, METHOD, make_split(table, 0))
    hyperparameters = read_hyperparameters(TRAINING, "adult")
    torch.manual_seed(0)
    network = Network(one.x_train.shape[1], hyperparameters.hidden, (), ())
    rows = np.random.default_rng(0).permutation(len(one.y_train))[: hyperparameters.batch]
    return one, one.x_train[rows], one.y_train[rows], network


def plain_loss(network: Network, x: torch.Tensor, y: torch.Tensor, lam: float) -> torch.Tensor:
    """The loss of IIFR on a batch, vectorised, without vmap."""
    log_p = network(x)[0].log_softmax(dim=-1)
    similarity, partner = nearest(x)
    has_pair = near_enough(similarity, torch.tensor([EPSILON], dtype=x.dtype), "cosine")[0]
    hot = torch.nn.functional.one_hot(y, 2).to(x.dtype)
    individual = over_pairs(js_divergence(log_p, log_p[partner]), has_pair, "sum")
    return label_cross_entropy(log_p, hot) + lam * individual


def loss(arguments: argparse.Namespace) -> None:
    _, x, y, network = batch_of_adult(arguments.data)

    def step(of: Callable[[], torch.Tensor]) -> float:
        network.zero_grad()
        value = of()
        value.backward()
        return float(value)

    def literally() -> torch.Tensor:
        def outputs(row: torch.Tensor) -> torch.Tensor:
            return network(row[None])[0][0].softmax(dim=-1)

        return algorithm_2.loss(x, y, outputs, 1.0, EPSILON)[0]

    def vectorised() -> torch.Tensor:
        return plain_loss(network, x, y, 1.0)

    step(vectorised)
    times = 100
    loops = timed(lambda: step(literally))
    fast = timed(lambda: [step(vectorised) for _ in range(times)])
    report("algorithm 2 in loops, a step", *loops[:2], f"loss {loops[2]:.6f}")
    ratio = loops[0] / fast[0] * times
    note = f"loss {fast[2][0]:.6f}; {ratio:.0f} times as fast"
    report("vectorised, a step", fast[0] / times, fast[1] / times, note)


def stack(arguments: argparse.Namespace) -> None:
    table = read_prepared(arguments.data / "adult.parquet", arguments.data / "adult.json")
    hyperparameters = replace(read_hyperparameters(TRAINING, "adult"), epochs=3)
    chosen = [stacked.Configuration(lam, EPSILON, None) for lam in LAMBDAS]
    seeds = range(5)

    def at_once(hyperparameters: Hyperparameters = hyperparameters) -> list[stacked.Trained]:
        grid = [("iifr_cosine", chosen)]
        options = stacked.Options()
        return list(stacked.train_runs(table, METHOD, hyperparameters, grid, list(seeds), options))

    def one_by_one() -> list[np.ndarray]:
        found = []
        for seed in seeds:
            one = stacked.fold(table, METHOD, make_split(table, seed))
            found += [alone(one, hyperparameters, seed, lam) for lam in LAMBDAS]
        return found

    at_once(replace(hyperparameters, batch=len(table.y), epochs=1))  # torch warms up
    together, separately = timed(at_once), timed(one_by_one)
    apart = max(
        float(np.abs(run.p - p).max()) for run, p in zip(together[2], separately[2], strict=True)
    )
    report("40 runs one after another, 3 epochs of Adult", *separately[:2])
    note = f"{separately[0] / together[0]:.2f} times as fast; outputs apart by at most {apart:.1g}"
    report("40 runs stacked", *together[:2], note)


def plain(network: Network) -> Network:
    """The same network, the layers of its trunk as torch has them."""
    layers = [
        torch.nn.Linear(layer.in_features, layer.out_features)
        if hasattr(layer, "weight")
        else layer
        for layer in network.trunk
    ]
    trunk = torch.nn.Sequential(*layers)
    trunk.load_state_dict(network.trunk.state_dict())
    network.trunk = trunk
    return network


def alone(one: stacked.Fold, hyperparameters: Hyperparameters, seed: int, lam: float) -> np.ndarray:
    """A run in plain torch, with the same loss."""
    torch.manual_seed(seed)
    network = plain(Network(one.x_train.shape[1], hyperparameters.hidden, (), ()))
    optimizer = torch.optim.Adadelta(
        network.parameters(), lr=hyperparameters.learning_rate, rho=stacked.RHO, eps=stacked.EPS
    )
    order = np.random.default_rng([seed, 1])
    for _ in range(hyperparameters.epochs):
        rows = torch.from_numpy(order.permutation(len(one.y_train)))
        for some in rows.split(hyperparameters.batch):
            optimizer.zero_grad()
            plain_loss(network, one.x_train[some], one.y_train[some], lam).backward()
            optimizer.step()
    with torch.no_grad():
        return network(one.x_test)[0].softmax(dim=-1)[:, 1].numpy()


def run_stage(arguments: argparse.Namespace, dataset: str, method: str, **options) -> int:
    with tempfile.TemporaryDirectory() as folder:
        outputs = {name: Path(folder) / name for name in ("out", "groups", "predictions")}
        counts = train_table(
            data=arguments.data / f"{dataset}.parquet",
            meta=arguments.data / f"{dataset}.json",
            training=TRAINING,
            method=method,
            **outputs,
            **options,
        )
    return counts["runs"]


def grid(arguments: argparse.Namespace) -> None:
    total = np.zeros(3)
    for dataset in DATASETS:
        here = np.zeros(3)
        for method in ("mlp", "alfr", "laftr_dp", "cfair_eo"):
            options = {"individual": ["iifr_cosine"], "lambdas": LAMBDAS, "mus": [1.0], "seeds": 5}
            here += timed(lambda: run_stage(arguments, dataset, method, **options))  # noqa: B023
        report(f"grid, {dataset}", *here[:2], f"{here[2]:.0f} runs")
        total += here
    report("grid", *total[:2], f"{total[2]:.0f} runs")


def tables(arguments: argparse.Namespace) -> None:
    individual = ["none", "iifr_cosine", "iifr_cosine_without_attribute", "iifr_counterfactual"]
    total = np.zeros(3)
    for dataset in DATASETS:
        here = np.zeros(3)
        jobs = [("mlp", {"individual": individual, "lambdas": [0.03, *LAMBDAS]})]
        jobs[0][1]["epsilons"] = [0.8, 0.75, 0.85, 0.9, 0.95, 1.0]
        some = {"individual": individual[:2], "lambdas": [0.25, 0.5, 1.0]}
        jobs += [(method, some) for method in ADVERSARIAL]
        jobs += [
            (name, {}) for name in ("mlp_without_attribute", "logistic_regression", "majority")
        ]
        for method, options in jobs:
            options = options | {"seeds": arguments.seeds}
            here += timed(lambda: run_stage(arguments, dataset, method, **options))  # noqa: B023
        report(f"tables, {dataset}, {arguments.seeds} seeds", *here[:2], f"{here[2]:.0f} runs")
        total += here
    note = f"{total[2]:.0f} runs; 20 seeds in proportion: {total[0] * 20 / arguments.seeds:.0f} s"
    report(f"tables, {arguments.seeds} seeds", *total[:2], note)


if __name__ == "__main__":
    main()
