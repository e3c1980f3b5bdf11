"""The hierarchical classifier of FairLex: an encoder and the layers above it, all trained."""

from typing import Any

import numpy as np
import torch

from evenhand.errors import InputError
from evenhand.learning.hierarchical import HierarchicalClassifier, check_input, load_encoder
from evenhand.learning.packing import Limits, pack_flat
from evenhand.legal.tokens import (
    TokenStore,
    check_tokenizer,
    paragraphs_as_read,
    read_limits,
    read_meta,
)
from evenhand.legal.training import Files, Job, NetworkClassifier
from evenhand.scoring.model_files import model_source
from evenhand.scoring.selection import text_config

SETTINGS = {
    "lr": 3e-5,
    "batch": 16,
    "epochs": 20,
    "patience": 2,
    "select": "macro_f1",
    "clip": 1.0,
    "warmup": 0.0,
    "weight_decay": 0.0,
    "accumulate": 1,
    "dtype": "fp32",
    "deterministic": False,
    "mode": "fixed",
    "dropout": 0.1,
    "segments": 0,  # as published for the data set
    "paragraph_tokens": 0,
    "tokens_per_batch": 4096,
    "keep_weights": True,
}


class Classifier(NetworkClassifier):
    """The tokens of the cases and of their counterfactuals, of `tokenise_cases`, and an encoder."""

    def __init__(self, job: Job, files: Files) -> None:
        own, self.job = job.own, job
        self.source, self.revision = model_source(files.model, files.hub_name), files.revision
        self.meta = read_meta(files.features_meta)
        self.limits = Limits(
            *read_limits(self.meta, own["segments"], own["paragraph_tokens"], files.features_meta)
        )
        check_tokenizer(self.meta, self.source, self.revision)
        if files.counterfactuals is not None:
            check_alike(self.meta, files)
        self.open(TokenStore, files)
        self.encoder = load_encoder(self.source, revision=self.revision, device=job.device)
        check_input(self.encoder, vocabulary=self.meta["vocabulary"], limits=self.limits)
        self.features = int(text_config(self.encoder).hidden_size)

    def differs(self, row: int) -> bool:
        """Return whether the counterfactual of a case differs in the tokens that are read."""
        one, other = (
            paragraphs_as_read(
                *store.case(row, self.limits.segments),
                self.limits.tokens,
                self.meta["special"]["after"],
            )
            for store in self.stores
        )
        return len(one) != len(other) or not all(map(np.array_equal, one, other))

    def build(self) -> torch.nn.Module:
        """Return a new classifier on the device."""
        if self.encoder is None:
            self.encoder = load_encoder(self.source, revision=self.revision, device=self.job.device)
        encoder, self.encoder = self.encoder, None  # the training changes it
        return HierarchicalClassifier(
            encoder,
            self.job.cases.examples.classes,
            self.limits.segments,
            mode=self.job.own["mode"],
            dropout=self.job.own["dropout"],
        ).to(self.job.device)

    def batcher(self, rows: np.ndarray) -> Any:
        """Return the tokens of rows, packed."""
        cases = (store.case(row, self.limits.segments) for store, row in self.located(rows))
        ids, lengths = zip(*cases, strict=True)
        packed = pack_flat(
            ids,
            lengths,
            self.limits,
            pad_id=self.meta["special"]["pad"] or 0,
            after=self.meta["special"]["after"],
            tokens_per_batch=self.job.own["tokens_per_batch"],
        )
        return packed.to(self.job.device)

    @property
    def description(self) -> dict[str, Any]:
        """Return the description of the input for the folder of weights."""
        kept = {name: self.meta[name] for name in ("tokenizer", "tokenizer_sha256")}
        return {"tokens": self.limits.tokens, **kept}


def check_alike(meta: dict[str, Any], files: Files) -> None:
    """Refuse counterfactuals that were not tokenised as the cases were."""
    same, other = ("tokenizer_sha256", "tokens", "stored_paragraphs"), files.counterfactuals_meta
    theirs = {} if other is None else read_meta(other)
    if any(theirs.get(name) != meta[name] for name in same):
        raise InputError(
            "the counterfactuals were not tokenised as the cases were",
            file=files.counterfactuals,
            remedy="tokenise both with the same model and limits, and give both descriptions",
        )
