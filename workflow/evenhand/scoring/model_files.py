"""What a model's folder must hold, and what a user is told where it cannot be used."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import InputError

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


class BrokenModelError(InputError):
    """A model that is there but can never be scored: no head, no weights, no tokenizer.

    It is a result of an audit, not a failure of it: stages that score several models note it
    in the model's gate (`describe_broken`) and go on.
    """


def check_folder(folder: Path, *, weights: bool = True, vocabulary: bool = True) -> None:
    """Say what a model folder lacks, before a library guesses."""
    if not folder.is_dir():
        raise InputError("there is no such model folder", file=folder)
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        raise InputError("the model folder lacks config.json", file=folder)
    if weights and not names.intersection(WEIGHT_FILES):
        pickled = sorted(name for name in names if name.endswith((".bin", ".pt", ".ckpt", ".h5")))
        raise InputError(
            f"the model folder lacks {WEIGHT_FILES[0]}"
            + (f" ({pickled[0]} is not read: a pickle can run code)" if pickled else ""),
            file=folder,
            remedy="save the model with save_pretrained, which writes safetensors",
        )
    if vocabulary and not names.intersection(VOCABULARY_FILES):
        raise InputError(
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
            f"cannot be used as a {wanted} ({_first_line(error)})", file=source
        ) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0].rstrip(".")[:200] if text else type(error).__name__
