"""AUL, AULA, CPS and SSS of CrowS-Pairs: the published way of computing them against ours.

    python benchmarks/score_pairs.py --file crows_pairs_anonymized.csv --sizes base tiny

Without --file the mirror's copy is read (EVENHAND_MIRROR). Models have random weights and a
vocabulary of 28,996; the tokenizer is a WordPiece trained on the sentences. The published side
takes one sentence at a time in fp32, asks for all attentions and hidden states, and sorts the
whole vocabulary at each token for its rank. Both sides run in turns, on one thread; the figures
are seconds of the processor per input token (CPS: of its masked copies), and of the clock on a
GPU. The published side may take fewer pairs, evenly spread (--plain-pairs): it has no batches
to fill. On those pairs both sides' scores and decisions are compared.
"""

import argparse
import csv
import difflib
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast  # noqa: E402
from transformers.modeling_outputs import MaskedLMOutput  # noqa: E402

from evenhand.scoring import pair_masks  # noqa: E402
from evenhand.scoring.device import prepare_device  # noqa: E402
from evenhand.scoring.models import MaskedLM  # noqa: E402
from evenhand.scoring.questions import Questions, answer  # noqa: E402
from evenhand.scoring.selection import enable_selection  # noqa: E402

VOCABULARY = 28_996
SIZES = {  # layers, width, heads, feed-forward width
    "tiny": (2, 128, 2, 512),
    "base": (12, 768, 12, 3072),
    "large": (24, 1024, 16, 4096),
}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
METHODS = ("aul", "aula", "cps", "sss")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mirror = Path(os.environ.get("EVENHAND_MIRROR", "mirror"))
    parser.add_argument(
        "--file", type=Path, default=mirror / "crows_pairs/crows_pairs_anonymized.csv"
    )
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["base", "tiny"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=["fp32", "bf16"])
    parser.add_argument("--pairs", type=int, help="use so many pairs, evenly spread")
    parser.add_argument("--plain-pairs", type=int, default=60, help="of these on the other side")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens-per-batch", type=int, default=2048)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    prepare_device(arguments.device)
    with arguments.file.open(encoding="utf-8", newline="") as stream:
        texts = [(row["sent_more"], row["sent_less"]) for row in csv.DictReader(stream)]
    tokenizer = train_tokenizer([text for pair in texts for text in pair])
    pairs = [tuple(tokenizer(list(pair)).input_ids) for pair in spread(texts, arguments.pairs)]
    few = spread(pairs, arguments.plain_pairs)
    print(f"{len(pairs)} pairs, {sum(len(s) for p in pairs for s in p)} tokens, {arguments.device}")
    print(
        "| model | method | published | dtype | ours | ratio | share of GEMM rate "
        "| cost of more | largest difference | decisions that differ |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size in arguments.sizes:
        for method in arguments.methods:
            measure(size, method, tokenizer, pairs, few, arguments)


def measure(
    size: str,
    method: str,
    tokenizer: BertTokenizerFast,
    pairs: Sequence[tuple[list[int], list[int]]],
    few: Sequence[tuple[list[int], list[int]]],
    arguments: argparse.Namespace,
) -> None:
    """Both sides in turns; prints one line per number format."""
    device = arguments.device
    eager = make_model(size, tokenizer, torch.float32, device, attention="eager")
    ours = {name: make_model(size, tokenizer, DTYPES[name], device) for name in arguments.dtypes}
    published, quick = Clock(device), {name: Clock(device) for name in ours}
    beside = {name: Clock(device) for name in ours}
    peak = dict.fromkeys(ours, 0.0)
    scores: dict[str, list[tuple[float, float]]] = {}
    for part in range(arguments.repeats):
        some = few[part :: arguments.repeats]
        with published:
            expected = [published_scores(eager, method, *pair) for pair in some]
        scores.setdefault("published", []).extend(expected)
        published.work += inputs_of(method, some)
        for name, lm in ours.items():
            peak[name] = max(peak[name], gemm_rate(lm.model.dtype, device))
            with quick[name]:
                found, flop = our_scores(lm, method, pairs, arguments.tokens_per_batch)
            quick[name].work += inputs_of(method, pairs)
            quick[name].rate.append(flop)
            with beside[name]:
                if method == "aula":
                    our_scores(lm, "aul", pairs, arguments.tokens_per_batch)
                elif method == "aul":
                    our_scores(lm, method, pairs, arguments.tokens_per_batch, entropy=True)
            by_pair = {(tuple(a), tuple(b)): s for (a, b), s in zip(pairs, found, strict=True)}
            scores.setdefault(name, []).extend(by_pair[tuple(a), tuple(b)] for a, b in some)
    for name, clock in quick.items():
        reached = [flop / seconds for flop, seconds in zip(clock.rate, clock.runs, strict=True)]
        a, b = np.array(scores["published"]), np.array(scores[name])
        flips = int(((a[:, 0] > a[:, 1]) != (b[:, 0] > b[:, 1])).sum())
        more = ""
        if method == "aula":
            more = f"AUL and AULA {sum(clock.runs) / sum(beside[name].runs):.2f} of AUL"
        elif method == "aul":
            more = f"with entropy {sum(beside[name].runs) / sum(clock.runs):.2f}"
        print(
            f"| {size} | {method} | {1e3 * published.per_input():.3f} ms | {name} "
            f"| {1e3 * clock.per_input():.3f} ms "
            f"| {published.per_input() / clock.per_input():.2f} "
            f"| {statistics.median(reached) / peak[name]:.0%} of {peak[name] / 1e9:.0f} GF/s "
            f"| {more} "
            f"| {np.nanmax(np.abs(a - b) / np.abs(a)):.1e} | {flips} of {len(a)} |",
            flush=True,
        )


class Clock:
    """Seconds of several runs, and what was done in them."""

    def __init__(self, device: str) -> None:
        self.device, self.runs, self.work, self.rate = device, [], 0, []

    def __enter__(self) -> None:
        self.start = self._now()

    def __exit__(self, *_: object) -> None:
        self.runs.append(self._now() - self.start)

    def per_input(self) -> float:
        return sum(self.runs) / self.work

    def _now(self) -> float:
        if self.device == "cpu":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()


def spread(items: Sequence, count: int | None) -> Sequence:
    """At most `count` of the items, evenly spread."""
    if count is None or count >= len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


def train_tokenizer(sentences: Sequence[str]) -> BertTokenizerFast:
    from tokenizers import BertWordPieceTokenizer

    trained = BertWordPieceTokenizer(lowercase=False)
    trained.train_from_iterator(sentences, vocab_size=VOCABULARY, show_progress=False)
    return BertTokenizerFast(vocab=trained.get_vocab(), do_lower_case=False)


def make_model(
    size: str, tokenizer: BertTokenizerFast, dtype: torch.dtype, device: str, **options: str
) -> MaskedLM:
    layers, width, heads, inner = SIZES[size]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        attn_implementation=options.get("attention", "sdpa"),
    )
    model = BertForMaskedLM(config).eval().requires_grad_(False).to(device, dtype)
    enable_selection(model)
    return MaskedLM(
        model=model,
        tokenizer=tokenizer,
        unknown_id=tokenizer.unk_token_id,
        max_tokens=512,
        missing=[],
        revision=None,
        mask_id=tokenizer.mask_token_id,
    )


def gemm_rate(dtype: torch.dtype, device: str) -> float:
    """The machine's floating-point operations per second in a large matrix product."""
    rows, width, inner = (2048, 768, 3072) if device == "cpu" else (16_384, 4096, 4096)
    one, two = torch.randn(rows, width), torch.randn(inner, width)
    one, two = one.to(device, dtype), two.to(device, dtype)
    times = []
    for _ in range(12):
        clock = Clock(device)
        with clock:
            torch.nn.functional.linear(one, two)
        times += clock.runs
    return 2 * rows * width * inner / min(times)


# ---------------------------------------------------------------- ours


def our_scores(
    lm: MaskedLM,
    method: str,
    pairs: Sequence[tuple[list[int], list[int]]],
    tokens_per_batch: int,
    entropy: bool = False,
) -> tuple[list[tuple[float, float]], float]:
    """Scores of all pairs, and the floating-point operations that they take at least."""
    questions = Questions()
    by_sentence = []
    for one, other in pairs:
        both = pair_masks.pair_masks(one[1:-1], other[1:-1])
        for ids, masks in zip((one, other), both, strict=True):
            shared, changed = ([1 + i for i in places] for places in masks)
            if method in ("aul", "aula"):  # the published accuracy counts the special tokens too
                by_sentence.append(pair_masks.ask(questions, ids, range(len(ids))))
            elif method == "cps":
                by_sentence.append(pair_masks.ask_each_masked(questions, ids, shared, lm.mask_id))
            else:
                by_sentence.append(pair_masks.ask_crossed(questions, ids, changed, lm.mask_id))
    found = answer(
        lm,
        questions,
        tokens_per_batch=tokens_per_batch,
        attention=method == "aula",
        entropy=entropy,
    )
    scores = []
    for numbers in by_sentence:
        log_p = found.log_p[np.array(numbers, dtype=int)]
        if method == "aula":
            inner = numbers[1:-1]
            scores.append(pair_masks.aula(found.log_p[inner], found.alpha[inner]))
        elif method == "aul":
            scores.append(np.mean(log_p[1:-1]))
        else:
            scores.append(pair_masks.FORMULAS[method](log_p) if log_p.size else None)
    flat = np.array([np.nan if score is None else score for score in scores])
    lengths = np.array([len(ids) for ids in questions.inputs])
    places = len({(number, place) for number, place, _ in questions.places})
    return [tuple(pair) for pair in flat.reshape(-1, 2)], operations(lm, lengths, places)


def operations(lm: MaskedLM, lengths: np.ndarray, places: int) -> float:
    config = lm.model.config
    width, inner = config.hidden_size, config.intermediate_size
    body = lengths.sum() * (8 * width**2 + 4 * width * inner) + 4 * width * (lengths**2).sum()
    return config.num_hidden_layers * body + places * 2 * width * (width + lm.vocabulary)


# ---------------------------------------------------------------- as published


def inputs_of(method: str, pairs: Sequence[tuple[list[int], list[int]]]) -> int:
    """Tokens that the model has to read."""
    if method != "cps":
        return sum(len(ids) for pair in pairs for ids in pair)
    return sum(
        len(ids) * len(places[1:-1])
        for pair in pairs
        for ids, places in zip(pair, spans(*pair, "equal"), strict=True)
    )


def spans(one: list[int], other: list[int], kind: str) -> tuple[list[int], list[int]]:
    """The places of both sentences that are equal, or those that differ ("diff")."""
    codes = difflib.SequenceMatcher(None, list(map(str, one)), list(map(str, other)))
    found: tuple[list[int], list[int]] = ([], [])
    for name, start, end, other_start, other_end in codes.get_opcodes():
        if (name == "equal") == (kind == "equal"):
            found[0].extend(range(start, end))
            found[1].extend(range(other_start, other_end))
    return found


def published_scores(
    lm: MaskedLM, method: str, one: list[int], other: list[int]
) -> tuple[float, float]:
    places = spans(one, other, "diff" if method == "sss" else "equal")
    return tuple(
        published_score(lm, method, ids, own) for ids, own in zip((one, other), places, strict=True)
    )


def published_score(lm: MaskedLM, method: str, one: list[int], places: list[int]) -> float:
    """One sentence's score, with all that the published code computes on the way."""
    ids = torch.tensor([one], device=lm.model.device)

    def ask(ids: torch.Tensor) -> MaskedLMOutput:
        return lm.model(ids, output_attentions=True, output_hidden_states=True)

    with torch.no_grad():
        if method in ("aul", "aula"):
            output = ask(ids)
            log_p = output.logits[0].log_softmax(dim=1)
            token = log_p.gather(1, ids.view(-1, 1))[1:-1, 0]
            if method == "aula":
                alpha = torch.cat(output.attentions, 0).mean(0).mean(0).mean(0)
                token = token * alpha[1:-1]
            score, gold = token.mean().item(), ids.view(-1, 1)
        elif method == "cps":
            places = places[1:-1]
            copies = ids.repeat(len(places), 1)
            copies[range(len(places)), places] = lm.mask_id
            logits = ask(copies).logits
            log_p = logits[range(len(places)), places].log_softmax(dim=1)
            token = ids.view(-1)[places]
            score, gold = log_p[range(len(places)), token].sum().item(), token.view(-1, 1)
        else:
            masked = ids.clone()
            masked[:, places] = lm.mask_id
            log_p = ask(masked).logits[0].log_softmax(dim=1)[places]
            token = ids.view(-1)[places]
            score, gold = log_p[:, token].mean().item(), token.view(-1, 1)
        ranks(log_p, gold)
    return score


def ranks(log_p: torch.Tensor, token: torch.Tensor) -> list[int]:
    order = torch.sort(log_p, dim=1, descending=True)[1]
    return (torch.where(order == token)[1] + 1).tolist()


if __name__ == "__main__":
    main()
