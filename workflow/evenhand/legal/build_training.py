"""Stage: what trainings see of a data set: its cases with one attribute, or with none.

What depends on no attribute (words, token ids, ERM) reads the cases without any, and a training
with groups those of its own attribute: so that another rule for one attribute trains nothing
again that does not use it.
"""

import importlib
from collections.abc import Iterator
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.tables import write_table
from evenhand.legal.build_cases import Tally, cases_schema, join_cases
from evenhand.legal.dataset import Dataset
from evenhand.legal.records import BATCH_CASES


def build_training(
    *,
    records: list[Input],
    splits: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    findings: list[Input] | None = None,
    attribute: str | None = None,
) -> dict[str, Any]:
    """Put a data set together for trainings.

    Parameters
    ----------
    records, splits : paths
        As of `build_cases`.
    out : path
        Parquet, as `build_cases` writes it, with the columns of the attribute or of none. With
        an attribute the texts are left out (empty): words and token ids are made of the file
        without one.
    kind : str
        A module of `evenhand.legal.datasets`.
    findings : list of path
        What `find_attributes` found of the attribute: a file for each of `records`.
    attribute : str, optional
        Its column.

    Returns
    -------
    dict
        What `build_cases` counts.

    Raises
    ------
    InputError
        There is not one file of findings for each record file, or the files do not belong
        together.
    """
    dataset: Dataset = importlib.import_module(f"evenhand.legal.datasets.{kind}").DATASET
    findings = findings or []
    if len(findings) != (len(records) if attribute else 0):
        raise InputError(
            f"{len(findings)} files of findings are there for {len(records)} files of records"
            f" and {attribute or 'no attribute'}",
            remedy="give for each file of records one of the attribute, or none without one",
        )
    chosen = [dataset.attribute(attribute)] if attribute else []
    tally = Tally(chosen)

    def rows() -> Iterator[dict[str, Any]]:
        for case in join_cases(records, splits, findings, dataset, chosen, tally):
            yield case | {"text": []} if attribute else case

    write_table(out, cases_schema(chosen), rows(), BATCH_CASES)
    return tally.counts()


if __name__ == "__main__":
    stage.run(build_training)
