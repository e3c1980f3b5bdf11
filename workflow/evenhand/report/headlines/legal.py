"""The headline of the legal cases: whether classifiers treat groups alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from altair import LayerChart
from markupsafe import Markup

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table
from evenhand.legal.classifier_study import BASE, is_constant
from evenhand.legal.classifier_tables.tests import RATES
from evenhand.legal.groups import LABEL
from evenhand.metrics.inference import ABOVE
from evenhand.metrics.paired import holm
from evenhand.predictions.words import CROSS
from evenhand.report.figures import axis, estimated, forest
from evenhand.report.headline import NOT_RUN, Headline, Verdicts, plain, say, tally
from evenhand.report.read import read_json
from evenhand.report.render import decimal
from evenhand.report.sections.legal_classifiers import MEANS
from evenhand.report.sections.legal_data import clearest_associations
from evenhand.report.study import Study
from evenhand.tabular.words import spelt_words

Row = dict[str, Any]
Rows = list[Row]

FILES = (
    "legal/*/records/*.counts.json",
    "tables/cases/*",
    "tables/classifiers/*",
    "predictions/*/meta.json",
    "tables/predictions/*",
)
COUNTS = FILES[0]
#: The tables of each kind, and those with verdicts on published values.
TABLES = {
    "cases": ("sizes", "cross", "leakage"),
    "classifiers": ("table_2", "table_4", "group_scores", "claims"),
}
VERDICTS = ("sizes", "cross", "table_4", "claims")

#: A p-value below which a low score is significant.
CHANCE = 0.05

#: The verdicts on the lowest score of a group, the clearest first: lower than random groups of the
#: same sizes after adjustment for all tests, before it only, no lower than random groups with the
#: same labels, no gap that matters, too few cases, the same prediction for every case.
VERDICTS_ON_GROUPS = ("unfair", "alone", "labels", "fair", "unknown", "constant")

#: Rows of the figure, and gaps of rates that a sentence names.
SHOWN, NAMED = 8, 3

#: A word reveals a label if it is in at least this share of its cases, and in at most so many of
#: the others.
REVEALED, OTHERS = 0.9, 0.1


def describe(study: Study) -> Headline:
    """Return the headline of the legal cases.

    The titles are those of data sets by name, and of attributes by ``data_set/attribute``.
    """
    titles = study.titles
    tables, sources = {}, {}
    for kind, names in TABLES.items():
        for table in names:
            folders = study.paths(f"tables/{kind}/*")
            tables[table] = {path.name: read_table(path / f"{table}.csv") for path in folders}
            sources[table] = study.places(f"tables/{kind}/*/{table}.csv")
    lowest = judge(tables["table_4"], tables["table_2"], tables["group_scores"], titles)
    rates = [row | titled(row, titles) for row in rate_gaps(study)]
    statements = conclude(lowest, (*sources["table_4"], *sources["group_scores"]), rates)
    if tables["sizes"] and not lowest:
        sizes = [
            (titles.get(name, name), int(row["ours"]))
            for name, rows in tables["sizes"].items()
            for row in where(rows, quantity="cases", item=None)
        ]
        statements.append(say("legal_sizes", sources["sizes"], sizes=sizes))
    short = _short(tables, lowest, titles, rates) if lowest else ""
    associations, sets = clearest_associations(tables["cross"], titles)
    if associations:
        facts = {"rows": associations, "sets": sets}
        statements.append(say("legal_associated", sources["cross"], **facts))
        brief = say("legal_associated", sources["cross"], **facts, brief=True)
        short = Markup("<br> ").join([short or statements[0], brief])
    figure, caption = _figure(lowest)
    unequal, unfair = where(rates, verdict=ABOVE), where(lowest, judged="unfair")
    # after the counts of lowest scores comes the clearest of them
    main = statements[0] if unequal else statements[1 + bool(rates)] if unfair else ""
    left_out = [
        *_left_out(study),
        *_without_group(tables["sizes"], sources["sizes"], titles),
        *_spelt(tables["cross"], sources["cross"], titles),
        *_revealing(tables["leakage"], sources["leakage"], titles),
    ]
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        more=statements[1:],
        main=main,
        question=plain("question", system="legal_rates") if rates else "",
        figure=figure,
        caption=caption,
        figure_files=sources["table_4"] if figure else (),
        next=_next(lowest, sources["table_4"], unequal),
        short=short,
        strength=max([*map(_clear, unfair), *map(_excess, unequal)], default=0.0),
        verdicts=_verdicts(tables, sources),
        doubts=[*([say("legal_no_use"), say("legal_unadjusted")] if lowest else []), *left_out],
        left_out=left_out,
    )


def rate_gaps(study: Study) -> Rows:
    """Return the tested gaps of rates between groups under plain training, the clearest first.

    Rows of the table ``gaps`` of the audits of these predictions, with `dataset` and `classifier`.
    Intersections of attributes are left out.
    """
    folders = {path.name: path for path in study.paths(FILES[4])}
    rows: Rows = []
    for path in study.paths(FILES[3]):
        trained = read_json(path).get("trained")
        if trained and trained["objective"] == BASE:
            names = {name: trained[name] for name in ("dataset", "classifier")}
            names["file"] = f"tables/predictions/{path.parent.name}/gaps.csv"
            rows += [
                row | names
                for row in read_table(folders[path.parent.name] / "gaps.csv")
                if row["metric"] in RATES
                and row["p_adjusted"] is not None
                and CROSS not in row["attribute"]
            ]
    return sorted(rows, key=lambda row: (row["p_adjusted"], -row["gap"]))


def _excess(row: dict[str, Any]) -> float:
    """Return a gap as a multiple of that of random groups."""
    return row["gap"] / max(row["noise_95"], 1e-9)


def titled(row: dict[str, Any], titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles of a row's data set (`of`), its attribute (`name`), and both (`title`)."""
    name, attribute = row["dataset"], row["attribute"]
    of = titles.get(name, name)
    words = titles.get(f"{name}/{attribute}", attribute.replace("_", " "))
    return {"of": of, "name": words, "title": f"{of}, {words}"}


def judge(
    tables: Mapping[str, Rows],
    groups: Mapping[str, Rows],
    scores: Mapping[str, Rows],
    titles: Mapping[str, str],
) -> Rows:
    """Return the lowest score of a group under plain training, of each attribute and classifier.

    Parameters
    ----------
    tables, groups, scores : mapping
        ``table_4`` of each data set, ``table_2``, which names the groups, and ``group_scores``,
        which has their intervals.
    titles : mapping
        See `describe`.

    Returns
    -------
    list of dict
        Rows of ``table_4`` with the `dataset`, a `title`, `worst` (the group's row of ``table_2``,
        or None), the group's own `score`, `score_low` and `score_high`, the number of `tests`, and
        the verdict (`judged`, one of `VERDICTS_ON_GROUPS`). `ours` is the mean over seeds of the
        lowest score, of whichever group in each seed.
    """
    rows = []
    for name, of_set in tables.items():
        for row in where(of_set, objective="erm", measure="worst"):
            if row["ours"] is not None and row["noise_verdict"]:
                same = {key: row[key] for key in ("attribute", "classifier")}
                worst = where(groups.get(name, []), worst=True, **same)
                row |= {"dataset": name}
                row |= titled(row, titles)
                rows.append(row | _own_score(row, next(iter(worst), None), scores.get(name, [])))
    tested = [row for row in rows if row["p"] is not None and not is_constant(row)]
    adjusted = holm(np.array([row["p"] for row in tested]))
    certain = {id(row) for row, p in zip(tested, adjusted, strict=True) if p < CHANCE}
    return [
        row | {"judged": _verdict(row, certain=id(row) in certain), "tests": len(tested)}
        for row in rows
    ]


def _own_score(row: Row, worst: Row | None, scores: Rows) -> Row:
    """Return the lowest group (`worst`) of a row of ``table_4``, and its score with the interval.

    Without such a group all score the same.
    """
    if worst is None:
        ends = {"score_low": row["low"], "score_high": row["high"]}
        return {"worst": None, "score": row["ours"]} | ends
    same = {key: worst[key] for key in ("attribute", "classifier", "group")}
    ends = next(iter(where(scores, objective=BASE, **same, **MEANS)), {"low": None, "high": None})
    return {
        "worst": worst,
        "score": worst["score"],
        "score_low": ends["low"],
        "score_high": ends["high"],
    }


def _verdict(row: dict[str, Any], *, certain: bool) -> str:
    """Return the verdict on a lowest score that is `certain` if significant after adjustment."""
    if is_constant(row):
        return "constant"
    if row["noise_verdict"] == "above":
        return "labels" if row["from_labels"] else "unfair" if certain else "alone"
    return "unknown" if row["noise_verdict"] == "inconclusive" else "fair"


def conclude(lowest: Rows, files: Sequence[str] = (), rates: Rows = ()) -> list[str]:
    """Return the sentences on the rows of `judge`, read from these files.

    A sentence on the rows of `rate_gaps`, with titles, comes first.
    """
    if not lowest:
        return []
    unequal = where(rates, verdict=ABOVE)
    sources = [row["file"] for row in rates]
    on_rates = say("legal_rates", sources, gaps=unequal, total=len(rates), most=NAMED)
    counts = Counter(row["judged"] for row in lowest)
    counts = {verdict: counts[verdict] for verdict in VERDICTS_ON_GROUPS}
    low = [*where(lowest, judged="unfair"), *where(lowest, judged="alone")]
    total, tests = len(lowest), lowest[0]["tests"]
    return [
        *([on_rates] if rates else []),
        say("legal_found", files, total=total, tests=tests, counts=counts),
        *(say("legal_lowest", files, row=row) for row in sorted(low, key=_clear, reverse=True)),
    ]


def _clear(row: dict[str, Any]) -> float:
    """Return the distance of a score from random groups', as a multiple of that of 95 % of them."""
    mean, border = row["noise_mean"], row["noise_border"]
    if None in (mean, border) or mean <= border:
        return 0.0
    return (mean - row["ours"]) / (mean - border)


def _short(
    tables: Mapping[str, Mapping[str, Rows]], lowest: Rows, titles: Mapping[str, str], rates: Rows
) -> str:
    """Name the gaps of rates, and the attributes by the verdict on their lowest score.

    Then the data sets that no classifier was trained on.
    """
    # an attribute counts by the clearest of its classifiers
    clearest: dict[str, Row] = {}
    for row in sorted(lowest, key=lambda row: VERDICTS_ON_GROUPS.index(row["judged"])):
        clearest.setdefault(row["title"], row)
    attributes = {
        verdict: where(clearest.values(), judged=verdict) for verdict in VERDICTS_ON_GROUPS
    }
    trained = {name for name, rows in tables["table_4"].items() if where(rows, objective="erm")}
    untrained = [titles.get(name, name) for name in tables["sizes"] if name not in trained]
    gaps = {"gaps": where(rates, verdict=ABOVE), "total": len(rates), "most": NAMED}
    facts = {"untrained": untrained, "tests": lowest[0]["tests"]}
    return say("legal_short", attributes=attributes, **facts, **gaps)


def _next(lowest: Rows, files: Sequence[str], unequal: Rows) -> str:
    """Recommend mitigation of the clearest gap, or state where test cases are lacking."""
    if unequal:
        return say("legal_mitigate_rates", [unequal[0]["file"]], row=unequal[0])
    if low := where(lowest, judged="unfair"):
        return say("legal_mitigate", files, row=max(low, key=_clear))
    small = where(lowest, judged="unknown")
    if not small:
        return ""
    least = min(small, key=lambda row: (row["smallest_group"] or 0, row["title"]))
    return say("legal_next", files, row=least)


def _figure(lowest: Rows) -> tuple[LayerChart | None, str]:
    # the clearest first; none where every case is predicted alike
    order = sorted(
        (row for row in lowest if row["judged"] != "constant"),
        key=lambda row: (VERDICTS_ON_GROUPS.index(row["judged"]), -_clear(row)),
    )
    rows = order[:SHOWN]
    if not rows:
        return None, ""
    estimates = [
        estimated(
            f"{row['title']} ({row['classifier']})",
            (row["ours"], row["low"], row["high"]),
            text=decimal(row["ours"], 1),
            words=say("legal_bar", row=row),
            kind="more" if row["judged"] == "unfair" else "unclear",
            band=(row["noise_border"], None if row["noise_border"] is None else 100),
        )
        for row in rows
    ]
    x = axis("Lowest macro-F1 of a group", (0, 100))
    words = {"line": plain("legal_interval"), "hollow": plain("not_significant")}
    key = plain("figure_key", band="lowest", **words)
    figure = forest(estimates, x, plain("figure_lowest"), key=key)
    facts = {"number": len(rows), "scores": len(order), "constant": len(lowest) - len(order)}
    return figure, say("legal_caption", **facts)


def _verdicts(
    tables: Mapping[str, Mapping[str, Rows]], sources: Mapping[str, tuple[str, ...]]
) -> list[Verdicts]:
    lines = []
    for table in VERDICTS:
        verdicts = [row["verdict"] for rows in tables[table].values() for row in rows]
        if table in TABLES["cases"]:  # most of these rows have no published value
            verdicts = [verdict for verdict in verdicts if verdict]
        if counts := tally(verdicts):
            note = say("legal_not_read") if set(counts) == {NOT_RUN} else ""
            lines.append(Verdicts(say(f"legal_table_{table}"), counts, note, sources[table]))
    return lines


def _left_out(study: Study) -> list[str]:
    """State the records left out, and the cells that cannot be used of those that stay."""
    reasons: Counter[str] = Counter()
    noted: dict[tuple[str, str], tuple[int, str]] = {}
    for path in study.paths(COUNTS):
        document = read_json(path)
        reasons.update(document.get("left_out") or {})
        name = path.parents[1].name
        for reason, number in (document.get("noted") or {}).items():
            key = (study.titles.get(name, name), reason)
            known, first = noted.get(key, (0, document.get("first_noted", {}).get(reason, "")))
            noted[key] = (known + number, first)
    statements, files = [], study.places(COUNTS)
    if records := reasons.total():
        statements.append(say("legal_left_out", files, records=records, counts=reasons))
    if noted:
        statements.append(say("legal_noted", files, noted=noted))
    return statements


def _without_group(
    sizes: Mapping[str, Rows], sources: tuple[str, ...], titles: Mapping[str, str]
) -> list[str]:
    """Count the cases without a known group, by attribute, and those without a known label."""
    groups, labels = [], []
    for name, rows in sizes.items():
        of = titles.get(name, name)
        for row in where(rows, quantity="group unknown"):
            if int(row["ours"]):
                groups.append((titles.get(f"{name}/{row['item']}", row["item"]), of, row))
        for row in where(rows, quantity="labels known"):
            if unknown := int(row["of"]) - int(row["ours"]):
                labels.append((of, unknown, int(row["of"])))
    groups.sort(key=lambda group: -int(group[2]["ours"]) / int(group[2]["of"]))
    facts = {"attributes": groups, "labels": labels}
    return [say("legal_no_group", sources, **facts)] if groups or labels else []


def _spelt(
    cross: Mapping[str, Rows], sources: tuple[str, ...], titles: Mapping[str, str]
) -> list[str]:
    """Name the labels and the groups of a data set that look nearly the same."""
    statements = []
    for name, rows in cross.items():
        labels = [row["other_group"] for row in where(rows, other_attribute=LABEL)]
        words = spelt_words(None, dict.fromkeys(labels))
        for attribute, cells in grouped(rows, "attribute").items():
            named = titles.get(f"{name}/{attribute}", attribute.replace("_", " "))
            words += spelt_words(named, dict.fromkeys(row["group"] for row in cells))
        of = titles.get(name, name)
        statements += [say("legal_spelt", sources, of=of, words=each) for each in words]
    return statements


def _revealing(
    leakage: Mapping[str, Rows], sources: tuple[str, ...], titles: Mapping[str, str]
) -> list[str]:
    """Name the labels whose words nearly all texts with them contain, and few others."""
    statements = []
    for name, rows in leakage.items():
        labels = []
        for row in (row for row in rows if row["label"] is not None):
            cases = row["label_with"] + row["label_without"]
            others = row["of_with"] + row["of_without"] - cases
            among_others = (row["of_with"] - row["label_with"]) / max(others, 1)
            if row["label_with"] / cases >= REVEALED and among_others <= OTHERS:
                labels.append(row | {"share": row["label_with"] / cases, "others": among_others})
        if labels:
            facts = {"of": titles.get(name, name), "rows": labels}
            statements.append(say("legal_revealing", sources, **facts))
    return statements
