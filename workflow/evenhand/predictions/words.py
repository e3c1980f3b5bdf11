"""The findings of an audit of predictions, in sentences."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evenhand.core.decimals import ALPHA, p_rank
from evenhand.core.phrases import phrases_of
from evenhand.core.rows import where
from evenhand.metrics.inference import LEAST_EFFECTIVE
from evenhand.metrics.paired import holm
from evenhand.stereotypes.pairs import EXCLUSIONS, FLAGS
from evenhand.tabular.words import doubtful_words, empty_bins_words, open_words, spelt_words
from evenhand.text.catalogue import borderline, conclusion, doubt_of, read_catalogue, reason
from evenhand.text.phrases import CROSS, plural

Tables = Mapping[str, list[dict[str, Any]]]
#: By attribute, why its findings may be chance: `by_chance` of one set of predictions.
Chance = Mapping[str, dict[str, Any]]
Item = TypeVar("Item")

#: Findings beside the first that the screen and the first page have.
MOST_FURTHER = 5

#: In place of the verdict on a preference that is significant before adjustment only.
UNADJUSTED = "unadjusted"

#: A larger share of pairs with equal log-likelihoods is noted.
MOST_TIES = 0.02

#: Groups named beside the one that differs most, and bias types that cannot be tested.
MOST_GROUPS = 3

#: From this share of cases on whose largest probabilities tie, a gap may come from the rule.
MANY_TIED = 0.05

#: From this inflation of the variance on, pairs count clearly less than independent ones.
INFLATED = 1.25

#: If a larger share of rows is left out, findings are in doubt.
MANY_LEFT_OUT = 0.2

#: From this share of pairs on that contradict the numbers of their log, findings are in doubt.
MANY_CONTRADICTED = 0.1

#: A smaller change of probabilities, rounded to tenths of a point, is 0.
LEAST_CHANGE = 0.0005

#: Shares in the tables are rounded to less than this.
ROUNDED = 1e-5

#: What identifies a metric in the tables.
METRIC = ("attribute", "metric", "label")

#: The attribute and the group of all cases.
ALL = "all"

#: The metrics in words.
TITLES = {
    "accuracy": "Accuracy",
    "selection_rate": "Selection rate",
    "tpr": "True positive rate",
    "fpr": "False positive rate",
    "macro_f1": "Macro-F1",
    "ece": "Calibration error",
    "equalised_odds": "Equalised odds",
}

#: Numbers of counterfactual rows in words.
MEASURES = phrases_of(__file__)["measures"]

#: Metrics that summarise the errors that other metrics have too.
SUMMARIES = ("macro_f1", "ece")


#: Why a row of predictions, or a sample of a log, is left out.
REASONS = phrases_of(__file__)["reasons"]

#: These, and those of pairs and of rows of people.
EVERY_REASON = REASONS | EXCLUSIONS | phrases_of(__file__)["others"]

_say = read_catalogue(__file__)


def by_chance(sets: Mapping[str, Tables]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return, by set, the attributes none of whose gaps is significant among all attributes.

    Gaps are adjusted for the metrics of their attribute, so that of many attributes some have a
    significant gap by chance. Here the least p-value of each attribute is adjusted for all
    attributes of all sets (Holm). Each has this p-value (`p`), of how many it is (`count`), and
    whether they are of several sets.
    """
    p_values: dict[tuple[str, str], float] = {}
    for name, tables in sets.items():
        for row in tables.get("gaps", []):
            if row["p_adjusted"] is not None:
                key = name, row["attribute"]
                p_values[key] = min(row["p_adjusted"], p_values.get(key, 1.0))
    adjusted = holm(np.array([*p_values.values()])).tolist() if p_values else []
    facts = {"count": len(p_values), "several": len({name for name, _ in p_values}) > 1}
    chances: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in sets}
    for (name, attribute), p in zip(p_values, adjusted, strict=True):
        if p >= ALPHA:
            chances[name][attribute] = facts | {"p": p}
    return chances


def findings(
    tables: Tables,
    delta: float,
    description: Mapping[str, Any] | None = None,
    chance: Chance | None = None,
) -> list[str]:
    """Return a sentence for each significant gap, or each verdict on logs, the clearest first.

    The clearest of each attribute, or task, precede the others, so that none hides another.
    The sentence on a gap names the group that differs most significantly from all others. Of logs,
    each task has one, and each bias type that is significant after adjustment. Those on
    counterfactual rows are first where significantly more than `delta` of these change, or no gap
    is significant, and else follow the clearest gap. The first one ends with a warning if the
    predictions are constant, no better than the most frequent class, or reversed, or if
    `tied_doubt` has one.

    Parameters
    ----------
    tables : mapping
        The rows of the tables of `evenhand.predictions.audit_predictions`, by name.
    delta : float
        The smallest difference that matters, in percentage points.
    description : mapping, optional
        Its description (``meta``).
    chance : mapping, optional
        Of `by_chance`; by default that of these tables alone.
    """
    if chance is None:
        chance = by_chance({"": tables})[""]
    logs = [row for row in tables.get("preferences", []) if _is_whole(row) or _is_significant(row)]
    logs.sort(key=_unclear)
    significant = spread(filter(_is_significant, logs), _part)
    logs = [*significant, *(row for row in logs if not _is_significant(row))]
    untestable = [row for row in tables.get("preferences", []) if _is_untestable(row, delta)]
    others = [_preference(row, delta, significant, untestable) for row in logs] or _gaps(
        tables, delta, description or {}, chance
    )
    changed = sorted(tables.get("counterfactuals", ()), key=lambda row: -row["rows"])
    has_gap = any(
        not finding.is_echo
        and finding.gap["verdict"] == "above"
        and not _may_be_chance(finding, chance)
        for finding in _significant(tables)
    )
    follow = has_gap and not any(_changes_many(row, delta) for row in changed)
    flips = [
        _say(
            "counterfactuals",
            row=row,
            changes=_clear_changes(row["attribute"], tables),
            tested=where(tables.get("counterfactual_values", ()), attribute=row["attribute"]),
        )
        for row in changed
    ]
    others[follow:follow] = flips
    return [" ".join([others[0], *warnings(description or {}, tables)]), *others[1:]]


def warnings(description: Mapping[str, Any], tables: Tables) -> list[str]:
    """Return why no finding may hold: constant or reversed predictions, ties, an edited log.

    The arguments are those of `findings`.
    """
    words = [*worthless(description, tables), *reversed_words(description)]
    if not is_constant(description) and (doubt := tied_doubt(description, tables)):
        words.append(f"{doubt}.")
    lost, total = description.get("left_out", 0), description.get("rows", 0)
    if isinstance(lost, int) and lost > MANY_LEFT_OUT * total > 0:
        words.append(_say("many_left_out", count=lost, total=total))
    return words + _contradicted(description, are_many=True)


def _changes_many(row: Mapping[str, Any], delta: float) -> bool:
    """Whether significantly more than delta of the counterfactual rows change."""
    highs = (row[f"{name}_high"] for name in ("ifr_b", "ifr_p"))
    return any(high is not None and high < 100 - delta for high in highs)


def _clear_changes(attribute: str, tables: Tables) -> list[dict[str, Any]]:
    """Return the significant changes by counterfactual value, at most two, the clearest first.

    The clearest has the interval that is farthest from 0.
    """
    clear = []
    for row in where(tables.get("counterfactual_values", ()), attribute=attribute):
        low, high = row["signed_change_low"], row["signed_change_high"]
        is_known = low is not None and low * high > 0 and row["p_adjusted"] < ALPHA
        if is_known and abs(row["signed_change"]) >= LEAST_CHANGE:
            clear.append((min(abs(low), abs(high)), row))
    return [row for _, row in sorted(clear, key=lambda pair: -pair[0])[:2]]


def _contradicted(description: Mapping[str, Any], are_many: bool) -> list[str]:
    """Name the tasks of which many pairs, or else few, contradict the log's own numbers."""
    return [
        _say("contradicted", task=task, count=count, of=of, first=first)
        for task, (count, of, first) in description.get("contradicted", {}).items()
        if (count > MANY_CONTRADICTED * of) == are_many
    ]


def reversed_words(description: Mapping[str, Any]) -> list[str]:
    """Return the warning of scores that rank labels below the others, if any do."""
    aucs = description.get("auc_reversed")
    return [_say("reversed", aucs=aucs)] if aucs else []


def is_constant(description: Mapping[str, Any]) -> bool:
    """Whether all predictions of a run are alike."""
    return description.get("uniform") == "same"


def is_plain(description: Mapping[str, Any]) -> bool:
    """Whether a run is of a classifier of plain training of the workflow."""
    return (description.get("trained") or {}).get("objective") == "erm"


def _at_majority(description: Mapping[str, Any], tables: Tables) -> list[str]:
    """State that the accuracy is not above the share of the most frequent class, if so."""
    majority = description.get("majority")
    return [
        _say("majority", row=row, majority=majority)
        for row in where(tables.get("groups", ()), attribute=ALL, metric="accuracy")
        if None not in (majority, row["low"]) and row["low"] <= majority
    ]


def worthless(description: Mapping[str, Any], tables: Tables) -> list[str]:
    """Warn of constant predictions, or of a trained classifier at the most frequent class."""
    if is_constant(description):
        scores = [row["confidence"] for row in tables.get("calibration", ())]
        is_scored = bool(scores) and max(scores) - min(scores) < ROUNDED
        return [_say("constant", is_scored=is_scored)]
    return _at_majority(description, tables) if "trained" in description else []


def tied_doubt(description: Mapping[str, Any], tables: Tables) -> str:
    """Return why the first gap may not hold, without a full stop: probabilities that tie.

    They do in many cases of the group that its finding is on. Blank if nothing shows that.
    """
    tied = _most_tied(description, tables)
    is_on = bool(tied) and tied[0]["is_named"]
    return _say("tied_doubt", row=tied[0]["row"], count=tied[0]["count"]) if is_on else ""


def _most_tied(description: Mapping[str, Any], tables: Tables) -> list[dict[str, Any]]:
    """Return the groups of the first gap's attribute of which many cases tie, with their counts.

    Those that the finding is on are first, then those with the largest share.
    """
    findings, counts = _significant(tables), description.get("tied")
    if not counts or not findings or findings[0].gap["metric"] == "ece":
        return []
    gap, group, *_ = findings[0]
    is_one = group is not None and gap["groups"] > 2
    named = {group["group"]} if is_one else {gap["lowest_group"], gap["highest_group"]}
    of_groups = counts[gap["attribute"]]
    rows = where(tables["groups"], metric="accuracy", attribute=gap["attribute"])
    tied = [
        {"row": row, "count": of_groups[row["group"]], "is_named": row["group"] in named}
        for row in rows
        if of_groups[row["group"]] >= MANY_TIED * row["cases"]
    ]
    return sorted(
        tied, key=lambda group: (not group["is_named"], -group["count"] / group["row"]["cases"])
    )


def spread(items: Iterable[Item], subject: Callable[[Item], Any]) -> list[Item]:
    """Return the items with the first of each subject before the second of any, else in order."""
    seen: Counter[Any] = Counter()
    ranked = []
    for item in items:
        ranked.append((seen[subject(item)], item))
        seen[subject(item)] += 1
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]


def with_further(sentences: Sequence[str], place: str) -> tuple[str, list[str]]:
    """Return the first finding, and up to `MOST_FURTHER` others with the count of the rest."""
    first, *others = sentences
    rest = len(others) - MOST_FURTHER
    more = [_say("further", count=rest, place=place)] if rest > 0 else []
    return first, [*others[:MOST_FURTHER], *more]


def notes(description: Mapping[str, Any], tables: Tables, left_out: str) -> list[str]:
    """Return sentences on rows that are left out, guesses, and `doubts`.

    Parameters
    ----------
    description : mapping
        The description of `evenhand.predictions.audit_predictions` (``meta``).
    tables : mapping
        The rows of its tables, by name.
    left_out : str
        Where the rows are that are left out; blank if the reader has no such file.
    """
    sentences = []
    # `doubts` has a sentence on each sample that is cut off
    if rows := [row for row in tables["left_out"] if row["reason"] != "cut_off"]:
        noun = "sample" if description.get("format") == "lm_eval" else "row"
        firsts = {row["reason"]: row["detail"] for row in reversed(rows) if noun == "sample"}
        reasons = Counter(row["reason"] for row in rows)
        words = left_out_words(reasons, description["rows"], noun, firsts)
        sentences.append(_say("left_out_in", words=words, file=left_out))
    if name := description.get("references"):
        sentences.append(_say("references", name=name))
    for name, count in description["unknown"].items():
        if count:
            sentences.append(_say("unknown", count=count, name=name))
    if description.get("positive_is_default"):
        sentences.append(_say("default_positive", label=description["positive"]))
    if description.get("is_coded"):
        sentences.append(_say("coded", label=description["positive"]))
    if count := description.get("rescaled"):
        sentences.append(_say("rescaled", count=count, rows=description["rows"]))
    sentences += doubts(description, tables)
    if of := _of_calibration(description):
        sentences.append(_say("calibrated", of=of))
    if "fpr" not in description.get("metrics", ["fpr"]):  # logs have no metrics
        recalled = {row["label"] for row in where(tables["groups"], metric="tpr")}
        facts = {"recalled": len(recalled), "labels": len(description["classes"])}
        facts["changes"] = "counterfactuals" in tables
        sentences.append(_say("no_positive", **facts))
    return sentences


def model_words(description: Mapping[str, Any]) -> list[str]:
    """Return the sentence that names the model of logs; none of several, whose rows name them."""
    return [_say("model", name=name)] if (name := description.get("model")) else []


def doubts(description: Mapping[str, Any], tables: Tables) -> list[str]:
    """Return the sentences of `notes` that pages have too.

    They are on cells and scores that may be mistakes, attributes and intersections that are not
    compared, and significant gaps that no finding has.
    """
    sentences = []
    groups = defaultdict(dict)
    for row in tables.get("groups", ()):
        if row["attribute"] in description["unknown"]:  # no intersection
            groups[row["attribute"]][row["group"]] = True
    types = defaultdict(dict)
    for row in tables.get("preferences", ()):
        types[row["task"]][row["bias_type"]] = True
    named = [*groups.items(), *(("bias_type", of_task) for of_task in types.values())]
    for name, values in [*named, (None, description.get("classes", ()))]:
        sentences += spelt_words(name, values)
    for row in tables.get("preferences", ()):
        if _is_whole(row) and row["ties"] > MOST_TIES * row["scored"]:
            sentences.append(_say("tied", task=row["task"], count=row["ties"], of=row["scored"]))
    for name, values in description.get("doubtful", {}).items():
        sentences.append(doubtful_words(name, values))
    for name, bins in description.get("empty_bins", {}).items():
        sentences.append(empty_bins_words(name, bins))
    sentences += [_say("not_computed", name=name) for name in description.get("not_crossed", ())]
    without = defaultdict(list)
    if lacking := _lacking(description, tables):
        sentences.append(_say("lacking", groups=lacking))
        for attribute, group in lacking:
            without[attribute].append(group)
    if rows := _untested(tables, description.get("delta", 0)):
        facts = {"without": without, "least": math.ceil(LEAST_EFFECTIVE)}
        sentences.append(_say("untested", rows=rows, titles=TITLES, **facts))
    of_mixture = _mixed(tables.get("groups", [])).values()
    # two groups that mirror each other are one gap
    if mixed := [row for rows in of_mixture for row in (rows[:1] if _is_mirror(rows) else rows)]:
        first = {key: mixed[0][key] for key in ("attribute", "group")}
        (accuracy,) = where(tables["groups"], metric="accuracy", **first)
        sentences.append(_say("mixed", rows=mixed, accuracy=accuracy))
    if count := description.get("unclustered"):
        sentences.append(_say("unclustered", count=count))
    if description.get("is_open"):
        sentences.append(open_words())
    for name in ("relabelled", "set_again"):
        if count := description.get(name):
            rows = sum(row["rows"] for row in tables["counterfactuals"])
            sentences.append(_say(name, count=count, rows=rows))
    if "trained" not in description and not is_constant(description):  # else a finding says so
        sentences += _at_majority(description, tables)
    if description.get("uniform") == "right":
        sentences.append(_say("all_right"))
    for row in tables.get("left_out", ()):
        if row["reason"] == "cut_off":
            sentences.append(_say("cut_off", place=row["detail"]))
    for task, (count, of, first) in description.get("missing", {}).items():
        sentences.append(_say("missing", task=task, count=count, of=of, first=first))
    others = [row for row in tables.get("left_out", ()) if row["reason"] == "other_sample"]
    if others:
        sentences.append(_say("other_samples", count=len(others), place=others[0]["detail"]))
    sentences += [_say("equal", tasks=tasks) for tasks in description.get("equal_tasks", ())]
    if tasks := description.get("shared_pairs"):
        names = {name.partition(" (")[0] for name in tasks}  # without the time of the run
        sentences.append(_say("shared", tasks=tasks, names=names))
    for task, (count, of) in description.get("repeated_pairs", {}).items():
        meaning = FLAGS["repeated_pair"]
        sentences.append(_say("repeated_pairs", task=task, count=count, of=of, meaning=meaning))
    for flag in ("misplaced", "unlike"):
        for task, (count, of, first) in description.get(flag, {}).items():
            facts = {"count": count, "of": of, "first": first, "is_moved": flag == "misplaced"}
            sentences.append(_say("flagged", task=task, meaning=FLAGS[flag], **facts))
    sentences += _contradicted(description, are_many=False)
    if logs := description.get("other_logs"):
        sentences.append(_say("other_logs", logs=logs))
    if tasks := description.get("unchecked"):
        sentences.append(_say("unchecked", tasks=tasks))
    for task, (count, of) in (description.get("unrecognised") or {}).items():
        sentences.append(_say("unrecognised", task=task, count=count, of=of))
    for row in filter(_is_whole, tables.get("preferences", ())):
        sentences += templates_words(row, row["scored"], [row], row["task"])
    repeated = description.get("repeated") or {}
    # a number in results of earlier versions
    for name, count in (repeated if isinstance(repeated, dict) else {"": repeated}).items():
        facts = {"count": count, "rows": description["rows"]}
        sentences.append(
            _say("recurring", name=name, **facts) if name else _say("repeated", **facts)
        )
    if count := echoes(tables):
        sentences.append(_say("echoes", count=count))
    if tied := description.get("tied"):
        most = [group for group in _most_tied(description, tables)[:1] if not group["is_named"]]
        is_binary = description["positive"] and len(description["classes"]) == 2
        facts = {"count": tied[ALL][ALL], "of": description["cases"], "most": most}
        sentences.append(_say("tied_cases", is_binary=is_binary, **facts))
    return sentences


def templates_words(
    facts: Mapping[str, Any], scored: int, rows: Iterable[Mapping[str, Any]], task: str = ""
) -> list[str]:
    """Return a sentence on few sentences or words in them, for which pairs count less; or none.

    Parameters
    ----------
    facts : mapping
        ``templates``, ``taking_turns``, ``alike`` and ``effective_clusters`` of the pairs.
    scored : int
        The pairs with a score.
    rows : iterable of mapping
        The scores on all of these pairs, with their ``inflation`` and interval.
    task : str, optional
        The name of the pairs.
    """
    count, clusters = facts.get("templates") or 0, facts.get("effective_clusters") or scored
    rows = [row for row in rows if row["score"] is not None]
    inflation = max((row.get("inflation") or 1.0 for row in rows), default=1.0)
    has_interval = all(row["score_low"] is not None for row in rows)
    if not 0 < count <= min(scored / 2, clusters) or (has_interval and inflation < INFLATED):
        return []
    counts = {"count": count, "of": scored, "independent": clusters / inflation}
    parts = {"turns": facts.get("taking_turns"), "alike": facts.get("alike")}
    return [_say("templates", task=task, has_interval=has_interval, **counts, **parts)]


def left_out_words(
    reasons: Counter[str], total: int, noun: str = "row", firsts: Mapping[str, str] | None = None
) -> str:
    """Return how many of all rows are left out, by reason: "3 of 60 rows are left out (…)".

    `firsts` are the details of the first row of each reason, if it has some.
    """
    words = Counter({EVERY_REASON.get(name, name): count for name, count in reasons.items()})
    details = {EVERY_REASON.get(name, name): detail for name, detail in (firsts or {}).items()}
    return _say("left_out", reasons=words, total=total, noun=noun, firsts=details)


def _is_whole(row: dict[str, Any]) -> bool:
    return row["bias_type"] == "all"


def _part(row: dict[str, Any]) -> tuple[str, str]:
    return row["task"], row["condition"]


def _is_significant(row: dict[str, Any]) -> bool:
    return row["verdict"] in ("above", "below")


def _is_untestable(row: dict[str, Any], delta: float) -> bool:
    """Whether a bias type has too few clusters for a test, though its share is beyond delta."""
    is_far = row["score"] is not None and abs(row["score"] - 50) > delta
    is_few = row["p_value"] is None or row.get("least_p", 0) > ALPHA
    return not _is_whole(row) and is_far and is_few and not _is_significant(row)


def _unclear(row: dict[str, Any]) -> tuple[bool, float]:
    """Return the key by which rows are sorted: significant ones first, then by p-value."""
    p = row["p_value"] if row["p_adjusted"] is None else row["p_adjusted"]
    return not _is_significant(row), 1.0 if p is None else p_rank(p)


def _preference(
    row: dict[str, Any],
    delta: float,
    significant: Sequence[dict[str, Any]],
    untestable: Sequence[dict[str, Any]],
) -> str:
    """Return the finding of a row; of a significant one with the opposite in the other context.

    Of a whole task also with the bias types of it that are `untestable`, the most extreme first.
    """
    bias_type = "" if _is_whole(row) else row["bias_type"]
    name = ", ".join(filter(None, (row["task"], row["condition"], bias_type)))
    if row["score"] is None:
        return _say("unscored", name=name, row=row)
    items = _say("answers", row=row) if row["condition"] else plural(row["scored"], "pair")
    words = [f"{name}: {preference(row, items, delta)}"]
    for other in significant if row in significant else ():
        is_like = all(row[key] == other[key] for key in ("task", "bias_type"))
        if is_like and row["verdict"] != other["verdict"]:
            words.append(_say("opposite", row=other))
    types = [other for other in untestable if _is_whole(row) and _part(other) == _part(row)]
    if types:
        types.sort(key=lambda other: -abs(other["score"] - 50))
        words.append(_say("untestable", rows=types, most=MOST_GROUPS))
    words += [f"{doubt}." for doubt in [doubt_of(row)] if doubt]
    return " ".join(words)


def undecided(row: dict[str, Any]) -> str:
    """Return why a preference in logs is undecided if not for its power; else blank."""
    if row["verdict"] != "inconclusive" or "least_p" not in row:
        return ""
    if row["p_value"] is None and not row["condition"] and row["ties"] < row["scored"]:
        return reason("one_word")
    return _say("undecided", row=row, clusters="cluster" if row["condition"] else "swap")


def preference(row: dict[str, Any], items: str, delta: float) -> str:
    """Return how often the stereotype is preferred, of `items`, with interval and verdict.

    The verdict may be `UNADJUSTED`.
    """
    verdict = (
        _say("unadjusted", row)
        if row["verdict"] == UNADJUSTED
        else conclusion(
            row["verdict"],
            difference="preference",
            delta=f"{delta:g} points",
            above="Significant",
            below="Significantly for the anti-stereotype",
            power=row["power"],
            further=row["further_clusters"],
            clusters="question templates" if row.get("condition") else "swaps",
            why=undecided(row),
        )
    )
    is_significant = row["verdict"] == UNADJUSTED
    words = borderline(row | {"verdict": "above"} if is_significant else row)
    return _say("preference", row, items, verdict, words)


class _Labels(NamedTuple):
    """The labels of the two compared parts of a gap, and the difference that they make.

    Attributes
    ----------
    label : str
        The positive one; blank of more than two labels.
    shares : list of float
        Of the cases of both parts that have it; empty of more than two labels.
    expected : float
        The difference if both had the TPR and FPR, or the recall of each label, of all cases.
    explains : bool
        Whether this leaves less than half of the difference, and neither rate differs
        significantly, both being tested.
    """

    label: str
    shares: list[float]
    expected: float
    explains: bool


class _Finding(NamedTuple):
    """A significant gap, or the gap of calibration errors of which one is significant.

    Attributes
    ----------
    gap : dict
        Its row.
    group : dict or None
        The row of the group that differs most significantly from all others, if one does.
    worse : list of dict
        The rows of groups whose calibration error is above that of random groups.
    is_echo : bool
        Whether it is of an intersection and not clearly beyond a gap of one of its attributes.
    is_summary : bool
        Whether other metrics have the same errors: `SUMMARIES`, and the accuracy where the recall
        of a label differs.
    labels : _Labels or None
        Of a selection rate, and of a gap that labels explain.
    """

    gap: dict[str, Any]
    group: dict[str, Any] | None
    worse: list[dict[str, Any]]
    is_echo: bool
    is_summary: bool
    labels: _Labels | None

    @property
    def key(self) -> tuple[bool, bool, bool, float, float]:
        """The sort key: attributes before intersections, then gaps that no labels explain.

        Of these, rates before summaries, and the clearest first.
        """
        group = self.group
        clear = (p_rank(group["p_adjusted"]), -abs(group["difference"])) if group else ()
        p_values = [row["p_adjusted"] for row in (self.gap, *self.worse)]
        least = p_rank(min(p for p in p_values if p is not None))
        return self.is_crossed, self.is_explained, self.is_summary, *(clear or (least, 0.0))

    @property
    def is_crossed(self) -> bool:
        """Whether it is of an intersection."""
        return CROSS in self.gap["attribute"]

    @property
    def is_explained(self) -> bool:
        """Whether unlike labels of the groups may be the reason."""
        return self.labels is not None and self.labels.explains


def named_gap(tables: Tables) -> dict[str, Any] | None:
    """Return the row of the gap that the first finding names; None without a significant one."""
    return next((finding.gap for finding in _significant(tables)), None)


def explained_gaps(tables: Tables) -> list[dict[str, Any]]:
    """Return the rows of the significant gaps that unlike labels of the groups may explain."""
    return [finding.gap for finding in _significant(tables) if finding.is_explained]


def first_by_chance(tables: Tables, chance: Chance) -> dict[str, Any] | None:
    """Return why the first finding may be chance, as `by_chance` has it; None if it is not."""
    return next((_may_be_chance(finding, chance) for finding in _significant(tables)), None)


def count_significant(tables: Tables, chance: Chance) -> int:
    """Count the preferences and gaps that `findings` states as significant, not as perhaps so."""
    gaps = sum(
        not finding.is_echo and not _may_be_chance(finding, chance)
        for finding in _significant(tables)
    )
    return gaps + sum(map(_is_significant, tables.get("preferences", [])))


def _may_be_chance(finding: _Finding, chance: Chance) -> dict[str, Any] | None:
    """Return the facts of `by_chance` for a finding; None if it is significant among all.

    The p-value of calibration errors without a significant gap is adjusted by Bonferroni.
    """
    facts = chance.get(finding.gap["attribute"])
    if facts is None or finding.gap["verdict"] == "above":
        return facts
    p = min(1.0, facts["count"] * min(row["p_adjusted"] for row in finding.worse))
    return facts | {"p": p} if p >= ALPHA else None


def echoes(tables: Tables) -> int:
    """Count the significant gaps of intersections not clearly beyond those of their attributes."""
    significant = _significant(tables, with_odds=True)
    return sum(finding.is_echo and finding.gap["verdict"] == "above" for finding in significant)


def _significant(tables: Tables, with_odds: bool = False) -> list[_Finding]:
    """Return the significant gaps, the clearest of an attribute first.

    Those of equalised odds, which are the larger of two others, only if asked for.
    """
    worse_calibrated = defaultdict(list)
    for group in tables.get("groups", []):
        if group["metric"] == "ece" and group["verdict"] == "above":
            worse_calibrated[_key(group)].append(group)
    rows = [
        row
        for row in tables.get("gaps", [])
        if (row["verdict"] == "above" or _key(row) in worse_calibrated)
        and (with_odds or row["lowest"] is not None)
    ]
    mixed = _mixed(tables.get("groups", []))
    keys = {_key(row) for row in rows}
    has_recalls = not where(tables.get("gaps", []), metric="fpr")
    of_recalls = {row["attribute"] for row in where(rows, metric="tpr") if has_recalls}
    worse = {_key(group) for group in _worse_crossed(tables.get("groups", []))}
    gaps = []
    for row in rows:
        groups = [
            group for group in tables["groups"] if _key(group) == _key(row) and _differs(group)
        ]
        of_mixture = mixed.get(_key(row), [])
        groups = [group for group in groups if group not in of_mixture]
        if of_mixture and not groups:
            continue
        attribute, *metric = _key(row)
        # of two groups that mirror each other, the higher one, or that whose label is missed
        sign = 1 if metric[0] == "tpr" and has_recalls else -1
        most = min(
            groups, key=lambda group: (*_clearness(group), sign * group["difference"]), default=None
        )
        parts = attribute.split(CROSS)
        follows = len(parts) > 1 and any((part, *metric) in keys for part in parts)
        is_echo = follows and _key(row) not in worse
        labels = _labels(row, most, tables) or _of_many_labels(row, most, tables)
        is_summary = metric[0] in SUMMARIES or (metric[0] == "accuracy" and attribute in of_recalls)
        gaps.append(_Finding(row, most, worse_calibrated[_key(row)], is_echo, is_summary, labels))
    gaps.sort(key=lambda finding: finding.key)
    spread_gaps = spread(gaps, lambda finding: finding.gap["attribute"])
    return sorted(spread_gaps, key=lambda finding: finding.is_crossed)


def _mixed(groups: list[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the significant differences of macro-F1 that accuracy does not have, by `_key`.

    Where labels are unlike between groups, macro-F1 differs even if all are classified equally
    well.
    """
    accurate = {(row["attribute"], row["group"]): row for row in where(groups, metric="accuracy")}
    mixed = defaultdict(list)
    for row in where(groups, metric="macro_f1"):
        other = accurate.get((row["attribute"], row["group"]))
        if (
            _differs(row)
            and other
            and not (_differs(other) and other["difference"] * row["difference"] > 0)
        ):
            mixed[_key(row)].append(row)
    return mixed


def _lacking(description: Mapping[str, Any], tables: Tables) -> dict[tuple[str, str], list[str]]:
    """Return the labels of which a group has no case, by attribute and group."""
    lacking = defaultdict(list)
    for row in tables.get("groups", ()):
        if row["attribute"] not in description["unknown"] or row["counted"]:
            continue  # of an intersection, or with a case
        labels = lacking[row["attribute"], row["group"]]
        if row["metric"] == "tpr":
            labels.append(row["label"])
        elif row["metric"] == "fpr" and not description["several"]:
            labels += [label for label in description["classes"] if label != row["label"]]
    return {group: labels for group, labels in lacking.items() if labels}


def _is_mirror(rows: list[dict[str, Any]]) -> bool:
    """Whether two groups are all that there are: each differs from the other one alone."""
    return len(rows) == 2 and abs(rows[0]["rest"] - rows[1]["value"]) < ROUNDED


def _differs(group: dict[str, Any]) -> bool:
    """Whether a group differs significantly from all others, not only from random groups."""
    return _is_significant(group) and group["difference"] is not None


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in METRIC)


def _of_calibration(description: Mapping[str, Any]) -> str:
    """Return what calibration errors are of; blank for the positive one of two labels."""
    if "ece" not in description.get("metrics", ()):
        return ""
    several = description["several"]
    is_binary = not several and description["positive"] and len(description["classes"]) == 2
    return "" if is_binary else _say("of_calibration", several=several)


def _gaps(
    tables: Tables, delta: float, description: Mapping[str, Any], chance: Chance
) -> list[str]:
    of_mixture = _mixed(tables.get("groups", []))
    rows = [row for row in tables.get("gaps", []) if row["lowest"] is not None]
    rows = [row for row in rows if row["verdict"] != "above" or _key(row) not in of_mixture]
    # of plain training, Text classifiers tests these, adjusted for other tests
    elsewhere = [row for row in rows if is_plain(description) and _is_macro_f1(row)]
    rows = [row for row in rows if row not in elsewhere]
    labels = {row["label"] for row in rows} - {None}
    small = sum(row["verdict"] == "equivalent" for row in rows)
    untested = [row["attribute"] for row in rows if row["p_adjusted"] is None]
    runs = description.get("runs", 1)
    significant = [finding for finding in _significant(tables) if not finding.is_echo]
    if not significant:
        facts = {"small": small, "untested": untested, "runs": runs, "delta": delta}
        facts["elsewhere"] = bool(elsewhere)
        return [_say("no_gap", gaps=len(rows) - len(untested), **facts)]

    def facts(row: dict[str, Any]) -> dict[str, Any]:
        groups = [group for group in tables["groups"] if _key(group) == _key(row)]
        counts = {group["group"]: group["counted"] for group in groups}
        tested = [group for group in groups if group["p_value"] is not None]
        most = min(tested, key=lambda group: p_rank(group["p_value"]), default=None)
        of_label = len(labels) > 1 and row["label"]
        of = _of_calibration(description) if row["metric"] == "ece" else ""
        title = f"{TITLES[row['metric']]} {of}".rstrip()
        return {"title": title, "of_label": of_label, "counts": counts, "most": most}

    def words(finding: _Finding) -> str:
        row, group, *_ = finding
        worse = [each | {"direction": _direction(each, tables)} for each in finding.worse]
        is_gap = row["verdict"] == "above"
        if is_gap:
            sentence = _say("gap", row=row, group=group, worse=worse, runs=runs, **facts(row))
        else:
            sentence = _say("worse_calibrated", row=row, worse=worse, title=facts(row)["title"])
        of_others = is_gap and row["metric"] == "ece"
        if of_others and not where(worse, group=row["highest_group"]):
            highest = {"group": row["highest_group"], "value": row["highest"]}
            direction = _direction(row | highest, tables)
            sentence += f" {_say('direction_of', group=highest['group'], words=direction)}"
        if finding.labels:
            sentence += f" {_say('of_labels', row=row, labels=finding.labels)}"
        if finding.is_crossed and group and group not in clear:
            alone = _largest_alone(group, tables["groups"])
            sentence += f" {_say('like_one', alone=alone, runs=runs)}"
        if group and (others := _others(group, tables["groups"])):
            sentence += f" {_say('other_groups', groups=others, most=MOST_GROUPS)}"
        if facts_of := _may_be_chance(finding, chance):
            sentence = f"{_say('perhaps')} {sentence} {_say('by_chance', **facts_of)}"
        return sentence

    clear = _worse_crossed(tables["groups"])
    first, *others = map(words, significant)
    worse = max(clear, key=lambda row: abs(row["difference"]), default=None)
    if worse and not significant[0].is_crossed:
        named = {name: value for name, value in facts(worse).items() if name != "most"}
        alone = _largest_alone(worse, tables["groups"])
        first += f" {_say('worse_crossed', group=worse, alone=alone, runs=runs, **named)}"
    named = {finding.gap["attribute"] for finding in significant}
    without = [
        row
        for row in rows
        if row["attribute"] not in named
        and CROSS not in row["attribute"]
        and row["p_adjusted"] is not None
    ]
    if without:  # after the first gap of each attribute that has one, or after the intersections
        clearest = {each.gap["attribute"] for each in significant if not each.is_crossed}
        place = len(clearest) - 1 if clearest else len(others)
        facts = {"rows": without, "runs": runs, "delta": delta, "elsewhere": bool(elsewhere)}
        others.insert(place, _say("without_gap", **facts))
    return [first, *others]


def _is_macro_f1(row: dict[str, Any]) -> bool:
    """Whether a row of ``gaps`` is of a test of macro-F1 of an attribute, not an intersection."""
    is_tested = row["p_adjusted"] is not None
    return row["metric"] == "macro_f1" and CROSS not in row["attribute"] and is_tested


def _direction(group: dict[str, Any], tables: Tables) -> str:
    """Return by how much a group's probabilities are too high or too low on average.

    If this is less than half of its calibration error, they are both, and no number is named.
    """
    bins = where(tables["calibration"], attribute=group["attribute"], group=group["group"])
    cases = sum(row["cases"] for row in bins)
    far = sum(row["cases"] * (row["confidence"] - row["observed_frequency"]) for row in bins)
    return _say("direction", far=far / cases, is_mixed=2 * abs(far / cases) < group["value"])


def _others(group: dict[str, Any], groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the other groups that differ significantly, the clearest first; none of two groups."""
    alike, of_mixture = [row for row in groups if _key(row) == _key(group)], _mixed(groups)
    others = [row for row in alike if row is not group and _differs(row)]
    others = [row for row in others if row not in of_mixture.get(_key(row), ())]
    return sorted(others, key=_clearness) if len(alike) > 2 else []


def _clearness(group: dict[str, Any]) -> tuple[float, float]:
    return p_rank(group["p_adjusted"]), -round(abs(group["difference"]), 9)


def _labels(gap: dict[str, Any], group: dict[str, Any] | None, tables: Tables) -> _Labels | None:
    """Return the labels of `group`, or of the lowest one, and of the others it is compared with.

    None of other metrics than those of `_made`, of accuracy with more than two labels, which TPR
    and FPR do not make, and unless labels explain it of other metrics than the selection rate.
    """
    metric, positive = gap["metric"], where(tables["groups"], metric="tpr")
    labels = {row["label"] for row in positive if gap["label"] in (row["label"], None)}
    if metric not in ("selection_rate", "accuracy", "macro_f1") or len(labels) != 1:
        return None
    (label,) = labels
    overall = where(tables["groups"], attribute=ALL)
    overall = {row["metric"]: row for row in overall if row["label"] in (label, None)}
    tpr, fpr = (overall[name]["value"] for name in ("tpr", "fpr"))
    if tpr is None or fpr is None:
        return None

    def made(row: dict[str, Any], of: str) -> float:
        return _made(row["counted"] / row["cases"], tpr, fpr)[of]

    of_labels = "accuracy" if gap["label"] is None else metric
    if abs(made(overall["tpr"], of_labels) - overall[of_labels]["value"]) > ROUNDED:
        return None
    positive = where(positive, attribute=gap["attribute"], label=label)
    first = group["group"] if group else gap["lowest_group"]
    others = [row for row in positive if row["group"] != first and row["cases"]]
    others = others if group else where(others, group=gap["highest_group"])
    shares, means = [], []
    for part in (where(positive, group=first), others):
        cases = sum(row["cases"] for row in part)
        shares.append(sum(row["counted"] for row in part) / cases)
        means.append(sum(row["cases"] * made(row, metric) for row in part) / cases)
    difference = group["difference"] if group else gap["lowest"] - gap["highest"]
    expected = means[0] - means[1]
    same = [
        row["p_adjusted"] is not None and row["verdict"] != "above"
        for row in where(tables["gaps"], attribute=gap["attribute"], label=label)
        if row["metric"] in ("tpr", "fpr")
    ]
    explains = len(same) == 2 and all(same) and abs(difference - expected) < abs(difference) / 2
    named = explains or metric == "selection_rate"
    return _Labels(label, shares, expected, explains) if named else None


def _of_many_labels(
    gap: dict[str, Any], group: dict[str, Any] | None, tables: Tables
) -> _Labels | None:
    """Return the difference in accuracy that the labels of both parts make, if it explains the gap.

    Where there are more than two, or none is known to be positive.
    """
    rows = where(tables["groups"], attribute=gap["attribute"], metric="accuracy")
    if gap["metric"] != "accuracy" or any(row.get("expected") is None for row in rows):
        return None
    first = group["group"] if group else gap["lowest_group"]
    parts = where(rows, group=first), [row for row in rows if row["group"] != first]
    if not group:
        parts = parts[0], where(rows, group=gap["highest_group"])
    if not all(parts):
        return None
    means = [
        sum(row["cases"] * row["expected"] for row in part) / sum(row["cases"] for row in part)
        for part in parts
    ]
    difference = group["difference"] if group else gap["lowest"] - gap["highest"]
    expected = means[0] - means[1]
    differs = any(
        row["verdict"] == "above" and row["metric"] in ("tpr", "fpr")
        for row in where(tables["gaps"], attribute=gap["attribute"])
    )
    explains = not differs and abs(difference - expected) < abs(difference) / 2
    return _Labels("", [], expected, True) if explains else None


def _made(share: float, tpr: float, fpr: float) -> dict[str, float]:
    """Return the metrics of cases of two labels with this share of positive ones."""
    right, false = share * tpr, (1 - share) * fpr
    right_negative = 1 - share - false
    selected = right + false
    of_both = ((right, selected + share), (right_negative, 2 - selected - share))
    f1 = [2 * some / of for some, of in of_both if of]
    return {
        "selection_rate": selected,
        "accuracy": right + right_negative,
        "macro_f1": sum(f1) / len(f1),
    }


def _untested(tables: Tables, delta: float) -> list[dict[str, Any]]:
    """Return the group of each attribute with the largest difference that has no test.

    It is delta at least, and beyond random groups of its size unless no group has a test. A
    difference in macro-F1 or calibration counts if no other one of the group is significant.
    """
    gaps = tables.get("gaps", ())
    unequal = {
        (row["attribute"], row["group"]) for row in filter(_differs, tables.get("groups", ()))
    }
    open_gaps = {_key(row) for row in gaps if row["p_adjusted"] is None}
    rows = [
        row
        for row in tables.get("groups", ())
        if row["reason"] and abs(row["difference"] or 0) * 100 >= max(delta, 1e-9)
        if _key(row) in open_gaps or not row["noise_low"] <= row["value"] <= row["noise_high"]
        if CROSS not in row["attribute"]
        if row["metric"] not in SUMMARIES or (row["attribute"], row["group"]) not in unequal
    ]

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        """Metrics of all cases first; of two groups, which mirror each other, the smaller."""
        is_part = row["counted"] < row["cases"]
        return row["metric"] in SUMMARIES, is_part, -abs(row["difference"]), row["counted"]

    rows.sort(key=place)
    return list({row["attribute"]: row for row in reversed(rows)}.values())[::-1]


def _largest_alone(crossed: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row with the largest difference of an intersection's attributes in its metric.

    Of two groups that mirror each other, the one of the intersection.
    """
    attributes, parts = (crossed[name].split(CROSS) for name in ("attribute", "group"))
    keys = {(attribute, crossed["metric"], crossed["label"]) for attribute in attributes}
    rows = [row for row in groups if _key(row) in keys and row["difference"] is not None]
    return max(rows, key=lambda row: (round(abs(row["difference"]), 9), row["group"] in parts))


def _worse_crossed(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the significant differences of intersections that their attributes hide.

    The whole interval exceeds the largest difference of the attributes in the same metric.
    """
    largest = defaultdict(float)
    for row in groups:
        largest[_key(row)] = max(largest[_key(row)], abs(row["difference"] or 0))
    worse, mixed = [], _mixed(groups)
    for row in groups:
        attributes = row["attribute"].split(CROSS)
        if len(attributes) == 1 or not _differs(row) or row in mixed.get(_key(row), ()):
            continue
        bounds = (row["difference_low"], row["difference_high"])
        least = min(bounds) if row["difference"] > 0 else -max(bounds)
        metric = (row["metric"], row["label"])
        if least > max(largest[attribute, *metric] for attribute in attributes):
            worse.append(row)
    return worse
