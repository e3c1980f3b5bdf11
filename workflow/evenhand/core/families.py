"""Families of plugins: each module of a package is a member, found by its place."""

import importlib
import pkgutil
from types import ModuleType


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
