"""What the methods measure where there is no bias: models with random weights.

A model of the same architecture and with the same tokenizer, but with weights that were never
trained, has learned no bias. How far its bias score lies from 50 comes from the set alone: from
few distinct swaps, and from sentences of unequal length.
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
    """Score a set of pairs with models of random weights, one for each seed.

    Parameters
    ----------
    pairs : path
        Parquet with the columns of `evenhand.stereotypes.pairs.PAIRS`.
    out : path
        Parquet, the columns of `evenhand.stereotypes.scores.NULL_SCORES`: a block of rows for
        each seed, each as `score_pairs` writes them, original variant only. Without a seed, or
        without a method for this kind of model, there are no rows.
    source : path or str
        Folder or hub name of the model, of which configuration and tokenizer are read.
    family : str
        masked or causal.
    seeds : int
        The number of models; their seeds are 0, 1, and so on.
    methods : list of str, optional
        As in `score_pairs`. The token accuracy is counted only where a method needs its pass.
    name, revision, device
        As in `score_pairs`.
    dtype : str
        Number format that the models run in: fp32 or bf16. In bf16 nothing is read again: the
        scores of random models are a distribution, and no single decision of theirs matters.
    **options
        See `score_pairs_of`.

    Returns
    -------
    dict
        null_seeds, null_scored: the sentences that have a score.
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
