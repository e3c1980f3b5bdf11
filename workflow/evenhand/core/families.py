"""Families of plugins: each module of a package is a member, found by its place.

The plan must not import torch: it parses the constants of a plugin from its source.
"""

import ast
import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from evenhand.core.places import LIBRARY
from evenhand.errors import InputError


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
        A literal, with Ellipsis for values of a dict that are no literals. For a call,
        ``Method(title="MLP", heads=f)``, its keywords as such a dict.
    """
    path = LIBRARY.joinpath(*module.split(".")).with_suffix(".py")
    places: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            places |= {alias.name: node.module for alias in node.names}
            if name in places:
                return declared(node.module, name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if name in map(ast.unparse, targets):
            if isinstance(node.value, ast.Attribute):  # of a module imported before
                owner = ast.unparse(node.value.value)
                return declared(f"{places[owner]}.{owner}", node.value.attr)
            if isinstance(node.value, ast.Call):
                return {each.arg: _literal(each.value) for each in node.value.keywords}
            return _literal(node.value)
    return None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {ast.literal_eval(key): _literal(value) for key, value in pairs}
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ...


def member_names(package: str | ModuleType) -> list[str]:
    """Return the full names of the modules of a package, sorted.

    Parameters
    ----------
    package : str or module
        For example ``evenhand.stereotypes.tables``. Only the package itself is imported.
    """
    if isinstance(package, str):
        package = importlib.import_module(package)
    members = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return sorted(member.name for member in members)


def load_members(package: str | ModuleType) -> list[ModuleType]:
    """Import all members of a family, in the order of `member_names`."""
    return [importlib.import_module(name) for name in member_names(package)]


def load_member(package: str, name: str, noun: str) -> ModuleType:
    """Import a member by its name; `noun` is its kind, for the error.

    Raises
    ------
    InputError
        There is no such member.
    """
    place = f"{package}.{name}"
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name != place:  # a module that it imports is missing
            raise
        problem = f"there is no {noun} {name!r}"
        raise InputError(problem, remedy=f"each is a module of {package}") from error
