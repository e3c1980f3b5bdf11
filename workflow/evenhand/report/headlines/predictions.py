"""The headline of predictions that were made elsewhere: gaps between groups."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.rows import grouped_by
from evenhand.core.tables import read_tables
from evenhand.legal.classifier_study import BASE
from evenhand.predictions.words import (
    MOST_FURTHER,
    TITLES,
    by_chance,
    count_significant,
    doubts,
    explained_gaps,
    findings,
    first_by_chance,
    is_constant,
    is_plain,
    named_gap,
    spread,
    tied_doubt,
    with_further,
    worthless,
)
from evenhand.report.figures import Row, axis, estimated, forest
from evenhand.report.headline import Headline, plain, say, strength
from evenhand.report.read import read_json
from evenhand.report.render import decimal, interval
from evenhand.report.study import Study
from evenhand.text.catalogue import borderline, doubt_of
from evenhand.text.phrases import CROSS

FILES = ("predictions/*/meta.json", "tables/predictions/*")


def describe(study: Study) -> Headline:
    """Return the headline of predictions."""
    folders = {path.name: path for path in study.paths("tables/predictions/*")}
    return conclude(
        [
            read_audit(path, folder, study.titles)
            for path in study.paths("predictions/*/meta.json")
            if (folder := folders.get(path.parent.name))
        ]
    )


def read_audit(meta: Path, folder: Path, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return ``meta.json`` of an audit with its tables and their place.

    Where the workflow trained the classifier, attributes have their titles; each row has the name
    of its attribute as its `key`.
    """
    document = read_json(meta)
    dataset = (document.get("trained") or {}).get("dataset")

    def titled(name: str) -> str:
        return CROSS.join(titles.get(f"{dataset}/{part}", part) for part in name.split(CROSS))

    tables = {
        name: [
            row | ({"attribute": titled(key), "key": key} if (key := row.get("attribute")) else {})
            for row in rows
        ]
        for name, rows in read_tables(folder).items()
    }
    for name in {"unknown", "doubtful"} & document.keys():
        document[name] = {titled(key): value for key, value in document[name].items()}
    document["groups"] = list(map(titled, document.get("groups") or []))
    return document | {"tables": tables, "place": f"tables/predictions/{folder.name}"}


def conclude(sets: Sequence[dict[str, Any]], place: str = "the page Predictions") -> Headline:
    """Return the headline of sets: ``meta.json`` of each with its tables and their place.

    `place` is where all findings are, in words. Several classifiers with one training count once.
    """
    same = same_trainings(sets)
    repeated = [say("predictions_same", words=words) for words in same.values()]
    sets = [document for document in sets if document["name"] not in same]
    order, chances = sorted(sets, key=_order), by_chance_in(sets)
    lines = [
        (
            document,
            say("predictions_line", _files(document), title=_subject(document, sets), words=words),
        )
        for document in order
        for words in findings(
            document["tables"], document["delta"], document, chances[document["name"]]
        )
    ]
    if not lines:
        question = plain("question", system="predictions")
        return Headline(sentence=say("predictions_nothing"), question=question)
    # all attributes of plain classifiers precede the first of mitigated ones
    lines = sorted(
        spread(lines, lambda line: line[0]["name"]), key=lambda line: _is_mitigated(line[0])
    )
    lines = spread(lines, lambda line: _dataset(line[0]))
    first, further = with_further([words for _, words in lines], place)
    others = len({*map(_dataset, sets)}) - 1
    kinds = grouped_by(order, lambda document: "preferences" in document["tables"])
    shorts = {
        "logs" if are_logs else "predictions": _short(
            part, sets, Counter(_is_mitigated(each) for each, _ in lines if each in part)
        )
        for are_logs, part in sorted(kinds.items())
    }
    kind, figure = next(iter(shorts)), draw(order[0])
    left_out = [
        say("predictions_left_out", [f"{document['place']}/left_out.csv"], document=document)
        for document in sets
        if document["left_out"]
    ]
    return Headline(
        sentence=first,
        short=say("predictions_both", **shorts) if len(shorts) > 1 else shorts[kind],
        question=plain("question", system="both" if len(shorts) > 1 else kind),
        more=further,
        of_others=further[: min(others, MOST_FURTHER)],
        figure=figure,
        caption=_caption(order[0]) if figure else "",
        figure_files=_files(order[0]),
        strength=_clear(order[0]),
        doubts=[*left_out, *repeated, *_doubts(sets)],
        left_out=left_out,
    )


def same_trainings(sets: Iterable[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return the title of each set whose training another one has, and that of the first, by name.

    Classifiers may differ only in groups that an objective does not use. Constant ones are apart.
    """

    def numbers(document: dict[str, Any]) -> Hashable:
        trained = document.get("trained") or {}
        names = ("attribute", "group", "metric", "label", "cases", "value", "low", "high")
        cells = [tuple(row[name] for name in names) for row in document["tables"].get("groups", [])]
        if not cells or "objective" not in trained or is_constant(document):
            return document["name"]
        return trained["dataset"], trained["objective"], *cells

    return {
        other["name"]: (other["title"], first["title"])
        for first, *others in grouped_by(sets, numbers).values()
        for other in others
    }


def _short(
    order: Sequence[dict[str, Any]], sets: Sequence[dict[str, Any]], lines: Mapping[bool, int]
) -> str:
    """Return the clearest finding in few words, or that none is significant or can be tested.

    `order` are some of the `sets`; `lines` counts their findings, by whether they are of mitigated
    classifiers.
    """
    document = order[0]
    tables = document["tables"]
    constant = is_constant(document)
    gap = None if constant else named_gap(tables)
    chances = by_chance_in(sets)
    chance = first_by_chance(tables, chances[document["name"]]) if gap else None
    rows = filter(_is_clear, tables.get("preferences", []))
    rows = [row | {"doubt": _doubt(row)} for row in rows]
    preference = min(rows, key=lambda row: (row["doubt"], -abs(row["score"] - 50)), default=None)
    # the other findings, and how many of them are significant, by whether they are mitigated
    further = {
        kind: [
            lines.get(kind, 0),
            sum(
                count_significant(each["tables"], chances[each["name"]])
                for each in order
                if _is_mitigated(each) == kind
            ),
        ]
        for kind in (False, True)
    }
    further[_is_mitigated(document)][0] -= 1
    further[_is_mitigated(document)][1] -= bool(preference or (gap and not chance))
    return say(
        "predictions_short",
        _files(document),
        title=_subject(document, sets),
        gap=gap if gap and gap["verdict"] == "above" else None,
        is_explained=gap in explained_gaps(tables),
        metric=drawn_title(tables),
        preference=preference,
        doubt=preference["doubt"]
        if preference
        else plain("predictions_majority")
        if worthless(document, tables)
        else tied_doubt(document, tables)
        or (plain("predictions_of_many", **chance) if chance else ""),
        calibration=gap,
        constant=constant,
        further=further[False],
        mitigated=further[True],
        is_trained=all("trained" in each for each in order),
        is_plain=is_plain(document),
        is_tested=any(
            row["p_adjusted"] is not None
            for each in order
            for table in ("gaps", "preferences")
            for row in each["tables"].get(table, [])
        ),
    )


def by_chance_in(sets: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return `by_chance` of sets of predictions; mitigated classifiers are apart from others."""
    parts = grouped_by(sets, _is_mitigated).values()
    chances = [by_chance({each["name"]: each["tables"] for each in part}) for part in parts]
    return {name: of_set for some in chances for name, of_set in some.items()}


def _caption(document: dict[str, Any]) -> str:
    tables = document["tables"]
    metric = None if "preferences" in tables else drawn_title(tables)
    return say("predictions_caption", title=document["title"], metric=metric)


def _doubts(sets: Sequence[dict[str, Any]]) -> list[str]:
    return [
        say("predictions_line", _files(document), title=_subject(document, sets), words=words)
        for document in sets
        for words in doubts(document, document["tables"])
    ]


def _subject(document: dict[str, Any], sets: Sequence[dict[str, Any]]) -> str:
    """Return the title that lines begin with; blank for the only set, if it is from elsewhere."""
    return document["title"] if len(sets) > 1 or "trained" in document else ""


def _dataset(document: dict[str, Any]) -> str:
    """Return the data set that a classifier was trained on, else the name of the predictions."""
    return (document.get("trained") or {}).get("dataset", document["name"])


def _files(document: dict[str, Any]) -> list[str]:
    tables = ("preferences",) if "preferences" in document["tables"] else ("gaps", "groups")
    return [f"{document['place']}/{table}.csv" for table in tables]


def _order(document: dict[str, Any]) -> tuple[float, ...]:
    """Return the sort key of sets: plain before mitigated ones, then those with a finding first.

    A classifier that is no better than the most frequent label follows others with a finding, and
    so does one whose first gap labels may explain.
    """
    tables, clear = document["tables"], _clear(document)
    is_explained = named_gap(tables) in explained_gaps(tables)
    doubts = _worthless(document), is_explained
    is_aside = _is_mitigated(document) or is_constant(document)
    return is_aside, clear == 0, *doubts, -clear


def _worthless(document: dict[str, Any]) -> int:
    """Return 2 for constant predictions, 1 for a classifier at the majority's share, else 0."""
    return 2 if is_constant(document) else len(worthless(document, document["tables"]))


def _is_mitigated(document: dict[str, Any]) -> bool:
    """Return whether a classifier was trained by another objective than plain training."""
    return (document.get("trained") or {}).get("objective", BASE) != BASE


def _clear(document: dict[str, Any]) -> float:
    """Return the clearest gap or calibration error in multiples of random groups'.

    Of logs the largest `strength` of a preference. Zero without a significant one, and if all
    predictions are alike. Gaps that labels may explain count if the first one is among them.
    """
    if is_constant(document):
        return 0.0
    explained = explained_gaps(document["tables"])
    left_out = [] if named_gap(document["tables"]) in explained else explained
    gaps = [
        row["gap"] / max(row["noise_95"], 1e-9)
        for row in document["tables"].get("gaps", [])
        if row["verdict"] == "above" and row not in left_out
    ]
    gaps += [
        row["value"] / max(row["noise_high"], 1e-9)
        for row in document["tables"].get("groups", [])
        if row["metric"] == "ece" and row["verdict"] == "above"
    ]
    rows = [row for row in document["tables"].get("preferences", []) if _is_clear(row)]
    rows = [row for row in rows if not _doubt(row)] or rows
    preferences = [strength(row["score"], 50, row["score_low"], row["score_high"]) for row in rows]
    return max([*gaps, *preferences], default=0.0)


def _is_clear(row: dict[str, Any]) -> bool:
    return row["verdict"] in ("above", "below")


def _doubt(row: dict[str, Any]) -> str:
    """Return why a significant preference may not hold; blank if nothing shows that."""
    return doubt_of(row) or borderline(row)


def draw(document: dict[str, Any]) -> LayerChart | None:
    """Draw the preferences of logs, or the metric of `drawn` of each group, with noise."""
    rows, tables = [], document["tables"]
    metric, of_label = drawn(tables)
    for row in tables.get("preferences", []):
        if row["score"] is not None:
            name = " ".join(filter(None, (row["task"], row["condition"], row["bias_type"])))
            numbers = [row["score"], row["score_low"], row["score_high"]]
            rows.append(_estimate(name, numbers, row["verdict"]))
    for row in tables.get("groups", []):
        single = row["attribute"] in document["groups"]
        is_drawn = (row["metric"], row["label"]) == (metric, of_label)
        if single and is_drawn and row["value"] is not None:
            names = ("value", "low", "high", "noise_low", "noise_high")
            shares = [None if row[name] is None else 100 * row[name] for name in names]
            rows.append(_estimate(f"{row['attribute']}: {row['group']}", shares, row["verdict"]))
    if not rows:
        return None
    is_log = "preferences" in tables
    title = drawn_title(tables)
    unit = axis("For the stereotype, %" if is_log else f"{title}, %", (0, 100))
    label = "Preferences of each task" if is_log else f"{title} of each group"
    words = {
        "line": plain("predictions_interval", is_log=is_log),
        "hollow": plain("not_significant"),
    }
    key = plain("figure_key", **words, band="" if is_log else "groups")
    return forest(rows, unit, label, key=key, centre=50.0 if is_log else None)


def drawn(tables: dict[str, Any]) -> tuple[str, str | None]:
    """Return the metric that the first finding names, and its label; else the accuracy."""
    row = named_gap(tables)
    return (row["metric"], row["label"]) if row else ("accuracy", None)


def drawn_title(tables: dict[str, Any]) -> str:
    """Return the metric of `drawn` in words, with its label if there are several."""
    metric, label = drawn(tables)
    labels = {row["label"] for row in tables.get("gaps", [])} - {None}
    return TITLES[metric] + (f" of {label}" if label and len(labels) > 1 else "")


def _estimate(name: str, numbers: list[float | None], verdict: str | None) -> Row:
    """Return a row of `forest` of a value, the ends of its interval, and of the band."""
    value, low, high, *band = numbers
    span = interval(low, high)
    words = f"{decimal(value, 1)} %" + (f" ({span})" if span else "")
    ends = (value, low, high)
    kind = "plain" if verdict in ("above", "below") else "unclear"
    band = tuple(band) or (None, None)
    return estimated(name, ends, text=decimal(value, 1), words=words, kind=kind, band=band)
