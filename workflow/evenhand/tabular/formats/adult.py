"""Adult (UCI census income): 114 columns, in LAFTR's encoding, with sex.

Rows with a missing value are left out (45,222 of 48,842 remain). The columns are those of LAFTR's
adult_prep.py with sex as two columns and without fnlwgt, each standardised: of 16 encodings, only
this one reproduces the printed cosine of the pair in the paper's Table 5, 0.808.
"""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.tabular.numbers import MOST_DIGITS, counted
from evenhand.tabular.prepared import Prepared

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

FILES = {"adult.data": "train", "adult.test": "test"}


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read ``adult.data`` and ``adult.test``.

    Raises
    ------
    InputError
        A file is missing or not UTF-8, a row has another number of columns, a category is
        unknown, or a number is not valid.
    """
    import pandas as pd

    del options
    by_name = {path.name: path for path in files}
    if missing := sorted(set(FILES) - set(by_name)):
        raise InputError(f"Adult needs the file {missing[0]}", remedy="name both of its files")
    parts = [_read_part(by_name[name]).assign(split=split) for name, split in FILES.items()]
    everyone = pd.concat(parts, ignore_index=True)
    complete = (everyone != "?").all(axis=1)
    rows = everyone[complete].reset_index(drop=True)
    numbers = {name: rows[name].astype(float).to_numpy() for name in NUMBERS}
    names, columns = [], []

    def add(name: str, values: np.ndarray) -> None:
        names.append(name)
        columns.append(values.astype(np.float64))

    def add_category(name: str) -> None:
        codes = _codes(rows[name], name)
        for code, value in enumerate(CATEGORIES[name].split()):
            add(f"{name}={value}", codes == code)

    bucket = np.digitize(numbers["age"], AGE_EDGES, right=True)
    for code in range(len(AGE_EDGES) + 1):
        add(f"age_bucket={code}", bucket == code)
    add_category("workclass")
    add_category("education")
    add("education-num", numbers["education-num"])
    for name in ("marital-status", "occupation", "relationship", "race", "sex"):
        add_category(name)
    for name in ("capital-gain", "capital-loss", "hours-per-week"):
        add(name, numbers[name])
    add_category("native-country")
    female, male = names.index("sex=Female"), names.index("sex=Male")
    integers, integer_names = _integers(rows)
    return Prepared(
        name="adult",
        x=np.column_stack(columns),
        y=(rows["income"] == ">50K").to_numpy().astype(np.int8),
        a=(rows["sex"] == "Female").to_numpy().astype(np.int16),
        features=names,
        attribute_name="sex",
        attribute_values=["Male", "Female"],
        attribute_columns=[female, male],
        attribute_codes=np.array([[0.0, 1.0], [1.0, 0.0]]),
        scale="standard",
        test_share=0.3,
        official=rows["split"].to_numpy(dtype=object),
        meta={
            "title": "Adult (UCI census income)",
            "label": "an income above 50,000 dollars a year",
            "excluded": {"missing_value": int((~complete).sum())},
            "integer_groups": CATEGORIES["sex"].split(),
        },
        integers=integers,
        integer_features=integer_names,
        integer_protected=[integer_names.index(name) for name in ("age", "race", "sex")],
    )


def _read_part(path: Path) -> Any:
    import pandas as pd

    known = {name: set(values.split()) for name, values in CATEGORIES.items()}
    lines = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("|"):
            continue
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(COLUMNS):
            raise InputError(
                f"has {counted(len(fields), 'column')} instead of {len(COLUMNS)}",
                file=path,
                line=number,
            )
        fields[-1] = fields[-1].rstrip(".")
        for name, value in zip(COLUMNS, fields, strict=True):
            if name == "income" and value not in ("<=50K", ">50K"):
                raise InputError(f"has the income {value!r}", file=path, line=number)
            if value == "?":
                continue
            if name in known and value not in known[name]:
                raise InputError(
                    f"{name} has the unknown category {value!r}", file=path, line=number
                )
            if name in NUMBERS and not (value.isdecimal() and len(value) <= MOST_DIGITS):
                raise InputError(
                    f"{name} is {value!r}, which is no whole number", file=path, line=number
                )
        lines.append(fields)
    if not lines:
        raise InputError("has no rows", file=path)
    return pd.DataFrame(lines, columns=COLUMNS)


def _codes(values: Any, name: str) -> np.ndarray:
    return values.map({value: i for i, value in enumerate(CATEGORIES[name].split())}).to_numpy()


def _integers(rows: Any) -> tuple[np.ndarray, list[str]]:
    """Return EIDIG's twelve columns (without fnlwgt and education), and their names."""
    names = [name for name in COLUMNS[:-1] if name not in ("fnlwgt", "education")]
    columns = []
    for name in names:
        if name in CATEGORIES:
            columns.append(_codes(rows[name], name))
        else:
            values = rows[name].astype(int).to_numpy()
            bins = INTEGER_BINS.get(name)
            columns.append(values if bins is None else np.digitize(values, bins, right=True))
    return np.column_stack(columns).astype(np.int32), names
