"""The headline of individual fairness: decisions that a flip changes, by group, and IIFR's gain."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.rows import where
from evenhand.core.tables import read_tables
from evenhand.individual.names import title, titles_of, who
from evenhand.individual.results import cell_key
from evenhand.io.documents import read_description
from evenhand.report.figures import axis, estimated, forest
from evenhand.report.headline import Headline, Verdicts, by_kind, say, strength, tally, with_sources
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

#: Groups that a sentence names.
GROUPS = 3

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
    documents = [read_description(path, RECORD, "prepare_table") for path in found["data"]]
    titles = titles_of(documents)
    tables = read_tables(found["tables"][0]) if found["tables"] else {}
    clearest, statements, short = conclude(tables, documents)
    shown = [
        row
        for row in where(tables.get("table_4", []), metric="ifr_p", split="random")
        if (row["method"], row["individual"]) in METHODS and row["mean"] is not None
    ]
    figure, caption = _figure(shown, titles)
    return Headline(
        sentence=statements[0] if statements else "There is no conclusion.",
        more=statements[1:],
        short=short,
        next=_next(tables),
        strength=clearest,
        figure=figure,
        caption=caption,
        figure_files=_files("table_4") if tables else (),
        verdicts=_verdicts(tables),
        against=[row["sentence"] for row in tables.get("findings", []) if _against(row)],
        doubts=_doubts(tables),
    )


def _against(row: Row) -> bool:
    """Return whether a finding compares with the paper."""
    own = row["dataset"] is None and not row["finding"].startswith("headline_")
    return own or row["finding"] == "headline_cells"


def _files(*tables: str) -> tuple[str, ...]:
    return tuple(f"{FOLDER}/{table}.csv" for table in tables)


def conclude(
    tables: Mapping[str, list[Row]], documents: Iterable[Mapping[str, Any]]
) -> tuple[float, list[str], str]:
    """Return the strength of the clearest change of decisions, the sentences and a short answer.

    Parameters
    ----------
    tables : mapping
        The tables of `tabulate_individual`.
    documents : iterable of dict
        ``data.json`` of each data set.
    """
    known = {one["name"]: one for one in documents}
    titles = titles_of(known.values())
    found = []
    for row in _plain(tables, "table_4"):
        if None in (row["mean"], row["low"], row["high"]):
            continue
        document = known.get(row["dataset"], {})
        dataset, attribute = title(row["dataset"], titles), document.get("attribute_name")
        text = say("if_decision", _files("table_4"), dataset=dataset, attribute=attribute, row=row)
        clear = row["high"] < 100
        size = strength(row["mean"], 100, row["low"], row["high"]) if clear else 0.0
        groups = _groups(tables, document)
        files = _files("groups", "table_6", *(["individuals"] * groups.get("predicted", False)))
        by_group = [say("if_groups", files, **groups)] if groups else []
        short = say("if_short", dataset=dataset, attribute=attribute, row=row, about=groups)
        found.append((size, [text, *by_group], short))
    found.sort(key=lambda one: -one[0])
    statements = [text for _, texts, _ in found for text in texts]
    statements += [
        with_sources(row["sentence"], _files("findings"))
        for row in tables.get("findings", [])
        if row["finding"].startswith("headline_") and not _against(row)
    ]
    size, _, short = found[0] if found else (0.0, [], "")
    return size, statements, short


def _plain(tables: Mapping[str, list[Row]], table: str) -> list[Row]:
    """Return the rows of a table on the plain network's decisions (IFR_b) on random splits."""
    plain = where(tables.get(table, []), method="mlp", individual="none", split="random")
    return [row for row in plain if row.get("metric", "ifr_b") == "ifr_b"]


def _groups(tables: Mapping[str, list[Row]], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by group, the shares of positive labels and predictions and of changed decisions.

    Of more than `GROUPS` groups, those with the least and the largest share in the data.
    """
    name = document.get("name")
    shares = where(tables.get("groups", []), dataset=name, quantity="P(Y=1|A)")
    rates = {row["value"]: row["reproduced"] for row in shares}
    stays, positives = (
        {
            row["group"]: row[column]
            for row in where(_plain(tables, table), dataset=name)
            if row.get("label") is None
        }
        for table, column in (("table_6", "mean"), ("individuals", "positive_rate"))
    )
    groups = [
        {
            "name": value,
            "rate": rates[value],
            "positive": positives.get(code),
            "changed": 1 - stays[code] / 100,
        }
        for code, value in enumerate(document.get("attribute_values") or [])
        if rates.get(value) is not None and stays.get(code) is not None
    ]
    if len(groups) < 2:
        return {}
    groups.sort(key=lambda one: one["rate"])
    every, label = len(groups), (document.get("meta") or {}).get("label")
    if every > GROUPS:
        groups = [groups[0], groups[-1]]
    predicted = None not in (values := [one["positive"] for one in groups])
    return {
        "label": label,
        "attribute": document.get("attribute_name"),
        "groups": groups,
        "every": every,
        "predicted": predicted,
        "lowest_in_both": predicted and values[0] == min(values),
    }


def _next(tables: Mapping[str, list[Row]]) -> str:
    """State how many further seeds the tests of IFR_p lack."""
    tests = where(tables.get("tests", []), metric="ifr_p", verdict="inconclusive")
    further = [row["further_seeds"] for row in tests if row["further_seeds"]]
    if not further:
        return ""
    return say("if_next", _files("tests"), least=min(further), most=max(further))


def _figure(shown: list[Row], titles: Mapping[str, str]) -> tuple[LayerChart | None, str]:
    if not shown:
        return None, ""
    drawn, datasets = [], {title(row["dataset"], titles) for row in shown}
    for row in shown:
        mean, sd = row["mean"], row["sd"]
        drawn.append(
            estimated(
                f"{title(row['dataset'], titles)}: " * (len(datasets) > 1)
                + who(row).removeprefix("the "),
                (mean, row["low"], row["high"]),
                text=decimal(mean, 1),
                words=say("if_bar", mean=mean, sd=sd),
                band=(None, None) if sd is None else (max(mean - sd, 0.0), min(mean + sd, 100.0)),
            )
        )
    figure = forest(
        drawn,
        axis("IFR_p, % of the people", (0, 100)),
        "IFR_p of the plain network, of IIFR and of a network without the attribute",
    )
    return figure, say("if_caption", datasets=datasets)


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


def _doubts(tables: Mapping[str, list[Row]]) -> list[str]:
    rows, files = tables.get("table_4", []), _files("table_4")
    doubts = [
        with_sources(row["sentence"], _files("findings"))
        for row in where(tables.get("findings", []), finding="missing_rows")
    ]
    seeds = [row["seeds"] for row in rows if row["seeds"]]
    if seeds and min(seeds) < SEEDS:
        doubts.append(say("if_seeds", files, least=min(seeds), needed=SEEDS))
    if diverged := sum(row["diverged"] for row in rows if row["metric"] == "acc"):
        doubts.append(say("if_diverged", files, runs=diverged))
    every = [row for table in TABLES for row in tables.get(table, [])]
    if n := sum(row["verdict"] == "inconsistent_in_paper" for row in every):
        doubts.append(say("if_inconsistent", _files(*TABLES), cells=n))
    return doubts
