"""Criterion (c): reject sentences in which a word reveals the biological sex.

The table lists such words: 怀孕, 哺乳期, 前列腺. The filter does not check whether they refer to
the person that the keyword denotes.
"""

from evenhand.slguset.patterns import pattern_filter

FILES = ("biology.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "value")
REASONS = {
    "biology": (
        "Biological sex",
        "Criterion (c): it speaks of something bound to biological sex, such as pregnancy.",
    )
}

prepare = pattern_filter("biology", lambda files: lambda occurrence, sentence: True)
