"""The report on mitigation: the effects of objectives and methods, sweeps of weights, fronts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.core.rows import Row, grouped, where
from evenhand.individual.names import title, titles_of, who
from evenhand.io.documents import read_description
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_CONSTANT
from evenhand.report.figures import axis, lines, padded, scatter
from evenhand.report.headline import plain
from evenhand.report.headlines import mitigation
from evenhand.report.headlines.legal import without_plain
from evenhand.report.sections import individual_words
from evenhand.report.sections import legal_classifiers as classifiers
from evenhand.report.sections.individual_tables import TESTED, Behind, describe_tests
from evenhand.report.sections.individual_words import method, metric_title, setting
from evenhand.report.sections.legal_data import copied_in, read_datasets, titles_by_name
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.report.study import Study
from evenhand.tabular.prepared import RECORD

#: The most figures at a glance.
MOST = 4

#: The sections on methods for tables of people, with the heading that the menu repeats.
INDIVIDUAL_SECTIONS = [
    ("tests", "Tests between methods"),
    ("fronts", "Accuracy against fairness"),
    ("sweeps", "Weight of the individual loss"),
]


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    datasets = read_datasets(study, "tables/classifiers/*")
    objectives = study.titles_of("objectives")
    figures = [
        figure | {"file": f"tables/classifiers/{dataset.id}/table_4.csv"}
        for dataset in datasets
        for figure in classifiers.draw_objectives(
            dataset.tables["table_4"], dataset.title, dataset.attributes, objectives
        )
    ]
    described = [
        dataset.head
        | {
            "table_4": classifiers.describe_table_4(dataset.tables["table_4"]),
            "tests": [
                row | {"of_other": mitigation.is_of_other(row)} for row in dataset.tables["tests"]
            ],
            "constant": (CONSTANT, ONE_CONSTANT),
            "group_scores": classifiers.describe_group_scores(dataset.tables["group_scores"]),
            "training": classifiers.describe_training(dataset.tables["curves"], objectives),
        }
        for dataset in datasets
    ]
    individual = study.tables("tables/individual")
    data = study.paths("*/data.json")
    titles = titles_of(read_description(path, RECORD, "prepare_table") for path in data)
    changes = mitigation.find_changes(
        study.paths("tables/classifiers/*"),
        study.paths("tables/individual"),
        data,
        {**study.titles, **titles_by_name(datasets)},
        mitigation.find_gaps(study),
        mitigation.not_learned(study),
    )
    weights = mitigation.compare_weights(study.paths("tables/individual"))
    folders = ["tables/classifiers/*", "tables/individual"]
    sections = [(dataset.id, dataset.title) for dataset in datasets]
    individual_sections = INDIVIDUAL_SECTIONS if individual else []
    return {
        "sections": [
            ("glance", "At a glance"),
            *sections,
            *individual_sections,
            ("reading", "How to read it"),
            ("limits", "Limits"),
        ],
        "headline": mitigation.conclude(changes, gaps=len(changes), alone=without_plain(study)),
        "methods": (methods := mitigation.by_method(changes)),
        "answers": [
            *mitigation.on_gaps(changes),
            *mitigation.answers(mitigation.by_kind(methods)),
            *mitigation.unconfirmed(changes),
            *copied_in(study),
        ],
        "weights": weights,
        "datasets": described,
        "figures": sorted(figures, key=lambda figure: -figure["spots"])[:MOST],
        "individual_sections": individual_sections,
        "behind": (behind := Behind(individual.get("individuals", []))),
        "tests": describe_tests(individual.get("tests", []), titles, behind),
        "fronts": describe_fronts(individual.get("pareto_fronts", []), titles),
        "sweeps": describe_sweeps(individual.get("grid", []), titles),
        "tested": TESTED,
        "individual": individual_words,
        "test_cases": "test" in study.linked,
        "objective": objectives.heading,
        "measures": classifiers.MEASURES,
        "noise_words": classifiers.noise_words,
        "more_tables": MoreTables(study, folders, only=OF_MITIGATION - {"inconsistencies"}),
    }


#: The measures in the sweeps, with the minimum length of their axes.
SWEPT = {"balanced_acc": 4.0, "positive_rate": 0.05, "ifr_p": 4.0, "ddp": 0.05}


def describe_sweeps(rows: Iterable[Row], titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the measures of `SWEPT` over lambda, a line per method and individual loss.

    Of several thresholds, mu, reductions and bases, the section shows the one with most weights;
    of equals, the smallest.
    """
    datasets, key = [], plain("figure_key", line=plain("if_interval"))
    for dataset, group in grouped(where(rows, split="random"), "dataset").items():
        chosen = _chosen([row for row in group if row["mean"] is not None])
        weights = sorted({row["lambda"] for line in chosen.values() for row in line})
        if len(weights) < 2:
            continue
        names = [_name(line[-1]) for line in chosen.values()]
        figures = []
        for metric, least in SWEPT.items():
            dots = [
                {"name": name} | dot
                for number, (name, line) in enumerate(zip(names, chosen.values(), strict=True))
                for dot in _dots(metric, line, weights, number - (len(names) - 1) / 2)
            ]
            if dots:
                label = f"{title(dataset, titles)}: {metric_title(metric)} over lambda"
                up = axis(metric_title(metric), _reach(dots, least), grid=True)
                look = {"series": names, "height": 170, "key": key}
                drawing = lines(dots, label, _steps(weights), up, **look)
                figures.append({"title": metric_title(metric), "drawing": drawing})
        datasets.append({"name": title(dataset, titles), "figures": figures})
    return datasets


def _chosen(rows: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows of each line: one setting except lambda, first the run without the loss."""
    fixed = ("method", "individual", "reduction", "epsilon", "epsilon_unit", "mu", "js_base")
    plain = grouped(where(rows, individual="none"), "method", "mu", "js_base")
    lines = grouped((row for row in rows if row["individual"] != "none"), *fixed)
    best: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for key, line in lines.items():
        weights = len({row["lambda"] for row in line})
        kept = best.get(key[:2])
        if kept is None or weights > len({row["lambda"] for row in lines[kept]}):
            best[key[:2]] = key
    return {
        name: plain.get((key[0], key[5], key[6]), []) + lines[key] for name, key in best.items()
    }


def _name(row: dict[str, Any]) -> str:
    fixed = setting(row | {"lambda": None})
    return method(row) + (f" ({fixed})" if fixed else "")


def _steps(weights: list[float]) -> dict[str, Any]:
    """Return an axis with the weights at equal distances."""
    names = json.dumps([f"{weight:g}" for weight in weights])
    ends, steps = (-0.35, len(weights) - 0.65), list(range(len(weights)))
    return axis("Weight λ", ends, values=steps, labelExpr=f"{names}[datum.value]")


def _dots(
    metric: str, rows: list[dict[str, Any]], weights: list[float], place: float
) -> list[dict[str, Any]]:
    """Return a line's points, slightly offset so that the lines' intervals can be distinguished."""
    row_of = {row["lambda"]: row for row in where(rows, metric=metric)}
    dots = []
    for step, weight in enumerate(weights):
        if row := row_of.get(weight):
            words = f"{_name(rows[-1])}, λ {weight:g}: {row['mean']:.3g}"
            if row["low"] is not None:
                words += f" ({row['low']:.3g} to {row['high']:.3g})"
            ends = {"low": row["low"], "high": row["high"]}
            dots.append({"x": step + place * 0.04, "y": row["mean"], "words": words} | ends)
    return dots


def _reach(dots: list[Row], least: float) -> tuple[float, float]:
    """Return the ends of the y axis; an interval from few seeds may exceed them."""
    low, high = min(dot["y"] for dot in dots), max(dot["y"] for dot in dots)
    room = max(high - low, least)
    ends = [dot[end] for dot in dots for end in ("low", "high") if dot[end] is not None]
    return padded([low, high, *(min(max(end, low - room), high + room) for end in ends)], least)


#: A front's title and words of its measure.
TITLES = {"ddp": ("dDP", 0.02), "ifr_p": ("1 − IFR_p", 0.05)}


def describe_fronts(rows: Iterable[Row], titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return, per data set and front, the points; those on the front are numbered and listed."""
    blocks = []
    for dataset, group in grouped(where(rows, split="random"), "dataset").items():
        name = title(dataset, titles)
        fronts = [_front(name, front, group) for front in grouped(group, "front")]
        blocks.append({"key": dataset, "name": name, "fronts": fronts})
    return blocks


def _front(dataset: str, name: str, of_set: list[Row]) -> dict[str, Any]:
    """Draw a front; the accuracy has the same scale in all fronts of a data set."""
    rows, methods = where(of_set, front=name), list(grouped(of_set, "method"))
    measure, least = TITLES.get(name, (name, 0.02))
    held = sorted((row for row in rows if row["on_front"]), key=lambda row: -row["balanced_acc"])
    marks = {id(row): number for number, row in enumerate(held, 1)}
    names = {name: method({"method": name, "individual": "none"}) for name in methods}
    dots = [
        {
            "name": names[row["method"]],
            "x": row["balanced_acc"],
            "y": row["unfairness"],
            "words": plain("figure_front_dot", row=row, label=_label(row), measure=measure),
            "hollow": row["individual"] != "none",
            "mark": marks.get(id(row)),
        }
        for row in sorted(rows, key=lambda row: methods.index(row["method"]))
    ]
    across = axis("Balanced accuracy, %", padded([row["balanced_acc"] for row in of_set], 5.0))
    up = axis(measure, padded([row["unfairness"] for row in rows], least), grid=True)
    facts = {"dataset": dataset, "measure": measure, "settings": len(rows), "held": len(held)}
    label = plain("figure_front", **facts)
    return {
        "front": name,
        "measure": measure,
        "drawing": scatter(dots, label, across, up, series=list(names.values())),
        "settings": len(rows),
        "held": held,
    }


def _label(row: dict[str, Any]) -> str:
    values = setting(row)
    return who(row) + (f", {values}" if values else "")
