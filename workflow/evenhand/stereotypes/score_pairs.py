"""Score every sentence of a set of pairs with one language model, masked or causal.

See `evenhand.stereotypes.scoring`. A sentence that cannot be scored stays in the table with a
reason (`evenhand.stereotypes.scores.EXCLUDED`), which the gate counts. The gate also contains the
result of the model's validity check; if it failed, `reason` is one of:

- `missing_weights`: the checkpoint lacks weights, which are random;
- `fill_mask_not_above_baseline`, `next_token_not_above_baseline`: token accuracy on the set's own
  sentences is not significantly above the majority-class baseline;
- `weights_not_finite`: the model fails this check, and weights are NaN or infinite;
- `few_scored`: too few pairs have a score;
- `broken_model`: the model fails on its inputs (see `error`), so that no pair has a score, and no
  model with random weights is run.

A method by which the model cannot be scored is blank in every row; the gate's `blank_methods` has
the reason by method (`evenhand.stereotypes.scores.NO_VALUE`).
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.files import atomic
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Natural, Output, Range, Setting, Share, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import FORM, read_rows, write_table
from evenhand.scoring.describe import describe
from evenhand.scoring.model_files import model_source
from evenhand.scoring.models import BrokenModelError, family_of, load_language_model
from evenhand.scoring.validity import NOTHING_CHECKED, check_model, count_unknown, judge
from evenhand.stereotypes.rows import (
    ACCURACY_PASS,
    PASSES,
    Row,
    choose_methods,
    passes_for,
    score_row,
    token_rows,
    unread_rows,
)
from evenhand.stereotypes.scores import EXCLUDED, NULL_SCORES, SCORES, TOKENS
from evenhand.stereotypes.scoring import (
    Exact,
    blank_methods,
    calibrated,
    check_pairs,
    score_pairs_of,
    spread,
)

#: Number of pairs for calibrating the margin of near ties.
CALIBRATION_PAIRS = 100


@checked
def score_pairs(
    *,
    pairs: Input,
    out: Output,
    tokens: Output,
    gate: Output,
    null: Output,
    name: str,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    methods: list[str] | None = None,
    dtype: str = "fp32",
    tokens_per_batch: Count = 2048,
    allow_missing: bool = False,
    shuffle: bool = False,
    null_seeds: Natural = 0,
    null_methods: list[str] | None = None,
    sanity_sentences: Count = 300,
    least_scored: Share = 0.5,
    seed: Natural = 0,
    threads: Annotated[int, Setting, Range(least=1)] = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Score every sentence of a set of pairs with one language model, masked or causal.

    Parameters
    ----------
    pairs : path
        Parquet with the columns of `evenhand.stereotypes.pairs.PAIRS`.
    out : path
        Parquet, the columns of `evenhand.stereotypes.scores.SCORES`: one row per pair, side
        and variant, in the order of the pairs. Natural logarithms.
    tokens : path
        Parquet, the columns of `evenhand.stereotypes.scores.TOKENS`: the token scores, one row
        per sentence and pass.
    gate : path
        JSON: the model's identity, its check on ordinary sentences, unknown tokens, exclusions,
        near ties, and whether its scores can be trusted.
    null : path
        Parquet, the columns of `evenhand.stereotypes.scores.NULL_SCORES`: the scores of models
        of the same architecture and tokenizer with random weights, a block of rows per seed,
        original variant only. They have learned no bias: their scores deviate from 50 due to the
        set alone, to few distinct swaps and to sentences of unequal length. In bf16, near ties are
        not scored again, because only the distribution of their scores matters.
    name : str
        The model's name in tables and in the report.
    model : path, optional
        Folder of the model (Hugging Face layout, safetensors). Either this or `hub_name`.
    hub_name : str, optional
        Name of the model on the Hugging Face hub.
    revision : str, optional
        Branch, tag or commit on the hub.
    methods : list of str, optional
        Names of `evenhand.scoring.methods.METHODS`; those for the other kind of model are
        ignored. By default all.
    dtype : str
        Number format of the model: fp32 or bf16. With bf16, near ties are scored again in fp32,
        so that no decision differs from that of fp32.
    tokens_per_batch : int
        Maximum number of tokens in a batch.
    allow_missing : bool
        Whether to score a model whose checkpoint lacks weights (they are random). Such a model is
        not trusted.
    shuffle : bool
        Whether to score `more` and `less` also with their words in a random order.
    null_seeds : int
        Number of models with random weights; their seeds are 0, 1, and so on.
    null_methods : list of str, optional
        The methods for these models; by default `methods`.
    sanity_sentences : int
        Number of sentences of the set, evenly spaced, for the validity check.
    least_scored : float
        A model that scores a smaller share of the pairs is not trusted.
    seed : int
        Seed of the check's choice of tokens, and of the random word orders.
    threads : int
        CPU threads; their number does not change any bit of the result.
    device : str
        cpu, cuda or cuda:N; results agree to 1e-5 between devices.
    """
    import torch
    from tqdm import tqdm

    total = check_pairs(pairs)
    source = model_source(model, hub_name)
    family = family_of(source, revision=revision)
    chosen = choose_methods(methods, family)
    if not chosen:
        problem = f"none of the methods {', '.join(methods)} is for a {family} model"
        raise InputError(problem, remedy=f"add one of {', '.join(choose_methods(None, family))}")
    torch.set_num_threads(1)
    load = partial(load_language_model, source, family, revision=revision, device=device)
    options: dict[str, Any] = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    shuffle_seed = seed if shuffle else None
    lm, exact, blank, tally = None, None, {}, _Tally()
    try:
        lm = load(dtype=dtype, allow_missing=allow_missing)
        blank = blank_methods(lm, chosen)
        scored_by = [method for method in chosen if method not in blank]
        sample = spread(pairs, total, sanity_sentences)
        # `more` and `less` alternately
        sentences = [pair[("more", "less")[i % 2]] or "" for i, pair in enumerate(sample)]
        check = check_model(lm, list(filter(str.strip, sentences)), seed=seed, **options)
        options["scratch"] = scratch_folder()
        if dtype != "fp32":
            exact = calibrated(
                lm,
                load(dtype="fp32", allow_missing=allow_missing),
                spread(pairs, total, CALIBRATION_PAIRS),
                methods=scored_by,
                **options,
            )
        with (
            atomic(tokens) as partial_file,
            pq.ParquetWriter(partial_file, TOKENS, **FORM) as store,
            tqdm(total=total, desc=name, unit=" pairs", unit_scale=True, ascii=True) as bar,
        ):

            def scored() -> Iterator[dict[str, Any]]:
                for rows in score_pairs_of(
                    lm,
                    read_rows(pairs),
                    methods=scored_by,
                    passes=passes_for(family, scored_by, accuracy=True),
                    shuffle_seed=shuffle_seed,
                    exact=exact,
                    progress=bar.update,
                    **options,
                ):
                    tally.add(rows)
                    if token_scores := [scores for row in rows for scores in token_rows(row)]:
                        store.write_batch(pa.RecordBatch.from_pylist(token_scores, TOKENS))
                    for row in rows:
                        yield score_row(row, scored_by, ACCURACY_PASS[family])

            write_table(out, SCORES, scored())
        verdict = judge(lm, check, tally.pairs_scored, least_scored * total)
    except BrokenModelError as error:
        exact, blank, tally, null_seeds = None, {}, _Tally(), 0
        rows = list(unread_rows(read_rows(pairs), shuffle_seed=shuffle_seed))
        tally.add(rows)
        write_table(out, SCORES, (score_row(row, [], ACCURACY_PASS[family]) for row in rows))
        write_table(tokens, TOKENS, [])
        check = dict(NOTHING_CHECKED)
        verdict = {"trusted": False, "reason": "broken_model", "check": check}
        verdict["error"] = error.problem
    record = {**(describe(lm) if lm else {}), **verdict, **tally.counts(exact)}
    record = {"model": name, "family": family, "hub_name": hub_name, **record}
    record |= {"methods": chosen, "blank_methods": blank}
    record |= {"shuffled_seed": shuffle_seed, "pairs": total}
    write_json(gate, record)
    lm = exact = None  # free their memory
    null_chosen = choose_methods(null_methods or methods, family)
    seeds = range(null_seeds if null_chosen else 0)
    null_scored = 0

    def null_rows() -> Iterator[dict[str, Any]]:
        nonlocal null_scored
        for seed in tqdm(seeds, f"{name}, random", unit=" seeds", ascii=True, disable=not seeds):
            lm = load(dtype=dtype, seed=seed)
            blank = blank_methods(lm, null_chosen)
            scored_by = [method for method in null_chosen if method not in blank]
            passes = passes_for(family, scored_by)
            for rows in score_pairs_of(
                lm, read_rows(pairs), methods=scored_by, passes=passes, **options
            ):
                for row in rows:
                    null_scored += row.excluded is None
                    yield {"seed": seed, **score_row(row, scored_by, ACCURACY_PASS[family])}

    write_table(null, NULL_SCORES, null_rows())
    counts = ("pairs", "pairs_scored", "sentences", "scored", "excluded", "trusted", "reason")
    return {
        **{key: record[key] for key in counts},
        **{key: check[key] for key in ("accuracy", "baseline")},
        **{"null_seeds": len(seeds), "null_scored": null_scored},
    }


class _Tally:
    """Counts over all rows, for the gate."""

    def __init__(self) -> None:
        # sentences by the reason of their exclusion; None: they have a score
        self.sentences = {"original": Counter(), "shuffled": Counter()}
        self.pairs_scored = self.rescored_pairs = self.with_unknown = 0
        self.unknown: Counter[str] = Counter()
        self.rescored: Counter[str] = Counter()

    def add(self, rows: list[Row]) -> None:
        """Count the rows of some pairs; all rows of a pair must be together."""
        pairs: dict[str, list[Row]] = {}
        for row in rows:
            self.sentences[row.variant][row.excluded] += 1
            if row.variant == "original":
                pairs.setdefault(row.pair["pair_id"], []).append(row)
                unknown = row.sentence.unknown if row.sentence is not None else []
                self.with_unknown += bool(unknown)
                self.unknown.update(unknown)
        for sides in pairs.values():
            self.pairs_scored += not any(r.excluded for r in sides if r.side != "unrelated")
            passes = {name for row in sides for name in row.rescored}
            self.rescored.update(passes)
            self.rescored_pairs += bool(passes)

    def counts(self, exact: Exact | None) -> dict[str, Any]:
        """Return the counts for the gate's record."""
        original, shuffled = self.sentences["original"], self.sentences["shuffled"]
        counts = {
            "pairs_scored": self.pairs_scored,
            "sentences": original.total(),
            "scored": original[None],
            "excluded": {reason: original[reason] for reason in EXCLUDED},
            "shuffled": shuffled.total(),
            "shuffled_scored": shuffled[None],
            "shuffled_excluded": {reason: shuffled[reason] for reason in EXCLUDED},
            **count_unknown(self.with_unknown, self.unknown),
        }
        if exact is None:
            keys = ("rescored_pairs", "rescored_by_pass", "near_tie_margins", "calibrated_on")
            return counts | dict.fromkeys(keys)
        by_pass = {name: self.rescored[name] for name in PASSES if name in self.rescored}
        # None if the sample was too small for a margin, so that every pair was scored again
        margins = exact.margins.items()
        finite = {name: margin if math.isfinite(margin) else None for name, margin in margins}
        return counts | {
            "rescored_pairs": self.rescored_pairs,
            "rescored_by_pass": by_pass,
            "near_tie_margins": finite,
            "calibrated_on": exact.pairs,
        }
