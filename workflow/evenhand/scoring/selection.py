"""The head of a language model where it is needed only, and what its logits depend on."""

import threading
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel

#: The places whose hidden states the head is to see; one selection per thread, since several
#: threads may run one model.
_selection = threading.local()


def text_config(model: "PreTrainedModel") -> "PretrainedConfig":
    """The configuration that has the sizes: of a model that reads images too, that of its text."""
    return model.config.get_text_config()


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
    """Two inputs of a few tokens, none of them padding."""
    import torch

    config = text_config(model)
    first = (config.pad_token_id or 0) + 1
    ids = first + torch.arange(2 * length, device=model.device)
    return ids.reshape(2, length) % config.vocab_size


def looks_ahead(model: "PreTrainedModel") -> bool:
    """Whether a model's logits change with the tokens that follow."""
    import torch

    ids = short_inputs(model)
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
