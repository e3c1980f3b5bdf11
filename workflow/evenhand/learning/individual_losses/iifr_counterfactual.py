"""An individual loss between each row and its counterfactual, with another attribute value.

After Garg et al. 2019 (counterfactual logit pairing, arXiv 1809.10610), with IIFR's divergence.
"""

import torch

from evenhand.learning.individual_loss import Batch, IndividualLoss, Pairs


def pairs(batch: Batch) -> Pairs:
    """Return all rows with another attribute value, drawn for each row and step if several."""
    values = batch.codes.shape[1]
    flipped = batch.x.clone()
    for i, draw in enumerate(batch.draws):
        shifts = torch.from_numpy(draw.integers(1, values, size=batch.x.shape[1]))
        flipped[i][:, batch.columns] = batch.codes[i][(batch.a[i] + shifts) % values]
    return Pairs(flipped)


LOSS = IndividualLoss(pairs)
