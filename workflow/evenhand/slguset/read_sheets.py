"""Read the sheets that annotators have filled in."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.io.json_text import load
from evenhand.io.sheets import read_csv, read_workbook
from evenhand.io.tables import read_rows, write_table
from evenhand.slguset.sheet_columns import ANSWERS, CRITERIA, NEEDED, TABLE

SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("annotator", pa.string()),
        ("answer", pa.string()),
        ("criterion", pa.string()),
        ("comment", pa.string()),
    ]
)

#: Answers in other words, as people write them in.
SYNONYMS = {
    "接受": "accept",
    "不接受": "reject",
    "拒绝": "reject",
    "不确定": "unsure",
}

#: How many rows an error names.
NAMED = 10


class Row(NamedTuple):
    """One filled row: its number in the file (in Label Studio's export, of the task)."""

    number: int
    cells: dict[str, str]


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
        `annotators`. The error names file, rows and what to do.
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
    said = [row["answer"] for row in filled]
    return {
        "sentences": len(expected),
        "annotators": names,
        "answers": {answer: said.count(answer) for answer in ANSWERS},
    }


def _by_annotator(path: Path) -> dict[str, list[Row]]:
    """The rows of a file by annotator."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        rows = read_workbook(path, TABLE, NEEDED)
    elif suffix == ".csv":
        rows = read_csv(path, NEEDED)
    elif suffix == ".json":
        rows = _label_studio(path)
    else:
        raise InputError(
            "is no sheet", file=path, remedy="hand in xlsx, csv or Label Studio's JSON export"
        )
    found: dict[str, list[Row]] = {}
    for number, cells in rows:
        if not cells["annotator"]:
            raise InputError(
                "the annotator is blank", file=path, line=number, remedy="put the name back"
            )
        found.setdefault(cells["annotator"], []).append(Row(number, cells))
    if not found:
        raise InputError("holds no row", file=path, remedy="hand in the filled sheet")
    if len(found) > 1 and suffix != ".json":
        second = list(found.values())[1][0]
        raise InputError(
            f"holds rows of several annotators ({', '.join(found)})",
            file=path,
            line=second.number,
            remedy="hand in one file per annotator, and leave the column annotator as it was",
        )
    return found


def _label_studio(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of Label Studio's export in its format JSON."""
    try:
        tasks = load(read_text(path))
        for number, task in enumerate(tasks, start=1):
            for annotation in task["annotations"]:
                person = annotation["completed_by"]
                name = person["email"] if isinstance(person, dict) else person
                cells = dict.fromkeys(("answer", "criterion", "comment"), "")
                for key in ("sentence_id", "sentence", "round"):
                    cells[key] = _text(task["data"][key])
                cells["annotator"] = str(name) if isinstance(name, int) else _text(name)
                if not annotation.get("was_cancelled"):
                    for result in annotation["result"]:
                        value = result["value"]
                        texts = value.get("choices") or value.get("text") or []
                        texts = [texts] if isinstance(texts, str) else texts
                        if result["from_name"] in ("answer", "criterion", "comment"):
                            cells[result["from_name"]] = "\n".join(texts).strip()
                yield number, cells
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(
            "is no export of Label Studio",
            file=path,
            remedy="export the project in the format JSON (not JSON-MIN)",
        ) from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text should be")
    return value


def _checked(
    path: Path, annotator: str, rows: list[Row], expected: dict[str, dict[str, Any]]
) -> dict[str, dict[str, str | None]]:
    """Answer, criterion and comment by sentence_id, if the rows are the sample's."""
    _check_sentences(path, rows, expected)
    answers: dict[str, dict[str, str | None]] = {}
    for row in rows:
        answers[row.cells["sentence_id"]] = {
            "answer": _word(row.cells["answer"]),
            "criterion": _word(row.cells["criterion"]),
            "comment": row.cells["comment"] or None,
        }
    given = [(row, answers[row.cells["sentence_id"]]) for row in rows]
    _refuse(
        path,
        [row for row, answer in given if answer["answer"] is None],
        f"{annotator} left the answer blank",
        f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}",
    )
    _refuse(
        path,
        [row for row, answer in given if answer["answer"] not in ANSWERS],
        "there is an unknown answer",
        f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}",
        "answer",
    )
    _refuse(
        path,
        [row for row, answer in given if answer["criterion"] not in (None, *CRITERIA)],
        "there is an unknown criterion",
        f"fill in one of {', '.join(CRITERIA)}, or leave it blank",
        "criterion",
    )
    _refuse(
        path,
        [row for row, said in given if said["answer"] == "accept" and said["criterion"]],
        "a sentence is accepted, and yet a criterion is named that it fails",
        "ask the annotator which of both is meant",
    )
    return answers


def _check_sentences(path: Path, rows: list[Row], expected: dict[str, dict[str, Any]]) -> None:
    """The rows are the sentences of the sample, each once and unchanged."""
    rounds = {row["round"] for row in expected.values()}
    _refuse(
        path,
        [row for row in rows if row.cells["round"] not in rounds],
        f"there is a row of another round than {', '.join(sorted(rounds))}",
        "hand in the sheet of this round, or set the round in the configuration",
        "round",
    )
    _refuse(
        path,
        [row for row in rows if row.cells["sentence_id"] not in expected],
        "there is a sentence_id that is not in this round's sample",
        "remove rows that were added, and put changed ids back",
        "sentence_id",
    )
    _refuse(
        path,
        [
            row
            for row in rows
            if row.cells["sentence"] != expected[row.cells["sentence_id"]]["sentence"]
        ],
        "the text of a sentence was changed",
        "put the sentence back as it was handed out, and judge that",
    )
    seen: set[str] = set()
    again = []
    for row in rows:
        if row.cells["sentence_id"] in seen:
            again.append(row)
        seen.add(row.cells["sentence_id"])
    _refuse(path, again, "a sentence stands there a second time", "keep one of the rows")
    if missing := [row for one, row in expected.items() if one not in seen]:
        ranks = ", ".join(str(row["rank"]) for row in missing[:NAMED])
        more = ", ..." if len(missing) > NAMED else ""
        raise InputError(
            f"lacks {len(missing)} of {len(expected)} sentences (rank {ranks}{more})",
            file=path,
            remedy="put the rows back from the sheet that was handed out",
        )


def _word(text: str) -> str | None:
    """An answer as it is meant: None if blank; wide letters, capitals and Chinese words count."""
    word = unicodedata.normalize("NFKC", text).strip().lower()
    return SYNONYMS.get(word, word) or None


def _refuse(
    path: Path, rows: list[Row], problem: str, remedy: str, cell: str | None = None
) -> None:
    """Raise an error that names the rows, if there are any, and the first one's cell."""
    if not rows:
        return
    if cell:
        problem += f": {rows[0].cells[cell]!r}"
    if len(rows) > 1:
        numbers = ", ".join(str(row.number) for row in rows[:NAMED])
        problem += f" ({len(rows)} rows: {numbers}{', ...' if len(rows) > NAMED else ''})"
    raise InputError(problem, file=path, line=rows[0].number, remedy=remedy)


if __name__ == "__main__":
    stage.run(read_sheets)
