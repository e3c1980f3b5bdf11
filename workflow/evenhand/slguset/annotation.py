"""The annotation task: judge whether a sentence with an exchanged gender word is as natural."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import InputError
from evenhand.io.sheets import Column
from evenhand.io.tables import read_rows
from evenhand.sheets.tasks import Task

#: What annotators can answer for a sentence.
ANSWERS = ("accept", "reject", "unsure")

#: Why they do not accept it: a criterion, a personal name, something else.
CRITERIA = ("a", "b", "c", "name", "other")

TASK = Task(
    item="sentence",
    group="round",
    key="sentence_id",
    key_form="[0-9a-f]{16}",
    columns=(
        Column("rank", "序号", 7),
        Column("sentence", "句子", 56),
        Column("swapped_sentence", "换词后", 56),
        Column("answer", "判断", 12, choices=ANSWERS, fill_in=True),
        Column("criterion", "原因", 12, choices=CRITERIA, fill_in=True),
        Column("comment", "说明", 32, fill_in=True),
        Column("annotator", "标注员", 16),
        Column("round", "轮次", 10),
        Column("sentence_id", "编号", 20),
    ),
    fixed=("sentence",),
    handed_out=("round", "rank", "sentence_id", "sentence"),
    table="sentences 句子",
    notes="instructions 说明",
)


class Judged(NamedTuple):
    """A sentence of a sample (a row as a dict) with its answers, sorted by annotator."""

    row: dict[str, Any]
    answers: list[dict[str, Any]]

    def words(self) -> list[str]:
        """The answers alone: one word per annotator."""
        return [answer["answer"] for answer in self.answers]

    def unanimous(self) -> bool:
        """Whether all annotators agree."""
        return len(set(self.words())) == 1


def read_judgements(samples: Sequence[Path], answers: Sequence[Path]) -> list[Judged]:
    """Bring samples and answers of one or more rounds together.

    Parameters
    ----------
    samples, answers : sequence of Path
        A sample.parquet and an answers.parquet per round; the order does not matter.

    Returns
    -------
    list of Judged
        Sorted by round and rank.

    Raises
    ------
    InputError
        A sentence is in two samples, answers are of no sample's sentence, a sentence has no
        answers, or not as many as the others.
    """
    rows: dict[str, dict[str, Any]] = {}
    for path in samples:
        for row in read_rows(path):
            if row["sentence_id"] in rows:
                raise InputError(
                    f"sentence {row['sentence_id']} is in two rounds",
                    file=path,
                    remedy="give each round's sample once, and keep the ledger whole",
                )
            rows[row["sentence_id"]] = row
    answered: dict[str, list[dict[str, Any]]] = {one: [] for one in rows}
    for path in answers:
        for answer in read_rows(path):
            if answer["sentence_id"] not in answered:
                raise InputError(
                    f"sentence {answer['sentence_id']} is in no sample", file=path,
                    remedy="give the answers with the sample of their round",
                )  # fmt: skip
            answered[answer["sentence_id"]].append(answer)
    numbers = {one: len(some) for one, some in answered.items()}
    if len(set(numbers.values())) > 1 or 0 in numbers.values():
        one = min(numbers, key=lambda name: (numbers[name], name))
        raise InputError(
            f"sentence {one} has {numbers[one]} answers, others have {max(numbers.values())}",
            remedy="give the answers of every round, with as many annotators in each",
        )
    return [
        Judged(row, sorted(answered[row["sentence_id"]], key=lambda answer: answer["annotator"]))
        for row in sorted(rows.values(), key=lambda row: (row["round"], row["rank"]))
    ]
