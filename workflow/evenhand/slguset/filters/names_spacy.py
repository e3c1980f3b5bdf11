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
from evenhand.slguset.names import name_filter, read_rules
from evenhand.slguset.verdicts import Judge

if TYPE_CHECKING:
    from spacy.language import Language

FILES = ("surnames.csv", "titles.csv", "roles.csv")
SETTINGS = ("names", "names_spacy")

#: The labels of persons in spaCy's pipelines.
PERSONS = frozenset(("PERSON", "PER"))


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    nlp = load_pipeline(settings["pipeline"])

    def spans(sentences: list[str], _words: object) -> Iterator[list[tuple[int, int]]]:
        for document in nlp.pipe(sentences, batch_size=256):
            persons = (entity for entity in document.ents if entity.label_ in PERSONS)
            yield [(person.start_char, person.end_char) for person in persons]

    return name_filter(spans, read_rules(files, settings))


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
        remedy = f"install it (`python -m spacy download {name}`) or choose another filter"
        raise InputError(f"the spaCy pipeline {name!r} is not installed", remedy=remedy) from error
    labels = {label for labels in nlp.pipe_labels.values() for label in labels}
    if not labels & PERSONS:
        raise InputError(
            f"the spaCy pipeline {name!r} has no label {' or '.join(sorted(PERSONS))}, only"
            f" {sorted(labels)}",
            remedy="choose a pipeline that recognises persons",
        )
    return nlp
