"""Stage: train the hierarchical classifier with one objective and one seed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.files import content_digest
from evenhand.io.scratch import scratch_folder
from evenhand.legal.tokens import TokenStore, check_tokenizer, read_meta
from evenhand.stage import Input, Output, Plugin, Setting

if TYPE_CHECKING:
    from evenhand.learning.hierarchical import HierarchicalClassifier


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
    attribute : str, optional
        Whose groups take part; none for what uses no groups.
    objective_options : list of str
        ``key=value``, of the objective's `OPTIONS`.
    seed : int
        Of first weights, batches and dropout.
    lr, batch, epochs, patience, select, clip, warmup, weight_decay, accumulate, dtype, threads
        See `evenhand.learning.trainer.Settings`.
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
    from evenhand.learning.trainer import Settings
    from evenhand.legal import training
    from evenhand.legal.classifier_folder import save_classifier

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
        },
    )
    cases = training.read_labelled(data, kind, attribute)
    remarks = training.note_remarks(cases, plan)
    check_tokenizer(meta, source, revision)
    store = TokenStore(tokens)
    cases.check_ids(store.case_ids, training.read_case_ids(data), tokens)
    encoder = load_encoder(source, revision=revision, device=device)
    check_input(encoder, vocabulary=meta["vocabulary"], limits=limits)
    special = meta["special"]

    def build() -> "HierarchicalClassifier":
        built = HierarchicalClassifier(
            encoder, cases.examples.classes, limits.segments, mode=mode, dropout=dropout
        )
        return built.to(device)

    def batcher(rows: np.ndarray) -> Any:
        ids, lengths = zip(
            *(store.case(int(row), limits.segments) for row in cases.rows[rows]), strict=True
        )
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
        features=int(encoder.config.hidden_size),
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
