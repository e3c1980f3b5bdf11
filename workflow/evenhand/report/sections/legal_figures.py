"""Figures of the page of the classifiers: scores by group, training, and calibration."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.legal.objective_titles import Titles
from evenhand.report.figures import (
    MARKS,
    Axis,
    Estimate,
    _add,
    _draw,
    _figure,
    _ruler,
    _text,
    _title,
    curve_sample,
    estimates,
    point,
    scale,
    score_on_scale,
    ticks_between,
)
from evenhand.report.read import read_csv
from evenhand.report.render import count, decimal, percent
from evenhand.report.sections.individual_figures import (
    ABOVE,
    BELOW,
    LEFT,
    _height,
    axis_around,
    beside_numbers,
)

GROUP_SCORES = {
    "classifier": str,
    "objective": str,
    "attribute": str,
    "split": str,
    "convention": str,
    "group": str,
    "seed": str,
    "seeds": int,
    "cases": int,
    "score": float,
    "sd": float,
    "low": float,
    "high": float,
    "noise_low": float,
    "noise_high": float,
    "note": str,
}
BINS = {
    "classifier": str,
    "objective": str,
    "attribute": str,
    "group": str,
    "split": str,
    "predictions": int,
    "confidence": float,
    "share_right": float,
}

CURVES = {
    "classifier": str,
    "objective": str,
    "trained_for": str,
    "seed": str,
    "epoch": int,
    "seeds": int,
    "loss": float,
    "loss_sd": float,
    "macro_f1": float,
    "macro_f1_sd": float,
}

#: The objective that the others are held against.
BASE = "erm"

#: The style sheet's lines, those of different colours first; the others have hollow dots.
KINDS = (
    *("line-1", "line-3", "line-4", "line-5", "line-7"),
    *("line-2 with-loss", "line-8 with-loss", "line-6 with-loss", "line-9 with-loss"),
)

#: A line of calibration runs through bins with at least so many predictions.
ENOUGH = 20


@dataclass(frozen=True)
class Track:
    """Points of a plane from left to right: x, y, what is said of it, radius, on the line.

    `mark` is one of `evenhand.report.figures.MARKS`.
    """

    kind: str
    points: Sequence[tuple[float, float, str, float, bool]]
    mark: str = "circle"


def describe_group_scores(path: Path, called: Titles) -> list[dict[str, Any]]:
    """Macro-F1 (0 to 100) of each group under each objective: test cases, mean over seeds.

    A block per attribute and classifier; in it the groups, and of each a row per objective, ERM
    first, or one row if it has no score. The line across a row is the group's score under ERM,
    the band what chance gives it.
    """
    rows = [
        row
        for row in read_csv(path, GROUP_SCORES, optional=("note",))
        if (row["split"], row["convention"], row["seed"]) == ("test", "all", "mean")
    ]
    ends = [row[key] for row in rows for key in ("score", "high", "noise_high") if row[key]]
    axis = Axis(0, min(math.ceil(max(ends, default=100) / 10) * 10, 100))
    blocks: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        block = blocks.setdefault((row["attribute"], row["classifier"]), {})
        block.setdefault(row["group"], []).append(row)
    ruler = scale(axis, ticks_between(axis.low, axis.high, 5), "Scale of macro-F1")
    return [
        {
            "name": attribute,
            "classifier": classifier,
            "ruler": ruler,
            "groups": [
                {"name": group, "cases": own[0]["cases"], "rows": _score_rows(own, axis, called)}
                for group, own in groups.items()
            ],
        }
        for (attribute, classifier), groups in blocks.items()
    ]


def _score_rows(rows: Sequence[dict[str, Any]], axis: Axis, called: Titles) -> list[dict[str, Any]]:
    if all(row["score"] is None for row in rows):  # once is enough
        return [rows[0] | {"objective": None, "plot": None}]
    base = next((row["score"] for row in rows if row["objective"] == BASE), None)
    return [
        row | {"plot": _score_plot(row, axis, base, called) if row["score"] is not None else None}
        for row in sorted(rows, key=lambda one: one["objective"] != BASE)
    ]


def _score_plot(row: Mapping[str, Any], axis: Axis, base: float | None, called: Titles) -> Markup:
    said = f"{row['group']}, {called[row['objective']]}: {decimal(row['score'], 1)}"
    if row["low"] is not None:
        said += f" ({decimal(row['low'], 1)} to {decimal(row['high'], 1)})"
    if row["noise_low"] is not None:
        said += f"; chance {decimal(row['noise_low'], 1)} to {decimal(row['noise_high'], 1)}"
    return score_on_scale(
        axis,
        row["score"],
        (row["low"], row["high"]),
        (row["noise_low"], row["noise_high"]),
        said,
        centre=axis.low if base is None else base,
    )


def draw_table_2(rows: Sequence[Mapping[str, Any]], scores: Path | None) -> dict[str, Any]:
    """Table 2 of one attribute and classifier: its groups by their share of training cases.

    Parameters
    ----------
    rows : sequence of mapping
        The groups, of `evenhand.report.sections.legal_classifiers.describe_table_2`.
    scores : Path, optional
        ``legal_{name}_group_scores.csv``, for the intervals and what chance gives under ERM.

    Returns
    -------
    dict
        drawing, None if no group has a score; without, the groups that have none.
    """
    noise = _noise(scores) if scores else {}
    whole = sum(row["train_cases"] or 0 for row in rows)
    ordered = sorted(rows, key=lambda row: (-(row["train_cases"] or 0), row["group"]))
    scored = [row for row in ordered if row["score"] is not None]
    drawn = [_table_2_row(row, whole, noise) for row in scored]
    ends = [end for one in drawn for end in (one.value, one.span[1], one.band[1]) if end]
    axis = Axis(0, min(math.ceil(max(ends, default=10) / 10) * 10, 100))
    label = "Macro-F1 of each group, by its share of the training cases"
    ticks = ticks_between(axis.low, axis.high, 5)
    return {
        "drawing": estimates(drawn, axis, label, ticks=ticks) if drawn else None,
        "without": [row["group"] for row in ordered if row["score"] is None],
    }


def _noise(path: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """What is known of the scores of ERM on test cases, by classifier, attribute and group."""
    return {
        (row["classifier"], row["attribute"], row["group"]): row
        for row in read_csv(path, GROUP_SCORES, optional=("note",))
        if (row["objective"], row["split"], row["convention"], row["seed"])
        == (BASE, "test", "all", "mean")
    }


def _table_2_row(
    row: Mapping[str, Any], whole: int, noise: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> Estimate:
    own = noise.get((row["classifier"], row["attribute"], row["group"]), {})
    span = (own.get("low"), own.get("high"))
    band = (own.get("noise_low"), own.get("noise_high"))
    share = (row["train_cases"] or 0) / whole if whole else None
    said = [f"macro-F1 {decimal(row['score'], 1)}"]
    if None not in span:
        said[0] += f" ({decimal(span[0], 1)} to {decimal(span[1], 1)})"
    if None not in band:
        said.append(f"chance {decimal(band[0], 1)} to {decimal(band[1], 1)}")
    said.append(f"{count(row['train_cases'])} training cases ({percent(share)})")
    said.append(f"drift of labels {decimal(row['drift'])}")
    said.append(f"share of the worst class {percent(row['wci'])}")
    return Estimate(
        row["group"],
        row["score"],
        "; ".join(said),
        f"{percent(share)} of training: {decimal(row['score'], 1)}",
        span,
        band,
        "unclear" if row["few"] == "true" else "plain",
    )


def describe_training(path: Path, called: Titles) -> list[dict[str, Any]]:
    """Development score and training loss by epoch, for each classifier and attribute.

    Objectives without groups (attribute ``none``) stand beside those of each attribute. A number
    is the mean over the seeds that reached the epoch; lines end where the first seed stopped.
    """
    trainings: dict[str, dict[str, dict[str, list[dict[str, Any]]]]] = {}
    for row in read_csv(path, CURVES):
        if row["seed"] == "mean":
            own = trainings.setdefault(row["classifier"], {}).setdefault(row["trained_for"], {})
            means = own.setdefault(row["objective"], [])
            means.append(row | {"whole": not means or row["seeds"] == means[0]["seeds"]})
    blocks = []
    for classifier, attributes in trainings.items():
        plain = attributes.pop("none", {})
        for attribute, own in list(attributes.items()) or [("", {})]:
            together = dict(sorted((plain | own).items(), key=lambda one: (one[0] != BASE, one[0])))
            blocks.append(_training_block(classifier, attribute, together, called))
    return blocks


def _training_block(
    classifier: str,
    attribute: str,
    means: Mapping[str, Sequence[dict[str, Any]]],
    called: Titles,
) -> dict[str, Any]:
    """The legend, the two drawings and the rows of the table of one classifier and attribute."""
    kinds = {name: KINDS[i % len(KINDS)] for i, name in enumerate(means)}
    figures = []
    for key, title, digits in (
        ("macro_f1", "Macro-F1 of the development cases", 1),
        ("loss", "Training loss", 3),
    ):
        tracks = [
            Track(
                kinds[name],
                [
                    (
                        one["epoch"],
                        one[key],
                        _epoch_words(called[name], one, key, digits),
                        2.5,
                        True,
                    )
                    for one in epochs
                    if one["whole"] and one[key] is not None
                ],
            )
            for name, epochs in means.items()
        ]
        if any(track.points for track in tracks):
            label = f"{title} by epoch: {classifier}"
            figures.append({"title": title, "drawing": _over_epochs(tracks, label, key == "loss")})
    last = max((one["epoch"] for epochs in means.values() for one in epochs), default=0)
    at = {name: {one["epoch"]: one for one in epochs} for name, epochs in means.items()}
    return {
        "name": attribute,
        "classifier": classifier,
        "objectives": list(means),
        "legend": [
            {"title": called.heading(name), "sample": curve_sample(kind)}
            for name, kind in kinds.items()
        ],
        "figures": figures,
        "rows": [
            {"epoch": epoch, "cells": [at[name].get(epoch) for name in means]}
            for epoch in range(1, last + 1)
        ],
    }


def _epoch_words(name: str, one: Mapping[str, Any], key: str, digits: int) -> str:
    said = f"{name}, epoch {one['epoch']}: {decimal(one[key], digits)}"
    return said + (f" ± {decimal(one[key + '_sd'], digits)}" if one[key + "_sd"] else "")


def _over_epochs(tracks: Sequence[Track], label: str, is_loss: bool) -> Markup:
    """Lines over epochs; losses, all above zero, on a scale of powers."""
    values = [y for track in tracks for _, y, *_ in track.points]
    powers = is_loss and min(values) > 0 and max(values) / min(values) > 10
    last = max(x for track in tracks for x, *_ in track.points)
    if powers:
        up = axis_around([math.log10(value) for value in values], 0.2)
        grid = [(math.log10(tick), f"{tick:g}") for tick in _powers(min(values), max(values))]
    else:
        up = axis_around(values, 1e-3 if is_loss else 5.0)
        grid = [(tick, f"{tick:g}") for tick in ticks_between(up.low, up.high, 4)]
    epochs = [tick for tick in ticks_between(1, last, 6) if tick == round(tick)]
    across = Axis(0.6, max(last, 2) + 0.4)
    return _plane(tracks, label, across, epochs, up, grid, powers=powers)


def _powers(low: float, high: float) -> list[float]:
    """Of 1, 2 and 5 times the powers of ten, those between two ends; powers alone if many."""
    span = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [f * 10.0**power for power in span for f in (1, 2, 5) if low <= f * 10.0**power <= high]
    coarse = [10.0**power for power in span if low <= 10.0**power <= high]
    return coarse if len(fine) > 6 else fine


def describe_calibration_curves(path: Path) -> list[dict[str, Any]]:
    """Confidence against the share that came true, by group; ERM, test cases.

    A figure per attribute and classifier; predictions of all seeds are pooled.
    """
    blocks: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for row in read_csv(path, BINS):
        if (row["objective"], row["split"]) == (BASE, "test") and row["predictions"]:
            own = blocks.setdefault((row["attribute"], row["classifier"]), {})
            own.setdefault(row["group"], []).append(row)
    return [
        {"name": attribute, "classifier": classifier, **_calibration_figure(classifier, groups)}
        for (attribute, classifier), groups in blocks.items()
    ]


def _calibration_figure(
    classifier: str, groups: Mapping[str, Sequence[dict[str, Any]]]
) -> dict[str, Any]:
    groups = {name: own for name, own in groups.items() if name != "all"} or groups
    most = max(row["predictions"] for own in groups.values() for row in own)
    kinds = {name: KINDS[i % len(KINDS)] for i, name in enumerate(groups)}
    marks = {name: list(MARKS)[i % len(MARKS)] for i, name in enumerate(groups)}
    tracks = [
        Track(
            kinds[name],
            [
                (
                    row["confidence"],
                    row["share_right"],
                    f"{name}: confidence {percent(row['confidence'])}, came true "
                    f"{percent(row['share_right'])}, {count(row['predictions'])} predictions",
                    2.5 + 3.5 * math.sqrt(row["predictions"] / most),
                    row["predictions"] >= ENOUGH,
                )
                for row in own
            ],
            marks[name],
        )
        for name, own in groups.items()
    ]
    grid = [(tick, f"{tick:g}") for tick in (0, 0.25, 0.5, 0.75, 1)]
    label = f"Share that came true by confidence: {classifier}, {', '.join(groups)}"
    return {
        "drawing": _plane(
            tracks, label, Axis(0, 1), (0, 0.5, 1), Axis(0, 1), grid, diagonal=True, height=220
        ),
        "legend": [
            {"title": name, "sample": curve_sample(kind, marks[name])}
            for name, kind in kinds.items()
        ],
    }


def _plane(
    tracks: Sequence[Track],
    label: str,
    inner: Axis,
    ticks: Sequence[float],
    up: Axis,
    grid: Sequence[tuple[float, str]],
    *,
    powers: bool = False,
    diagonal: bool = False,
    height: int = 190,
) -> Markup:
    """Tracks over a grid; `grid` says where its lines lie upwards, and what stands beside them."""
    across = beside_numbers(inner)
    svg = _figure(ABOVE + height + BELOW, label, "sweep")
    for value, text in grid:
        y = round(_height(up, value, height), 1)
        _add(svg, "line", "tick", x1=f"{LEFT:.0%}", x2="100%", y1=y, y2=y)
        _text(svg, "0", y + 4, text, "value")
    if diagonal:
        ends = {"y1": _height(up, up.low, height), "y2": _height(up, up.high, height)}
        low, high = across.at(inner.low), across.at(inner.high)
        _add(svg, "line", "threshold", x1=low, x2=high, **ends)
    for track in tracks:
        group = _add(svg, "g", track.kind)
        places = [
            (across.at(x), round(_height(up, math.log10(y) if powers else y, height), 1))
            for x, y, *_ in track.points
        ]
        joined = [place for place, point in zip(places, track.points, strict=True) if point[-1]]
        for (x1, y1), (x2, y2) in pairwise(joined):
            _add(group, "line", "curve", x1=x1, y1=y1, x2=x2, y2=y2)
        for (x, y), (_, _, said, radius, _) in zip(places, track.points, strict=True):
            dot = _add(group, "g")
            _title(dot, said)
            point(dot, track.mark, x, y, radius)
    _ruler(svg, across, ticks, ABOVE + height, signs=False)
    return _draw(svg)
