"""Stage: train one method on one table, many runs at once, and evaluate each run."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.stage import Count, Input, Natural, Output, Plugin, Range, checked
from evenhand.errors import InputError
from evenhand.io.tables import FORM, schema_of
from evenhand.learning.hyperparameters import read_hyperparameters
from evenhand.metrics.group import RATES, gaps, rates
from evenhand.metrics.individual import BASES, binary, percent, similar_outputs, unchanged_labels
from evenhand.tabular.prepared import Prepared, Split, make_splits, read_prepared

if TYPE_CHECKING:
    from evenhand.learning.method import Method
    from evenhand.learning.stacked import Configuration, Trained

#: One row per run. Accuracies and IFR are percentages, the other rates and gaps shares. Null:
#: settings that a run does not have (epsilon, mu, n_pairs), rates of empty groups, and all measures
#: of a run that diverged.
RUNS = schema_of(
    run="int32",  # in the order individual, seed, lambda, epsilon, mu
    dataset="string",
    method="string",
    individual="string",  # none, or an individual loss by its pairs
    reduction="string",  # of the individual loss: sum or mean; null without one
    **dict.fromkeys(("lambda", "epsilon", "mu"), "float64"),
    seed="int32",
    split="string",  # random or official
    n_train="int32",
    n_test="int32",
    **dict.fromkeys(("acc", "balanced_acc", "positive_rate", "ifr_b"), "float64"),
    ifr_p="float64",  # each person counts with the share of other values
    ifr_p_all="float64",  # a person counts if no other value changes the output
    **dict.fromkeys(("ddp", "deo_0", "deo_1"), "float64"),
    n_pairs="float64",  # mean number of pairs per step
    diverged="bool",
    epsilon_unit="string",  # cosine or quantile; null without epsilon
    js_base="string",  # e or 2
)

#: An additional column if some runs were not possible: the reason (the split of the seed leaves a
#: group or a label empty). Such a run is marked as diverged, and has no measures.
REASON = pa.field("reason", pa.string())

#: One row per run and group; units as above.
GROUPS = schema_of(
    run="int32",
    group="int16",  # a code of the attribute
    n="int32",
    **dict.fromkeys((*RATES, "ifr_b", "ifr_p"), "float64"),
)

#: One row per run and test row.
PREDICTIONS = schema_of(
    run="int32",
    row="int64",  # of the source file, as in the prepared table
    p="float32",  # P(Y=1); null if it is not a number
    p_flipped=pa.list_(pa.float32()),  # by `attribute_values`; null for the factual one
)


@checked
def train_table(
    *,
    data: Input,
    meta: Input,
    training: Input,
    method: Annotated[str, Plugin("evenhand.learning.methods")],
    out: Output,
    groups: Output,
    predictions: Output,
    individual: Annotated[list[str], Plugin("evenhand.learning.individual_losses")] | None = None,
    lambdas: Annotated[list[float], Range(least=0)] | None = None,
    epsilons: Annotated[list[float], Range()] | None = None,
    mus: Annotated[list[float], Range(least=0)] | None = None,
    seeds: Count = 20,
    split: Literal["random", "official"] = "random",
    reduction: Literal["sum", "mean"] = "sum",
    js_base: Literal["e", "2"] = "e",
    epsilon_unit: Literal["cosine", "quantile"] = "cosine",
    predicted_seeds: Natural | None = None,
) -> dict[str, Any]:
    """Train all runs of a method on a table.

    Parameters
    ----------
    data, meta : path
        The table, from `prepare_table`.
    training : path
        Layers, learning rate, batch and epochs by data set (resources/iifr/training.csv).
    method : str
        A module of `evenhand.learning.methods`.
    out, groups, predictions : path
        Parquet: a row per run (`RUNS`, and `REASON` if there is one), per run and group
        (`GROUPS`), per run and test individual (`PREDICTIONS`).
    individual : list of str
        Modules of `evenhand.learning.individual_losses`; by default only ``none``. Methods that
        do not support any (the classifiers, and the network without the attribute) are trained
        with ``none`` only.
    lambdas : list of float
        Weights of the individual loss; by default 1.
    epsilons : list of float
        Thresholds of the individual losses that have one; by default 0.8. The first is combined
        with every lambda, the others with lambda 1 only.
    mus : list of float
        Weights of the adversary; by default those of the method. Without an adversary they have
        no effect.
    seeds : int
        Number of seeds (0, 1, 2, ...).
    split : str
        ``random``, another for each seed, or ``official``, the same for all.
    reduction : str
        ``sum`` of the individual loss over the pairs of a batch, or their ``mean``.
    js_base : str
        Base of the logarithm in the individual loss and in IFR_p: ``e`` or ``2``.
    epsilon_unit : str
        ``cosine``, or ``quantile`` of the batch's similarities.
    predicted_seeds : int, optional
        Number of seeds whose predictions are kept; by default all.

    Returns
    -------
    dict
        runs; of these, diverged, and empty (not trained, since the split of their seed leaves a
        group or a label empty); predictions.

    Raises
    ------
    InputError
        The split of every seed leaves a group or a label empty, or an option is invalid.
    """
    from evenhand.learning import stacked

    options = stacked.Options(split, reduction, js_base, epsilon_unit)
    table = read_prepared(data, meta)
    hyperparameters = read_hyperparameters(training, table.name)
    module = importlib.import_module(f"evenhand.learning.methods.{method}").METHOD
    grid = configurations(
        module,
        individual or ["none"],
        [1.0] if lambdas is None else lambdas,
        [0.8] if epsilons is None else epsilons,
        module.mus if mus is None else mus,
        epsilon_unit,
    )
    splits = make_splits(table, range(seeds), split)
    runs = stacked.train_runs(
        table, module, hyperparameters, grid, range(seeds), options, progress=True
    )
    columns = {"dataset": table.name, "method": method} | asdict(options)
    kept = seeds if predicted_seeds is None else predicted_seeds
    with run_tables(table, out, groups, predictions, splits, kept) as (write, counts):
        for _, together in groupby(runs, key=lambda run: (run.individual, run.seed)):
            write(list(together), columns)
    return counts


@contextmanager
def run_tables(
    table: Prepared,
    out: Path,
    groups: Path,
    predictions: Path,
    splits: Mapping[int, Split],
    kept: int,
) -> Iterator[tuple[Callable[[list["Trained"], dict[str, Any]], None], dict[str, int]]]:
    """Open the three output tables of a training.

    Parameters
    ----------
    table : Prepared
        The data set.
    out, groups, predictions : path
        As in `train_table`.
    splits : mapping
        The split of each seed.
    kept : int
        The predictions of seeds below this one are kept.

    Yields
    ------
    (callable, dict)
        ``write(runs, columns)``, which writes runs of one seed with their common columns;
        and the counts so far: runs, diverged, empty, predictions.
    """
    counts = {"runs": 0, "diverged": 0, "empty": 0, "predictions": 0}
    lost = any(split.problem for split in splits.values())
    schema = RUNS.append(REASON) if lost else RUNS
    with (
        pq.ParquetWriter(out, schema, **FORM) as run_writer,
        pq.ParquetWriter(groups, GROUPS, **FORM) as group_writer,
        pq.ParquetWriter(predictions, PREDICTIONS, **FORM) as prediction_writer,
    ):

        def write(runs: list["Trained"], columns: dict[str, Any]) -> None:
            first = counts["runs"]
            run_rows, group_rows = measure(table, runs, columns, first)
            run_writer.write_table(pa.Table.from_pylist(run_rows, schema))
            group_writer.write_table(pa.Table.from_pylist(group_rows, GROUPS))
            if runs[0].seed < kept:
                rows = pa.concat_tables(
                    _prediction_rows(table, run, first + i) for i, run in enumerate(runs)
                )
                prediction_writer.write_table(rows)
                counts["predictions"] += len(rows)
            counts["runs"] += len(runs)
            state = "empty" if splits[runs[0].seed].problem else "diverged"
            counts[state] += sum(run.diverged for run in runs)

        yield write, counts


def configurations(
    method: "Method",
    individual: Iterable[str],
    lambdas: Sequence[float],
    epsilons: Sequence[float],
    mus: Sequence[float],
    epsilon_unit: str,
) -> "list[tuple[str, list[Configuration]]]":
    """Return the configurations of each individual loss, ordered by lambda, epsilon and mu."""
    from evenhand.learning.individual_loss import individual_loss_of
    from evenhand.learning.stacked import Configuration

    for epsilon in epsilons:
        if epsilon_unit == "quantile" and not 0 <= epsilon <= 1:
            raise InputError(f"epsilon is {epsilon:g}; a quantile lies between 0 and 1")
    mus = mus if method.takes_mu else [None]
    if not (lambdas and epsilons and mus):
        raise InputError("a list of lambdas, epsilons or mus is empty")
    grid = []
    for name in individual if method.takes_individual else ["none"]:
        loss = individual_loss_of(name)
        if loss.pairs is None:
            pairs = [(0.0, None)]
        elif loss.takes_epsilon:
            pairs = [(lam, epsilons[0]) for lam in lambdas]
            pairs += [(1.0, epsilon) for epsilon in epsilons[1:]]
        else:
            pairs = [(lam, None) for lam in lambdas]
        grid.append(
            (name, [Configuration(*pair, mu) for pair in dict.fromkeys(pairs) for mu in mus])
        )
    return grid


def measure(
    table: Prepared, runs: "list[Trained]", columns: dict[str, Any], first: int = 0
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of `RUNS` and `GROUPS` of runs with the same test rows.

    Parameters
    ----------
    table : Prepared
        The data set.
    runs : list of Trained
        Runs of one seed.
    columns : dict
        The common columns of the runs.
    first : int
        The number of the first run.
    """
    test, values = runs[0].split.test, len(table.attribute_values)
    a, y = table.a[test], table.y[test]
    run_rows, group_rows = [], []
    for number, run in enumerate(runs, start=first):
        configuration = run.configuration
        row = dict.fromkeys(RUNS.names) | columns
        row |= {
            "run": number,
            "individual": run.individual,
            "reduction": None if run.individual == "none" else columns["reduction"],
            "lambda": configuration.lam,
            "epsilon": configuration.epsilon,
            "epsilon_unit": None if configuration.epsilon is None else columns["epsilon_unit"],
            "mu": configuration.mu,
            "seed": run.seed,
            "n_train": len(run.split.train),
            "n_test": len(test),
            "n_pairs": run.pairs,
            "diverged": run.diverged,
            "reason": run.split.problem,
        }
        of_groups = [
            dict.fromkeys(GROUPS.names)
            | {"run": number, "group": code, "n": int((a == code).sum())}
            for code in range(values)
        ]
        if not run.diverged:
            p, flipped = binary(run.p), binary(run.flipped)
            overall, by_group = rates(y, p.argmax(axis=1)[None], a, values)
            overall |= gaps(by_group, deviation=table.meta.get("gap") == "deviation")
            row |= {name: _number(overall[name][0]) for name in overall if name in row}
            labels = unchanged_labels(p, flipped)
            outputs = similar_outputs(p, flipped, base=BASES[columns["js_base"]])
            row |= {
                "ifr_b": percent(labels),
                "ifr_p": percent(outputs),
                "ifr_p_all": percent(outputs, strict=True),
            }
            for code, group in enumerate(of_groups):
                group |= {name: _number(by_group[name][0, code]) for name in RATES}
                group["ifr_b"] = percent(labels[a == code])
                group["ifr_p"] = percent(outputs[a == code])
        run_rows.append(row)
        group_rows += of_groups
    return run_rows, group_rows


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _prediction_rows(table: Prepared, run: "Trained", number: int) -> pa.Table:
    """Return the rows of `PREDICTIONS` of a run."""
    count, values = run.flipped.shape
    flipped = pa.array(run.flipped.ravel(), pa.float32(), from_pandas=True)
    lists = pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32) * values, flipped)
    p = pa.array(run.p, pa.float32(), from_pandas=True)
    columns = np.full(count, number, dtype=np.int32), table.row[run.split.test], p, lists
    return pa.Table.from_arrays(list(map(pa.array, columns)), schema=PREDICTIONS)
