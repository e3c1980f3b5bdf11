"""Read the sheets that annotators have filled in."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.rows import grouped_by
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, write_table
from evenhand.sheets.tasks import Row, check_rows, chosen, read_filled, refuse
from evenhand.slguset.annotation import (
    ADJUDICATOR,
    ANSWERS,
    CRITERIA,
    DISAGREEMENT,
    TASK,
    WAITING,
    read_export,
    read_judgements,
    write_adjudication,
)

SCHEMA = pa.schema(
    (name, pa.string()) for name in ("sentence_id", "annotator", "answer", "criterion", "comment")
)


def read_sheets(
    *,
    sample: Input,
    sheets: list[Input],
    instructions: Input,
    interface: Input,
    out: Output,
    adjudication: Output,
    headings: list[str] | None = None,
    synonyms: list[str] | None = None,
) -> dict[str, Any]:
    """Read the sheets that annotators have filled in, as far as they are there.

    Any annotator may answer any sentence of the round, so that one can take another's place.
    A sentence waits until as many have answered as it was handed out to.

    Parameters
    ----------
    sample : Path
        The sample.parquet that the sheets were written from.
    sheets : list of Path
        Filled sheets: xlsx, csv, or Label Studio's export (json, which may hold several
        annotators). A row without an answer has not been judged yet. An annotator's answers, and
        the adjudicator's, may come in several files.
    instructions : Path
        The template of the annotators' instructions (instructions.md.jinja).
    interface : Path
        Label Studio's labelling interface (label_studio.xml).
    out : Path
        answers.parquet: sentence_id, annotator, answer, criterion, comment; in the order of
        the sample, then by annotator.
    adjudication : Path
        A folder with the sentences on which annotators disagree, without a decision yet:
        ``adjudicator.xlsx`` and ``adjudicator.csv``, which show their answers, and
        ``label_studio.json`` with ``label_studio.xml``. Filled in, it is one of `sheets`.
    headings : list of str, optional
        Columns of a sheet with the text after their names: ``answer 判断``.
    synonyms : list of str, optional
        Other words for the answers, each before its answer: ``接受 accept``.

    Returns
    -------
    dict
        sentences, annotators (names), answers (by answer), waiting (sentences that lack
        answers), comments_without_answer (not kept), adjudicated, to_adjudicate, of_lost (answers
        to sentences that were lost).

    Raises
    ------
    InputError
        A sheet cannot be read, a row is of no sentence of the sample, a text was changed, an
        answer is unknown, an annotator answered a sentence twice, or a row has a criterion and no
        answer or `accept`. The error states the file, the rows and the remedy.
    """
    expected = {row["sentence_id"]: row for row in read_rows(sample)}
    answers_of: dict[tuple[str, str], tuple[Path, dict[str, str | None]]] = {}
    comments = 0
    words = {word.casefold(): answer for word, answer in (s.rsplit(" ", 1) for s in synonyms or ())}
    for path in sheets:
        for annotator, rows in _by_annotator(path).items():
            answered = _checked(path, annotator, rows, expected, words)
            comments += sum(bool(row.cells["comment"]) for row in rows)
            comments -= sum(cells["comment"] is not None for _, cells in answered)
            if again := [
                row for row, _ in answered if (row.cells["sentence_id"], annotator) in answers_of
            ]:
                first, _ = answers_of[again[0].cells["sentence_id"], annotator]
                refuse(
                    path,
                    again,
                    f"{annotator} has answered this sentence in {first} already",
                    "keep the answer that counts",
                )
            for row, cells in answered:
                answers_of[row.cells["sentence_id"], annotator] = path, cells
    names = sorted({name for _, name in answers_of})
    filled = [
        {"sentence_id": key, "annotator": name} | answers_of[key, name][1]
        for key in expected
        for name in names
        if (key, name) in answers_of
    ]
    write_table(out, SCHEMA, filled)
    sentences = read_judgements([sample], [out])
    fates = [sentence.fate() for sentence in sentences]
    open_ones = [sentence for sentence in sentences if sentence.fate() == DISAGREEMENT]
    write_adjudication(
        adjudication, open_ones, instructions=instructions, interface=interface, headings=headings
    )
    if waiting := fates.count(WAITING):
        print(f"{waiting} of {len(sentences)} sentences wait for answers", file=sys.stderr)
    if comments:
        print(f"{comments} comments have no answer beside them; they are not kept", file=sys.stderr)
    answers = [row["answer"] for row in filled if row["annotator"] != ADJUDICATOR]
    return {
        "sentences": len(sentences),
        "annotators": [name for name in names if name != ADJUDICATOR],
        "answers": {answer: answers.count(answer) for answer in ANSWERS},
        "waiting": waiting,
        "comments_without_answer": comments,
        "adjudicated": sum(sentence.ruling is not None for sentence in sentences),
        "to_adjudicate": len(open_ones),
        "of_lost": sum(expected[row["sentence_id"]]["lost"] for row in filled),
    }


def _by_annotator(path: Path) -> dict[str, list[Row]]:
    """The rows of a file by annotator."""
    rows = read_filled(path, TASK, "annotator", export=read_export)
    unsigned = [row for row in rows if not row.cells["annotator"]]
    refuse(path, unsigned, "the annotator is blank", "put the name back")
    by_annotator = grouped_by(rows, lambda row: row.cells["annotator"])
    if not by_annotator:
        raise InputError("has no row", file=path, remedy="hand in the filled sheet")
    if len(by_annotator) > 1 and path.suffix.lower() != ".json":
        second = list(by_annotator.values())[1][0]
        problem = f"has rows of several annotators ({', '.join(by_annotator)})"
        remedy = "hand in one file per annotator, and leave the column annotator as it was"
        raise InputError(problem, file=path, line=second.number, remedy=remedy)
    return by_annotator


def _checked(
    path: Path,
    annotator: str,
    rows: list[Row],
    expected: dict[str, dict[str, Any]],
    synonyms: dict[str, str],
) -> list[tuple[Row, dict[str, str | None]]]:
    """The answered rows with answer, criterion and comment, if all rows are the sample's."""
    by_key = {(row["round"], key): row for key, row in expected.items()}
    check_rows(path, rows, by_key, TASK)
    answers = chosen(path, rows, "answer", ANSWERS, synonyms=synonyms)
    criteria = chosen(path, rows, "criterion", CRITERIA)
    together = list(zip(rows, answers, criteria, strict=True))
    refuse(
        path,
        [row for row, answer, criterion in together if answer is None and criterion],
        f"{annotator} named a criterion and left the answer blank",
        f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}",
    )
    refuse(
        path,
        [row for row, answer, criterion in together if answer == "accept" and criterion],
        "a sentence is accepted, and yet a criterion is named that it fails",
        "ask the annotator which of the two is right",
    )
    return [
        (row, {"answer": answer, "criterion": criterion, "comment": row.cells["comment"] or None})
        for row, answer, criterion in together
        if answer
    ]
