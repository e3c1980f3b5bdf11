"""The contract of `train_language_model` for each kind, and what each kind does besides."""

import json
import random
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from evenhand.core.files import content_digest
from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.learning.language_models import causal, masked
from evenhand.learning.train_language_model import train_language_model
from evenhand.learning.vocabulary import BERT_SPECIALS
from evenhand.scoring.models import family_of, load_causal_lm, load_masked_lm
from evenhand.scoring.questions import encode_sequences, read_sequences
from unit.learning.test_language_modelling import write_lines

SMALL = {"layers": 1, "width": 16, "steps": 6, "max_length": 24}

#: kind of model -> a small one, one that learns, and what its check is called
KINDS = {
    "masked": (SMALL, SMALL | {"width": 64, "steps": 150, "batch": 16}, "fill_mask_held_out"),
    "wordpiece": (
        SMALL | {"tokens": "wordpiece", "vocabulary": 120},
        SMALL | {"tokens": "wordpiece", "vocabulary": 120, "width": 64, "steps": 100, "batch": 16},
        "fill_mask_held_out",
    ),
    "causal": (
        SMALL | {"vocabulary": 300},
        SMALL | {"vocabulary": 300, "width": 64, "steps": 80, "batch": 16},
        "next_token_held_out",
    ),
}

LOAD = {"masked": load_masked_lm, "wordpiece": load_masked_lm, "causal": load_causal_lm}

CHINESE = [
    ["老师", "学生", "医生", "记者", "司机", "邻居"],
    ["和"],
    ["老师", "学生", "医生", "记者", "司机", "邻居"],
    ["走进", "离开", "看见", "喜欢"],
    ["教室，", "医院，", "车站，", "北京，", "公园，"],
    [f"{number}次。" for number in range(10, 100)],
]
ENGLISH = [
    ["The doctor ", "A nurse ", "The café owner ", "My teacher ", "The engineer "],
    ["walked to ", "looked at ", "lives near ", "talked about "],
    ["the station ", "the hospital ", "the school ", "the market ", "the river "],
    ["today.", "again.", "in May.", "with friends.", "on Sunday."],
]


def sentences(kind, count=300):
    """Sentences of a tiny grammar, in which neighbours tell a token."""
    generator, made = random.Random(0), set()
    while len(made) < count:
        made.add("".join(map(generator.choice, CHINESE if kind == "masked" else ENGLISH)))
    return sorted(made)


def run(kind, out, lines, sizes=None, **given):
    """Train on files (or on these lines), and return the counts."""
    if lines and isinstance(lines[0], str):
        lines = [write_lines(out.with_name(f"{out.name}.txt"), lines)]
    settings = [
        f"{key}={value}" for key, value in (KINDS[kind][0] if sizes is None else sizes).items()
    ]
    name = "causal" if kind == "causal" else "masked"
    return train_language_model(out=out, files=lines, kind=name, settings=settings, **given)


def record(folder):
    return json.loads((folder / "training.json").read_text(encoding="utf-8"))


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def test_it_learns_more_than_frequencies(kind, tmp_path):
    _, sizes, check = KINDS[kind]
    counts = run(kind, tmp_path / "m", sentences(kind), sizes)
    made = record(tmp_path / "m")
    assert made[check]["passed"] is True
    assert made[check]["accuracy"] > 2 * made[check]["baseline"]
    assert counts == {
        "sentences": 300,
        "vocabulary": made["vocabulary"],
        "final_loss": made["loss"][-1]["loss"],
        "accuracy_held_out": made[check]["accuracy"],
        "baseline_held_out": made[check]["baseline"],
    }
    assert (made["sentences_trained_on"], made["sentences_held_out"]) == (270, 30)
    assert made["loss"][-1]["step"] == sizes["steps"]
    assert made["loss"][-1]["loss"] < made["loss"][0]["loss"] - 1
    assert family_of(tmp_path / "m") == ("causal" if kind == "causal" else "masked")
    lm = LOAD[kind](tmp_path / "m")
    assert (lm.max_tokens, lm.missing) == (24, [])
    files = (tmp_path / "m").glob("*.json")
    assert not any(str(tmp_path) in path.read_text(encoding="utf-8") for path in files)
    if kind == "causal":
        lines = ["The doctor lives near the river today.", "The doctor river near lives the today."]
        likely, unlikely = read_sequences(lm, *encode_sequences(lm, lines), tokens_per_batch=500)
        assert likely.log_p.sum() > unlikely.log_p.sum() + 5


def test_same_bytes_whatever_the_threads_and_the_order_of_inputs(kind, tmp_path):
    lines = sentences(kind)
    table = tmp_path / "half.parquet"
    pq.write_table(pa.table({"sentence": lines[:150]}), table)
    rest = write_lines(tmp_path / "rest.txt", lines[150:][::-1] + lines[140:160])
    before, state = torch.get_num_threads(), torch.random.get_rng_state()
    run(kind, tmp_path / "a", lines)
    torch.set_num_threads(3)
    torch.manual_seed(99)
    try:
        run(kind, tmp_path / "b", [rest], tables=[table])
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
        torch.random.set_rng_state(state)
    a, b = record(tmp_path / "a"), record(tmp_path / "b")
    assert (a.pop("sentences_read"), b.pop("sentences_read")) == (300, 320)
    assert a == b
    for name in "ab":
        (tmp_path / name / "training.json").unlink()
    assert content_digest(tmp_path / "a") == content_digest(tmp_path / "b")


def test_sentences_longer_than_the_model_are_cut(kind, tmp_path):
    lines = sentences(kind, 20)
    run(kind, tmp_path / "m", [*lines, lines[0] * 30])
    state = LOAD[kind](tmp_path / "m").model.state_dict()
    assert all(torch.isfinite(tensor).all() for tensor in state.values())


@pytest.mark.parametrize(
    ("kind", "sizes", "problem"),
    [
        ("masked", {"heads": 3}, "not a multiple"),
        ("causal", {"heads": 3}, "not a multiple"),
        ("masked", {"mask_probability": 1.0}, "mask_probability is a share"),
        ("masked", {"tokens": "words"}, "tokens is words, not one of"),
        ("causal", {"tokens": "characters"}, "a causal model has no setting 'tokens'"),
        ("masked", {"steps": 1.5}, "the setting steps=1.5 of a masked model is no whole number"),
        ("masked", {"least_count": 9999}, "no character occurs least_count = 9999 times"),
        ("wordpiece", {"vocabulary": 30}, "30 tokens is too small for the letters"),
        ("causal", {"vocabulary": 256}, "256 tokens is too small"),
        ("masked", {"learning_rate": 1e38}, "of step 2 is not finite; use a lower learning rate"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, kind, sizes, problem):
    with pytest.raises(InputError, match=problem):
        run(kind, tmp_path / "m", sentences(kind), KINDS[kind][0] | sizes)


def test_a_training_that_was_stopped_continues_to_the_same_bytes(kind, tmp_path, interrupted):
    sizes = KINDS[kind][0] | {"steps": 12, "dropout": 0.1}

    def train(folder):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        with scratch_at(folder):
            run(kind, tmp_path / "m", sentences(kind), sizes)
        return content_digest(tmp_path / "m")

    interrupted.goes_on(train, 5)


# ---------------------------------------------------------------- masked


def test_characters(tmp_path):
    run("masked", tmp_path / "m", sentences("masked"))
    lm = load_masked_lm(tmp_path / "m")
    lines = (tmp_path / "m" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert lines[:5] == BERT_SPECIALS
    assert {line: n for n, line in enumerate(lines)} == lm.tokenizer.get_vocab()
    assert lm.tokenizer.tokenize("老师12龘") == ["老", "师", "1", "##2", "[UNK]"]


def test_batches_of_unknown_characters_spoil_nothing(tmp_path):
    rare = [chr(0x4E00 + 50 * i) * 5 for i in range(20)]
    lines = [*rare, "老" * 6, "师" * 6, "老师" * 6]
    run("masked", tmp_path / "m", lines, SMALL | {"least_count": 6, "batch": 1})
    state = load_masked_lm(tmp_path / "m").model.state_dict()
    assert all(torch.isfinite(tensor).all() for tensor in state.values())


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(1, 9), st.integers(0, 99))
def test_pieces_are_parts_of_sentences(lengths, piece, seed):
    coded = [[100 * i + j for j in range(n)] for i, n in enumerate(lengths)]
    pieces, starts = masked.cut(coded, piece, np.random.default_rng(seed))
    for part, start in zip(pieces, starts, strict=True):
        whole = coded[part[0] // 100]
        assert part == whole[start : start + len(part)]
        assert len(part) <= max(piece, 2)


def test_pieces_of_words(tmp_path):
    run("wordpiece", tmp_path / "m", sentences("wordpiece"))
    lm = load_masked_lm(tmp_path / "m")
    assert lm.vocabulary == 120
    line = "The Café  WALKED to."
    coded = lm.tokenizer(line, return_offsets_mapping=True)
    spans = [line[a:b] for a, b in coded["offset_mapping"][1:-1]]
    assert lm.tokenizer.decode(coded["input_ids"][1:-1]) == "the cafe walked to."
    assert "".join(spans) == "TheCaféWALKEDto."
    # an unseen word of letters that occur is written in letters
    assert lm.unknown_id not in lm.tokenizer("namedfrown").input_ids
    assert lm.unknown_id in lm.tokenizer("老").input_ids


# ---------------------------------------------------------------- causal


def test_bytes_of_any_text(tmp_path):
    run("causal", tmp_path / "m", sentences("causal"))
    lm = load_causal_lm(tmp_path / "m")
    assert lm.vocabulary == 300
    assert lm.tokenizer.convert_ids_to_tokens(lm.start_id) == "<|endoftext|>"
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "m")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "m").config.vocab_size == 300
    assert tokenizer.is_fast
    line = "The nurse saw 男 <|endoftext|> café."
    coded = tokenizer(line, return_offsets_mapping=True, split_special_tokens=True)
    assert tokenizer.decode(coded["input_ids"]) == line
    assert coded["offset_mapping"][0][0] == 0 and coded["offset_mapping"][-1][1] == len(line)
    assert lm.start_id not in coded["input_ids"]


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=9), min_size=1, max_size=6))
def test_each_token_but_the_first_is_asked_for_once(batch):
    ids, rows, columns, wanted = causal.next_tokens(batch, 1)
    for row, sentence in enumerate(batch):
        assert wanted[rows == row].tolist() == sentence[1:]
        assert columns[rows == row].tolist() == list(range(len(sentence) - 1))
        assert ids[row].tolist() == sentence + [1] * (ids.shape[1] - len(sentence))
