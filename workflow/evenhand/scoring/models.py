"""Load language models safely: without remote code, pickles, or random heads."""

import functools
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.scoring.device import DTYPES, check_device
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
        `load_masked_lm`, `allow_missing`). Empty for a trusted model.
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
        ``fp32`` or ``bf16``. A class that cannot run in bf16 runs in fp32.
    allow_missing : bool
        Whether to load a model whose checkpoint lacks weights; they are listed in `missing`.

    Raises
    ------
    InputError
        The folder lacks a part or holds pickled weights only, the hub has no such model or
        cannot be reached, the checkpoint is broken, is not a masked language model, or lacks
        weights, the tokenizer has no mask or no offsets, or the device is not available.
    """
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "masked")
    model, missing = _load_weights(source, revision, "masked", device, dtype, allow_missing)
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

    Parameters and errors are those of `load_masked_lm`, except that the tokenizer needs no mask,
    and a model that attends to later tokens is rejected.
    """
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "causal")
    model, missing = _load_weights(source, revision, "causal", device, dtype, allow_missing)
    return _causal(source, model, tokenizer, missing, device)


def random_masked_lm(
    source: Path | str,
    seed: int,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
) -> MaskedLM:
    """Return an untrained masked language model like `source`.

    It has the architecture and the tokenizer of `source`, and initial weights drawn from `seed` in
    fp32. Only the configuration and the tokenizer of `source` are read. Parameters and errors are
    those of `load_masked_lm`.
    """
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "masked", weights=False)
    model = _draw_weights(source, revision, "masked", device, dtype, seed)
    return _masked(source, model, tokenizer, [], device)


def random_causal_lm(
    source: Path | str,
    seed: int,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
) -> CausalLM:
    """Return an untrained causal language model. See `random_masked_lm`."""
    check_device(device, dtype)
    tokenizer = _load_tokenizer(source, revision, "causal", weights=False)
    model = _draw_weights(source, revision, "causal", device, dtype, seed)
    return _causal(source, model, tokenizer, [], device)


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


def _load_tokenizer(
    source: Path | str, revision: str | None, family: str, *, weights: bool = True
) -> "PreTrainedTokenizerBase":
    """Return the tokenizer, after checking that a folder is complete."""
    from transformers import AutoTokenizer

    if isinstance(source, Path):
        check_folder(source, weights=weights)
    with readable_errors(source, f"{family} language model"):
        tokenizer = AutoTokenizer.from_pretrained(str(source), **_options(revision))
    if not tokenizer.is_fast:
        raise InputError("the tokenizer gives no offsets", file=source, remedy="use a fast one")
    return tokenizer


def _load_weights(
    source: Path | str,
    revision: str | None,
    family: str,
    device: str,
    dtype: str,
    allow_missing: bool,
) -> tuple["PreTrainedModel", list[str]]:
    """Return the model, and the weights that its checkpoint lacks, if these are allowed."""
    import torch

    # The seed makes the random values of missing weights reproducible.
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
        raise InputError(
            f"the checkpoint lacks {len(missing)} weights of a {family} language model "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); they would be random",
            file=source,
            remedy="use a checkpoint with its language-model head (for ELECTRA: the generator), "
            "or allow missing weights to see a number that is not to be trusted",
        )
    if not _runs(model.to(device), dtype):
        return _load_weights(source, revision, family, device, "fp32", allow_missing)
    return model, missing


def _draw_weights(
    source: Path | str, revision: str | None, family: str, device: str, dtype: str, seed: int
) -> "PreTrainedModel":
    """Return a model with initial weights from a seed."""
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
    model = model.to(device, getattr(torch, DTYPES[dtype]))
    if not _runs(model, dtype):
        return _draw_weights(source, revision, family, device, "fp32", seed)
    return model


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


def _masked(
    source: Path | str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    missing: list[str],
    device: str,
) -> MaskedLM:
    if tokenizer.mask_token_id is None:
        raise InputError("the tokenizer has no mask token", file=source)
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
    text_config(model).use_cache = False  # nothing is generated
    if looks_ahead(model):
        raise InputError(
            f"{type(model).__name__} looks at the tokens that follow, so it is no causal"
            " language model",
            file=source,
        )
    enable_selection(model, before_output=True)
    return CausalLM(**common, start_id=_start_id(tokenizer))


def _start_id(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """Return `CausalLM.start_id`; if a tokenizer adds several tokens, the first of them."""
    added, plain = (
        tokenizer("a", add_special_tokens=special, verbose=False).input_ids
        for special in (True, False)
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
    """Put a model on its device, without gradients; return the arguments of `LanguageModel`."""
    known = text_config(model).vocab_size
    if len(tokenizer) > known:
        raise InputError(
            f"the tokenizer has {len(tokenizer)} tokens and the model {known}",
            file=source,
            remedy="put the tokenizer that the model was trained with beside it",
        )
    model.eval().requires_grad_(False).to(device)
    for part in {model, model.base_model}:
        part.forward = _telling(part.forward, source)
    return {
        "model": model,
        "tokenizer": tokenizer,
        "unknown_id": tokenizer.unk_token_id,
        "max_tokens": _max_tokens(model, tokenizer),
        "missing": missing,
        "revision": getattr(model.config, "_commit_hash", None),
    }


def _telling(forward: Callable[..., Any], source: Path | str) -> Callable[..., Any]:
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
            ours = any(
                frame.f_globals["__name__"].startswith("evenhand.")
                for frame in frames
                if frame.f_code is not run.__code__
            )
            passing = is_out_of_memory(error) or "CUDA error" in str(error)
            if ours or passing or isinstance(error, NotImplementedError):
                raise
            raise BrokenModelError(
                f"the model fails on its inputs ({error})",
                file=source,
                remedy="take it out of `models`, or mend its configuration",
            ) from error

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
