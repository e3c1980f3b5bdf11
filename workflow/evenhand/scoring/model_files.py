"""Check the contents of a model's folder, and report errors of loading a model."""

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from evenhand.core.whole import near_names
from evenhand.errors import InputError

#: File names of a tokenizer's vocabulary.
VOCABULARY_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
)

#: A name on the Hugging Face hub.
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")

#: How long an answer of the hub is waited for.
HUB_SECONDS = 5

#: File names of weights in the safetensors format.
WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json")

#: The command that converts pickled weights, of the kind of a source and the source.
CONVERT = "python -m evenhand.core.run scoring.convert_weights --{} {} --out NEW_FOLDER"

#: File names of pickled weights, which `convert_weights` can read.
PICKLED_FILES = ("pytorch_model.bin", "pytorch_model.bin.index.json")


def model_source(model: Path | None, hub_name: str | None) -> Path | str:
    """Return the model's folder or hub name, of which exactly one must be given."""
    if (model is None) == (hub_name is None):
        raise InputError("a model is a folder or a hub name", remedy="give one of them, not both")
    if hub_name is not None:
        check_hub_name(hub_name)
    return model if model is not None else hub_name


def check_hub_name(name: str) -> None:
    """Reject a name that the hub cannot have, such as a path, before the hub is asked."""
    if not HUB_NAME.fullmatch(name):
        problem = f"{name} is no folder, and no name on the hub"
        raise InputError(problem, remedy="give a folder that exists")


def is_cached(name: str) -> bool:
    """Return whether the hub's local cache has a model."""
    from huggingface_hub import try_to_load_from_cache

    is_name = HUB_NAME.fullmatch(name) is not None
    return is_name and isinstance(try_to_load_from_cache(name, "config.json"), str)


def check_reachable(name: str) -> None:
    """Raise InputError if the hub is needed for a model and cannot be reached.

    The hub's own library tries again for half a minute.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or is_cached(name):
        return
    try:
        urlopen(constants.ENDPOINT, timeout=HUB_SECONDS).close()
    except URLError as error:
        # an answer, or a certificate that the hub's library may know, is no missing connection
        if not isinstance(error, HTTPError) and not isinstance(error.reason, ssl.SSLError):
            raise _not_on_hub(name) from error
    except TimeoutError as error:
        raise _not_on_hub(name) from error


def _not_on_hub(name: str) -> InputError:
    return InputError(
        f"the model {name} is not in the hub's local cache and cannot be had from the hub",
        remedy="check the name and the connection (HF_HUB_OFFLINE forbids one),"
        " log in (hf auth login) if it is private, or give a folder that holds the model",
    )


def is_pickled(folder: Path) -> bool:
    """Return whether a folder has pickled weights and none as safetensors."""
    names = _names(folder)
    return bool(names.intersection(PICKLED_FILES)) and not names.intersection(WEIGHT_FILES)


def check_folder(
    folder: Path, *, weights: bool = True, vocabulary: bool = True, pickled: bool = False
) -> None:
    """Reject a model folder that lacks a file.

    Parameters
    ----------
    folder : path
        The folder.
    weights, vocabulary : bool
        Whether weights, and a tokenizer, are required.
    pickled : bool
        Whether pickled weights are accepted.

    Raises
    ------
    InputError
        A file is missing; the error names it and the remedy.
    """
    if not folder.is_dir():
        raise InputError("there is no such model folder", file=folder, remedy=near_names(folder))
    names = _names(folder)
    if "config.json" not in names:
        problem = "the model folder lacks config.json"
        raise InputError(problem, file=folder, remedy="save the model into it with save_pretrained")
    if weights and not names.intersection(WEIGHT_FILES) and not (pickled and is_pickled(folder)):
        raise InputError(
            f"the model folder lacks {WEIGHT_FILES[0]}"
            + (" (a pickle, which can run code, is not read)" if is_pickled(folder) else ""),
            file=folder,
            remedy=f"convert it: {CONVERT.format('model', folder)}"
            if is_pickled(folder)
            else "save the model into it with save_pretrained, which writes safetensors",
        )
    if vocabulary and not names.intersection(VOCABULARY_FILES):
        problem = f"the model folder lacks a tokenizer (one of {', '.join(VOCABULARY_FILES)})"
        remedy = "save the tokenizer into it with save_pretrained"
        raise InputError(problem, file=folder, remedy=remedy)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


@contextmanager
def readable_errors(source: Path | str, kind: str) -> Iterator[None]:
    """Convert the exceptions of loading that are due to the user's input to `InputError`."""
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        problem = f"the weights are broken ({error})"
        raise InputError(problem, file=source, remedy="fetch the model again") from error
    except json.JSONDecodeError as error:
        problem = f"a JSON file of the model is broken ({error})"
        raise InputError(problem, file=source, remedy="fetch the model again") from error
    except (OSError, HfHubHTTPError) as error:
        if isinstance(source, Path):
            problem = f"cannot be loaded ({_first_line(error)})"
            remedy = "see whether its files are whole and can be read"
            raise InputError(problem, file=source, remedy=remedy) from error
        if _lacks_safetensors(source, error):
            raise InputError(
                f"the model {source} has pickled weights only, which are not opened here",
                remedy=f"convert them: {CONVERT.format('hub-name', source)} (in a configuration:"
                " convert: true)",
            ) from error
        if isinstance(error.__cause__, GatedRepoError):
            raise InputError(
                f"the hub restricts access to the model {source}",
                remedy="ask for access on its page there, and log in (hf auth login)",
            ) from error
        raise _not_on_hub(source) from error
    except (ValueError, KeyError, RuntimeError, ImportError) as error:
        problem = f"cannot be used as a {kind} ({_first_line(error)})"
        remedy = "see whether its files belong together, or use another model"
        raise InputError(problem, file=source, remedy=remedy) from error


def _lacks_safetensors(name: str, error: Exception) -> bool:
    """Return whether a hub model has pickled weights only, by the error or the local cache."""
    from huggingface_hub import try_to_load_from_cache

    lacks_file = f"does not appear to have a file named {WEIGHT_FILES[0]}" in str(error)
    return lacks_file or any(
        isinstance(try_to_load_from_cache(name, file), str) for file in PICKLED_FILES
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0].rstrip(".")[:200] if text else type(error).__name__
