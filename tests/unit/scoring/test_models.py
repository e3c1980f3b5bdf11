import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from evenhand.errors import InputError
from evenhand.scoring.models import describe, load_masked_lm, logits_at
from unit.scoring import tiny_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.save(tmp_path_factory.mktemp("model"))


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_the_head_sees_selected_places_only(family, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    ids = torch.randint(5, lm.vocabulary, (3, 9), generator=torch.Generator().manual_seed(1))
    rows, columns = torch.tensor([0, 0, 2]), torch.tensor([1, 8, 4])
    shapes = []
    hook = lm.model.get_output_embeddings().register_forward_hook(
        lambda _module, _arguments, output: shapes.append(tuple(output.shape[:-1]))
    )
    with torch.inference_mode():
        selected = logits_at(lm.model, ids, rows, columns)
        whole = lm.model(input_ids=ids).logits
    hook.remove()
    torch.testing.assert_close(selected, whole[rows, columns], rtol=1e-4, atol=1e-4)
    assert shapes == [(1, 3), (3, 9)]


@pytest.mark.parametrize(
    ("family", "longest"), [("bert", 32), ("roberta", 64), ("distilbert", 32), ("albert", 32)]
)
def test_longest_input(family, longest, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    assert lm.max_tokens == longest
    with torch.inference_mode():
        lm.model(input_ids=torch.full((1, longest), 6))


def test_description_is_of_the_content(folder, copy, tmp_path):
    one, other = describe(load_masked_lm(folder)), describe(load_masked_lm(copy))
    assert one == other
    assert one["parameters"] > 0 and one["missing"] == []
    changed = describe(load_masked_lm(tiny_models.save(tmp_path / "x", seed=1)))
    assert changed["weights_sha256"] != one["weights_sha256"]
    assert changed["tokenizer_sha256"] == one["tokenizer_sha256"]


def test_bfloat16(folder):
    assert describe(load_masked_lm(folder, dtype="bf16"))["dtype"] == "bfloat16"


def _lose(folder, name):
    weights = load_file(folder / "model.safetensors")
    del weights[name]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_a_missing_head_is_an_error_unless_allowed(copy):
    _lose(copy, "cls.predictions.transform.dense.weight")
    with pytest.raises(InputError, match=r"lacks 1 weights .*transform\.dense\.weight.*random"):
        load_masked_lm(copy)
    lm = load_masked_lm(copy, allow_missing=True)
    assert lm.missing == ["cls.predictions.transform.dense.weight"]
    again = load_masked_lm(copy, allow_missing=True)
    assert describe(again)["weights_sha256"] == describe(lm)["weights_sha256"]


def test_a_body_without_a_head_is_an_error(copy):
    weights = load_file(copy / "model.safetensors")
    body = {name: tensor for name, tensor in weights.items() if not name.startswith("cls.")}
    save_file(body, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 6 weights of a masked language model"):
        load_masked_lm(copy)


def test_old_names_of_layer_norm_are_read(copy, folder):
    weights = load_file(copy / "model.safetensors")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in weights.items()
    }
    assert old.keys() != weights.keys()
    save_file(old, copy / "model.safetensors", metadata={"format": "pt"})
    assert (
        describe(load_masked_lm(copy))["weights_sha256"]
        == describe(load_masked_lm(folder))["weights_sha256"]
    )


def test_pickled_weights_are_not_read(copy):
    weights = load_file(copy / "model.safetensors")
    torch.save(weights, copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"lacks model.safetensors \(pytorch_model.bin is not"):
        load_masked_lm(copy)


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        (["config.json"], "lacks config.json"),
        (["model.safetensors"], "lacks model.safetensors"),
        (["tokenizer.json"], "lacks a tokenizer"),
    ],
)
def test_an_incomplete_folder_says_what_lacks(copy, lost, message):
    for name in lost:
        (copy / name).unlink()
    with pytest.raises(InputError, match=message):
        load_masked_lm(copy)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        load_masked_lm(tmp_path / "nowhere")


def test_cut_weights(copy):
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="weights are broken"):
        load_masked_lm(copy)


def test_broken_config(copy):
    (copy / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        load_masked_lm(copy)


def test_another_kind_of_model(copy):
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match="cannot be used as a masked language model"):
        load_masked_lm(copy)


def test_a_tokenizer_larger_than_the_model(copy, tmp_path):
    tokenizer = tiny_models.characters()
    tokenizer.add_tokens(["男子", "女子"])
    tokenizer.save_pretrained(copy)
    with pytest.raises(InputError, match=r"tokenizer has \d+ tokens and the model \d+"):
        load_masked_lm(copy)


def test_a_tokenizer_without_mask(copy):
    tokenizer = tiny_models.pieces()
    tokenizer.mask_token = None
    tokenizer.save_pretrained(copy)
    with pytest.raises(InputError, match="no mask token"):
        load_masked_lm(copy)


def test_a_hub_name_that_cannot_be_had(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="nobody/nothing is not in the hub's local cache"):
        load_masked_lm("nobody/nothing")


def test_settings(folder):
    with pytest.raises(InputError, match="dtype 'fp8' is unknown"):
        load_masked_lm(folder, dtype="fp8")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            load_masked_lm(folder, device="cuda")
