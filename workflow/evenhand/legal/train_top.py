"""Stage: the quick audit: train the layers above a frozen encoder, seed after seed."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.core.stage import Input, Output, Plugin, Setting
from evenhand.legal.vectors import VectorStore, read_vectors_meta

if TYPE_CHECKING:
    from torch import nn


def train_top(
    *,
    data: Input,
    embeddings: Input,
    embeddings_meta: Input,
    out: Output,
    history: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    classifier: str,
    objective: Annotated[str, Plugin("evenhand.learning.objectives")],
    seeds: list[int],
    twins: Input | None = None,
    neighbours: Input | None = None,
    attribute: str | None = None,
    objective_options: list[str] | None = None,
    lr: float = 1e-3,
    batch: int = 16,
    epochs: int = 20,
    patience: int = 2,
    select: str = "macro_f1",
    clip: float = 1.0,
    warmup: float = 0.1,
    weight_decay: float = 0.0,
    mode: str = "fixed",
    dropout: float = 0.1,
    threads: int = 1,
    deterministic: bool = False,
    device: Annotated[str, Setting] = "cpu",
    tensorboard: Annotated[Path | None, Setting] = None,
) -> dict[str, Any]:
    """Train positions, Transformer layers and classifier on stored vectors of paragraphs.

    The encoder stays as it is, so that a training takes seconds to minutes; what an objective
    could change in it is not seen. Rates are higher than those of whole models, since all that
    is trained starts at random.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    embeddings, embeddings_meta : path
        Of `embed_paragraphs`.
    out : path
        Parquet: `evenhand.legal.predictions.PREDICTIONS`, seed by seed.
    history : path
        Parquet, a row per seed and epoch: `evenhand.learning.history.HISTORY`.
    kind : str
        ecthr, scotus, fscs or cail.
    classifier : str
        What tables call the encoder with these layers.
    objective : str
        A module of `evenhand.learning.objectives`.
    seeds : list of int
        Each of them once.
    twins : path, optional
        Of `embed_paragraphs` for the twins, beside these embeddings. The twin of each case that
        has one is predicted too, and learned from if the objective asks for it.
    neighbours : path, optional
        Of `find_neighbours`, for the option pairs=graph.
    attribute : str, optional
        Whose groups take part; none for what uses no groups.
    objective_options : list of str
        ``key=value``, of the objective's `OPTIONS`.
    lr, batch, epochs, patience, select, clip, warmup, weight_decay, threads, deterministic
        See `evenhand.learning.settings.Settings`.
    mode, dropout
        See `evenhand.learning.hierarchical.DocumentTop`.
    device : str
        cpu, cuda or cuda:N.
    tensorboard : path, optional
        Folder for curves, one inside for each seed; what is served from the run cache writes none.

    Returns
    -------
    dict
        As `train_classifier`, the lists with a value for each seed.

    Raises
    ------
    InputError
        The files do not belong together, the cases cannot be trained on, or a loss is no finite
        number.
    """
    import torch

    from evenhand.learning.hierarchical import DocumentTop
    from evenhand.learning.pairs import Pairs
    from evenhand.learning.settings import Settings
    from evenhand.legal import training

    settings = Settings(
        lr=lr,
        batch=batch,
        epochs=epochs,
        patience=patience,
        select=select,
        clip=clip,
        warmup=warmup,
        weight_decay=weight_decay,
        threads=threads,
        deterministic=deterministic,
    )
    meta = read_vectors_meta(embeddings_meta)
    plan = training.make_plan(
        classifier,
        objective,
        objective_options,
        attribute,
        settings,
        device=device,
        configuration={
            "embeddings": content_digest(embeddings),
            "mode": mode,
            "dropout": dropout,
            "twins": content_digest(twins) if twins else None,
        },
    )
    cases = training.read_labelled(data, kind, attribute)
    store = VectorStore(embeddings)
    cases.check_ids(store.case_ids, training.read_case_ids(data), embeddings)
    vectors_of, has_twin = [store], None
    if twins is not None:
        vectors_of.append(VectorStore(twins))
        cases.check_ids(vectors_of[1].case_ids, store.case_ids, twins)
        both = ([one.case(int(row)) for one in vectors_of] for row in cases.rows)
        has_twin = np.array([not np.array_equal(one, other) for one, other in both])
    pairs = Pairs(twins=has_twin, neighbours=training.graph_of(neighbours, cases, plan))
    remarks = training.note_remarks(cases, plan, pairs)
    config = SimpleNamespace(**meta["encoder"])

    class Top(torch.nn.Module):
        """The layers, on what `batcher` gives."""

        def __init__(self) -> None:
            super().__init__()
            self.top = DocumentTop(
                config, cases.examples.classes, meta["segments"], mode=mode, dropout=dropout
            )
            self.register_buffer("padding", torch.tensor(meta["padding"]), persistent=False)

        def forward(self, packed: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
            padding = self.padding if mode == "compat" else None
            return self.top(*packed, padding=padding)

    def build() -> "nn.Module":
        return Top().to(device)

    def batcher(rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        of, places = np.divmod(rows, len(cases.rows))
        found = [
            vectors_of[which].case(int(row))
            for which, row in zip(of, cases.rows[places], strict=True)
        ]
        counts = np.array([len(one) for one in found])
        documents = np.repeat(np.arange(len(found)), counts)
        slots = np.arange(len(documents)) - np.repeat(np.cumsum(counts) - counts, counts)
        vectors = np.concatenate(found).astype(np.float32)
        return tuple(
            torch.from_numpy(one).to(device) for one in (vectors, documents, slots, counts)
        )

    trainings = training.train_seeds(
        build,
        batcher,
        cases,
        plan,
        seeds,
        features=int(config.hidden_size),
        pairs=pairs,
        tensorboard=tensorboard,
    )
    training.write_results(out, history, trainings)
    return training.counts_of(cases, trainings, remarks)


if __name__ == "__main__":
    stage.run(train_top)
