"""What sentences and tables call methods, individual losses and data sets."""

from collections.abc import Mapping, Sequence
from typing import Any

METHODS = {
    "mlp": "the MLP",
    "mlp_without_attribute": "the MLP without the attribute",
    "alfr": "ALFR",
    "laftr_dp": "LAFTR (dp)",
    "laftr_eo": "LAFTR (eo)",
    "cfair": "CFAIR (full)",
    "cfair_eo": "CFAIR (eo)",
    "eidig": "EIDIG",
    "eidig_base": "EIDIG’s network before retraining",
    "eidig_control": "EIDIG’s control, retrained without new rows",
    "eidig_integers": "EIDIG on whole numbers",
    "eidig_integers_base": "EIDIG’s network on whole numbers before retraining",
    "eidig_integers_control": "EIDIG’s control on whole numbers, retrained without new rows",
    "logistic_regression": "logistic regression",
    "majority": "the majority class",
}

LOSSES = {
    "iifr_cosine": "IIFR",
    "iifr_cosine_without_attribute": "IIFR without the attribute in the cosine",
    "iifr_counterfactual": "IIFR on counterfactual pairs",
}

DATASETS = {"adult": "Adult", "compas": "COMPAS", "german": "German"}


def method_title(name: str) -> str:
    """What a sentence calls a method; one that is new here keeps its own word."""
    return METHODS.get(name, name.replace("_", " "))


def loss_title(name: str) -> str:
    """What a sentence calls an individual loss."""
    return LOSSES.get(name, name.replace("_", " "))


def who(row: Mapping[str, Any]) -> str:
    """A row's method with its individual loss."""
    method = method_title(row["method"])
    return (
        method if row["individual"] == "none" else f"{method} with {loss_title(row['individual'])}"
    )


def title(dataset: str) -> str:
    """What a sentence calls a data set."""
    return DATASETS.get(dataset, dataset)


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
