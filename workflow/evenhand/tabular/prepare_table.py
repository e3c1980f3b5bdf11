"""Stage: convert a data set of people from its published files to numbers for training."""

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from evenhand.core.numbers import read_bins
from evenhand.core.stage import Fraction, Input, Output, Plugin, checked
from evenhand.errors import InputError
from evenhand.tabular.prepared import Prepared, write_prepared


@checked
def prepare_table(
    *,
    files: list[Input],
    out: Output,
    meta: Output,
    name: str,
    format: Annotated[str, Plugin("evenhand.tabular.formats")],
    label: str | None = None,
    positive: list[str] | None = None,
    others: bool = False,
    attribute: list[str] | None = None,
    bins: list[str] | None = None,
    features: list[str] | None = None,
    categories: list[str] | None = None,
    scale: Literal["standard", "none"] = "standard",
    test_share: Fraction = 0.3,
    split: str | None = None,
    missing: Literal["drop", "category", "impute"] = "drop",
    title: str = "",
) -> dict[str, Any]:
    """Convert a data set to the format of `evenhand.tabular.prepared`.

    Parameters
    ----------
    files : list of path
        The files of the data set.
    out : path
        ``data.parquet``: row, label, attribute, official_split, features, other encodings.
    meta : path
        ``data.json``: the description of the columns.
    name : str
        The name of the data set.
    format : str
        The format of the files: a module of `evenhand.tabular.formats`. The options below, except
        the title, are for the format ``table`` only; other formats have fixed columns.
    label : str, optional
        The label's column.
    positive : list of str, optional
        The values of the label that count as 1; by default 1, true, yes or positive.
    others : bool
        Whether the label may have several other values, which all count as 0.
    attribute : list of str, optional
        The column of the protected attribute; if several, their intersection is the attribute.
    bins : list of str, optional
        ``age=30,50``: borders between the groups of a numeric attribute.
    features : list of str, optional
        The features' columns; by default all others. The attribute is always a feature.
    categories : list of str, optional
        Columns whose numbers are codes of categories.
    scale : str
        ``standard`` or ``none``.
    test_share : float
        The share of test rows.
    split : str, optional
        A column with train and test: the official split.
    missing : str
        The treatment of blank cells: drop, category or impute.
    title : str
        The title in reports and findings; by default that of the format, or the file's name.
    """
    if format == "table" and not (label and attribute):
        raise InputError("`label` or `attribute` is missing", remedy="name both columns")
    table = read_people(files, locals())
    write_prepared(table, out, meta)
    return {
        "rows": len(table.y),
        "features": len(table.features),
        "excluded": table.meta["excluded"],
    }


def read_people(files: list[Path], options: Mapping[str, Any]) -> Prepared:
    """Read a data set; the options are arguments of `prepare_table`, without defaults."""
    lists = {name: options[name] or [] for name in ("features", "categories")}
    bins = dict(map(read_bins, options["bins"] or []))
    reader = importlib.import_module(f"evenhand.tabular.formats.{options['format']}")
    read = reader.read(files, {**options, **lists, "bins": bins})
    meta = read.meta | ({"title": options["title"]} if options["title"] else {})
    return replace(read, name=options["name"], meta=meta)
