"""Section: measures over the weight of the individual loss, and fronts of two measures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.individual.names import title, who
from evenhand.report.figures import curve_sample
from evenhand.report.read import boolean, read_csv
from evenhand.report.sections.individual_figures import Line, Point, lines_over, scatter
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_words import method, metric_title, setting

SETTING = {
    "dataset": str,
    "method": str,
    "individual": str,
    "reduction": str,
    "lambda": float,
    "epsilon": float,
    "epsilon_unit": str,
    "mu": float,
    "js_base": str,
    "split": str,
}
SWEEPS = SETTING | {
    "metric": str,
    "mean": float,
    "sd": float,
    "low": float,
    "high": float,
    "seeds": int,
    "diverged": int,
}
FRONTS = SETTING | {
    "front": str,
    "point": str,
    "balanced_acc": float,
    "balanced_acc_sd": float,
    "unfairness": float,
    "unfairness_sd": float,
    "seeds": int,
    "diverged": int,
    "on_front": boolean,
    "dominated_by": str,
}

#: What the sweeps show, and how long their axes are at least.
SHOWN = {"balanced_acc": 4.0, "positive_rate": 0.05, "ifr_p": 4.0, "ddp": 0.05}

#: Kinds of lines and dots in the style sheet.
KINDS = 9


def describe_sweeps(
    path: Path | None, titles: Mapping[str, str] | None = None
) -> list[dict[str, Any]] | None:
    """Per data set the measures of `SHOWN` over lambda, a line per method and individual loss.

    Of several thresholds the one with most weights is shown, and of several mu, reductions and
    bases likewise, the least of equals.
    """
    rows = [row for row in (read_csv(path, SWEEPS) if path else []) if row["split"] == "random"]
    made = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == dataset and row["mean"] is not None]
        chosen = _chosen(own)
        weights = sorted({row["lambda"] for line in chosen.values() for row in line})
        if len(weights) < 2:
            continue
        steps = [f"{weight:g}" for weight in weights]
        figures = []
        for metric, least in SHOWN.items():
            lines = [
                _line(metric, line, weights, f"line-{number % KINDS + 1}")
                for number, line in enumerate(chosen.values())
            ]
            lines = [line for line in lines if any(v is not None for v in line.values)]
            if lines:
                said = ", ".join(line.name for line in lines)
                label = f"{title(dataset, titles)}: {metric_title(metric)} over lambda, for {said}"
                drawing = lines_over(steps, lines, label, least=least)
                figures.append({"title": metric_title(metric), "drawing": drawing})
        made.append(
            {
                "name": title(dataset, titles),
                "figures": figures,
                "legend": [
                    {
                        "title": _name(line[-1]),
                        "sample": curve_sample(f"line-{number % KINDS + 1}"),
                    }
                    for number, line in enumerate(chosen.values())
                ],
            }
        )
    return made or None


def bases_of(path: Path | None) -> set[str | None]:
    """The logarithms' bases of the runs."""
    return {row["js_base"] for row in (read_csv(path, {"js_base": str}) if path else [])}


def _chosen(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The rows of each line: one setting but for lambda, with the run without loss in front."""
    fixed = ("method", "individual", "reduction", "epsilon", "epsilon_unit", "mu", "js_base")
    lines: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    plain: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["individual"] == "none":
            plain.setdefault((row["method"], row["mu"], row["js_base"]), []).append(row)
        else:
            lines.setdefault(tuple(row[name] for name in fixed), []).append(row)
    best: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for key, line in lines.items():
        weights = len({row["lambda"] for row in line})
        kept = best.get(key[:2])
        if kept is None or weights > len({row["lambda"] for row in lines[kept]}):
            best[key[:2]] = key
    return {
        who_: plain.get((key[0], key[5], key[6]), []) + lines[key] for who_, key in best.items()
    }


def _name(row: dict[str, Any]) -> str:
    fixed = setting(row | {"lambda": None})
    return method(row) + (f" ({fixed})" if fixed else "")


def _line(metric: str, rows: list[dict[str, Any]], weights: list[float], kind: str) -> Line:
    found = {row["lambda"]: row for row in rows if row["metric"] == metric}
    values = [found[weight]["mean"] if weight in found else None for weight in weights]
    spans = [
        (found[weight]["low"], found[weight]["high"])
        if weight in found and found[weight]["low"] is not None
        else None
        for weight in weights
    ]
    return Line(_name(rows[-1]), values, spans, kind)


#: A front's title and words of its measure.
TITLES = {"ddp": ("dDP", 0.02), "ifr_p": ("1 − IFR_p", 0.05)}


def describe_fronts(
    path: Path | None,
    titles: Mapping[str, str] | None = None,
    behind: Behind | None = None,
) -> list[dict[str, Any]] | None:
    """Per data set and front the points, with those of the front numbered and listed.

    `behind` tells the people behind the numbers.
    """
    rows = [row for row in (read_csv(path, FRONTS) if path else []) if row["split"] == "random"]
    made = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == dataset]
        methods = list(dict.fromkeys(row["method"] for row in own))
        kinds = {name: f"dot-{number % KINDS + 1}" for number, name in enumerate(methods)}
        fronts = [
            _front(
                title(dataset, titles),
                name,
                [row for row in own if row["front"] == name],
                kinds,
                behind or Behind(None),
            )
            for name in dict.fromkeys(row["front"] for row in own)
        ]
        legend = [
            {"title": method({"method": name, "individual": "none"}), "kind": kinds[name]}
            for name in methods
        ]
        made.append(
            {"key": dataset, "name": title(dataset, titles), "fronts": fronts, "legend": legend}
        )
    return made or None


def _front(
    dataset: str,
    name: str,
    rows: list[dict[str, Any]],
    kinds: dict[str, str],
    behind: Behind,
) -> dict[str, Any]:
    measure, least = TITLES.get(name, (name, 0.02))
    held = sorted((row for row in rows if row["on_front"]), key=lambda row: -row["balanced_acc"])
    marks = {id(row): str(number) for number, row in enumerate(held, 1)}
    points = [
        Point(
            row["balanced_acc"],
            row["unfairness"],
            f"{_label(row)}: balanced accuracy {row['balanced_acc']:.1f}, {measure}"
            f" {row['unfairness']:.3f}",
            kinds[row["method"]] + ("" if row["individual"] == "none" else " with-loss"),
            marks.get(id(row), ""),
        )
        for row in sorted(rows, key=lambda row: int(marks.get(id(row), "0")))
    ]
    label = (
        f"{dataset}: balanced accuracy against {measure} of {len(rows)} settings,"
        f" {len(held)} of them on the front"
    )
    return {
        "front": name,
        "measure": measure,
        "drawing": scatter(points, label, least=least),
        "settings": len(rows),
        "held": [
            row
            | {
                "number": marks[id(row)],
                "who": method(row),
                "setting": setting(row),
                "items": behind.row_items(row),
                "behind": {one: behind.cell(row, one) for one in ("balanced_acc", name)},
            }
            for row in held
        ],
    }


def _label(row: dict[str, Any]) -> str:
    said = setting(row)
    return who(row) + (f", {said}" if said else "")
