"""ERM on batches in which all groups are equally frequent: the mean loss.

FairLex (Chalkidis et al. 2022, section 4) calls it ERM+GS.
"""

TITLE = "balanced batches"
SAMPLER = "group_uniform"
USES_GROUPS = True
AIM = "worst_group"
