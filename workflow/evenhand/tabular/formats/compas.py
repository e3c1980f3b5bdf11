"""COMPAS (ProPublica): 11 features, as in CFAIR's propublica.csv, not scaled.

Derived from compas-scores-two-years.csv with ProPublica's own filter (6,172 of 7,214 rows). The
attribute is African-American against everyone else; the features include it, and the COMPAS score.
Flipping the attribute does not change the dummies of the other races.
"""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.numbers import number
from evenhand.errors import InputError
from evenhand.tabular.delimited import check_cell, only_file, read_cells
from evenhand.tabular.prepared import Prepared

NEEDED = [
    *("days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text", "two_year_recid"),
    *("priors_count", "age_cat", "race", "sex"),
]

#: Races with a dummy column; Caucasian is the reference category.
RACES = ["African-American", "Asian", "Hispanic", "Native American", "Other"]

#: The valid values of the columns after filtering.
CATEGORIES = {
    "race": [*RACES, "Caucasian"],
    "age_cat": ["Less than 25", "25 - 45", "Greater than 45"],
    "sex": ["Male", "Female"],
    "c_charge_degree": ["F", "M"],
    "score_text": ["Low", "Medium", "High"],
    "two_year_recid": ["0", "1"],
}


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read ``compas-scores-two-years.csv``.

    Raises
    ------
    InputError
        There is not exactly one file, it is not CSV in UTF-8, a column is missing, a category is
        unknown, a number is not valid, or no row passes the filter.
    """
    del options
    path = only_file(files, "COMPAS")
    header, lines = read_cells(path)
    if missing := [name for name in NEEDED if name not in header]:
        raise InputError(f"lacks the column {missing[0]}", file=path, line=1)
    # the header has priors_count and decile_score twice; the first of each is used
    place = {name: header.index(name) for name in NEEDED}
    kept, numbers = [], []
    for place_in_file, (line, cells) in enumerate(lines):
        row = {name: cells[i] for name, i in place.items()}
        days = _number(row, "days_b_screening_arrest", path, line)
        if (
            days is None
            or not -30 <= days <= 30
            or row["is_recid"] == "-1"
            or row["c_charge_degree"] == "O"
            or row["score_text"] in ("N/A", "")
        ):
            continue
        for name, known in CATEGORIES.items():
            check_cell(name, row[name], known, path, line)
        priors = _number(row, "priors_count", path, line)
        if priors is None:
            raise InputError("priors_count is blank", file=path, line=line)
        kept.append(row | {"priors_count": priors})
        numbers.append(place_in_file)
    if not kept:
        raise InputError("has no row that passes ProPublica's filter", file=path)
    rows = {name: np.array([row[name] for row in kept]) for name in NEEDED}
    features = {
        "Number_of_Priors": rows["priors_count"],
        "score_factor": rows["score_text"] != "Low",
        "Age_Above_FourtyFive": rows["age_cat"] == "Greater than 45",
        "Age_Below_TwentyFive": rows["age_cat"] == "Less than 25",
        **{race.replace("-", "_").replace(" ", "_"): rows["race"] == race for race in RACES},
        "Female": rows["sex"] == "Female",
        "Misdemeanor": rows["c_charge_degree"] == "M",
    }
    names = list(features)
    return Prepared(
        name="compas",
        x=np.column_stack([column.astype(np.float64) for column in features.values()]),
        y=rows["two_year_recid"].astype(np.int8),
        a=(rows["race"] == "African-American").astype(np.int16),
        features=names,
        attribute_name="race",
        attribute_values=["everyone else", "African-American"],
        attribute_columns=[names.index("African_American")],
        attribute_codes=np.array([[0.0], [1.0]]),
        scale="none",
        test_share=0.3,
        meta={
            "title": "COMPAS (ProPublica)",
            "label": "charged with a new crime within two years",
            "excluded": {"propublica_filter": len(lines) - len(kept)},
        },
        kept=np.array(numbers),
    )


def _number(row: dict[str, str], name: str, path: Path, line: int) -> float | None:
    """Return the cell as a number, None if it is blank."""
    if not row[name]:
        return None
    try:
        value = number(row[name])
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"{name} is {row[name]!r}, which is no number", file=path, line=line)
    return value
