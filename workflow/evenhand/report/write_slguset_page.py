"""Stage: the SlguSet report, one HTML file."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.report.render import Page
from evenhand.report.sections.bias import describe_bias
from evenhand.report.sections.funnel import describe_funnel
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.sections.provenance import count_files
from evenhand.report.sections.slguset import (
    describe_annotation,
    describe_dataset,
    describe_headline,
    describe_published,
    describe_quarantine,
    rows_of,
)
from evenhand.report.words import reasons_with, words_of

#: The sections in the order of the page: id (which names its template), short name, title.
SECTIONS = (
    ("funnel", "Funnel", "Where the sentences fell"),
    ("dataset", "Data set", "The data set"),
    ("annotation", "Annotation", "The annotators’ answers"),
    ("bias", "Bias", "Which way the models lean"),
    ("published", "Published file", "The published file"),
    ("quarantine", "Corpus", "What was read, and what was set aside"),
    ("files", "Files", "Where everything lies, and what made it"),
)


def write_slguset_page(
    *,
    templates: list[Input],
    out: Output,
    corpus: Input | None = None,
    candidates: Input | None = None,
    counts: list[Input] | None = None,
    samples: list[Input] | None = None,
    drawn: Input | None = None,
    answers: list[Input] | None = None,
    annotation: Input | None = None,
    acceptance: Input | None = None,
    dataset: Input | None = None,
    table_1: Input | None = None,
    statistics: Input | None = None,
    bias: list[Source] | None = None,
    published_dataset: Input | None = None,
    published_table_1: Input | None = None,
    published_statistics: Input | None = None,
    published_filters: Input | None = None,
    published_report: Input | None = None,
    provenance: Input | None = None,
    examples: int = 3,
    reasons: list[str] | None = None,
    reason_names: list[str] | None = None,
    reason_meanings: list[str] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the SlguSet report, one HTML file.

    The page states which optional inputs are missing.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    corpus
        ``tables/corpus``: the funnel, and the unreadable parts of the corpora.
    candidates
        ``slguset/candidates.parquet``, for the examples.
    counts
        The shards' ``counts.json``.
    samples
        ``sample.parquet`` of each round of annotation.
    drawn
        ``drawn.csv`` of the latest round.
    answers
        ``answers.parquet`` of each round; the page requests the sheets of a round without answers.
    annotation
        ``tables/annotation``.
    acceptance
        ``tables/acceptance``.
    dataset
        ``slguset/slguset.parquet``.
    table_1
        ``tables/sentences/slguset``.
    statistics
        ``slguset/statistics.json``.
    bias
        The folder of the tables of bias of each data set, named after it.
    published_dataset
        ``slguset_published/slguset.parquet``.
    published_table_1
        ``tables/sentences/slguset_published``.
    published_statistics
        ``slguset_published/statistics.json``.
    published_filters
        ``tables/published``.
    published_report
        ``slguset_published/report.json``.
    provenance
        ``provenance.json`` of `evenhand.report.collect_provenance`.
    examples
        Sentences shown per verdict, the first by sentence_id; 0 shows none.
    reasons, reason_names, reason_meanings
        The filters' reasons, and the words for them.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.
    """
    known = reasons_with(reasons, reason_names, reason_meanings)
    parts = {
        "funnel": describe_funnel(corpus, candidates, examples, known),
        "dataset": describe_dataset(
            table_1, statistics, published_table_1, published_statistics
        ),
        "annotation": describe_annotation(
            samples or [], drawn, answers or [], annotation
        ),
        "bias": [describe_bias(one) for one in bias or [] if (one / "models.csv").is_file()],
        "published": describe_published(published_filters, published_report, known),
        "quarantine": describe_quarantine(counts or [], corpus),
        "files": count_files(provenance),
    }  # fmt: skip
    more = {f"tables/bias/{one.name}": one for one in bias or []}
    more |= {"tables/acceptance": acceptance} if acceptance else {}
    sentences = rows_of(dataset)
    headline = describe_headline(
        parts["funnel"],
        parts["annotation"],
        sentences,
        rows_of(published_dataset),
        (parts["dataset"] or {"sums": {}})["sums"].get("own"),
    )
    written = Page("slguset", out, templates, pages).write(
        **parts,
        sections=SECTIONS,
        headline=headline,
        sentences=sentences,
        **{name: words_of(name) for name in ("problems", "problem_errors", "positions")},
        more_tables=MoreTables(more),
    )
    return {"sections": sum(bool(part) for part in parts.values()), "bytes": written}


if __name__ == "__main__":
    stage.run(write_slguset_page)
