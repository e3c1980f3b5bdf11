"""Text without blanks between words: only blanks and control characters are removed."""

import re
import unicodedata
from collections.abc import Sequence

#: Whether blanks stand between words.
BLANKS = False

_REMOVED = re.compile(r"[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\ufeff]+")


def normalise(paragraphs: Sequence[str]) -> str:
    """Return paragraphs, each on a line, in composed form without blanks and control characters."""
    composed = (unicodedata.normalize("NFC", text) for text in paragraphs)
    return "\n".join(_REMOVED.sub("", text) for text in composed)
