"""spaCy's rules of a language, which need no trained pipeline."""

from functools import cache
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from spacy.language import Language


@cache
def rule_parts(language: str) -> "Language":
    """Return a blank pipeline with the tokenizer and the rules for sentences of a language.

    Raises
    ------
    InputError
        spaCy has no rules for the language, or lacks a package that they need.
    """
    import spacy

    try:
        nlp = spacy.blank(language)
    except ImportError as error:
        raise InputError(
            f"spaCy has no rules for the language {language!r}",
            remedy="choose another splitter and segmenter in pack.yaml",
        ) from error
    nlp.add_pipe("sentencizer")
    nlp.max_length = 1 << 30
    return nlp
