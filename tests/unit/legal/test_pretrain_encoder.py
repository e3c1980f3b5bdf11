import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, BertModel, RobertaConfig, RobertaForMaskedLM

from evenhand.core.files import content_digest
from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.io.checkpoint import Checkpoints
from evenhand.learning.hierarchical import load_encoder
from evenhand.legal import pretrain_encoder as module
from evenhand.legal.pretrain_encoder import pretrain_encoder
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.scoring.models import load_masked_lm
from unit.legal import made_tokenizers
from unit.legal.made_cases import write_cases

#: About six steps.
SHORT = {"epochs": 0.5, "batch": 4}

SIZES = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def save(folder, tokenizer, family, config, **sizes):
    torch.manual_seed(0)
    family(config(vocab_size=len(tokenizer), **SIZES, **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def bert(folder, dropout=0.0):
    """A random BERT of words, small enough to learn in some steps."""
    return save(
        folder, made_tokenizers.words(longest=512, extra=20), BertForMaskedLM, BertConfig,
        hidden_size=32, max_position_embeddings=128, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )  # fmt: skip


def roberta(folder):
    return save(
        folder, made_tokenizers.bytes_with_merges(), RobertaForMaskedLM, RobertaConfig,
        hidden_size=16, max_position_embeddings=130, pad_token_id=1,
    )  # fmt: skip


def cases(count=60):
    """Cases that use one word each, so that a hidden one follows from those that are seen."""
    generator = np.random.default_rng(0)
    splits = ("train", "train", "train", "dev", "test")
    return [
        {"text": [f"word{n // 5} " * 30] * generator.integers(1, 6), "split": splits[n % 5]}
        for n in range(count)
    ]


def prepare(folder, model, rows=None):
    """The inputs of the stage."""
    folder.mkdir(exist_ok=True)
    data = write_cases(folder / "d.parquet", "ecthr", rows or cases())
    tokens, meta = folder / "t.arrow", folder / "t.json"
    tokenise_cases(data=data, out=tokens, meta=meta, name="tiny", model=model)
    return {"data": data, "tokens": tokens, "tokens_meta": meta, "model": model}


@pytest.fixture
def made(tmp_path):
    return prepare(tmp_path, bert(tmp_path / "model"))


def test_it_learns_from_the_cases(tmp_path, made):
    counts = pretrain_encoder(**made, out=tmp_path / "m", epochs=23, batch=8, learning_rate=5e-3)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    before, after = record["fill_mask_before"], record["fill_mask_after"]
    assert after["passed"] and after["accuracy_low"] > before["accuracy_high"]
    assert before["tokens"] == after["tokens"] >= 300
    assert [counts[name] for name in ("accuracy_before", "accuracy_after", "baseline")] == [
        before["accuracy"], after["accuracy"], after["baseline"],
    ]  # fmt: skip
    assert counts["steps"] == -(-23 * counts["blocks"] // 8)
    assert counts["final_loss"] == record["loss"][-1]["loss"] < record["loss"][0]["loss"] - 1
    assert record["new_weights"] == []
    for path in (tmp_path / "m").glob("*.json"):
        assert str(tmp_path) not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [bert, roberta])
def test_the_folder_is_a_language_model_and_an_encoder(tmp_path, make):
    made = prepare(tmp_path, make(tmp_path / "model"))
    assert pretrain_encoder(**made, out=tmp_path / "m", **SHORT)["cases"] == 36
    lm = load_masked_lm(tmp_path / "m")
    assert lm.missing == [] and lm.max_tokens == 128
    trained = lm.model.base_model.state_dict()
    for name, tensor in load_encoder(tmp_path / "m").state_dict().items():
        assert torch.equal(tensor, trained[name]), name
    name = "embeddings.word_embeddings.weight"
    start = load_masked_lm(made["model"]).model.base_model.state_dict()
    assert not torch.equal(trained[name], start[name])
    # its tokenizer makes the same tokens, so that they need not be made again
    again = prepare(tmp_path / "again", tmp_path / "m")
    for name in ("tokens", "tokens_meta"):
        assert again[name].read_bytes() == made[name].read_bytes()


def test_dev_and_test_cases_are_not_trained_on(tmp_path):
    model = bert(tmp_path / "model")
    digests = set()
    for text in ("word1 word2", "word7 word3 word9"):
        folder = tmp_path / text.replace(" ", "_")
        rows = [row | ({} if row["split"] == "train" else {"text": [text]}) for row in cases()]
        pretrain_encoder(**prepare(folder, model, rows), out=folder / "m", **SHORT)
        digests.add(content_digest(folder / "m" / "model.safetensors"))
    assert len(digests) == 1


def test_bf16_steps(tmp_path, made):
    weights = []
    for dtype in ("bf16", "fp32"):
        pretrain_encoder(**made, out=tmp_path / dtype, dtype=dtype, **SHORT)
        state = load_file(tmp_path / dtype / "model.safetensors")
        weights.append(state["bert.embeddings.word_embeddings.weight"])
    assert weights[0].dtype == torch.float32
    assert 0 < (weights[0] - weights[1]).abs().max() < 0.01


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(16, 50))
def test_blocks_hold_a_case_once_and_in_order(sizes, block):
    text, expected = [], []
    for number, size in enumerate(sizes):
        paragraph = [100 + number] * size
        text.append(np.array([2, *paragraph, 3], np.uint16))
        expected += [3] * (number > 0) + paragraph
    special = {"before": [2], "after": [3]}
    blocks, left_out = module._cut(text, special, block)
    assert all((ids[0], ids[-1], ids.dtype) == (2, 3, np.uint16) for ids in blocks)
    assert all(len(ids) == block for ids in blocks[:-1])
    tokens = [token for ids in blocks for token in ids[1:-1].tolist()]
    assert tokens == expected[: len(expected) - left_out]
    assert left_out < module.SHORTEST_BLOCK
    assert bool(blocks) == bool(expected)


class Killed(BaseException):
    """What a kill looks like from inside: nothing is tidied up."""


def test_a_training_that_was_stopped_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    made = prepare(tmp_path, bert(tmp_path / "model", dropout=0.1))
    steps = pretrain_encoder(**made, out=tmp_path / "whole", **SHORT)["steps"]
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0)
    save = Checkpoints.save_if_due

    def stop(self, collect):
        if len(collect()["losses"]) > 3:
            raise Killed
        save(self, collect)

    monkeypatch.setattr(Checkpoints, "save_if_due", stop)
    with pytest.raises(Killed), scratch_at(tmp_path / "scratch"):
        pretrain_encoder(**made, out=tmp_path / "stopped", **SHORT)
    seen = []
    monkeypatch.setattr(Checkpoints, "save_if_due", lambda *_: seen.append(1))
    with scratch_at(tmp_path / "scratch"):
        pretrain_encoder(**made, out=tmp_path / "resumed", **SHORT)
    assert len(seen) == steps - 3
    assert content_digest(tmp_path / "resumed") == content_digest(tmp_path / "whole")


def test_a_checkpoint_without_a_head(tmp_path, made):
    headless = tmp_path / "headless"
    BertModel.from_pretrained(made["model"]).save_pretrained(headless)
    made_tokenizers.words(longest=512, extra=20).save_pretrained(headless)
    made["model"] = headless
    with pytest.raises(InputError, match=r"lacks .* weights of a masked language model"):
        pretrain_encoder(**made, out=tmp_path / "m", **SHORT)
    pretrain_encoder(**made, out=tmp_path / "m", new_head=True, **SHORT)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    assert record["new_weights"] and all(name.startswith("cls.") for name in record["new_weights"])
    assert load_masked_lm(tmp_path / "m").missing == []
    weights = load_file(headless / "model.safetensors")
    weights.pop("embeddings.word_embeddings.weight")
    save_file(weights, headless / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="lacks 1 weights beneath its head"):
        pretrain_encoder(**made, out=tmp_path / "n", new_head=True, **SHORT)


def test_bad_inputs(tmp_path, made):
    def refused(match, **options):
        with pytest.raises(InputError, match=match):
            pretrain_encoder(**{**made, "out": tmp_path / "m", **SHORT, **options})

    refused("reads 128 tokens, and blocks have 129", block=129)
    refused("the model has another tokenizer than tiny", model=roberta(tmp_path / "roberta"))
    refused(r"of step \d is not finite", learning_rate=1e38)
    other = write_cases(tmp_path / "other.parquet", "ecthr", cases()[1:])
    refused("other cases than the data set", data=other)
    for change, split in (({"split": "train"}, "dev"), ({"text": ["zebra"]}, "train")):
        rows = [row | change for row in cases()]
        inputs = prepare(tmp_path / split, made["model"], rows)
        refused(f"no case of the split {split} has a known token", **inputs)
    assert not (tmp_path / "m").exists()
