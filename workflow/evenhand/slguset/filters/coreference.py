"""Criterion (b): reject sentences in which another word reveals the keyword's gender.

The table lists such words: 兄弟俩 beside 弟弟, 小伙子 beside 他. Whether both refer to the same
person is not checked. A word counts where it does not overlap the keyword.
"""

from evenhand.slguset.patterns import pattern_filter

FILES = ("coreference.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "gender", "surface_start", "surface_end")
REASONS = {
    "coreference": (
        "Another gender term",
        "Criterion (b): a second word may tell the gender of the same person, as 兄弟俩.",
    )
}

prepare = pattern_filter(
    "coreference", lambda word, start, end: word.end <= start or end <= word.start
)
