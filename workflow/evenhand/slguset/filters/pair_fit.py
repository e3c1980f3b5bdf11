"""Criterion (a): drop words whose opposite does not fit, or differs in more than gender."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.slguset.patterns import find_patterns, read_patterns
from evenhand.slguset.verdicts import Finding, write_verdicts

REASONS = {
    "pair_fit": (
        "The pair does not fit",
        "Criterion (a): in this slot the two words differ in more than gender.",
    )
}


def pair_fit(*, keywords: Input, words: Input, out: Output) -> dict[str, Any]:
    """Drop sentences in which the keyword's opposite does not fit, or differs in more than gender.

    The table lists words around the keyword: 男儿 (a man of mettle; 女儿 is a daughter), 女王.
    A word counts where it stands over the keyword. The reason is `pair_fit`.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    words : Path
        The table of words (pair_fit.csv).
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
        evidence = [o.text for o in found if o.start <= start and end <= o.end]
        return Finding("pair_fit", evidence) if evidence else None

    columns = ("sentence", "surface", "surface_opposite", "gender", "start", "end")
    return write_verdicts(keywords, out, check, columns)


if __name__ == "__main__":
    stage.run(pair_fit)
