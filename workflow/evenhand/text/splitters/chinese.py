"""Behind 。？！ and their like, with quotation marks repaired (`evenhand.text.sentences`)."""

import re
from collections.abc import Callable

from evenhand.text.sentences import ENDERS, Sentences, split_all

_OPENING = "“‘《（「『"
_EMPTY = "“”|‘’|《[，,]?》|（[，,]*）|「」|『』"
#: How a whole sentence ends: the quotation mark may stand behind the ender.
WHOLE = re.compile(
    f"^(?=.*[{ENDERS}!…][”’）》」』]*$)[^{_OPENING}]*+(?:(?!{_EMPTY})[{_OPENING}][^{_OPENING}]*+)*+$",
    re.DOTALL,
)


def splitter(language: str) -> Callable[[str], Sentences]:
    """Return a function that cuts normalised paragraphs, each on a line, into sentences."""
    return split_all
