"""IIFR with similarities that do not use the attribute."""

from evenhand.learning.individual_loss import Batch, IndividualLoss, Pairs, nearest


def pairs(batch: Batch) -> Pairs:
    """Return the nearest neighbours by the features that do not carry the attribute."""
    carriers = set(batch.columns)
    keep = [i for i in range(batch.x.shape[-1]) if i not in carriers]
    similarity, partner = nearest(batch.x[..., keep])
    return Pairs(partner, similarity)


LOSS = IndividualLoss(pairs, takes_epsilon=True)
