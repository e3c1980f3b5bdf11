"""A data set of legal cases: the input of each table of cases."""

from dataclasses import dataclass, field
from pathlib import Path

from evenhand.legal.built import BuiltCases


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseStudy(BuiltCases):
    """The cases of a data set and the files on them.

    Attributes
    ----------
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

    published: bool
    claims: Path
    words: Path
    findings: dict[str, Path] = field(default_factory=dict)
    tokens: list[tuple[Path, Path]] = field(default_factory=list)
    resamples: int = 1000
