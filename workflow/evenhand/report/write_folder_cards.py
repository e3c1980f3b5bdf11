"""Write dataset cards for result folders, so that `datasets` can open each of their tables."""

from pathlib import Path
from typing import Any

from evenhand.core.stage import Input, Output, Source
from evenhand.io.markdown import render
from evenhand.report.read import read_json

Facts = dict[str, Any]

#: The one split of each table. (The hub knows train, validation and test by other words too, and
#: keeps `all` for itself.)
SPLIT = "all_rows"

#: The name of the published SlguSet; the regenerated one has a separate card.
EDITION = "SlguSet: published file as read"


def write_folder_cards(
    *,
    template: Input,
    documents: list[Source],
    tables: list[Source],
    out: list[Output],
    notice: str = "",
) -> dict[str, Any]:
    """Write README.md for folders with tables of several kinds, in the hub's format.

    The header lists each table as a configuration with one split, ``all_rows``:
    ``load_dataset(folder, "scores-my-model")``. The first table is the default.

    Parameters
    ----------
    template : path
        ``report/cards/folder_card.md.jinja``.
    documents : list of path
        A file per folder: ``pairs.json`` of a set of pairs, ``data.json`` of a table of people,
        or ``statistics.json`` of a source of SlguSet.
    tables : list of path
        The Parquet files of all folders, at any depth. The path gives the name of the
        configuration: ``scores/m.parquet`` is ``scores-m``.
    out : list of path
        README.md beside each of `documents`.
    notice : str
        A notice to readers.

    Returns
    -------
    dict
        tables, rows.
    """
    counts = {"tables": 0, "rows": 0}
    for document, card in zip(documents, out, strict=True):
        folder = document.parent
        stores = [_describe(path, folder) for path in tables if path.is_relative_to(folder)]
        facts = _facts(document, stores)
        card.write_text(render(template, facts | {"notice": notice}), encoding="utf-8")
        counts["tables"] += len(stores)
        counts["rows"] += sum(store["rows"] for store in stores)
    return counts


def _facts(document: Path, stores: list[dict[str, Any]]) -> Facts:
    from huggingface_hub import DatasetCardData

    description, is_slguset = read_json(document), document.name == "statistics.json"
    name = document.parent.name if is_slguset else description["name"]
    title = description.get("title") or (description.get("meta") or {}).get("title") or name
    title = EDITION if is_slguset else title
    configs = [
        {
            "config_name": store["config"],
            "data_files": [{"split": SPLIT, "path": store["path"]}],
            **({"default": True} if store is stores[0] else {}),
        }
        for store in stores
    ]
    tags = ["fairness", "evenhand"]
    header = DatasetCardData(pretty_name=title, tags=tags, configs=configs)
    columns: dict[str, dict[str, None]] = {}
    for store in stores:
        columns.setdefault(store["kind"], {}).update(dict.fromkeys(store["columns"]))
    return {
        "header": header.to_yaml(line_break="\n"),
        "title": title,
        "name": name,
        "people": "attribute_name" in description,
        "edition": is_slguset,
        "stores": stores,
        "columns": columns,
    }


def _describe(path: Path, folder: Path) -> dict[str, Any]:
    """Return the configuration, kind, path, rows and columns of a table."""
    import pyarrow.parquet as pq

    place, metadata = path.relative_to(folder), pq.read_metadata(path)
    return {
        "config": "-".join(place.with_suffix("").parts),
        "kind": place.parts[0] if len(place.parts) > 1 else place.stem,
        "path": place.as_posix(),
        "rows": metadata.num_rows,
        "columns": metadata.schema.to_arrow_schema().names,
    }
