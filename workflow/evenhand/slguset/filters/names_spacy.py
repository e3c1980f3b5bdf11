"""Turn down sentences with personal names, by any installed spaCy pipeline."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import Policy, judge_names, read_rules
from evenhand.slguset.verdicts import Finding, write_verdicts_in_batches

if TYPE_CHECKING:
    from spacy.language import Language


def names_spacy(
    *,
    keywords: Input,
    surnames: Input,
    titles: Input,
    out: Output,
    pipeline: str = "zh_core_web_sm",
    labels: list[str] | None = None,
    anonymised: Policy = "drop",
    surname_title: Policy = "drop",
    familiar: Policy = "drop",
) -> dict[str, Any]:
    """Turn down sentences with personal names, by any installed spaCy pipeline.

    An entity whose label is one of `labels` is a name unless it lies within the keyword.
    Reasons: `name`, `anonymised_name`, `surname_title`, `familiar_name`; the evidence are
    the names.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    surnames : Path
        The table of surnames (surnames.csv).
    titles : Path
        The table of titles (titles.csv).
    out : Path
        The filter's table.
    pipeline : str
        The name of an installed pipeline. Its version is not part of the run's record, so
        name it with its version where that matters.
    labels : list of str, optional
        The labels of persons; PERSON and PER by default.
    anonymised : str
        What to do with 王某: `drop` the sentence, or `keep` it.
    surname_title : str
        What to do with 李先生 and 王阿姨: `drop` or `keep`.
    familiar : str
        What to do with 小王, 老李 and 阿强: `drop` or `keep`.
    """
    rules = read_rules(
        surnames, titles, anonymised=anonymised, surname_title=surname_title, familiar=familiar
    )
    persons = frozenset(labels or ("PERSON", "PER"))
    nlp = load_pipeline(pipeline, persons)

    def check(sentences: list[str], starts: list[int], ends: list[int]) -> Iterator[Finding | None]:
        documents = nlp.pipe(sentences, batch_size=256)
        for sentence, start, end, document in zip(sentences, starts, ends, documents, strict=True):
            names = [(e.start_char, e.end_char) for e in document.ents if e.label_ in persons]
            yield judge_names(sentence, (start, end), names, rules)

    columns = ("sentence", "surface_start", "surface_end")
    return write_verdicts_in_batches(keywords, out, check, columns)


def load_pipeline(name: str, persons: frozenset[str]) -> "Language":
    """Load a pipeline that can find persons.

    Raises
    ------
    InputError
        It is not installed, or none of its components has one of the labels `persons`.
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
    if not labels & persons:
        raise InputError(
            f"the spaCy pipeline {name!r} finds none of {', '.join(sorted(persons))}",
            remedy=f"set labels to those of its labels that are persons: {sorted(labels)}",
        )
    return nlp


if __name__ == "__main__":
    from evenhand.core import stage

    stage.run(names_spacy)
