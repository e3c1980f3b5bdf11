"""The hierarchical classifier: real paragraphs in buckets, against the published squares.

    python benchmarks/hierarchical.py [--documents 16] [--shapes ecthr cail fscs]
        [--what inference training pipeline] [--mode fixed] [--layers 6 --width 384 --heads 12]
        [--batch 16] [--training-batch 4] [--device cuda]

Both sides in one run, turn by turn on the same documents, with the same random weights; one
thread. The published side runs all places of all documents through the encoder with the plain
(eager) attention of the library, in fp32 and in bf16 (autocast), and its input is tokenised,
padded and copied anew for each batch. Ours packs what the token store holds. Ratios are of
processor seconds (on a GPU: of the clock's) to those of the published side in fp32; the greatest
difference of logits in fp32 stands beside them. Inference has batches of the published size; a
training step has fewer documents, since the published side would keep tens of gigabytes for the
gradients of sixteen.

Documents have the shapes of the facts file: ECtHR-like ones 25.8 paragraphs on average (median
18), of which 37.5 % of the places hold a token; CAIL-like 8 %, FSCS-like 35 % (of 32 x 64).
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow"), str(REPOSITORY / "tests")]

from scipy.stats import norm  # noqa: E402
from transformers import AutoModel, PreTrainedTokenizerBase, RobertaConfig  # noqa: E402

from evenhand.learning.hierarchical import HierarchicalClassifier  # noqa: E402
from evenhand.learning.packing import Limits, Packed, cut, pack  # noqa: E402
from evenhand.legal.stores import TokenStore, tokens_schema  # noqa: E402
from evenhand.scoring.device import prepare_device  # noqa: E402
from unit.learning.padded_reference import PaddedClassifier, square  # noqa: E402
from unit.legal import made_tokenizers  # noqa: E402

CLASSES, VOCABULARY, PAD, BEFORE, AFTER = 11, 50_265, 1, 0, 2


@dataclass(frozen=True)
class Shape:
    """Paragraphs and tokens are drawn from log-normal distributions: median and sigma."""

    limits: Limits
    paragraphs: tuple[float, float]
    tokens: tuple[float, float]


SHAPES = {
    "ecthr": Shape(Limits(32, 128), (18, 0.81), (75, 0.6)),
    "cail": Shape(Limits(32, 128), (3, 0.5), (110, 0.6)),
    "fscs": Shape(Limits(32, 64), (16, 0.55), (37, 0.6)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=16)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--training-batch", type=int, default=4)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--what", nargs="+", default=["inference", "training", "pipeline"])
    parser.add_argument("--mode", choices=["fixed", "compat"], default="fixed")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--tokens-per-batch", type=int)
    parser.add_argument("--skip-published-bf16", action="store_true")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    prepare_device(arguments.device)
    print("| what | side | processor s a document | wall s | times as fast | |")
    print("|---|---|---|---|---|---|")
    for name in arguments.shapes:
        shape = SHAPES[name]
        documents = draw(shape, max(arguments.documents, 1))
        for what in arguments.what:
            if what == "pipeline":
                pipeline(name, shape, arguments)
            else:
                both_sides(name, shape, documents, arguments, training=what == "training")


def draw(shape: Shape, count: int) -> list[list[np.ndarray]]:
    """Documents as token ids, special ones included; none is cut yet.

    Their paragraphs, and the tokens of these, are the quantiles of the distributions in random
    order, so that few documents have the shape of many.
    """
    generator = np.random.default_rng(0)

    def sizes(parameters: tuple[float, float], number: int) -> np.ndarray:
        median, sigma = parameters
        values = median * np.exp(sigma * norm.ppf((np.arange(number) + 0.5) / number))
        return generator.permutation(np.maximum(1, values.round()).astype(int))

    documents = []
    for paragraphs in sizes(shape.paragraphs, count):
        documents.append(
            [
                np.array([BEFORE, *generator.integers(5, VOCABULARY, int(size)), AFTER])
                for size in sizes(shape.tokens, int(paragraphs))
            ]
        )
    return documents


def batches(documents: list, size: int) -> list[list]:
    return [documents[i : i + size] for i in range(0, len(documents), size)]


def packed(
    documents: list[list[np.ndarray]], shape: Shape, arguments: argparse.Namespace
) -> Packed:
    return pack(
        [cut(document, shape.limits, [AFTER]) for document in documents],
        shape.limits,
        pad_id=PAD,
        tokens_per_batch=arguments.tokens_per_batch,
        device=arguments.device,
    )


def timed(function: Callable[[], torch.Tensor]) -> tuple[float, float, torch.Tensor]:
    processor, wall = time.process_time(), time.perf_counter()
    result = function()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.process_time() - processor, time.perf_counter() - wall, result


def make_model(shape: Shape, arguments: argparse.Namespace) -> HierarchicalClassifier:
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=VOCABULARY,
        hidden_size=arguments.width,
        num_hidden_layers=arguments.layers,
        num_attention_heads=arguments.heads,
        intermediate_size=4 * arguments.width,
        max_position_embeddings=514,
        pad_token_id=PAD,
    )
    encoder = AutoModel.from_config(config)
    encoder.pooler = None
    model = HierarchicalClassifier(encoder, CLASSES, shape.limits.segments, mode=arguments.mode)
    return model.to(arguments.device)


def both_sides(
    name: str,
    shape: Shape,
    documents: list[list[np.ndarray]],
    arguments: argparse.Namespace,
    *,
    training: bool,
) -> None:
    """Time the sides turn by turn, batch by batch."""
    device = torch.device(arguments.device)
    ours = make_model(shape, arguments).train(training)
    published = PaddedClassifier(ours).to(device)

    def run(model: torch.nn.Module, inputs: tuple, bf16: bool) -> torch.Tensor:
        with (
            torch.inference_mode(not training),
            torch.autocast(device.type, torch.bfloat16, enabled=bf16),
        ):
            logits = model(*(one.to(device) for one in inputs))[0]
        if training:
            model.zero_grad()
            labels = torch.arange(len(logits), device=device) % CLASSES
            torch.nn.functional.cross_entropy(logits.float(), labels).backward()
        return logits.detach()

    sides = [
        ("published fp32", published, False),
        ("published bf16", published, True),
        ("ours fp32", ours, False),
        ("ours bf16", ours, True),
    ]
    if arguments.skip_published_bf16:
        del sides[1]
    spent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    apart = real = places = 0.0
    run(ours, (packed(documents[:1], shape, arguments),), True)  # warm
    size = arguments.training_batch if training else arguments.batch
    for batch in batches(documents, size):
        ids, mask = square(batch, shape.limits, PAD, [AFTER])
        real += mask.sum().item()
        places += mask.numel()
        buckets = packed(batch, shape, arguments)
        logits = {}
        for side, model, bf16 in sides:
            inputs = (ids, mask) if model is published else (buckets,)
            *seconds, logits[side] = timed(lambda m=model, i=inputs, b=bf16: run(m, i, b))
            spent[side] += seconds
        if not training:
            apart = max(apart, (logits["published fp32"] - logits["ours fp32"]).abs().max().item())
    what = f"{name} {'training step' if training else 'inference'}"
    for side, _, _ in sides:
        processor, wall = spent[side] / len(documents)
        ratio = (spent["published fp32"] / spent[side])[int(device.type != "cpu")]
        note = f"{real / places:.3f} of the places real" if side == "published fp32" else ""
        if side == "ours fp32" and not training:
            note = f"logits differ by {apart:.1e}"
        print(
            f"| {what} | {side} | {processor:.4g} | {wall:.4g} | {ratio:.2f} | {note} |", flush=True
        )


def pipeline(name: str, shape: Shape, arguments: argparse.Namespace) -> None:
    """From where the texts or tokens lie to what the model takes, without the model."""
    count, size = 512, 16
    tokenizer = made_tokenizers.words(extra=VOCABULARY)
    texts = [
        [" ".join(f"word{token}" for token in p[1:-1]) for p in one] for one in draw(shape, count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = TokenStore(write_store(Path(folder) / "tokens.arrow", tokenizer, texts, shape))
        rows = batches(list(np.random.default_rng(0).permutation(count)), size)

        def from_store() -> int:
            tokens = 0
            for chosen in rows:
                documents = [store.paragraphs(int(row), shape.limits, [3]) for row in chosen]
                one = pack(documents, shape.limits, pad_id=0)
                tokens += sum(int(bucket.lengths.sum()) for bucket in one.buckets)
            return tokens

        from_store()
        ours = timed(from_store)
    few = rows[: max(1, len(rows) // 8)]
    theirs = timed(lambda: sum(published_input(tokenizer, texts, c, shape) for c in few))
    seconds = [theirs[0] / (len(few) * size), ours[0] / count]
    for side, spent in zip(("published", "ours"), seconds, strict=True):
        note = f"{1000 * spent:.4f} ms a document"
        ratio = seconds[0] / spent
        print(f"| {name} pipeline | {side} | {spent:.3g} | | {ratio:.0f} | {note} |", flush=True)


def published_input(
    tokenizer: PreTrainedTokenizerBase, texts: list[list[str]], rows: list[int], shape: Shape
) -> int:
    """As published: each document tokenised again, every paragraph padded to the limit."""
    batch = []
    for row in rows:
        coded = tokenizer(
            texts[row][: shape.limits.segments],
            padding="max_length",
            truncation=True,
            max_length=shape.limits.tokens,
            return_tensors="np",
        )
        whole = np.zeros((shape.limits.segments, shape.limits.tokens, 2), dtype=np.int64)
        whole[: len(coded["input_ids"])] = np.stack(
            [coded["input_ids"], coded["attention_mask"]], axis=-1
        )
        batch.append(torch.from_numpy(whole))
    return int(torch.stack(batch)[..., 1].sum())


def write_store(
    path: Path, tokenizer: PreTrainedTokenizerBase, texts: list[list[str]], shape: Shape
) -> Path:
    """The token store of `tokenise_cases`."""
    rows = []
    for number, text in enumerate(texts):
        coded = tokenizer(text, truncation=True, max_length=shape.limits.tokens)["input_ids"]
        rows.append({"case_id": str(number), "tokens": coded, "lengths": [len(p) for p in coded]})
    form = tokens_schema("uint16")
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, form) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist(rows, form))
    return path


if __name__ == "__main__":
    main()
