"""Text without blanks between words: only blanks and control characters are removed."""

import re
import unicodedata

#: Whether blanks stand between words.
BLANKS = False

_REMOVED = re.compile(r"[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\ufeff]+")


def normalise(text: str) -> str:
    """Return a paragraph in composed form without blanks and control characters."""
    return _REMOVED.sub("", unicodedata.normalize("NFC", text))
