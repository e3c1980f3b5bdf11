"""Criterion (b): drop sentences in which another word tells the gender that the keyword tells."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.slguset.patterns import find_patterns, read_patterns
from evenhand.slguset.verdicts import Finding, write_verdicts

REASONS = {
    "coreference": (
        "Another gender term",
        "Criterion (b): a second word may tell the gender of the same person, as 兄弟俩.",
    )
}


def coreference(*, keywords: Input, words: Input, out: Output) -> dict[str, Any]:
    """Drop sentences in which another word tells the gender that the keyword tells.

    The table lists such words: 兄弟俩 beside 弟弟, 小伙子 beside 他. Whether both mean the same
    person is not looked at. A word counts where it does not stand over the keyword. The reason
    is `coreference`.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    words : Path
        The table of words (coreference.csv).
    out : Path
        The verdicts.
    """
    table = read_patterns(words)

    def check(
        sentence: str, surface: str, surface_opposite: str, gender: str, start: int, end: int
    ) -> Finding | None:
        found = find_patterns(
            sentence, table, surface=surface, surface_opposite=surface_opposite, gender=gender
        )
        evidence = [o.text for o in found if o.end <= start or end <= o.start]
        return Finding("coreference", evidence) if evidence else None

    columns = ("sentence", "surface", "surface_opposite", "gender", "surface_start", "surface_end")
    return write_verdicts(keywords, out, check, columns)


if __name__ == "__main__":
    stage.run(coreference)
