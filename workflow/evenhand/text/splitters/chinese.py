"""Behind 。？！ and their like, with quotation marks repaired (`evenhand.text.sentences`)."""

import re
from collections.abc import Callable, Sequence

from evenhand.text.sentences import ENDERS, split_all

#: How a whole sentence ends: the quotation mark may stand behind the ender.
WHOLE = re.compile(
    f"^(?!.*(?:“”|‘’|《[，,]?》|（[，,]*）|「」|『』)).*[{ENDERS}!…][”’）》」』]*$", re.DOTALL
)


def splitter(language: str) -> Callable[[Sequence[str]], list[list[str]]]:
    """Return a function that cuts normalised paragraphs into sentences."""
    return split_all
