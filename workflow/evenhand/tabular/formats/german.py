"""German credit (UCI Statlog): 30 columns, by our interpretation.

The paper's 30 columns cannot be identified. These are the 24 of german.data-numeric, with age as
five one-hot groups, and telephone and foreign worker as two columns each. The age groups are closed
on the right, in agreement with the paper's Table 2. The label 1 is a bad credit.
"""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.numbers import whole
from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.tabular.delimited import one_hot, only_file
from evenhand.tabular.prepared import Prepared
from evenhand.text.phrases import plural

#: The 24 columns of german.data-numeric, named by their content (german.doc does not name them).
NUMERIC = [
    *("status", "months", "history", "amount", "savings", "employment", "personal_status"),
    *("residence", "property", "age", "other_plans", "existing_credits", "dependants"),
    *("telephone", "foreign_worker", "new_car", "used_car", "no_debtors", "co_applicant"),
    *("rent", "owns_home", "unskilled_non_resident", "unskilled_resident", "skilled"),
]

AGE_EDGES = [25, 35, 45, 55]
AGE_GROUPS = ["up to 25", "26 to 35", "36 to 45", "46 to 55", "56 and older"]

#: EIDIG's age groups, for the integer encoding.
INTEGER_GROUPS = ["up to 25", "26 to 45", "46 to 65", "66 and older"]


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read ``german.data-numeric``.

    Raises
    ------
    InputError
        There is not exactly one file, a row does not have 25 whole numbers, or one of telephone,
        foreign worker and the label is neither 1 nor 2.
    """
    del options
    path = only_file(files, "German credit")
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = [whole(cell) for cell in line.split()]
        except ValueError as error:
            problem = "holds something that is no whole number"
            remedy = "use german.data-numeric, not german.data"
            raise InputError(problem, file=path, line=number, remedy=remedy) from error
        if len(values) != len(NUMERIC) + 1:
            problem = f"has {plural(len(values), 'column')} instead of {len(NUMERIC) + 1}"
            raise InputError(problem, file=path, line=number)
        pairs = dict(zip([*NUMERIC, "label"], values, strict=True))
        for name in ("telephone", "foreign_worker", "label"):
            if pairs[name] not in (1, 2):
                problem = f"the {name} is {pairs[name]}; it is 1 or 2"
                raise InputError(problem, file=path, line=number)
        rows.append(values)
    if not rows:
        raise InputError("has no rows", file=path)
    table = np.array(rows)
    group = np.digitize(table[:, NUMERIC.index("age")], AGE_EDGES, right=True)
    features: dict[str, np.ndarray] = {}
    for name, values in zip(NUMERIC, table.T, strict=False):
        if name == "age":
            features |= one_hot(name, np.array(AGE_GROUPS)[group], AGE_GROUPS)
        elif name in ("telephone", "foreign_worker"):
            features |= one_hot(name, values, (1, 2))
        else:
            features[name] = values
    names = list(features)
    integers = table[:, :-1].copy()
    quartiles = {
        name: [0, *np.percentile(table[:, NUMERIC.index(name)], [25, 50, 75]), top]
        for name, top in (("months", 80), ("amount", 200))
    }
    for name, bins in {**quartiles, "age": [15, 25, 45, 65, 120]}.items():
        i = NUMERIC.index(name)
        integers[:, i] = np.digitize(table[:, i], bins, right=True)
    return Prepared(
        name="german",
        x=np.column_stack(list(features.values())).astype(np.float64),
        y=(table[:, -1] == 2).astype(np.int8),
        a=group.astype(np.int16),
        features=names,
        attribute_name="age",
        attribute_values=AGE_GROUPS,
        attribute_columns=[names.index(f"age={title}") for title in AGE_GROUPS],
        attribute_codes=np.eye(len(AGE_GROUPS)),
        scale="standard",
        test_share=0.4,
        meta={
            "title": "German credit (UCI Statlog)",
            "label": "a bad credit",
            "excluded": {},
            "integer_groups": INTEGER_GROUPS,
            "gap": "deviation",  # of five groups, as in the paper's tables
            "note": "the 30 columns are a reading of ours; the paper's cannot be identified",
        },
        integers=integers.astype(np.int32),
        integer_features=list(NUMERIC),
        integer_protected=[NUMERIC.index("personal_status"), NUMERIC.index("age")],
    )
