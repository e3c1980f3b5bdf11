"""Constants of plugins, parsed from their source: the plan must not import torch."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).parents[2]


@cache
def declared(module: str, name: str) -> Any:
    """Return the value of a module's constant, or None if there is none of this name.

    Parameters
    ----------
    module, name : str
        As in ``from module import name``. A constant that the module itself imports is read
        where it is set.

    Returns
    -------
    object
        A literal. For a call, ``Method(title="MLP", heads=f)``, its keywords as a dict, with
        Ellipsis for values that are no literals.
    """
    path = LIBRARY.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and name in [one.name for one in node.names]:
            return declared(node.module, name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if name in map(ast.unparse, targets):
            if isinstance(node.value, ast.Call):
                return {one.arg: _literal(one.value) for one in node.value.keywords}
            return _literal(node.value)
    return None


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ...
