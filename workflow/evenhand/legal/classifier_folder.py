"""A trained classifier of legal cases as a folder: weights, encoder config, description."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.learning.hierarchical import HierarchicalClassifier

#: The folder's files: weights (only if they are kept), the encoder's configuration, the rest.
WEIGHTS, ENCODER, DESCRIPTION = "model.safetensors", "config.json", "classifier.json"


def save_classifier(
    folder: Path, model: "HierarchicalClassifier", description: dict[str, Any], *, weights: bool
) -> None:
    """Write a classifier.

    Parameters
    ----------
    folder : path
        The folder to create.
    model : HierarchicalClassifier
        Trained.
    description : dict
        Its description for JSON; ``classes``, ``dropout`` and the model's limits are added.
    weights : bool
        Whether to keep the weights too.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = model.encoder.config.to_dict()
    config.pop("_name_or_path", None)  # of this machine
    top = model.top
    description = description | {
        "classes": top.classifier.out_features,
        "segments": top.segments,
        "mode": top.mode,
        "dropout": top.dropout.p,
    }
    for name, document in ((ENCODER, config), (DESCRIPTION, description)):
        text = json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    if weights:
        state = {name: value.cpu().contiguous() for name, value in model.state_dict().items()}
        save_file(state, folder / WEIGHTS)


def load_classifier(folder: Path) -> "tuple[HierarchicalClassifier, dict[str, Any]]":
    """A classifier in evaluation mode, and its description.

    Raises
    ------
    InputError
        The folder is none, or was kept without weights.
    """
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModel

    from evenhand.learning.hierarchical import HierarchicalClassifier

    for name in (DESCRIPTION, ENCODER, WEIGHTS):
        if not (folder / name).is_file():
            raise InputError(
                f"holds no classifier that can be used: it lacks {name}",
                file=folder,
                remedy="train it with its weights kept" if name == WEIGHTS else None,
            )
    description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder), trust_remote_code=False)
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    model = HierarchicalClassifier(
        encoder,
        description["classes"],
        description["segments"],
        mode=description["mode"],
        dropout=description["dropout"],
    )
    model.load_state_dict(load_file(folder / WEIGHTS))
    return model.eval(), description
