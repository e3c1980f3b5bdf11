"""Gender bias of a masked language model: log p(male word) - log p(female word) per sentence.

For each sentence of the dataset the keyword is replaced by masks, as many as the word has
tokens, and the model is asked for the male and for the female word there. Words of several
tokens are scored whole, by the chain rule (see `evenhand.scoring.masked.WordQuestions`).
Where the two words have different numbers of tokens, each gets its own number of masks; the
longer word then pays for its extra token, so such pairs compare poorly across pairs (but
well across models).

What cannot be scored stays in the table with a reason in the column `excluded`:

- `too_long`: more tokens than the model takes. Such a sentence is not cut: a cut sentence
  would be scored on another context than the one that the annotators saw.
- `keyword_vanishes`: the tokenizer leaves nothing of the word.
- `keyword_inside_token`: a token holds the word, or a part of it, and text beside it.
- `context_differs`: the two words make the tokenizer cut the rest of the sentence differently.
- `keyword_unknown`: the tokenizer does not know the male or the female word.
- `not_finite`: the model gives no finite number.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.masked import Questions, answer, ask_word
from evenhand.scoring.models import MaskedLM, describe, load_masked_lm
from evenhand.stage import Input, Output, Setting

#: What a dataset must have.
COLUMNS = ["sentence_id", "sentence", "keyword", "opposite", "gender", "start", "end"]

BIAS = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("log_p_male", pa.float64()),
        ("log_p_female", pa.float64()),
        ("bias", pa.float64()),
        ("bias_one_character", pa.float64()),
        ("n_masks", pa.int32()),
        ("n_masks_opposite", pa.int32()),
        ("has_unk", pa.bool_()),
        ("excluded", pa.string()),
    ]
)

#: Sentences scored together: enough to fill batches of one length, few enough for the memory.
SENTENCES_AT_ONCE = 4096

#: How many unknown characters the gate names.
UNKNOWN_NAMED = 20


@dataclass(frozen=True)
class Slot:
    """A sentence in tokens: `ids`, of which ``ids[first:last]`` are the keyword."""

    ids: list[int]
    first: int
    last: int
    unknown: list[str]  #: the text behind each unknown token outside the keyword


def score_bias(
    *,
    dataset: Input,
    out: Output,
    gate: Output,
    name: str,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    log_base: float = 10.0,
    dtype: str = "fp32",
    tokens_per_batch: int = 2048,
    allow_missing: bool = False,
    sanity_sentences: int = 300,
    least_scored: float = 0.5,
    seed: int = 0,
    threads: Annotated[int, Setting] = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Score every sentence of a dataset for gender bias with one masked language model.

    Parameters
    ----------
    dataset : path
        Parquet with sentence_id, sentence, keyword, opposite, gender, start, end.
    out : path
        Parquet, one row per sentence of the dataset, in its order: sentence_id, log_p_male,
        log_p_female, bias (their difference, > 0 is male), bias_one_character, n_masks,
        n_masks_opposite (tokens of the keyword and of its opposite), has_unk (the sentence
        beside the keyword holds unknown tokens; null if it could not be told), excluded
        (why there is no number, or null).
    gate : path
        JSON: what the model is, the fill-mask check, tokens of the keywords, unknown
        tokens, counts, and whether the numbers are to be trusted.
    name : str
        What the model is called in tables and on the page.
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
        Sentences of the dataset, evenly spread, for the fill-mask check.
    least_scored : float
        A model that can score a smaller share of the sentences than this is not trusted.
    seed : int
        Seed of the choice of tokens in the fill-mask check.
    threads : int
        CPU threads; their number changes no bit of the result.
    device : str
        cpu, cuda or cuda:N; results agree to 1e-5 between devices.
    """
    import torch
    from tqdm import tqdm

    if log_base <= 1:
        raise InputError(f"log_base is {log_base}", remedy="give a base above 1, such as 10")
    if (model is None) == (hub_name is None):
        raise InputError("a model is a folder or a hub name", remedy="give one of them, not both")
    total = _check_dataset(dataset)
    source = model if model is not None else hub_name
    torch.set_num_threads(1)
    lm = load_masked_lm(
        source, revision=revision, device=device, dtype=dtype, allow_missing=allow_missing
    )
    sanity = check_fill_mask(
        lm,
        _spread(dataset, total, sanity_sentences),
        seed=seed,
        tokens_per_batch=tokens_per_batch,
        threads=threads,
    )
    excluded, unknown, keywords = Counter(), Counter(), {}
    with_unknown = 0

    def scored() -> Iterator[dict[str, Any]]:
        nonlocal with_unknown
        rows = read_rows(dataset, COLUMNS)
        number = 0
        with tqdm(total=total, desc=name, unit=" sentences", mininterval=5, ascii=True) as bar:
            while chunk := list(islice(rows, SENTENCES_AT_ONCE)):
                for index, row in enumerate(chunk, start=number + 1):
                    _check_row(dataset, index, row)
                number += len(chunk)
                results = score_rows(
                    lm,
                    chunk,
                    log_base=log_base,
                    tokens_per_batch=tokens_per_batch,
                    threads=threads,
                    progress=bar.update,
                )
                for row, (result, slots) in zip(chunk, results, strict=True):
                    excluded[result["excluded"]] += 1
                    with_unknown += bool(result["has_unk"])
                    unknown.update(slots[0].unknown if slots else [])
                    _remember_tokens(lm, keywords, row, slots)
                    yield {"sentence_id": row["sentence_id"], **result}

    write_table(out, BIAS, scored())
    count = excluded.pop(None, 0)
    reasons = []
    if lm.missing:
        reasons.append("missing_weights")
    if not sanity["passed"]:
        reasons.append("fill_mask_not_above_baseline")
    if count == 0 or count < least_scored * total:
        reasons.append("few_scored")
    record = {
        "model": name,
        "hub_name": hub_name,
        **describe(lm),
        "log_base": log_base,
        "trusted": not reasons,
        "reason": ", ".join(reasons) or None,
        "fill_mask": sanity,
        "sentences": total,
        "scored": count,
        "excluded": dict(sorted(excluded.items())),
        "sentences_with_unknown": with_unknown,
        "unknown_tokens": sum(unknown.values()),
        "unknown_most_frequent": dict(
            sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:UNKNOWN_NAMED]
        ),
        "keywords": dict(sorted(keywords.items())),
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    gate.write_text(text + "\n", encoding="utf-8")
    return {
        "sentences": total,
        "scored": count,
        "excluded": record["excluded"],
        "trusted": record["trusted"],
        "accuracy": sanity["accuracy"],
        "baseline": sanity["baseline"],
    }


def score_rows(
    lm: MaskedLM,
    rows: Sequence[dict[str, Any]],
    *,
    log_base: float,
    tokens_per_batch: int,
    threads: int = 1,
    progress: Any = None,
) -> list[tuple[dict[str, Any], list[Slot]]]:
    """Score sentences.

    Parameters
    ----------
    lm : MaskedLM
        The model.
    rows : sequence of dict
        sentence, keyword, opposite, gender (``male`` or ``female``: that of `keyword`),
        start, end (of the keyword, in characters).
    log_base, tokens_per_batch, threads
        See `score_bias`.
    progress : callable, optional
        Called with numbers of sentences done.

    Returns
    -------
    list of (dict, list of Slot)
        For each row the columns of `BIAS` but the first, and the tokens of the sentence with
        the keyword and with its opposite (an empty list where a word has none of its own).
    """
    pairs = _slots(lm, rows)
    questions = Questions()
    asked = [
        [ask_word(questions, s.ids, s.first, s.last, lm.mask_id) for s in pair]
        if isinstance(pair, list) and _excluded(lm, pair) is None
        else None
        for pair in pairs
    ]
    done = _Share(len(rows), sum(len(ids) for ids in questions.inputs), progress)
    answers = answer(
        lm, questions, tokens_per_batch=tokens_per_batch, threads=threads, progress=done.add
    )
    done.finish()
    unit = math.log(log_base)
    results = []
    for row, pair, words in zip(rows, pairs, asked, strict=True):
        slots = pair if isinstance(pair, list) else []
        result: dict[str, Any] = dict.fromkeys(BIAS.names[1:])
        result["has_unk"] = any(slot.unknown for slot in slots) if slots else None
        result["excluded"] = pair if isinstance(pair, str) else _excluded(lm, pair)
        if slots:
            result["n_masks"], result["n_masks_opposite"] = (s.last - s.first for s in slots)
        if words is not None:
            male, female = words if row["gender"] == "male" else reversed(words)
            log_p = [word.chain(answers) / unit for word in (male, female)]
            apart = [word.independent(answers) / unit for word in (male, female)]
            if all(map(math.isfinite, log_p + apart)):
                result["log_p_male"], result["log_p_female"] = log_p
                result["bias"] = log_p[0] - log_p[1]
                result["bias_one_character"] = apart[0] - apart[1]
            else:
                result["excluded"] = "not_finite"
        results.append((result, slots))
    return results


def tokens_of(
    text: str, offsets: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[int, int] | str:
    """Which tokens are ``text[start:end]``: (first, last + 1), or why none are.

    Parameters
    ----------
    text : str
        The tokenized text.
    offsets : sequence of (int, int)
        Start and end of each token in `text`; equal for special tokens. White space at a
        token's borders does not count as its text (SentencePiece puts it there).
    start, end : int
        The span, in characters.
    """
    touching = []
    for index, (left, right) in enumerate(offsets):
        while left < right and text[left].isspace():
            left += 1
        while left < right and text[right - 1].isspace():
            right -= 1
        if left < right and left < end and right > start:
            if left < start or right > end:
                return "keyword_inside_token"
            touching.append(index)
    if not touching:
        return "keyword_vanishes"
    return touching[0], touching[-1] + 1


def _slots(lm: MaskedLM, rows: Sequence[dict[str, Any]]) -> list[list[Slot] | str]:
    """For each row the slots of the keyword and of its opposite, or why there are none."""
    texts, ends = [], []
    for row in rows:
        before, after = row["sentence"][: row["start"]], row["sentence"][row["end"] :]
        for word in (row["keyword"], row["opposite"]):
            texts.append(before + word + after)
            ends.append(row["start"] + len(word))
    # A special token's name in a sentence is text there, not a command.
    coded = lm.tokenizer(
        texts, return_offsets_mapping=True, split_special_tokens=True, verbose=False
    )
    pairs: list[list[Slot] | str] = []
    for number, row in enumerate(rows):
        pair: list[Slot] = []
        for k in (2 * number, 2 * number + 1):
            ids, offsets = coded["input_ids"][k], coded["offset_mapping"][k]
            span = tokens_of(texts[k], offsets, row["start"], ends[k])
            if isinstance(span, str):
                pairs.append(span)
                break
            unknown = [
                texts[k][left:right]
                for i, (token, (left, right)) in enumerate(zip(ids, offsets, strict=True))
                if token == lm.unknown_id and not span[0] <= i < span[1]
            ]
            pair.append(Slot(ids, *span, unknown))
        else:
            pairs.append(pair)
    return pairs


def _excluded(lm: MaskedLM, pair: list[Slot]) -> str | None:
    own, other = pair
    if max(len(own.ids), len(other.ids)) > lm.max_tokens:
        return "too_long"
    if any(lm.unknown_id in slot.ids[slot.first : slot.last] for slot in pair):
        return "keyword_unknown"
    if own.ids[: own.first] != other.ids[: other.first]:
        return "context_differs"
    if own.ids[own.last :] != other.ids[other.last :]:
        return "context_differs"
    return None


class _Share:
    """Turns tokens done into sentences done, for a progress bar of sentences."""

    def __init__(self, sentences: int, tokens: int, progress: Any) -> None:
        self.sentences, self.tokens, self.progress = sentences, tokens, progress
        self.tokens_done = self.told = 0

    def add(self, tokens: int) -> None:
        self.tokens_done += tokens
        self._tell(self.sentences * self.tokens_done // self.tokens)

    def finish(self) -> None:
        self._tell(self.sentences)

    def _tell(self, done: int) -> None:
        if self.progress:
            self.progress(done - self.told)
        self.told = done


def _check_dataset(path: Any) -> int:
    """The number of sentences in a dataset that has the columns needed."""
    try:
        metadata = pq.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise InputError("is not a Parquet file", file=path) from error
    if missing := [c for c in COLUMNS if c not in metadata.schema.to_arrow_schema().names]:
        raise InputError(f"lacks the column {missing[0]}", file=path)
    if metadata.num_rows == 0:
        raise InputError("holds no sentence, so there is nothing to score", file=path)
    return metadata.num_rows


def _check_row(path: Any, number: int, row: dict[str, Any]) -> None:
    if missing := [column for column in COLUMNS if row[column] is None]:
        raise InputError(f"the cell of {missing[0]} is empty", file=path, line=number)
    if row["gender"] not in ("male", "female"):
        raise InputError(f"gender is {row['gender']!r}, not male or female", file=path, line=number)
    if row["sentence"][row["start"] : row["end"]] != row["keyword"] or not row["keyword"]:
        raise InputError("start and end do not cut out the keyword", file=path, line=number)


def _spread(path: Any, total: int, wanted: int) -> list[str]:
    """`wanted` sentences of the dataset, evenly spread over it."""
    chosen = {i * total // wanted for i in range(wanted)} if wanted < total else range(total)
    rows = enumerate(read_rows(path, ["sentence"]))
    return [row["sentence"] for number, row in rows if number in chosen]


def _remember_tokens(
    lm: MaskedLM, keywords: dict[str, list[str]], row: dict[str, Any], slots: list[Slot]
) -> None:
    """Note how the tokenizer writes the row's two words, at their first occurrence."""
    for word, slot in zip((row["keyword"], row["opposite"]), slots, strict=False):
        if word not in keywords:
            ids = slot.ids[slot.first : slot.last]
            keywords[word] = lm.tokenizer.convert_ids_to_tokens(ids)


if __name__ == "__main__":
    stage.run(score_bias)
