"""The tables of legal data sets, with their declarations and titles."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evenhand.core.tables import read_tables
from evenhand.legal.declaration import Dataset, read_declaration
from evenhand.report.study import Study


@dataclass(frozen=True)
class Described:
    """A data set: its name (and id in the page), title, declaration, and tables by name."""

    id: str
    title: str
    declaration: Dataset
    tables: dict[str, list[dict[str, Any]]]

    @property
    def attributes(self) -> dict[str, str]:
        """The titles of its attributes."""
        return {attribute.name: attribute.title for attribute in self.declaration.attributes}

    @property
    def head(self) -> dict[str, Any]:
        """The values that each section on a data set begins with."""
        return {"id": self.id, "title": self.title, "attributes": self.attributes}


def read_datasets(study: Study, folders: str) -> list[Described]:
    """Return the data sets of these folders of tables, which are named after them.

    Raises
    ------
    InputError
        There is not one declaration of each data set.
    """
    paths = study.paths(folders)
    return [
        Described(
            folder.name,
            study.titles.get(folder.name, folder.name),
            read_declaration(declaration),
            read_tables(folder),
        )
        for folder, declaration in zip(paths, study.declarations, strict=True)
    ]


def navigation(datasets: Iterable[Described]) -> list[tuple[str, str]]:
    """Return the sections of a page on data sets, for its navigation: id and name."""
    return [
        ("glance", "At a glance"),
        ("reading", "How to read it"),
        *((dataset.id, dataset.title) for dataset in datasets),
        ("limits", "Limits"),
    ]


def titles_by_name(datasets: Iterable[Described]) -> dict[str, str]:
    """Return the titles of data sets by name, and of attributes by ``data_set/attribute``."""
    titles = {}
    for dataset in datasets:
        titles[dataset.id] = dataset.title
        titles |= {f"{dataset.id}/{name}": title for name, title in dataset.attributes.items()}
    return titles
