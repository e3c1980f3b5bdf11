"""The hierarchical classifier of FairLex: an encoder and the layers above it, all trained."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from evenhand.learning.hierarchical import HierarchicalClassifier, check_input, load_encoder
from evenhand.learning.packing import Limits, pack
from evenhand.legal.stores import TokenStore, check_tokenizer, read_limits, read_tokens_meta
from evenhand.legal.training import Job, NetworkClassifier
from evenhand.scoring.model_files import model_source
from evenhand.scoring.selection import text_config

SETTINGS = {
    "learning_rate": 3e-5,
    "batch": 16,
    "epochs": 20,
    "patience": 2,
    "select": "macro_f1",
    "clip": 1.0,
    "warmup": 0.0,
    "weight_decay": 0.0,
    "accumulate": 1,
    "dtype": "fp32",
    "mode": "fixed",
    "dropout": 0.1,
    "segments": 0,  # as published for the data set
    "paragraph_tokens": 0,
    "tokens_per_batch": 0,  # as suits the device
    "keep_weights": True,
}


class Classifier(NetworkClassifier):
    """The tokens of the cases and of their counterfactuals, of `tokenise_cases`, and an encoder."""

    def __init__(self, job: Job, files: SimpleNamespace) -> None:
        self.job = job
        self.source, self.revision = model_source(files.model, files.hub_name), files.revision
        self.meta = read_tokens_meta(files.features_meta)
        extra = job.extra["segments"], job.extra["paragraph_tokens"]
        self.limits = Limits(*read_limits(self.meta, *extra, files.features_meta))
        check_tokenizer(self.meta, self.source, self.revision)
        self.open(TokenStore, files)
        self.encoder = load_encoder(self.source, revision=self.revision, device=job.device)
        check_input(self.encoder, vocabulary=self.meta["vocabulary"], limits=self.limits)
        self.features = int(text_config(self.encoder).hidden_size)

    def differs(self, row: int) -> bool:
        """Return whether the counterfactual of a case differs in the tokens that are read."""
        after = self.meta["special"]["after"]
        cases = [store.paragraphs(row, self.limits, after) for store in self.stores]
        return len({len(case) for case in cases}) > 1 or not all(map(np.array_equal, *cases))

    def build(self) -> torch.nn.Module:
        """Return a new classifier on the device."""
        if self.encoder is None:
            self.encoder = load_encoder(self.source, revision=self.revision, device=self.job.device)
        encoder, self.encoder = self.encoder, None  # the training changes it
        return HierarchicalClassifier(
            encoder,
            self.job.problem.examples.classes,
            self.limits.segments,
            mode=self.job.extra["mode"],
            dropout=self.job.extra["dropout"],
        ).to(self.job.device)

    def batcher(self, rows: np.ndarray) -> Any:
        """Return the tokens of rows, packed."""
        special = self.meta["special"]
        cases = [
            store.paragraphs(row, self.limits, special["after"])
            for store, row in self.located(rows)
        ]
        packed = pack(
            cases,
            self.limits,
            pad_id=special["pad"] or 0,
            tokens_per_batch=self.job.extra["tokens_per_batch"] or None,
            device=self.job.device,
        )
        return packed.to(self.job.device)

    @property
    def description(self) -> dict[str, Any]:
        """Return the description of the input for the folder of weights."""
        kept = {name: self.meta[name] for name in ("tokenizer", "tokenizer_sha256")}
        return {"tokens": self.limits.tokens, **kept}

    def save(
        self, folder: Path, model: HierarchicalClassifier, description: dict[str, Any]
    ) -> None:
        """Write a trained model: the encoder's configuration, a description, and the weights.

        The weights, ``model.safetensors``, are left out unless the setting `keep_weights` asks for
        them.
        """
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        config = model.encoder.config.to_dict()
        config.pop("_name_or_path", None)  # of this machine
        top = model.top
        description = description | {
            "classes": top.classifier.out_features,
            "segments": top.segments,
            "mode": top.mode,
            "dropout": top.dropout.p,
        }
        for name, document in (("config", config), ("classifier", description)):
            text = json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1)
            (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        if self.job.extra["keep_weights"]:
            state = {name: value.cpu().contiguous() for name, value in model.state_dict().items()}
            save_file(state, folder / "model.safetensors")
