"""Reject sentences with a word of the pack's deny list: ship beside she, or a deity.

A row counts for all keywords, or for some pairs or one value. This is criterion (a): in such a
sentence the two words differ in more than the attribute, or speak of no person.
"""

from evenhand.slguset.patterns import pattern_filter

FILES = ("deny_list.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "value")
REASONS = {
    "deny_list": (
        "A word of the deny list",
        "Criterion (a): with such a word the pair differs in more than the attribute.",
    )
}

prepare = pattern_filter("deny_list", lambda files: lambda occurrence, sentence: True)
