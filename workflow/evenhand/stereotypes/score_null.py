"""What the methods find where there is nothing to find: models with random weights.

A model of the same architecture and with the same tokenizer, but with weights that were never
trained, has learned no bias. How far its bias score lies from 50 comes from the set alone: from
few distinct swaps, and from sentences of unequal length.
"""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Input, Output, Setting
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.scoring.models import family_of, random_causal_lm, random_masked_lm
from evenhand.stereotypes.passes import ACCURACY_PASS, choose_methods, passes_for
from evenhand.stereotypes.rows import score_row
from evenhand.stereotypes.scores import NULL_SCORES
from evenhand.stereotypes.scoring import blank_methods, check_pairs, score_pairs_of


def score_null(
    *,
    pairs: Input,
    out: Output,
    name: str,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    seeds: int = 10,
    methods: list[str] | None = None,
    dtype: str = "fp32",
    tokens_per_batch: int = 2048,
    threads: Annotated[int, Setting] = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Score a set of pairs with models of random weights, one for each seed.

    Parameters
    ----------
    pairs : path
        Parquet with the columns of `evenhand.stereotypes.pairs.PAIRS`.
    out : path
        Parquet, the columns of `evenhand.stereotypes.scores.NULL_SCORES`: a block of rows for
        each seed, each as `score_pairs` writes them, original variant only. Without a seed, or
        without a method for this kind of model, there are no rows.
    name : str
        What the model is called.
    model : path, optional
        Folder of the model, of which configuration and tokenizer are read. Either this or
        `hub_name`.
    hub_name : str, optional
        Name of the model on the Hugging Face hub.
    revision : str, optional
        Branch, tag or commit on the hub.
    seeds : int
        The number of models; their seeds are 0, 1, and so on.
    methods : list of str, optional
        As in `score_pairs`. The token accuracy is counted only where a method needs its pass.
    dtype : str
        Number format that the models run in: fp32 or bf16. In bf16 nothing is read again: the
        scores of random models are a distribution, and no single decision of theirs matters.
    tokens_per_batch : int
        The most tokens in a batch.
    threads : int
        CPU threads; their number changes no bit of the result.
    device : str
        cpu, cuda or cuda:N; results agree to 1e-5 between devices.
    """
    import torch
    from tqdm import tqdm

    if (model is None) == (hub_name is None):
        raise InputError("a model is a folder or a hub name", remedy="give one of them, not both")
    if seeds < 0:
        raise InputError(f"the number of seeds is {seeds}", remedy="give 0 or more")
    total = check_pairs(pairs)
    source = model if model is not None else hub_name
    family = family_of(source, revision=revision)
    draw = partial(
        random_masked_lm if family == "masked" else random_causal_lm,
        source,
        revision=revision,
        device=device,
        dtype=dtype,
    )
    chosen = choose_methods(methods, family)
    torch.set_num_threads(1)
    scratch = scratch_folder()
    used = seeds if chosen else 0
    scored = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal scored
        bar = tqdm(range(used), desc=f"{name}, random", unit=" seeds", mininterval=5, ascii=True)
        for seed in bar:
            lm = draw(seed)
            blank = blank_methods(lm, chosen)
            scored_by = [method for method in chosen if method not in blank]
            for chunk in score_pairs_of(
                lm,
                read_rows(pairs),
                methods=scored_by,
                passes=passes_for(family, scored_by),
                tokens_per_batch=tokens_per_batch,
                threads=threads,
                scratch=scratch,
            ):
                for row in chunk:
                    scored += row.excluded is None
                    yield {"seed": seed, **score_row(row, scored_by, ACCURACY_PASS[family])}

    write_table(out, NULL_SCORES, rows())
    return {"pairs": total, "seeds": used, "methods": chosen, "sentences_scored": scored}


if __name__ == "__main__":
    stage.run(score_null)
