"""Write the card of SlguSet, in the format of the Hugging Face hub."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_table
from evenhand.errors import InputError
from evenhand.io.markdown import render, size_category
from evenhand.io.tables import read_rows
from evenhand.report.read import read_json
from evenhand.slguset.annotation import ADJUDICATOR


def write_slguset_card(
    *,
    answers: list[Input],
    statistics: Input,
    table: Input,
    annotation: Input,
    corpus: Input,
    template: Input,
    out: Output,
    name: str = "SlguSet",
    licence: str = "other",
    corpora: list[str] | None = None,
    filters: list[str] | None = None,
    notice: str = "",
    title: str = "Chinese",
    language: str = "zh",
    attribute: str = "gender",
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Write the data set's card in the format of the Hugging Face hub.

    Parameters
    ----------
    answers : list of Path
        answers.parquet of each round, for the number of annotators.
    statistics, table : Path
        statistics.json, and the folder of Table 1, of `describe_dataset`.
    annotation, corpus : Path
        The folders of tables of `build_dataset` and `count_funnel`.
    template : Path
        The card's template (slguset_card.md.jinja).
    out : Path
        README.md beside slguset.parquet.
    name : str
        The data set's name.
    licence : str
        The licence's identifier on the hub, like cc-by-4.0; `other` if it has none.
    corpora : list of str, optional
        The sources of the text.
    filters : list of str, optional
        The configured filters.
    notice : str
        A notice to readers.
    title, language, attribute, values
        Of the pack; title is the name of the language.

    Returns
    -------
    dict
        sentences.

    Raises
    ------
    InputError
        A table lacks a column, or the numbers of the tables contradict each other.
    """
    values = values or ["male", "female"]
    facts = read_json(statistics)
    pairs = read_table(table / "table_1.csv")
    agreed = read_table(annotation / "agreement.csv")
    overall = next((row for row in agreed if row["pair"] == "all"), None)
    sentences = facts["sentences"]
    if overall is None or sum(row["total"] for row in pairs) != sentences:
        raise InputError(
            f"the tables do not belong to a data set of {sentences} sentences",
            file=table,
            remedy="remove the tables and run the workflow again",
        )
    text = render(
        template,
        {
            "name": name,
            "licence": licence,
            "notice": notice,
            "title": title,
            "language": language,
            "values": values,
            "attribute": attribute,
            "corpora": corpora or [],
            "filters": filters or [],
            "size": size_category(sentences),
            "sentences": sentences,
            "statistics": facts,
            "pairs": [row for row in pairs if row["total"]],
            "sums": [sum(row[value] for row in pairs) for value in values],
            "funnel": read_table(corpus / "funnel.csv"),
            "agreement": agreed,
            "overall": overall,
            "annotators": _count_annotators(answers),
        },
    )
    out.write_text(text, encoding="utf-8")
    return {"sentences": sentences}


def _count_annotators(answers: list[Path]) -> int:
    """Return the largest number of annotators of a sentence, the adjudicator not counted."""
    columns = ["sentence_id", "annotator"]
    per_sentence = Counter(
        row["sentence_id"]
        for path in answers
        for row in read_rows(path, columns)
        if row["annotator"] != ADJUDICATOR
    )
    return max(per_sentence.values(), default=0)


if __name__ == "__main__":
    stage.run(write_slguset_card)
