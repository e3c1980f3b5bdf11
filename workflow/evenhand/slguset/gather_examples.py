"""Gather the sentences that the acceptance model judges or learns from, to score them."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output, Source
from evenhand.io.tables import read_rows, read_table_schema, write_table
from evenhand.slguset.annotation import ANSWERS
from evenhand.slguset.distinct_sentences import sentence_id
from evenhand.slguset.filters import biology, coreference, deny_list, pair_fit
from evenhand.slguset.keywords import GENDERS, Keywords, read_keywords
from evenhand.slguset.surface_pairs import attribute_of
from evenhand.slguset.verdicts import ACCEPTED
from evenhand.text.traditional import matching_form

#: Reasons by which a sentence is bad for certain. A name may be none: its filters err too often.
CERTAIN = frozenset(
    reason for module in (pair_fit, coreference, biology, deny_list) for reason in module.REASONS
)

#: Labelled sentences by id: rows with the columns of keywords, and whether good.
Labels = dict[str, tuple[dict[str, Any], bool]]


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
            end = start + len(row["keyword"])
            yield row | {attribute: row["value"], "start": start, "end": end}

    examples: dict[str, dict[str, Any]] = {}
    for row in rows():
        examples.setdefault(row["sentence_id"], {name: row.get(name) for name in names})
    write_table(out, pa.schema([former.field(name) for name in names]), examples.values())
    return {"sentences": len(examples)}


def read_labels(
    keywords: Keywords, files: Sequence[Path], plain: Callable[[str], str] = str
) -> Labels:
    """Return the sentences of tables of labels: rows with the columns of keywords, whether good.

    Sentences without exactly one keyword are left out, and counted on the console. `plain` makes
    the form of a text in which keywords are sought.

    Raises
    ------
    InputError
        A label is none of `ANSWERS`, or a table is malformed.
    """
    labels: Labels = {}
    for path in files:
        rows = read_resource(
            path, ["sentence", "label"], unique=("sentence",), choices={"label": ANSWERS}
        )
        without = 0
        for row in rows:
            sentence, matched = row["sentence"], plain(row["sentence"])
            hits = [*keywords.pattern.finditer(matched)]
            if len(hits) != 1:
                without += 1
                continue
            start, end = hits[0].span()
            surface = keywords.surfaces[hits[0].group()]
            if matched != sentence:
                surface = surface.written_in(sentence, start)
            described = {"sentence_id": sentence_id(sentence), "sentence": sentence}
            described |= {"surface_start": start, "surface_end": end} | surface._asdict()
            labels[described["sentence_id"]] = described, row["label"] == "accept"
        if without:
            warning = f"{path}: {without} sentences do not have one keyword, and are left out"
            print(warning, file=sys.stderr)
    return labels
