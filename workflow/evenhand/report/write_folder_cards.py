"""Write dataset cards for result folders, so that `datasets` can open each of their tables."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.errors import InputError
from evenhand.io.markdown import render
from evenhand.report.read import read_json

#: The one split of each table. (The hub knows train, validation and test by other words too, and
#: keeps `all` for itself.)
SPLIT = "all_rows"

#: The name of the published SlguSet; the regenerated one has a separate card.
EDITION = "SlguSet, the published file as it was read"


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

    Raises
    ------
    InputError
        The document has no name, there is no table, a table lies elsewhere or is no Parquet
        file, or two tables would have the same configuration.
    """
    for path in tables:
        if not any(path.is_relative_to(document.parent) for document in documents):
            raise InputError("is in none of the folders", file=path)
    stores = []
    for document, card in zip(documents, out, strict=True):
        own = [path for path in tables if path.is_relative_to(document.parent)]
        stores += _write(template, document, own, card, notice)
    return {"tables": len(stores), "rows": sum(one["rows"] for one in stores)}


def _write(
    template: Path, document: Path, tables: list[Path], out: Path, notice: str
) -> list[dict[str, Any]]:
    """Write a folder's card and return its tables."""
    from huggingface_hub import DatasetCardData

    about = read_json(document)
    if isinstance(about, dict) and document.name == "statistics.json":
        about |= {"name": document.parent.name, "title": EDITION}
    if not isinstance(about, dict) or not about.get("name"):
        raise InputError("does not say what the folder holds", file=document)
    if not tables:
        raise InputError("there is no table to name", file=document)
    stores = [_store(path, document.parent) for path in tables]
    names = [one["config"] for one in stores]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(f"two tables would be the configuration {min(twice)}", file=document)
    title = about.get("title") or (about.get("meta") or {}).get("title") or about["name"]
    header = DatasetCardData(
        pretty_name=title,
        tags=["fairness", "evenhand"],
        configs=[
            {
                "config_name": one["config"],
                "data_files": [{"split": SPLIT, "path": one["path"]}],
                **({"default": True} if one is stores[0] else {}),
            }
            for one in stores
        ],
    )
    columns: dict[str, list[str]] = {}
    for one in stores:
        known = columns.setdefault(one["kind"], [])
        known += [name for name in one["columns"] if name not in known]
    text = render(
        template,
        {
            "notice": notice,
            "header": header.to_yaml(line_break="\n"),
            "title": title,
            "name": about["name"],
            "people": "attribute_name" in about,
            "edition": about.get("title") == EDITION,
            "stores": stores,
            "columns": columns,
        },
    )
    out.write_text(text, encoding="utf-8")
    return stores


def _store(path: Path, folder: Path) -> dict[str, Any]:
    """Return the configuration, kind, path, rows and columns of a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = path.relative_to(folder)
    try:
        found = pq.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise InputError("is not a Parquet file", file=path) from error
    return {
        "config": "-".join(place.with_suffix("").parts),
        "kind": place.parts[0] if len(place.parts) > 1 else place.stem,
        "path": place.as_posix(),
        "rows": found.num_rows,
        "columns": [field.name for field in found.schema.to_arrow_schema()],
    }


if __name__ == "__main__":
    stage.run(write_folder_cards)
