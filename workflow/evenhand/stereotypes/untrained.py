"""Score pairs by models with random weights, which have no learned bias.

They have the same architecture and tokenizer as the model, but untrained weights. Deviations of
their bias scores from 50 are due to the set alone: to few distinct swaps, and to sentences of
unequal length.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.scoring.models import random_causal_lm, random_masked_lm
from evenhand.stereotypes.passes import ACCURACY_PASS, choose_methods, passes_for
from evenhand.stereotypes.rows import score_row
from evenhand.stereotypes.scores import NULL_SCORES
from evenhand.stereotypes.scoring import blank_methods, score_pairs_of


def score_untrained(
    pairs: Path,
    out: Path,
    source: Path | str,
    family: str,
    *,
    seeds: int,
    methods: list[str] | None,
    name: str,
    revision: str | None,
    device: str,
    dtype: str,
    **options: Any,
) -> dict[str, int]:
    """Score a set of pairs by models with random weights, one for each seed.

    Parameters
    ----------
    pairs : path
        Parquet with the columns of `evenhand.stereotypes.pairs.PAIRS`.
    out : path
        Parquet, the columns of `evenhand.stereotypes.scores.NULL_SCORES`: a block of rows for
        each seed, as from `score_pairs`, original variant only. Without a seed, or without a
        method for this kind of model, there are no rows.
    source : path or str
        Folder or hub name of the model, for its configuration and tokenizer.
    family : str
        masked or causal.
    seeds : int
        The number of models; their seeds are 0, 1, and so on.
    methods : list of str, optional
        As in `score_pairs`. The token accuracy is counted only if a method needs its pass.
    name, revision, device
        As in `score_pairs`.
    dtype : str
        Number format of the models: fp32 or bf16. In bf16, near ties are not scored again: only
        the distribution of scores of random models matters, not single decisions.
    **options
        See `score_pairs_of`.

    Returns
    -------
    dict
        null_seeds, and null_scored, the number of sentences with a score.
    """
    from tqdm import tqdm

    if seeds < 0:
        raise InputError(f"the number of seeds is {seeds}", remedy="give 0 or more")
    draw = partial(
        random_masked_lm if family == "masked" else random_causal_lm,
        source,
        revision=revision,
        device=device,
        dtype=dtype,
    )
    chosen = choose_methods(methods, family)
    used = seeds if chosen else 0
    scored = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal scored
        bar = tqdm(range(used), name, unit=" seeds", mininterval=5, ascii=True, disable=not used)
        for seed in bar:
            lm = draw(seed)
            blank = blank_methods(lm, chosen)
            scored_by = [method for method in chosen if method not in blank]
            for chunk in score_pairs_of(
                lm,
                read_rows(pairs),
                methods=scored_by,
                passes=passes_for(family, scored_by),
                **options,
            ):
                for row in chunk:
                    scored += row.excluded is None
                    yield {"seed": seed, **score_row(row, scored_by, ACCURACY_PASS[family])}

    write_table(out, NULL_SCORES, rows())
    return {"null_seeds": used, "null_scored": scored}
