"""Text with blanks between words: runs of white space become one blank, nothing else is lost."""

import re
import unicodedata
from collections.abc import Sequence

#: Whether blanks stand between words.
BLANKS = True

_REMOVED = re.compile("[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\ufeff]+")


def normalise(paragraphs: Sequence[str]) -> str:
    """Return paragraphs in composed form, with single blanks and without control characters.

    Each has a line.
    """
    return "\n".join(
        " ".join(_REMOVED.sub("", unicodedata.normalize("NFC", text)).split())
        for text in paragraphs
    )
