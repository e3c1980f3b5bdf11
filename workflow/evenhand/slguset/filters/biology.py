"""Criterion (c): drop sentences in which a word tells the biological sex."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.slguset.patterns import find_patterns, read_patterns
from evenhand.slguset.verdicts import Finding, write_verdicts

REASONS = {
    "biology": (
        "Biological sex",
        "Criterion (c): it speaks of something bound to biological sex, as 孕期.",
    )
}


def biology(*, keywords: Input, words: Input, out: Output) -> dict[str, Any]:
    """Drop sentences in which a word tells the biological sex.

    The table lists such words: 怀孕, 哺乳期, 前列腺. Whether they are about the person whom the
    keyword means is not looked at. The reason is `biology`.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    words : Path
        The table of words (biology.csv).
    out : Path
        The verdicts.
    """
    table = read_patterns(words)

    def check(sentence: str, surface: str, surface_opposite: str, gender: str) -> Finding | None:
        found = find_patterns(
            sentence, table, surface=surface, surface_opposite=surface_opposite, gender=gender
        )
        return Finding("biology", [o.text for o in found]) if found else None

    return write_verdicts(
        keywords, out, check, ("sentence", "surface", "surface_opposite", "gender")
    )


if __name__ == "__main__":
    stage.run(biology)
