"""Run the head of a language model at selected positions only, and check its dependencies."""

import threading
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel

#: The positions whose hidden states are passed to the head; one selection per thread, since
#: several threads may run one model.
_selection = threading.local()


def text_config(model: "PreTrainedModel") -> "PretrainedConfig":
    """Return the configuration with the sizes: for multimodal models, the part for text."""
    return model.config.get_text_config()


def enable_selection(model: "PreTrainedModel", *, before_output: bool = False) -> None:
    """Prepare a model for `logits_at`, by passing only selected hidden states to its head.

    Every masked-LM class of transformers runs its body (`model.base_model`) and then its head on
    the first output. A hook between the two keeps the selected positions, so that the head, which
    takes longer than the body in small models, is not run on the others. The head of a causal model
    is its output layer only, and some classes (OPT) run a part of the body that is not
    `base_model`; so the hook is directly before that layer (`before_output`). A check on a short
    input ensures that the head treats positions independently.
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
    ids = short_inputs(model)
    rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 4])
    training = model.training
    model.eval()  # dropout would make two runs differ
    with torch.no_grad():
        selected = logits_at(model, ids, rows, columns)
        whole = model(input_ids=ids).logits[rows, columns].float()
    model.train(training)
    if not _close(model, selected, whole):
        raise InputError(
            f"{type(model).__name__} has a head that looks at several places, which is not"
            " supported",
            remedy="take the model out of `models`",
        )


def short_inputs(model: "PreTrainedModel", length: int = 5) -> "torch.Tensor":
    """Return two inputs of a few tokens, without padding."""
    import torch

    config = text_config(model)
    first = (getattr(config, "pad_token_id", None) or 0) + 1
    ids = first + torch.arange(2 * length, device=model.device)
    return ids.reshape(2, length) % config.vocab_size


def looks_ahead(model: "PreTrainedModel") -> bool:
    """Return whether a model's logits depend on later tokens."""
    import torch

    ids = short_inputs(model)
    other = ids.clone()
    other[:, 3:] = ids.flip(0)[:, 3:]
    with torch.no_grad():
        logits, other_logits = (
            model(input_ids=these).logits[:, :3].float() for these in (ids, other)
        )
    return not _close(model, logits, other_logits)


def _close(model: "PreTrainedModel", logits: "torch.Tensor", other: "torch.Tensor") -> bool:
    """Return whether logits differ by rounding only."""
    import torch

    loose = 1e-4 if model.dtype == torch.float32 else 0.1
    return torch.allclose(logits, other, rtol=loose, atol=loose, equal_nan=True)


def logits_at(
    model: "PreTrainedModel",
    ids: "torch.Tensor",
    rows: "torch.Tensor",
    columns: "torch.Tensor",
    **inputs: "torch.Tensor",
) -> "torch.Tensor":
    """Return the logits over the vocabulary at given positions of a batch.

    Parameters
    ----------
    model
        A model prepared by `enable_selection`.
    ids : tensor of int, shape (batch, length)
        Token ids.
    rows, columns : tensors of int, shape (k,)
        The positions.
    **inputs
        Further inputs of the model, such as an attention mask.

    Returns
    -------
    tensor of float32, shape (k, vocabulary)
    """
    _selection.places = (rows, columns)
    try:
        return model(input_ids=ids, **inputs).logits[0].float()
    finally:
        _selection.places = None
