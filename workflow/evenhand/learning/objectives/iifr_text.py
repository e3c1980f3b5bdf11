"""IIFR for texts: similar cases get similar answers (after Journal of Software 34(9), 2023, eq. 7).

    loss = mean L + weight mean over pairs of JS(p_i, p_j)

with the Jensen-Shannon divergence in nats of two cases' answers; for several labels a case, the
mean over the labels of that of two Bernoulli distributions. Both sides of a pair learn from it.
``pairs`` says whom a case is compared with:

- ``cosine``: its nearest in the batch by the features, which it is not to learn from, if that is
  near enough: above the cosine ``epsilon``, or (``epsilon_unit=quantile``) among the nearest
  1 - epsilon of the batch. Random batches of texts hold few pairs that are really near;
- ``graph``: the nearest of its neighbours among all training cases that the batch holds
  (`Batch.partner`), and batches hold neighbours together. `epsilon` says which count as near:
  by its unit those above a cosine, or those as near as the nearest one of the nearest
  1 - epsilon of the training cases;
- ``counterfactual``: the same text with swapped words (`Batch.partner_logits`), after the
  counterfactual logit pairing of Garg et al. 2019. `epsilon` has no effect then.

The paper has no text. On its tables it takes the ``sum`` over pairs with weight 1 and the cosine
0.8, so that the force of the weight depends on how many pairs a batch happens to hold. Here the
mean is the default, and 10 our choice.
"""

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.learning.divergences import js_divergence
from evenhand.learning.objective import (
    Batch,
    Options,
    State,
    at_least_one,
    full_precision,
    losses_of,
)
from evenhand.learning.pair_sources import TIE, near_enough, nearest

NAME = "iifr_text"
TITLE = "IIFR"
SAMPLER = "shuffle"
USES_GROUPS = False
OPTIONS: dict[str, float | bool | str] = {
    "weight": 10.0,
    "pairs": "cosine",
    "epsilon": 0.8,
    "epsilon_unit": "quantile",
    "reduction": "mean",
}
FEATURES = {"pairs": "cosine"}

_CHOICES = {
    "pairs": ("cosine", "graph", "counterfactual"),
    "epsilon_unit": ("quantile", "cosine"),
    "reduction": ("mean", "sum"),
}


def initial_state(present: Tensor, options: Options) -> State:
    """Nothing.

    Raises
    ------
    InputError
        An option has a value that is no choice.
    """
    for key, choices in _CHOICES.items():
        if options[key] not in choices:
            raise InputError(
                f"the option {key}={options[key]} of {NAME} is no choice",
                remedy=f"choose {' or '.join(choices)}",
            )
    if options["epsilon"] > 1:
        raise InputError(
            f"the option epsilon={options['epsilon']} of {NAME} is above 1",
            remedy="give a cosine or a quantile",
        )
    return {}


def modules(features: int, groups: int, options: Options) -> None:
    """Nothing."""


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """The mean loss and the weighted divergence of the pairs.

    Raises
    ------
    InputError
        The batch does not carry the pairs that are asked for.
    """
    log_p = _log_probabilities(batch.logits, batch.task)
    log_partner, has_pair = _pairs(batch, log_p, options)
    divergence = js_divergence(log_p, log_partner)
    if batch.task == "multi_label":
        divergence = divergence.mean(dim=-1)
    total = (divergence * has_pair).sum()
    if options["reduction"] == "mean":
        total = total / at_least_one(has_pair.sum())
    return losses_of(batch).mean() + options["weight"] * total, state


def _pairs(batch: Batch, log_p: Tensor, options: Options) -> tuple[Tensor, Tensor]:
    """The partners' answers, shaped as `log_p`, and 1 for those who have one (n,)."""
    if options["pairs"] == "counterfactual":
        if batch.partner_logits is None:
            raise _lacking("counterfactual", "texts with swapped genders")
        has = batch.has_partner
        if has is None:
            has = torch.ones(log_p.shape[0], device=log_p.device)
        return _log_probabilities(batch.partner_logits, batch.task), has.to(log_p.dtype)
    if options["pairs"] == "graph":
        if batch.partner is None:
            raise _lacking("graph", "neighbours")
        return log_p[batch.partner.clamp(min=0)], (batch.partner >= 0).to(log_p.dtype)
    similarity, partner = nearest(full_precision(batch.features.detach()))
    epsilon = options["epsilon"]
    if options["epsilon_unit"] == "quantile":
        epsilon = _quantile(similarity, epsilon) - TIE  # whoever is as near as the last has a pair
    has = near_enough(similarity, similarity.new_ones(1) * epsilon, "cosine")[0]
    return log_p[partner], has.to(log_p.dtype)


def _quantile(values: Tensor, q: float) -> Tensor:
    """torch.quantile of (n,), in operations that vmap knows."""
    ordered = values.sort().values
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _log_probabilities(logits: Tensor, task: str) -> Tensor:
    """Shape (n, classes), or (n, classes, 2) for several labels a case."""
    logits = full_precision(logits)
    if task == "multi_class":
        return logits.log_softmax(dim=-1)
    return torch.stack([functional.logsigmoid(logits), functional.logsigmoid(-logits)], dim=-1)


def _lacking(pairs: str, what: str) -> InputError:
    return InputError(
        f"the batches carry no {what}, which pairs={pairs} of {NAME} needs",
        remedy="choose pairs=cosine, or train with a stage that gives them",
    )
