"""The explorer: pages on which every item behind the numbers can be found, sorted and opened.

Items are sentences, pairs, legal cases or test individuals. `evenhand.report.explore_sentences`,
`explore_cases` and `explore_people` bring them into one form, which ``templates/explorer.js``
shows. The data of a *set* (a data set, or a set of pairs) are a JSON document:

- ``key`` (addresses begin with it: ``cases.html#{key}/{id}``), ``title``, ``noun`` (one, many),
  ``prefix`` (before an id), ``item`` and ``heading`` (name in addresses and title of the first
  column), ``meaning`` (of the measures), ``answers`` (caption of the answers to an item).
- ``id``: of each item, a text. ``language``: of the items, a text or a coded column.
- ``text`` (optional): of each item a list of pieces, by turns an unmarked text and a pair of
  marked ones, of the item and of its counterpart. ``other``: the name of the counterpart;
  ``both``: whether it is shown at first; ``mark``: a coded column of the CSS classes of the marks.
- ``columns``: coded columns of the items; see `column`.
- ``measures``: ``name``, ``title`` (hidden without one), ``digits``; ``sign``, ``bar`` (CSS classes
  above and below zero), ``seeds`` (a number of seeds), ``over`` (``max``: over answers; or mean),
  ``furthest`` (the largest distance of ``cells`` from the first measure: not in the page).
- ``shares``: of ``title``, ``digits``, ``percent``; means over the answers to all items asked for.
- ``orders``: (order, title), the first one that is possible is the default.
- ``answered``: whether items without an answer of the chosen model are left out.
- ``models``: ``name``; ``asks`` (its keys in addresses); ``group`` (models of one group compare);
  ``over`` and ``seeds``; ``row``: the item of each answer, or null for one answer an item, in
  order (in the page its place in ``rows``, for several models have the same); ``measures`` and
  ``shares``: lists of a number an answer; ``columns``: coded columns of the answers; ``instead``:
  columns of items, by place, that this model has in place of others; ``classes``, ``cells`` and
  ``cell_notes``: a number (or null) and texts for each answer and class; ``reach``: the number at
  the end of a bar.

A *coded column* has ``values``, the distinct lists of values, and ``codes``, a place in ``values``
for each item or answer.
"""

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.io.sheets import write_csv
from evenhand.report.page_list import FOLDER, PAGES
from evenhand.report.read import read_json
from evenhand.report.render import render_page, slug, visible

Document = dict[str, Any]

#: What is the same for all sets of a kind: the words and settings of their documents.
FORMS = FOLDER / "explorer.json"

#: Items that a page shows without its script.
SHOWN = 25


def form(kind: str) -> Document:
    """Return the parts of a document that all sets of a kind share, of ``explorer.json``."""
    return read_json(FORMS)[kind]


def columns(
    kind: str, values: dict[str, Iterable[Any]], more: dict[str, dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return the columns of a kind that ``explorer.json`` declares and that have values.

    Parameters
    ----------
    kind : str
        cases, people, predicted, sentences or pairs.
    values : dict
        The values of each column, by its name; in the order of the page.
    more : dict, optional
        Further settings of a column, see `column`.
    """
    declared = form("columns")[kind]
    return [
        column(name, values=values[name], **declared[name], **(more or {}).get(name, {}))
        for name in values
    ]


def coded(values: Iterable[Any]) -> dict[str, Any]:
    """Return a coded column of values, each nothing, a text, a number, or several of them."""
    codes: dict[tuple[Any, ...], int] = {}
    column = [codes.setdefault(_items(value), len(codes)) for value in values]
    return {"values": [list(value) for value in codes], "codes": column}


def _items(value: Any) -> tuple[Any, ...]:
    values = value if isinstance(value, list | tuple) else () if value is None else (value,)
    return tuple(visible(item) if isinstance(item, str) else item for item in values)


def column(name: str, title: str, values: Iterable[Any], **more: Any) -> dict[str, Any]:
    """Return a coded column with its name and title.

    Parameters
    ----------
    name, title : str
        In tables, and on the page.
    values : iterable
        Of `coded`.
    **more
        ``ask``: its name in addresses, by default `name` in lower case. ``filter``: whether there
        is a list to choose by. ``options``: values or (value, words) of that list.
        ``none``: words for no value; ``default``: the initial choice. ``place``: ``head`` or
        ``line`` (of an item in the table), ``text`` (paragraphs of an opened item); else it is
        among its fields. ``lang``: of the values, True for that of the item. ``unit``: of numbers.
        ``table``: False keeps it out of the CSV. Of answers: ``scope``: a part of the answers, such
        as a seed; ``badges``: True, or the CSS class of each value that is shown with the first
        measure, in the class ``tone``.
    """
    if "options" in more:
        pairs = [(pair, pair) if isinstance(pair, str) else pair for pair in more["options"]]
        more["options"] = [[visible(text) for text in pair] for pair in pairs]
        more.setdefault("filter", True)
    return {"name": name, "title": visible(title), "ask": name.lower(), **coded(values), **more}


def rounded(values: np.ndarray, digits: int, edges: Sequence[float] = (0.0,)) -> list[float | None]:
    """Return numbers rounded to `digits`, None for NaN and infinity.

    A number that rounding would move onto one of `edges`, or past it, is not rounded, so that
    the page and the tables of results have the same counts.
    """
    near = np.round(values, digits)
    moved = [np.sign(near - edge) != np.sign(values - edge) for edge in edges]
    kept = np.where(np.any(moved, axis=0), values, near)
    return [number if np.isfinite(number) else None for number in kept.tolist()]


def packed(document: Document) -> str:
    """Return the data of a set as base64 of compressed JSON, without derived values."""
    rows: list[list[int] | None] = []
    models = []
    for model in document["models"]:
        if model["row"] not in rows:
            rows.append(model["row"])
        pairs = zip(document["measures"], model["measures"], strict=True)
        measures = [None if measure.get("furthest") else numbers for measure, numbers in pairs]
        models.append(model | {"row": rows.index(model["row"]), "measures": measures})
    document = document | {"rows": rows, "models": models}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def write_explorer(
    page: str,
    sets: Sequence[Document],
    files: dict[str, list[str]],
    notes: dict[str, list[str]],
    *,
    out: Path,
    tables_out: Path,
    templates: list[Path],
    pages: list[str] | None,
    **values: Any,
) -> dict[str, Any]:
    """Write an explorer page, and the data of its sets as CSV.

    Parameters
    ----------
    page : str
        Of `evenhand.report.page_list.PAGES`.
    sets : sequence of dict
        The data of the sets, in the order of the page; empty ones are only named.
    files : dict of list of str
        The results that were read, below the results folder, by a title.
    notes : dict of list of str
        Sentences about a set, by its key.
    out, tables_out : Path
        The page, and the folder for ``{set}.csv``, a row an item, and ``{set}.answers.csv``, a row
        an answer of a model.
    templates, pages
        Of `evenhand.report.render.Page`.
    **values
        The variables of the page's template.

    Returns
    -------
    dict
        items, models (by set), bytes.
    """
    tables_out.mkdir(parents=True, exist_ok=True)
    filled, tables = [], []
    for document in sets:
        if not document["id"]:
            continue
        stem = document["key"].replace("/", "_")
        contents = {f"{stem}.csv": items_table(document)}
        if document["models"] and not _is_wide(document):
            contents[f"{stem}.answers.csv"] = answers_table(document)
        for file, table in contents.items():
            write_csv(tables_out / file, *table)
            tables.append(f"{page}/{file}")
        block = {"block": f"data-{slug(document['key'])}", "packed": packed(document)}
        filled.append(document | block)
    values |= {
        "sections": [
            ("items", PAGES[page][1], PAGES[page][1]),
            ("reading", "How to read it", "How to read it"),
            ("files", "Files", "Files with these items"),
        ],
        "sets": filled,
        "empty": [document for document in sets if not document["id"]],
        "rows": _first_rows(filled[0]) if filled else [],
        "tables": tables,
        "notes": notes,
        "files": files,
        "has_provenance": pages is None or "provenance" in pages,
    }
    written = render_page(page, values, out, templates, pages)
    return {
        "items": {document["key"]: len(document["id"]) for document in sets},
        "models": {document["key"]: len(document["models"]) for document in sets},
        "bytes": written,
    }


def _first_rows(document: Document) -> list[dict[str, Any]]:
    """Return the first items as a template shows them without the script."""
    rows = []
    for i, name in enumerate(document["id"][:SHOWN]):
        facts = [
            {"title": fact["title"], "values": [_in_words(fact, value) for value in values]}
            for fact in document["columns"]
            if fact.get("place") in ("head", "line") and (values := cell(fact, i))
        ]
        sides = [_side(document, i, side) for side in range(2)] if "text" in document else []
        rows.append({"id": name, "sides": sides, "facts": facts})
    return rows


def _in_words(column: dict[str, Any], value: Any) -> str:
    if isinstance(value, str):
        return dict(column.get("options") or ()).get(value, value)
    return f"{value:,} {column.get('unit', '')}".strip()


def _side(document: Document, row: int, side: int) -> str:
    pieces = document["text"][row]
    return "".join(piece if isinstance(piece, str) else piece[side] for piece in pieces)


def cell(column: dict[str, Any], row: int) -> list[Any]:
    """Return the values of a coded column for an item or an answer."""
    return column["values"][column["codes"][row]]


def _is_wide(document: Document) -> bool:
    """Whether the models have one number an item: then they are columns of the items."""
    models = document["models"]
    return len(document["measures"]) == 1 and all(model["row"] is None for model in models)


Table = tuple[list[str], Iterator[list[Any]]]


def items_table(document: Document) -> Table:
    """Return the header and the rows of a table of items: id, texts, columns, numbers of models."""
    columns = [column for column in document["columns"] if column.get("table", True)]
    models = document["models"] if _is_wide(document) else []
    texts = [document["heading"], document["other"]] if "text" in document else []
    header = [document.get("id_name", "id"), *texts]
    for column in columns:
        unit = f" ({column['unit']})" if column.get("unit") else ""
        header.append(f"{column['name']}{unit}")
    header += [model["name"] for model in models]
    rows = (
        [
            name,
            *(_side(document, i, side) for side in range(len(texts))),
            *(_joined(cell(column, i)) for column in columns),
            *(model["measures"][0][i] for model in models),
        ]
        for i, name in enumerate(document["id"])
    )
    return header, rows


def _joined(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else "; ".join(map(str, values)) if values else None


def answers_table(document: Document) -> Table:
    """Return the header and the rows of a table of answers: a row an answer of a model.

    The keys of the model, the item, the columns of the answer, measures, and numbers of classes.
    """
    models = document["models"]
    classes = list(dict.fromkeys(name for model in models for name in model["classes"]))
    header = [*models[0]["asks"], document.get("id_name", "id")]
    header += [column["name"] for column in models[0]["columns"]]
    header += [measure["name"] for measure in document["measures"]]
    header += [f"number: {name}" for name in classes]

    def rows() -> Iterator[list[Any]]:
        for model in models:
            numbers = iter(model["cells"])
            for i, item in enumerate(model["row"]):
                cells = {name: next(numbers) for name in model["classes"]}
                yield [
                    *model["asks"].values(), document["id"][item],
                    *(_joined(cell(column, i)) for column in model["columns"]),
                    *(values[i] for values in model["measures"]),
                    *(cells.get(name) for name in classes),
                ]  # fmt: skip

    return header, rows()
