"""Reject sentences with personal names, by any installed spaCy pipeline.

An entity with the label PERSON or PER is a name unless it lies within the keyword. The
pipeline's version is not part of the run's record: put it into the pipeline's name where it
matters.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import NameRules, judge_names, rules_from
from evenhand.slguset.verdicts import Finding, Judge

if TYPE_CHECKING:
    from spacy.language import Language

FILES = ("surnames.csv", "titles.csv", "roles.csv")
SETTINGS = ("names", "names_spacy")

#: The labels of persons in spaCy's pipelines.
PERSONS = frozenset(("PERSON", "PER"))


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    return make_judge(rules_from(files, settings), load_pipeline(settings["pipeline"]))


def make_judge(rules: NameRules, nlp: "Language") -> Judge:
    """Return the filter: a function of sentences, and starts and ends of their surfaces."""

    def judge(sentences: list[str], starts: list[int], ends: list[int]) -> Iterator[Finding | None]:
        documents = nlp.pipe(sentences, batch_size=256)
        for sentence, start, end, document in zip(sentences, starts, ends, documents, strict=True):
            names = [(e.start_char, e.end_char) for e in document.ents if e.label_ in PERSONS]
            yield judge_names(sentence, (start, end), names, rules)

    return judge


def load_pipeline(name: str) -> "Language":
    """Load a pipeline that can find persons.

    Raises
    ------
    InputError
        It is not installed, or none of its components has one of the labels `PERSONS`.
    """
    import spacy

    try:
        nlp = spacy.load(name)
    except OSError as error:
        raise InputError(
            f"the spaCy pipeline {name!r} is not installed",
            remedy=f"install it (`python -m spacy download {name}`) or choose another filter",
        ) from error
    labels = {label for found in nlp.pipe_labels.values() for label in found}
    if not labels & PERSONS:
        raise InputError(
            f"the spaCy pipeline {name!r} has no label {' or '.join(sorted(PERSONS))}, only"
            f" {sorted(labels)}",
            remedy="choose a pipeline that recognises persons",
        )
    return nlp
