import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    RobertaConfig,
    RobertaForMaskedLM,
)

from evenhand.core.files import content_digest
from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.io.checkpoint import Checkpoints
from evenhand.learning.hierarchical import load_encoder
from evenhand.legal import pretrain_encoder as module
from evenhand.legal.pretrain_encoder import pretrain_encoder
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.legal.tokens import Special
from evenhand.scoring.models import load_masked_lm
from unit.legal import made_tokenizers
from unit.legal.made_cases import write_cases

#: Steps of a test that looks at no number.
SHORT = {"steps": 6, "batch": 4, "held_out": 5}

WORDS = 20


def bert(folder, *, seed=0, dropout=0.0, longest=128):
    """A random BERT of words, small enough to learn in some steps."""
    tokenizer = made_tokenizers.words(longest=512, extra=WORDS)
    torch.manual_seed(seed)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=longest,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def roberta(folder):
    tokenizer = made_tokenizers.bytes_with_merges()
    torch.manual_seed(0)
    model = RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=130,
            pad_token_id=1,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def cases(count=60):
    """Cases that use one word each, so that a hidden one follows from those that are seen."""
    generator = np.random.default_rng(0)
    made = []
    for number in range(count):
        made.append(
            {
                "text": [f"word{number // 5} " * 30] * generator.integers(1, 6),
                "split": ["train", "train", "train", "dev", "test"][number % 5],
            }
        )
    return made


@pytest.fixture
def made(tmp_path):
    return prepare(tmp_path, bert(tmp_path / "model"))


def prepare(folder, model, given=None):
    """The inputs of the stage."""
    data = write_cases(folder / "d.parquet", "ecthr", cases() if given is None else given)
    tokens, meta = folder / "t.arrow", folder / "t.json"
    tokenise_cases(data=data, out=tokens, meta=meta, name="tiny", model=model)
    return {"data": data, "tokens": tokens, "tokens_meta": meta, "model": model}


def test_it_learns_from_the_cases(tmp_path, made):
    counts = pretrain_encoder(**made, out=tmp_path / "m", steps=120, batch=8, learning_rate=5e-3)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    before, after = record["fill_mask_before"], record["fill_mask_after"]
    assert after["passed"] and after["accuracy_low"] > before["accuracy_high"]
    assert before["tokens"] == after["tokens"] >= 300
    assert (counts["accuracy_before"], counts["accuracy_after"], counts["baseline"]) == (
        before["accuracy"],
        after["accuracy"],
        after["baseline"],
    )
    assert counts["final_loss"] == record["loss"][-1]["loss"] < record["loss"][0]["loss"] - 1
    assert record["new_weights"] == []
    assert str(tmp_path) not in "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / "m").glob("*.json")
    )


@pytest.mark.parametrize("make", [bert, roberta])
def test_the_folder_is_a_language_model_and_an_encoder(tmp_path, make):
    made = prepare(tmp_path, make(tmp_path / "model"))
    counts = pretrain_encoder(**made, out=tmp_path / "m", **SHORT)
    assert counts["steps"] == 6 and counts["cases"] == 36
    lm = load_masked_lm(tmp_path / "m")
    assert lm.missing == [] and lm.max_tokens == 128
    encoder = load_encoder(tmp_path / "m")
    trained = lm.model.base_model.state_dict()
    started = load_masked_lm(made["model"]).model.base_model.state_dict()
    for name, tensor in encoder.state_dict().items():
        assert torch.equal(tensor, trained[name]), name
    assert not torch.equal(
        trained["embeddings.word_embeddings.weight"], started["embeddings.word_embeddings.weight"]
    )
    # its tokenizer makes the same tokens, so that they need not be made again
    other = tmp_path / "other.arrow"
    tokenise_cases(
        data=made["data"],
        out=other,
        meta=tmp_path / "other.json",
        name="tiny",
        model=tmp_path / "m",
    )
    assert other.read_bytes() == made["tokens"].read_bytes()
    assert (tmp_path / "other.json").read_bytes() == made["tokens_meta"].read_bytes()


def test_epochs_give_the_steps(tmp_path, made):
    counts = pretrain_encoder(**made, out=tmp_path / "m", epochs=0.5, batch=4, held_out=3)
    assert counts["steps"] == -(-counts["blocks"] // 8)


def test_the_same_bytes(tmp_path, made):
    for name in "ab":
        pretrain_encoder(**made, out=tmp_path / name, **SHORT)
    pretrain_encoder(**made, out=tmp_path / "c", **SHORT, seed=1)
    assert content_digest(tmp_path / "a") == content_digest(tmp_path / "b")
    assert content_digest(tmp_path / "a") != content_digest(tmp_path / "c")


def test_dev_and_test_cases_are_not_trained_on(tmp_path):
    model = bert(tmp_path / "model")
    digests = []
    for other in ("word1 word2", "word7 word3 word9"):
        folder = tmp_path / other.replace(" ", "_")
        folder.mkdir()
        given = cases()
        for case in given:
            if case["split"] != "train":
                case["text"] = [other]
        made = prepare(folder, model, given)
        pretrain_encoder(**made, out=folder / "m", **SHORT)
        digests.append(content_digest(folder / "m" / "model.safetensors"))
    assert digests[0] == digests[1]


def test_bf16_steps(tmp_path, made):
    pretrain_encoder(**made, out=tmp_path / "low", dtype="bf16", **SHORT)
    pretrain_encoder(**made, out=tmp_path / "whole", **SHORT)
    low, whole = (
        load_file(tmp_path / name / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
        for name in ("low", "whole")
    )
    assert low.dtype == torch.float32
    assert 0 < (low - whole).abs().max() < 0.01


special = Special(before=[2], after=[3], pad=0, unknown=1, mask=4)


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(16, 50))
def test_blocks_hold_a_case_once_and_in_order(sizes, block):
    text, expected = [], []
    for number, size in enumerate(sizes):
        paragraph = [100 + number] * size
        text += [2, *paragraph, 3]
        expected += [3] * (number > 0) + paragraph
    lengths = np.array(sizes, dtype=np.int64) + 2
    cut, left_out = module._cut(np.array(text, np.uint16), lengths, special, block)
    assert all(one[0] == 2 and one[-1] == 3 for one in cut)
    assert all(len(one) == block for one in cut[:-1])
    assert all(one.dtype == np.uint16 for one in cut)
    found = [token for one in cut for token in one[1:-1].tolist()]
    assert found == expected[: len(expected) - left_out]
    assert left_out < module.SHORTEST_BLOCK
    assert bool(cut) == bool(expected)


class Killed(BaseException):
    """What a kill looks like from inside: nothing is tidied up."""


def test_a_training_that_was_stopped_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    made = prepare(tmp_path, bert(tmp_path / "model", dropout=0.1))
    pretrain_encoder(**made, out=tmp_path / "whole", **SHORT)
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
    assert len(seen) == 3
    assert content_digest(tmp_path / "resumed") == content_digest(tmp_path / "whole")


def test_a_checkpoint_without_a_head(tmp_path, made):
    headless = tmp_path / "headless"
    BertModel.from_pretrained(made["model"]).save_pretrained(headless)
    made_tokenizers.words(longest=512, extra=WORDS).save_pretrained(headless)
    given = made | {"model": headless}
    with pytest.raises(InputError, match=r"lacks .* weights of a masked language model"):
        pretrain_encoder(**given, out=tmp_path / "m", **SHORT)
    pretrain_encoder(**given, out=tmp_path / "m", new_head=True, **SHORT)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    assert record["new_weights"] and all(name.startswith("cls.") for name in record["new_weights"])
    assert load_masked_lm(tmp_path / "m").missing == []
    kept = load_file(headless / "model.safetensors")
    kept.pop("embeddings.word_embeddings.weight")
    save_file(kept, headless / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="lacks 1 weights beneath its head"):
        pretrain_encoder(**given, out=tmp_path / "n", new_head=True, **SHORT)


def test_bad_inputs(tmp_path, made):
    def run(**options):
        pretrain_encoder(**{**made, "out": tmp_path / "m", **SHORT, **options})

    with pytest.raises(InputError, match="a folder or a hub name"):
        run(model=None)
    with pytest.raises(InputError, match="mask_probability is a share"):
        run(mask_probability=1.0)
    with pytest.raises(InputError, match="blocks of 8 tokens are too short"):
        run(block=8)
    for wrong in ({"steps": 0}, {"steps": None, "epochs": 0.0}, {"batch": 0}, {"threads": 0}):
        with pytest.raises(InputError, match="batch, held_out and threads are above 0"):
            run(**wrong)
    with pytest.raises(InputError, match="dtype 'fp16' is unknown"):
        run(dtype="fp16")
    with pytest.raises(InputError, match="reads 128 tokens, and blocks have 129"):
        run(block=129)
    with pytest.raises(InputError, match="the model has another tokenizer than tiny"):
        run(model=roberta(tmp_path / "roberta"))
    with pytest.raises(InputError, match=r"of step \d is not finite"):
        run(learning_rate=1e38)
    other = cases()
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="has other cases than the data set"):
        run(data=write_cases(tmp_path / "other/d.parquet", "ecthr", other[1:]))
    for case in other:
        case["split"] = "train"
    with pytest.raises(InputError, match="has no case in the split dev"):
        run(data=write_cases(tmp_path / "other/d.parquet", "ecthr", other))
    unknown = [case | {"text": ["zebra"]} for case in cases()]
    with pytest.raises(InputError, match="no case of the split train has a known token"):
        run(**prepare(tmp_path / "other", made["model"], unknown))
    assert not (tmp_path / "m").exists()
