"""The published scores from their definitions: plain, slow, and easy to check by eye.

One sentence at a time, eager attention with all attentions returned, and the softmax over the
whole vocabulary. Nothing here is shared with the library but token ids, which begin and end
with one special token.
"""

import difflib

import torch


def unmasked(model, ids, *, attention=True):
    """AUL, and with `attention` AULA and AULA with weights that add up to one."""
    with torch.no_grad():
        output = model(torch.tensor([ids]), **({"output_attentions": True} if attention else {}))
    log_p = torch.log_softmax(output.logits[0], dim=1)
    inner = range(1, len(ids) - 1)
    if not attention:
        return {"aul": sum(log_p[i, ids[i]].item() for i in inner) / len(inner)}
    # (layers, heads, queries, keys) -> attention to each key
    alpha = torch.stack([layer[0] for layer in output.attentions]).mean(dim=(0, 1, 2))
    weighted = sum((alpha[i] * log_p[i, ids[i]]).item() for i in inner)
    return {
        "aul": sum(log_p[i, ids[i]].item() for i in inner) / len(inner),
        "aula": weighted / len(inner),
        "aula_norm": weighted / sum(alpha[i].item() for i in inner),
    }


def cps(model, ids, shared, mask_id):
    """Sum of log p of each shared token, masked by itself (one copy of the sentence for each)."""
    places = shared[1:-1]  # the first and the last are the special tokens
    if not places:
        return None
    copies = torch.tensor([ids] * len(places))
    for copy, place in zip(copies, places, strict=True):
        copy[place] = mask_id
    with torch.no_grad():
        logits = model(copies).logits
    total = 0.0
    for copy, place in enumerate(places):
        total += torch.log_softmax(logits[copy, place], dim=0)[ids[place]].item()
    return total


def sss(model, ids, changed, mask_id):
    """SSS and SSS as coded: means of log p of the changed tokens, all masked at once."""
    if not changed:
        return {"sss": None, "sss_compat": None}
    log_p = _log_p(model, ids, changed, mask_id)
    tokens = [ids[place] for place in changed]
    own = [log_p[place, token].item() for place, token in zip(changed, tokens, strict=True)]
    crossed = [log_p[place, token].item() for place in changed for token in tokens]
    return {"sss": sum(own) / len(own), "sss_compat": sum(crossed) / len(crossed)}


def all_masked(model, ids, mask_id):
    """Mean log p of the tokens with all of them masked."""
    inner = range(1, len(ids) - 1)
    log_p = _log_p(model, ids, inner, mask_id)
    return sum(log_p[i, ids[i]].item() for i in inner) / len(inner)


def pair_scores(model, one, other, mask_id, *, attention=True):
    """The scores of both sentences of a pair, by name."""
    return tuple(
        {
            **unmasked(model, ids, attention=attention),
            "cps": cps(model, ids, shared, mask_id),
            **sss(model, ids, changed, mask_id),
        }
        for ids, (shared, changed) in zip((one, other), spans(one, other), strict=True)
    )


def spans(one, other):
    """For each of the two: places that they share, special tokens included, and the others.

    One comparison for both: difflib may find another one with the sentences in turned order.
    """
    codes = difflib.SequenceMatcher(None, [str(i) for i in one], [str(i) for i in other])
    found = ([], []), ([], [])
    for kind, start, end, other_start, other_end in codes.get_opcodes():
        found[0][kind != "equal"].extend(range(start, end))
        found[1][kind != "equal"].extend(range(other_start, other_end))
    return found


def _log_p(model, ids, places, mask_id):
    hidden = [mask_id if i in places else token for i, token in enumerate(ids)]
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([hidden])).logits[0], dim=1)
