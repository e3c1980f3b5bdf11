"""Turn down sentences with personal names, by a CRF trained in the workflow."""

from collections.abc import Callable
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import NameRules, Policy, judge_names, read_rules
from evenhand.slguset.names_crf_model import NameModel, read_threshold
from evenhand.slguset.verdicts import Finding, write_verdicts


def names_crf(
    *,
    keywords: Input,
    model: Input,
    model_report: Input,
    surnames: Input,
    titles: Input,
    out: Output,
    threshold: float | None = None,
    anonymised: Policy = "drop",
    surname_title: Policy = "drop",
    familiar: Policy = "drop",
) -> dict[str, Any]:
    """Turn down sentences with personal names, by a CRF trained in the workflow.

    Words with P(name) above the threshold are names unless they lie within the keyword.
    Reasons: `name`, `anonymised_name`, `surname_title`, `familiar_name`; the evidence are
    the names.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    model : Path
        The model (crf.crfsuite).
    model_report : Path
        What `train_names_crf` measured (crf.json); the threshold is read from it.
    surnames : Path
        The table of surnames (surnames.csv).
    titles : Path
        The table of titles (titles.csv).
    out : Path
        The filter's table.
    threshold : float, optional
        Another threshold than that of crf.json, a probability from 0 to 1. A lower one finds
        more names and loses more clean sentences.
    anonymised : str
        What to do with 王某: `drop` the sentence, or `keep` it.
    surname_title : str
        What to do with 李先生 and 王阿姨: `drop` or `keep`.
    familiar : str
        What to do with 小王, 老李 and 阿强: `drop` or `keep`.
    """
    if threshold is None:
        threshold = read_threshold(model_report)
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold {threshold} is no probability from 0 to below 1")
    rules = read_rules(
        surnames, titles, anonymised=anonymised, surname_title=surname_title, familiar=familiar
    )
    check = make_check(rules, NameModel(model), threshold)
    counts = write_verdicts(keywords, out, check, ("sentence", "surface_start", "surface_end"))
    return {"threshold": threshold} | counts


def make_check(
    rules: NameRules, model: NameModel, threshold: float
) -> Callable[[str, int, int], Finding | None]:
    """The filter as a function of a sentence and its surface's start and end."""

    def check(sentence: str, start: int, end: int) -> Finding | None:
        names = [(n.start, n.end) for n in model.find_names(sentence, threshold)]
        return judge_names(sentence, (start, end), names, rules)

    return check


if __name__ == "__main__":
    from evenhand.core import stage

    stage.run(names_crf)
