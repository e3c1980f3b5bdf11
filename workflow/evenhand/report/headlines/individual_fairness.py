"""The headline of individual fairness: the gain of IIFR, and a network without the attribute."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.tables import read_tables
from evenhand.individual.names import title, titles_of, who
from evenhand.individual.results import cell_key
from evenhand.io.documents import read_description
from evenhand.report.figures import axis, forest
from evenhand.report.headline import (
    Headline,
    SourcedStatement,
    Verdicts,
    by_kind,
    say,
    strength,
    tally,
    with_sources,
)
from evenhand.report.render import decimal
from evenhand.tabular.prepared import RECORD

FOLDER = "tables/individual"
FILES = {"tables": "tables/individual", "data": "tabular/*/data.json"}

TABLES = {
    "table_4": "Table 4: accuracy and individual fairness",
    "table_6": "Table 6: individual fairness by group",
    "table_7": "Table 7: group fairness",
    "table_8": "Table 8: by threshold",
}

#: The rows of the figure, of each data set.
METHODS = (("mlp", "none"), ("mlp", "iifr_cosine"), ("mlp_without_attribute", "none"))

#: Fewer seeds are too few for the verdicts.
SEEDS = 20

Row = dict[str, Any]


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of individual fairness.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        Not used: the title of a data set is in its ``data.json``.

    Raises
    ------
    InputError
        A file is none of these, or malformed.
    """
    found = by_kind(files, FILES)
    titles = titles_of(read_description(path, RECORD, "prepare_table") for path in found["data"])
    tables = read_tables(found["tables"][0]) if found["tables"] else {}
    findings = [
        with_sources(row["sentence"], _files("findings"))
        for row in tables.get("findings", [])
        if row["finding"].startswith("headline_") and not _against(row)
    ]
    changed = decisions(tables, titles)
    statements = [*(words for _, words in changed), *findings]
    shown = [
        row
        for row in tables.get("table_4", [])
        if (row["metric"], row["split"]) == ("ifr_p", "random")
        and (row["method"], row["individual"]) in METHODS
        and row["mean"] is not None
    ]
    figure, caption = _figure(shown, titles)
    return Headline(
        sentence=statements[0] if statements else "There is no conclusion.",
        more=statements[1:],
        next=_next(tables),
        strength=changed[0][0] if changed else 0.0,
        figure=figure,
        caption=caption,
        figure_files=_files("table_4") if tables else (),
        verdicts=_verdicts(tables),
        against=[row["sentence"] for row in tables.get("findings", []) if _against(row)],
        doubts=_doubts(tables, titles),
    )


def _against(row: Row) -> bool:
    """Return whether a finding compares with the paper."""
    own = row["dataset"] is None and not row["finding"].startswith("headline_")
    return own or row["finding"] == "headline_cells"


def _files(*tables: str) -> tuple[str, ...]:
    return tuple(f"{FOLDER}/{table}.csv" for table in tables)


def decisions(
    tables: Mapping[str, list[Row]], titles: Mapping[str, str]
) -> list[tuple[float, SourcedStatement]]:
    """Return, per data set, the strength and the sentence on the plain network's decisions."""
    found = []
    for row in tables.get("table_4", []):
        plain = (row["method"], row["individual"], row["split"]) == ("mlp", "none", "random")
        if not plain or row["metric"] != "ifr_b" or None in (row["mean"], row["low"], row["high"]):
            continue
        clear = row["high"] < 100
        dataset = title(row["dataset"], titles)
        text = say("if_decision", _files("table_4"), dataset=dataset, row=row)
        size = strength(row["mean"], 100, row["low"], row["high"]) if clear else 0.0
        found.append((size, text))
    return sorted(found, key=lambda one: -one[0])


def _next(tables: Mapping[str, list[Row]]) -> str:
    """State how many further seeds the tests of IFR_p lack."""
    further = [
        row["further_seeds"]
        for row in tables.get("tests", [])
        if (row["metric"], row["verdict"]) == ("ifr_p", "inconclusive") and row["further_seeds"]
    ]
    if not further:
        return ""
    return say("if_next", _files("tests"), least=min(further), most=max(further))


def _figure(shown: list[Row], titles: Mapping[str, str]) -> tuple[LayerChart | None, str]:
    if not shown:
        return None, ""
    drawn = []
    for row in shown:
        mean, sd = row["mean"], row["sd"]
        drawn.append(
            {
                "name": f"{title(row['dataset'], titles)}: {who(row).removeprefix('the ')}",
                "value": mean,
                "low": row["low"],
                "high": row["high"],
                "band_low": None if sd is None else max(mean - sd, 0.0),
                "band_high": None if sd is None else min(mean + sd, 100.0),
                "text": decimal(mean, 1),
                "words": say("if_bar", mean=mean, sd=sd),
                "kind": "plain",
            }
        )
    figure = forest(
        drawn,
        axis("IFR_p, % of the people", (0, 100)),
        "IFR_p of the plain network, of IIFR and of a network without the attribute",
    )
    return figure, say("if_caption")


def _verdicts(tables: Mapping[str, list[Row]]) -> list[Verdicts]:
    lines = []
    groups = [row for row in tables.get("groups", []) if row["quantity"] != "rows"]
    if groups:
        counts = tally(row["verdict"] for row in groups)
        about = "Tables 1 and 2: the groups of the data"
        lines.append(Verdicts(about, counts, files=_files("groups")))
    seen: set[tuple[Any, ...]] = set()
    for table, words in TABLES.items():
        rows, once = tables.get(table, []), []
        for row in rows:
            key = cell_key(row, table)
            if row["verdict"] == "no_published_value" or key not in seen:
                once.append(row["verdict"])
                seen.add(key)
        note = say("if_again", cells=len(rows) - len(once))
        if once:
            lines.append(Verdicts(words, tally(once), note, _files(table)))
    return lines


def _doubts(tables: Mapping[str, list[Row]], titles: Mapping[str, str]) -> list[SourcedStatement]:
    rows, files = tables.get("table_4", []), _files("table_4")
    doubts = [
        with_sources(row["sentence"], _files("findings"))
        for row in tables.get("findings", [])
        if row["finding"] == "missing_rows"
    ]
    datasets = dict.fromkeys(row["dataset"] for row in rows)
    known = {row["dataset"] for row in rows if row["verdict"] != "no_published_value"}
    if unknown := [title(one, titles) for one in datasets if one not in known]:
        doubts.append(say("if_unknown", files, datasets=unknown))
    seeds = [row["seeds"] for row in rows if row["seeds"]]
    if seeds and min(seeds) < SEEDS:
        doubts.append(say("if_seeds", files, least=min(seeds), needed=SEEDS))
    if diverged := sum(row["diverged"] for row in rows if row["metric"] == "acc"):
        doubts.append(say("if_diverged", files, runs=diverged))
    every = [row for table in TABLES for row in tables.get(table, [])]
    if n := sum(row["verdict"] == "inconsistent_in_paper" for row in every):
        doubts.append(say("if_inconsistent", _files(*TABLES), cells=n))
    return doubts
