"""Write the part of a data set that trainings read: its cases with one attribute, or none.

Words, token ids and ERM depend on no attribute and read the cases without any; a training with
groups reads those of its own attribute. So an edit of one attribute repeats no training that does
not use it: the run cache finds the same bytes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.legal.built import cases_schema
from evenhand.legal.declaration import described, read_dataset
from evenhand.legal.groups import attributes
from evenhand.legal.records import BATCH_CASES, SPLITS
from evenhand.text.phrases import listed, plural


def build_training(*, data: Input, out: Output, attribute: str | None = None) -> dict[str, Any]:
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

    Raises
    ------
    InputError
        No case with a label is in one of the splits.
    """
    dataset = read_dataset(data)
    used = [dataset.attribute(name) for name in attributes(attribute or "") if name]
    schema = described(cases_schema(used), dataset)
    columns = [name for name in schema.names if not (attribute and name == "text")]
    no_texts = {"text": []} if attribute else {}
    tally: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, Any]]:
        for row in read_rows(data, columns, BATCH_CASES):
            tally[row["split"]] += row["label_known"]
            tally["copies"] += row["duplicate_of"] is not None
            yield row | no_texts

    cases = write_table(out, schema, rows(), BATCH_CASES)
    if lacking := [split for split in SPLITS if not tally[split]]:
        problem = f"{plural(cases, 'case')}, and none with a label in {listed(lacking)}"
        remedy = "divide the cases otherwise (`split` of a declared data set), or give more of them"
        if 2 * tally["copies"] > cases:
            problem += f": {tally['copies']:,} are nearly equal to an earlier one, and such cases"
            problem += " are in one split"
            remedy = "give more different texts, or raise `legal.near_duplicates`, the similarity"
            remedy += " from which texts are nearly equal"
        raise InputError(problem, file=f"the data set {dataset.title}", remedy=remedy)
    return {"cases": cases}
