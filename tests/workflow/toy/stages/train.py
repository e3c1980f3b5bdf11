"""Train a model with an objective that is a module."""

import importlib
from typing import Annotated

from evenhand.core.stage import Input, Output, Plugin


def train(*, merged: Input, objective: Annotated[str, Plugin("evenhand.toy")], out: Output) -> dict:
    """Write a model into a folder."""
    value = importlib.import_module(f"evenhand.toy.{objective}").value(merged.read_text())
    out.mkdir()
    (out / "weights.txt").write_text(str(value))
    return {"value": value}
