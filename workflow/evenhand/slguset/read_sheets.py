"""Read the sheets that annotators have filled in."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.sheets.filled import NAMED, Row, check_rows, chosen, read_filled, refuse
from evenhand.slguset.annotation import ANSWERS, CRITERIA, TASK
from evenhand.slguset.annotation_sheets import read_export

SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("annotator", pa.string()),
        ("answer", pa.string()),
        ("criterion", pa.string()),
        ("comment", pa.string()),
    ]
)

#: Other words for the answers.
SYNONYMS = {
    "接受": "accept",
    "不接受": "reject",
    "拒绝": "reject",
    "不确定": "unsure",
}


def read_sheets(
    *, sample: Input, sheets: list[Input], out: Output, annotators: int = 3
) -> dict[str, Any]:
    """Read the sheets that annotators have filled in.

    Parameters
    ----------
    sample : Path
        The sample.parquet that the sheets were written from.
    sheets : list of Path
        The filled sheets, one per annotator: xlsx, csv, or Label Studio's export (json, which
        may hold several annotators).
    out : Path
        answers.parquet: sentence_id, annotator, answer, criterion, comment; in the order of
        the sample, then by annotator.
    annotators : int
        How many annotators there must be.

    Returns
    -------
    dict
        sentences, annotators (names), answers (by answer).

    Raises
    ------
    InputError
        A sheet cannot be read, an annotator's sentences are not those of the sample (rows are
        missing, doubled or of another round, or a text was changed), an answer is blank or
        unknown, an annotator handed in two files, or there are fewer or more than
        `annotators`. The error states the file, the rows and the remedy.
    """
    expected = {row["sentence_id"]: row for row in read_rows(sample)}
    by_annotator: dict[str, tuple[Path, dict[str, dict[str, str | None]]]] = {}
    for path in sheets:
        for annotator, rows in _by_annotator(path).items():
            if annotator in by_annotator:
                raise InputError(
                    f"is a second sheet of {annotator}, after {by_annotator[annotator][0]}",
                    file=path,
                    remedy="keep the one that counts; each annotator hands in one file",
                )
            by_annotator[annotator] = (path, _checked(path, annotator, rows, expected))
    names = sorted(by_annotator)
    if len(names) != annotators:
        raise InputError(
            f"there are sheets of {len(names)} annotators ({', '.join(names) or 'none'}), "
            f"not of {annotators}",
            remedy="put the filled sheet of each annotator into the folder of filled sheets",
        )
    filled = [
        {"sentence_id": one, "annotator": name} | by_annotator[name][1][one]
        for one in expected
        for name in names
    ]
    write_table(out, SCHEMA, filled)
    answers = [row["answer"] for row in filled]
    return {
        "sentences": len(expected),
        "annotators": names,
        "answers": {answer: answers.count(answer) for answer in ANSWERS},
    }


def _by_annotator(path: Path) -> dict[str, list[Row]]:
    """The rows of a file by annotator."""
    rows = read_filled(path, TASK, "annotator", export=read_export)
    unsigned = [row for row in rows if not row.cells["annotator"]]
    refuse(path, unsigned, "the annotator is blank", "put the name back")
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.cells["annotator"], []).append(row)
    if not found:
        raise InputError("has no row", file=path, remedy="hand in the filled sheet")
    if len(found) > 1 and path.suffix.lower() != ".json":
        second = list(found.values())[1][0]
        raise InputError(
            f"has rows of several annotators ({', '.join(found)})",
            file=path,
            line=second.number,
            remedy="hand in one file per annotator, and leave the column annotator as it was",
        )
    return found


def _checked(
    path: Path, annotator: str, rows: list[Row], expected: dict[str, dict[str, Any]]
) -> dict[str, dict[str, str | None]]:
    """Answer, criterion and comment by sentence_id, if the rows are the sample's."""
    by_key = {(row["round"], one): row for one, row in expected.items()}
    check_rows(path, rows, by_key, TASK)
    there = {row.cells["sentence_id"] for row in rows}
    if missing := [row for one, row in expected.items() if one not in there]:
        ranks = ", ".join(str(row["rank"]) for row in missing[:NAMED])
        more = ", ..." if len(missing) > NAMED else ""
        raise InputError(
            f"lacks {len(missing)} of {len(expected)} sentences (rank {ranks}{more})",
            file=path,
            remedy="put the rows back from the sheet that was handed out",
        )
    answers = chosen(path, rows, "answer", ANSWERS, synonyms=SYNONYMS)
    criteria = chosen(path, rows, "criterion", CRITERIA)
    together = list(zip(rows, answers, criteria, strict=True))
    refuse(
        path,
        [row for row, answer, _ in together if answer is None],
        f"{annotator} left the answer blank",
        f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}",
    )
    refuse(
        path,
        [row for row, answer, criterion in together if answer == "accept" and criterion],
        "a sentence is accepted, and yet a criterion is named that it fails",
        "ask the annotator which of the two is right",
    )
    return {
        row.cells["sentence_id"]: {
            "answer": answer,
            "criterion": criterion,
            "comment": row.cells["comment"] or None,
        }
        for row, answer, criterion in together
    }


if __name__ == "__main__":
    stage.run(read_sheets)
