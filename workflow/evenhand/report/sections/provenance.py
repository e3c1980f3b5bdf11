"""Section: where everything lies, what it holds and what made it."""

import json
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from evenhand.report.read import read_json

#: What a result file holds, by a pattern of the end of its path; the first that fits counts.
HOLDINGS = [
    ("slguset/sentences/*.quarantine.parquet", "Parts of the corpus that could not be read"),
    ("slguset/sentences/*.counts.json", "What was read of a shard of the corpus"),
    ("*/sentences/*.parquet", "Sentences that hold the characters of a keyword"),
    ("*/keywords/*.parquet", "The keyword of each sentence, with its place and verdict"),
    ("*/filters/*/*.parquet", "One filter’s verdict on each sentence"),
    ("slguset/names/*", "The name tagger, and its precision and recall on held-out text"),
    ("slguset/candidates.parquet", "Every keyword sentence with its verdict and reasons"),
    ("slguset/funnel.csv", "How many sentences fell at which step"),
    ("annotation/*/sample.parquet", "The sentences that were handed to the annotators"),
    ("annotation/*/sheets", "One sheet per annotator, and a Label Studio project"),
    ("annotation/*/answers.parquet", "What each annotator said of each sentence"),
    ("slguset/annotation/disagreements.csv", "Sentences on which the annotators disagree"),
    ("slguset/agreement.csv", "Agreement between annotators, per pair and overall"),
    ("slguset/slguset.parquet", "The data set"),
    ("slguset/slguset.csv", "The data set in the authors’ four columns"),
    ("slguset/README.md", "The data card"),
    ("slguset_published/slguset.parquet", "The authors’ data set, with every offset repaired"),
    ("slguset_published/problems.csv", "Problems found in the authors’ file"),
    ("slguset_published/filters.csv", "What each filter would drop of the authors’ file"),
    ("slguset_published/report.json", "The report on the authors’ file"),
    ("*/table_1.csv", "Table 1: sentences per pair and direction"),
    ("*/statistics.json", "Lengths, characters and coverage of the vocabulary"),
    ("models/*", "A language model"),
    ("*/bias/*.parquet", "One model’s bias on each sentence"),
    ("tables/*_bias_by_pair.csv", "Bias per model and pair"),
    ("tables/*_bias_correlations.csv", "Correlation of bias between models"),
    ("tables/*_bias_variants.csv", "Bias by each way to read a word of several tokens"),
    ("tables/*_bias_sentences.csv", "The most male and most female sentences per model"),
    ("tables/*_bias_words.csv", "Subject words of the sentences with obvious bias"),
    ("tables/*_bias_methods.csv", "Other methods on the same sentences, beside the bias"),
    ("tables/*_bias.csv", "Bias per model"),
    ("stereotypes/*/pairs.parquet", "Pairs of sentences, with clusters and doubts"),
    ("stereotypes/*/pairs.json", "What a set of pairs is"),
    ("stereotypes/*/scores/*.parquet", "One model’s scores of each sentence, by each method"),
    ("stereotypes/*/tokens/*.parquet", "What one model said of each token"),
    ("stereotypes/*/null/*.parquet", "The scores of models with random weights"),
    ("stereotypes/*/gates/*.json", "What a model is, and whether its numbers are to be trusted"),
    ("tables/*_bias_scores.csv", "Bias scores of a set, with intervals and verdicts"),
    ("tables/stereoset_released.csv", "StereoSet from its authors’ own sentence scores"),
    ("tables/*_stereoset.csv", "LMS, SS and ICAT"),
    ("tables/*_token_accuracy.csv", "How often each method’s token ranks first"),
    ("tables/*_all_masked.csv", "What is preferred when every token is masked"),
    ("tables/*_meta_evaluation.csv", "How well each method agrees with people"),
    ("tables/*_roc.csv", "The points of the ROC curves"),
    ("tables/*_auc_tests.csv", "Tests between two methods’ agreement with people"),
    ("tables/*_length.csv", "How often each method prefers the longer sentence"),
    ("tables/*_compat.csv", "Decisions by the published code and by the definition"),
    ("tables/*_model_comparisons.csv", "Which of two models is less biased, if either"),
    ("*/bias/*.json", "What a model is, and whether its numbers are to be trusted"),
    ("annotation/*/drawn.csv", "How many sentences were drawn for each pair"),
]

#: So many files of one kind or more share a row of the table.
FOLD = 3


def describe_provenance(provenance: Path | None, results: str) -> dict[str, Any] | None:
    """The result files (many of a kind folded into one row) and the stages behind them.

    Parameters
    ----------
    provenance : Path, optional
        ``provenance.json``.
    results : str
        The results folder, as the paths in the document begin; the page lies one folder
        below it, so that what lies there can be linked to.
    """
    if provenance is None:
        return None
    entries = read_json(provenance)["files"]
    kinds: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for entry in entries:
        kind = (_pattern(entry["file"]), holding(entry["file"]), entry["stage"])
        kinds.setdefault(kind, []).append(entry)
    rows = []
    for (pattern, *_), members in kinds.items():
        if len(members) >= FOLD:
            folder = str(PurePosixPath(pattern).parent)
            rows.append(_fold(pattern, members) | {"link": _link(folder, results)})
        else:
            rows += [
                entry
                | {
                    "files": 1,
                    "holds": holding(entry["file"]),
                    "link": _link(entry["file"], results),
                }
                for entry in members
            ]
    rows.sort(key=lambda row: row["file"])
    return {"rows": rows, "stages": _stages(entries)}


def holding(file: str) -> str | None:
    """What a result file holds, in words; None if it is of no known kind."""
    steps = PurePosixPath(file).parts
    for pattern, words in HOLDINGS:
        tail = "/".join(steps[-len(pattern.split("/")) :])
        if fnmatchcase(tail, pattern):
            return words
    return None


def _pattern(file: str) -> str:
    """A path with its own name replaced: ``a/b/*.counts.json``."""
    path = PurePosixPath(file)
    return str(path.with_name("*" + "".join(path.suffixes[-2:])))


def _link(file: str, results: str) -> str | None:
    """Where a file lies, seen from ``results/report/``; None if it lies elsewhere."""
    path, top = PurePosixPath(file), PurePosixPath(results)
    if top not in path.parents:
        return None
    return "../" + quote(str(path.relative_to(top)))


def _fold(pattern: str, members: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [entry["rows"] for entry in members]
    return {
        "file": pattern,
        "files": len(members),
        "holds": holding(members[0]["file"]),
        "bytes": sum(entry["bytes"] for entry in members),
        "rows": None if None in rows else sum(rows),
        "stage": members[0]["stage"],
    }


def _stages(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each stage, in the order of its first file, with its code, parameters and files."""
    stages: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry["stage"] is None:
            continue
        stage = stages.setdefault(
            entry["stage"], {"stage": entry["stage"], "codes": [], "settings": [], "files": []}
        )
        if entry["code"] not in stage["codes"]:
            stage["codes"].append(entry["code"])
        settings = {
            "parameters": _plain(entry["parameters"]),
            "packages": entry["packages"] or {},
        }
        if settings not in stage["settings"]:
            stage["settings"].append(settings)
        stage["files"].append(entry | {"inputs": _inputs(entry)})
    for stage in stages.values():
        stage["n"] = len(stage["files"])
        stage["totals"] = _totals(stage["files"])
    return [stages[name] for name in sorted(stages)]


def _plain(parameters: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Parameters as the command line or a config would show them."""
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in sorted((parameters or {}).items())
    ]


def _inputs(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"argument": argument, **one}
        for argument, described in sorted(entry["inputs"].items())
        for one in described
    ]


def _totals(files: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The stage's counts over all of its runs; outputs of one run share its counts."""
    runs = {
        json.dumps([file["inputs"], file["parameters"]], sort_keys=True): file["counts"] or {}
        for file in files
    }
    totals: Counter[str] = Counter()
    for counts in runs.values():
        numbers = {k: v for k, v in counts.items() if isinstance(v, int) and v is not True}
        totals.update({k: v for k, v in numbers.items() if v is not False})
    return list(totals.items())
