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
    found = importlib.import_module(package) if isinstance(package, str) else package
    names = (one.name for one in pkgutil.iter_modules(found.__path__))
    return sorted(f"{found.__name__}.{name}" for name in names)


def load_members(package: str | ModuleType) -> list[ModuleType]:
    """Import all members of a family, in the order of `member_names`."""
    return [importlib.import_module(name) for name in member_names(package)]
