"""Names of methods, individual losses and data sets in sentences and tables."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.core.phrases import phrases_of

METHODS = phrases_of(__file__)["methods"]

LOSSES = phrases_of(__file__)["losses"]

DATASETS = {"adult": "Adult", "compas": "COMPAS", "german": "German"}

#: Short names of data sets whose title is that of their format.
SHORT = {
    "Adult (UCI census income)": "Adult",
    "COMPAS (ProPublica)": "COMPAS",
    "German credit (UCI Statlog)": "German",
}


def method_title(name: str) -> str:
    """Return a method's name for sentences; unknown methods keep their name."""
    return METHODS.get(name, name.replace("_", " "))


def loss_title(name: str) -> str:
    """Return an individual loss's name for sentences."""
    return LOSSES.get(name, name.replace("_", " "))


def who(row: Mapping[str, Any]) -> str:
    """Return a row's method with its individual loss, for sentences."""
    method = method_title(row["method"])
    return (
        method if row["individual"] == "none" else f"{method} with {loss_title(row['individual'])}"
    )


def title(dataset: str, titles: Mapping[str, str] | None = None) -> str:
    """Return a data set's name for sentences and tables: its title, from `titles_of`."""
    return (titles or {}).get(dataset) or DATASETS.get(dataset, dataset)


def titles_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the titles of data sets by their names.

    Parameters
    ----------
    documents : iterable of dict
        The ``data.json`` of each, from `prepare_table`, with the configured title, if any.

    Returns
    -------
    dict
        Titles of formats are shortened; titles of several data sets are followed by the name.
    """
    titles = {}
    for document in documents:
        name = str(document.get("name", ""))
        stated = str((document.get("meta") or {}).get("title") or "")
        titles[name] = SHORT.get(stated, stated) or title(name)
    times = Counter(titles.values())
    return {name: f"{text} ({name})" if times[text] > 1 else text for name, text in titles.items()}
