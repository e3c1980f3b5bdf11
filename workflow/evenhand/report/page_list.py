"""The pages of the report, which link to each other in their mastheads."""

from pathlib import Path
from typing import Any

from evenhand.errors import InputError

#: The folder of templates, style and scripts.
FOLDER = Path(__file__).parent / "templates"

#: File and name of each page, all in one folder.
PAGES = {
    "front": ("index.html", "Findings"),
    "slguset": ("slguset.html", "SlguSet"),
    "sentences": ("sentences.html", "Sentences"),
    "language_models": ("language_models.html", "Language models"),
    "individual_fairness": ("individual_fairness.html", "Individual fairness"),
    "people": ("people.html", "Test individuals"),
    "legal_cases": ("legal_cases.html", "Texts"),
    "legal_classifiers": ("legal_classifiers.html", "Text classifiers"),
    "cases": ("cases.html", "Cases"),
    "predictions": ("predictions.html", "Predictions"),
    "predicted": ("predicted.html", "Predicted cases"),
    "mitigation": ("mitigation.html", "Mitigation"),
    "reproduction": ("reproduction.html", "Against the papers"),
    "certificate": ("certificate.html", "Certificate"),
    "known_errors": ("known_errors.html", "Known errors"),
    "provenance": ("provenance.html", "Provenance"),
}

#: The pages that list items, with a folder of tables beside each.
EXPLORERS = ("sentences", "people", "cases", "predicted")

#: The files that every page uses.
COMMON = (
    *("base.html", "macros.html", "more_tables.html"),
    *("style.css", "page.js", "figures.js"),
    *("datatables.min.js", "datatables.license.txt"),
)

#: The scripts that draw figures, and their licences: in each page, or once beside all pages.
DRAWING = {
    "vega.min.js": "vega.license.txt",
    "vega-lite.min.js": "vega-lite.license.txt",
    "vega-interpreter.min.js": "vega-interpreter.license.txt",
}
BESIDE = "vega.js"

#: The notice to readers, one of the templates of each page.
NOTICE = "notice.txt"

#: Further templates of each page besides these and its namesake: file names or their beginnings.
USED = {
    "front": ("findings_",),
    "reproduction": ("findings_", "paper.html", "individual_inconsistencies.html"),
    "slguset": ("headline.html", "slguset_"),
    **dict.fromkeys(EXPLORERS, ("explorer.",)),
    "language_models": ("stereotypes_",),
    "individual_fairness": ("stereotypes_macros.html", "individual_"),
    "legal_cases": ("stereotypes_macros.html", "legal_dataset.html"),
    "legal_classifiers": ("stereotypes_macros.html", "legal_"),
    "mitigation": ("stereotypes_macros.html", "individual_macros.html", "mitigation_", "legal_"),
    "provenance": ("page_provenance.js",),
}


def templates_of(page: str, single_file: bool = False) -> list[str]:
    """Return the names of the files of `FOLDER` that a page may use.

    Parameters
    ----------
    page : str
        A page of `PAGES`.
    single_file : bool
        Whether the page holds the scripts of its figures; else it loads them from `BESIDE`.
    """
    used = (f"{page}.html", *USED.get(page, ()))
    common = {*COMMON, *(DRAWING.keys() | DRAWING.values() if single_file else ())}
    names = sorted(path.name for path in FOLDER.iterdir())
    return [name for name in names if name in common or name.startswith(used)]


def links_to_pages(current: str, made: list[str] | None = None) -> list[dict[str, Any]]:
    """Return the links of the masthead: page, href, name, and whether it is the page itself.

    Parameters
    ----------
    current : str
        The page with the links, of `PAGES`.
    made : list of str, optional
        The pages of this run; all by default.

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
        {"page": page, "href": href, "name": name, "current": page == current}
        for page, (href, name) in PAGES.items()
        if page in chosen
    ]
