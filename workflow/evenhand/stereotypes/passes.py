"""The model inputs for a sentence, and the methods that use them.

Each kind of input is a *pass*, and each method is a sum over the predictions of one pass:

- ``unmasked``: the unchanged sentence (AUL, AULA, aula_norm, and the token accuracy);
- ``cps``: each token that both sentences of the pair share, masked one at a time;
- ``sss``: all tokens that differ masked at once;
- ``all_masked``: all tokens of the sentence masked;
- ``causal``: each token given all tokens before it (both likelihoods).

A context precedes the sentence in the same input, and is never scored or masked: as the first of
two texts if the tokenizer has a format for two, else before the sentence, separated by a blank. The
input of a causal model begins with its start token, if it has one.
"""

from collections.abc import Sequence

from evenhand.errors import InputError
from evenhand.scoring.methods import METHODS

#: The passes, in the order of the token store, and the methods that use each.
PASSES = {
    "unmasked": ("aul", "aula", "aula_norm"),
    "cps": ("cps",),
    "sss": ("sss", "sss_compat"),
    "all_masked": ("all_masked",),
    "causal": ("log_likelihood", "log_likelihood_per_token"),
}

#: The pass of the token accuracy, by family.
ACCURACY_PASS = {"masked": "unmasked", "causal": "causal"}

#: The passes of the shuffled variant.
SHUFFLED_PASSES = ("unmasked", "causal")


def choose_methods(methods: Sequence[str] | None, family: str) -> list[str]:
    """Return the methods for a family, in the order of `METHODS`; None means all.

    Raises
    ------
    InputError
        A method is unknown.
    """
    requested = list(METHODS) if methods is None else methods
    if unknown := [name for name in requested if name not in METHODS]:
        raise InputError(f"there is no method {unknown[0]!r}", remedy=f"use {', '.join(METHODS)}")
    return [
        name for name, method in METHODS.items() if name in requested and method.family == family
    ]


def passes_for(family: str, methods: Sequence[str], *, accuracy: bool = False) -> list[str]:
    """Return the passes that methods of this family need, in the order of `PASSES`.

    With `accuracy`, also the pass of the token accuracy.
    """
    return [
        name
        for name, stand in PASSES.items()
        if set(stand).intersection(methods) or (accuracy and name == ACCURACY_PASS[family])
    ]


def needs_attention(methods: Sequence[str]) -> bool:
    """Return whether a method weights tokens by attention."""
    return not {"aula", "aula_norm"}.isdisjoint(methods)
