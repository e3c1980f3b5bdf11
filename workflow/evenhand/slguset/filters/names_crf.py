"""Reject sentences with personal names, by a CRF trained in the workflow.

Words with P(name) above the threshold are names unless they lie within the keyword.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import NameRules, judge_names, rules_from
from evenhand.slguset.names_crf_model import NameModel, read_threshold
from evenhand.slguset.verdicts import Finding, Judge

FILES = ("surnames.csv", "titles.csv", "roles.csv", "crf.crfsuite", "crf.json")
SETTINGS = ("names", "names_crf")


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    threshold = settings["threshold"]
    if threshold is None:
        threshold = read_threshold(files["crf.json"])
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold {threshold} is not a probability from 0 to below 1")
    model = NameModel(files["crf.crfsuite"])
    return make_judge(rules_from(files, settings), model, threshold)


def make_judge(rules: NameRules, model: NameModel, threshold: float) -> Judge:
    """Return the filter: a function of sentences, and starts and ends of their surfaces."""

    def judge(sentences: list[str], starts: list[int], ends: list[int]) -> Iterator[Finding | None]:
        found = model.find_names(sentences, threshold)
        for sentence, start, end, spans in zip(sentences, starts, ends, found, strict=True):
            names = [(span.start, span.end) for span in spans]
            yield judge_names(sentence, (start, end), names, rules)

    return judge
