"""Convert a checkpoint of pickled weights to safetensors.

A pickle can run code when it is opened. So `torch.load` reads it with ``weights_only=True``, which
allows tensors only, and all other stages read safetensors only.
"""

import json
import pickle
import re
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.scoring.model_files import PICKLED_FILES, WEIGHT_FILES, model_source, readable_errors

if TYPE_CHECKING:
    import torch

#: Files that are copied besides the weights: configuration and tokenizer.
COPIED = ("*.json", "*.txt", "*.model", "*.codes", "*.tokenizer")

#: The file names of parts of pickled weights in the index.
PART = re.compile(r"pytorch_model-\d+-of-\d+\.bin")


def convert_weights(
    *,
    out: Output,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """Convert a checkpoint of pickled weights to safetensors, without running its code.

    Parameters
    ----------
    out : path
        Folder of the converted model: the tensors as safetensors, configuration and tokenizer.
    model : path, optional
        Folder with pytorch_model.bin, or with its parts and their index. Either this or
        `hub_name`.
    hub_name : str, optional
        Name of the model on the Hugging Face hub.
    revision : str, optional
        Branch, tag or commit on the hub.

    Returns
    -------
    dict
        files, tensors, bytes; commit (on the hub, else None).

    Raises
    ------
    InputError
        There are no pickled weights, or a file is broken or contains more than tensors.
    """
    from safetensors.torch import save_file

    source = model_source(model, hub_name)
    folder = _fetch(source, revision) if hub_name else source
    parts = _parts(folder, source)
    out.mkdir(parents=True)
    for pattern in COPIED:
        for path in folder.glob(pattern):
            if path.is_file() and path.name not in PICKLED_FILES:
                shutil.copyfile(path, out / path.name)
    files: dict[str, str] = {}
    size = 0
    for path in parts:
        name = path.name.replace("pytorch_model", "model").replace(".bin", ".safetensors")
        tensors = _read(path)
        save_file(tensors, out / name, metadata={"format": "pt"})
        files |= dict.fromkeys(tensors, name)
        size += sum(tensor.nbytes for tensor in tensors.values())
    if len(parts) > 1:
        index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(files.items()))}
        text = json.dumps(index, ensure_ascii=False, indent=1)
        (out / WEIGHT_FILES[1]).write_text(text + "\n", encoding="utf-8")
    commit = folder.name if hub_name else None
    return {"files": len(parts), "tensors": len(files), "bytes": size, "commit": commit}


def _fetch(name: str, revision: str | None) -> Path:
    """Return the folder in the hub's local cache, without weights in other formats."""
    from huggingface_hub import snapshot_download

    with readable_errors(name, "language model"):
        return Path(
            snapshot_download(
                name, revision=revision, allow_patterns=[*COPIED, "pytorch_model*.bin"]
            )
        )


def _parts(folder: Path, source: Path | str) -> list[Path]:
    """Return the files of pickled weights: a single file, or those in the index."""
    whole, index = (folder / name for name in PICKLED_FILES)
    if whole.is_file():
        return [whole]
    if not index.is_file():
        raise InputError(f"there is no {whole.name} to convert", file=source)
    try:
        named = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        known = bool(named) and all(PART.fullmatch(name) for name in named)
    except (ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        raise InputError("names no parts of weights", file=index, remedy="fetch it again")
    if missing := [name for name in named if not (folder / name).is_file()]:
        raise InputError(f"the part {missing[0]} is missing", file=source, remedy="fetch it too")
    return [folder / name for name in named]


def _read(path: Path) -> "dict[str, torch.Tensor]":
    """Return the tensors of a file by name, without shared memory, as safetensors requires."""
    import torch

    try:
        loaded = torch.load(
            path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
        )
    except (MemoryError, PermissionError):
        raise
    except Exception as error:  # a damaged pickle fails in many ways
        raise _refused(path, error) from error
    tensors: dict[str, torch.Tensor] = {}
    used = set()
    for name, tensor in loaded.items() if isinstance(loaded, dict) else [("", loaded)]:
        if not isinstance(name, str) or not _is_plain(tensor):
            remedy = "save the model with save_pretrained, which writes safetensors"
            raise InputError(f"its entry {name!r} is no dense tensor", file=path, remedy=remedy)
        tensor = tensor.detach().contiguous()
        memory = tensor.untyped_storage().data_ptr()
        tensors[name] = tensor.clone() if memory in used else tensor
        used.add(memory)
    return tensors


def _is_plain(value: Any) -> bool:
    import torch

    dense = isinstance(value, torch.Tensor) and value.layout == torch.strided
    return dense and not value.is_quantized and value.dtype != torch.complex128


def _refused(path: Path, error: Exception) -> InputError:
    if isinstance(error, pickle.UnpicklingError) and (
        called := re.search(r"GLOBAL (\S+)", str(error))
    ):
        problem = f"is not opened: it calls for {called[1]}, and weights need no code"
        remedy = "use a copy with safetensors weights, from a publisher that you trust"
        return InputError(problem, file=path, remedy=remedy)
    problem = "is damaged, or holds something other than weights"
    return InputError(problem, file=path, remedy="fetch it again")
