"""Reject sentences with personal names, by a CRF trained in the workflow.

Words with P(name) above the threshold are names unless they lie within the keyword.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.io.documents import read_description
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import name_filter, read_rules
from evenhand.slguset.names_crf_model import NameModel
from evenhand.slguset.verdicts import Judge

FILES = ("surnames.csv", "titles.csv", "roles.csv", "crf.crfsuite", "crf.json")
SETTINGS = ("names", "names_crf")


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    threshold = settings["threshold"]
    if threshold is None:
        report = read_description(files["crf.json"], {"threshold"}, "train_names_crf")
        threshold = report["threshold"]
    model = NameModel(files["crf.crfsuite"])

    def spans(sentences: list[str], _words: object) -> Iterator[list[tuple[int, int]]]:
        return model.find_names(sentences, threshold)

    return name_filter(spans, read_rules(files, settings))
