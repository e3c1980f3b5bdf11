"""Criterion (a): reject keywords whose opposite does not fit, or differs in more than gender.

The table lists words around the keyword: 男儿 (a man of mettle; 女儿 is a daughter), 女王.
A word counts where it contains the keyword.
"""

from evenhand.slguset.patterns import pattern_filter

FILES = ("pair_fit.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "gender", "start", "end")
REASONS = {
    "pair_fit": (
        "The pair does not fit",
        "Criterion (a): in this slot the two words differ in more than gender.",
    )
}

prepare = pattern_filter(
    "pair_fit", lambda word, start, end: word.start <= start and end <= word.end
)
