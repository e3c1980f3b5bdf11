"""CFAIR: one adversary per label, and a balanced label loss (Zhao et al. 2020)."""

from evenhand.learning.method import MUS, Method, conditional_cross_entropy

METHOD = Method(
    title="CFAIR",
    mus=MUS,
    aim="deo",
    heads=lambda groups: (groups, groups),
    adversary_loss=conditional_cross_entropy,
    balanced_labels=True,
)
