"""LAFTR for demographic parity (Madras et al. 2018), as in the code of CFAIR."""

from evenhand.learning.method import MUS, Method, group_absolute_error

METHOD = Method(
    title="LAFTR-DP",
    mus=MUS,
    aim="ddp",
    heads=lambda groups: (1 if groups == 2 else groups,),
    adversary_loss=group_absolute_error,
)
