"""The findings: facts from the other tables, in sentences.

Each question about a data set is a function that returns facts; the macro of the same name in the
catalogue renders them as a sentence.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import where
from evenhand.core.tables import Row, Table, flag, text
from evenhand.individual.names import DATASETS, method_title, title, who
from evenhand.individual.results import FORM, cell_key, on_usual_split
from evenhand.individual.study import IndividualStudy
from evenhand.individual.tables import (
    grid,
    pareto_fronts,
    table_4,
    table_6,
    table_7,
    table_8,
    tests,
)
from evenhand.tabular.prepared import Prepared
from evenhand.tabular.words import doubtful_words, open_words, spelt_words
from evenhand.text.catalogue import read_catalogue

TABLE = Table(
    "findings",
    title="Findings, in sentences",
    key=("finding", "dataset"),
    columns=(
        text("finding", "headline_…: a first sentence of the page"),
        text("dataset", "Blank: all"),
        flag("holds", "Whether what the finding asks is so; blank: it is no yes or no"),
        text("sentence"),
    ),
)

#: A model with a smaller share of positive predictions predicts one class.
COLLAPSED = 0.01

#: A balanced accuracy below this, in %, is not by chance that of a network that learnt nothing.
BELOW_CHANCE = 40

#: The kinds of headline that questions return, in their order.
HEADLINES = ("blind_fairer", "iifr_fairer", "fewer_positives", "other_gain", "no_gain")

#: The findings on the data, which the console states too, and those that are notes on an audit.
OF_DATA = ("missing_rows", "doubtful_values", "copied_rows", "revealed_label", "revealed_attribute")
OF_DATA += ("below_chance",)
DOUBTS = (*OF_DATA, "diverged_runs", "runs_not_made")

Facts = dict[str, Any]

_say = read_catalogue(__file__, method=method_title)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield headlines, the reproduced share of each table, and the findings of each data set.

    Questions with a missing number have no row.
    """

    def row(finding: str, dataset: str | None, facts: Facts, macro: str = "") -> Row:
        sentence = _say(macro or finding, facts)
        sentence = sentence[:1].upper() + sentence[1:]
        return {"finding": finding, "dataset": dataset, "sentence": sentence} | {
            "holds": facts.get("holds")
        }

    for name, table in ((each, study.people.get(each)) for each in study.datasets):
        named = {"title": title(name, study.titles)}
        facts = table.meta.get("missing") if table else None
        left_out = facts["rows"] - len(table.y) if facts else 0
        if facts and (facts["filled"] or facts.get("grouped") or left_out):
            more = {"left_out": left_out, "attribute": table.attribute_name}
            yield row("missing_rows", name, named | facts | more)
        if table and (words := _doubts(table)):
            yield row("doubtful_values", name, named | {"words": words})
        if table and (copies := table.meta.get("copies")):
            has_test = table.official is not None
            of = int((table.official == "test").sum()) if has_test else len(table.y)
            facts = named | {"count": copies, "of": of, "has_test": has_test}
            yield row("copied_rows", name, facts)
        for kind, features in table.meta.get("revealing", {}).items() if table else ():
            of = table.meta["label"] if kind == "label" else table.attribute_name
            if features:
                yield row(f"revealed_{kind}", name, named | {"features": features, "of": of})
    answers = list(_answers(study))
    for kind in HEADLINES:
        matching = [(name, cell) for _, name, cell in answers if cell.get("headline") == kind]
        if matching:
            names = [title(name, study.titles) for name, _ in matching]
            yield row(
                f"headline_{kind}", None, {"datasets": names, "found": [x for _, x in matching]}
            )
    tables = {
        member.TABLE.name: [cell for cell in member.rows(study) if cell["published"] is not None]
        for member in (table_4, table_6, table_7, table_8)
    }
    verdicts = {name: Counter(cell["verdict"] for cell in cells) for name, cells in tables.items()}
    every = {"all": distinct(tables), **verdicts}
    for name, counts in every.items():
        facts = {"verdicts": counts, "judged": counts["reproduced"] + counts["not_reproduced"]}
        if facts["judged"] and name == "all":
            yield row("headline_cells", None, facts)
        elif facts["judged"]:
            facts["table"] = name.removeprefix("table_")
            yield row(f"reproduced_{name}", None, facts, "reproduced")
    for finding, dataset, facts in answers:
        yield row(finding, dataset, facts)


def _doubts(table: Prepared) -> list[str]:
    """Return sentences on values of a table that may be mistakes."""
    doubtful = table.meta.get("doubtful", {})
    words = [doubtful_words(name, values) for name, values in doubtful.items()]
    if table.meta.get("positive_is_default"):
        words.append(_say("default_label", table.meta["label"]))
    if table.meta.get("is_open"):
        words.append(open_words())
    for kind in ("numbered", "distinct", "shifted", "unseen"):
        words += [_say(kind, name) for name in table.meta.get(kind, ())]
    return words + spelt_words(table.attribute_name, table.attribute_values)


def distinct(tables: dict[str, list[Row]]) -> Counter[str]:
    """Return the verdicts on the paper's cells, each counted once.

    Table 8 repeats rows of Tables 4 and 7: that of the MLP (at a threshold of 1), and that with
    IIFR. The verdict of the first table counts.
    """
    verdicts: dict[tuple[Any, ...], str] = {}
    for name, cells in tables.items():
        for row in cells:
            verdicts.setdefault(cell_key(row, name), row["verdict"])
    return Counter(verdicts.values())


@dataclass(frozen=True)
class Rows:
    """The rows of a data set (see `on_usual_split`), with numbers rounded as in the tables."""

    dataset: str
    table_4: list[Row]
    grid: list[Row]
    fronts: list[Row]
    tests: list[Row]

    def cell(self, method: str, individual: str, metric: str) -> Row | None:
        """Return the first cell of Table 4 with a mean."""
        cells = (row for row in self.table_4 if _is(row, method, individual, metric))
        return next((row for row in cells if row["mean"] is not None), None)

    def test(self, method: str, individual: str, metric: str) -> Row | None:
        """Return the first test against the MLP, with whether it is significant."""
        for row in self.tests:
            named = _is(row, method, individual, metric) and row["against"] == "mlp"
            if named and row.get("difference") is not None:
                p = row["p_adjusted"]
                return row | {"significant": p is not None and p < ALPHA}
        return None

    def tests_of_mlp(self, individual: str, metrics: Iterable[str]) -> dict[str, Row] | None:
        """Return the tests of the MLP with an individual loss by metric, if there are all."""
        tests = {metric: self.test("mlp", individual, metric) for metric in metrics}
        return None if None in tests.values() else tests


def _is(row: Row, *names: str) -> bool:
    return (row["method"], row["individual"], row["metric"]) == names


def _answers(study: IndividualStudy) -> Iterator[tuple[str, str, Facts]]:
    """Yield finding, data set and facts of each question that has an answer."""
    tables = [
        on_usual_split(list(_rounded(member.rows(study))))
        for member in (table_4, grid, pareto_fronts, tests)
    ]
    for dataset in dict.fromkeys(row["dataset"] for row in tables[1]):
        known = Rows(dataset, *(where(rows, dataset=dataset) for rows in tables))
        for finding, question in QUESTIONS.items():
            if facts := question(known):
                yield finding, dataset, facts


def _rounded(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {
            name: float(format(value, FORM)) if isinstance(value, float) else value
            for name, value in row.items()
        }


def blind_network(rows: Rows) -> Facts | None:
    """Compare the MLP without the attribute with IIFR on IIFR's own metric."""
    blind, iifr = (
        SimpleNamespace(
            **{metric: rows.cell(*name, metric) for metric in ("ifr_p", "balanced_acc")}
        )
        for name in (("mlp_without_attribute", "none"), ("mlp", "iifr_cosine"))
    )
    cells = [blind.ifr_p, blind.balanced_acc, iifr.ifr_p, iifr.balanced_acc]
    if None in cells:
        return None
    holds = blind.ifr_p["mean"] >= iifr.ifr_p["mean"]
    cell, other = blind.balanced_acc, iifr.balanced_acc
    ends = [row[end] for row in (cell, other) for end in ("low", "high")]
    return {
        "holds": holds,
        "headline": "blind_fairer" if holds else "iifr_fairer",
        "blind": blind,
        "iifr": iifr,
        "apart": None not in ends and (ends[0] > ends[3] or ends[1] < ends[2]),
    }


def collapse(rows: Rows) -> Facts | None:
    """Test whether IIFR's gain comes with fewer positive predictions."""
    tests = rows.tests_of_mlp("iifr_cosine", ("ifr_p", "positive_rate", "balanced_acc"))
    if not tests:
        return None
    gain, rate = tests["ifr_p"], tests["positive_rate"]
    has_gain = gain["difference"] > 0 and gain["significant"]
    holds = has_gain and rate["difference"] <= 0 and rate["significant"]
    kind = "fewer_positives" if holds else "other_gain" if has_gain else "no_gain"
    return tests | {"holds": holds, "headline": kind}


def one_class(rows: Rows) -> Facts | None:
    """Find the lambda from which the MLP with IIFR predicts one class only."""
    reported = rows.cell("mlp", "iifr_cosine", "positive_rate")
    fixed = ("method", "individual", "epsilon", "epsilon_unit", "reduction", "js_base", "metric")
    sweep = [
        row
        for row in rows.grid
        if reported
        and row["mean"] is not None
        and all(row[name] == reported[name] for name in fixed)
    ]
    if len(sweep) < 2:
        return None
    sweep.sort(key=lambda row: row["lambda"])
    collapsed = [row["lambda"] for row in sweep if row["mean"] < COLLAPSED]
    return {
        "holds": bool(collapsed),
        "collapsed": collapsed,
        "limit": COLLAPSED,
        "weights": [row["lambda"] for row in sweep],
        "least": min(row["mean"] for row in sweep),
        "most": max(row["mean"] for row in sweep),
    }


def counterfactual(rows: Rows) -> Facts | None:
    """Test whether counterfactual pairs increase individual fairness, and its cost."""
    tests = rows.tests_of_mlp("iifr_counterfactual", ("ifr_p", "ifr_b", "acc", "ddp"))
    if not tests:
        return None
    fair = tests["ifr_p"]
    return tests | {"holds": fair["significant"] and fair["difference"] > 0}


def adversaries(rows: Rows) -> Facts | None:
    """Test whether adversarial models have less individual fairness than the MLP."""
    methods = ("alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo")
    tested = [row for method in methods if (row := rows.test(method, "none", "ifr_p"))]
    if not tested:
        return None
    sure = [row for row in tested if row["significant"]]
    lower = [row for row in sure if row["difference"] < 0]
    return {
        "holds": len(lower) == len(tested),
        "mlp": tested[0]["against_mean"],
        "lower": lower,
        "higher": [row for row in sure if row["difference"] > 0],
        "unclear": [row for row in tested if not row["significant"]],
    }


def below_chance(rows: Rows) -> Facts | None:
    """Return the balanced accuracy of the MLP if it is clearly below chance."""
    cell = rows.cell("mlp", "none", "balanced_acc")
    is_below = cell is not None and cell["mean"] < BELOW_CHANCE
    return {"holds": True, "accuracy": cell["mean"]} if is_below else None


def on_front(front: str, measure: str) -> Callable[[Rows], Facts | None]:
    """Return the question for the methods with a setting that no other setting dominates."""

    def question(rows: Rows) -> Facts | None:
        points = [row for row in rows.fronts if row["front"] == front]
        held = Counter(who(row) for row in points if row["on_front"])
        off = sorted({who(row) for row in points} - held.keys())
        # those with most settings first, since a sentence names only some
        names = [f"{name} ({count})" for name, count in held.most_common()]
        facts = {"measure": measure, "held": names, "off": off, "settings": len(points)}
        return facts if points else None

    return question


def noise(rows: Rows) -> Facts | None:
    """Return the standard deviation of IFR_p between single runs of the MLP."""
    cell = rows.cell("mlp", "none", "ifr_p")
    if cell is None or cell["sd"] is None:
        return None
    return {"sd": cell["sd"], "seeds": cell["seeds"], "in_paper": rows.dataset in DATASETS}


def lost_runs(kind: str) -> Callable[[Rows], Facts | None]:
    """Return the question for the number of runs that diverged, or were not possible (empty)."""

    def question(rows: Rows) -> Facts | None:
        settings = [row for row in rows.grid if row["metric"] == "acc"]
        reasons = [reason for row in settings for reason in row["reasons"].split("; ") if reason]
        runs = sum(row["seeds"] + row["diverged"] + row["empty"] for row in settings)
        lost = sum(row[kind] for row in settings)
        facts = {"holds": True, "lost": lost, "runs": runs, "reasons": list(dict.fromkeys(reasons))}
        return facts if lost else None

    return question


#: The questions about each data set.
QUESTIONS: dict[str, Callable[[Rows], Facts | None]] = {
    "without_attribute_beats_iifr": blind_network,
    "gain_with_fewer_positives": collapse,
    "one_class_from_lambda": one_class,
    "counterfactual_pairs": counterfactual,
    "adversaries_less_fair": adversaries,
    "front_ddp": on_front("ddp", "dDP"),
    "front_ifr_p": on_front("ifr_p", "1 − IFR_p"),
    "noise_of_runs": noise,
    "below_chance": below_chance,
    "diverged_runs": lost_runs("diverged"),
    "runs_not_made": lost_runs("empty"),
}
