import json
import logging
import shutil
import ssl
from contextlib import nullcontext
from urllib.error import HTTPError, URLError

import pytest
import torch
from safetensors.torch import load_file, save_file

from evenhand.errors import InputError
from evenhand.learning.hierarchical import load_encoder
from evenhand.scoring.describe import describe, fingerprint
from evenhand.scoring.model_files import check_reachable
from evenhand.scoring.models import family_of, load_causal_lm, load_language_model, load_masked_lm
from unit.scoring import architectures, tiny_causal, tiny_models

LONGEST = {"bert": 32, "roberta": 64, "distilbert": 32, "albert": 32}
LONGEST |= dict.fromkeys(tiny_causal.FAMILIES, 64)


@pytest.mark.parametrize("name", [*tiny_models.FAMILIES, *tiny_causal.FAMILIES])
def test_models_of_each_architecture(name, tmp_path):
    family, tiny = (
        ("causal", tiny_causal) if name in tiny_causal.FAMILIES else ("masked", tiny_models)
    )
    folder = tiny.save(tmp_path, name)
    assert family_of(folder) == family
    lm = load_language_model(folder, family)
    assert lm.missing == [] and lm.max_tokens == LONGEST.get(name, lm.max_tokens)
    with torch.inference_mode():
        lm.model(input_ids=torch.full((1, lm.max_tokens), 6))

    (folder / "model.safetensors").unlink()  # random models need the configuration only
    state = torch.random.get_rng_state()
    first, again, other = (load_language_model(folder, family, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert describe(first) == describe(again)
    assert describe(first)["weights_sha256"] != describe(other)["weights_sha256"]
    assert fingerprint(first) == fingerprint(again) != fingerprint(other)
    embedding, config = first.model.get_input_embeddings().weight, first.model.config
    spread = getattr(config, "initializer_range", None) or config.init_std
    assert embedding.std().item() == pytest.approx(spread, rel=0.2)
    shapes = [{n: t.shape for n, t in m.model.state_dict().items()} for m in (lm, first)]
    assert shapes[0] == shapes[1] and lm.max_tokens == first.max_tokens
    assert describe(lm)["tokenizer_sha256"] == describe(first)["tokenizer_sha256"]


def test_bfloat16(folder):
    assert describe(load_masked_lm(folder, dtype="bf16"))["dtype"] == "bfloat16"


@pytest.mark.parametrize(
    ("name", "load", "lost"),
    [
        ("bert", load_masked_lm, "cls.predictions.transform.dense.weight"),
        ("llama", load_causal_lm, "lm_head.weight"),  # not tied to the input layer
    ],
)
def test_a_missing_head_is_an_error_unless_allowed(tmp_path, name, load, lost):
    tiny, family = (tiny_causal, "causal") if name == "llama" else (tiny_models, "masked")
    tiny.save(tmp_path, name)
    weights = load_file(tmp_path / "model.safetensors")
    del weights[lost]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=rf"lacks 1 weights of a {family} .*{lost}.*random"):
        load(tmp_path)
    lm, again = load(tmp_path, allow_missing=True), load(tmp_path, allow_missing=True)
    assert lm.missing == [lost]
    assert describe(again)["weights_sha256"] == describe(lm)["weights_sha256"]


def old_layer_norm(name):
    """The name that TensorFlow gave to a weight of a layer norm."""
    name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
    return name.replace("LayerNorm.bias", "LayerNorm.beta")


@pytest.mark.parametrize(
    ("tiny", "load", "rename"),
    [
        (tiny_models, load_masked_lm, old_layer_norm),
        # as GPT-2 on the hub has them
        (tiny_causal, load_causal_lm, lambda name: name.removeprefix("transformer.")),
    ],
)
def test_weights_are_read_under_their_other_names(tmp_path, tiny, load, rename):
    tiny.save(tmp_path)
    own = describe(load(tmp_path))["weights_sha256"]
    weights = load_file(tmp_path / "model.safetensors")
    renamed = {rename(name): tensor for name, tensor in weights.items()}
    assert renamed.keys() != weights.keys()
    save_file(renamed, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert describe(load(tmp_path))["weights_sha256"] == own


@pytest.mark.parametrize("load", [load_masked_lm, load_encoder])
def test_weights_of_another_shape_than_the_configuration_are_one_error(copy, load, caplog):
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    size, width = config["vocab_size"], config["hidden_size"]
    (copy / "config.json").write_text(json.dumps(config | {"vocab_size": size + 9}))
    words = rf"word_embeddings.weight is {size}×{width}, .* states {size + 9}×{width}; use"
    logger = logging.getLogger("transformers.modeling_utils")
    logger.addHandler(caplog.handler)
    with pytest.raises(InputError, match=words):
        load(copy)
    assert not caplog.records and not logger.disabled  # no report of transformers besides


def change_config(**changes):
    """A change of a folder: other keys of its configuration."""

    def change(folder):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")

    return change


def pickle_weights(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def cut_weights(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def enlarge_tokenizer(folder):
    tokenizer = tiny_models.characters()
    tokenizer.add_tokens(["男子", "女子"])
    tokenizer.save_pretrained(folder)


def lose_mask(folder):
    tokenizer = tiny_models.pieces()
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)


GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "lacks config.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "lacks model.safetensors"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "lacks a tokenizer"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json"),
        (shutil.rmtree, "no such model folder"),
        (pickle_weights, r"a pickle, .*; convert it: python -m evenhand\."),
        (cut_weights, "weights are broken"),
        (change_config(**GPT2), "cannot be used as a masked language model"),
        (enlarge_tokenizer, r"tokenizer has \d+ tokens and the model \d+"),
        (lose_mask, "no mask token"),
    ],
)
def test_a_folder_that_cannot_be_used_says_why(copy, change, message):
    change(copy)
    with pytest.raises(InputError, match=message):
        load_masked_lm(copy)


def test_a_tokenizer_of_sentencepiece_alone(tmp_path):
    """As DeBERTa v3 has it on the hub: spm.model, and no tokenizer.json."""
    import sentencepiece

    architectures.save(tmp_path, "deberta_v3")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with (tmp_path / "spm.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(tiny_causal.SENTENCES),
            model_writer=file,
            vocab_size=50,
            **{"hard_vocab_limit": False, "minloglevel": 2},
            **{"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3},
            **{"pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]"},
            unk_piece="[UNK]",
        )
    lm = load_masked_lm(tmp_path)
    own = sentencepiece.SentencePieceProcessor(str(tmp_path / "spm.model"))
    text = "The doctor is poor."
    assert lm.tokenizer.tokenize(text) == own.encode(text, out_type=str)
    assert lm.mask_id == len(own)


def test_a_hub_name_that_cannot_be_had(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="nobody/nothing is not in the hub's local cache"):
        load_masked_lm("nobody/nothing")


@pytest.mark.parametrize(
    ("problem", "is_missing"),
    [
        (URLError(OSError(-2, "Name or service not known")), True),
        (TimeoutError(), True),
        (URLError(ssl.SSLError()), False),
        (HTTPError("https://hub", 403, "Forbidden", {}, None), False),
    ],
)
def test_a_hub_that_cannot_be_reached_is_told_at_once(monkeypatch, problem, is_missing):
    def refuse(*_, timeout):
        assert timeout <= 5
        raise problem

    monkeypatch.setattr("evenhand.scoring.model_files.urlopen", refuse)
    message = "nobody/nothing is not in the hub's local cache"
    with pytest.raises(InputError, match=message) if is_missing else nullcontext():
        check_reachable("nobody/nothing")
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: "config.json")
    check_reachable("nobody/nothing")


def test_settings(folder):
    with pytest.raises(InputError, match="dtype 'fp8' is unknown"):
        load_masked_lm(folder, dtype="fp8")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            load_masked_lm(folder, device="cuda")


# ---------------------------------------------------------------- causal models


@pytest.fixture(scope="module")
def causal_folder(tmp_path_factory):
    return tiny_causal.save(tmp_path_factory.mktemp("causal"))


@pytest.fixture
def causal_copy(causal_folder, tmp_path):
    return shutil.copytree(causal_folder, tmp_path / "copy")


def test_the_start_of_a_text(causal_folder, tmp_path):
    assert describe(load_causal_lm(causal_folder))["start_token"] == "</s>"
    none = load_causal_lm(tiny_causal.save(tmp_path, "gpt_neox"))
    assert none.start_id is None and describe(none)["start_token"] is None


def test_a_tied_output_layer_is_not_missing(causal_copy):
    weights = load_file(causal_copy / "model.safetensors")
    assert "lm_head.weight" not in weights  # one tensor serves as both
    lm = load_causal_lm(causal_copy)
    assert lm.missing == []
    torch.testing.assert_close(
        lm.model.get_output_embeddings().weight, weights["transformer.wte.weight"]
    )


def test_a_masked_model_is_not_run_as_a_causal_one(folder):
    with pytest.raises(InputError, match="is a masked language model, not a causal one"):
        load_causal_lm(folder)


def test_a_model_that_looks_ahead(copy):
    change_config(architectures=["BertLMHeadModel"])(copy)
    with pytest.raises(InputError, match="looks at the tokens that follow"):
        load_causal_lm(copy)
    change_config(is_decoder=True)(copy)
    assert load_causal_lm(copy).start_id == 2  # [CLS]


# ---------------------------------------------------------------- families

NEITHER = "neither a masked nor a causal"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "bert"}, "masked"),
        ({"model_type": "bert", "architectures": ["BertForPreTraining"]}, "masked"),
        ({"model_type": "bert", "architectures": ["BertLMHeadModel"]}, "causal"),
        ({"model_type": "xlm", "architectures": ["XLMWithLMHeadModel"]}, "masked"),
        ({"model_type": "gpt2"}, "causal"),
    ],
)
def test_family_by_the_configuration_only(config, expected, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert family_of(tmp_path) == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}, NEITHER),
        ({"model_type": "bart", "architectures": ["BartForConditionalGeneration"]}, NEITHER),
        ({"model_type": "vit", "architectures": ["ViTForImageClassification"]}, NEITHER),
        ({}, "cannot be used as a language model"),
    ],
)
def test_what_is_no_language_model_is_refused(config, message, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        family_of(tmp_path)
    with pytest.raises(InputError, match="no such model folder"):
        family_of(tmp_path / "nowhere")


# ---------------------------------------------------------------- models with random weights


def test_random_weights_are_drawn_in_fp32(folder):
    full, low = (
        load_masked_lm(folder, dtype=d, seed=0).model.state_dict() for d in ("fp32", "bf16")
    )
    for name, tensor in full.items():
        assert torch.equal(low[name], tensor.bfloat16() if tensor.is_floating_point() else tensor)


def test_a_random_model_of_another_family(folder, causal_folder):
    with pytest.raises(InputError, match="is a masked language model"):
        load_causal_lm(folder, seed=0)
    with pytest.raises(InputError, match="cannot be used as a masked language model"):
        load_masked_lm(causal_folder, seed=0)
