"""The SlguSet report: the funnel, the data set, its annotation, and the bias of models."""

from typing import Any

from evenhand.report.sections.bias import describe_bias
from evenhand.report.sections.funnel import describe_funnel
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.sections.slguset import (
    count_rows,
    describe_annotation,
    describe_dataset,
    describe_headline,
    describe_published,
    describe_quarantine,
)
from evenhand.report.study import Study
from evenhand.report.words import WORDS


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    reasons = WORDS["reasons"] | {
        name: (title, study.titles_of("meanings")[name])
        for name, title in study.titles_of("reasons").items()
    }
    funnel = describe_funnel(
        study.tables("tables/corpus"), study.path("candidates.parquet"), reasons
    )
    annotation = describe_annotation(study)
    dataset = describe_dataset(study)
    sentences = count_rows(study.path("slguset/slguset.parquet"))
    published = count_rows(study.path("slguset_published/slguset.parquet"))
    sums = dataset["sums"].get("slguset") if dataset else None
    bias = [path for path in study.paths("tables/bias/*") if (path / "models.csv").is_file()]
    provenance = study.document("provenance.json")
    return {
        "funnel": funnel,
        "dataset": dataset,
        "annotation": annotation,
        "bias": [describe_bias(path) for path in bias],
        "published": describe_published(study, reasons),
        "quarantine": describe_quarantine(study),
        "files": provenance and provenance["files"],
        "headline": describe_headline(funnel, annotation, sentences, published, sums),
        "sentences": sentences,
        **{name: WORDS[name] for name in ("problems", "problem_errors", "positions")},
        "more_tables": MoreTables(study, ["tables/bias/*", "tables/acceptance"]),
    }
