"""Describe a model for the record, and identify it for the checkpoints of interrupted runs."""

import hashlib
from typing import Any

from evenhand.scoring.models import CausalLM, LanguageModel

#: Approximate number of weights per tensor that `fingerprint` uses.
SAMPLED_WEIGHTS = 1024


def describe(lm: LanguageModel) -> dict[str, Any]:
    """Return the model's record: type, sizes, and digests of weights and tokenizer.

    For a causal model, also the token before each text (None: no such token, and first tokens
    are not scored).
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


def fingerprint(lm: LanguageModel) -> str:
    """Return a fast digest of a sample of a model's weights, which distinguishes models.

    It identifies the partial results of an interrupted run (see
    `evenhand.scoring.execution.run_batches`); see `describe` for the record.
    """
    import torch

    digest = hashlib.blake2b(lm.model.config.model_type.encode(), digest_size=16)
    for name, tensor in lm.model.state_dict().items():
        flat = tensor.detach().reshape(-1)
        sample = flat[:: max(1, len(flat) // SAMPLED_WEIGHTS)].cpu().contiguous()
        digest.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(sample.view(torch.uint8).numpy().data)
    return digest.hexdigest()
