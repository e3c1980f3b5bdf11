"""Gather the sentences that the acceptance model judges or learns from, to score them."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.tables import read_rows, read_table_schema, write_table
from evenhand.slguset.acceptance_examples import CERTAIN, read_labels
from evenhand.slguset.keywords import GENDERS, read_keywords
from evenhand.slguset.surface_pairs import attribute_of
from evenhand.slguset.verdicts import ACCEPTED
from evenhand.text.traditional import matching_form


def gather_examples(
    *,
    candidates: Input,
    keywords: Input,
    out: Output,
    published: Input | None = None,
    labels: list[Source] | None = None,
    values: list[str] | None = None,
    language: str = "zh",
) -> dict[str, Any]:
    """Gather the sentences that the acceptance model judges or learns from, to score them.

    Parameters
    ----------
    candidates : Path
        candidates.parquet.
    keywords : Path
        The table of surface pairs (keywords.csv).
    out : Path
        A data set for `evenhand.slguset.score_bias`: sentence_id, sentence, keyword, opposite,
        the attribute, start, end, and spans if the candidates have them; each sentence once, in
        the order of candidates, published, labels.
    published : Path, optional
        The published data set.
    labels : list of Path, optional
        Tables (sentence, label), as for `accept_candidates`.
    values : list of str, optional
        The values of the attribute; male and female by default.
    language : str
        Of the pack.

    Returns
    -------
    dict
        sentences.
    """
    values = values or [*GENDERS]
    former = read_table_schema(candidates)
    attribute = attribute_of(former.names)
    names = ["sentence_id", "sentence", "keyword", "opposite", attribute, "start", "end"]
    names += ["spans"] if "spans" in former.names else []
    known = read_keywords(keywords, values)

    def rows() -> Iterator[dict[str, Any]]:
        for row in read_rows(candidates):
            if row["verdict"] == ACCEPTED or row["verdict"] in CERTAIN:
                yield row
        yield from read_rows(published) if published else ()
        for row, _ in read_labels(known, labels or [], matching_form(language)).values():
            start = row["surface_start"] + row["offset"]
            yield (
                row
                | {attribute: row["value"], "start": start}
                | {"end": start + len(row["keyword"])}
            )

    found: dict[str, dict[str, Any]] = {}
    for row in rows():
        found.setdefault(row["sentence_id"], {name: row.get(name) for name in names})
    write_table(out, pa.schema([former.field(name) for name in names]), found.values())
    return {"sentences": len(found)}


if __name__ == "__main__":
    stage.run(gather_examples)
