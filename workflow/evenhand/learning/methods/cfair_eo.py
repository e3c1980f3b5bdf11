"""CFAIR-EO: CFAIR with the plain label loss, for equalised odds (Zhao et al. 2020)."""

from evenhand.learning.method import MUS, Method, conditional_cross_entropy

METHOD = Method(
    title="CFAIR-EO",
    mus=MUS,
    aim="deo",
    heads=lambda groups: (groups, groups),
    adversary_loss=conditional_cross_entropy,
)
