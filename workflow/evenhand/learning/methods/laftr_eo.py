"""LAFTR for equalised odds (Madras et al. 2018), as in the code of CFAIR.

The adversary of the original also gets the label as an input; this one does not.
"""

from evenhand.learning.method import MUS, Method, cell_absolute_error

METHOD = Method(
    title="LAFTR-EO",
    mus=MUS,
    aim="deo",
    heads=lambda groups: (1 if groups == 2 else groups,),
    adversary_loss=cell_absolute_error,
)
