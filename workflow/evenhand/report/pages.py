"""The pages of the report, which link to each other in their mastheads."""

from typing import Any

from evenhand.errors import InputError

#: File and name of each page, all in one folder.
PAGES = {
    "front": ("index.html", "Overview"),
    "slguset": ("slguset.html", "SlguSet"),
    "sentences": ("sentences.html", "Sentences"),
    "language_models": ("language_models.html", "Language models"),
    "individual_fairness": ("individual_fairness.html", "Individual fairness"),
    "people": ("people.html", "People"),
    "legal_cases": ("legal_cases.html", "Legal cases"),
    "legal_classifiers": ("legal_classifiers.html", "Legal classifiers"),
    "cases": ("cases.html", "Cases"),
    "known_errors": ("known_errors.html", "Known errors"),
    "provenance": ("provenance.html", "Provenance"),
    "run": ("run.html", "Run"),
}


def links_to_pages(current: str, made: list[str] | None = None) -> list[dict[str, Any]]:
    """The links of the masthead: href, name, and whether it is the page itself.

    Parameters
    ----------
    current : str
        The page that the links stand on, of `PAGES`.
    made : list of str, optional
        The pages that this run makes; all of them if it is not said.

    Raises
    ------
    InputError
        There is no such page.
    """
    for name in made or ():
        if name not in PAGES:
            raise InputError(f"there is no page {name!r}", remedy=f"use {' or '.join(PAGES)}")
    chosen = {current, *(made if made is not None else PAGES)}
    return [
        {"href": href, "name": name, "current": page == current}
        for page, (href, name) in PAGES.items()
        if page in chosen
    ]
