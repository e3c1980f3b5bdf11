"""The headline of the legal cases: whether classifiers treat groups alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from altair import LayerChart

from evenhand.core.rows import where
from evenhand.core.tables import read_table
from evenhand.legal.classifier_study import is_constant
from evenhand.metrics.paired import holm
from evenhand.report.figures import axis, estimated, forest
from evenhand.report.headline import (
    NOT_RUN,
    Headline,
    ResultFiles,
    Verdicts,
    say,
    tally,
)
from evenhand.report.read import read_json
from evenhand.report.render import decimal

Rows = list[dict[str, Any]]

FILES = {
    "counts": "legal/*/records/*.counts.json",
    "cases": "tables/cases/*",
    "classifiers": "tables/classifiers/*",
}

#: The tables of each kind, and those with verdicts on published values.
TABLES = {"cases": ("sizes", "cross"), "classifiers": ("table_2", "table_4", "claims")}
VERDICTS = ("sizes", "cross", "table_4", "claims")

#: A p-value below which a gap is significant.
CHANCE = 0.05

#: Rows of the figure.
SHOWN = 8


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of the legal cases.

    The titles are those of data sets by name, and of attributes by ``data_set/attribute``.
    """
    results = ResultFiles(files, FILES)
    tables, sources = {}, {}
    for kind, names in TABLES.items():
        for table in names:
            folders = results.paths[kind]
            tables[table] = {path.name: read_table(path / f"{table}.csv") for path in folders}
            sources[table] = results.places(f"{kind}/{table}")
    gaps = gaps_of(tables["table_4"], titles)
    statements = conclude(tables["table_4"], tables["table_2"], titles, sources["table_4"])
    if tables["sizes"] and not gaps:
        sizes = [
            (titles.get(name, name), int(row["ours"]))
            for name, rows in tables["sizes"].items()
            for row in where(rows, quantity="cases", item=None)
        ]
        statements.append(say("legal_sizes", sources["sizes"], sizes=sizes))
    figure, caption = _figure(gaps)
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        more=statements[1:],
        figure=figure,
        caption=caption,
        figure_files=sources["table_4"] if figure else (),
        next=_next(gaps, sources["table_4"]),
        short=_short(tables, gaps, titles) if gaps else "",
        strength=max(map(_clear, gaps), default=0.0),
        verdicts=_verdicts(tables, sources),
        doubts=_doubts(results, gaps),
    )


def conclude(
    tables: Mapping[str, Rows],
    groups: Mapping[str, Rows],
    titles: Mapping[str, str],
    files: Sequence[str] = (),
) -> list[str]:
    """Return the sentences on the gaps in ``table_4`` of each data set, read from these files.

    `groups` is ``table_2`` of each, with the worst group.
    """
    gaps = gaps_of(tables, titles)
    statements = [_gaps(gaps, files), _largest(gaps, files)] if gaps else []
    rows, low = _low(tables, groups, titles)
    if low:
        certain, adjusted = _certain([*gaps, *gaps_of(tables, titles, "worst")])
        low = [row | {"certain": _test_key(row) in certain} for row in low]
        counts = {"tested": len(rows), "constant": sum(map(is_constant, rows))}
        lowest = say("legal_lowest", files, low=low, adjusted=adjusted, **counts)
        # a group that scores lower leads where no gap is significant
        statements.insert(0 if not any(map(_clear, gaps)) else len(statements), lowest)
    return [statement for statement in statements if statement]


def gaps_of(tables: Mapping[str, Rows], titles: Mapping[str, str], measure: str = "gd") -> Rows:
    """Return the gaps under plain training in ``table_4`` of each data set, with a title."""
    gaps = []
    for name, rows in tables.items():
        for row in where(rows, objective="erm", measure=measure):
            attribute = row["attribute"]
            words = titles.get(f"{name}/{attribute}", attribute.replace("_", " "))
            if row["ours"] is not None:
                gaps.append(row | {"dataset": name, "title": f"{titles.get(name, name)}, {words}"})
    return gaps


def _gaps(gaps: Rows, files: Sequence[str]) -> str:
    above = [row for row in gaps if row["noise_verdict"] == "above"]
    return say(
        "legal_gaps",
        files,
        gaps=len(gaps),
        above=len(above),
        labels=sum((row["p_labels"] or 0) >= CHANCE for row in above),
        constant=sum(map(is_constant, gaps)),
        small=sum(map(_is_small, gaps)),
    )


def _is_small(row: dict[str, Any]) -> bool:
    """Return whether there are too few cases to find or exclude a gap."""
    return row["noise_verdict"] == "inconclusive" and not is_constant(row)


def _clear(row: dict[str, Any]) -> float:
    """Return a significant gap as a multiple of that of 95 % of random groups; 0 for others."""
    if row["noise_verdict"] != "above" or not row["noise_border"]:
        return 0.0
    return row["ours"] / row["noise_border"]


def _largest(gaps: Rows, files: Sequence[str]) -> str | None:
    """Return the clearest gap, or the largest one."""
    row = max(gaps, key=lambda row: (_clear(row), row["ours"]))
    if None in (row["low"], row["high"], row["noise_border"]):
        return None
    return say("legal_largest", files, row=row, clear=_clear(row))


def _low(
    tables: Mapping[str, Rows], groups: Mapping[str, Rows], titles: Mapping[str, str]
) -> tuple[Rows, Rows]:
    """Return the tested lowest scores of a group, and those that are significant."""
    rows = [row for row in gaps_of(tables, titles, "worst") if row["noise_verdict"]]
    low = []
    for row in rows:
        if row["noise_verdict"] == "above" and not row["from_labels"]:
            same = {name: row[name] for name in ("attribute", "classifier")}
            worst = where(groups.get(row["dataset"], []), worst=True, **same)
            low.append(row | {"group": worst[0]["group"] if worst else ""})
    return rows, low


def _short(tables: Mapping[str, Mapping[str, Rows]], gaps: Rows, titles: Mapping[str, str]) -> str:
    """Name the attributes with a gap or a low score, those without, and sets not trained on."""
    low_rows = _low(tables["table_4"], tables["table_2"], titles)[1]
    low = {row["title"]: row["group"] for row in low_rows}
    certain, tests = _certain([*gaps, *gaps_of(tables["table_4"], titles, "worst")])
    certain_titles = {title for title, *_ in certain}
    # an attribute counts by the clearest of its classifiers
    verdicts: dict[str, str] = {}
    order = ("unfair", "fair", "unknown", "constant")
    for row in gaps:
        unfair = row["noise_verdict"] == "above" or row["title"] in low
        judged = "constant" if is_constant(row) else "unknown" if _is_small(row) else "fair"
        verdict = "unfair" if unfair else judged
        verdicts[row["title"]] = min(verdict, verdicts.get(row["title"], verdict), key=order.index)
    attributes: dict[str, Any] = {
        verdict: [title for title in verdicts if verdicts[title] == verdict] for verdict in order
    }
    unfair = attributes.pop("unfair")
    attributes["unfair"] = {title: low.get(title) for title in unfair if title in certain_titles}
    attributes["sign"] = {title: low.get(title) for title in unfair if title not in certain_titles}
    attributes["tests"] = tests
    trained = {name for name, rows in tables["table_4"].items() if where(rows, objective="erm")}
    untrained = [titles.get(name, name) for name in tables["sizes"] if name not in trained]
    return say("legal_short", attributes=attributes | {"untrained": untrained})


def _test_key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["title"], row["classifier"], row["measure"]


def _certain(rows: Rows) -> tuple[set[tuple[str, str, str]], int]:
    """Return the tests that are significant after adjustment (Holm), and the number of tests."""
    tested = [row for row in rows if row["p"] is not None and not is_constant(row)]
    adjusted = holm(np.array([row["p"] for row in tested]))
    certain = {_test_key(row) for row, p in zip(tested, adjusted, strict=True) if p < CHANCE}
    return certain, len(tested)


def _next(gaps: Rows, files: Sequence[str]) -> str:
    """State where test cases are lacking."""
    small = [row for row in gaps if _is_small(row)]
    if not small:
        return ""
    least = min(small, key=lambda row: (row["smallest_group"] or 0, row["title"]))
    return say("legal_next", files, row=least)


def _figure(gaps: Rows) -> tuple[LayerChart | None, str]:
    # gaps that could be detected first; none where every case is predicted alike
    order = sorted(
        (row for row in gaps if not is_constant(row)),
        key=lambda row: (-_clear(row), row["noise_verdict"] == "inconclusive", -row["ours"]),
    )
    rows = order[:SHOWN]
    if not rows:
        return None, ""
    ends = [row[end] for row in rows for end in ("ours", "high", "noise_border") if row[end]]
    high = max(1.0, *ends, 0) * 1.02 if ends else 1.0
    estimates = [
        estimated(
            f"{row['title']} ({row['classifier']})",
            (row["ours"], row["low"], row["high"]),
            text=decimal(row["ours"], 1),
            words=say("legal_bar", row=row),
            kind="more" if row["noise_verdict"] == "above" else "unclear",
            band=(None if row["noise_border"] is None else 0, row["noise_border"]),
        )
        for row in rows
    ]
    label = "Group disparity of macro-F1 under plain training, and of random groups"
    figure = forest(estimates, axis("Group disparity of macro-F1, points", (0, high)), label)
    facts = {"number": len(rows), "gaps": len(order), "constant": len(gaps) - len(order)}
    return figure, say("legal_caption", **facts)


def _verdicts(
    tables: Mapping[str, Mapping[str, Rows]], sources: Mapping[str, tuple[str, ...]]
) -> list[Verdicts]:
    lines = []
    for table in VERDICTS:
        verdicts = [row["verdict"] for rows in tables[table].values() for row in rows]
        if table in TABLES["cases"]:  # most of these rows have no published value
            verdicts = [verdict for verdict in verdicts if verdict]
        if counts := tally(verdicts):
            note = say("legal_not_read") if set(counts) == {NOT_RUN} else ""
            lines.append(Verdicts(say(f"legal_table_{table}"), counts, note, sources[table]))
    return lines


def _doubts(results: ResultFiles, gaps: Rows) -> list[str]:
    counts: Counter[str] = Counter()
    for path in results.paths["counts"]:
        counts.update(read_json(path).get("left_out") or {})
    doubts = []
    if records := counts.total():
        files = results.places("counts")
        doubts.append(say("legal_left_out", files, records=records, counts=counts))
    return [*doubts, say("legal_unadjusted"), say("legal_no_use")] if gaps else doubts
