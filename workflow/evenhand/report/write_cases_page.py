"""Stage: the page of the legal cases, where each can be found with what every training says."""

from pathlib import Path
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.sheets import write_csv
from evenhand.report.render import slug, write_page
from evenhand.report.sections.cases import answers_table, cases_table, describe_cases

#: The sections in the order of the page: id, short name, title.
SECTIONS = (
    ("cases", "Cases", "Cases"),
    ("reading", "How to read it", "How to read it"),
    ("files", "Files", "Where these cases lie"),
)


def write_cases_page(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    names: list[str],
    kinds: Annotated[list[str], Plugin("evenhand.legal.datasets")],
    titles: list[str],
    cases: list[Input],
    records: list[Input] | None = None,
    parts: list[str] | None = None,
    predictions: list[Input] | None = None,
    trainings: list[str] | None = None,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    splits: list[str] | None = None,
    characters: int = 300,
    most: int = 10_000,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of the cases: one HTML file that needs nothing beside it.

    It holds the cases of each data set, with the groups of their parties and the words that
    prove them, their labels, and what each training says of them. Its script finds, sorts and
    opens them; ``templates/cases.js`` says what an address may ask for. A data set without
    classifiers has its cases without predictions, and stands behind the others.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    tables_out : path
        The folder ``cases`` beside it: what the page's script shows as CSV, safe to open in a
        spreadsheet program: ``{name}.csv``, a row a case, and ``{name}.answers.csv``, a row a case
        and training.
    names, kinds, titles : lists of str
        Of each data set.
    cases : list of path
        ``{name}.parquet`` of `build_cases`, in the order of `names`.
    records : list of path, optional
        What `read_cases` wrote of each part; without it cases have no number but their id.
    parts : list of str, optional
        ``{name}/{part}`` for each file of `records`.
    predictions : list of path, optional
        What the training stages wrote.
    trainings : list of str, optional
        ``{name}/{classifier}/{objective}/{attribute}/{seed}`` for each file of `predictions`.
    objectives, objective_titles : list of str, optional
        What people call the objectives; one that is not named has its own name.
    splits : list of str, optional
        Those that the page shows, in its order; by default test and dev.
    characters : int
        Of the facts of each case that the page shows; 0 for none.
    most : int
        Cases of a data set, at most; the page says how many it leaves out.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.

    Returns
    -------
    dict
        cases, trainings, left_out (by data set), bytes.

    Raises
    ------
    InputError
        There is not one file of each kind for each data set, part or training, not one title
        for each objective, or the predictions are not of these cases.
    """
    if any(len(one) != len(names) for one in (kinds, titles, cases)):
        raise InputError("there is not one file of each kind for each data set")
    records_of = _by_name(names, records or [], parts or [], "part")
    predictions_of = _by_name(names, predictions or [], trainings or [], "training")
    objectives, objective_titles = objectives or [], objective_titles or []
    if len(objectives) != len(objective_titles):
        raise InputError("there is not one title for each objective")
    chosen = ["test", "dev"] if splits is None else splits
    described = [
        describe_cases(
            name,
            titles[i],
            kinds[i],
            cases[i],
            records_of[name],
            predictions_of[name],
            called=dict(zip(objectives, objective_titles, strict=True)),
            splits=chosen,
            characters=characters,
            most=most,
        )
        for i, name in enumerate(names)
    ]
    Path(tables_out).mkdir(parents=True, exist_ok=True)
    for one in described:
        one["block"] = f"cases-{slug(one['key'])}"
        one["tables"] = []
        tables = {"": cases_table(one["data"])}
        if one["trainings"]:
            tables[".answers"] = answers_table(one["data"])
        for what, table in tables.items():
            name = f"{one['key']}{what}.csv"
            write_csv(Path(tables_out) / name, *table)
            one["tables"].append(f"cases/{name}")
    written = write_page(
        out,
        "cases",
        templates,
        pages,
        sections=SECTIONS,
        sets=described,
        there=sorted(
            (one for one in described if one["rows"]), key=lambda one: not one["trainings"]
        ),
        splits=chosen,
        characters=characters,
        files=_files(names, trainings or []),
        has_provenance=pages is None or "provenance" in pages,
    )
    return {
        "cases": {one["key"]: one["rows"] for one in described},
        "trainings": {one["key"]: one["trainings"] for one in described},
        "left_out": {one["key"]: one["left_out"] for one in described},
        "bytes": written,
    }


def _by_name(
    names: list[str], files: list[Path], places: list[str], what: str
) -> dict[str, list[Path]]:
    """The files of each data set, by the first part of their places."""
    owners = [place.split("/", 1)[0] for place in places]
    if len(files) != len(places) or not set(owners) <= set(names):
        raise InputError(f"there is not one data set of the page for each {what}")
    return {
        name: [file for file, owner in zip(files, owners, strict=True) if owner == name]
        for name in names
    }


def _files(names: list[str], trainings: list[str]) -> list[dict[str, Any]]:
    """The results that the page was read from, below the results' folder, by data set."""
    return [
        {
            "name": name,
            "data": f"legal/{name}/{name}.parquet",
            "predictions": [
                f"legal/{name}/predictions/{place.split('/', 1)[1]}.parquet"
                for place in trainings
                if place.split("/", 1)[0] == name
            ],
        }
        for name in names
    ]


if __name__ == "__main__":
    stage.run(write_cases_page)
