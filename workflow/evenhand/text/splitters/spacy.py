"""By the rules of spaCy for a language: its abbreviations (Mr., z. B.) end no sentence."""

import re
from collections.abc import Callable
from itertools import chain

import numpy as np

from evenhand.text.segmenters.spacy import rule_parts
from evenhand.text.sentences import Sentences

#: How a whole sentence ends.
WHOLE = re.compile("[.?!…][\"'”’»«“)\\]]*$")

#: A quotation mark behind a blank opens the next sentence.
_OPENS = re.compile("^(.*[.?!…][^\\w\\s]*)\\s+([\"'“‘„«])$", re.S)
#: How no sentence begins: small, or with the number behind an abbreviation (Art. 5).
_GOES_ON = re.compile("[\"'”’»“)\\]]*[\\s,;:–-]*[a-zß-öø-ÿ]")
_NUMBERED = re.compile("\\b[A-Z]?[a-z]{1,4}\\.$")


def splitter(language: str) -> Callable[[str], Sentences]:
    """Return a function that cuts normalised paragraphs, each on a line, into sentences."""
    nlp = rule_parts(language)

    def split(text: str) -> list[str]:
        parts: list[str] = []
        for sentence_ in nlp(text).sents:
            part = sentence_.text_with_ws
            if parts and (_GOES_ON.match(part) or _is_number(parts[-1], part)):
                parts[-1] += part
            elif parts and (quote := _OPENS.match(parts[-1])):
                parts[-1:] = [quote[1], quote[2] + part]
            else:
                parts.append(part)
        return [sentence for sentence_ in parts if (sentence := sentence_.strip())]

    def split_all(text: str) -> Sentences:
        by_paragraph = [split(paragraph) for paragraph in text.split("\n")]
        sentences = [*chain.from_iterable(by_paragraph)]
        lengths = np.array([*map(len, sentences)], np.intp)
        ends = (lengths + 1).cumsum() - 1
        counts = np.array([*map(len, by_paragraph)], np.intp).cumsum()
        return Sentences("\n".join(sentences), ends - lengths, ends, counts)

    return split_all


def _is_number(before: str, part: str) -> bool:
    return part[0].isdigit() and bool(_NUMBERED.search(before.rstrip()))
