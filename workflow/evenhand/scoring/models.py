"""Language models, loaded safely: no remote code, no pickles, no head that is not there."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.scoring.device import DTYPES, check_device

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

#: Any one of these is a tokenizer's vocabulary.
VOCABULARY_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)

#: Any one of these holds weights in the safetensors format.
WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json")

#: Weights per tensor that `fingerprint` looks at, about.
SAMPLED_WEIGHTS = 1024


class BrokenModelError(InputError):
    """A model that is there but can never be scored: no head, no weights, no tokenizer.

    It is a result of an audit, not a failure of it: stages that score several models note it
    in the model's gate (`describe_broken`) and go on.
    """


@dataclass(frozen=True)
class LanguageModel:
    """A language model, ready to be asked.

    Parameters
    ----------
    model, tokenizer
        Of the library transformers; the model is in evaluation mode on its device.
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
    unknown_id: int | None
    max_tokens: int
    missing: list[str]
    revision: str | None

    @property
    def vocabulary(self) -> int:
        """The number of tokens that the head gives a probability to."""
        return int(self.model.config.vocab_size)


@dataclass(frozen=True)
class MaskedLM(LanguageModel):
    """A masked language model: it says what may stand at a mask.

    Parameters
    ----------
    mask_id : int
        Token id of the mask.
    """

    mask_id: int


@dataclass(frozen=True)
class CausalLM(LanguageModel):
    """A causal language model: it says what may come next.

    Parameters
    ----------
    start_id : int or None
        Token id of what stands before a text: what the tokenizer puts there by itself, else its
        beginning of text, else its end of text. None if it has none of these; then nothing
        says how likely a first token is.
    """

    start_id: int | None


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
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "masked")
    model, missing = _load_weights(source, revision, "masked", dtype, allow_missing)
    return _masked(source, model, tokenizer, missing, device)


def load_causal_lm(
    source: Path | str,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
    allow_missing: bool = False,
) -> CausalLM:
    """Load a causal language model and its tokenizer.

    Parameters and errors are those of `load_masked_lm`; a model that looks at the tokens that
    follow is an error too, and a tokenizer needs no mask.
    """
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "causal")
    model, missing = _load_weights(source, revision, "causal", dtype, allow_missing)
    return _causal(source, model, tokenizer, missing, device)


def random_masked_lm(
    source: Path | str,
    seed: int,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
) -> MaskedLM:
    """A masked language model that has learned nothing: what `source` was before its training.

    It has the architecture and the tokenizer of `source`, and the weights that its class
    starts with, drawn from `seed` in fp32. Of `source` only the configuration and the
    tokenizer are read. Parameters and errors are those of `load_masked_lm`.
    """
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "masked", weights=False)
    model = _draw_weights(source, revision, "masked", dtype, seed)
    return _masked(source, model, tokenizer, [], device)


def random_causal_lm(
    source: Path | str,
    seed: int,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
) -> CausalLM:
    """A causal language model that has learned nothing. See `random_masked_lm`."""
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "causal", weights=False)
    model = _draw_weights(source, revision, "causal", dtype, seed)
    return _causal(source, model, tokenizer, [], device)


def family_of(source: Path | str, *, revision: str | None = None) -> str:
    """Whether a model is a ``masked`` or a ``causal`` language model, by its configuration.

    What the configuration names as the model's class decides; if that is neither, its type
    does (BERT is a masked language model, whatever head this checkpoint has).

    Raises
    ------
    InputError
        There is no such model, or it is neither: an encoder-decoder, say.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    config = _load_config(source, revision)
    classes = {*(config.architectures or [])}
    if not config.is_encoder_decoder:
        if classes.intersection(MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()):
            return "masked"
        if classes.intersection(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()):
            return "causal"
        if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            return "masked"
        if config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
            return "causal"
    raise BrokenModelError(
        f"{', '.join(sorted(classes)) or config.model_type} is neither a masked nor a causal"
        " language model",
        file=source,
    )


def describe(lm: LanguageModel) -> dict[str, Any]:
    """What a model is, for the record: type, sizes, and digests of weights and tokenizer.

    Of a causal model also the token that stands before each text (None: there is none, and
    first tokens are not scored).
    """
    import torch

    weights = hashlib.sha256()
    for name, tensor in sorted(lm.model.state_dict().items()):
        plain = tensor.detach().cpu().contiguous()
        weights.update(f"{name}\0{plain.dtype}\0{tuple(plain.shape)}\0".encode())
        weights.update(plain.reshape(-1).view(torch.uint8).numpy().data)
    vocabulary = lm.tokenizer.backend_tokenizer.to_str()
    description = {
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
    if isinstance(lm, CausalLM):
        start = None if lm.start_id is None else lm.tokenizer.convert_ids_to_tokens(lm.start_id)
        description["start_token"] = start
    return description


def describe_broken(error: BrokenModelError) -> dict[str, Any]:
    """What `describe` would say of a model that cannot be loaded, and why there is no number."""
    from evenhand.scoring.fill_mask import NOTHING_CHECKED

    known = ("type", "parameters", "vocabulary", "max_tokens", "dtype", "revision")
    return {
        **dict.fromkeys((*known, "weights_sha256", "tokenizer_sha256")),
        "missing": [],
        "trusted": False,
        "reason": "broken_model",
        # without the path, which may be of one machine
        "detail": f"{error.problem[:1].upper()}{error.problem[1:]}.",
        "check": NOTHING_CHECKED,
    }


def fingerprint(lm: LanguageModel) -> str:
    """A quick digest of a model's weights, from a sample of each: tells two models apart.

    For what is kept of an interrupted run (see `evenhand.scoring.execution.run_batches`); for
    the record there is `describe`.
    """
    import torch

    digest = hashlib.blake2b(lm.model.config.model_type.encode(), digest_size=16)
    for name, tensor in lm.model.state_dict().items():
        flat = tensor.detach().reshape(-1)
        sample = flat[:: max(1, len(flat) // SAMPLED_WEIGHTS)].cpu().contiguous()
        digest.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(sample.view(torch.uint8).numpy().data)
    return digest.hexdigest()


# ---------------------------------------------------------------- loading


def _options(revision: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {"trust_remote_code": False}
    return options if revision is None else options | {"revision": revision}


def _load_config(source: Path | str, revision: str | None) -> "PretrainedConfig":
    from transformers import AutoConfig

    if isinstance(source, Path):
        check_folder(source, weights=False, vocabulary=False)
    with readable_errors(source, "language model"):
        return AutoConfig.from_pretrained(str(source), **_options(revision))


def _load_tokenizer(
    source: Path | str, revision: str | None, family: str, *, weights: bool = True
) -> "PreTrainedTokenizerBase":
    """The tokenizer; a folder is first asked whether all is in it that is needed."""
    from transformers import AutoTokenizer

    if isinstance(source, Path):
        check_folder(source, weights=weights)
    with readable_errors(source, f"{family} language model"):
        tokenizer = AutoTokenizer.from_pretrained(str(source), **_options(revision))
    if not tokenizer.is_fast:
        raise BrokenModelError(
            "the tokenizer gives no offsets", file=source, remedy="use a fast one"
        )
    return tokenizer


def _load_weights(
    source: Path | str, revision: str | None, family: str, dtype: str, allow_missing: bool
) -> tuple["PreTrainedModel", list[str]]:
    """The model, and the weights that its checkpoint lacks (none, unless they may be missing)."""
    import torch

    # Weights that the checkpoint lacks are drawn: the seed makes them the same each time.
    with (
        readable_errors(source, f"{family} language model"),
        torch.random.fork_rng(devices=[]),
    ):
        torch.manual_seed(0)
        model, info = _class(source, revision, family).from_pretrained(
            str(source),
            use_safetensors=True,
            output_loading_info=True,
            dtype=getattr(torch, DTYPES[dtype]),
            **_options(revision),
        )
    missing = sorted({*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])})
    if missing and not allow_missing:
        raise BrokenModelError(
            f"the checkpoint lacks {len(missing)} weights of a {family} language model "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); they would be random",
            file=source,
            remedy="use a checkpoint with its language-model head (for ELECTRA: the generator), "
            "or allow missing weights to see a number that is not to be trusted",
        )
    return model, missing


def _draw_weights(
    source: Path | str, revision: str | None, family: str, dtype: str, seed: int
) -> "PreTrainedModel":
    """A model as its class starts, from a seed."""
    import torch

    config = _load_config(source, revision)
    with (
        readable_errors(source, f"{family} language model"),
        torch.random.fork_rng(devices=[]),
    ):
        torch.manual_seed(seed)
        model = _class(source, revision, family).from_config(
            config, dtype=torch.float32, trust_remote_code=False
        )
    return model.to(getattr(torch, DTYPES[dtype]))


def _class(source: Path | str, revision: str | None, family: str) -> Any:
    """The class of transformers that loads a model of a family."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    if family == "masked":
        return AutoModelForMaskedLM
    if family_of(source, revision=revision) != family:  # BERT would be run as if it were one
        raise BrokenModelError("is a masked language model, not a causal one", file=source)
    return AutoModelForCausalLM


def _masked(
    source: Path | str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    missing: list[str],
    device: str,
) -> MaskedLM:
    if tokenizer.mask_token_id is None:
        raise BrokenModelError("the tokenizer has no mask token", file=source)
    common = _prepare(source, model, tokenizer, missing, device)
    enable_selection(model)
    return MaskedLM(**common, mask_id=tokenizer.mask_token_id)


def _causal(
    source: Path | str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    missing: list[str],
    device: str,
) -> CausalLM:
    common = _prepare(source, model, tokenizer, missing, device)
    model.config.use_cache = False  # nothing is generated
    if _looks_ahead(model):
        raise BrokenModelError(
            f"{type(model).__name__} looks at the tokens that follow, so it is no causal"
            " language model",
            file=source,
        )
    enable_selection(model, before_output=True)
    return CausalLM(**common, start_id=_start_id(tokenizer))


def _start_id(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """See `CausalLM`. Of several tokens that a tokenizer puts before a text, the first."""
    added, plain = (
        tokenizer("a", add_special_tokens=wanted, verbose=False).input_ids
        for wanted in (True, False)
    )
    own = [added[0]] if added[:1] != plain[:1] and added[0] in tokenizer.all_special_ids else []
    named = [tokenizer.bos_token_id, tokenizer.eos_token_id]
    return next((token for token in [*own, *named] if token is not None), None)


def _prepare(
    source: Path | str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    missing: list[str],
    device: str,
) -> dict[str, Any]:
    """Put a model on its device, to be read only; return what `LanguageModel` is made of."""
    if len(tokenizer) > model.config.vocab_size:
        raise BrokenModelError(
            f"the tokenizer has {len(tokenizer)} tokens and the model {model.config.vocab_size}",
            file=source,
            remedy="put the tokenizer that the model was trained with beside it",
        )
    model.eval().requires_grad_(False).to(device)
    return {
        "model": model,
        "tokenizer": tokenizer,
        "unknown_id": tokenizer.unk_token_id,
        "max_tokens": _max_tokens(model, tokenizer),
        "missing": missing,
        "revision": getattr(model.config, "_commit_hash", None),
    }


# ---------------------------------------------------------------- the head, where it is needed

#: The places whose hidden states the head is to see; one selection per thread, since several
#: threads may run one model.
_selection = threading.local()


def enable_selection(model: "PreTrainedModel", *, before_output: bool = False) -> None:
    """Make `logits_at` work on a model: its head sees selected hidden states only.

    Every masked-LM class of transformers runs its body (`model.base_model`) and then its
    head on the first output. A hook between the two keeps the selected places, so the head,
    which for a small model costs more than the body, is not run on the others. The head of a
    causal model is its output layer only, and some classes (OPT) run a part of the body that
    is not `base_model`; so there the hook is right before that layer (`before_output`). That
    the head treats places one by one is checked here on a short input.
    """
    import torch

    def keep_selected(_module: Any, _arguments: Any, output: Any) -> Any:
        places = getattr(_selection, "places", None)
        if places is not None:
            output.last_hidden_state = output.last_hidden_state[places][None]
        return output

    def show_selected(_module: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        places = getattr(_selection, "places", None)
        return arguments if places is None else (arguments[0][places][None], *arguments[1:])

    if before_output:
        model.get_output_embeddings().register_forward_pre_hook(show_selected)
    else:
        model.base_model.register_forward_hook(keep_selected)
    ids = _short_inputs(model)
    rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 4])
    training = model.training
    model.eval()  # dropout would make two runs differ
    with torch.no_grad():
        selected = logits_at(model, ids, rows, columns)
        whole = model(input_ids=ids).logits[rows, columns].float()
    model.train(training)
    if not _close(model, selected, whole):
        raise RuntimeError(f"{type(model).__name__} has a head that looks at several places")


def _short_inputs(model: "PreTrainedModel") -> "torch.Tensor":
    """Two inputs of five tokens, none of them padding."""
    import torch

    first = (model.config.pad_token_id or 0) + 1
    return (first + torch.arange(10, device=model.device)).reshape(2, 5) % model.config.vocab_size


def _looks_ahead(model: "PreTrainedModel") -> bool:
    """Whether a model's logits change with the tokens that follow."""
    import torch

    ids = _short_inputs(model)
    other = ids.clone()
    other[:, 3:] = ids.flip(0)[:, 3:]
    with torch.no_grad():
        one, two = (model(input_ids=these).logits[:, :3].float() for these in (ids, other))
    return not _close(model, one, two)


def _close(model: "PreTrainedModel", one: "torch.Tensor", other: "torch.Tensor") -> bool:
    """Whether logits differ by rounding only."""
    import torch

    loose = 1e-4 if model.dtype == torch.float32 else 0.1
    return torch.allclose(one, other, rtol=loose, atol=loose, equal_nan=True)


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


def check_folder(folder: Path, *, weights: bool = True, vocabulary: bool = True) -> None:
    """Say what a model folder lacks, before a library guesses."""
    if not folder.is_dir():
        raise InputError("there is no such model folder", file=folder)
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        raise BrokenModelError("the model folder lacks config.json", file=folder)
    if weights and not names.intersection(WEIGHT_FILES):
        pickled = sorted(name for name in names if name.endswith((".bin", ".pt", ".ckpt", ".h5")))
        raise BrokenModelError(
            f"the model folder lacks {WEIGHT_FILES[0]}"
            + (f" ({pickled[0]} is not read: a pickle can run code)" if pickled else ""),
            file=folder,
            remedy="save the model with save_pretrained, which writes safetensors",
        )
    if vocabulary and not names.intersection(VOCABULARY_FILES):
        raise BrokenModelError(
            f"the model folder lacks a tokenizer (one of {', '.join(VOCABULARY_FILES)})",
            file=folder,
            remedy="save the tokenizer into it with save_pretrained",
        )


@contextmanager
def readable_errors(source: Path | str, wanted: str) -> Iterator[None]:
    """Turn what loading raises for a user's mistake into one sentence."""
    from huggingface_hub.errors import HfHubHTTPError
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        raise BrokenModelError(
            f"the weights are broken ({error})", file=source, remedy="fetch the model again"
        ) from error
    except json.JSONDecodeError as error:
        raise BrokenModelError(
            f"a JSON file of the model is broken ({error})", file=source
        ) from error
    except (OSError, HfHubHTTPError) as error:
        if isinstance(source, Path):
            raise InputError(f"cannot be loaded ({_first_line(error)})", file=source) from error
        raise InputError(
            f"the model {source} is not in the hub's local cache and cannot be had from the hub",
            remedy="check the name and the connection (HF_HUB_OFFLINE forbids one), "
            "or give a folder that holds the model",
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:
        raise BrokenModelError(
            f"cannot be used as a {wanted} ({_first_line(error)})", file=source
        ) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0].rstrip(".")[:200] if text else type(error).__name__


def _max_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> int:
    """The longest input in tokens, for model and tokenizer."""
    positions = positions_of(model)
    longest = tokenizer.model_max_length
    return int(longest if positions is None else min(positions, longest))


def positions_of(model: "PreTrainedModel") -> int | None:
    """How many tokens a model has positions for; None if it does not say.

    RoBERTa and its kin count positions from after the padding.
    """
    positions = getattr(model.config, "max_position_embeddings", None)
    if not positions:
        return None
    embeddings = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    if padding is not None:
        positions -= padding + 1
    return int(positions)
