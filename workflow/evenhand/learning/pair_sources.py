"""Who is nearest to whom in a batch, and who is near enough."""

import torch

#: Cosines that lie nearer to each other differ by rounding alone.
TIE = 1e-6

#: Below every cosine: what somebody without any other in the batch gets.
NOBODY = -2.0


def nearest(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest other row of the same batch by cosine.

    Parameters
    ----------
    x : tensor of float, shape (..., n, d)
        Batches. A row of zeros has the cosine 0 with every other.

    Returns
    -------
    (tensor of float, tensor of int64), both of the shape (..., n)
        The cosine, at most 1, and the number of that row, the first of equals. In a batch of
        one the cosine is `NOBODY`.
    """
    unit = torch.nn.functional.normalize(x, dim=-1)
    cosine = unit @ unit.transpose(-1, -2)
    cosine.diagonal(dim1=-2, dim2=-1).fill_(NOBODY)
    similarity, partner = cosine.max(dim=-1)
    return similarity.clamp(max=1), partner


def near_enough(similarity: torch.Tensor, epsilons: torch.Tensor, unit: str) -> torch.Tensor:
    """Who has a pair: those whose nearest is nearer than a threshold, strictly if it is a cosine.

    Nobody has one who is alone in the batch.

    Parameters
    ----------
    similarity : tensor of float, shape (..., n)
        Cosines of the nearest, by batch.
    epsilons : tensor of float, shape (c,)
        Thresholds.
    unit : str
        ``cosine``: they are cosines; ``quantile``: they are quantiles of the batch's
        similarities (0.8: the nearest fifth has a pair, and with it whoever is as near as the
        last of them, since many people of few features are all alike).

    Returns
    -------
    tensor of float, shape (..., c, n)
        1 for those who have a pair, 0 for the others.
    """
    if unit == "quantile":
        thresholds = torch.quantile(similarity, epsilons, dim=-1).movedim(0, -1) - TIE
    elif unit == "cosine":
        thresholds = epsilons
    else:
        raise ValueError(f"epsilon has no unit {unit}")
    near = similarity[..., None, :] > thresholds[..., None]
    return (near & (similarity > NOBODY)[..., None, :]).to(similarity.dtype)
