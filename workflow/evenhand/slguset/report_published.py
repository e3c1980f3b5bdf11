"""Report which of the authors' sentences our filters would reject, and their file's errors."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, share, text, write_tables
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows
from evenhand.slguset.verdicts import ACCEPTED

TABLE = Table(
    "filters",
    title="What each filter would drop of the authors’ file",
    key=("filter", "reason"),
    columns=(
        text("filter"),
        text("reason", "Blank for all that the filter drops"),
        integer("sentences"),
        share("share", "Of all sentences"),
        text("examples"),
    ),
    form="",
)

#: The table's name of the step before the filters.
KEYWORD_STEP = "find_keywords"

#: Problems of a row whose stated position cannot be called right.
_WITHOUT_POSITION = ("wrong_slice", "keyword_count", "not_a_pair")


class Drop(NamedTuple):
    """A sentence that a step rejects; `copies` are the rows of the file that hold it."""

    reason: str
    example: str
    copies: int


def report_published(
    *,
    judged: Input,
    problems: Input,
    table: Output,
    report: Output,
    filters: list[str] | None = None,
    examples: int = 3,
) -> dict[str, Any]:
    """Report which of the authors' sentences our filters would reject, and their file's errors.

    A sentence counts as often as it occurs in the file, and may count for several filters. The
    filters judge only sentences that `find_keywords` accepts.

    Parameters
    ----------
    judged : Path
        The published sentences with the filters' findings (`apply_filters`).
    problems : Path
        problems.csv of `import_published`.
    table : Path
        The folder of the table `TABLE`. Of each filter one row with a blank reason for all that
        it drops, then a row per reason.
    report : Path
        JSON: sentences, distinct_sentences, positions (right, wrong, the kinds of wrong ones),
        problems (rows per problem), keywords (sentences per verdict), dropped (sentences per
        filter), leaked_names (the same, for the filters of names), biological_words, and how
        many sentences pass every filter.
    filters : list of str
        The filters, in the order of the table.
    examples : int
        How many sentences of each reason are shown, with the evidence in brackets and a middle
        dot between them.
    """
    copies, verdicts, passed = Counter[str](), Counter[str](), 0
    rejected: list[Drop] = []
    drops: dict[str, list[Drop]] = {name: [] for name in filters or []}
    for row in read_rows(
        judged, ["sentence_id", "sentence", "copies", "word", "verdict", "findings"]
    ):
        number = row["copies"]
        copies[row["sentence_id"]] = number
        verdicts[row["verdict"]] += number
        if row["verdict"] != ACCEPTED:
            rejected.append(Drop(row["verdict"], _example(row["sentence"], row["word"]), number))
        for one in row["findings"]:
            example = _example(row["sentence"], one["evidence"])
            drops[one["filter"]].append(Drop(one["reason"], example, number))
        if row["verdict"] == ACCEPTED and not row["findings"]:
            passed += number
    total = copies.total()
    steps = {KEYWORD_STEP: rejected, **drops}.items()
    rows = [row for name, dropped in steps for row in _rows(name, dropped, total, examples)]
    write_tables(table, [(TABLE, rows)])

    found = read_resource(problems, ["row", "problem", "detail"])
    without = {row["row"] for row in found if row["problem"] in _WITHOUT_POSITION}
    kinds = Counter(r["detail"].split(":")[0] for r in found if r["problem"] == "wrong_slice")
    counts = {name: sum(drop.copies for drop in dropped) for name, dropped in drops.items()}
    document = {
        "sentences": total,
        "distinct_sentences": len(copies),
        "positions": {"right": total - len(without), "wrong": kinds.total(), **_by_number(kinds)},
        "problems": _by_number(Counter(row["problem"] for row in found)),
        "keywords": _by_number(verdicts),
        "dropped": counts,
        "leaked_names": {name: n for name, n in counts.items() if name.startswith("names_")},
        "biological_words": counts.get("biology"),
        "pass_every_filter": passed,
    }
    write_json(report, document)
    return {"sentences": total, "problems": len(found), "dropped": counts}


def _example(sentence: str, evidence: str | None) -> str:
    return f"{sentence}[{evidence}]" if evidence else sentence


def _rows(name: str, drops: list[Drop], total: int, examples: int) -> Iterator[Row]:
    """The table's rows of one filter: all, then by reason, the most frequent first."""
    by_reason: dict[str, list[Drop]] = {"": drops}
    for drop in drops:
        by_reason.setdefault(drop.reason, []).append(drop)
    counts = {reason: sum(drop.copies for drop in some) for reason, some in by_reason.items()}
    for reason in sorted(by_reason, key=lambda r: (r != "", -counts[r], r)):
        shown = " · ".join(drop.example for drop in by_reason[reason][:examples] if reason)
        part = round(counts[reason] / total, 6) if total else None
        yield {"filter": name, "reason": reason, "sentences": counts[reason]} | {
            "share": part,
            "examples": shown,
        }


def _by_number(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


if __name__ == "__main__":
    stage.run(report_published)
