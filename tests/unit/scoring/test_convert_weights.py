import json
import os
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from huggingface_hub.errors import GatedRepoError
from safetensors.torch import load_file, save_file

from evenhand.errors import InputError
from evenhand.scoring.convert_weights import convert_weights
from evenhand.scoring.describe import describe
from evenhand.scoring.model_files import readable_errors
from evenhand.scoring.models import load_causal_lm, load_masked_lm, load_tokenizer
from unit.scoring import tiny_causal, tiny_models


class Code:
    """What an attacker puts into a pickle: a call that runs when it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch '{self.mark}'",)


def pickled(folder: Path, **options) -> Path:
    """The folder with its weights as pytorch_model.bin, tied ones twice, and nothing else."""
    model = (load_causal_lm if "gpt2" in str(folder) else load_masked_lm)(folder).model
    torch.save(model.state_dict(), folder / "pytorch_model.bin", **options)
    (folder / "model.safetensors").unlink()
    return folder


def convert(folder: Path) -> Path:
    out = folder.with_name("converted")
    counts = convert_weights(out=out, model=folder)
    weights = [load_file(path) for path in out.glob("*.safetensors")]
    size = sum(tensor.nbytes for tensors in weights for tensor in tensors.values())
    described = {"files": len(weights), "tensors": sum(map(len, weights)), "bytes": size}
    assert counts == described | {"commit": None}
    return out


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    ("family", "save", "load"),
    [("bert", tiny_models.save, load_masked_lm), ("gpt2", tiny_causal.save, load_causal_lm)],
)
def test_the_same_model(tmp_path, family, save, load, zipped):
    folder = save(tmp_path / family, family)
    expected = describe(load(folder))
    pickled(folder, _use_new_zipfile_serialization=zipped)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out = convert(folder)
    assert describe(load(out)) == expected
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not any(path.suffix == ".bin" for path in out.iterdir())
    first = (out / "model.safetensors").read_bytes()
    shutil.rmtree(out)
    assert (convert(folder) / "model.safetensors").read_bytes() == first


def parts(folder: Path) -> list[Path]:
    """The weights in two parts and their index."""
    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    (folder / "pytorch_model.bin").unlink()
    names = [f"pytorch_model-0000{number}-of-00002.bin" for number in (1, 2)]
    where = {key: names[number % 2] for number, key in enumerate(weights)}
    for name in names:
        own = {key: tensor for key, tensor in weights.items() if where[key] == name}
        torch.save(own, folder / name)
    index = folder / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": where}), encoding="utf-8")
    return [*(folder / name for name in names), index]


def test_parts_stay_parts(tmp_path):
    folder = tiny_models.save(tmp_path / "model")
    expected = describe(load_masked_lm(folder))
    parts(pickled(folder))
    out = convert(folder)
    assert describe(load_masked_lm(out)) == expected
    index = json.loads((out / "model.safetensors.index.json").read_text(encoding="utf-8"))
    weights = {path.name: load_file(path) for path in out.glob("*.safetensors")}
    found = {key: name for name, tensors in weights.items() for key in tensors}
    assert index["weight_map"] == found and len(weights) == 2
    size = sum(tensor.nbytes for tensors in weights.values() for tensor in tensors.values())
    assert index["metadata"] == {"total_size": size}


def test_parts_that_are_missing_or_elsewhere_are_errors(tmp_path):
    first, _, index = parts(pickled(tiny_models.save(tmp_path / "model")))
    first.rename(tmp_path / first.name)
    with pytest.raises(InputError, match=rf"the part {first.name} is missing; fetch it too"):
        convert(index.parent)
    for other in ({"a": f"../{first.name}"}, {"a": 1}, {}, []):
        index.write_text(json.dumps({"weight_map": other}), encoding="utf-8")
        with pytest.raises(InputError, match=r"index\.json: names no parts of weights"):
            convert(index.parent)
    index.unlink()
    with pytest.raises(InputError, match=r"there is no pytorch_model\.bin to convert"):
        convert(index.parent)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_with_code_is_refused_and_does_not_run(tmp_path, zipped):
    folder = pickled(tiny_models.save(tmp_path / "model"))
    file, mark = folder / "pytorch_model.bin", tmp_path / "mark"
    weights = torch.load(file, weights_only=True) | {"code": Code(mark)}
    torch.save(weights, file, _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError) as caught:
        convert(folder)
    assert str(caught.value) == (
        f"{file}: is not opened: it calls for posix.system, and weights need no code; use a copy"
        " with safetensors weights, from a publisher that you trust."
    )
    assert not mark.exists() and not (tmp_path / "converted/model.safetensors").exists()
    pickle.loads(pickle.dumps(Code(mark)))
    assert mark.exists()  # the code is real


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:5000]), "is damaged, or holds something"),
        (lambda file: file.write_bytes(b""), "is damaged, or holds something"),
        (lambda file: file.write_text("version https://git-lfs"), "is damaged, or holds something"),
        (lambda file: torch.save([1], file), "its entry '' is no dense tensor; save the model"),
        (lambda file: torch.save({"a": {}}, file), "its entry 'a' is no dense tensor"),
        (lambda file: torch.save({"a": torch.ones(2).to_sparse()}, file), "'a' is no dense|than w"),
        (lambda file: torch.save({"a": torch.ones(2).to(torch.complex128)}, file), "'a' is no"),
    ],
)
def test_what_is_no_weights(tmp_path, spoil, message):
    folder = pickled(tiny_models.save(tmp_path / "model"))
    spoil(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=message):
        convert(folder)


def test_tensors_that_share_memory_are_kept_both(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    whole = torch.arange(12.0).reshape(3, 4)
    tensors = {"all": whole, "row": whole[1], "turned": whole.T, "nothing": torch.ones(0)}
    torch.save(tensors | {"weight": torch.nn.Parameter(whole)}, folder / "pytorch_model.bin")
    found = load_file(convert(folder) / "model.safetensors")
    assert found.keys() == {*tensors, "weight"}
    for name, tensor in tensors.items():
        assert torch.equal(found[name], tensor)


# ---------------------------------------------------------------- the hub


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Path:
    """The hub's local cache with one model of pickled weights, and no connection."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    repository = cache / "models--made--tiny"
    snapshot = pickled(tiny_models.save(repository / "snapshots" / "0123abcd"))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(snapshot.name)
    save_file({"a": torch.ones(1)}, snapshot / "other.safetensors")
    return snapshot


def test_a_model_of_the_hub(tmp_path, hub):
    out = tmp_path / "converted"
    counts = convert_weights(out=out, hub_name="made/tiny")
    assert counts["commit"] == "0123abcd" and counts["files"] == 1
    assert load_masked_lm(out).model.config.model_type == "bert"
    assert not (out / "other.safetensors").exists()
    with pytest.raises(InputError, match="made/none is not in the hub's local cache"):
        convert_weights(out=tmp_path / "none", hub_name="made/none")
    with pytest.raises(InputError, match="give one of them, not both"):
        convert_weights(out=out, hub_name="made/tiny", model=hub)


def test_pickled_weights_of_the_hub_are_not_read_without_that(hub):
    with pytest.raises(
        InputError, match=r"pickled weights only.*convert_weights --hub-name made/tiny --out"
    ):
        load_masked_lm("made/tiny")


def test_a_model_of_the_hub_that_is_restricted_or_has_no_tokenizer(hub):
    gated = GatedRepoError.__new__(GatedRepoError)
    refused = pytest.raises(InputError, match="restricts access to the model made/gated; ask for")
    with refused, readable_errors("made/gated", "language model"):
        raise OSError("You are trying to access a gated repo.") from gated
    load_tokenizer("made/tiny")
    for path in hub.glob("*token*"):
        path.unlink()
    with pytest.raises(InputError, match="made/tiny: the tokenizer has no word; save"):
        load_tokenizer("made/tiny")
