"""Stage: the paper's tables of results, with our runs beside the paper and a verdict per cell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Source
from evenhand.individual.lines import ALIKE, FIRST, MOST, NAMED, Line, lines_of
from evenhand.individual.published import (
    Cell,
    Number,
    read_inconsistencies,
    read_published,
    read_settings,
)
from evenhand.individual.results import (
    FORM,
    SETTING,
    Result,
    Setting,
    by_setting,
    read_groups,
    read_runs,
)
from evenhand.individual.summary import summarise

HEADER = [
    "dataset",
    "method",
    "individual",
    "group",
    "reduction",
    "lambda",
    "epsilon",
    "epsilon_unit",
    "mu",
    "js_base",
    "split",
    "choice",
    "metric",
    "paper",
    "ours_mean",
    "ours_sd",
    "ours_low",
    "ours_high",
    "seeds",
    "diverged",
    "empty",
    "verdict",
    "reason",
]

#: What each table shows. Balanced accuracy and the positive rate stand beside accuracy always,
#: because accuracy hides a model that predicts one class.
TABLE_4 = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ifr_p_all")
TABLE_6 = ("ifr_b", "ifr_p")
TABLE_7 = ("ddp", "deo_0", "deo_1")
TABLE_8 = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")

#: A number of the paper is reproduced within so many sd of single runs, since it is of one run.
WIDTH = 2.0


def tabulate_results(
    *,
    runs: list[Source],
    groups: list[Source],
    published_4: Input,
    published_6: Input,
    published_7: Input,
    published_8: Input,
    settings: Input,
    inconsistencies: Input,
    table_4: Output,
    table_6: Output,
    table_7: Output,
    table_8: Output,
) -> dict[str, Any]:
    """Put our runs beside Tables 4, 6, 7 and 8 of the paper.

    Parameters
    ----------
    runs, groups : list of Path
        What `train_table` wrote, tables of groups in the order of the tables of runs.
    published_4, published_6, published_7, published_8 : Path
        The paper's cells (``resources/iifr/published_table_4.csv`` and so on).
    settings : Path
        Which of our settings stands for a row (``resources/iifr/settings.csv``).
        `evenhand.individual.lines` says what stands where that was not run.
    inconsistencies : Path
        The paper's cells that contradict others (``resources/iifr/inconsistencies.csv``).
    table_4, table_6, table_7, table_8 : Path
        CSV, per data set with a run, setting (Table 6: and group; Table 8: by epsilon), metric:

        - group: a code of the attribute; of the methods ``eidig_integers`` one of their own
          encoding (Adult: Female, Male; German: EIDIG's four ages);
        - choice: ``named`` in the settings; ``alike``, the same numbers with another reduction,
          base or unit of epsilon, or ``first`` of its kind that was run, which no number of the
          paper stands beside; one of ``every`` setting of a method that is not named;
          or in Table 8 that with ``most`` thresholds;
        - paper: blank where the paper has no such cell, or we do not know it;
        - ours_mean, ours_sd of single runs, ours_low and ours_high, the 95 % t interval of the
          mean over seeds; seeds that went into it, and those that did not: diverged ones, and
          ones whose split leaves a group or a label empty;
        - verdict: ``reproduced`` (the paper's number is within `WIDTH` sd of our mean, give or
          take its rounding), ``not_reproduced``, ``inconsistent_in_paper``, ``undecided`` (one
          run), ``not_run``, ``no_published_value``; and the reason.
    """
    rows = read_runs(runs)
    results = by_setting(rows)
    published = [read_published(path) for path in (published_4, published_6, published_7)]
    known = {table: _listed(inconsistencies, table) for table in ("4", "6", "7", "8")}
    chosen = read_settings(settings)
    ran = {row["dataset"] for row in rows}
    of_paper = [cell[0] for table in published for cell in table]
    datasets = [name for name in dict.fromkeys([*of_paper, *sorted(ran)]) if name in ran]
    lines = {name: lines_of(name, chosen, results) for name in datasets}
    overall = [(line, results.get(line.setting)) for name in datasets for line in lines[name]]
    tables = {
        "table_4": [r for one in overall for r in _rows(*one, TABLE_4, published[0], known["4"])],
        "table_6": _by_group(rows, groups, lines, published[1], known["6"]),
        "table_7": [r for one in overall for r in _rows(*one, TABLE_7, published[2], known["7"])],
        "table_8": _by_epsilon(results, chosen, read_published(published_8), known["8"]),
    }
    paths = {"table_4": table_4, "table_6": table_6, "table_7": table_7, "table_8": table_8}
    for name, path in paths.items():
        write_rows(path, HEADER, tables[name], FORM)
    return {
        "runs": len(rows),
        "diverged": sum(result.diverged for result in results.values()),
        "empty": sum(result.empty for result in results.values()),
        "settings": len(results),
        "verdicts": {
            name: dict(sorted(Counter(row["verdict"] for row in made).items()))
            for name, made in tables.items()
        },
    }


def _listed(path: Path, table: str) -> dict[Cell, str]:
    return {
        (row["dataset"], row["method"], row["individual"], row["group"], None, row["metric"]): row[
            "why"
        ]
        for row in read_inconsistencies(path)
        if row["table"] == table
    }


def _by_group(
    rows: list[dict[str, Any]],
    groups: Sequence[Path],
    lines: Mapping[str, list[Line]],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
) -> list[dict[str, Any]]:
    by_group = {group: by_setting(some) for group, some in read_groups(groups, rows).items()}
    known = {(*cell[:3], cell[3]) for cell in [*cells, *listed]}
    made = []
    for some in lines.values():
        for line in some:
            key = line.setting
            of_paper = {c[3] for c in known if c[:3] == key[:3] and line.choice == NAMED}
            of_ours = {group for group, results in by_group.items() if key in results}
            for group in sorted(of_paper | of_ours):
                result = by_group.get(group, {}).get(key)
                made += _rows(line, result, TABLE_6, cells, listed, group=group)
    return made


def _by_epsilon(
    results: Mapping[Setting, Result],
    chosen: list[dict[str, Any]],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
) -> list[dict[str, Any]]:
    """Each threshold of the MLP's cosine loss, for the settings that differ in it alone.

    The paper's thresholds stand beside weight 1. Of a data set that the settings do not name, or
    whose runs with that weight have fewer than two thresholds, the settings with most of them
    stand there (the largest weight of several), if they have two. Above a threshold of 1 nobody
    has a pair: where 1 was not run, the MLP without the loss stands for it.
    """
    made = []
    named = {row["dataset"] for row in chosen}
    for dataset in dict.fromkeys(key[0] for key in results):
        sweeps = _epsilon_sweeps(dataset, results)
        paper = _without_epsilon(_mlp(dataset, 1.0))
        of_paper = {cell[4] for cell in cells if cell[0] == dataset}
        most = max(sweeps, key=lambda one: (len(sweeps[one]), one[LAMBDA]), default=None)
        if len(sweeps.get(paper, ())) < 2 or (dataset not in named and not of_paper):
            bases = [(paper, NAMED)] if of_paper else []
            if most and len(sweeps[most]) > 1:
                bases.append((most, MOST))
        else:
            bases = [(paper, NAMED)]
        for base, choice in bases:
            ours = set(sweeps.get(base, ()))
            for epsilon in sorted(ours | of_paper if choice == NAMED else ours):
                key = (*base[:EPSILON], epsilon, *base[EPSILON + 1 :])
                result = results.get(key)
                if result is None and epsilon == 1:
                    result = results.get(_mlp(dataset, None))
                made += _rows(Line(key, choice), result, TABLE_8, cells, listed, epsilon=epsilon)
    return made


LAMBDA, EPSILON = SETTING.index("lambda"), SETTING.index("epsilon")


def _mlp(dataset: str, lam: float | None) -> Setting:
    """The MLP's setting with the paper's loss of a weight (any epsilon), or without a loss."""
    named = dict.fromkeys(SETTING) | {
        "dataset": dataset,
        "method": "mlp",
        "individual": "none",
        "lambda": 0.0,
        "js_base": "e",
        "split": "random",
    }
    if lam is not None:
        named |= {
            "individual": "iifr_cosine",
            "reduction": "sum",
            "lambda": lam,
            "epsilon_unit": "cosine",
        }
    return tuple(named.values())


def _without_epsilon(key: Setting) -> Setting:
    return (*key[:EPSILON], None, *key[EPSILON + 1 :])


def _epsilon_sweeps(dataset: str, results: Mapping[Setting, Result]) -> dict[Setting, list[float]]:
    """The thresholds of the MLP's cosine loss on random splits, by the rest of the setting."""
    found: dict[Setting, list[float]] = {}
    for key in results:
        own = dict(zip(SETTING, key, strict=True))
        kind = own["method"], own["individual"], own["split"]
        if key[0] == dataset and kind == ("mlp", "iifr_cosine", "random"):
            found.setdefault(_without_epsilon(key), []).append(own["epsilon"])
    return found


def _rows(
    line: Line,
    result: Result | None,
    metrics: Sequence[str],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
    *,
    group: int | None = None,
    epsilon: float | None = None,
) -> list[dict[str, Any]]:
    """The cells of a row; none of a metric of which neither the paper nor we have anything."""
    key, choice = line
    named = dict(zip(SETTING, key, strict=True))
    places = {metric: (*key[:3], group, epsilon, metric) for metric in metrics}
    alone = named["split"] != "random" or choice in (ALIKE, FIRST, MOST)
    paper = {m: None if alone else cells.get(place) for m, place in places.items()}
    why = {m: None if alone else listed.get(place) for m, place in places.items()}
    made = []
    for metric in metrics:
        if result is None and paper[metric] is None and not why[metric]:
            continue
        summary = summarise(result.values(metric) if result else [])
        diverged, empty = (result.diverged, result.empty) if result else (0, 0)
        verdict, reason = judge(paper[metric], summary, why[metric], diverged, empty)
        made.append(
            {name: named.get(name) for name in HEADER}
            | {
                "group": group,
                "choice": choice,
                "metric": metric,
                "paper": paper[metric].value if paper[metric] else None,
                "seeds": summary["seeds"],
                "diverged": diverged,
                "empty": empty,
                "verdict": verdict,
                "reason": reason,
            }
            | {f"ours_{name}": summary[name] for name in ("mean", "sd", "low", "high")}
        )
    return made


def judge(
    paper: Number | None,
    ours: Mapping[str, Any],
    inconsistent: str | None,
    diverged: int = 0,
    empty: int = 0,
) -> tuple[str, str | None]:
    """Verdict on a cell, and its reason.

    Parameters
    ----------
    paper : Number, optional
        What the paper prints.
    ours : dict
        Of `evenhand.individual.summary.summarise`.
    inconsistent : str, optional
        Why the cell contradicts others of the paper.
    diverged, empty : int
        How many runs diverged, and how many could not be made.
    """
    if inconsistent:
        return "inconsistent_in_paper", inconsistent
    if not ours["seeds"]:
        if diverged and not empty:
            return "not_run", f"every run diverged ({diverged})"
        if empty:
            lost = f"{diverged} diverged, and of {empty} the" if diverged else f"of {empty} the"
            return "not_run", f"no run is left: {lost} split leaves a group or a label empty"
        return "not_run", "there is no run of this setting that has the measure"
    if paper is None:
        return "no_published_value", None
    if ours["seeds"] == 1:
        return "undecided", "one run does not say how far runs lie apart"
    distance = paper.value - ours["mean"]
    if abs(distance) <= WIDTH * ours["sd"] + paper.rounding + 1e-9:
        return "reproduced", None
    side = "above" if distance > 0 else "below"
    digits = 1 if paper.rounding > 0.01 else 3
    far = f", {abs(distance) / ours['sd']:.1f} sd of single runs" if ours["sd"] > 1e-9 else ""
    known = paper.explanation or "why is not known"
    return "not_reproduced", f"{abs(distance):.{digits}f} {side} our mean{far}; {known}"


if __name__ == "__main__":
    stage.run(tabulate_results)
