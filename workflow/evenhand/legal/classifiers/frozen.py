"""The quick audit: positions, Transformer layers and classifier on an encoder's stored vectors.

The encoder stays as it is, so that a training takes seconds to minutes; the effect of an objective
on it is not seen. Rates are higher than those of whole models, since all that is trained starts at
random.
"""

from types import SimpleNamespace

import numpy as np
import torch

from evenhand.learning.hierarchical import DocumentTop
from evenhand.learning.packing import places
from evenhand.legal.stores import VectorStore, read_vectors_meta
from evenhand.legal.training import Job, NetworkClassifier

SETTINGS = {
    "learning_rate": 1e-3,
    "batch": 16,
    "epochs": 20,
    "patience": 2,
    "select": "macro_f1",
    "clip": 1.0,
    "warmup": 0.1,
    "weight_decay": 0.0,
    "mode": "fixed",
    "dropout": 0.1,
}


class Classifier(NetworkClassifier):
    """The vectors of the cases and of their counterfactuals, of `embed_paragraphs`."""

    def __init__(self, job: Job, files: SimpleNamespace) -> None:
        self.job, self.meta = job, read_vectors_meta(files.features_meta)
        self.encoder = SimpleNamespace(**self.meta["encoder"])
        self.features = int(self.encoder.hidden_size)
        self.open(VectorStore, files)

    def differs(self, row: int) -> bool:
        """Return whether the counterfactual of a case has other vectors."""
        return not np.array_equal(*(store.case(row) for store in self.stores))

    def build(self) -> torch.nn.Module:
        """Return a new head on the device."""
        head = Head(
            self.encoder,
            self.job.problem.examples.classes,
            self.meta["segments"],
            mode=self.job.extra["mode"],
            dropout=self.job.extra["dropout"],
        )
        head.register_buffer("padding", torch.tensor(self.meta["padding"]), persistent=False)
        return head.to(self.job.device)

    def batcher(self, rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        """Return the vectors of rows, as the head takes them."""
        cases = [store.case(row) for store, row in self.located(rows)]
        counts = np.array([len(case) for case in cases])
        batch = (np.concatenate(cases).astype(np.float32), *places(counts), counts)
        return tuple(torch.from_numpy(array).to(self.job.device) for array in batch)


class Head(DocumentTop):
    """`DocumentTop` on the batches of `batcher`."""

    def forward(self, batch: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and features of documents."""
        return super().forward(*batch, padding=self.padding if self.mode == "compat" else None)
