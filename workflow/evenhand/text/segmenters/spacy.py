"""Words and blanks by the tokenizer of spaCy for a language."""

from collections.abc import Callable

from evenhand.text.rule_parts import rule_parts


def segmenter(language: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a sentence into words and blanks, which joined are it."""
    tokenizer = rule_parts(language).tokenizer

    def segment(text: str) -> list[str]:
        return [
            part for token in tokenizer(text) for part in (token.text, token.whitespace_) if part
        ]

    return segment
