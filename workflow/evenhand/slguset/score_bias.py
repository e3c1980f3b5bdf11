"""Gender bias of a language model: log p(male word) - log p(female word) per sentence.

A masked model gets each sentence of the dataset with the keyword replaced by masks, and predicts
the male and the female word there; `evenhand.slguset.sentence_bias` describes words of several
tokens. Where the two words have different numbers of tokens, each gets its own number of masks.
The extra token lowers the probability of the longer word, so such pairs compare poorly across
pairs (but well across models). A causal model scores the sentence completed with either word.

In bf16 rounding can change a sign. So a sample of the sentences is scored in bf16 and in fp32.
Every sentence whose |bias| is within the margin of this sample is scored again in fp32, and keeps
that result. The gate has the margin and the count (no margin if the sample is too small: then
every sentence is scored again). This corrects signs only: the number of sentences above a
threshold can differ slightly between bf16 and fp32.

Sentences that cannot be scored stay in the table with a reason in the column `excluded`:

- `too_long`: more tokens than the model takes. Such a sentence is not cut: a cut sentence
  would be scored on another context than the one that the annotators saw.
- `keyword_vanishes`: the tokenizer leaves nothing of the word.
- `context_differs`: in tokens, one sentence is the other with something added.
- `keyword_unknown`: the tokenizer does not know the male or the female word.
- `identical_tokens`: the tokenizer makes the same tokens of both sentences (causal models).
- `keyword_first`: the word is at the very beginning, and the model has no token for the
  beginning of a text, so that it gives the first word no probability (causal models).
- `not_finite`: the model gives no finite number.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Natural, Output, Range, Setting, Share, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import read_columns, read_table_schema, write_table
from evenhand.scoring.describe import describe
from evenhand.scoring.model_files import model_source
from evenhand.scoring.models import CausalLM, MaskedLM, family_of, load_language_model
from evenhand.scoring.precision import calibrate, near_ties
from evenhand.scoring.validity import check_model, count_unknown, judge
from evenhand.slguset.bias_tables import bias_columns
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.sentence_bias import Slot, score_sentences
from evenhand.slguset.surface_pairs import attribute_of

#: The required columns of a data set, beside that of the attribute.
COLUMNS = ["sentence_id", "sentence", "keyword", "opposite", "start", "end"]

#: Sentences scored together: enough to fill batches of one length, few enough for the memory.
SENTENCES_AT_ONCE = 4096

#: Sentences that bf16 is compared with fp32 on.
CALIBRATION_SENTENCES = 512


@checked
def score_bias(
    *,
    dataset: Input,
    out: Output,
    gate: Output,
    name: str,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    log_base: Annotated[float, Range(above=1)] = 10.0,
    dtype: str = "fp32",
    tokens_per_batch: Count = 2048,
    allow_missing: bool = False,
    sanity_sentences: Count = 300,
    least_scored: Share = 0.5,
    seed: Natural = 0,
    threads: Annotated[int, Setting, Range(least=1)] = 1,
    device: Annotated[str, Setting] = "cpu",
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Score every sentence of a dataset for gender bias with one language model.

    Parameters
    ----------
    dataset : path
        Parquet with sentence_id, sentence, keyword, opposite, the attribute, start, end; spans
        where several words of a sentence are exchanged.
    out : path
        Parquet, one row per sentence of the dataset, in its order: sentence_id, log_p_{value}
        (of the word in its slot; of the sentence for a causal model), bias (the first value's less
        the second's: > 0 is male), bias_left_to_right, bias_right_to_left, bias_one_character,
        bias_single_mask (other ways to read a word of several tokens, see
        `evenhand.slguset.sentence_bias`), n_masks, n_masks_opposite (tokens of the keyword and
        of its opposite), has_unk (the sentence beside the keyword holds unknown tokens; null
        if undetermined), excluded (the reason for a missing number, or null).
    gate : path
        JSON: the model's description, the check of its predictions, tokens of the keywords, unknown
        tokens, counts, and whether the numbers are valid.
    name : str
        Name of the model in tables and in the report.
    model : path, optional
        Folder of the model (Hugging Face layout, safetensors). Either this or `hub_name`.
    hub_name : str, optional
        Name of the model on the Hugging Face hub.
    revision : str, optional
        Branch, tag or commit on the hub.
    log_base : float
        Base of all logarithms, above 1; with 10, a bias of 0.3 is a factor of 2.
    dtype : str
        Number format that the model runs in: fp32 or bf16.
    tokens_per_batch : int
        The most tokens in a batch.
    allow_missing : bool
        Score a model whose checkpoint lacks weights (they are random); it is not trusted.
    sanity_sentences : int
        Sentences of the dataset, evenly spread, for the check of the model's predictions.
    least_scored : float
        A model that can score a smaller share of the sentences than this is not trusted.
    seed : int
        Seed of the choice of tokens in the fill-mask check.
    threads : int
        CPU threads; their number changes no bit of the result.
    device : str
        cpu, cuda or cuda:N; results agree to 1e-5 between devices.
    values : list of str, optional
        The values of the attribute; male and female by default.
    """
    import torch
    from tqdm import tqdm

    source = model_source(model, hub_name)
    values = values or [*GENDERS]
    sentences = _read_sentences(dataset, values)
    total = len(sentences)
    torch.set_num_threads(1)
    family = family_of(source, revision=revision)
    options = {"revision": revision, "device": device, "allow_missing": allow_missing}
    load = partial(load_language_model, source, family, **options)

    def spread(count: int) -> list[dict[str, Any]]:
        places = [i * total // count for i in range(count)] if count < total else range(total)
        return sentences.take([*places]).to_pylist()

    running = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    scorer = _Scorer(load, dtype, {"log_base": log_base, "values": values, **running})
    lm = scorer.lm
    ordinary = [row["sentence"] for row in spread(sanity_sentences)]
    check = check_model(lm, ordinary, seed=seed, **running)
    if dtype == "bf16":
        scorer.calibrate(spread(CALIBRATION_SENTENCES))
    excluded, unknown, keywords = Counter(), Counter(), {}
    with_unknown = 0

    def scored() -> Iterator[dict[str, Any]]:
        nonlocal with_unknown
        with tqdm(total=total, desc=name, unit=" sentences", mininterval=5, ascii=True) as bar:
            for begin in range(0, total, SENTENCES_AT_ONCE):
                rows = sentences.slice(begin, SENTENCES_AT_ONCE).to_pylist()
                for row, (result, slots) in zip(rows, scorer.score(rows), strict=True):
                    excluded[result["excluded"]] += 1
                    with_unknown += bool(result["has_unk"])
                    unknown.update(slots[0].unknown if slots else [])
                    for word, slot in zip((row["keyword"], row["opposite"]), slots, strict=False):
                        if word not in keywords and not row.get("spans"):
                            keywords[word] = lm.tokenizer.convert_ids_to_tokens(slot.word())
                    yield {"sentence_id": row["sentence_id"], **result}
                bar.update(len(rows))

    write_table(out, bias_columns(values), scored())
    count = excluded.pop(None, 0)
    record = {
        "model": name,
        "family": family,
        "hub_name": hub_name,
        **describe(lm),
        "log_base": log_base,
        **judge(lm, check, count, least_scored * total),
        "sentences": total,
        "scored": count,
        "excluded": dict(sorted(excluded.items())),
        **count_unknown(with_unknown, unknown),
        "keywords": dict(sorted(keywords.items())),
        "near_tie_margin": None if scorer.margin == math.inf else scorer.margin,
        "calibrated_on": scorer.calibrated_on,
        "rescored": scorer.rescored,
    }
    write_json(gate, record)
    counts = ("sentences", "scored", "excluded", "rescored", "trusted")
    return {key: record[key] for key in counts} | {
        key: check[key] for key in ("accuracy", "baseline")
    }


Scored = list[tuple[dict[str, Any], list[Slot]]]


class _Scorer:
    """A model that scores sentences in its number format, and near ties again in fp32."""

    def __init__(
        self, load: Callable[..., MaskedLM | CausalLM], dtype: str, options: dict[str, Any]
    ) -> None:
        self.lm, self.options = load(dtype=dtype), options
        self.exact = load(dtype="fp32") if dtype != "fp32" else None
        self.margin: float | None = None
        self.calibrated_on = self.rescored = 0

    def calibrate(self, rows: list[dict[str, Any]]) -> None:
        """Measure the error of the number format on a sample."""
        low, full = (_bias(self._score(lm, rows)) for lm in (self.lm, self.exact))
        self.calibrated_on = int((np.isfinite(low) & np.isfinite(full)).sum())
        self.margin = calibrate(low, full)

    def score(self, rows: list[dict[str, Any]]) -> Scored:
        """Return the results of `score_sentences`, near ties in fp32."""
        results = self._score(self.lm, rows)
        if self.margin is not None:
            close = np.flatnonzero(near_ties(_bias(results), self.margin))
            again = self._score(self.exact, [rows[i] for i in close]) if len(close) else []
            for i, result in zip(close, again, strict=True):
                results[i] = result
            self.rescored += len(close)
        return results

    def _score(self, lm: MaskedLM | CausalLM, rows: list[dict[str, Any]]) -> Scored:
        return score_sentences(lm, rows, **self.options, scratch=scratch_folder())


def _bias(results: Scored) -> np.ndarray:
    return np.array([result["bias"] for result, _ in results], dtype=float)


def _read_sentences(dataset: Path, values: list[str]) -> pa.Table:
    """Return the columns of a data set that are needed, in its order; refuse malformed rows."""
    names = read_table_schema(dataset).names
    attribute = attribute_of(names)
    chosen = {*COLUMNS, attribute, f"{attribute}_opposite", "spans"}
    sentences = read_columns(dataset, [name for name in names if name in chosen])
    if not len(sentences):
        raise InputError("contains no sentence, so there is nothing to score", file=dataset)
    for number, row in enumerate(sentences.to_pylist(), start=1):
        problem = None
        if missing := [name for name in COLUMNS if row[name] is None]:
            problem = f"the cell of {missing[0]} is empty"
        elif row[attribute] not in values:
            problem = f"{attribute} is {row[attribute]!r}, not {' or '.join(values)}"
        elif not row["keyword"] or row["sentence"][row["start"] : row["end"]] != row["keyword"]:
            problem = "start and end do not cut out the keyword"
        if problem:
            raise InputError(problem, file=dataset, line=number)
    return sentences
