"""Families of plugins: each module of a package is a member, found by its place."""

import importlib
import pkgutil
from types import ModuleType

from evenhand.errors import InputError


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
        raise InputError(
            f"there is no {noun} {name!r}", remedy=f"each is a module of {package}"
        ) from error
