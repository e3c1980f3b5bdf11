"""Words and blanks by the tokenizer of spaCy for a language: its rules, no trained pipeline."""

from collections.abc import Callable
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
        problem = f"spaCy has no rules for the language {language!r}"
        raise InputError(problem, remedy="choose another splitter and segmenter") from error
    nlp.add_pipe("sentencizer")
    nlp.max_length = 1 << 30
    return nlp


def segmenter(language: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a sentence into words and blanks, which joined are it."""
    tokenizer = rule_parts(language).tokenizer

    def segment(text: str) -> list[str]:
        return [
            part for token in tokenizer(text) for part in (token.text, token.whitespace_) if part
        ]

    return segment
