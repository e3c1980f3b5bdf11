"""Stage: the page of the people held out, where each can be found with what was decided of them."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.individual.names import titles_of
from evenhand.individual.people import (
    Answers,
    name_of,
    read_answers,
    read_people,
    settings_of_tables,
    trainings,
)
from evenhand.individual.results import SETTING
from evenhand.io.sheets import write_csv
from evenhand.metrics.individual import TAU
from evenhand.report.features import read_words
from evenhand.report.read import read_json
from evenhand.report.render import slug, write_page
from evenhand.report.sections.individual_words import likeness
from evenhand.report.sections.people import answers_table, describe_people, people_table

#: The sections in the order of the page: id, short name, title.
SECTIONS = (
    ("people", "People", "People"),
    ("reading", "How to read it", "How to read it"),
    ("files", "Files", "Where these people lie"),
)


def write_people_page(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    people: list[Input],
    meta: list[Input],
    formats: list[str],
    runs: list[Input] | None = None,
    predictions: list[Input] | None = None,
    trained_on: list[str] | None = None,
    tables: Input | None = None,
    words: Input | None = None,
    most: int = 50_000,
    pages: list[str] | None = None,
    tau: float = TAU,
) -> dict[str, Any]:
    """Write the page of the people: one HTML file that needs nothing beside it.

    It holds the people of each data set who were held out, in the words of the columns that
    networks see, and what each training decides of them as they are and with another value of the
    attribute. Its script finds, sorts and opens them; ``templates/people.js`` says what an address
    may ask for. No column of the source that is no feature is read: no name, no number of a
    register.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    tables_out : path
        The folder ``people`` beside it: what the page's script shows as CSV, safe to open in a
        spreadsheet program: ``{name}.csv``, a row a person, and ``{name}.answers.csv``, a row a
        training and person.
    people, meta : list of path
        ``data.parquet`` and ``data.json`` of each data set.
    formats : list of str
        How each was read, of `evenhand.tabular.formats`.
    runs, predictions : list of path, optional
        What `train_table` and `train_eidig` wrote, in the same order.
    trained_on : list of str, optional
        ``{dataset}/{split}/{method}`` of each of them.
    tables : path, optional
        The folder of `tabulate_individual`: the page has the settings of Tables 4 and 8.
    words : path, optional
        ``resources/iifr/feature_words.csv``.
    most : int
        People of a data set, at most; the page says how many it leaves out.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.
    tau : float
        As in `train_table`.

    Returns
    -------
    dict
        people, trainings, answers, left_out (by data set), bytes.

    Raises
    ------
    InputError
        There is not one file of each kind for each data set or training, or they do not belong
        together.
    """
    places = trained_on or []
    found = read_people(people, meta)
    if len(formats) != len(found):
        raise InputError("there is not one format for each table of people")
    titles = titles_of(read_json(path) for path in meta)
    known = read_words(words)
    shown = [tables / f"table_{number}.csv" for number in (4, 8)] if tables else []
    settings = settings_of_tables(shown)
    order = {name_of(setting): i for i, setting in enumerate(settings)}
    answers: dict[str, list[Answers]] = {name: [] for name in found}
    for run, prediction, name in trainings(runs or [], predictions or [], places, found):
        answers[name] += read_answers(run, prediction, found[name], order, tau=tau)
    described = []
    for (name, table), format in zip(found.items(), formats, strict=True):
        own = sorted(answers.pop(name), key=lambda one: order[one.name])
        described.append(
            describe_people(titles[name], table, own, words=known, format=format, most=most)
        )
    Path(tables_out).mkdir(parents=True, exist_ok=True)
    for one in described:
        one["block"] = f"people-{slug(one['key'])}"
        one["tables"] = []
        for what, make in (("", people_table), (".answers", answers_table)):
            if one["rows"]:
                name = f"{one['key']}{what}.csv"
                write_csv(Path(tables_out) / name, *make(one["data"]))
                one["tables"].append(f"people/{name}")
    bases = {setting[SETTING.index("js_base")] for setting in settings}
    written = write_page(
        out,
        "people",
        templates,
        pages,
        sections=SECTIONS,
        sets=described,
        there=[one for one in described if one["rows"]],
        alike=likeness(bases, tau),
        files=[
            {
                "name": name,
                "files": [f"tabular/{name}/data.parquet", "tables/individual/individuals.csv"]
                + [
                    f"tabular/{place.replace('/', '/predictions/', 1)}.parquet"
                    for place in places
                    if place.split("/", 1)[0] == name
                ],
            }
            for name in found
        ],
        has_provenance=pages is None or "provenance" in pages,
    )
    return {
        "people": {one["key"]: one["rows"] for one in described},
        "trainings": {one["key"]: one["trainings"] for one in described},
        "answers": {one["key"]: one["answers"] for one in described},
        "left_out": {one["key"]: one["left_out"] for one in described},
        "bytes": written,
    }


if __name__ == "__main__":
    stage.run(write_people_page)
