"""ALFR: an adversary predicts the group from the features (Edwards and Storkey 2016).

Trained by gradient reversal and without their reconstruction term, as in the code of CFAIR.
"""

from evenhand.learning.method import MUS, Method, attribute_cross_entropy

METHOD = Method(
    title="ALFR",
    mus=MUS,
    aim="ddp",
    heads=lambda groups: (groups,),
    adversary_loss=attribute_cross_entropy,
)
