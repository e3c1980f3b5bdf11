"""IIFR for texts: similar predictions for similar cases (Journal of Software 34(9), 2023, eq. 7).

    loss = mean L + weight mean over pairs of JS(p_i, p_j)

with the Jensen-Shannon divergence in nats of the predictions for two cases; in a multi-label task,
the mean over the labels of the divergence of two Bernoulli distributions. Gradients go to both
sides of a pair. ``pairs`` selects the partner of a case:

- ``cosine``: its nearest neighbour in the batch by the features, without gradients through them, if
  it is near enough: above the cosine ``epsilon``, or (``epsilon_unit=quantile``) among the nearest
  1 - epsilon of the batch. Random batches of texts contain few near pairs;
- ``graph``: the nearest one in the batch of its neighbours among all training cases
  (`Batch.partner`); batches keep neighbours together. Depending on its unit, `epsilon` limits
  neighbours to those above a cosine, or above the epsilon quantile of the training cases' cosines
  to their nearest neighbours;
- ``counterfactual``: the same text with swapped words (`Batch.partner_logits`), after the
  counterfactual logit pairing of Garg et al. 2019. `epsilon` has no effect.

The paper does not cover text. On its tables it uses the ``sum`` over pairs with weight 1 and the
cosine 0.8, so that the effect of the weight depends on the number of pairs in a batch. Here the
default is the mean, with our weight of 10.
"""

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.learning.individual_loss import TIE, js_divergence, near_enough, nearest, over_pairs
from evenhand.learning.objective import Batch, Options, State, full_precision, losses_of

TITLE = "IIFR for texts"
AIM = "ifr_p"
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
    """Return an empty state.

    Raises
    ------
    InputError
        An option has an invalid value.
    """
    for key, choices in _CHOICES.items():
        if options[key] not in choices:
            problem = f"the option {key}={options[key]} of iifr_text is no choice"
            raise InputError(problem, remedy=f"choose {' or '.join(choices)}")
    if options["epsilon"] > 1:
        problem = f"the option epsilon={options['epsilon']} of iifr_text is above 1"
        raise InputError(problem, remedy="give a cosine or a quantile")
    return {}


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the mean loss plus the weighted divergence of the pairs."""
    log_p = _log_probabilities(batch.logits, batch.task)
    log_partner, has_pair = _pairs(batch, log_p, options)
    divergence = js_divergence(log_p, log_partner)
    if batch.task == "multi_label":
        divergence = divergence.mean(dim=-1)
    total = over_pairs(divergence, has_pair, options["reduction"])
    return losses_of(batch).mean() + options["weight"] * total, state


def _pairs(batch: Batch, log_p: Tensor, options: Options) -> tuple[Tensor, Tensor]:
    """Return the partners' predictions, shaped as `log_p`, and 1 for cases with a partner (n,)."""
    if options["pairs"] == "counterfactual":
        log_partner = _log_probabilities(batch.partner_logits, batch.task)
        return log_partner, batch.has_partner.to(log_p.dtype)
    if options["pairs"] == "graph":
        return log_p[batch.partner.clamp(min=0)], (batch.partner >= 0).to(log_p.dtype)
    similarity, partner = nearest(full_precision(batch.features.detach()))
    epsilon = options["epsilon"]
    if options["epsilon_unit"] == "quantile":
        epsilon = _quantile(similarity, epsilon) - TIE  # ties with the last one have pairs too
    has = near_enough(similarity, similarity.new_ones(1) * epsilon, "cosine")[0]
    return log_p[partner], has.to(log_p.dtype)


def _quantile(values: Tensor, q: float) -> Tensor:
    """Return torch.quantile of (n,), by operations that vmap supports."""
    ordered = values.sort().values
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _log_probabilities(logits: Tensor, task: str) -> Tensor:
    """Return log-probabilities (n, classes), or (n, classes, 2) in a multi-label task."""
    logits = full_precision(logits)
    if task == "multi_class":
        return logits.log_softmax(dim=-1)
    return torch.stack([functional.logsigmoid(logits), functional.logsigmoid(-logits)], dim=-1)
