"""Train a small character-level BERT by masked language modelling.

The model is the stand-in for real ones where none can be had: the demo, the tests, a machine
without a network. It is small enough for a CPU and good enough to be asked: it has to beat
the most frequent character on sentences that it was not trained on (see `training.json`).

Each Chinese character is a token; of other scripts, each letter or digit is one. The
sentences are put in the order of a digest of their text, which removes duplicates, makes the
order of the inputs irrelevant, and picks the held-out sentences.

From a thousand sentences a BERT that starts as usual learns little more than how frequent
each character is. Two things make it look at neighbours early: positions start as sinusoids,
in which "the one before" is the same turn everywhere (Vaswani et al. 2017, section 3.5), and
the first steps see short pieces of sentences, in which whatever is near matters.
"""

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import enable_selection, load_masked_lm, logits_at
from evenhand.stage import Input, Output

if TYPE_CHECKING:
    from transformers import BertForMaskedLM, BertTokenizerFast

#: BERT's special tokens, in the order of their ids here.
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

#: Of the tokens chosen for prediction: share shown as the mask, and as a random token. The
#: rest is shown as it is (Devlin et al. 2019, section 3.1).
SHOWN_MASKED, SHOWN_RANDOM = 0.8, 0.1

#: Share of the steps that see short pieces instead of whole sentences.
SHORT_STEPS = 0.7

#: The shortest piece to learn from, in tokens.
SHORTEST_PIECE = 3

#: Points of the loss curve in training.json.
CURVE_POINTS = 50


def train_masked_lm(
    *,
    out: Output,
    tables: list[Input] | None = None,
    files: list[Input] | None = None,
    layers: int = 2,
    width: int = 128,
    heads: int = 2,
    max_length: int = 128,
    steps: int = 3000,
    batch: int = 8,
    learning_rate: float = 0.001,
    mask_probability: float = 0.35,
    piece: int = 8,
    dropout: float = 0.0,
    held_out: float = 0.1,
    max_sentences: int = 20_000,
    least_count: int = 1,
    seed: int = 0,
) -> dict[str, Any]:
    """Train a small character-level BERT on sentences.

    Training uses one CPU thread, since more would change the order of sums and so the bytes
    of the result.

    Parameters
    ----------
    out : path
        Folder in the Hugging Face layout: config.json, model.safetensors, tokenizer.json,
        tokenizer_config.json, vocab.txt, and training.json (data, loss curve, accuracy on
        the held-out sentences).
    tables : list of path, optional
        Parquet tables with a column sentence.
    files : list of path, optional
        UTF-8 text files, a sentence per line.
    layers : int
        Number of layers.
    width : int
        Width of the hidden states, a multiple of `heads`; the inner layers are 4 times wider.
    heads : int
        Attention heads per layer.
    max_length : int
        Longest sentence in tokens, specials included; what is longer is cut for training.
    steps : int
        Training steps.
    batch : int
        Sentences per step.
    learning_rate : float
        Highest learning rate of AdamW; it rises over the first tenth of the steps and falls
        linearly to zero after that.
    mask_probability : float
        Share of the tokens that are to be predicted. BERT's 0.15 wastes most of a small
        corpus.
    piece : int
        Tokens of the short pieces that the first 70 % of the steps see.
    dropout : float
        Dropout probability.
    held_out : float
        Share of the sentences kept for the measurement of accuracy (at least one).
    max_sentences : int
        The most sentences used; of more, a sample by digest.
    least_count : int
        A character that occurs less often in the training sentences is unknown to the model.
    seed : int
        Seed of initial weights, order, masks and dropout.
    """
    import torch

    if width % heads:
        raise InputError(f"width {width} is not a multiple of heads {heads}")
    if not 0 < mask_probability < 1 or not 0 < held_out < 1:
        raise InputError("mask_probability and held_out are shares between 0 and 1")
    sentences, read = _sample(_read_sentences(tables or [], files or []), max_sentences)
    kept_back = max(1, round(held_out * len(sentences)))
    measured, trained = sentences[:kept_back], sentences[kept_back:]
    if not trained:
        raise InputError(
            f"there are {len(sentences)} distinct sentences, too few to train on and to measure",
            file=(tables or files or [None])[0],
        )
    tokenizer = _build_tokenizer(trained, max_length, least_count)
    out.mkdir(parents=True)
    remember = torch.random.get_rng_state(), torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        torch.manual_seed(seed)
        model = _build_model(len(tokenizer), layers, width, heads, max_length, dropout)
        losses = _train(
            model,
            tokenizer,
            trained,
            steps=steps,
            batch=batch,
            learning_rate=learning_rate,
            mask_probability=mask_probability,
            max_length=max_length,
            piece=piece,
            seed=seed,
        )
    finally:
        torch.random.set_rng_state(remember[0])
        torch.set_num_threads(remember[1])
        torch.use_deterministic_algorithms(deterministic)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (out / "vocab.txt").write_text(
        "".join(f"{token}\n" for token, _ in vocabulary), encoding="utf-8"
    )
    # Measured on the model as it was saved, the way others will load it.
    fill_mask = check_fill_mask(load_masked_lm(out), measured, seed=seed, tokens_per_batch=4096)
    record = {
        "sentences_read": read,
        "sentences_trained_on": len(trained),
        "sentences_held_out": len(measured),
        "data_sha256": hashlib.sha256("\n".join(sentences).encode()).hexdigest(),
        "vocabulary": len(vocabulary),
        "parameters": model.num_parameters(),
        "fill_mask_held_out": fill_mask,
        "loss": [{"step": step, "loss": round(loss, 5)} for step, loss in _curve(losses)],
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    (out / "training.json").write_text(text + "\n", encoding="utf-8")
    return {
        "sentences": len(sentences),
        "vocabulary": len(vocabulary),
        "final_loss": record["loss"][-1]["loss"],
        "accuracy_held_out": fill_mask["accuracy"],
        "baseline_held_out": fill_mask["baseline"],
    }


# ---------------------------------------------------------------- sentences


def _read_sentences(tables: Sequence[Path], files: Sequence[Path]) -> Iterator[str]:
    """The sentences of Parquet tables and text files, one after the other."""
    if not tables and not files:
        raise InputError("there is nothing to train on", remedy="give tables or files")
    for path in tables:
        try:
            yield from (row["sentence"] for row in read_rows(path, ["sentence"]) if row["sentence"])
        except KeyError as error:
            raise InputError("lacks the column sentence", file=path) from error
        except pa.ArrowInvalid as error:
            raise InputError("is not a Parquet file", file=path) from error
    for path in files:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise InputError(
                        "is not UTF-8", file=path, line=number, remedy="save it as UTF-8"
                    ) from error
                if text:
                    yield text


def _sample(sentences: Iterable[str], most: int) -> tuple[list[str], int]:
    """The distinct sentences in the order of their digests, at most `most`; and how many came."""
    chosen: dict[bytes, str] = {}
    read = 0
    for sentence in sentences:
        read += 1
        chosen[hashlib.blake2b(sentence.encode(), digest_size=16).digest()] = sentence
        if len(chosen) > 2 * most:
            chosen = dict(sorted(chosen.items())[:most])
    return [sentence for _, sentence in sorted(chosen.items())[:most]], read


# ---------------------------------------------------------------- tokenizer and model


def _build_tokenizer(
    sentences: Iterable[str], max_length: int, least_count: int
) -> "BertTokenizerFast":
    """BERT's own tokenizer over a vocabulary of characters, most frequent first.

    BERT keeps runs of letters and digits together as words; a character inside one has a
    token of its own with the prefix ``##``.
    """
    from tokenizers import normalizers, pre_tokenizers
    from transformers import BertTokenizerFast

    normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    splitter = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(sentence)):
            counts.update([word[0], *("##" + character for character in word[1:])])
    kept = sorted((-count, token) for token, count in counts.items() if count >= least_count)
    if not kept:
        raise InputError(f"no character occurs least_count = {least_count} times")
    vocabulary = [*SPECIALS, *(token for _, token in kept)]
    return BertTokenizerFast(
        vocab={token: number for number, token in enumerate(vocabulary)},
        do_lower_case=False,
        strip_accents=False,
        model_max_length=max_length,
    )


def _build_model(
    vocabulary: int, layers: int, width: int, heads: int, max_length: int, dropout: float
) -> "BertForMaskedLM":
    import torch
    from transformers import BertConfig, BertForMaskedLM

    scale = 0.02 * (768 / width) ** 0.5  # BERT's scale of initial weights, for its width of 768
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            max_position_embeddings=max_length,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            pad_token_id=SPECIALS.index("[PAD]"),
            initializer_range=scale,
        )
    )
    turns = torch.outer(torch.arange(max_length), 10_000 ** -torch.linspace(0, 1, (width + 1) // 2))
    waves = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)[:, :width]
    with torch.no_grad():
        model.bert.embeddings.position_embeddings.weight.copy_(waves * scale * 2**0.5)
    return model


# ---------------------------------------------------------------- training


def _train(
    model: "BertForMaskedLM",
    tokenizer: "BertTokenizerFast",
    sentences: Sequence[str],
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    mask_probability: float,
    max_length: int,
    piece: int,
    seed: int,
) -> list[float]:
    """Train in place; return the loss (nats per predicted token) of each step."""
    import torch
    from tqdm import tqdm

    coded = tokenizer(
        list(sentences), truncation=True, max_length=max_length, split_special_tokens=True
    )["input_ids"]
    enable_selection(model)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, weight_decay=0.01, fused=True
    )
    warmup = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warmup, (steps - step) / max(1, steps - warmup)),
    )
    generator = np.random.default_rng(seed)
    order = _order(coded, batch, generator)
    model.train()
    losses = []
    with tqdm(range(steps), desc="train", unit=" steps", mininterval=5, ascii=True) as bar:
        for step in bar:
            rows = ()
            while not len(rows):  # a batch may hold nothing but unknown characters
                chosen = [coded[i] for i in next(order)]
                starts = [0] * len(chosen)
                if step < SHORT_STEPS * steps:
                    chosen, starts = _cut(chosen, piece, generator)
                ids, attention, rows, columns, wanted = _mask(
                    chosen, len(tokenizer), mask_probability, generator
                )
            # Tokens of a piece keep the positions that they have in the sentence; the padding
            # after it may not run beyond the last one.
            positions = np.array(starts)[:, None] + np.arange(ids.shape[1])
            logits = logits_at(
                model,
                torch.from_numpy(ids),
                torch.from_numpy(rows),
                torch.from_numpy(columns),
                attention_mask=torch.from_numpy(attention),
                position_ids=torch.from_numpy(np.minimum(positions, max_length - 1)),
            )
            loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(wanted))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
    model.eval()
    return losses


def _order(
    coded: Sequence[Sequence[int]], batch: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """Batches of sentence numbers for ever: shuffled, of similar length, each epoch anew."""
    lengths = np.array([len(ids) for ids in coded])
    while True:
        shuffled = generator.permutation(len(coded))
        batches = []
        for start in range(0, len(coded), 16 * batch):  # sorted within a stretch: little padding
            stretch = shuffled[start : start + 16 * batch]
            stretch = stretch[np.argsort(lengths[stretch], kind="stable")]
            batches += [stretch[i : i + batch] for i in range(0, len(stretch), batch)]
        for number in generator.permutation(len(batches)):
            yield batches[number]


def _cut(
    sentences: Sequence[Sequence[int]], piece: int, generator: np.random.Generator
) -> tuple[list[Sequence[int]], list[int]]:
    """Cut sentences into pieces of `piece` tokens, from a random place on: pieces, and starts.

    What is left at the ends stays as a shorter piece, unless it is too short to learn from;
    a sentence that is as short itself stays whole.
    """
    pieces, starts = [], []
    for ids in sentences:
        first = int(generator.integers(piece))
        borders = [0, *range(first or piece, len(ids), piece), len(ids)]
        for start, end in itertools.pairwise(borders):
            if end - start >= min(SHORTEST_PIECE, len(ids)):
                pieces.append(ids[start:end])
                starts.append(start)
    return pieces, starts


def _mask(
    sentences: Sequence[Sequence[int]],
    vocabulary: int,
    probability: float,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pad a batch and choose what is to be predicted.

    Returns
    -------
    ids, attention : arrays of int64, shape (batch, longest)
        What the model sees, and 1 where there is a token.
    rows, columns, wanted : arrays of int64, shape (k,)
        The places to predict (at least one, unless all is unknown) and what stood there.
    """
    longest = max(len(ids) for ids in sentences)
    ids = np.zeros((len(sentences), longest), dtype=np.int64)  # 0 is [PAD]
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = sentence
    attention = (ids != SPECIALS.index("[PAD]")).astype(np.int64)
    # Unknown tokens are not predicted: a model that answers "unknown" has said nothing.
    eligible = ids >= len(SPECIALS)
    draw = np.where(eligible, generator.random(ids.shape), np.inf)
    chosen = (draw < probability) | (draw == draw.min())
    rows, columns = np.nonzero(chosen & eligible)
    wanted = ids[rows, columns]
    fate = generator.random(len(rows))
    shown = np.where(
        fate < SHOWN_MASKED,
        SPECIALS.index("[MASK]"),
        np.where(
            fate < SHOWN_MASKED + SHOWN_RANDOM,
            generator.integers(len(SPECIALS), vocabulary, size=len(rows)),
            wanted,
        ),
    )
    ids[rows, columns] = shown
    return ids, attention, rows, columns, wanted


def _curve(losses: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The mean loss over each of at most `CURVE_POINTS` stretches: (last step, loss)."""
    for stretch in np.array_split(np.arange(len(losses)), min(CURVE_POINTS, len(losses))):
        yield int(stretch[-1]) + 1, float(np.mean(np.array(losses)[stretch]))


if __name__ == "__main__":
    stage.run(train_masked_lm)
