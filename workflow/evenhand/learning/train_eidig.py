"""Stage: EIDIG (ISSTA 2021): generate discriminatory rows, relabel them, retrain.

Three networks per seed: ``eidig_base``, which is searched; ``eidig``, trained from new initial
parameters on the training rows and the relabelled rows; and ``eidig_control``, trained on the same
schedule without the relabelled rows. The effect of EIDIG is the difference between the last two.

An interrupted run keeps the networks of finished seeds. The next attempt reads them, and continues
with the unfinished seed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.core import stage
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Natural, Output
from evenhand.learning import loop
from evenhand.learning.hyperparameters import Hyperparameters, read_hyperparameters
from evenhand.learning.train_table import run_tables
from evenhand.tabular.integer_groups import with_integer_groups
from evenhand.tabular.prepared import Prepared, read_prepared
from evenhand.tabular.splits import random_split

if TYPE_CHECKING:
    from evenhand.learning.eidig.network import Network
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


@stage.checked
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
    people, values = table, np.arange(len(table.attribute_values))
    if track == "integers":
        people, values = with_integer_groups(table)
    lost = {}  # a split may leave a group of the table empty, or one of the track
    for groups_of in (table, people):
        lost |= stacked.empty_splits(groups_of, range(seeds), "random")
    if len(lost) == seeds:
        raise lost[0]
    hyperparameters = read_hyperparameters(training, table.name)
    epochs = EPOCHS_OF.get(table.name, EPOCHS) if track == "integers" else hyperparameters.epochs
    kept = seeds if predicted_seeds is None else predicted_seeds
    columns = dict.fromkeys(("epsilon_unit", "reduction"))
    columns |= {"dataset": table.name, "split": "random", "js_base": "e"}
    generated: dict[str, list[int]] = {}
    job = Job(
        table=table,
        people=people,
        values=values,
        track=track,
        hyperparameters=hyperparameters,
        epochs=epochs,
        interval=VARIANTS[variant],
        tries=tries,
    )
    look = {"desc": f"EIDIG on {table.name}", "unit": " seeds", "ascii": True}
    with (
        threadpool_limits(1),  # more threads change the order of sums, and are slower
        run_tables(people, out, groups, predictions, lost, kept) as (write, counts),
    ):
        for seed in tqdm(range(seeds), **look):
            if seed in lost:
                run = stacked.not_made(people, "none", stacked.PLAIN, seed, lost[seed])
                runs, sizes = [run] * 3, {}
            else:
                runs, sizes = job.train(seed)
            for name, number in sizes.items():
                generated.setdefault(name, []).append(number)
            for method, run in zip(METHODS[track], runs, strict=True):
                write([run], columns | {"method": method})
    return counts | generated


@dataclass(frozen=True, kw_only=True)
class Job:
    """The inputs that all seeds share.

    `people` is the table with the groups of the track, `values` their codes; `interval` and `tries`
    are those of `evenhand.learning.eidig.generation.local_search`.
    """

    table: Prepared
    people: Prepared
    values: np.ndarray
    track: str
    hyperparameters: Hyperparameters
    epochs: int
    interval: int | None
    tries: int

    def train(self, seed: int) -> "tuple[list[Trained], dict[str, int]]":
        """Return the three runs of a seed, and the counts of generated rows."""
        training = _Seed(self, seed)
        identity = {
            "table": hashlib.sha256(training.x.tobytes() + training.y.tobytes()).hexdigest(),
            "track": self.track,
            "hyperparameters": asdict(self.hyperparameters),
            "search": [self.interval, self.tries],
        }
        folder = scratch_folder(f"seed-{seed}")
        loop.run(training, folder, identity, title=f"seed {seed}", progress=False)
        return [training.predict(network) for network in training.networks], training.counts


class _Seed(loop.Training):
    """The training of a seed, in one step."""

    steps = 1

    def __init__(self, job: Job, seed: int) -> None:
        from evenhand.learning.eidig import space as spaces

        self.job, self.seed = job, seed
        self.train, self.test = random_split(job.table, seed)
        make_space = spaces.native if job.track == "integers" else spaces.one_hot
        self.space = make_space(job.table, self.train)
        self.x = self.space.encode(self.space.codes)
        self.y = job.table.y.astype(np.float32)
        self.networks: list[Network] = []
        self.counts: dict[str, int] = {}

    @property
    def step(self) -> int:
        return int(bool(self.networks))

    def state_dict(self) -> dict[str, Any]:
        import torch

        networks = [[list(net.sizes), torch.from_numpy(net.theta)] for net in self.networks]
        return {"networks": networks, "counts": self.counts}

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        from evenhand.learning.eidig.network import Network

        self.networks = [Network(tuple(n), theta.numpy().copy()) for n, theta in kept["networks"]]
        self.counts = kept["counts"]

    def advance(self) -> Iterator[dict[str, str]]:
        from evenhand.learning.eidig import generation, relabelling

        if self.networks:
            return
        job, space, seed, train = self.job, self.space, self.seed, self.train
        base, _ = self.fit(self.x[train], self.y[train], fresh=False)
        generator = np.random.default_rng([seed, 3])
        starts = generation.global_search(
            space, base, generation.seed_rows(space, train, generator)
        )
        near = generation.local_search(
            space,
            base,
            starts,
            generator,
            interval=job.interval,
            tries=job.tries,
        )
        ids = generation.distinct(np.concatenate([starts, near]))
        added = relabelling.draw(ids, generator)
        labels = relabelling.vote(space, train, job.table.y[train], added, seed)
        turned = (labels == 1) != (space.predict(base, added) > 0.5)
        control, control_epochs = self.fit(self.x[train], self.y[train], fresh=True)
        x = np.concatenate([self.x[train], space.encode(added)])
        y = np.concatenate([self.y[train], labels.astype(np.float32)])
        eidig, eidig_epochs = self.fit(x, y, fresh=True)
        self.networks = [base, control, eidig]
        self.counts = {
            "global_ids": len(starts),
            "local_ids": len(near),
            "ids": len(ids),
            "added": len(added),
            "turned": int(turned.sum()),
            "epochs_control": control_epochs,
            "epochs_eidig": eidig_epochs,
        }
        yield {}

    def predict(self, network: "Network") -> "Trained":
        """Predict the test rows with each value of the attribute."""
        from evenhand.learning.stacked import PLAIN, Trained

        space, test = self.space, self.test
        flipped = np.empty((len(test), len(self.job.values)), dtype=np.float32)
        for i, value in enumerate(self.job.values):
            codes = space.codes[test].copy()
            codes[:, space.protected] = value
            flipped[:, i] = space.predict(network, codes)
        factual = np.arange(len(test)), self.job.people.a[test]
        p = flipped[factual]
        flipped[factual] = np.nan
        return Trained("none", PLAIN, self.seed, len(self.train), test, p, flipped, None)

    def initial_network(self, fresh: bool) -> "Network":
        """Return initial parameters: on the track ``base`` those of the mlp, or `fresh` ones."""
        from evenhand.learning.eidig.network import Network, glorot

        sizes, inputs, seed = self.job.hyperparameters, self.space.inputs, self.seed
        if self.job.track == "integers":
            generator = np.random.default_rng([seed, 5 if fresh else 4])
            return glorot((inputs, *sizes.hidden, 1), generator)
        from evenhand.learning.network import initial

        if fresh:  # a seed of `initial` that no base network has
            seed = int(np.random.default_rng([seed, 5]).integers(2**31, 2**62))
        layers = [
            part.numpy().T.ravel() if part.ndim == 2 else part.numpy()
            for part in initial(seed, inputs, sizes.hidden, sizes.adversary, ()).values()
        ]
        return Network((inputs, *sizes.hidden, 2), np.concatenate(layers))

    def fit(self, x: np.ndarray, y: np.ndarray, *, fresh: bool) -> "tuple[Network, int]":
        """Train the base network, or a `fresh` one with early stopping; also return its epochs."""
        from evenhand.learning.eidig.network import Adadelta, Nadam, train

        job, start = self.job, self.initial_network(fresh)
        if job.track == "integers":
            optimizer, batch = Nadam(len(start.theta)), BATCH
        else:
            optimizer = Adadelta(len(start.theta), job.hyperparameters.learning_rate)
            batch = job.hyperparameters.batch
        how = {"batch": batch, "epochs": job.epochs}
        if not fresh:  # the order of `evenhand.learning.stacked`
            generator = np.random.default_rng([self.seed, 1])
            return train(start, optimizer, x, y, generator=generator, **how)
        generator = np.random.default_rng([self.seed, 6])
        held, rows = np.split(generator.permutation(len(x)), [round(VALIDATION * len(x))])
        how |= {"epochs": RETRAINING_EPOCHS, "patience": PATIENCE, "generator": generator}
        return train(start, optimizer, x[rows], y[rows], validation=(x[held], y[held]), **how)


if __name__ == "__main__":
    stage.run(train_eidig)
