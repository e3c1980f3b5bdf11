"""Write the card of SlguSet, in the format of the Hugging Face hub."""

from collections import Counter
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_table
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
    """
    values = values or ["male", "female"]
    facts, pairs = read_json(statistics), read_table(table / "table_1.csv")
    agreement = read_table(annotation / "agreement.csv")
    # without the adjudicator
    annotators = [row for path in answers for row in read_rows(path, ["sentence_id", "annotator"])]
    annotators = [row["sentence_id"] for row in annotators if row["annotator"] != ADJUDICATOR]
    sentences = facts["sentences"]
    content = {
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
        "agreement": agreement,
        "overall": next(row for row in agreement if row["pair"] == "all"),
        "annotators": max(Counter(annotators).values(), default=0),
    }
    text = render(template, content)
    out.write_text(text, encoding="utf-8")
    return {"sentences": sentences}
