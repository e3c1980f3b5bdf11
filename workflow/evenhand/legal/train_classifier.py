"""Stage: train the hierarchical classifier with one objective and one seed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Input, Output, Plugin, Setting
from evenhand.errors import InputError
from evenhand.legal.tokens import TokenStore, check_tokenizer, paragraphs_as_read, read_meta

if TYPE_CHECKING:
    from evenhand.learning.hierarchical import HierarchicalClassifier
    from evenhand.learning.packing import Limits


def train_classifier(
    *,
    data: Input,
    tokens: Input,
    tokens_meta: Input,
    out: Output,
    history: Output,
    weights: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    classifier: str,
    objective: Annotated[str, Plugin("evenhand.learning.objectives")],
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    twins: Input | None = None,
    twins_meta: Input | None = None,
    neighbours: Input | None = None,
    attribute: str | None = None,
    objective_options: list[str] | None = None,
    seed: int = 1,
    lr: float = 3e-5,
    batch: int = 16,
    epochs: int = 20,
    patience: int = 2,
    select: str = "macro_f1",
    clip: float = 1.0,
    warmup: float = 0.0,
    weight_decay: float = 0.0,
    accumulate: int = 1,
    dtype: str = "fp32",
    mode: str = "fixed",
    dropout: float = 0.1,
    segments: int | None = None,
    paragraph_tokens: int | None = None,
    tokens_per_batch: int = 4096,
    threads: int = 1,
    deterministic: bool = False,
    keep_weights: bool = True,
    device: Annotated[str, Setting] = "cpu",
    tensorboard: Annotated[Path | None, Setting] = None,
) -> dict[str, Any]:
    """Train an encoder and the layers above it on a legal data set, and predict all of it.

    Only cases with a known label are trained on and predicted. The epoch with the best
    development score is kept. Interrupted in a run, the next attempt goes on from the last
    checkpoint: on a CPU to the same bits.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    tokens, tokens_meta : path
        Of `tokenise_cases`, with this model's tokenizer.
    out : path
        Parquet: `evenhand.legal.predictions.PREDICTIONS`.
    history : path
        Parquet, a row per epoch: `evenhand.learning.history.HISTORY`.
    weights : path
        Folder: `evenhand.legal.classifier_folder`.
    kind : str
        ecthr, scotus, fscs or cail.
    classifier : str
        What tables call the encoder.
    objective : str
        A module of `evenhand.learning.objectives`.
    model : path, optional
        Folder of the encoder in the Hugging Face layout, with its tokenizer; safetensors only.
        Either this or `hub_name`.
    hub_name, revision : str, optional
        Name on the hub; branch, tag or commit.
    twins, twins_meta : path, optional
        Of `tokenise_cases` for the twins, with the same tokenizer. The twin of each case that has
        one within the limits is predicted too, and learned from if the objective asks for it.
    neighbours : path, optional
        Of `find_neighbours`, for the option pairs=graph.
    attribute : str, optional
        Whose groups take part; none for what uses no groups.
    objective_options : list of str
        ``key=value``, of the objective's `OPTIONS`.
    seed : int
        Of first weights, batches and dropout.
    lr, batch, epochs, patience, select, clip, warmup, weight_decay, accumulate, dtype, threads
        See `evenhand.learning.settings.Settings`.
    deterministic : bool
        See there.
    mode, dropout
        See `evenhand.learning.hierarchical.DocumentTop`.
    segments, paragraph_tokens : int, optional
        Paragraphs of a case, and tokens of each, that are read; by default as published.
    tokens_per_batch : int
        Tokens that go through the encoder at once.
    keep_weights : bool
        Without it the folder says what the classifier is, and holds no weights.
    device : str
        cpu, cuda or cuda:N.
    tensorboard : path, optional
        Folder for curves; what is served from the run cache writes none.

    Returns
    -------
    dict
        cases, left_out (without a label or split), splits, remarks, and lists of one value:
        epochs, best_epochs, steps, dev_scores.

    Raises
    ------
    InputError
        The files do not belong together, the encoder cannot be used, the cases cannot be trained
        on, or a loss is no finite number (see `evenhand.learning.trainer`).
    """
    from evenhand.learning.hierarchical import HierarchicalClassifier, check_input, load_encoder
    from evenhand.learning.packing import Limits, pack_flat
    from evenhand.learning.pairs import Pairs
    from evenhand.learning.settings import Settings
    from evenhand.legal import training
    from evenhand.legal.classifier_folder import save_classifier
    from evenhand.scoring.selection import text_config

    settings = Settings(
        lr=lr,
        batch=batch,
        epochs=epochs,
        patience=patience,
        select=select,
        clip=clip,
        warmup=warmup,
        weight_decay=weight_decay,
        accumulate=accumulate,
        dtype=dtype,
        threads=threads,
        deterministic=deterministic,
    )
    source = encoder_source(model, hub_name)
    meta = read_meta(tokens_meta)
    limits = Limits(segments or meta["segments"], paragraph_tokens or meta["tokens"])
    check_limits(limits.segments, limits.tokens, meta, tokens_meta)
    plan = training.make_plan(
        classifier,
        objective,
        objective_options,
        attribute,
        settings,
        device=device,
        configuration={
            "encoder": content_digest(model) if model else [hub_name, revision],
            "tokens": content_digest(tokens),
            "limits": [limits.segments, limits.tokens, tokens_per_batch],
            "mode": mode,
            "dropout": dropout,
            "twins": content_digest(twins) if twins else None,
        },
    )
    cases = training.read_labelled(data, kind, attribute)
    check_tokenizer(meta, source, revision)
    store = TokenStore(tokens)
    cases.check_ids(store.case_ids, training.read_case_ids(data), tokens)
    tokens_of, has_twin = [store], None
    if twins is not None:
        tokens_of.append(open_twins(twins, twins_meta, meta))
        cases.check_ids(tokens_of[1].case_ids, store.case_ids, twins)
        has_twin = changed_cases(*tokens_of, cases.rows, limits, meta["special"]["after"])
    pairs = Pairs(twins=has_twin, neighbours=training.graph_of(neighbours, cases, plan))
    remarks = training.note_remarks(cases, plan, pairs)
    encoder = load_encoder(source, revision=revision, device=device)
    check_input(encoder, vocabulary=meta["vocabulary"], limits=limits)
    special = meta["special"]

    def build() -> "HierarchicalClassifier":
        built = HierarchicalClassifier(
            encoder, cases.examples.classes, limits.segments, mode=mode, dropout=dropout
        )
        return built.to(device)

    def batcher(rows: np.ndarray) -> Any:
        of, places = np.divmod(rows, len(cases.rows))
        found = (
            tokens_of[which].case(int(row), limits.segments)
            for which, row in zip(of, cases.rows[places], strict=True)
        )
        ids, lengths = zip(*found, strict=True)
        packed = pack_flat(
            ids,
            lengths,
            limits,
            pad_id=special["pad"] or 0,
            after=special["after"],
            tokens_per_batch=tokens_per_batch,
        )
        return packed.to(device)

    trained, said, made = training.train_seed(
        build,
        batcher,
        cases,
        plan,
        seed,
        features=int(text_config(encoder).hidden_size),
        pairs=pairs,
        folder=scratch_folder(),
        tensorboard=tensorboard,
    )
    training.write_results(out, history, [(trained, said)])
    description = {
        "classifier": classifier,
        "objective": objective,
        "objective_options": dict(plan.options),
        "attribute": plan.attribute,
        "seed": seed,
        "kind": kind,
        "labels": list(cases.dataset.labels),
        "task": cases.dataset.task,
        "tokens": limits.tokens,
        "tokenizer": meta["tokenizer"],
        "tokenizer_sha256": meta["tokenizer_sha256"],
        "epoch": trained.epoch,
        "select": select,
        "dev_score": round(trained.score, 6),
    }
    save_classifier(weights, made, description, weights=keep_weights)
    return training.counts_of(cases, [(trained, said)], remarks)


def open_twins(twins: Path, twins_meta: Path | None, meta: dict[str, Any]) -> TokenStore:
    """The tokens of the twins, if they were made as those of the cases were."""
    same = ("tokenizer_sha256", "tokens", "stored_paragraphs")
    if twins_meta is None or [read_meta(twins_meta)[one] for one in same] != [
        meta[one] for one in same
    ]:
        raise InputError(
            "the twins were not tokenised as the cases were",
            file=twins,
            remedy="tokenise both with the same model and limits, and give both descriptions",
        )
    return TokenStore(twins)


def changed_cases(
    store: TokenStore, twins: TokenStore, rows: np.ndarray, limits: "Limits", after: list[int]
) -> np.ndarray:
    """Whose twin differs in what is read of it: array of bool, shape (rows,)."""

    def read(of: TokenStore, row: int) -> list[np.ndarray]:
        return paragraphs_as_read(*of.case(row, limits.segments), limits.tokens, after)

    def differ(row: int) -> bool:
        one, other = read(store, row), read(twins, row)
        return len(one) != len(other) or not all(map(np.array_equal, one, other))

    return np.array([differ(int(row)) for row in rows], dtype=bool)


def encoder_source(model: Path | None, hub_name: str | None) -> Path | str:
    """The one of the two that is given."""
    if (model is None) == (hub_name is None):
        raise InputError("a model is a folder or a hub name", remedy="give one of them, not both")
    return model if model is not None else hub_name


def check_limits(segments: int, tokens: int, meta: dict[str, Any], file: Path) -> None:
    """Refuse to read more of a case than its tokens hold."""
    for asked, name, there in (
        (segments, "paragraphs of a case", meta["stored_paragraphs"]),
        (tokens, "tokens of a paragraph", meta["tokens"]),
    ):
        if not 1 <= asked <= there:
            raise InputError(
                f"{asked} {name} are to be read, and {there} are stored",
                file=file,
                remedy=f"read from 1 to {there}, or tokenise the cases otherwise",
            )


if __name__ == "__main__":
    stage.run(train_classifier)
