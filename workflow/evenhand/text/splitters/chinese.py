"""Behind 。？！ and their like, with quotation marks repaired (`evenhand.text.sentences`)."""

import re
from collections.abc import Callable

from evenhand.text.sentences import ENDERS, split_sentences

#: How a whole sentence ends: the quotation mark may stand behind the ender.
WHOLE = re.compile(f"[{ENDERS}!…][”’）》」』]*$")


def splitter(language: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a normalised paragraph into sentences."""
    return split_sentences
