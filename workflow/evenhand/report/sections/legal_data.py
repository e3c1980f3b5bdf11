"""The tables of legal data sets, with their declarations and titles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table, read_tables
from evenhand.legal.declaration import Dataset, read_declaration
from evenhand.legal.groups import LABEL
from evenhand.predictions.words import spread
from evenhand.report.headline import say
from evenhand.report.study import Study

Rows = list[dict[str, Any]]

#: The names of no group.
UNKNOWN = ("unknown", "n/a")

#: The sentences on rows of the table ``sizes`` on near duplicates, by their item.
COPIED = {"test of train": "legal_copied", "exact copies": "legal_copies"}

#: Attributes that a sentence on associations names.
MOST_ASSOCIATIONS = 3


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
    datasets = []
    for folder, path in zip(study.paths(folders), study.declarations, strict=True):
        name, declaration = folder.name, read_declaration(path)
        title = study.titles.get(name, name)
        datasets.append(Described(name, title, declaration, read_tables(folder)))
    return datasets


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


def copied_statements(
    sizes: Mapping[str, Rows], sources: Sequence[str], titles: Mapping[str, str]
) -> list[str]:
    """Name the data sets with copies, and those whose test texts nearly duplicate training texts.

    The rows of the table ``sizes`` of each data set, and their files.
    """
    return [
        say(phrase, sources, of=titles.get(name, name), row=row)
        for name, rows in sizes.items()
        for item, phrase in COPIED.items()
        for row in where(rows, quantity="near duplicates", item=item)
    ]


def copied_in(study: Study) -> list[str]:
    """Return `copied_statements` of the data sets of a study, for each page with their results."""
    folders = study.paths("tables/cases/*")
    sizes = {folder.name: read_table(folder / "sizes.csv") for folder in folders}
    return copied_statements(sizes, study.places("tables/cases/*/sizes.csv"), study.titles)


def describe_associations(rows: Rows, other: str = LABEL) -> Rows:
    """Return the clearest difference of a label's share between groups, of each attribute.

    It is the one whose two intervals are farthest from each other, so that tiny groups do not come
    first; none if all overlap, or if Fisher's exact test is not significant at 5 % after
    Bonferroni's adjustment for all pairs of groups, labels and attributes. The training cases
    count; with another attribute as `other`, its groups are the labels, and all cases count.

    Parameters
    ----------
    rows : list of dict
        Of the table ``cross``.
    other : str
        The labels, or another attribute.

    Returns
    -------
    list of dict
        attribute, label, distance (of the intervals), and the rows of the two groups (`most` and
        `least`), the clearest difference first.
    """
    cells = where(rows, split="train" if other == LABEL else "all", other_attribute=other)
    cells = [
        row for row in cells if row["of"] and not {row["group"], row["other_group"]} & {*UNKNOWN}
    ]
    clearest: dict[str, dict[str, Any]] = {}
    tests = 0
    for (attribute, label), groups in grouped(cells, "attribute", "other_group").items():
        tests += len(groups) * (len(groups) - 1) // 2
        for most, least in permutations(groups, 2):
            distance = round(most["low"] - least["high"], 6)
            known = clearest.get(attribute, {"distance": 0.0})["distance"]
            if distance > 0 and distance >= known:  # of two labels the second
                ends = {"most": most, "least": least, "distance": distance}
                clearest[attribute] = {"attribute": attribute, "label": label} | ends
    significant = [row for row in clearest.values() if tests * _fisher(row) < ALPHA]
    return sorted(significant, key=lambda row: -row["distance"])


def _fisher(row: dict[str, Any]) -> float:
    """Return the p-value of a difference between two groups of `describe_associations`."""
    from scipy.stats import fisher_exact

    pair = row["most"], row["least"]
    return float(fisher_exact([[cell["cases"], cell["of"] - cell["cases"]] for cell in pair])[1])


def clearest_associations(cross: Mapping[str, Rows], titles: Mapping[str, str]) -> tuple[Rows, int]:
    """Return the clearest of `describe_associations`, and the number of all.

    At most `MOST_ASSOCIATIONS` rows, those of each data set before the second of any, else the
    clearest first, each with a `title` (see `titles_by_name`).
    """
    rows = []
    for name, cells in cross.items():
        for row in describe_associations(cells):
            attribute = titles.get(f"{name}/{row['attribute']}", row["attribute"].replace("_", " "))
            of = titles.get(name, name)
            rows.append(row | {"of": of, "title": f"{of}, {attribute}"})
    rows.sort(key=lambda row: -row["distance"])
    return spread(rows, lambda row: row["of"])[:MOST_ASSOCIATIONS], len(rows)
