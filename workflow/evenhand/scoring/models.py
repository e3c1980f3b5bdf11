"""Load language models safely: without remote code, pickles, or random heads."""

import functools
import logging
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.scoring.device import DTYPES, prepare_device
from evenhand.scoring.execution import is_out_of_memory
from evenhand.scoring.model_files import check_folder, readable_errors
from evenhand.scoring.selection import enable_selection, looks_ahead, short_inputs, text_config

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True)
class LanguageModel:
    """A language model with its tokenizer.

    Parameters
    ----------
    model, tokenizer
        Objects of the library transformers; the model is in evaluation mode on its device.
    unknown_id : int or None
        Token id of unknown text; None if the tokenizer can encode any text.
    max_tokens : int
        The maximum input length in tokens, including specials.
    missing : list of str
        Weights that the checkpoint lacks, so that they have random values (see
        `load_language_model`, `allow_missing`). Empty for a trusted model.
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
        """The number of tokens for which the head returns probabilities."""
        return int(text_config(self.model).vocab_size)


@dataclass(frozen=True)
class MaskedLM(LanguageModel):
    """A masked language model, which predicts masked tokens.

    Parameters
    ----------
    mask_id : int
        Token id of the mask.
    """

    mask_id: int


@dataclass(frozen=True)
class CausalLM(LanguageModel):
    """A causal language model, which predicts the next token.

    Parameters
    ----------
    start_id : int or None
        Id of the token before a text: the one that the tokenizer adds, else its beginning of
        text, else its end of text. None if it has none of these; then first tokens have no
        probability.
    """

    start_id: int | None


class BrokenModelError(InputError):
    """The forward pass of a loaded model fails."""


def load_language_model(
    source: Path | str,
    family: str,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
    allow_missing: bool = False,
    seed: int | None = None,
) -> "MaskedLM | CausalLM":
    """Load a language model and its tokenizer, or draw an untrained model like it.

    Parameters
    ----------
    source : Path or str
        A folder (Path) in the Hugging Face layout, or a name on the hub (str). With the
        environment variable ``HF_HUB_OFFLINE=1`` only the hub's local cache is used.
    family : str
        ``masked`` or ``causal``.
    revision : str, optional
        Branch, tag or commit on the hub.
    device : str
        ``cpu``, ``cuda`` or ``cuda:N``.
    dtype : str
        ``fp32`` or ``bf16``. A class that cannot run in bf16 runs in fp32.
    allow_missing : bool
        Whether to load a model whose checkpoint lacks weights; they are listed in `missing`.
    seed : int, optional
        Draw initial weights from this seed in fp32, instead of loading any: only the
        configuration and the tokenizer of `source` are read.

    Raises
    ------
    InputError
        The folder lacks a part or holds pickled weights only, the hub has no such model or
        cannot be reached, the checkpoint is broken, is of another family, or lacks weights, the
        tokenizer has no offsets, or no mask for a masked model, a causal model attends to later
        tokens, or the device is not available.
    """
    prepare_device(device, dtype)
    kind = f"{family} language model"
    tokenizer = load_tokenizer(source, revision, kind, weights=seed is None)
    model, missing = _load_weights(source, revision, family, device, dtype, allow_missing, seed)
    if family == "masked" and tokenizer.mask_token_id is None:
        remedy = "use the tokenizer that the model was trained with"
        raise InputError("the tokenizer has no mask token", file=source, remedy=remedy)
    common = _prepare(source, model, tokenizer, missing, device)
    if family == "masked":
        enable_selection(model)
        return MaskedLM(**common, mask_id=tokenizer.mask_token_id)
    text_config(model).use_cache = False  # nothing is generated
    if looks_ahead(model):
        raise InputError(
            f"{type(model).__name__} looks at the tokens that follow, so it is no causal"
            " language model",
            file=source,
        )
    enable_selection(model, before_output=True)
    return CausalLM(**common, start_id=_start_id(tokenizer))


#: `load_language_model` of each family.
load_masked_lm = functools.partial(load_language_model, family="masked")
load_causal_lm = functools.partial(load_language_model, family="causal")


def family_of(source: Path | str, *, revision: str | None = None) -> str:
    """Return the family of a model, ``masked`` or ``causal``, by its configuration.

    The class in the configuration decides; if it is neither, the type decides (BERT is a masked
    language model, regardless of the checkpoint's head).

    Raises
    ------
    InputError
        There is no such model, or it is neither, such as an encoder-decoder.
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
    raise InputError(
        f"{', '.join(sorted(classes)) or config.model_type} is neither a masked nor a causal"
        " language model",
        file=source,
    )


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


def load_tokenizer(
    source: Path | str,
    revision: str | None = None,
    kind: str = "tokenizer",
    *,
    weights: bool = False,
) -> "PreTrainedTokenizerBase":
    """Return a fast tokenizer, from a folder or the hub, without code of its own.

    Parameters
    ----------
    source : Path or str
        A folder, or a name on the hub.
    revision : str, optional
        Branch, tag or commit on the hub.
    kind : str
        The kind of model, for errors.
    weights : bool
        Whether the folder must have weights too.

    Raises
    ------
    InputError
        There is none that can be used.
    """
    from transformers import AutoTokenizer

    if isinstance(source, Path):
        check_folder(source, weights=weights)
    with readable_errors(source, kind):
        tokenizer = AutoTokenizer.from_pretrained(str(source), **_options(revision))
    if not tokenizer.is_fast:
        raise InputError("the tokenizer gives no offsets", file=source, remedy="use a fast one")
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):  # made of no file
        problem, remedy = "the tokenizer has no word", "save the model's tokenizer beside it"
        raise InputError(problem, file=source, remedy=remedy)
    return tokenizer


def _load_weights(
    source: Path | str,
    revision: str | None,
    family: str,
    device: str,
    dtype: str,
    allow_missing: bool,
    seed: int | None,
) -> tuple["PreTrainedModel", list[str]]:
    """Return the model, loaded or drawn, and the weights that its checkpoint lacks, if allowed."""
    import torch

    kind = f"{family} language model"
    loader = _class(source, revision, family)
    if seed is None:
        model, missing = read_weights(loader, source, kind, revision=revision, dtype=dtype)
    else:
        config, missing = _load_config(source, revision), []
        with readable_errors(source, kind), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = loader.from_config(config, dtype=torch.float32, **_options(None))
        model = model.to(getattr(torch, DTYPES[dtype]))
    if missing and not allow_missing:
        raise InputError(
            f"the checkpoint lacks {len(missing)} weights of a {kind} "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); they would be random",
            file=source,
            remedy="use a checkpoint with its language-model head (for ELECTRA: the generator), "
            "or set scoring.allow_missing in a configuration, for a number not to be trusted",
        )
    if not _runs(model.to(device), dtype):
        return _load_weights(source, revision, family, device, "fp32", allow_missing, seed)
    return model, missing


def read_weights(
    loader: Any, source: Path | str, kind: str, *, revision: str | None, dtype: str
) -> tuple["PreTrainedModel", list[str]]:
    """Return a model with the weights of its checkpoint, and the names of those that are missing.

    Missing weights have random values of a fixed seed.

    Parameters
    ----------
    loader
        The class of transformers that loads the model.
    source, revision, dtype
        See `load_language_model`.
    kind : str
        The kind of model, for errors.

    Raises
    ------
    InputError
        The checkpoint cannot be read, or its weights have other shapes than the configuration.
    """
    import torch

    reports = logging.getLogger("transformers.modeling_utils")  # prints a table of all problems
    reports.disabled = True
    try:
        with readable_errors(source, kind), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model, info = loader.from_pretrained(
                str(source),
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # to have an error of our own
                dtype=getattr(torch, DTYPES[dtype]),
                **_options(revision),
            )
    finally:
        reports.disabled = False
    if mismatched := sorted(info["mismatched_keys"]):
        name, *shapes = mismatched[0]
        held, stated = ("×".join(map(str, shape)) for shape in shapes)
        raise InputError(
            f"the weights do not fit the configuration: {name} is {held}, and the configuration"
            f" states {stated}",
            file=source,
            remedy="use weights and configuration (config.json) of one model",
        )
    return model, sorted(info["missing_keys"])


def _runs(model: "PreTrainedModel", dtype: str) -> bool:
    """Return whether a class supports a number format; fp32 is always supported."""
    import torch

    if dtype == "fp32":
        return True
    try:
        with torch.no_grad():
            model.eval()(input_ids=short_inputs(model))
    except RuntimeError as error:
        name = type(model).__name__
        print(f"{name} cannot run in {dtype}, so it runs in fp32 ({error})", file=sys.stderr)
        return False
    return True


def _class(source: Path | str, revision: str | None, family: str) -> Any:
    """Return the class of transformers that loads a model of a family."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    if family == "masked":
        return AutoModelForMaskedLM
    if family_of(source, revision=revision) != family:  # BERT would load as a causal model
        raise InputError("is a masked language model, not a causal one", file=source)
    return AutoModelForCausalLM


def _start_id(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """Return `CausalLM.start_id`; if a tokenizer adds several tokens, the first of them."""
    added, plain = (
        tokenizer("a", add_special_tokens=special, verbose=False).input_ids
        for special in (True, False)
    )
    has_start = added[:1] != plain[:1] and added[0] in tokenizer.all_special_ids
    tokens = [added[0] if has_start else None, tokenizer.bos_token_id, tokenizer.eos_token_id]
    return next((token for token in tokens if token is not None), None)


def _prepare(
    source: Path | str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    missing: list[str],
    device: str,
) -> dict[str, Any]:
    """Put a model on its device, without gradients; return the arguments of `LanguageModel`."""
    known = text_config(model).vocab_size
    if len(tokenizer) > known:
        problem = f"the tokenizer has {len(tokenizer)} tokens and the model {known}"
        remedy = "use the tokenizer that the model was trained with"
        raise InputError(problem, file=source, remedy=remedy)
    model.eval().requires_grad_(False).to(device)
    for part in {model, model.base_model}:
        part.forward = _convert_errors(part.forward, source)
    return {
        "model": model,
        "tokenizer": tokenizer,
        "unknown_id": tokenizer.unk_token_id,
        "max_tokens": _max_tokens(model, tokenizer),
        "missing": missing,
        "revision": getattr(model.config, "_commit_hash", None),
    }


def _convert_errors(forward: Callable[..., Any], source: Path | str) -> Callable[..., Any]:
    """Return a forward pass that raises the model's errors as `BrokenModelError`.

    Other errors are not changed: those of our hooks, a lack of memory, a failing device, and
    NotImplementedError, which a class raises for options that it does not support.
    """

    @functools.wraps(forward)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return forward(*arguments, **options)
        except (RuntimeError, IndexError) as error:
            frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
            is_from_evenhand = any(
                frame.f_globals["__name__"].startswith("evenhand.")
                for frame in frames
                if frame.f_code is not run.__code__
            )
            passing = is_out_of_memory(error) or "CUDA error" in str(error)
            if is_from_evenhand or passing or isinstance(error, NotImplementedError):
                raise
            problem = f"the model fails on its inputs ({error})"
            remedy = "mend its configuration, or use another model"
            raise BrokenModelError(problem, file=source, remedy=remedy) from error

    return run


def _max_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> int:
    """Return the maximum input length in tokens, for model and tokenizer."""
    positions = positions_of(model)
    longest = tokenizer.model_max_length
    return int(longest if positions is None else min(positions, longest))


def positions_of(model: "PreTrainedModel") -> int | None:
    """Return the number of positions of a model; None if the configuration has none.

    Models like RoBERTa count positions from after the padding.
    """
    positions = getattr(text_config(model), "max_position_embeddings", None)
    if not positions:
        return None
    embeddings = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    if padding is not None:
        positions -= padding + 1
    return int(positions)
