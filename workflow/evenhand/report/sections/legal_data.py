"""The tables of legal data sets, with their declarations and titles."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.legal.dataset import Dataset
from evenhand.legal.declaration import read_declaration


@dataclass(frozen=True)
class Described:
    """A data set: its name, title, declaration, and tables by name."""

    name: str
    title: str
    declaration: Dataset
    tables: dict[str, list[dict[str, Any]]]

    @property
    def attributes(self) -> dict[str, str]:
        """The titles of its attributes."""
        return {one.name: one.title for one in self.declaration.attributes}

    @property
    def head(self) -> dict[str, Any]:
        """What each section on a data set begins with."""
        return {"id": self.name, "title": self.title, "attributes": self.attributes}


def read_datasets(
    tables: list[Path], declarations: list[str], titles: list[str]
) -> list[Described]:
    """Return the data sets of these folders of tables, which are named after them.

    Raises
    ------
    InputError
        There is not one declaration and title of each data set.
    """
    if not len(declarations) == len(titles) == len(tables):
        raise InputError("there is not one declaration and title of each data set")
    return [
        Described(folder.name, title, read_declaration(declared), read_tables(folder))
        for folder, declared, title in zip(tables, declarations, titles, strict=True)
    ]


def titles_by_name(datasets: Iterable[Described]) -> dict[str, str]:
    """Return the titles of data sets by name, and of attributes by ``data_set/attribute``."""
    found = {}
    for one in datasets:
        found[one.name] = one.title
        found |= {f"{one.name}/{name}": title for name, title in one.attributes.items()}
    return found
