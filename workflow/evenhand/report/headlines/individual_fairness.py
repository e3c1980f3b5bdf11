"""The headline of individual fairness: what IIFR gains, and what a blind network has."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.errors import InputError
from evenhand.individual.names import read_titles, title, who
from evenhand.report.figures import Estimate, estimates
from evenhand.report.headline import (
    Headline,
    Verdicts,
    by_kind,
    listed,
    name,
    places,
    sentence,
    tally,
    told,
)
from evenhand.report.read import read_csv, read_json
from evenhand.report.render import decimal, plural
from evenhand.report.vega import Side, Spec

FILES = {
    **{f"table_{number}": f"tables/iifr_table_{number}.csv" for number in (4, 6, 7, 8)},
    "findings": "tables/iifr_findings.json",
    "data": "tabular/*/data.json",
    "groups": "tables/*_groups.csv",
}
RESULTS = {
    "dataset": str,
    "method": str,
    "individual": str,
    "group": str,
    "lambda": float,
    "epsilon": float,
    "mu": float,
    "split": str,
    "metric": str,
    "ours_mean": float,
    "ours_sd": float,
    "ours_low": float,
    "ours_high": float,
    "seeds": int,
    "diverged": int,
    "verdict": str,
}
GROUPS = {"quantity": str, "verdict": str}

TABLES = {
    "table_4": "Table 4: accuracy and individual fairness",
    "table_6": "Table 6: individual fairness by group",
    "table_7": "Table 7: group fairness",
    "table_8": "Table 8: by threshold",
}

#: The rows of the figure, of each data set.
SHOWN = (("mlp", "none"), ("mlp", "iifr_cosine"), ("mlp_without_attribute", "none"))

#: The paper's tables are judged with so many seeds.
SEEDS = 20


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """The headline of individual fairness.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        Not used: a data set's title stands in its ``data.json``.

    Raises
    ------
    InputError
        A file is none of these, or not well formed.
    """
    found = by_kind(files, FILES)
    titles = read_titles(found["data"])
    tables = {
        kind: [row for path in found[kind] for row in read_csv(path, RESULTS)] for kind in TABLES
    }
    of = partial(places, found, FILES)
    said = [told(words, of("findings")) for path in found["findings"] for words in _headline(path)]
    figure, caption = _figure(tables["table_4"], titles)
    return Headline(
        sentence=said[0] if said else "Nothing was concluded.",
        more=[
            *(told(words, of("table_4")) for words in _numbers(tables["table_4"], titles)),
            *(words for words in said[1:] if "cells of the paper" not in words),
        ],
        figure=figure,
        caption=caption,
        figure_files=of("table_4"),
        verdicts=_verdicts(found, tables),
        doubts=_doubts(tables, titles, of),
    )


def _headline(path: Path) -> list[str]:
    document = read_json(path)
    if not (isinstance(document, dict) and isinstance(document.get("headline"), list)):
        raise InputError("holds no findings", file=path)
    return document["headline"]


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if row["metric"] == "ifr_p"
        and row["split"] == "random"
        and (row["method"], row["individual"]) in SHOWN
        and row["ours_mean"] is not None
    ]


def _numbers(rows: list[dict[str, Any]], titles: Mapping[str, str]) -> list[Markup]:
    """IFR_p of the networks of the figure, with the noise of single runs."""
    by_dataset: dict[str, list[str]] = {}
    for row in _shown(rows):
        noise = "" if row["ours_sd"] is None else f" ± {decimal(row['ours_sd'], 1)}"
        words = f"{decimal(row['ours_mean'], 1)}{noise} for {who(row)}"
        by_dataset.setdefault(row["dataset"], []).append(words)
    said = [
        sentence("On {} it is {}.", name(title(dataset, titles)), listed(words))
        for dataset, words in by_dataset.items()
    ]
    if not said:
        return []
    what = "IFR_p is the share of people who are treated alike, in per cent."
    return [Markup(" ").join([what, *said, "Behind ± stands the noise of single runs."])]


def _figure(rows: list[dict[str, Any]], titles: Mapping[str, str]) -> tuple[Spec | None, str]:
    shown = _shown(rows)
    if not shown:
        return None, ""
    drawn = []
    for row in shown:
        mean, sd = row["ours_mean"], row["ours_sd"]
        words = f"{decimal(mean, 1)} %"
        band: tuple[float | None, float | None] = (None, None)
        if sd is not None:
            words += f", standard deviation of single runs {decimal(sd, 1)}"
            band = max(mean - sd, 0.0), min(mean + sd, 100.0)
        label = f"{title(row['dataset'], titles)}: {who(row).removeprefix('the ')}"
        span = row["ours_low"], row["ours_high"]
        shown_mean = decimal(mean, 1)
        drawn.append(Estimate(label, mean, words, shown_mean, span, band, kind="plain"))
    figure = estimates(
        drawn,
        Side("IFR_p, % of the people", (0, 100)),
        "IFR_p of the plain network, of IIFR and of a network without the attribute",
    )
    return figure, (
        "IFR_p: per cent of the people whose output hardly changes with another value of the"
        " attribute. Line: 95 % interval of the mean over seeds; band: one standard deviation of"
        " single runs."
    )


def _verdicts(
    found: Mapping[str, list[Path]], tables: Mapping[str, list[dict[str, Any]]]
) -> list[Verdicts]:
    of = partial(places, found, FILES)
    groups = [row for path in found["groups"] for row in read_csv(path, GROUPS)]
    lines = []
    if shares := [row["verdict"] for row in groups if row["quantity"] != "rows"]:
        lines.append(
            Verdicts("Tables 1 and 2: the groups of the data", tally(shares), files=of("groups"))
        )
    seen: set[tuple[Any, ...]] = set()
    for kind, words in TABLES.items():
        once = []
        for row in tables[kind]:
            key = _cell(row, kind)
            if row["verdict"] in (None, "no_published_value") or key not in seen:
                once.append(row["verdict"])
                seen.add(key)
        again = len(tables[kind]) - len(once)
        note = f"{plural(again, 'cell')} more stand in the tables above." if again else ""
        if once:
            lines.append(Verdicts(words, tally(once), note, of(kind)))
    return lines


def _cell(row: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """What names a cell over all tables: Table 8 prints the plain network as a threshold of 1."""
    how = row["individual"], row["lambda"], row["epsilon"]
    if kind == "table_8" and row["epsilon"] == 1:
        how = "none", 0.0, None
    return row["dataset"], row["method"], *how, row["mu"], row["group"], row["split"], row["metric"]


def _doubts(
    tables: Mapping[str, list[dict[str, Any]]],
    titles: Mapping[str, str],
    of: Callable[..., tuple[str, ...]],
) -> list[Markup]:
    rows = tables["table_4"]
    doubts: list[tuple[str, tuple[str, ...]]] = []
    main = of("table_4")
    datasets = dict.fromkeys(row["dataset"] for row in rows)
    known = {row["dataset"] for row in rows if row["verdict"] != "no_published_value"}
    if strange := [name(title(one, titles)) for one in datasets if one not in known]:
        doubts.append(
            (
                sentence(
                    "The paper has no numbers for {}: there is nothing to compare.",
                    listed(strange),
                ),
                main,
            )
        )
    seeds = [row["seeds"] for row in rows if row["seeds"]]
    if seeds and min(seeds) < SEEDS:
        doubts.append(
            (
                "IFR_p differs much between runs, and some rows rest on"
                f" {plural(min(seeds), 'seed')}; {SEEDS} are advised.",
                main,
            )
        )
    doubtful = [row for kind in TABLES for row in tables[kind]]
    if n := sum(row["verdict"] == "inconsistent_in_paper" for row in doubtful):
        doubts.append(
            (
                f"{plural(n, 'published cell')} contradict{'s' if n == 1 else ''} the paper"
                " elsewhere.",
                of(*TABLES),
            )
        )
    if diverged := sum(row["diverged"] or 0 for row in rows if row["metric"] == "acc"):
        doubts.append((f"{plural(diverged, 'run')} diverged and left no numbers.", main))
    return [told(*doubt) for doubt in doubts]
