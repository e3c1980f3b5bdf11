"""IIFR: the nearest other person of the batch by cosine.

Journal of Software 34(9), 2023, equation 7 and algorithm 2.
"""

from evenhand.learning.individual_loss import Batch, IndividualLoss, Pairs, nearest


def pairs(batch: Batch) -> Pairs:
    """Return the nearest neighbours by all features, including the attribute."""
    similarity, partner = nearest(batch.x)
    return Pairs(partner, similarity)


LOSS = IndividualLoss(pairs, takes_epsilon=True)
