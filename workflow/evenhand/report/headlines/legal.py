"""The headline of the legal cases: whether classifiers treat groups alike, beyond chance."""

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
from evenhand.report.figures import axis, bars, estimated, forest
from evenhand.report.headline import (
    NOT_RUN,
    Headline,
    Verdicts,
    by_kind,
    places,
    reasons,
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

#: The tables with verdicts on published values, and their titles.
VERDICTS = {
    "sizes": "Sizes of the data sets",
    "cross": "Shares of one attribute within another",
    "table_4": "Table 4: scores",
    "claims": "Claims of the text",
}

#: A p-value below which a gap is above chance.
CHANCE = 0.05

#: Rows of the figure.
SHOWN = 8


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of the legal cases.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        The titles of the data sets by name, and of attributes by ``data_set/attribute``; without
        a title the name is used.

    Raises
    ------
    InputError
        A file is none of these, or not well formed.
    """
    found = by_kind(files, FILES)
    kinds = dict.fromkeys(("sizes", "cross"), "cases")
    kinds |= dict.fromkeys(("table_2", "table_4", "claims"), "classifiers")
    tables = {
        table: {path.name: read_table(path / f"{table}.csv") for path in found[kind]}
        for table, kind in kinds.items()
    }
    sources = {table: places(found, FILES, f"{kind}/{table}") for table, kind in kinds.items()}
    sizes = {one: _cases(rows) for one, rows in tables["sizes"].items()}
    gaps = gaps_of(tables["table_4"], titles)
    named = [(titles.get(one, one), n) for one, n in sizes.items()]
    words = [
        *conclude(tables["table_4"], tables["table_2"], titles, sources["table_4"]),
        *([say("legal_sizes", sources["sizes"], sizes=named)] if sizes and not gaps else []),
    ]
    figure, caption = _figure(gaps) if gaps else _size_figure(sizes, titles)
    return Headline(
        sentence=words[0] if words else say("nothing"),
        more=words[1:],
        figure=figure,
        caption=caption,
        figure_files=sources["table_4" if gaps else "sizes"],
        next=_next(gaps, sources["table_4"]),
        short=_short(tables, gaps, titles) if gaps else "",
        strength=max(map(_clear, gaps), default=0.0),
        verdicts=_verdicts(tables, sources),
        doubts=_doubts(found, gaps),
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
    words = [_gaps(gaps, files), _largest(gaps, files)] if gaps else []
    tested, low = _low(tables, groups, titles)
    words += [say("legal_lowest", files, low=low, tested=tested)] if low else []
    return [text for text in words if text]


def gaps_of(tables: Mapping[str, Rows], titles: Mapping[str, str], measure: str = "gd") -> Rows:
    """Return the gaps under plain training in ``table_4`` of each data set, with a title."""
    gaps = []
    for one, rows in tables.items():
        for row in where(rows, objective="erm", measure=measure):
            attribute = row["attribute"]
            words = titles.get(f"{one}/{attribute}", attribute.replace("_", " "))
            if row["ours"] is not None:
                title = f"{titles.get(one, one)}, {words}"
                gaps.append(row | {"dataset": one, "title": title})
    return gaps


def _cases(rows: Rows) -> int:
    """Return the number of cases of a data set."""
    own = where(rows, quantity="cases", item=None)
    return int(own[0]["ours"]) if own else 0


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
    """Return a significant gap as a multiple of the gap that chance explains; 0 for others."""
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
) -> tuple[int, Rows]:
    """Return how often the lowest score of a group was tested, and those below chance."""
    rows = [row for row in gaps_of(tables, titles, "worst") if row["noise_verdict"]]
    low = []
    for row in rows:
        if row["noise_verdict"] == "above" and not row["from_labels"]:
            same = {name: row[name] for name in ("attribute", "classifier")}
            worst = where(groups.get(row["dataset"], []), worst=True, **same)
            low.append(row | {"group": worst[0]["group"] if worst else ""})
    return len(rows), low


def _short(tables: Mapping[str, Mapping[str, Rows]], gaps: Rows, titles: Mapping[str, str]) -> str:
    """Name the attributes with a gap or a low score, those without, and sets not trained on."""
    found: dict[str, Any] = {}
    low = {
        row["title"]: row["group"] for row in _low(tables["table_4"], tables["table_2"], titles)[1]
    }
    certain = _certain([*gaps, *gaps_of(tables["table_4"], titles, "worst")])
    for row in gaps:
        unfair = row["noise_verdict"] == "above" or row["title"] in low
        unknown = is_constant(row) or _is_small(row)
        name = "unfair" if unfair else "unknown" if unknown else "fair"
        found.setdefault(name, []).append(row["title"])
    # an attribute counts by the clearest of its classifiers
    for name, worse in (("unknown", ("unfair", "fair")), ("fair", ("unfair",))):
        known = [one for other in worse for one in found.get(other, ())]
        found[name] = [one for one in dict.fromkeys(found.get(name, ())) if one not in known]
    unfair = {one: low.get(one) for one in found.pop("unfair", ())}
    found["unfair"] = {one: group for one, group in unfair.items() if one in certain}
    found["sign"] = {one: group for one, group in unfair.items() if one not in certain}
    trained = {one for one, rows in tables["table_4"].items() if where(rows, objective="erm")}
    found["untrained"] = [titles.get(one, one) for one in tables["sizes"] if one not in trained]
    return say("legal_short", attributes=found)


def _certain(rows: Rows) -> set[str]:
    """Return the attributes with a p-value below chance, adjusted for all that could be tested."""
    tested = [row for row in rows if row["p"] is not None and not is_constant(row)]
    adjusted = holm(np.array([row["p"] for row in tested]))
    return {row["title"] for row, p in zip(tested, adjusted, strict=True) if p < CHANCE}


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
    constant, shown = len(gaps) - len(order), order[:SHOWN]
    if not shown:
        return None, ""
    ends = [row[end] for row in shown for end in ("ours", "high", "noise_border") if row[end]]
    high = max(1.0, *ends, 0) * 1.02 if ends else 1.0
    drawn = [
        estimated(
            f"{row['title']} ({row['classifier']})",
            (row["ours"], row["low"], row["high"]),
            text=decimal(row["ours"], 1),
            words=say("legal_bar", row=row),
            kind="more" if row["noise_verdict"] == "above" else "unclear",
            band=(None if row["noise_border"] is None else 0, row["noise_border"]),
        )
        for row in shown
    ]
    figure = forest(
        drawn,
        axis("Group disparity of macro-F1, points", (0, high)),
        "Group disparity of macro-F1 under plain training, with its interval and chance",
    )
    return figure, say("legal_caption", shown=len(shown), gaps=len(order), constant=constant)


def _size_figure(
    sizes: Mapping[str, int], titles: Mapping[str, str]
) -> tuple[LayerChart | None, str]:
    order = sorted(sizes, key=lambda one: (-sizes[one], one))
    if not order or not sizes[order[0]]:
        return None, ""
    rows = [{"name": titles.get(one, one), "amount": sizes[one], "kind": "kept"} for one in order]
    return bars(rows, "Cases of each data set", unit="Cases"), say("legal_size_caption")


def _verdicts(
    tables: Mapping[str, Mapping[str, Rows]], sources: Mapping[str, tuple[str, ...]]
) -> list[Verdicts]:
    lines = []
    for table, words in VERDICTS.items():
        verdicts = [row["verdict"] for rows in tables[table].values() for row in rows]
        if table in ("sizes", "cross"):  # most of these rows have no published value
            verdicts = [verdict for verdict in verdicts if verdict]
        if counts := tally(verdicts):
            only = set(counts) == {NOT_RUN}
            note = say("legal_not_read") * only
            lines.append(Verdicts(words, counts, note, sources[table]))
    return lines


def _doubts(found: Mapping[str, list[Path]], gaps: Rows) -> list[str]:
    doubts: list[str] = []
    left_out: Counter[str] = Counter()
    for path in found["counts"]:
        left_out.update(read_json(path).get("left_out") or {})
    if n := left_out.total():
        files, why = places(found, FILES, "counts"), reasons(left_out)
        doubts.append(say("legal_left_out", files, records=n, why=why))
    if gaps:
        doubts += [say("legal_unadjusted"), say("legal_no_use")]
    return doubts
