"""Report which of the authors' sentences our filters would reject, and their file's errors."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.core.resources import read_resource
from evenhand.core.stage import Count, Input, Output, checked
from evenhand.core.tables import Row, Table, integer, share, text, write_tables
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows
from evenhand.slguset.verdicts import ACCEPTED

if TYPE_CHECKING:
    import pandas as pd

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


@checked
def report_published(
    *,
    judged: Input,
    problems: Input,
    table: Output,
    report: Output,
    filters: list[str] | None = None,
    examples: Count = 3,
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
        filter), and how many sentences pass every filter.
    filters : list of str
        The filters, in the order of the table.
    examples : int
        How many sentences of each reason are shown, with the evidence in brackets and a middle
        dot between them.
    """
    import pandas as pd

    filters = filters or []
    copies, verdicts, passed = Counter[str](), Counter[str](), 0
    drops: list[tuple[str, str, str, int]] = []
    columns = ["sentence_id", "sentence", "copies", "word", "verdict", "findings"]
    for row in read_rows(judged, columns):
        sentence, number, verdict = row["sentence"], row["copies"], row["verdict"]
        copies[row["sentence_id"]] = number
        verdicts[verdict] += number
        if verdict != ACCEPTED:
            drops.append((KEYWORD_STEP, verdict, _example(sentence, row["word"]), number))
        for finding in row["findings"]:
            example = _example(sentence, finding["evidence"])
            drops.append((finding["filter"], finding["reason"], example, number))
        if verdict == ACCEPTED and not row["findings"]:
            passed += number
    total = copies.total()
    frame = pd.DataFrame(drops, columns=["filter", "reason", "example", "copies"])
    write_tables(table, [(TABLE, _rows(frame, [KEYWORD_STEP, *filters], total, examples))])

    listed = read_resource(problems, ["row", "problem", "detail"])
    without = {row["row"] for row in listed if row["problem"] in _WITHOUT_POSITION}
    kinds = Counter(r["detail"].split(":")[0] for r in listed if r["problem"] == "wrong_slice")
    counts = {name: int(frame.loc[frame["filter"] == name, "copies"].sum()) for name in filters}
    document = {
        "sentences": total,
        "distinct_sentences": len(copies),
        "positions": {"right": total - len(without), "wrong": kinds.total(), **_by_number(kinds)},
        "problems": _by_number(Counter(row["problem"] for row in listed)),
        "keywords": _by_number(verdicts),
        "dropped": counts,
        "pass_every_filter": passed,
    }
    write_json(report, document)
    return {"sentences": total, "problems": len(listed), "dropped": counts}


def _example(sentence: str, evidence: str | None) -> str:
    return f"{sentence}[{evidence}]" if evidence else sentence


def _rows(drops: "pd.DataFrame", filters: list[str], total: int, examples: int) -> Iterator[Row]:
    """Yield the rows of each filter: all, then by reason, the most frequent first."""
    for name in filters:
        of_filter = drops[drops["filter"] == name]
        groups = [(reason, group) for reason, group in of_filter.groupby("reason")]
        groups.sort(key=lambda item: -item[1]["copies"].sum())
        for reason, group in [("", of_filter), *groups]:
            count = int(group["copies"].sum())
            yield {
                "filter": name,
                "reason": reason,
                "sentences": count,
                "share": round(count / total, 6) if total else None,
                "examples": " · ".join(group["example"][:examples]) if reason else "",
            }


def _by_number(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
