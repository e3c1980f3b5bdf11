"""Write the part of a data set that trainings read: its cases with one attribute, or none.

Words, token ids and ERM depend on no attribute and read the cases without any; a training with
groups reads those of its own attribute. So an edit of one attribute repeats no training that does
not use it: the run cache finds the same bytes.
"""

from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.io.tables import read_rows, write_table
from evenhand.legal.built import cases_schema
from evenhand.legal.declaration import described, read_dataset
from evenhand.legal.groups import attributes
from evenhand.legal.records import BATCH_CASES


def build_training(
    *,
    data: Input,
    out: Output,
    attribute: str | None = None,
) -> dict[str, Any]:
    """Write the cases of a data set for trainings.

    Parameters
    ----------
    data : path
        The data set, of `build_cases`.
    out : path
        The same with the columns of the attribute or of none. With an attribute the texts are
        left out (empty): words and token ids are made of the file without one.
    attribute : str, optional
        Its column; of a product (`evenhand.legal.groups`) those of its attributes.

    Returns
    -------
    dict
        Cases.
    """
    dataset = read_dataset(data)
    used = [dataset.attribute(name) for name in attributes(attribute or "") if name]
    schema = described(cases_schema(used), dataset)
    columns = [name for name in schema.names if not (attribute and name == "text")]
    no_texts = {"text": []} if attribute else {}
    rows = (row | no_texts for row in read_rows(data, columns, BATCH_CASES))
    return {"cases": write_table(out, schema, rows, BATCH_CASES)}
