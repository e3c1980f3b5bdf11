"""Stage: the paper's tables of results, with our runs beside the paper and a verdict per cell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand import stage
from evenhand.individual.published import (
    Cell,
    Number,
    read_inconsistencies,
    read_published,
    read_settings,
    settings_of,
)
from evenhand.individual.results import (
    SETTING,
    Result,
    Setting,
    by_setting,
    read_groups,
    read_runs,
    summarise,
    write_csv,
)
from evenhand.stage import Input, Output, Source

HEADER = [
    "dataset",
    "method",
    "individual",
    "group",
    "lambda",
    "epsilon",
    "mu",
    "split",
    "metric",
    "paper",
    "ours_mean",
    "ours_sd",
    "ours_low",
    "ours_high",
    "seeds",
    "diverged",
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
    inconsistencies : Path
        The paper's cells that contradict others (``resources/iifr/inconsistencies.csv``).
    table_4, table_6, table_7, table_8 : Path
        CSV, per data set with a run, setting (Table 6: and group; Table 8: by epsilon), metric:

        - paper: blank where the paper has no such cell, or we do not know it;
        - ours_mean, ours_sd of single runs, ours_low and ours_high, the 95 % t interval of the
          mean over seeds; seeds that went into it, diverged ones that did not;
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
    lines = {name: _lines(name, chosen, results) for name in datasets}
    overall = [(key, results.get(key)) for name in datasets for key in lines[name]]
    tables = {
        "table_4": [r for one in overall for r in _rows(*one, TABLE_4, published[0], known["4"])],
        "table_6": _by_group(rows, groups, lines, published[1], known["6"]),
        "table_7": [r for one in overall for r in _rows(*one, TABLE_7, published[2], known["7"])],
        "table_8": _by_epsilon(results, chosen, read_published(published_8), known["8"]),
    }
    paths = {"table_4": table_4, "table_6": table_6, "table_7": table_7, "table_8": table_8}
    for name, path in paths.items():
        write_csv(path, HEADER, tables[name])
    return {
        "runs": len(rows),
        "diverged": sum(row["diverged"] for row in rows),
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


def _lines(
    dataset: str, chosen: list[dict[str, Any]], results: Mapping[Setting, Result]
) -> list[Setting]:
    """The settings that a data set's tables show: those named, then methods nobody named."""
    named = [row["key"] for row in settings_of(chosen, dataset)]
    methods = {row["setting"]["method"] for row in chosen}
    place = SETTING.index("method")
    return named + [key for key in results if key[0] == dataset and key[place] not in methods]


def _by_group(
    rows: list[dict[str, Any]],
    groups: Sequence[Path],
    lines: Mapping[str, list[Setting]],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
) -> list[dict[str, Any]]:
    by_group = {group: by_setting(some) for group, some in read_groups(groups, rows).items()}
    known = {(*cell[:3], cell[3]) for cell in [*cells, *listed]}
    made = []
    for keys in lines.values():
        for key in keys:
            of_paper = {cell[3] for cell in known if cell[:3] == key[:3]}
            of_ours = {group for group, results in by_group.items() if key in results}
            for group in sorted(of_paper | of_ours):
                result = by_group.get(group, {}).get(key)
                made += _rows(key, result, TABLE_6, cells, listed, group=group)
    return made


def _by_epsilon(
    results: Mapping[Setting, Result],
    chosen: list[dict[str, Any]],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
) -> list[dict[str, Any]]:
    """Each threshold of the MLP's cosine loss, the largest weight that has several thresholds.

    Above a threshold of 1 nobody has a pair: where 1 was not run, the MLP without the loss
    stands for it.
    """
    made = []
    for dataset in dict.fromkeys(key[0] for key in results):
        base = _epsilon_line(dataset, results, chosen)
        named = dict(zip(SETTING, base, strict=True))
        ours = {
            key[SETTING.index("epsilon")]: key
            for key in results
            if key == tuple((named | {"epsilon": key[SETTING.index("epsilon")]}).values())
        }
        of_paper = {cell[4] for cell in cells if cell[0] == dataset}
        if len(ours) < 2 and not of_paper:
            continue
        for epsilon in sorted(of_paper | set(ours)):
            key = tuple((named | {"epsilon": epsilon}).values())
            result = results.get(key)
            if result is None and epsilon == 1:
                plain = dict.fromkeys(SETTING) | {
                    "dataset": dataset,
                    "method": "mlp",
                    "individual": "none",
                    "lambda": 0.0,
                    "js_base": "e",
                    "split": "random",
                }
                result = results.get(tuple(plain.values()))
            made += _rows(key, result, TABLE_8, cells, listed, epsilon=epsilon)
    return made


def _epsilon_line(
    dataset: str, results: Mapping[Setting, Result], chosen: list[dict[str, Any]]
) -> Setting:
    """The MLP's setting with the cosine loss whose epsilon varies: lambda with most epsilons."""
    named = dict.fromkeys(SETTING) | {
        "dataset": dataset,
        "method": "mlp",
        "individual": "iifr_cosine",
        "reduction": "sum",
        "lambda": 1.0,
        "epsilon_unit": "cosine",
        "js_base": "e",
        "split": "random",
    }
    epsilons: dict[float, set[float]] = {}
    for key in results:
        own = dict(zip(SETTING, key, strict=True))
        if own | {"lambda": None, "epsilon": None} == named | {"lambda": None, "epsilon": None}:
            epsilons.setdefault(own["lambda"], set()).add(own["epsilon"])
    if epsilons and dataset not in {row["dataset"] for row in chosen}:
        named["lambda"] = max(epsilons, key=lambda lam: (len(epsilons[lam]), lam))
    return tuple(named.values())


def _rows(
    key: Setting,
    result: Result | None,
    metrics: Sequence[str],
    cells: Mapping[Cell, Number],
    listed: Mapping[Cell, str],
    *,
    group: int | None = None,
    epsilon: float | None = None,
) -> list[dict[str, Any]]:
    """The cells of a row; none of a metric of which neither the paper nor we have anything."""
    named = dict(zip(SETTING, key, strict=True))
    places = {metric: (*key[:3], group, epsilon, metric) for metric in metrics}
    official = named["split"] != "random"
    paper = {m: None if official else cells.get(place) for m, place in places.items()}
    why = {m: None if official else listed.get(place) for m, place in places.items()}
    made = []
    for metric in metrics:
        if result is None and paper[metric] is None and not why[metric]:
            continue
        summary = summarise(result.values(metric) if result else [])
        diverged = result.diverged if result else 0
        verdict, reason = judge(paper[metric], summary, why[metric], diverged)
        made.append(
            {name: named.get(name) for name in HEADER}
            | {
                "group": group,
                "metric": metric,
                "paper": paper[metric].value if paper[metric] else None,
                "seeds": summary["seeds"],
                "diverged": diverged,
                "verdict": verdict,
                "reason": reason,
            }
            | {f"ours_{name}": summary[name] for name in ("mean", "sd", "low", "high")}
        )
    return made


def judge(
    paper: Number | None, ours: Mapping[str, Any], inconsistent: str | None, diverged: int = 0
) -> tuple[str, str | None]:
    """Verdict on a cell, and its reason.

    Parameters
    ----------
    paper : Number, optional
        What the paper prints.
    ours : dict
        Of `evenhand.individual.results.summarise`.
    inconsistent : str, optional
        Why the cell contradicts others of the paper.
    diverged : int
        How many runs diverged.
    """
    if inconsistent:
        return "inconsistent_in_paper", inconsistent
    if not ours["seeds"]:
        if diverged:
            return "not_run", f"every run diverged ({diverged})"
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
