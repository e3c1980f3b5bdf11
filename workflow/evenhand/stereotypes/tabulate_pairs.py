"""Stage: compute all tables of a set of pairs, one per module of `evenhand.stereotypes.tables`."""

from typing import Annotated, Any

from evenhand.core.families import load_members
from evenhand.core.stage import Delta, Input, Output, Range, Source, checked
from evenhand.core.tables import tabulate
from evenhand.stereotypes import tables
from evenhand.stereotypes.read_scores import PairStudy, read_models, read_pair_set


@checked
def tabulate_pairs(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    nulls: list[Source] | None = None,
    agreeing: Annotated[list[int], Range(least=0)] | None = None,
    delta: Delta = 5.0,
) -> dict[str, Any]:
    """Compute the tables of a set of pairs from the scores of its models.

    Parameters
    ----------
    pairs : Path
        The set (Parquet, from `read_pairs`).
    scores, gates : list of Path
        The scores of each model, and its validity check, from `score_pairs`. The files are
        named after the models.
    out : Path
        The folder of the tables; see `evenhand.core.tables`.
    nulls : list of Path, optional
        The scores of untrained models, from `score_pairs`. No verdict depends on them.
    agreeing : list of int, optional
        Numbers of annotators who must name the bias type of a pair for it to count as biased; by
        default 3, 4 and 5.
    delta : float
        The smallest preference that matters, in percentage points.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates, nulls or ())
    study = PairStudy(pair_set, models, delta, tuple(agreeing or (3, 4, 5)))
    untrusted = {model.name: model.gate["reason"] for model in models if not model.trusted}
    return tabulate(out, load_members(tables), study) | {"untrusted": untrusted}
