"""Turn down sentences with personal names, by the tags of jieba.posseg."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import NameRules, Policy, judge_names, read_rules
from evenhand.slguset.verdicts import Finding, write_verdicts
from evenhand.text.posseg import find_names

#: What the rules need of a row of the keywords table.
COLUMNS = ("sentence", "surface_start", "surface_end")


def names_jieba(
    *,
    keywords: Input,
    surnames: Input,
    titles: Input,
    out: Output,
    stop_words: Input | None = None,
    anonymised: Policy = "drop",
    surname_title: Policy = "drop",
    familiar: Policy = "drop",
) -> dict[str, Any]:
    """Turn down sentences with personal names, by the tags of jieba.posseg.

    A word that jieba.posseg tags nr, nrt or nrfg is a name unless it lies within the keyword.
    Without `stop_words` the names are exactly jieba.posseg's. Reasons: `name`,
    `anonymised_name`, `surname_title`, `familiar_name`; the evidence are the names.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    surnames : Path
        The table of surnames (surnames.csv).
    titles : Path
        The table of titles (titles.csv).
    out : Path
        The filter's table.
    stop_words : Path, optional
        A table of words that jieba tags as names and that are none (name_stop_words.csv).
        It raises precision and lowers recall.
    anonymised : str
        What to do with 王某: `drop` the sentence, or `keep` it.
    surname_title : str
        What to do with 李先生 and 王阿姨: `drop` or `keep`.
    familiar : str
        What to do with 小王, 老李 and 阿强: `drop` or `keep`.
    """
    rules = read_rules(
        surnames, titles, anonymised=anonymised, surname_title=surname_title, familiar=familiar
    )
    return write_verdicts(keywords, out, make_check(rules, read_stop_words(stop_words)), COLUMNS)


def read_stop_words(path: Path | None) -> frozenset[str]:
    """The words of name_stop_words.csv; none without a table."""
    return frozenset(row["word"] for row in read_resource(path, ["word"])) if path else frozenset()


def make_check(
    rules: NameRules, stop_words: frozenset[str] = frozenset()
) -> Callable[[str, int, int], Finding | None]:
    """The filter as a function of a sentence and its surface's start and end."""

    def check(sentence: str, start: int, end: int) -> Finding | None:
        names = [(n.start, n.end) for n in find_names(sentence) if n.word not in stop_words]
        return judge_names(sentence, (start, end), names, rules)

    return check


if __name__ == "__main__":
    from evenhand.core import stage

    stage.run(names_jieba)
