"""The headline of individual fairness: decisions that a flip changes, by group, and IIFR's gain."""

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from altair import LayerChart
from markupsafe import Markup

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped, grouped_by, where
from evenhand.individual.names import method_title, title, titles_of, who
from evenhand.individual.results import cell_key, on_usual_split
from evenhand.individual.tables.findings import COLLAPSED, OF_DATA
from evenhand.io.documents import read_description
from evenhand.metrics.inference import ABOVE, EQUIVALENT, INCONCLUSIVE
from evenhand.metrics.paired import adjust
from evenhand.report.figures import axis, estimated, forest
from evenhand.report.headline import Headline, Verdicts, plain, say, strength, tally, with_sources
from evenhand.report.headlines.mitigation import BASELINES, PLAIN, Change, find_changes
from evenhand.report.render import decimal
from evenhand.report.study import Study
from evenhand.report.words import positive_label
from evenhand.tabular.prepared import RECORD
from evenhand.text.catalogue import other_data
from evenhand.text.phrases import CROSS

FOLDER = "tables/individual"
FILES = ("tables/individual", "tabular/*/data.json")

TABLES = ("table_4", "table_6", "table_7", "table_8")

#: The plain network without the attribute: the simplest remedy.
DROPPED = "mlp_without_attribute"

#: The rows of the figure, of each data set.
METHODS = (
    ("mlp", "none"),
    ("mlp", "iifr_cosine"),
    ("mlp", "iifr_counterfactual"),
    (DROPPED, "none"),
)

#: Methods of a data set whose effect is stated.
EFFECTS = 3

#: Groups that a sentence names, and data sets whose groups the short answer names.
GROUPS = 3

#: Above this IFR_b, networks of attributes without an effect have been seen (at most 25 % changed).
SMALL = 65

#: Fewer test people of a group are counted beside its share, and it is not called the lowest.
FEW = 30

#: An interval over two runs that is narrower than this says nothing.
NO_WIDTH = 1e-3

#: Fewer seeds are too few for the verdicts.
SEEDS = 20

Row = dict[str, Any]


def describe(study: Study) -> Headline:
    """Return the headline of individual fairness."""
    folders, data = map(study.paths, FILES)
    documents = [read_description(path, RECORD, "prepare_table") for path in data]
    titles = titles_of(documents)
    tables = study.tables(FOLDER)
    clearest, statements, short, worse = conclude(tables, documents, study.delta)
    alike = _test_labels(tables, documents)
    changing = {
        title(row["dataset"], titles): row["mean"]
        for row in _plain(tables, "table_4")
        if judge(row, _of_all(tables, row["dataset"]), study.delta) == ABOVE
        and not _is_usual(row, alike.get(row["dataset"], {}))
    }
    crossed = {titles[of["name"]] for of in documents if CROSS in (of["attribute_name"] or "")}
    further = _next(tables, titles)
    changes = find_changes([], folders, data, {})
    helps = {row.of: row for row in reversed(changes) if row.credited and row.decisions}
    drops = _without_attribute(tables, documents, changes)
    figure, caption = draw(tables.get("table_4", []), titles)
    left_out = [
        with_sources(row["sentence"], _files("findings"))
        for row in tables.get("findings", [])
        if row["finding"] in OF_DATA
    ]
    return Headline(
        sentence=statements[0] if statements else say("if_nothing"),
        more=[*statements[1:], *([further] if changing and further else [])],
        short=short,
        groups=worse,
        next=say(
            "if_mitigate",
            _files("table_4"),
            datasets=sorted(changing, key=lambda name: (name in crossed, changing[name])),
            most=max(GROUPS, len({*changing} - crossed)),
            helps=helps,
            drops=drops,
        )
        if changing
        else further,
        strength=clearest,
        figure=figure,
        caption=caption,
        figure_files=_files("table_4") if tables else (),
        verdicts=_verdicts(tables),
        against=[row["sentence"] for row in tables.get("findings", []) if _against(row)],
        doubts=[*_doubts(tables), *left_out],
        left_out=left_out,
    )


def _against(row: Row) -> bool:
    """Return whether a finding compares with the paper."""
    if row["finding"].startswith("headline_"):
        return row["finding"] == "headline_cells"
    return row["dataset"] is None


def _files(*tables: str) -> tuple[str, ...]:
    return tuple(f"{FOLDER}/{table}.csv" for table in tables)


def judge(row: Row, people: Row, delta: float) -> str | None:
    """Return whether the share of decisions that a flip changes matters; None without interval.

    A share is never below 0, so it is compared with delta: ``above`` or ``equivalent`` if the
    intervals over seeds and over people lie wholly above or below it, else ``inconclusive``.

    Parameters
    ----------
    row : dict
        IFR_b of ``table_4``.
    people : dict
        The row of ``individuals``; {} if none are kept.
    delta : float
        The smallest share that matters, in %.
    """
    ends = [row["low"], row["high"], people.get("ifr_b_low"), people.get("ifr_b_high")]
    changed = [100 - end for end in ends if end is not None]
    if None in ends[:2]:
        return None
    return ABOVE if min(changed) > delta else EQUIVALENT if max(changed) < delta else INCONCLUSIVE


def _is_usual(row: Row, labels: Mapping[str, Any]) -> bool:
    """Return whether a network of an attribute without an effect may change so many decisions.

    The labels do not differ significantly between the groups (`labels`, see `_test_labels`), and
    such networks have been seen to change this share.
    """
    p = labels.get("p_adjusted")
    return p is not None and p >= ALPHA and row["mean"] is not None and row["mean"] > SMALL


def conclude(
    tables: Mapping[str, list[Row]], documents: Iterable[Mapping[str, Any]], delta: float
) -> tuple[float, list[str], str, str]:
    """Return the strength of the first change of decisions, the sentences and short answers.

    These are on the largest change, and on the group that fares worse in each data set. Of
    significant changes, those of single attributes precede those of intersections.

    Parameters
    ----------
    tables : mapping
        The tables of `tabulate_individual`.
    documents : iterable of dict
        ``data.json`` of each data set.
    delta : float
        See `judge`.
    """
    by_name = {document["name"]: document for document in documents}
    titles = titles_of(by_name.values())
    results = []
    rates = {row["dataset"]: row["mean"] for row in _plain(tables, "table_4", "positive_rate")}
    accuracies = {row["dataset"]: row["mean"] for row in _plain(tables, "table_4", "balanced_acc")}
    alike = _test_labels(tables, by_name.values())
    official = where(tables.get("table_4", []), metric="ifr_b", split="official")
    others = {row["dataset"]: row for row in where(official, method="mlp", individual="none")}
    for row in _plain(tables, "table_4"):
        if row["mean"] is None:
            continue
        document = by_name.get(row["dataset"], {})
        people, rate = _of_all(tables, row["dataset"]), rates.get(row["dataset"])
        verdict = judge(row, people, delta)
        if verdict == ABOVE or rate is None or COLLAPSED <= rate <= 1 - COLLAPSED:
            rate = None  # else everyone gets the same decision
        facts = {"dataset": title(row["dataset"], titles), "row": row, "people": people}
        facts |= {"verdict": verdict if rate is None else INCONCLUSIVE, "delta": delta}
        facts |= {"attribute": document.get("attribute_name"), "rate": rate, "small": SMALL}
        facts["values"] = len(document.get("attribute_values") or ())
        meta = document.get("meta") or {}
        facts |= {"label": positive_label(meta), "implied": meta.get("implied", False)}
        facts["telling"] = (meta.get("revealing") or {}).get("attribute", [])
        facts["other"] = others.get(row["dataset"]) if row["split"] == "random" else None
        accuracy = accuracies.get(row["dataset"])
        groups = _groups(tables, document, accuracy, alike.get(row["dataset"], {}))
        statements, worse = [say("if_decision", _files("table_4"), **facts, accuracy=accuracy)], ""
        if groups:
            files = ("individuals" if groups["predicted"] else "groups", "table_6")
            statements.append(say("if_groups", _files(*files), **groups))
            if groups["predicted"]:
                worse = say("if_who", _files(*files), dataset=facts["dataset"], groups=groups)
        is_clear = facts["verdict"] == ABOVE
        facts["usual"] = is_clear and _is_usual(row, alike.get(row["dataset"], {}))
        size = strength(row["mean"], 100, row["low"], row["high"]) if is_clear else 0.0
        results.append((size, worse, statements, facts))
    # an intersection differs where one of its attributes does, which therefore precedes it
    results.sort(
        key=lambda result: (
            not result[0],
            CROSS in (result[3]["attribute"] or ""),
            result[3]["row"]["mean"] if result[0] else 0,
        )
    )
    sentences = [statement for _, _, statements, _ in results for statement in statements]
    sentences += _effects(tables, by_name.values())
    others = where(tables.get("table_4", []), metric="ifr_b")
    others = [row | {"title": title(row["dataset"], titles), "who": who(row)} for row in others]
    others = [row for row in others if row["mean"] is not None]
    if others and not results:
        sentences.append(say("if_others", _files("table_4"), rows=others))
    # a single data set is named once
    place = f"On {next(iter(titles.values()))}, " if len(titles) == 1 and sentences else ""
    for row in tables.get("findings", []):
        if row["finding"].startswith("headline_") and not _against(row):
            words = row["sentence"].removeprefix(place)
            sentences.append(with_sources(words[:1].upper() + words[1:], _files("findings")))
    size, short = results[0][0] if results else 0.0, ""
    if results:
        further = [facts for clear, *_, facts in results[1:] if clear][: GROUPS - 1]
        short = say("if_short", **results[0][3], further=further)
    worse = list(filter(None, (result[1] for result in results)))
    if (rest := len(worse) - GROUPS) > 0:
        worse[GROUPS:] = [say("if_rest", count=rest)]
    return size, sentences, short, Markup(" ").join(worse)


def _without_attribute(
    tables: Mapping[str, list[Row]],
    documents: Iterable[Mapping[str, Any]],
    changes: Iterable[Change],
) -> dict[str, dict[str, Any]]:
    """Return the results of a network without the attribute, by title of the data set.

    These are the balanced accuracies `before` and `after` without the attribute, its name, the
    `gap` in positive predictions, a change, if it was compared, and the groups of few people.
    """
    titles = titles_of(documents)
    rows = where(tables.get("table_4", []), metric="balanced_acc", individual="none")
    means = {(row["dataset"], row["method"]): row["mean"] for row in on_usual_split(rows)}
    gaps = {
        change.of: change
        for change in changes
        if change.measure == "ddp" and change.method == method_title(DROPPED).removeprefix("the ")
    }
    return {
        title(name, titles): {
            "attribute": document.get("attribute_name"),
            "before": before,
            "after": after,
            "gap": None if _deviates(document) else gaps.get(title(name, titles)),
            "few": _of_few(tables, document, DROPPED),
        }
        for document in documents
        for name in [document["name"]]
        for before, after in [[means.get((name, method)) for method in ("mlp", DROPPED)]]
        if None not in (before, after)
    }


def _effects(tables: Mapping[str, list[Row]], documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """State the effects of methods on the measures that findings name, the clearest of each set.

    A network without the attribute has no decision that a flip changes.
    """
    statements = []
    for document in documents:
        of_dataset = where(tables.get("tests", []), dataset=document["name"])
        rows = where(of_dataset, against=PLAIN)
        by_method = grouped(on_usual_split(rows), "method", "individual", "lambda", "mu")
        tested = []
        for (method, *_), several in by_method.items():
            of = {
                row["metric"]: row | {"on_data": _on_data(row)}
                for row in several
                if None not in (row["mean"], row["against_mean"])
            }
            decisions = None if method == DROPPED else of.get("ifr_b")
            gap = None if _deviates(document) else of.get("ddp")
            if method not in BASELINES and (decisions or gap):
                tested.append((decisions, gap))
        tested.sort(
            key=lambda pair: min(
                1.0 if not row or row["p_adjusted"] is None else row["p_adjusted"] for row in pair
            )
        )
        for decisions, gap in tested[:EFFECTS]:
            row = decisions or gap
            weight = "" if row["individual"] == "none" else f" (λ {row['lambda']:g})"
            facts = {
                "method": who(row).removeprefix("the ") + weight,
                "decisions": decisions,
                "gap": gap,
                "tests": sum(row["p_adjusted"] is not None for row in of_dataset),
            }
            facts["attribute"] = document.get("attribute_name")
            name = title(document["name"], titles_of([document]))
            statements.append(say("if_method", _files("tests"), dataset=name, **facts))
    return statements


def _on_data(row: Row) -> str:
    p = row.get("p_resampled_adjusted")
    return other_data(None if p is None else p < ALPHA)


def _deviates(document: Mapping[str, Any]) -> bool:
    """Return whether dDP is the paper's standard deviation, which no sentence calls a gap."""
    return "gap" in (document.get("meta") or {})


def _plain(tables: Mapping[str, list[Row]], table: str, metric: str = "ifr_b") -> list[Row]:
    """Return the rows of a table on the plain network's decisions (see `on_usual_split`).

    Two runs that agree, as by chance, have no interval: it would have no width.
    """
    plain = where(on_usual_split(tables.get(table, [])), method="mlp", individual="none")
    rows = [row for row in plain if row.get("metric", metric) == metric]
    none = {"low": None, "high": None}
    return [row | none if row.get("seeds") == 2 and _has_no_width(row) else row for row in rows]


def _has_no_width(row: Row) -> bool:
    ends = [row.get(end) for end in ("low", "high")]
    return None not in ends and ends[1] - ends[0] < NO_WIDTH


def _groups(
    tables: Mapping[str, list[Row]],
    document: Mapping[str, Any],
    accuracy: float | None,
    labels: Mapping[str, Any],
) -> dict[str, Any]:
    """Return, by group, the shares of positive labels and predictions and of changed decisions.

    Labels and predictions are of the test individuals, if predictions are kept; else the labels are
    of all. Of more than `GROUPS` groups, those with the least and the largest of each share.
    """
    name = document.get("name")
    shares = _label_shares(tables, name)
    rates = {row["value"]: row["reproduced"] for row in shares}
    stays = {row["group"]: row["mean"] for row in where(_plain(tables, "table_6"), dataset=name)}
    tested = where(_plain(tables, "individuals"), dataset=name)
    tested = {row["group"]: row for row in where(tested, label=None)}
    codes = [
        (code, value)
        for code, value in enumerate(document.get("attribute_values") or [])
        if rates.get(value) is not None and stays.get(code) is not None
    ]
    if len(codes) < 2:
        return {}
    predicted = all(code in tested for code, _ in codes)
    groups = []
    for code, value in codes:
        group = {"name": value, "rate": rates[value], "changed": 1 - stays[code] / 100}
        if predicted:
            every = tested[code]
            group |= {"rate": every["label_rate"], "positive": every["positive_rate"]}
            group |= {"people": every["people"]}
            group["few"] = every["people"] is not None and every["people"] < FEW
        groups.append(group)
    gaps = where(_plain(tables, "table_7", "ddp"), dataset=name)
    labels_p = labels.get("p_adjusted")
    groups.sort(key=itemgetter("rate"))
    named = dict.fromkeys(("rate", "changed", *(["positive"] * predicted)), groups)
    if (number := len(groups)) > GROUPS:
        named = {n: [end(groups, key=itemgetter(n)) for end in (min, max)] for n in named}
    return {
        "label": positive_label(document.get("meta") or {}),
        "attribute": document.get("attribute_name"),
        "named": named,
        "number": number,
        "predicted": predicted,
        "accuracy": accuracy,
        "labels": labels,
        "lowest_in_both": predicted
        and (labels_p is None or labels_p < ALPHA)
        and not groups[0]["few"]
        and groups[0]["positive"] == min(group["positive"] for group in groups)
        and all(
            len({round(group[name], 3) for group in groups}) > 1 for name in ("rate", "positive")
        ),
        "gap": None if _deviates(document) else next(iter(gaps), None),
        "people": _of_all(tables, name),
        "few": _of_few(tables, document),
    }


def _of_few(
    tables: Mapping[str, list[Row]], document: Mapping[str, Any], *further: str
) -> list[Row]:
    """Return the groups with few test people that a gap may come from, the least first.

    In a run or over all runs, they have the highest or lowest share of positive predictions of the
    plain network or of further methods. Of the plain network alone, `runs` has the number of runs
    in which a group is an extreme, and of all, if it is none over all runs.
    """
    rows = where(tables.get("individuals", []), dataset=document["name"], individual="none")
    rows = [row for row in where(on_usual_split(rows), label=None) if row["group"] is not None]
    values = document.get("attribute_values") or []
    few = {}
    for method in ("mlp", *further):
        of_method = where(rows, method=method)
        rates = [row["positive_rate"] for row in of_method]
        for row in of_method:
            at_end = row["positive_rate"] in (min(rates), max(rates))
            if (
                row["people"] is not None
                and row["people"] < FEW
                and (at_end or row["extreme_seeds"])
            ):
                name = values[row["group"]]
                runs = None if at_end or further else (row["extreme_seeds"], row["seeds"])
                few.setdefault(name, {"name": name, "people": row["people"], "runs": runs})
    return sorted(few.values(), key=itemgetter("people"))[:GROUPS]


def _label_shares(tables: Mapping[str, list[Row]], dataset: str | None) -> list[Row]:
    return where(tables.get("groups", []), dataset=dataset, quantity="P(Y=1|A)")


def _test_labels(
    tables: Mapping[str, list[Row]], documents: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Test by data set whether the labels differ between the groups: `p`, `p_adjusted`, `count`.

    The test is adjusted for the `count` attributes and intersections of the same table.
    """

    def table_of(document: Mapping[str, Any]) -> tuple[str, str]:
        meta = document.get("meta") or {}
        return meta.get("table", document["name"]), meta.get("label", "")

    tests: dict[str, dict[str, Any]] = {}
    for several in grouped_by(documents, table_of).values():
        rows = [{"p": _label_p_value(_label_shares(tables, each["name"]))} for each in several]
        adjust(rows, "p", "p_adjusted")
        count = sum(row["p"] is not None for row in rows)
        for document, row in zip(several, rows, strict=True):
            tests[document["name"]] = row | {"count": count}
    return tests


def _label_p_value(groups: Iterable[Row]) -> float | None:
    """Return the p-value of equal shares of positive labels in groups (chi-squared test).

    Of all people of the data, each once; None if they are not counted, or all have one label.
    """
    from scipy.stats import chi2_contingency

    counts = [(each["count"] or 0, each["of"] or 0) for each in groups]
    table = np.array([[positive, people - positive] for positive, people in counts])
    if not len(table) or not table.sum(axis=1).all() or not table.sum(axis=0).all():
        return None
    return float(chi2_contingency(table, correction=False).pvalue)


def _of_all(tables: Mapping[str, list[Row]], dataset: str | None) -> Row:
    """Return the measures of the plain network with intervals over people; {} if none are kept."""
    rows = where(_plain(tables, "individuals"), dataset=dataset)
    every = (row for row in rows if (row["group"], row["label"]) == (None, None))
    return next(every, {})


def _next(tables: Mapping[str, list[Row]], titles: Mapping[str, str]) -> str:
    """State how many further seeds the tests of IFR_p lack, and the test that lacks the fewest."""
    tests = where(tables.get("tests", []), metric="ifr_p", verdict="inconclusive")
    lacking = sorted(
        (row for row in tests if row["further_seeds"]), key=lambda row: row["further_seeds"]
    )
    if not lacking:
        return ""
    row = lacking[0]
    # "none" compares a method with itself without the individual loss
    against = method_title(row["method" if row["against"] == "none" else "against"])
    names = {"method": who(row), "against": against, "dataset": title(row["dataset"], titles)}
    ends = {"least": row["further_seeds"], "most": lacking[-1]["further_seeds"]}
    return say("if_next", _files("tests"), **names, **ends, delta=row["delta"])


def draw(rows: list[Row], titles: Mapping[str, str]) -> tuple[LayerChart | None, str]:
    """Draw IFR_p of the `METHODS`, of ``table_4`` (`on_usual_split`); return the caption too."""
    rows = [
        row
        for row in where(on_usual_split(rows), metric="ifr_p")
        if (row["method"], row["individual"]) in METHODS and row["mean"] is not None
    ]
    if not rows:
        return None, ""
    estimates, datasets = [], {title(row["dataset"], titles) for row in rows}
    for row in rows:
        mean, sd = row["mean"], row["sd"]
        weight = "" if row["individual"] == "none" else f" (λ {row['lambda']:g})"
        prefix = f"{title(row['dataset'], titles)}: " if len(datasets) > 1 else ""
        estimates.append(
            estimated(
                prefix + who(row).removeprefix("the ") + weight,
                (mean, row["low"], row["high"]),
                text=decimal(mean, 1),
                words=say("if_bar", mean=mean, sd=sd),
                band=(None, None) if sd is None else (max(mean - sd, 0.0), min(mean + sd, 100.0)),
            )
        )
    x = axis("IFR_p, % of the people", (0, 100))
    key = plain("figure_key", line=plain("if_interval"), band="runs")
    figure = forest(estimates, x, plain("figure_methods"), key=key)
    return figure, say("if_caption", datasets=datasets)


def _verdicts(tables: Mapping[str, list[Row]]) -> list[Verdicts]:
    groups = [row["verdict"] for row in tables.get("groups", []) if row["quantity"] != "rows"]
    lines = [Verdicts(say("if_table_groups"), tally(groups), files=_files("groups"))]
    seen: set[tuple[Any, ...]] = set()
    for table in TABLES:
        rows, verdicts = tables.get(table, []), []
        for row in rows:
            key = cell_key(row, table)
            if row["verdict"] == "no_published_value" or key not in seen:
                verdicts.append(row["verdict"])
                seen.add(key)
        note = say("if_again", cells=len(rows) - len(verdicts))
        lines.append(Verdicts(say(f"if_{table}"), tally(verdicts), note, _files(table)))
    return [line for line in lines if line.counts]


def _doubts(tables: Mapping[str, list[Row]]) -> list[str]:
    rows = tables.get("table_4", [])
    doubts = []
    seeds = [row["seeds"] for row in rows if row["seeds"]]
    if seeds and min(seeds) < SEEDS:
        doubts.append(say("if_seeds", _files("table_4"), least=min(seeds), needed=SEEDS))
    if diverged := sum(row["diverged"] for row in rows if row["metric"] == "acc"):
        doubts.append(say("if_diverged", _files("table_4"), runs=diverged))
    verdicts = [row["verdict"] for table in TABLES for row in tables.get(table, [])]
    if n := verdicts.count("inconsistent_in_paper"):
        doubts.append(say("if_inconsistent", _files(*TABLES), cells=n))
    return doubts
