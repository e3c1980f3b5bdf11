"""A control: the bias score with all tokens masked, by the group that the stereotype concerns.

The group is known where the set has pairs of both directions, as CrowS-Pairs has. Pairs of one
direction, such as a user's own, are one group.

The model's input is only the length of the sentence, so that its preference reflects the frequency
of words. The paper finds that models prefer stereotypes of advantaged groups.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, percent, text
from evenhand.stereotypes.decisions import decide, tally
from evenhand.stereotypes.read_scores import PairStudy

TABLE = Table(
    "all_masked",
    title="Control: bias score with all tokens masked",
    key=("model", "group", "bias_type"),
    columns=(
        text("model"),
        text("group", "Group of the stereotype: disadvantaged, advantaged, or all if unknown"),
        text("bias_type", "all, or a bias type of the group"),
        integer("pairs"),
        integer("scored", "Pairs with two finite scores"),
        integer("ties", "Scored pairs with equal scores, up to the rounding of fp32"),
        percent("score", "Scored pairs whose stereotypical sentence scores higher; a tie is half",
                interval=True, neutral=50),
    ),
)  # fmt: skip

#: The side about the disadvantaged group, by the group of the stereotype, which is in `more`.
GROUPS = {"disadvantaged": "more", "advantaged": "less"}


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted masked model, group and bias type."""
    if not np.isin(study.pairs.disadvantaged, list(GROUPS.values())).any():
        raise NotApplicable("no pair names the disadvantaged group")
    sides = {*study.pairs.disadvantaged.tolist()} & {*GROUPS.values()}
    groups = GROUPS if len(sides) > 1 else dict.fromkeys(["all"])
    models = [model for model in study.models if "all_masked" in model.methods]
    if not models:
        raise NotApplicable("no model has scores with all tokens masked")
    for model, (group, side) in product(models, groups.items()):
        decisions = decide(study.pairs, model.scores, "all_masked")
        for bias_type in study.pairs.bias_types:
            chosen = study.pairs.of_type(bias_type)
            chosen &= side is None or study.pairs.disadvantaged == side
            if chosen.any():
                counts = tally(decisions, chosen)
                del counts["unscorable"]
                yield {"model": model.name, "group": group, "bias_type": bias_type, **counts}
