"""Masked language models, loaded safely: no remote code, no pickles, no head that is not there."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

#: The number formats that a model can be run in.
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}

#: Any one of these is a tokenizer's vocabulary.
VOCABULARY_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
)

#: Any one of these holds weights in the safetensors format.
WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True)
class MaskedLM:
    """A masked language model, ready to be asked.

    Parameters
    ----------
    model, tokenizer
        Of the library transformers; the model is in evaluation mode on its device.
    mask_id : int
        Token id of the mask.
    unknown_id : int or None
        Token id of unknown text; None where the tokenizer can write everything.
    max_tokens : int
        The longest input, in tokens, specials included.
    missing : list of str
        Weights that the checkpoint lacks, so that they have random values (see
        `load_masked_lm`, `allow_missing`). Empty for a model to be trusted.
    revision : str or None
        The commit of a model from the hub.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    mask_id: int
    unknown_id: int | None
    max_tokens: int
    missing: list[str]
    revision: str | None

    @property
    def vocabulary(self) -> int:
        """The number of tokens that the head gives a probability to."""
        return int(self.model.config.vocab_size)


def load_masked_lm(
    source: Path | str,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
    allow_missing: bool = False,
) -> MaskedLM:
    """Load a masked language model and its tokenizer.

    Parameters
    ----------
    source : Path or str
        A folder (Path) in the Hugging Face layout, or a name on the hub (str). With the
        environment variable ``HF_HUB_OFFLINE=1`` only the hub's local cache is used.
    revision : str, optional
        Branch, tag or commit on the hub.
    device : str
        ``cpu``, ``cuda`` or ``cuda:N``.
    dtype : str
        ``fp32`` or ``bf16``.
    allow_missing : bool
        Load a model although its checkpoint lacks weights; they are named in `missing`.

    Raises
    ------
    InputError
        The folder lacks a part or holds pickled weights only, the hub has no such model or
        cannot be reached, the checkpoint is broken, is no masked language model, or lacks
        weights, the tokenizer has no mask or no offsets, or the device is not there.
    """
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    if dtype not in DTYPES:
        raise InputError(f"dtype {dtype!r} is unknown", remedy=f"use {' or '.join(DTYPES)}")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"there is no GPU for the device {device!r}", remedy="use cpu")
    if isinstance(source, Path):
        _check_folder(source)
    options: dict[str, Any] = {"trust_remote_code": False}
    if revision is not None:
        options["revision"] = revision
    # Weights that the checkpoint lacks are drawn: the seed makes them the same each time.
    with _readable_errors(source), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(str(source), **options)
        model, info = AutoModelForMaskedLM.from_pretrained(
            str(source),
            use_safetensors=True,
            output_loading_info=True,
            dtype=getattr(torch, DTYPES[dtype]),
            **options,
        )
    missing = sorted({*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])})
    if missing and not allow_missing:
        raise InputError(
            f"the checkpoint lacks {len(missing)} weights of a masked language model "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); they would be random",
            file=source,
            remedy="use a checkpoint with its masked-LM head (for ELECTRA: the generator), "
            "or allow missing weights to see a number that is not to be trusted",
        )
    if not tokenizer.is_fast:
        raise InputError("the tokenizer gives no offsets", file=source, remedy="use a fast one")
    if tokenizer.mask_token_id is None:
        raise InputError("the tokenizer has no mask token", file=source)
    if len(tokenizer) > model.config.vocab_size:
        raise InputError(
            f"the tokenizer has {len(tokenizer)} tokens and the model {model.config.vocab_size}",
            file=source,
            remedy="put the tokenizer that the model was trained with beside it",
        )
    model.eval().requires_grad_(False).to(device)
    enable_selection(model)
    return MaskedLM(
        model=model,
        tokenizer=tokenizer,
        mask_id=tokenizer.mask_token_id,
        unknown_id=tokenizer.unk_token_id,
        max_tokens=_max_tokens(model, tokenizer),
        missing=missing,
        revision=getattr(model.config, "_commit_hash", None),
    )


def describe(lm: MaskedLM) -> dict[str, Any]:
    """What a model is, for the record: type, sizes, and digests of weights and tokenizer."""
    import torch

    weights = hashlib.sha256()
    for name, tensor in sorted(lm.model.state_dict().items()):
        plain = tensor.detach().cpu().contiguous()
        weights.update(f"{name}\0{plain.dtype}\0{tuple(plain.shape)}\0".encode())
        weights.update(plain.reshape(-1).view(torch.uint8).numpy().data)
    vocabulary = lm.tokenizer.backend_tokenizer.to_str()
    return {
        "type": lm.model.config.model_type,
        "parameters": lm.model.num_parameters(),
        "vocabulary": lm.vocabulary,
        "max_tokens": lm.max_tokens,
        "dtype": str(lm.model.dtype).removeprefix("torch."),
        "revision": lm.revision,
        "weights_sha256": weights.hexdigest(),
        "tokenizer_sha256": hashlib.sha256(vocabulary.encode()).hexdigest(),
        "missing": lm.missing,
    }


# ---------------------------------------------------------------- the head, where it is needed

#: The places whose hidden states the head is to see; one selection per thread, since several
#: threads may run one model.
_selection = threading.local()


def enable_selection(model: "PreTrainedModel") -> None:
    """Make `logits_at` work on a model: its head sees selected hidden states only.

    Every masked-LM class of transformers runs its body (`model.base_model`) and then its
    head on the first output. A hook between the two keeps the selected places, so the head,
    which for a small model costs more than the body, is not run on the others. That the head
    treats places one by one is checked here on a short input.
    """
    import torch

    def keep_selected(_module: Any, _arguments: Any, output: Any) -> Any:
        places = getattr(_selection, "places", None)
        if places is None:
            return output
        output.last_hidden_state = output.last_hidden_state[places][None]
        return output

    model.base_model.register_forward_hook(keep_selected)
    first = (model.config.pad_token_id or 0) + 1
    ids = (first + torch.arange(10, device=model.device)).reshape(2, 5) % model.config.vocab_size
    rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 4])
    training = model.training
    model.eval()  # dropout would make two runs differ
    with torch.no_grad():
        selected = logits_at(model, ids, rows, columns)
        whole = model(input_ids=ids).logits[rows, columns].float()
    model.train(training)
    loose = 1e-4 if model.dtype == torch.float32 else 0.1
    if not torch.allclose(selected, whole, rtol=loose, atol=loose, equal_nan=True):
        raise RuntimeError(f"{type(model).__name__} has a head that looks at several places")


def logits_at(
    model: "PreTrainedModel",
    ids: "torch.Tensor",
    rows: "torch.Tensor",
    columns: "torch.Tensor",
    **inputs: "torch.Tensor",
) -> "torch.Tensor":
    """Logits over the vocabulary at given places of a batch.

    Parameters
    ----------
    model
        A model that `enable_selection` was called on.
    ids : tensor of int, shape (batch, length)
        Token ids.
    rows, columns : tensors of int, shape (k,)
        The places.
    **inputs
        What else the model takes, such as an attention mask.

    Returns
    -------
    tensor of float32, shape (k, vocabulary)
    """
    _selection.places = (rows, columns)
    try:
        return model(input_ids=ids, **inputs).logits[0].float()
    finally:
        _selection.places = None


# ---------------------------------------------------------------- errors that a user can act on


def _check_folder(folder: Path) -> None:
    """Say what a model folder lacks, before a library guesses."""
    if not folder.is_dir():
        raise InputError("there is no such model folder", file=folder)
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        raise InputError("the model folder lacks config.json", file=folder)
    if not names.intersection(WEIGHT_FILES):
        pickled = sorted(name for name in names if name.endswith((".bin", ".pt", ".ckpt", ".h5")))
        raise InputError(
            f"the model folder lacks {WEIGHT_FILES[0]}"
            + (f" ({pickled[0]} is not read: a pickle can run code)" if pickled else ""),
            file=folder,
            remedy="save the model with save_pretrained, which writes safetensors",
        )
    if not names.intersection(VOCABULARY_FILES):
        raise InputError(
            f"the model folder lacks a tokenizer (one of {', '.join(VOCABULARY_FILES)})",
            file=folder,
            remedy="save the tokenizer into it with save_pretrained",
        )


@contextmanager
def _readable_errors(source: Path | str) -> Iterator[None]:
    """Turn what loading raises for a user's mistake into one sentence."""
    from huggingface_hub.errors import HfHubHTTPError
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        raise InputError(
            f"the weights are broken ({error})", file=source, remedy="fetch the model again"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(f"a JSON file of the model is broken ({error})", file=source) from error
    except (OSError, HfHubHTTPError) as error:
        if isinstance(source, Path):
            raise InputError(f"cannot be loaded ({_first_line(error)})", file=source) from error
        raise InputError(
            f"the model {source} is not in the hub's local cache and cannot be had from the hub",
            remedy="check the name and the connection (HF_HUB_OFFLINE forbids one), "
            "or give a folder that holds the model",
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:
        raise InputError(
            f"cannot be used as a masked language model ({_first_line(error)})", file=source
        ) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0].rstrip(".")[:200] if text else type(error).__name__


def _max_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> int:
    """The longest input in tokens: RoBERTa and its kin count positions from after the padding."""
    positions = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    embeddings = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    if padding is not None:
        positions -= padding + 1
    return int(min(positions, tokenizer.model_max_length))
