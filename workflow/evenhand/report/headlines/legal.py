"""The headline of the legal cases: whether classifiers treat groups alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from altair import LayerChart
from markupsafe import Markup

from evenhand.core.decimals import ALPHA, p_rank
from evenhand.core.rows import grouped, grouped_by, where
from evenhand.core.tables import read_table, read_tables
from evenhand.legal.classifier_study import BASE, is_constant
from evenhand.legal.classifier_tables.tests import RATES
from evenhand.legal.groups import LABEL, PLUS
from evenhand.metrics.inference import ABOVE, BELOW, EQUIVALENT, student_reach
from evenhand.metrics.paired import holm
from evenhand.predictions.words import by_chance, explained_gaps
from evenhand.report.figures import SIGNED, axis, estimated, forest
from evenhand.report.headline import (
    NOT_RUN,
    Headline,
    Verdicts,
    plain,
    say,
    strength,
    tally,
    with_sources,
)
from evenhand.report.read import read_json
from evenhand.report.render import signed
from evenhand.report.sections.legal_classifiers import MEANS
from evenhand.report.sections.legal_data import (
    clearest_associations,
    copied_in,
    describe_associations,
)
from evenhand.report.study import Study
from evenhand.tabular.words import empty_bins_words, spelt_words
from evenhand.text.phrases import CROSS

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
    "classifiers": ("table_4", "group_scores", "claims"),
}
VERDICTS = ("sizes", "cross", "table_4", "claims")

#: The verdicts on the macro-F1 of the group that differs most from all others, the clearest first:
#: significant after adjustment for all tests, the same over cases but not over seeds, before it
#: only, no difference that matters, neither with an interval that is mostly of the runs (seeds),
#: neither, not tested (few cases of a class, or few errors), the same prediction for every case.
VERDICTS_ON_GROUPS = (
    *("unfair", "varies", "alone", "fair", "few_runs", "unknown"),
    *("untested", "constant"),
)

#: Those on gaps that are significant over cases.
DIFFERING = ("unfair", "varies", "alone")

#: Gaps that are alike in these are of one training.
TRAINING = ("dataset", "attribute", "metric", "label", "gap", "noise_95", "p_value")

#: Rows of the figure, and gaps of rates that a sentence names.
SHOWN, NAMED = 8, 3

#: A word reveals a label if it is in at least this share of its cases, and in at most so many of
#: the others.
REVEALED, OTHERS = 0.9, 0.1


def describe(study: Study) -> Headline:
    """Return the headline of the legal cases.

    The titles are those of data sets by name, and of attributes by ``data_set/attribute``. Where
    the headline on predictions is on the same page, it names the gaps of rates; here they are
    counted.
    """
    titles = study.titles
    tables, sources = {}, {}
    for kind, names in TABLES.items():
        for table in names:
            folders = study.paths(f"tables/{kind}/*")
            tables[table] = {path.name: read_table(path / f"{table}.csv") for path in folders}
            sources[table] = study.places(f"tables/{kind}/*/{table}.csv")
    lowest = judge(tables["table_4"], tables["group_scores"], titles, tables["cross"])
    rates = [row | titled(row, titles) for row in rate_gaps(study)]
    sure = where(rates, verdict=ABOVE, may_be_chance=False)
    elsewhere = "predictions" in study.systems
    accuracy = accuracy_gap(study, lowest)
    files = (*sources["table_4"], *sources["group_scores"])
    statements = conclude(lowest, files, rates, accuracy, elsewhere=elsewhere)
    statements += without_plain(study)
    if tables["sizes"] and not lowest:
        sizes = [
            (titles.get(name, name), int(row["ours"]))
            for name, rows in tables["sizes"].items()
            for row in where(rows, quantity="cases", item=None)
        ]
        statements.append(say("legal_sizes", sources["sizes"], sizes=sizes))
    short = _short(tables, lowest, titles, rates, accuracy, elsewhere) if lowest else ""
    copied = copied_in(study)
    associations, count = clearest_associations(tables["cross"], titles)
    if associations:
        groups = {row["trained_for"] for rows in tables["group_scores"].values() for row in rows}
        balances = any(LABEL in (names or "").split(PLUS) for names in groups)
        facts = {"rows": associations, "count": count, "balances": balances}
        statements.append(say("legal_associated", sources["cross"], **facts))
        brief = say("legal_associated", sources["cross"], **facts, brief=True)
        short = Markup("<br> ").join([short or statements[0], brief])
    elif short and any(tables["cross"].values()):
        copies: Counter[str] = Counter()
        for rows in tables["sizes"].values():
            for row in where(rows, quantity="near duplicates"):
                copies[row["item"] or ""] += int(row["ours"])
        if not copies["test of train"]:
            clean = say("legal_clean", sources["cross"], copies=copies["exact copies"])
            short = Markup("<br> ").join([short, clean])
    figure, caption = _figure(lowest)
    stated, unfair = where(rates, verdict=ABOVE), where(lowest, judged="unfair")
    # after the counts of gaps in macro-F1 comes the clearest of them
    main = statements[0] if stated else statements[1 + bool(rates)] if unfair else ""
    left_out = [
        *_left_out(study),
        *_without_group(tables["sizes"], sources["sizes"], study),
        *_empty_bins(study),
        *_spelt(tables["cross"], sources["cross"], titles),
        *_revealing(tables["leakage"], sources["leakage"], titles),
    ]
    caveats = copied
    if lowest:  # the page shows the first of all caveats at once
        first = Markup(" ").join([*copied, say("legal_no_use")])
        caveats = [with_sources(first, sources["sizes"] if copied else ()), say("legal_unadjusted")]
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        more=statements[1:],
        significant=statements[-1:] if associations and len(statements) > 1 else (),
        main=main,
        question=plain("question", system="legal_rates" if rates else "texts")
        if rates or not any(tables["group_scores"].values())
        else "",
        figure=figure,
        caption=caption,
        figure_files=sources["group_scores"] if figure else (),
        next=_next(tables, lowest, sources["group_scores"], sure, not elsewhere),
        short=short,
        # that of gaps of rates is of the headline that names them
        strength=max(
            [*map(_clear, unfair), *(() if elsewhere else map(_excess, stated))], default=0
        ),
        verdicts=_verdicts(tables, sources),
        doubts=[*caveats, *left_out],
        left_out=[*copied, *left_out],
    )


def without_plain(study: Study) -> list[str]:
    """Name the classifiers that are trained with other objectives than plain training alone."""
    trained: dict[str, dict[str, None]] = {}
    for folder in study.paths(FILES[2]):
        for row in read_tables(folder).get("table_4", []):
            if row["classifier"]:  # else a published number without a run
                trained.setdefault(row["classifier"], {})[row["objective"]] = None
    alone = {name: [*objectives] for name, objectives in trained.items() if BASE not in objectives}
    audits = filter(None, (read_json(path).get("trained") for path in study.paths(FILES[3])))
    audited = {audit["objective"] for audit in audits}
    others = dict.fromkeys(each for names in alone.values() for each in names)
    facts = {"classifiers": alone, "others": [each for each in others if each not in audited]}
    sources = study.places("tables/classifiers/*/table_4.csv")
    return [say("legal_without_plain", sources, **facts)] if alone else []


def rate_gaps(study: Study) -> Rows:
    """Return the tested gaps of rates between groups under plain training, the clearest first.

    Those that unlike labels may explain are last.
    Rows of the table ``gaps`` of the audits of these predictions, with `dataset` and `classifier`,
    one of each training as in `judge`. Intersections of attributes are left out.
    """
    rows = [
        row for row in plain_gaps(study) if row["metric"] in RATES and row["p_adjusted"] is not None
    ]
    by_training = {tuple(row[name] for name in TRAINING): row for row in reversed(rows)}
    return sorted(
        by_training.values(),
        key=lambda row: (
            row["may_be_chance"],
            row["is_explained"],
            p_rank(row["p_adjusted"]),
            -row["gap"],
        ),
    )


def accuracy_gap(study: Study, lowest: Rows) -> Row | None:
    """Return the largest gap in accuracy where macro-F1 has no test, with the titles of its row.

    `lowest` are the rows of `judge`. None if there is no such gap above 0, or no audit has it.
    """
    names = ("dataset", "classifier", "attribute")
    untested = {tuple(row[name] for name in names): row for row in where(lowest, judged="untested")}
    rows = [
        row | {key: of[key] for key in ("of", "name", "title")}
        for row in where(plain_gaps(study), metric="accuracy")
        if row["gap"] and (of := untested.get(tuple(row[name] for name in names)))
    ]
    return max(rows, key=lambda row: row["gap"], default=None)


def plain_gaps(study: Study) -> Rows:
    """Return the gaps between groups under plain training, of every audit of its predictions.

    Each row has `is_explained`: whether unlike labels of the groups may explain it; and
    `may_be_chance`: whether it is not significant after adjustment for all attributes.
    """
    folders = {path.name: path for path in study.paths(FILES[4])}
    names, tables_of = {}, {}
    for path in study.paths(FILES[3]):
        trained, name = read_json(path).get("trained"), path.parent.name
        if trained and trained["objective"] == BASE:
            names[name] = {key: trained[key] for key in ("dataset", "classifier")}
            names[name]["file"] = f"tables/predictions/{name}/gaps.csv"
            tables_of[name] = read_tables(folders[name])
    rows, chances = [], by_chance(tables_of)
    for name, tables in tables_of.items():
        explained = explained_gaps(tables)
        for row in tables["gaps"]:
            if CROSS not in row["attribute"]:
                facts = {"is_explained": row in explained}
                facts["may_be_chance"] = row["attribute"] in chances[name]
                rows.append(row | names[name] | facts)
    return rows


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
    scores: Mapping[str, Rows],
    titles: Mapping[str, str],
    cross: Mapping[str, Rows],
) -> Rows:
    """Return the gap in macro-F1 under plain training, of each attribute and classifier.

    Parameters
    ----------
    tables, scores : mapping
        ``table_4`` of each data set, and ``group_scores``.
    titles : mapping
        See `describe`.
    cross : mapping
        The table ``cross`` of each data set.

    Returns
    -------
    list of dict
        One of each training, though several classifiers may have it (they differ in what their
        other objectives see). Rows of ``table_4`` (FairLex's lowest score, of whichever group in
        each seed) with the `dataset`, a `title`, `group` (the row of ``group_scores`` of the group
        that differs most from all others; untested of that with the lowest score, None if several
        have it), its p-value over cases (`p_gap`, times the number of groups) and `p_adjusted`,
        its difference in each run (`of_runs`), the number of `tests`, the verdict (`judged`, one of
        `VERDICTS_ON_GROUPS`), the other classifiers of its training (`same`), and `_origin`.
    """
    rows: Rows = []
    trainings: dict[tuple[Any, ...], Row] = {}
    for name, of_set in tables.items():
        for row in where(of_set, objective="erm", measure="worst"):
            if row["ours"] is not None and row["noise_verdict"]:
                same = {key: row[key] for key in ("attribute", "classifier")}
                scored = where(scores.get(name, []), objective=BASE, **same)
                groups = where(scored, **MEANS)
                groups = [group for group in groups if group["score"] is not None]
                row |= {"dataset": name}
                row |= titled(row, titles)
                cells = [(group["group"], group["score"], group["sd"]) for group in groups]
                training = (row["title"], *cells)
                if groups and not is_constant(row) and (first := trainings.get(training)):
                    first["same"].append(row["classifier"])
                    continue
                gap = _gap(groups)
                of_runs = [] if gap["p_gap"] is None else _of_runs(gap["group"], groups, scored)
                rows.append(row | gap | {"of_runs": of_runs, "same": []})
                trainings.setdefault(training, rows[-1])
    tested = [row for row in rows if row["p_gap"] is not None and not is_constant(row)]
    adjusted = holm(np.array([row["p_gap"] for row in tested]))
    for row, p in zip(tested, adjusted.tolist(), strict=True):
        row["p_adjusted"] = p
    rows = [row | {"judged": _verdict(row), "tests": len(tested)} for row in rows]
    return [row | {"origin": _origin(row, rows, cross)} for row in rows]


def _origin(row: Row, rows: Rows, cross: Mapping[str, Rows]) -> Row | None:
    """Return the attribute with a larger gap that the group of a significant gap goes with.

    It is a row of `describe_associations`, with the `name` of the attribute. None without one.
    """
    if row["judged"] not in DIFFERING:
        return None
    same = {key: row[key] for key in ("dataset", "classifier")}
    gaps = {
        other["attribute"]: (abs(other["group"]["difference"]), other["name"])
        for other in where(rows, **same)
        if other["p_gap"] is not None
    }
    cells = where(cross.get(row["dataset"], []), other_group=row["group"]["group"])
    origins = [
        each | {"name": gaps[each["attribute"]][1]}
        for each in describe_associations(cells, row["attribute"])
        if each["attribute"] in gaps and gaps[each["attribute"]] > gaps[row["attribute"]]
    ]
    return max(origins, key=lambda each: gaps[each["attribute"]], default=None)


def _gap(groups: Rows) -> Row:
    """Return the group that differs most from all others, and the p-value of the gap."""
    gap: Row = {"group": None, "p_gap": None, "p_adjusted": None, "is_small": False}
    if tested := [row for row in groups if row["p_cases"] is not None]:
        # of two groups both have the same test; the lower one is named
        most = min(tested, key=lambda row: (p_rank(row["p_cases"]), row["score"]))
        count = 1 if len(groups) == 2 else len(tested)
        small = len(tested) == len(groups) and {row["verdict"] for row in groups} == {EQUIVALENT}
        gap |= {"group": most, "p_gap": min(1.0, count * most["p_cases"]), "is_small": small}
    elif lowest := [row for row in groups if row["score"] == min(g["score"] for g in groups)]:
        gap["group"] = lowest[0] if len(lowest) == 1 else None
    return gap


def _of_runs(group: Row, groups: Rows, scored: Rows) -> list[float]:
    """Return a group's difference from the others in each run (seed).

    The others are weighted by their cases, as in ``group_scores``, of which `scored` are the rows
    of all runs and `groups` their means.
    """
    tested = {row["group"]: row["cases"] for row in groups if row["p_cases"] is not None}
    others = [cases for name, cases in tested.items() if name != group["group"]]
    of_runs = []
    for rows in grouped(where(scored, split="test", convention="all"), "seed").values():
        scores = {row["group"]: row["score"] for row in rows if row["group"] in tested}
        if rows[0]["seed"] != MEANS["seed"] and len(scores) == len(tested):
            score = scores.pop(group["group"])
            of_runs.append(float(score - np.average([*scores.values()], weights=others)))
    return of_runs


def _is_of_runs(row: Row) -> bool:
    """Return whether more than half of the variance of a row's difference is of the runs."""
    group, of_runs = row["group"], row["of_runs"]
    ends = group["difference_low"], group["difference_high"]
    half = max(abs(end - group["difference"]) for end in ends)
    return len(of_runs) > 1 and 2 * student_reach(np.array(of_runs)) ** 2 > half**2


def _verdict(row: dict[str, Any]) -> str:
    """Return the verdict on a gap in macro-F1."""
    if is_constant(row):
        return "constant"
    if row["p_gap"] is None:
        return "untested"
    over_seeds = row["p_gap"] < ALPHA and row["group"]["verdict"] in (ABOVE, BELOW)
    if row["p_gap"] < ALPHA and (over_seeds or row["p_adjusted"] < ALPHA):
        if row["p_adjusted"] >= ALPHA:
            return "alone"
        return "unfair" if over_seeds else "varies"
    return "fair" if row["is_small"] else "few_runs" if _is_of_runs(row) else "unknown"


def conclude(
    lowest: Rows,
    files: Sequence[str] = (),
    rates: Rows = (),
    accuracy: Row | None = None,
    *,
    elsewhere: bool = False,
) -> list[str]:
    """Return the sentences on the rows of `judge`, read from these files.

    A sentence on the rows of `rate_gaps`, with titles, comes first; it counts the gaps where
    another headline names them (`elsewhere`). `accuracy` is `accuracy_gap`.
    """
    if not lowest:
        return []
    unequal = where(rates, verdict=ABOVE)
    sources = [row["file"] for row in rates]
    facts = {"gaps": unequal, "total": len(rates), "most": NAMED, "elsewhere": elsewhere}
    on_rates = say("legal_rates", sources, **facts)
    counts = Counter(row["judged"] for row in lowest)
    counts = {verdict: counts[verdict] for verdict in VERDICTS_ON_GROUPS}
    differing = [row for row in lowest if row["judged"] in DIFFERING]
    total, tests = len(lowest), lowest[0]["tests"]
    below = [row for row in lowest if row["noise_verdict"] == ABOVE]
    return [
        *([on_rates] if rates else []),
        say(
            "legal_found",
            [*files, *([accuracy["file"]] if accuracy else [])],
            total=total,
            tests=tests,
            counts=counts,
            untested=[row["title"] for row in where(lowest, judged="untested")],
            accuracy=accuracy,
            same=sorted({name for row in lowest for name in row["same"]}),
        ),
        *(
            say("legal_gap", [*files, *_cross_file(row, files)], row=row)
            for row in sorted(differing, key=_clear, reverse=True)
        ),
        say("legal_fairlex", files, total=total, below=below),
    ]


def _cross_file(row: Row, files: Sequence[str]) -> list[str]:
    """Return the file of the `origin` of a row, if it has one and sources are named."""
    return [f"tables/cases/{row['dataset']}/cross.csv"] if row["origin"] and files else []


def _clear(row: dict[str, Any]) -> float:
    """Return the `strength` of the difference of the group that differs most."""
    group = row["group"] or {}
    names = ("difference_low", "difference_high")
    difference = group.get("difference")
    return 0.0 if difference is None else strength(difference, 0, *(group[end] for end in names))


def _short(
    tables: Mapping[str, Mapping[str, Rows]],
    lowest: Rows,
    titles: Mapping[str, str],
    rates: Rows,
    accuracy: Row | None,
    elsewhere: bool,
) -> str:
    """Name the gaps of rates, and the attributes by the verdict on their gap in macro-F1.

    Then the data sets that no classifier was trained on. Gaps that another headline names are not
    named again (`elsewhere`).
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
    gaps["elsewhere"] = elsewhere
    facts = {"untrained": untrained, "tests": lowest[0]["tests"], "accuracy": accuracy}
    return say("legal_short", attributes=attributes, **facts, **gaps)


def _next(
    tables: Mapping[str, Mapping[str, Rows]],
    lowest: Rows,
    files: Sequence[str],
    unequal: Rows,
    rates_first: bool,
) -> str:
    """Recommend mitigation of every significant gap, or state where runs or cases are lacking."""
    unfair = sorted(where(lowest, judged="unfair"), key=_clear, reverse=True)
    rates = [(row, "rates") for row in unequal]
    scores = [(row, "macro-F1") for row in unfair]
    if significant := [*(rates if rates_first else ()), *scores, *rates]:
        # the measures of each attribute and classifier, the clearest first
        measures: dict[tuple[str, str], dict[str, None]] = {}
        for row, name in significant:
            measures.setdefault((row["title"], row["classifier"]), {})[name] = None
        uses = grouped_by(measures.items(), lambda use: (use[0][0], frozenset(use[1])))
        return say(
            "legal_mitigate",
            [*(row["file"] for row in unequal), *(files if unfair else ())],
            uses=[
                (title, sorted(names, reverse=True), sorted(name for (_, name), _ in some))
                for (title, names), some in uses.items()
            ],
            mitigated=any(
                other["objective"] != BASE
                for name in {row["dataset"] for row, _ in significant}
                for other in tables["table_4"].get(name, ())
            ),
            most=NAMED,
        )
    if varying := [*where(lowest, judged="varies"), *where(lowest, judged="few_runs")]:
        return say("legal_seeds", files, row=varying[0])
    small = [*where(lowest, judged="unknown"), *where(lowest, judged="untested")]
    if not small:
        return ""
    least = min(small, key=lambda row: (row["smallest_group"] or 0, row["title"]))
    return say("legal_next", files, row=least)


def _figure(lowest: Rows) -> tuple[LayerChart | None, str]:
    # the clearest first; none where every case is predicted alike, or without a test
    order = sorted(
        (row for row in lowest if row["judged"] not in ("constant", "untested")),
        key=lambda row: (VERDICTS_ON_GROUPS.index(row["judged"]), -_clear(row)),
    )
    rows = order[:SHOWN]
    if not rows:
        return None, ""
    names = ("difference", "difference_low", "difference_high")
    numbers = [tuple(row["group"][name] for name in names) for row in rows]
    estimates = [
        estimated(
            f"{row['title']} ({row['classifier']}): {row['group']['group']}",
            ends,
            text=signed(ends[0], 1),
            words=say("legal_bar", row=row),
            kind="more" if row["judged"] == "unfair" else "unclear",
        )
        for row, ends in zip(rows, numbers, strict=True)
    ]
    reach = max(abs(end) for ends in numbers for end in ends)
    x = axis(plain("legal_axis"), (-reach, reach), **SIGNED)
    words = {"line": plain("legal_interval"), "hollow": plain("not_significant")}
    figure = forest(estimates, x, plain("figure_gaps"), key=plain("figure_key", **words), centre=0)
    facts = {"number": len(rows), "gaps": len(order), "left_out": len(lowest) - len(order)}
    return figure, say("legal_caption", **facts)


def _verdicts(
    tables: Mapping[str, Mapping[str, Rows]], sources: Mapping[str, tuple[str, ...]]
) -> list[Verdicts]:
    lines = []
    for table in VERDICTS:
        if counts := tally(row["verdict"] for rows in tables[table].values() for row in rows):
            note = say("legal_not_read") if set(counts) == {NOT_RUN} else ""
            lines.append(Verdicts(say(f"legal_table_{table}"), counts, note, sources[table]))
    return lines


def _left_out(study: Study) -> list[str]:
    """State the records left out, and the cells that cannot be used of those that stay."""
    reasons: Counter[str] = Counter()
    places: dict[str, str] = {}
    noted: dict[tuple[str, str], tuple[int, str]] = {}
    for path in study.paths(COUNTS):
        document = read_json(path)
        reasons.update(document.get("left_out") or {})
        places = document.get("first_left_out", {}) | places
        name = path.parents[1].name
        for reason, number in (document.get("noted") or {}).items():
            key = (study.titles.get(name, name), reason)
            known, first = noted.get(key, (0, document.get("first_noted", {}).get(reason, "")))
            noted[key] = (known + number, first)
    statements, files = [], study.places(COUNTS)
    if records := reasons.total():
        statements.append(
            say(
                "legal_left_out",
                files,
                records=records,
                counts=reasons,
                places=places,
            )
        )
    if noted:
        statements.append(say("legal_noted", files, noted=noted))
    return statements


def _without_group(sizes: Mapping[str, Rows], sources: tuple[str, ...], study: Study) -> list[str]:
    """Count the cases without a known group, by attribute, and those without a known label."""
    groups, labels, titles = [], [], study.titles
    unusable: Counter[tuple[str, str]] = Counter()
    for path in study.paths(COUNTS):
        cases = read_json(path).get("without_group", {}).items()
        unusable.update({(path.parents[1].name, attribute): n for attribute, n in cases})
    for name, rows in sizes.items():
        of = titles.get(name, name)
        for row in where(rows, quantity="group unknown"):
            if int(row["ours"]):
                of_values = unusable[name, row["item"]]
                title = titles.get(f"{name}/{row['item']}", row["item"])
                groups.append((title, of, row, of_values))
        for row in where(rows, quantity="labels known"):
            if unknown := int(row["of"]) - int(row["ours"]):
                labels.append((of, unknown, int(row["of"])))
    groups.sort(key=lambda group: -int(group[2]["ours"]) / int(group[2]["of"]))
    facts = {"attributes": groups, "labels": labels}
    return [say("legal_no_group", sources, **facts)] if groups or labels else []


def _empty_bins(study: Study) -> list[str]:
    """Name the bins of numeric attributes that no case is in."""
    statements, titles = [], study.titles
    for path in study.paths(COUNTS):
        name = path.parents[1].name
        for attribute, bins in (read_json(path).get("empty_bins") or {}).items():
            words = empty_bins_words(titles.get(f"{name}/{attribute}", attribute), bins)
            of = titles.get(name, name)
            statements.append(say("legal_spelt", study.places(COUNTS), of=of, words=words))
    return statements


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
