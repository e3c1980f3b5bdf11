"""ERM on batches in which all groups are equally frequent: the mean loss.

FairLex (Chalkidis et al. 2022, section 4) calls it ERM+GS.
"""

from evenhand.learning.objectives.erm import OPTIONS, initial_state, loss, modules

__all__ = ["NAME", "OPTIONS", "SAMPLER", "TITLE", "USES_GROUPS", "initial_state", "loss", "modules"]

NAME = "erm_group_uniform"
TITLE = "ERM, equal groups"
SAMPLER = "group_uniform"
USES_GROUPS = True
AIM = "worst_group"
