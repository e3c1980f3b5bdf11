"""The linear classifier of FairLex (section 4), on TF-IDF weights; all seeds at once.

FairLex trains with AdamW, lr=0.003, and its usual epsilon=1e-8. On TF-IDF that stays far behind
logistic regression; the defaults here reach it (see `evenhand.learning.linear.EPSILON`).
"""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from evenhand.core.scratch import scratch_folder
from evenhand.learning.history import Fitted
from evenhand.learning.linear import train_models
from evenhand.learning.problem import Problem
from evenhand.legal.built import check_ids
from evenhand.legal.features import read_features
from evenhand.legal.training import Job

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SETTINGS = {
    "learning_rate": 0.1,
    "batch": 16,
    "epochs": 20,
    "patience": 5,
    "select": "macro_f1",
    "clip": 1.0,
    "warmup": 0.0,
    "weight_decay": 0.0,
    "epsilon": 1e-3,
}


class Classifier:
    """The TF-IDF weights of the cases, of `fit_tfidf`; of counterfactuals, of `transform_tfidf`."""

    description = None

    def __init__(self, job: Job, files: SimpleNamespace) -> None:
        self.job, self.counterfactuals, self.changed = job, None, None
        self.matrix = self._read(files.features)
        if files.counterfactuals is not None:
            self.counterfactuals = self._read(files.counterfactuals)
            self.changed = (self.matrix != self.counterfactuals).getnnz(axis=1) > 0

    def _read(self, path: Path) -> "csr_matrix":
        case_ids, matrix = read_features(path)
        check_ids(case_ids, self.job.data.case_ids, path)
        return matrix[self.job.data.labelled]

    def train(self, problem: Problem, seeds: Sequence[int]) -> list[Fitted]:
        """Train all seeds."""
        return train_models(
            self.matrix,
            problem,
            seeds,
            epsilon=self.job.extra["epsilon"],
            swapped=self.counterfactuals,
            folder=scratch_folder(),
            progress=True,
        )
