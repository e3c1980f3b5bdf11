"""What the annotators said about each sentence of one or more rounds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import InputError
from evenhand.io.tables import read_rows


class Judged(NamedTuple):
    """A sentence of a sample (a row as a dict) with its answers, sorted by annotator."""

    row: dict[str, Any]
    answers: list[dict[str, Any]]

    def said(self) -> list[str]:
        """The answers alone: one word per annotator."""
        return [answer["answer"] for answer in self.answers]

    def unanimous(self) -> bool:
        """Whether all annotators say the same."""
        return len(set(self.said())) == 1


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
    said: dict[str, list[dict[str, Any]]] = {one: [] for one in rows}
    for path in answers:
        for answer in read_rows(path):
            if answer["sentence_id"] not in said:
                raise InputError(
                    f"sentence {answer['sentence_id']} is in no sample", file=path,
                    remedy="give the answers with the sample of their round",
                )  # fmt: skip
            said[answer["sentence_id"]].append(answer)
    numbers = {one: len(given) for one, given in said.items()}
    if len(set(numbers.values())) > 1 or 0 in numbers.values():
        one = min(numbers, key=lambda name: (numbers[name], name))
        raise InputError(
            f"sentence {one} has {numbers[one]} answers, others have {max(numbers.values())}",
            remedy="give the answers of every round, with as many annotators in each",
        )
    return [
        Judged(row, sorted(said[row["sentence_id"]], key=lambda answer: answer["annotator"]))
        for row in sorted(rows.values(), key=lambda row: (row["round"], row["rank"]))
    ]
