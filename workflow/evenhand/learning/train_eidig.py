"""Stage: EIDIG (ISSTA 2021): generate discriminatory rows, relabel them, retrain.

Three networks per seed: ``eidig_base``, which is searched; ``eidig``, trained from new initial
parameters on the training rows and the relabelled rows; and ``eidig_control``, trained on the same
schedule without the relabelled rows. The effect of EIDIG is the difference between the last two.

An interrupted run keeps the networks of finished seeds. The next attempt reads them, and continues
with the unfinished seed.
"""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.checkpoint import Checkpoints
from evenhand.learning.hyperparameters import Hyperparameters, read_hyperparameters
from evenhand.learning.train_table import run_tables
from evenhand.metrics.individual import TAU
from evenhand.tabular.integer_groups import with_integer_groups
from evenhand.tabular.prepared import Prepared, check, read_prepared
from evenhand.tabular.splits import random_split

if TYPE_CHECKING:
    from evenhand.learning.eidig.network import Network
    from evenhand.learning.eidig.space import Space
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


def train_eidig(
    *,
    data: Input,
    meta: Input,
    training: Input,
    out: Output,
    groups: Output,
    predictions: Output,
    track: str = "base",
    variant: str = "5",
    seeds: int = 20,
    tries: int = 1000,
    support_vectors: bool = False,
    tau: float = TAU,
    predicted_seeds: int | None = None,
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
    support_vectors : bool
        Whether a support vector machine takes part in relabelling; it is slow.
    tau : float
        Maximum difference of outputs that count as similar in IFR_p.
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

    for name, value, values in (("track", track, METHODS), ("variant", variant, VARIANTS)):
        if value not in values:
            raise InputError(f"{name} is {value}, not one of {', '.join(values)}")
    if seeds < 1 or tries < 1:
        raise InputError("there must be at least one seed, and one try")
    table = read_prepared(data, meta)
    check(table)
    people, values = table, np.arange(len(table.attribute_values))
    if track == "integers":
        people, values = with_integer_groups(table)
    lost = {}  # a split may leave a group of the table empty, or one of the track
    for some in (table, people):
        lost |= stacked.empty_splits(some, range(seeds), "random")
    if len(lost) == seeds:
        raise lost[0]
    hyperparameters = read_hyperparameters(training, table.name)
    epochs = EPOCHS_OF.get(table.name, EPOCHS) if track == "integers" else hyperparameters.epochs
    keep = seeds if predicted_seeds is None else predicted_seeds
    same = dict.fromkeys(("epsilon_unit", "reduction"))
    same |= {"dataset": table.name, "split": "random", "js_base": "e"}
    generated: dict[str, list[int]] = {}
    work = epochs + 2 * RETRAINING_EPOCHS + tries
    look = {"desc": f"EIDIG on {table.name}", "mininterval": 5, "ascii": True}
    files = out, groups, predictions
    with (
        threadpool_limits(1),  # more threads change the order of sums, and are slower
        tqdm(total=seeds * work, **look) as bar,
        run_tables(people, *files, lost, keep=keep, tau=tau, base=np.e) as (write, counts),
    ):
        job = Job(
            table=table,
            people=people,
            values=values,
            track=track,
            hyperparameters=hyperparameters,
            epochs=epochs,
            search=(VARIANTS[variant], tries, support_vectors),
            progress=bar.update,
        )
        for seed in range(seeds):
            if seed in lost:
                run = stacked.not_made(people, "none", stacked.PLAIN, seed, lost[seed])
                runs, found = [run] * 3, {}
            else:
                runs, found = job.train(seed)
            for name, number in found.items():
                generated.setdefault(name, []).append(number)
            for method, run in zip(METHODS[track], runs, strict=True):
                write([run], same | {"method": method})
            bar.n = (seed + 1) * work
            bar.refresh()
    return counts | generated


@dataclass(frozen=True, kw_only=True)
class Job:
    """The inputs that all seeds share. `values` are the group codes of `people`, the table with the
    groups of the track; `search` is interval, tries and whether to use a support vector machine.
    """

    table: Prepared
    people: Prepared
    values: np.ndarray
    track: str
    hyperparameters: Hyperparameters
    epochs: int
    search: tuple[int | None, int, bool]
    progress: Callable[[], object]

    def train(self, seed: int) -> "tuple[list[Trained], dict[str, int]]":
        """Return the three runs of a seed, and the counts of generated rows."""
        import torch

        from evenhand.learning.eidig import generation, relabelling
        from evenhand.learning.eidig import space as spaces
        from evenhand.learning.eidig.network import Network

        table, (interval, tries, support_vectors) = self.table, self.search
        train, test = random_split(table, seed)
        make_space = spaces.native if self.track == "integers" else spaces.one_hot
        space = make_space(table, train)
        x, y = space.encode(space.codes), table.y.astype(np.float32)
        checkpoints = Checkpoints(
            scratch_folder(f"seed-{seed}"),
            {
                "table": hashlib.sha256(x.tobytes() + y.tobytes()).hexdigest(),
                "track": self.track,
                "hyperparameters": asdict(self.hyperparameters),
                "search": list(self.search),
            },
        )
        if kept := checkpoints.restore():
            print(f"seed {seed} was done before", file=sys.stderr)
            networks = [Network(tuple(n), theta.numpy().copy()) for n, theta in kept["networks"]]
            return [self.run(space, one, seed, train, test) for one in networks], kept["found"]
        base, _ = self.fit(space, seed, x[train], y[train], fresh=False)
        generator = np.random.default_rng([seed, 3])
        starts = generation.global_search(
            space, base, generation.seed_rows(space, train, generator)
        )
        near = generation.local_search(
            space, base, starts, generator, interval=interval, tries=tries, progress=self.progress
        )
        ids = generation.distinct(np.concatenate([starts, near]))
        added = relabelling.draw(ids, generator)
        labels = relabelling.vote(
            space, train, table.y[train], added, seed, support_vectors=support_vectors
        )
        turned = (labels == 1) != (space.predict(base, added) > 0.5)
        networks, taken = [base], []
        for more, theirs in ((added[:0], labels[:0]), (added, labels)):
            more_x = np.concatenate([x[train], space.encode(more)])
            more_y = np.concatenate([y[train], theirs.astype(np.float32)])
            network, number = self.fit(space, seed, more_x, more_y, fresh=True)
            networks.append(network)
            taken.append(number)
        found = {
            "global_ids": len(starts),
            "local_ids": len(near),
            "ids": len(ids),
            "added": len(added),
            "turned": int(turned.sum()),
            "epochs_control": taken[0],
            "epochs_eidig": taken[1],
        }
        thetas = [[list(one.sizes), torch.from_numpy(one.theta)] for one in networks]
        checkpoints.save({"networks": thetas, "found": found})
        return [self.run(space, one, seed, train, test) for one in networks], found

    def run(
        self, space: "Space", network: "Network", seed: int, train: np.ndarray, test: np.ndarray
    ) -> "Trained":
        """Predict the test rows with each value of the attribute."""
        from evenhand.learning.stacked import PLAIN, Trained

        flipped = np.empty((len(test), len(self.values)), dtype=np.float32)
        for i, value in enumerate(self.values):
            other = space.codes[test].copy()
            other[:, space.protected] = value
            flipped[:, i] = space.predict(network, other)
        own = np.arange(len(test)), self.people.a[test]
        p = flipped[own]
        flipped[own] = np.nan
        return Trained("none", PLAIN, seed, len(train), test, p, flipped, None)

    def start(self, space: "Space", seed: int, fresh: bool) -> "Network":
        """Return initial parameters: on the track ``base`` those of the mlp, or `fresh` ones."""
        from evenhand.learning.eidig.network import Network, glorot

        sizes = self.hyperparameters
        if self.track == "integers":
            generator = np.random.default_rng([seed, 5 if fresh else 4])
            return glorot((space.inputs, *sizes.hidden, 1), generator)
        from evenhand.learning.network import initial

        # a seed of `initial` that no base network has
        drawn = int(np.random.default_rng([seed, 5]).integers(2**31, 2**62)) if fresh else seed
        layers = [
            part.numpy().T.ravel() if part.ndim == 2 else part.numpy()
            for part in initial(drawn, space.inputs, sizes.hidden, sizes.adversary, ()).values()
        ]
        return Network((space.inputs, *sizes.hidden, 2), np.concatenate(layers))

    def fit(
        self, space: "Space", seed: int, x: np.ndarray, y: np.ndarray, *, fresh: bool
    ) -> "tuple[Network, int]":
        """Train the base network, or a `fresh` one with early stopping; also return its epochs."""
        from evenhand.learning.eidig.network import Adadelta, Nadam, train

        start = self.start(space, seed, fresh)
        if self.track == "integers":
            optimizer, batch = Nadam(len(start.theta)), BATCH
        else:
            optimizer = Adadelta(len(start.theta), self.hyperparameters.learning_rate)
            batch = self.hyperparameters.batch
        how = {"batch": batch, "epochs": self.epochs, "progress": self.progress}
        if not fresh:  # the order of `evenhand.learning.stacked`
            return train(start, optimizer, x, y, generator=np.random.default_rng([seed, 1]), **how)
        generator = np.random.default_rng([seed, 6])
        held, rows = np.split(generator.permutation(len(x)), [round(VALIDATION * len(x))])
        how |= {"epochs": RETRAINING_EPOCHS, "patience": PATIENCE, "generator": generator}
        return train(start, optimizer, x[rows], y[rows], validation=(x[held], y[held]), **how)


if __name__ == "__main__":
    stage.run(train_eidig)
