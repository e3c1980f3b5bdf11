"""Stage: EIDIG (ISSTA 2021): generate discriminatory rows, relabel them, retrain.

Three networks per seed: ``eidig_base``, which is searched; ``eidig``, trained from new initial
parameters on the training rows and the relabelled rows; and ``eidig_control``, trained on the same
schedule without the relabelled rows. The effect of EIDIG is the difference between the last two.

An interrupted run keeps the networks of finished seeds. The next attempt reads them, and continues
with the unfinished seed.
"""

import hashlib
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Natural, Output, checked
from evenhand.io.checkpoint import Checkpoints
from evenhand.learning.eidig import generation
from evenhand.learning.eidig.network import Adadelta, Nadam, Network, glorot, train
from evenhand.learning.eidig.space import Space, native, one_hot
from evenhand.learning.hyperparameters import Hyperparameters, read_hyperparameters
from evenhand.learning.train_table import run_tables
from evenhand.tabular.prepared import (
    Prepared,
    Split,
    make_splits,
    read_prepared,
    with_integer_groups,
)

if TYPE_CHECKING:
    from evenhand.learning.stacked import Trained

#: Names of the three networks of a track; the two tracks are never mixed.
METHODS = {
    "base": ("eidig_base", "eidig_control", "eidig"),
    "integers": ("eidig_integers_base", "eidig_integers_control", "eidig_integers"),
}

#: Number of successful steps after which the local search computes the gradients again.
VARIANTS = {"5": 5, "inf": None}

#: EIDIG's own track: rows per step, and epochs of the base network.
BATCH, EPOCHS, EPOCHS_OF = 32, 30, {"german": 20}

#: Both tracks: retraining stops after this many epochs, or this many without progress on a held-out
#: share of the rows, which includes added rows, as in EIDIG's code.
RETRAINING_EPOCHS, PATIENCE, VALIDATION = 100, 10, 0.2


@checked
def train_eidig(
    *,
    data: Input,
    meta: Input,
    training: Input,
    out: Output,
    groups: Output,
    predictions: Output,
    track: Literal["base", "integers"] = "base",
    variant: Literal["5", "inf"] = "5",
    seeds: Count = 20,
    tries: Count = 1000,
    predicted_seeds: Natural | None = None,
) -> dict[str, Any]:
    """Train the three networks of each seed.

    Parameters
    ----------
    data, meta : path
        The table, from `prepare_table`.
    training : path
        Layers by data set, and the other settings of the track ``base``
        (resources/iifr/training.csv).
    out, groups, predictions : path
        Parquet with the columns of `train_table`: a row per run (by seed, then base, control,
        eidig), per run and group, and per run and test individual. On the track ``integers`` the
        groups are the codes of EIDIG's own attribute (German: its four age groups), from 0 in
        order, and each of these codes is used as a counterfactual.
    track : str
        ``integers``: EIDIG's own integers, one sigmoid, nadam. ``base``: the features, layers,
        optimiser, initial parameters and batches of `train_table`'s mlp; the search moves codes
        of the features (`evenhand.learning.eidig.space`).
    variant : str
        ``5`` (EIDIG-5) or ``inf`` (EIDIG-INF).
    seeds : int
        Number of seeds (0, 1, 2, ...), with the same splits as for the other methods.
    tries : int
        Steps of the local search from each start.
    predicted_seeds : int, optional
        Number of seeds whose predictions are kept; by default all.

    Returns
    -------
    dict
        runs, diverged, empty (not trained: see `train_table`), predictions, and lists with a
        number for each trained seed: global_ids, local_ids, ids (distinct of both), added
        (relabelled rows), turned (those whose label differs from the base network's),
        epochs_control, epochs_eidig.
    """
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    from evenhand.learning import stacked

    table = read_prepared(data, meta)
    search = Search(
        table=table,
        track=track,
        hyperparameters=read_hyperparameters(training, table.name),
        interval=VARIANTS[variant],
        tries=tries,
    )
    people, _ = search.people
    splits = make_splits(table, range(seeds), "random", people)
    kept = seeds if predicted_seeds is None else predicted_seeds
    columns = dict.fromkeys(("epsilon_unit", "reduction"))
    columns |= {"dataset": table.name, "split": "random", "js_base": "e"}
    generated: dict[str, list[int]] = {}
    look = {"desc": f"EIDIG on {table.name}", "unit": " seeds", "ascii": True}
    with (
        threadpool_limits(1),  # more threads change the order of sums, and are slower
        run_tables(people, out, groups, predictions, splits, kept) as (write, counts),
    ):
        for seed, split in tqdm(splits.items(), **look):
            if split.problem:
                run = stacked.not_made(people, "none", stacked.PLAIN, seed, split)
                runs, sizes = [run] * 3, {}
            else:
                runs, sizes = search.train(seed, split)
            for name, number in sizes.items():
                generated.setdefault(name, []).append(number)
            for method, run in zip(METHODS[track], runs, strict=True):
                write([run], columns | {"method": method})
    return counts | generated


@dataclass(frozen=True, kw_only=True)
class Search:
    """A track on a table, and the search of its space.

    `interval` and `tries` are those of `evenhand.learning.eidig.generation.local_search`.
    """

    table: Prepared
    track: str
    hyperparameters: Hyperparameters
    interval: int | None
    tries: int

    @cached_property
    def people(self) -> tuple[Prepared, np.ndarray]:
        """The table with the groups of the track, and their codes in its space."""
        if self.track == "integers":
            return with_integer_groups(self.table)
        return self.table, np.arange(len(self.table.attribute_values))

    def train(self, seed: int, split: Split) -> "tuple[list[Trained], dict[str, int]]":
        """Return the three runs of a seed, and the counts of generated rows."""
        import torch

        make_space = native if self.track == "integers" else one_hot
        space = make_space(self.table, split.train)
        x, y = space.encode(space.codes), self.table.y.astype(np.float32)
        identity = {
            "table": hashlib.sha256(x.tobytes() + y.tobytes()).hexdigest(),
            "track": self.track,
            "hyperparameters": asdict(self.hyperparameters),
            "search": [self.interval, self.tries],
        }
        checkpoints = Checkpoints(scratch_folder(f"seed-{seed}"), identity)
        kept = checkpoints.restore()
        if kept is None:
            rows = x[split.train], y[split.train]
            networks, counts = self._train_networks(space, *rows, seed, split)
            thetas = [torch.from_numpy(network.theta) for network in networks]
            kept = {"thetas": thetas, "counts": counts}
            checkpoints.save_if_due(lambda: kept)
        outputs = 1 if self.track == "integers" else 2
        sizes = (space.inputs, *self.hyperparameters.hidden, outputs)
        networks = [Network(sizes, theta.numpy()) for theta in kept["thetas"]]
        return [self._predict(space, network, seed, split) for network in networks], kept["counts"]

    def _train_networks(
        self, space: Space, x: np.ndarray, y: np.ndarray, seed: int, split: Split
    ) -> tuple[list[Network], dict[str, int]]:
        """Return the base network, the control and the retrained one, and the counts."""
        base, _ = self._fit(space, x, y, seed, fresh=False)
        generator = np.random.default_rng([seed, 3])
        first = generation.seed_rows(space, split.train, generator)
        starts = generation.global_search(space, base, first)
        how = {"interval": self.interval, "tries": self.tries}
        near = generation.local_search(space, base, starts, generator, **how)
        ids = generation.distinct(np.concatenate([starts, near]))
        added = generation.draw(ids, generator)
        labels = generation.vote(space, split.train, self.table.y[split.train], added, seed)
        turned = (labels == 1) != (space.predict(base, added) > 0.5)
        control, control_epochs = self._fit(space, x, y, seed, fresh=True)
        x = np.concatenate([x, space.encode(added)])
        y = np.concatenate([y, labels.astype(np.float32)])
        eidig, eidig_epochs = self._fit(space, x, y, seed, fresh=True)
        return [base, control, eidig], {
            "global_ids": len(starts),
            "local_ids": len(near),
            "ids": len(ids),
            "added": len(added),
            "turned": int(turned.sum()),
            "epochs_control": control_epochs,
            "epochs_eidig": eidig_epochs,
        }

    def _predict(self, space: Space, network: Network, seed: int, split: Split) -> "Trained":
        """Predict the test rows with each value of the attribute."""
        from evenhand.learning.stacked import PLAIN, Trained

        people, values = self.people
        flipped = np.empty((len(split.test), len(values)), dtype=np.float32)
        for i, value in enumerate(values):
            codes = space.codes[split.test].copy()
            codes[:, space.protected] = value
            flipped[:, i] = space.predict(network, codes)
        factual = np.arange(len(flipped)), people.a[split.test]
        p = flipped[factual]
        flipped[factual] = np.nan
        return Trained("none", PLAIN, seed, split, p, flipped, None)

    def _first_network(self, space: Space, seed: int, *, fresh: bool) -> Network:
        """Return initial parameters: on the track ``base`` those of the mlp, or `fresh` ones."""
        sizes, inputs = self.hyperparameters, space.inputs
        if self.track == "integers":
            generator = np.random.default_rng([seed, 5 if fresh else 4])
            return glorot((inputs, *sizes.hidden, 1), generator)
        from evenhand.learning.stacked import initial

        if fresh:  # a seed of `initial` that no base network has
            seed = int(np.random.default_rng([seed, 5]).integers(2**31, 2**62))
        layers = [
            part.numpy().T.ravel() if part.ndim == 2 else part.numpy()
            for part in initial(seed, inputs, sizes.hidden, sizes.adversary, ()).values()
        ]
        return Network((inputs, *sizes.hidden, 2), np.concatenate(layers))

    def _fit(
        self, space: Space, x: np.ndarray, y: np.ndarray, seed: int, *, fresh: bool
    ) -> tuple[Network, int]:
        """Train the base network, or a `fresh` one with early stopping; also return its epochs."""
        start, sizes = self._first_network(space, seed, fresh=fresh), self.hyperparameters
        if self.track == "integers":
            optimizer, batch = Nadam(len(start.theta)), BATCH
            epochs = EPOCHS_OF.get(self.table.name, EPOCHS)
        else:
            optimizer = Adadelta(len(start.theta), sizes.learning_rate)
            batch, epochs = sizes.batch, sizes.epochs
        if not fresh:  # the order of `evenhand.learning.stacked`
            generator = np.random.default_rng([seed, 1])
            return train(start, optimizer, x, y, batch=batch, epochs=epochs, generator=generator)
        generator = np.random.default_rng([seed, 6])
        held, rows = np.split(generator.permutation(len(x)), [round(VALIDATION * len(x))])
        how = {"batch": batch, "epochs": RETRAINING_EPOCHS, "patience": PATIENCE}
        how |= {"generator": generator, "validation": (x[held], y[held])}
        return train(start, optimizer, x[rows], y[rows], **how)
