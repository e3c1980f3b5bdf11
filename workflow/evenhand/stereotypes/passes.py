"""What is read of a sentence, and what each method makes of it.

Each kind of input is a *pass*, and each method is a sum over what one pass says:

- ``unmasked``: the sentence as it stands (AUL, AULA, aula_norm, and the token accuracy);
- ``cps``: each token that both sentences of the pair share, masked by itself;
- ``sss``: all tokens that differ masked at once;
- ``all_masked``: all tokens of the sentence masked;
- ``causal``: each token given all before it (both likelihoods).

A context stands before the sentence in the same input and is never asked about nor masked: as
the first of two texts where the tokenizer has a form for two, else in front of it after a blank.
Of a causal model the input begins with its start token, where it has one.
"""

from collections.abc import Sequence

from evenhand.errors import InputError
from evenhand.scoring.methods import METHODS

#: The passes, in the order of the token store, and the methods that stand on each.
PASSES = {
    "unmasked": ("aul", "aula", "aula_norm"),
    "cps": ("cps",),
    "sss": ("sss", "sss_compat"),
    "all_masked": ("all_masked",),
    "causal": ("log_likelihood", "log_likelihood_per_token"),
}

#: The pass that gives the token accuracy, by family.
ACCURACY_PASS = {"masked": "unmasked", "causal": "causal"}

#: The passes that the shuffled variant is read in.
SHUFFLED_PASSES = ("unmasked", "causal")


def choose_methods(methods: Sequence[str] | None, family: str) -> list[str]:
    """Those of the methods that are for a family, in the order of `METHODS`; None means all.

    Raises
    ------
    InputError
        There is no such method.
    """
    wanted = list(METHODS) if methods is None else methods
    if unknown := [name for name in wanted if name not in METHODS]:
        raise InputError(f"there is no method {unknown[0]!r}", remedy=f"use {', '.join(METHODS)}")
    return [name for name, method in METHODS.items() if name in wanted and method.family == family]


def passes_for(family: str, methods: Sequence[str], *, accuracy: bool = False) -> list[str]:
    """The passes that methods of this family need, in the order of `PASSES`.

    With `accuracy`, also the pass that gives the token accuracy.
    """
    return [
        name
        for name, stand in PASSES.items()
        if set(stand).intersection(methods) or (accuracy and name == ACCURACY_PASS[family])
    ]


def needs_attention(methods: Sequence[str]) -> bool:
    """Whether a method weighs tokens by attention."""
    return not {"aula", "aula_norm"}.isdisjoint(methods)
