"""Behind 。？！ and their like, with quotation marks repaired (`evenhand.text.sentences`)."""

import re
from collections.abc import Callable, Sequence

from evenhand.text.sentences import ENDERS, Array, split_all

#: How a whole sentence ends: the quotation mark may stand behind the ender.
WHOLE = re.compile(
    f"^(?!.*(?:“”|‘’|《[，,]?》|（[，,]*）|「」|『』)).*[{ENDERS}!…][”’）》」』]*$", re.DOTALL
)


def splitter(language: str) -> Callable[[Sequence[str]], tuple[list[str], Array]]:
    """Return a function that cuts normalised paragraphs into sentences, and counts them."""
    return split_all
