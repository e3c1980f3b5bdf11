"""Sections: scores of classifiers of legal cases by group, beside the paper, and their figures."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.legal.classifier_study import is_constant
from evenhand.report.figures import WHOLE, axis, estimated, forest, lines, padded, scatter
from evenhand.report.headline import plain, say
from evenhand.report.render import decimal, percent
from evenhand.text.phrases import Titles

Rows = list[dict[str, Any]]

#: The columns of Table 4, and their titles.
MEASURES = {
    "overall": "All cases",
    "mean": "Mean over groups",
    "gd": "Group disparity",
    "worst": "Worst group",
    "selection_rate": "Gap of selection rates",
    "tpr": "Gap of TPR",
    "fpr": "Gap of FPR",
}


def noise_words(row: dict[str, Any]) -> str:
    """Return a row's verdict against random groups in words."""
    if is_constant(row):
        return say("legal_unjudged", row=row)
    return plain("legal_noise", verdict=row["noise_verdict"], from_labels=row["from_labels"])


def describe_table_4(rows: Rows) -> Rows:
    """Return Table 4: per attribute a row per classifier and objective, a column per measure."""
    blocks = []
    for name, attribute_rows in grouped(rows, "attribute").items():
        scored = [row for row in attribute_rows if row["ours"] is not None]
        unlike = {row["reason"] for row in scored if row["verdict"] == "not_comparable"}
        lines = [
            line | {"constant": constant_words(next(iter(line["cells"].values())))}
            for line in by_training(scored)
        ]
        block = {"name": name, "rows": lines, "why_not": sorted(unlike)}
        block["measures"] = [key for key in MEASURES if any(key in x["cells"] for x in lines)]
        block["unmatched"] = [row for row in attribute_rows if row["ours"] is None]
        if scored:
            blocks.append(block)
    return blocks


def by_training(rows: Rows) -> Rows:
    """Return a row per classifier, objective and attribute of training, with cells by measure."""
    names = ("classifier", "objective", "trained_for")
    lines = []
    for key, cells in grouped(rows, *names).items():
        line = dict(zip(names, key, strict=True))
        seeds = max(row["seeds"] or 0 for row in cells)
        lines.append(line | {"seeds": seeds, "cells": {row["measure"]: row for row in cells}})
    return lines


def constant_words(row: dict[str, Any]) -> str | None:
    """Return the words for a classifier that predicts the same labels for every test case."""
    return say("legal_constant", row=row) if row["constant_seeds"] else None


Rows = Sequence[Mapping[str, Any]]

#: The objective that the others are held against.
BASE = "erm"

#: The rows of ``group_scores`` on all test cases, as the mean over seeds.
MEANS = {"split": "test", "convention": "all", "seed": "mean"}

#: A line of calibration runs through bins with at least so many predictions.
ENOUGH = 20


def describe_group_scores(rows: Rows) -> list[dict[str, Any]]:
    """Return macro-F1 (0 to 100) of each group under each objective: test cases, mean over seeds.

    A block per attribute and classifier contains its groups, each with a row per objective, ERM
    first, or one row if it has no score.
    """
    blocks = grouped(where(rows, **MEANS), "attribute", "classifier")
    described = []
    for (attribute, classifier), of_block in blocks.items():
        groups = [
            {"name": group, "cases": runs[0]["cases"], "rows": _score_rows(runs)}
            for group, runs in grouped(of_block, "group").items()
        ]
        described.append({"name": attribute, "classifier": classifier, "groups": groups})
    return described


def _score_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if all(row["score"] is None for row in rows):  # once is enough
        return [rows[0] | {"objective": None}]
    return sorted(rows, key=lambda row: row["objective"] != BASE)


def draw_objectives(
    rows: Rows, title: str, attributes: Mapping[str, str], called: Titles
) -> list[dict[str, Any]]:
    """Draw group disparity against macro-F1 over all cases, per attribute, most points first.

    Parameters
    ----------
    rows : sequence of mapping
        Of the table ``table_4``.
    title : str
        Of the data set.
    attributes : mapping
        The titles of its attributes.
    called : mapping
        The titles of the objectives.

    Returns
    -------
    list of dict
        drawing, caption and spots (different points); an attribute needs two objectives and spots.
    """
    known = (row for row in rows if row["ours"] is not None and row["measure"] in ("overall", "gd"))
    dots: dict[str, Rows] = {}
    for attribute, attribute_rows in grouped(known, "attribute").items():
        drawn = dots[attribute] = []
        for training in by_training(attribute_rows):
            if len(training["cells"]) == 2 and not is_constant(training["cells"]["gd"]):
                x, y = (training["cells"][measure]["ours"] for measure in ("overall", "gd"))
                name = called.heading(training["objective"])
                words = f"{name}, {training['classifier']}: macro-F1 {decimal(x, 1)},"
                words += f" group disparity {decimal(y, 1)}"
                drawn.append({"name": name, "x": x, "y": y, "words": words})
    everywhere = [row for drawn in dots.values() for row in drawn]
    if not everywhere:
        return []
    # the attributes of a data set are drawn on the same scales
    top = max(1.0, *(row["y"] for row in everywhere)) * 1.1
    sides = (
        axis("Macro-F1, all test cases", padded([row["x"] for row in everywhere], 5.0)),
        axis("Group disparity", (0, top), grid=True),
    )
    figures = []
    for attribute, drawn in dots.items():
        series = list(dict.fromkeys(row["name"] for row in drawn))
        spots = {(row["x"], row["y"]) for row in drawn}
        if len(series) < 2 or len(spots) < 2:
            continue
        of = f"{title}, {attributes.get(attribute, attribute)}"
        drawing = scatter(
            drawn, f"{of}: group disparity by macro-F1 of each objective", *sides, series=series
        )
        caption = say("legal_points_caption", of=of)
        figures.append({"drawing": drawing, "caption": caption, "spots": len(spots)})
    return sorted(figures, key=lambda figure: -figure["spots"])


def draw_table_2(rows: Rows, scores: Rows) -> dict[str, Any]:
    """Draw Table 2 of one attribute and classifier: its groups by their share of training cases.

    Parameters
    ----------
    rows : sequence of mapping
        The groups, of the table ``table_2``.
    scores : sequence of mapping
        The rows of ``group_scores.csv``, for intervals and random groups under ERM.

    Returns
    -------
    dict
        drawing, None if no group has a score; without, the groups that have none.
    """
    scores = where(scores, objective=BASE, **MEANS)
    noise = {(row["classifier"], row["attribute"], row["group"]): row for row in scores}
    whole = sum(row["train_cases"] or 0 for row in rows)
    ordered = sorted(rows, key=lambda row: (-(row["train_cases"] or 0), row["group"]))
    scored = [row for row in ordered if row["score"] is not None]
    drawn = [_table_2_row(row, whole, noise) for row in scored]
    line, hollow = plain("legal_interval"), plain("few_cases")
    key = plain("figure_key", line=line, band="groups" if scores else "", hollow=hollow)
    x = axis("Macro-F1, %", (0, 100))
    return {
        "drawing": forest(drawn, x, plain("figure_groups"), key=key) if drawn else None,
        "without": [row["group"] for row in ordered if row["score"] is None],
    }


def _table_2_row(
    row: Mapping[str, Any], whole: int, noise: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> dict[str, Any]:
    noise_row = noise.get((row["classifier"], row["attribute"], row["group"]), {})
    span = (noise_row.get("low"), noise_row.get("high"))
    band = (noise_row.get("noise_low"), noise_row.get("noise_high"))
    share = (row["train_cases"] or 0) / whole if whole else None
    ends = dict(zip(("low", "high", "noise_low", "noise_high"), span + band, strict=True))
    return estimated(
        row["group"],
        (row["score"], *span),
        text=f"{percent(share)} of training: {decimal(row['score'], 1)}",
        words=plain("figure_group", row=row, share=share, **ends),
        kind="unclear" if row["few"] else "plain",
        band=band,
    )


def describe_training(rows: Rows, called: Titles) -> list[dict[str, Any]]:
    """Return development score and training loss by epoch, per classifier and attribute.

    Objectives without groups (attribute ``none``) appear with those of each attribute. A number
    is the mean over the seeds that reached the epoch; lines end where the first seed stopped.
    """
    blocks = []
    for classifier, classifier_rows in grouped(where(rows, seed="mean"), "classifier").items():
        attributes = {
            name: grouped(of_one, "objective")
            for name, of_one in grouped(classifier_rows, "trained_for").items()
        }
        plain = attributes.pop("none", {})
        for attribute, means in list(attributes.items()) or [("", {})]:
            together = sorted((plain | means).items(), key=lambda item: (item[0] != BASE, item[0]))
            blocks.append(_training_block(classifier, attribute, dict(together), called))
    return blocks


def _training_block(
    classifier: str, attribute: str, means: Mapping[str, Sequence[dict[str, Any]]], called: Titles
) -> dict[str, Any]:
    """Return the two drawings and the rows of the table of one classifier and attribute."""
    figures = []
    for key, title, digits in (
        ("macro_f1", "Macro-F1 of the development cases", 1),
        ("loss", "Training loss", 3),
    ):
        rows = [
            {
                "name": called.heading(name),
                "x": epoch["epoch"],
                "y": epoch[key],
                "words": _epoch_words(called[name], epoch, key, digits),
            }
            for name, epochs in means.items()
            for epoch in epochs
            if epoch["seeds"] == epochs[0]["seeds"] and epoch[key] is not None
        ]
        if rows:
            label = f"{title} by epoch: {classifier}"
            sides = _sides(rows, title, is_loss=key == "loss")
            drawing = lines(rows, label, *sides, series=list(map(called.heading, means)))
            figures.append({"title": title, "drawing": drawing})
    last = max((epoch["epoch"] for epochs in means.values() for epoch in epochs), default=0)
    at = {name: {epoch["epoch"]: epoch for epoch in epochs} for name, epochs in means.items()}
    return {
        "name": attribute,
        "classifier": classifier,
        "objectives": list(means),
        "figures": figures,
        "rows": [
            {"epoch": epoch, "cells": [at[name].get(epoch) for name in means]}
            for epoch in range(1, last + 1)
        ],
    }


def _epoch_words(name: str, epoch: Mapping[str, Any], key: str, digits: int) -> str:
    text = f"{name}, epoch {epoch['epoch']}: {decimal(epoch[key], digits)}"
    return text + (f" ± {decimal(epoch[key + '_sd'], digits)}" if epoch[key + "_sd"] else "")


def _sides(
    rows: Sequence[Mapping[str, Any]], title: str, *, is_loss: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axes of epochs and of a score or loss; losses that differ much get a log scale."""
    values = [row["y"] for row in rows]
    log = is_loss and min(values) > 0 and max(values) / min(values) > 10
    if log:
        domain = (min(values) / 1.2, max(values) * 1.2)
    else:
        domain = padded(values, 1e-3) if is_loss else (0, 100)
    ends = (0.6, max(2, *(row["x"] for row in rows)) + 0.4)
    return axis("Epoch", ends, **WHOLE), axis(title, domain, log=log, grid=True)


def describe_calibration_curves(rows: Rows) -> list[dict[str, Any]]:
    """Draw confidence against the observed frequency, by group; ERM, test cases.

    A figure per attribute and classifier; predictions of all seeds are pooled.
    """
    chosen = (row for row in where(rows, objective=BASE, split="test") if row["predictions"])
    return [
        {"name": attribute, "classifier": classifier}
        | _calibration_figure(classifier, grouped(bins, "group"))
        for (attribute, classifier), bins in grouped(chosen, "attribute", "classifier").items()
    ]


def _calibration_figure(
    classifier: str, groups: Mapping[str, Sequence[dict[str, Any]]]
) -> dict[str, Any]:
    groups = {name: bins for name, bins in groups.items() if name != "all"} or groups
    most = max(row["predictions"] for bins in groups.values() for row in bins)
    rows = [
        {
            "name": name,
            "x": row["confidence"],
            "y": row["share_right"],
            "words": plain("figure_calibration_dot", name=name, row=row),
            "weight": row["predictions"] / most,
            "alone": row["predictions"] < ENOUGH,
        }
        for name, bins in groups.items()
        for row in bins
    ]
    label = plain("figure_calibration", classifier=classifier, groups=list(groups))
    sides = axis("Confidence", (0, 1)), axis("Share that came true", (0, 1), grid=True)
    look = {"series": list(groups), "diagonal": True, "height": 240, "widest": 460}
    return {"drawing": lines(rows, label, *sides, **look)}
