"""A data set of legal cases: the input of each table of cases."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from evenhand.legal.built import Groups, parts_of, read_groups, read_labels, read_splits
from evenhand.legal.dataset import Dataset


@dataclass(frozen=True, eq=False)
class CaseStudy:
    """The cases of a data set and the files on them; each column is read once.

    Parameters
    ----------
    data : Path
        The data set, as `build_cases` writes it.
    dataset : Dataset
        The fixed properties of its kind.
    published : bool
        Whether the cases are FairLex's own.
    claims, words : Path
        ``published_cross.csv`` and ``outcome_words.csv``.
    findings : dict of str to Path
        The findings of each attribute.
    tokens : list of (Path, Path)
        Token ids of the cases and their description, per tokenizer.
    resamples : int
        Random draws.
    """

    data: Path
    dataset: Dataset
    published: bool
    claims: Path
    words: Path
    findings: dict[str, Path] = field(default_factory=dict)
    tokens: list[tuple[Path, Path]] = field(default_factory=list)
    resamples: int = 1000

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """Whether each case belongs to train, dev, test, and all: arrays of bool, shape (n,)."""
        return parts_of(read_splits(self.data))

    @cached_property
    def groups(self) -> list[Groups]:
        """The group of each case, by attribute."""
        return read_groups(self.data, self.dataset)

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """The labels of each case; see `evenhand.legal.built.read_labels`."""
        return read_labels(self.data, self.dataset)
