"""Adult (UCI census income): 114 columns, in LAFTR's encoding, with sex.

Rows with a missing value are left out (45,222 of 48,842 remain). The columns are those of LAFTR's
adult_prep.py with sex as two columns and without fnlwgt, each standardised: of 16 encodings, only
this one reproduces the printed cosine of the pair in the paper's Table 5, 0.808.
"""

from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.tabular.delimited import check_cell, one_hot
from evenhand.tabular.prepared import Prepared
from evenhand.text.phrases import plural

COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
    *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
    *("hours-per-week", "native-country", "income"),
]

#: Upper ends of the age buckets, inclusive; an eleventh bucket is open.
AGE_EDGES = [18, 25, 30, 35, 40, 45, 50, 55, 60, 65]

#: The categories in the order of adult.names.
CATEGORIES = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov"
    " Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th"
    " 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed"
    " Married-spouse-absent Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty"
    " Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving"
    " Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native-country": "United-States Cambodia England Puerto-Rico Canada Germany"
    " Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines"
    " Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos"
    " Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia"
    " El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
}

#: EIDIG's own encoding: bins, closed on the right, of the columns with many values.
INTEGER_BINS = {
    "age": [15, 25, 45, 65, 120],
    "capital-gain": [-1, 0, 99998, 100000],
    "capital-loss": [-1, 0, 99998, 100000],
    "hours-per-week": [0, 25, 40, 60, 168],
}

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]

#: The valid cells of each column that is used; None: whole numbers.
KNOWN: dict[str, set[str] | None] = {
    **{name: set(values.split()) for name, values in CATEGORIES.items()},
    **dict.fromkeys(NUMBERS),
    "income": {"<=50K", ">50K"},
}

FILES = {"adult.data": "train", "adult.test": "test"}


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read ``adult.data`` and ``adult.test``.

    Raises
    ------
    InputError
        A file is missing or not UTF-8, a row has another number of columns, a category is
        unknown, or a number is not valid.
    """
    del options
    by_name = {path.name: path for path in files}
    if missing := sorted(set(FILES) - set(by_name)):
        raise InputError(f"Adult needs the file {missing[0]}", remedy="name both of its files")
    everyone = [
        [*cells, split] for name, split in FILES.items() for cells in _read_part(by_name[name])
    ]
    is_complete = ["?" not in cells for cells in everyone]
    complete = list(compress(everyone, is_complete))
    rows = dict(zip([*COLUMNS, "split"], np.array(complete).T, strict=True))
    numbers = {name: rows[name].astype(float) for name in NUMBERS}

    def hot(*names: str) -> dict[str, np.ndarray]:
        parts = (one_hot(name, rows[name], CATEGORIES[name].split()) for name in names)
        return {name: column for part in parts for name, column in part.items()}

    bucket = np.digitize(numbers["age"], AGE_EDGES, right=True)
    features = {
        **one_hot("age_bucket", bucket, range(len(AGE_EDGES) + 1)),
        **hot("workclass", "education"),
        "education-num": numbers["education-num"],
        **hot("marital-status", "occupation", "relationship", "race", "sex"),
        **{name: numbers[name] for name in ("capital-gain", "capital-loss", "hours-per-week")},
        **hot("native-country"),
    }
    names = list(features)
    integers, integer_names = _integers(rows)
    return Prepared(
        name="adult",
        x=np.column_stack(list(features.values())).astype(np.float64),
        y=(rows["income"] == ">50K").astype(np.int8),
        a=(rows["sex"] == "Female").astype(np.int16),
        features=names,
        attribute_name="sex",
        attribute_values=["Male", "Female"],
        attribute_columns=[names.index("sex=Female"), names.index("sex=Male")],
        attribute_codes=np.array([[0.0, 1.0], [1.0, 0.0]]),
        scale="standard",
        test_share=0.3,
        official=rows["split"].astype(object),
        kept=np.flatnonzero(is_complete),
        meta={
            "title": "Adult (UCI census income)",
            "label": "an income above 50,000 dollars a year",
            "excluded": {"missing_value": len(everyone) - len(complete)},
            "integer_groups": CATEGORIES["sex"].split(),
        },
        integers=integers,
        integer_features=integer_names,
        integer_protected=[integer_names.index(name) for name in ("age", "race", "sex")],
    )


def _read_part(path: Path) -> list[list[str]]:
    lines = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(COLUMNS):
            problem = f"has {plural(len(cells), 'column')} instead of {len(COLUMNS)}"
            raise InputError(problem, file=path, line=number)
        cells[-1] = cells[-1].rstrip(".")
        for name, cell in zip(COLUMNS, cells, strict=True):
            if name in KNOWN and (cell != "?" or name == "income"):
                check_cell(name, cell, KNOWN[name], path, number)
        lines.append(cells)
    if not lines:
        raise InputError("has no rows", file=path)
    return lines


def _integers(rows: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list[str]]:
    """Return EIDIG's twelve columns (without fnlwgt and education), and their names."""
    names = [name for name in COLUMNS[:-1] if name not in ("fnlwgt", "education")]
    columns = []
    for name in names:
        if name in CATEGORIES:
            code = {value: i for i, value in enumerate(CATEGORIES[name].split())}
            columns.append(np.array([code[value] for value in rows[name]]))
        else:
            values, bins = rows[name].astype(int), INTEGER_BINS.get(name)
            columns.append(values if bins is None else np.digitize(values, bins, right=True))
    return np.column_stack(columns).astype(np.int32), names
