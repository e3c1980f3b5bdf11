"""The headline on mitigation: the largest changes against plain training."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from altair import LayerChart
from markupsafe import Markup

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped, grouped_by, where
from evenhand.core.tables import read_tables
from evenhand.individual.names import loss_title, method_title, title, titles_of, who
from evenhand.individual.results import SETTING
from evenhand.individual.tables.tests import BY_CONSTRUCTION
from evenhand.io.documents import read_description
from evenhand.legal.classifier_study import BASE
from evenhand.legal.classifier_study import Setting as Training
from evenhand.legal.classifier_tables.tests import (
    CONSTANT,
    ONE_CLASSIFIER,
    ONE_CONSTANT,
    ONE_SEED,
    RATES,
    test_of,
)
from evenhand.legal.groups import NO_ATTRIBUTE, PLUS
from evenhand.metrics.inference import ABOVE, BELOW, EQUIVALENT, INCONCLUSIVE
from evenhand.predictions.words import spread, worthless
from evenhand.report.figures import SIGNED, axis, estimated, forest
from evenhand.report.headline import Headline, plain, say, strength, with_sources
from evenhand.report.headlines.legal import plain_gaps, without_plain
from evenhand.report.read import read_json
from evenhand.report.render import signed
from evenhand.report.study import Study
from evenhand.tabular.prepared import RECORD
from evenhand.text.phrases import CROSS

FILES = (
    "tables/classifiers/*",
    "tables/individual",
    "tabular/*/data.json",
    "predictions/*/meta.json",
    "tables/predictions/*",
)

#: The measures that mitigation should change, of text classifiers and of tables of people.
MEASURES = ("gd", "worst", *RATES, "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")

#: Those of which less is fairer.
GAPS = ("gd", *RATES, "ddp", "deo_0", "deo_1")

#: Points of a unit of a measure that is no percentage.
POINTS = dict.fromkeys(("ddp", "deo_0", "deo_1"), 100)

#: The baseline of the methods for tables of people: plain training.
PLAIN = "mlp"

#: Methods of tables of people that mitigate nothing.
BASELINES = ("logistic_regression", "majority", "eidig_base", "eidig_control")

#: Objectives that remove an attribute from the features of a classifier.
REMOVAL = ("leace", "inlp", "adversarial")

#: Objectives that fit the last layer anew, which alone changes gaps by other attributes.
REFITTED = ("dfr", "inlp", "leace")

#: Changes in words, methods named of each kind, and the least rows of the figure.
LINES, NAMED, SHOWN = 3, 3, 4

#: Methods on a data set whose unconfirmed changes are named in each direction.
LARGE = 2

#: The kinds of methods with a significant change, and those without.
SIGNIFICANT = (
    "fairer", "fairer_here", "no_addition", "less_fair", "less_fair_by_another", "mixed",
    "contradicted",
)  # fmt: skip
KINDS = (*SIGNIFICANT, "unchanged", "undecided", "one_seed", "constant")


class Change(NamedTuple):
    """The change of a measure under a method against plain training, in points.

    Attributes
    ----------
    method, of, measure, file : str
        The method, the data set with its classifier, the measure that changed, and its table.
    gap : bool
        Whether less of the measure is fairer.
    before, after, difference, low, high, delta : float or None
        The interval is over seeds; of text classifiers it is that over cases, if this is wider.
    verdict : str
        Of `evenhand.metrics.inference`.
    further : int, optional
        The number of further seeds for a power of 80 %.
    alone : float, optional
        The measure of the method without its individual loss.
    reason : str
        Why the change is not tested, if it is not.
    elsewhere : bool, optional
        Whether the change is significant for other data too, if it was tested for other seeds.
    seeds : int, optional
        The seeds that both were trained with.
    few_seeds : bool
        Whether other methods were compared over more seeds on the same data.
    attribute : str
        The attribute whose groups are compared; blank for measures of people.
    trained_for : str
        The attribute that the method was trained for, if it is another one.
    named_training : str
        The same, also where the method was trained for several attributes, each or together.
    training : str
        The attribute that the method was trained for, or ``none``; blank for tables of people.
    refitted : bool
        Whether the method fits the last layer anew.
    not_learned : bool
        Whether plain training is not better than the most frequent label.
    turned : bool
        Whether the group with the highest rate has a lower one now than that with the lowest.
    cost : float, optional
        How macro-F1 over all cases (of people: accuracy) changes, in points, if that matters.
    cost_standing : str
        Whether this is significant (over seeds, if it is over cases alone).
    alone_varies : bool
        Whether the method without its individual loss is not significant only as its runs vary
        more.
    decisions : pair of float, optional
        The percentages of decisions that a flip changes, before and after.
    decisions_differ : bool
        Whether these two differ significantly.
    decisions_p : float, optional
        The adjusted p of their difference.
    lacks : str
        Of an undecided change ``seeds`` if it is significant over cases only, ``cases`` if over
        seeds only, ``both`` if over both before adjustment only; else blank.
    with_all : float, optional
        The change of macro-F1 over all cases, in points, where a significant one of the worst
        group is not beyond it: then it is no change of fairness, and the verdict is inconclusive.
    label : str
        The label that a rate is of.
    is_named : bool
        Whether the gap is significant under plain training, so that a finding names it.
    is_explained : bool
        Whether unlike labels of the groups may explain that gap.
    over : str
        The units of the interval: seeds or cases.
    tests : int
        The number of tests that the verdict is adjusted for, also of measures that are not named.
    """

    method: str
    of: str
    measure: str
    file: str
    gap: bool
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    delta: float
    verdict: str
    further: int | None = None
    alone: float | None = None
    reason: str = ""
    elsewhere: bool | None = None
    seeds: int | None = None
    few_seeds: bool = False
    attribute: str = ""
    alone_varies: bool = False
    decisions: tuple[float, float] | None = None
    decisions_differ: bool = False
    decisions_p: float | None = None
    lacks: str = ""
    with_all: float | None = None
    label: str = ""
    is_named: bool = False
    is_explained: bool = False
    over: str = "seeds"
    tests: int = 1
    trained_for: str = ""
    named_training: str = ""
    training: str = ""
    refitted: bool = False
    not_learned: bool = False
    turned: bool = False
    cost: float | None = None
    cost_standing: str = ""

    @property
    def unjudged(self) -> bool:
        """Whether a classifier predicts the same for every case, or both do."""
        return self.reason in (CONSTANT, ONE_CONSTANT)

    @property
    def one_seed(self) -> bool:
        """Whether there is no test because there is one seed."""
        return self.reason == ONE_SEED

    @property
    def direction(self) -> str:
        """Whether the change is towards more fairness."""
        if not self.difference:
            return ""
        return "fairer" if (self.difference < 0) == self.gap else "less fair"

    @property
    def no_gain(self) -> bool:
        """Whether the method is as fair without its individual loss."""
        gain = self.after - (self.after if self.alone is None else self.alone)
        return gain >= 0 if self.gap else gain <= 0

    @property
    def credited(self) -> bool:
        """Whether the difference is significant and fairer, and the individual loss adds to it."""
        return self.better and (self.alone is None or not self.no_gain)

    @property
    def significant(self) -> bool:
        """Whether the difference is significant."""
        return self.verdict in (ABOVE, BELOW)

    @property
    def unadjusted(self) -> bool:
        """Whether the difference is significant before adjustment only: its interval excludes 0."""
        explained = self.reason not in ("", ONE_CLASSIFIER) or self.with_all is not None
        if self.verdict != INCONCLUSIVE or explained or None in (self.low, self.high):
            return False
        return self.low * self.high > 0

    @property
    def better(self) -> bool:
        """Whether the difference is significant, and towards more fairness."""
        return self.verdict == (BELOW if self.gap else ABOVE)

    @property
    def clearly_worse(self) -> bool:
        """Whether it is less fair and significant, or, of a gap, beyond delta and `unadjusted`."""
        large = self.gap and self.unadjusted and abs(self.difference) > self.delta
        return self.direction == "less fair" and (self.significant or large)

    @property
    def by_new_layer(self) -> bool:
        """Whether a new last layer may be why it changes groups that it was not trained for."""
        return bool(self.trained_for) and self.refitted and self.significant

    @property
    def strength(self) -> float:
        """The difference in halves of its interval."""
        return strength(self.difference, 0, self.low, self.high)

    @property
    def words(self) -> str:
        """The change with interval and verdict."""
        return say("change", [self.file], change=self)

    @property
    def in_short(self) -> str:
        """The same without the method, its training and its data set, for their row."""
        return say("change_short", [self.file], change=self)


def describe(study: Study) -> Headline:
    """Return the headline on mitigation.

    The titles are those of legal data sets by name, of attributes by ``data_set/attribute``, and
    of objectives by ``objectives/name``.
    """
    classifiers, people, data = map(study.paths, FILES[:3])
    unlearned = not_learned(study)
    changes = find_changes(classifiers, people, data, study.titles, find_gaps(study), unlearned)
    doubts = [*unlearned.values(), *equal_methods(changes)]
    doubts += _still_read(classifiers, study.titles)
    if by_new_layers := [change for change in changes if change.by_new_layer]:
        doubts.append(say("mitigation_new_layer", [by_new_layers[0].file], changes=by_new_layers))
    headline = conclude(changes, compare_weights(people), alone=without_plain(study))
    return replace(headline, doubts=doubts)


def not_learned(study: Study) -> dict[tuple[str, str], str]:
    """Return a sentence on each plain classifier not better than the most frequent label.

    By data set and classifier.
    """
    folders = {path.name: path for path in study.paths(FILES[4])}
    sentences = {}
    for path in study.paths(FILES[3]):
        document, folder = read_json(path), folders.get(path.parent.name)
        trained = document.get("trained")
        if folder and trained and trained["objective"] == BASE:
            file = f"tables/predictions/{folder.name}/groups.csv"
            of = f"{study.titles.get(trained['dataset'], trained['dataset'])}, "
            for words in worthless(document, read_tables(folder)):
                facts = {"of": of + trained["classifier"], "words": words}
                training = trained["dataset"], trained["classifier"]
                sentences[training] = say("mitigation_not_learned", [file], **facts)
    return sentences


def _still_read(classifiers: Iterable[Path], titles: Mapping[str, str]) -> list[str]:
    """Name the attributes that a linear probe reads from features though they were to be removed.

    Beyond what the true labels tell of them.
    """
    sentences = []
    for path in classifiers:
        rows = read_tables(path).get("attribute_leakage", [])
        rows = where(rows, read_from="features", probe="linear")
        trainings = grouped_by(rows, lambda row: tuple({**row, "classifier": ""}.values()))
        for row, *same in trainings.values():
            floor = max(row["chance"], row["from_labels"] or 0)
            is_own = row["objective"] in REMOVAL and row["trained_for"] == row["attribute"]
            if is_own and row["score_low"] is not None and row["score_low"] > floor:
                names = [each["classifier"] for each in (row, *same)]
                facts = {
                    "row": row,
                    "of": _of(path, titles, names),
                    "method": titles.get(f"objectives/{row['objective']}", row["objective"]),
                    "attribute": titles.get(f"{path.name}/{row['attribute']}", row["attribute"]),
                }
                file = "/".join([*path.parts[-3:], "attribute_leakage.csv"])
                sentences.append(say("mitigation_still_read", [file], **facts))
    return sentences


def equal_methods(changes: Iterable[Change]) -> list[str]:
    """Name the methods on a data set that are equal in each measure, and not constant."""

    def numbers(row: dict[str, Any]) -> Hashable:
        cells = [
            (change.measure, change.attribute, change.label, change.after, change.low, change.high)
            for change in row["changes"]
        ]
        is_constant = all(change.unjudged for change in row["changes"])
        return row["method"] if is_constant else "", row["of"], row["trained"], frozenset(cells)

    return [
        say("mitigation_equal", [first["clearest"].file], rows=[first, *others])
        for first, *others in grouped_by(by_method(changes), numbers).values()
        if others
    ]


#: A data set, a classifier, an attribute and a measure.
Gap = tuple[str, str, str, str]


def find_gaps(study: Study) -> dict[Gap, bool]:
    """Return the significant gaps under plain training, from the audits of predictions.

    With each, whether unlike labels of the groups may explain it.
    """
    names = ("dataset", "classifier", "attribute", "metric")
    gaps = where(plain_gaps(study), verdict=ABOVE)
    return {tuple(row[name] for name in names): row["is_explained"] for row in gaps}


def find_changes(
    classifiers: Iterable[Path],
    people: Iterable[Path],
    data: Sequence[Path],
    titles: Mapping[str, str],
    gaps: Mapping[Gap, bool] = MappingProxyType({}),
    unlearned: Collection[tuple[str, str]] = (),
) -> list[Change]:
    """Return the changes of these folders of tables, the clearest first.

    Parameters
    ----------
    classifiers, people : iterable of Path
        The folders of `tabulate_classifiers` and of `tabulate_individual`.
    data : sequence of Path
        ``data.json`` of each data set of people.
    titles : mapping
        See `describe`.
    gaps : mapping
        Of `find_gaps`.
    unlearned : collection of (str, str)
        The data sets and classifiers of `not_learned`.
    """
    changes = [change for path in classifiers for change in _legal(path, titles, gaps, unlearned)]
    changes += [change for path in people for change in _people(path, data)]
    most: dict[str, int] = {}
    for change in changes:
        most[change.of] = max(change.seeds or 0, most.get(change.of, 0))
    changes = [
        change._replace(few_seeds=bool(change.seeds) and change.seeds < most[change.of])
        for change in changes
    ]
    return sorted(changes, key=lambda change: (not change.significant, -change.strength))


def by_method(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Return a row per training, its method and data set: comparisons, better, worse, the clearest.

    The clearest change is one that the method is credited with, if any; `opposite` is then one that
    is clearly worse. Where none is significant, it is the clearest change in the other direction.
    `aim` is a change by the attribute that the method was trained for, where the clearest is by
    another: of the gaps that the findings name the largest, else by the same measure.
    """
    by_name: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        by_name.setdefault((change.method, change.of, change.training), []).append(change)
    return [
        {
            "method": method,
            "of": of,
            "trained": _trained_for(several),
            "comparisons": len(several),
            "better": sum(change.better for change in several),
            "worse": sum(change.significant and not change.better for change in several),
            "clearest": _clearest(several),
            "opposite": _opposite(several),
            "aim": _aim(several),
            "changes": several,
        }
        for (method, of, _), several in by_name.items()
    ]


def _trained_for(changes: Sequence[Change]) -> str:
    """Return the attribute that a training of a classifier uses; blank without one."""
    if changes[0].training in ("", NO_ATTRIBUTE):
        return ""
    named = [change.named_training for change in changes if change.named_training]
    return (named or [changes[0].attribute])[0]


def _clearest(changes: Sequence[Change]) -> Change:
    return next((change for change in changes if change.credited), changes[0])


def _aim(changes: Sequence[Change]) -> Change | None:
    """Return the `aim` of `by_method`, if any."""
    clearest = _clearest(changes)
    aims = [change for change in changes if not change.trained_for and not change.unjudged]
    if not clearest.trained_for or not aims:
        return None

    def rank(change: Change) -> tuple[bool, float, bool]:
        before = -change.before if change.is_named else 0.0
        return not change.is_named, before, change.measure != clearest.measure

    return min(aims, key=rank)


def _opposite(changes: Sequence[Change]) -> Change | None:
    """Return the `opposite` of `by_method`, if any.

    One that is not significant counts if it is of the same classifier and attribute only.
    """
    credited = [(change.attribute, change.trained_for) for change in changes if change.credited]
    if changes[0].significant:
        worse = [change for change in changes if change.clearly_worse and credited]
        like = [
            change
            for change in worse
            if change.significant or (change.attribute, change.trained_for) == credited[0]
        ]
        return next(iter(like), None)
    ways = [change for change in changes if change.direction and not change.unjudged]
    return next((change for change in ways if change.direction != ways[0].direction), None)


def conclude(
    order: Sequence[Change], weights: str = "", gaps: int = NAMED, alone: Sequence[str] = ()
) -> Headline:
    """Return the headline of changes in the order of `find_changes`.

    `weights` is the sentence of `compare_weights`, `gaps` how many sentences of `on_gaps` it has,
    and `alone` those of `without_plain`, for no changes.
    """
    if not order:
        return Headline(sentence=Markup(" ").join([say("mitigation_nothing"), *alone]))
    files = list(dict.fromkeys(change.file for change in order))
    significant = sum(change.significant for change in order)
    rows = by_method(order)
    kinds = by_kind(rows)
    named = [id(row) for kind in SIGNIFICANT for row, _ in kinds[kind][: _named(kind, kinds)]]
    rows.sort(key=lambda row: id(row) not in named)  # each named method is in the figure
    named_gaps = on_gaps(order)[:gaps]
    clearest = [change for change in order if change.significant or not significant]
    of_gaps = {change for several in _by_gap(order) for change in several}
    clearest = spread((change for change in clearest if change not in of_gaps), _subject)
    clearest = clearest[: max(LINES, len({*map(_subject, clearest)}) if significant else 0)]
    lines = [change.words for change in clearest]
    # what the sentences state is drawn, then the clearest change of each method
    stated = [change for several in _by_gap(order)[:gaps] for change in several]
    stated = [change for change in [*stated, *clearest] if not change.unjudged]
    sentence = say("mitigation_found", files, changes=order)
    main = named_gaps[0] if named_gaps else lines[0] if significant else ""
    of_main = _by_gap(order)[0] if named_gaps else clearest[:1]
    sides = {change.better for change in of_main if change.significant}
    rest = {change.better for change in {*order}.difference(of_main) if change.significant}
    if False in rest or (True in rest and sides != {True}):
        # the sentence counts what is fairer and less fair
        training = {_training(change) for change in of_main}
        of_training = [change for change in order if _training(change) in training]
        both = [sentence, *([main] if any(map(_matters, of_training)) else [])]
        main = with_sources(Markup(" ").join(both), files)
    of_rows = [row["clearest"] for row in rows]
    least = max(SHOWN, len({*stated, *of_rows[: len(named)]}))
    figure, caption = _figure(list(dict.fromkeys([*stated, *of_rows])), least)
    return Headline(
        sentence=sentence,
        more=[*named_gaps, *lines, *unconfirmed(order), *([weights] if weights else [])],
        main=main,
        short=_short(order, kinds),
        next=_next(order),
        figure=figure,
        caption=caption,
        figure_files=files,
        strength=order[0].strength if significant else 0.0,
    )


#: The rows of `by_method` by kind, each with the number of its changes of this kind.
Kinds = dict[str, list[tuple[dict[str, Any], int]]]


def _short(order: Sequence[Change], kinds: Kinds) -> Markup:
    """Count the significant changes, and name the methods with one and the gaps that are left.

    A gap that a method is named for is not stated again; without a significant change, one gap is.
    Methods without a significant change are counted if they are many.
    """
    rows = [row for kind in SIGNIFICANT for row, _ in kinds[kind][: _named(kind, kinds)]]
    stated = [change for row in rows for change in (row["clearest"], row["opposite"], row["aim"])]
    costs = {_training(row["clearest"]) for row in rows}
    gaps = on_gaps(order, brief=True, stated=stated, costs=costs)[: NAMED if rows else 1]
    named = [say("mitigation_count", changes=order), *answers(kinds, SIGNIFICANT)] if rows else []
    others = {kind: len(kinds[kind]) for kind in KINDS if kind not in SIGNIFICANT}
    if sum(others.values()) <= NAMED:
        rest = answers(kinds, tuple(others))
        return Markup("<br> ").join([*named, *gaps, *rest] if rows else [*rest, *gaps])
    significant = {row["method"] for kind in SIGNIFICANT for row, _ in kinds[kind]}
    left = {kind: {row["method"] for row, _ in kinds[kind]} - significant for kind in others}
    by_construction = {method_title(name).removeprefix("the ") for name, _ in BY_CONSTRUCTION}
    judged = {name for kind in others if kind != "constant" for name in left[kind]}
    names = {"judged": judged - by_construction, "unjudged": left["constant"] - judged}
    # a short name is a method, a long one its variant
    names = {kind: sorted(some, key=lambda name: (len(name), name)) for kind, some in names.items()}
    rest_words = say("mitigation_rest", counts=others, **names)
    return Markup("<br> ").join([*named, *gaps, rest_words] if rows else [rest_words, *gaps])


def _training(change: Change) -> tuple[str, str, str]:
    return change.method, change.of, change.training


def on_gaps(
    changes: Iterable[Change],
    *,
    brief: bool = False,
    stated: Collection[Change] = (),
    costs: Collection[tuple[str, str, str]] = (),
) -> list[str]:
    """State the effect of each method on the gaps of rates that the findings name.

    Of an attribute the largest gap is first. A `brief` sentence has this one, and the first of the
    others that is clearly worse, without those already `stated` and without what the trainings of
    `costs` cost. Trainings for other attributes that change no such gap significantly are counted.
    """
    sentences, aside = [], []
    for several in _by_gap(changes):
        worse = [change for change in several[1:] if change.clearly_worse]
        if several[0].trained_for and not worse and not any(map(_matters, several)):
            aside.append(several)
            continue
        named = [several[0], *worse[:1]] if brief else several
        named = [change for change in named if change not in stated]
        facts = {"changes": named, "brief": brief, "has_cost": _training(several[0]) not in costs}
        sentences += [say("mitigation_gaps", [several[0].file], **facts)] if named else []
    if aside and not brief:
        files = list(dict.fromkeys(several[0].file for several in aside))
        sentences.append(say("mitigation_gaps_aside", files, count=len(aside)))
    return sentences


def _matters(change: Change) -> bool:
    return change.significant or change.clearly_worse


def _by_gap(changes: Iterable[Change]) -> list[list[Change]]:
    """Return the changes that `on_gaps` states, by method, its attribute, data set and attribute.

    Beside the gaps that the findings name, those of the same attribute that are clearly worse.
    Methods with a significant change are first, then gaps by the attribute that the method was
    trained for, also before its significant ones by others, then gaps that unlike labels do not
    explain.
    """
    of_rates = [change for change in changes if change.measure in RATES]
    of_rates.sort(key=lambda change: (not change.is_named, -change.before))
    by_name: dict[tuple[str, ...], list[Change]] = {}
    for change in of_rates:
        key = change.method, change.of, change.attribute, change.trained_for
        if change.is_named:
            by_name.setdefault(key, []).append(change)
        elif change.clearly_worse and key in by_name:
            by_name[key].append(change)

    matters = {_training(some[0]) for some in by_name.values() if any(map(_matters, some))}

    def rank(several: list[Change]) -> tuple[bool, ...]:
        is_explained = all(change.is_explained for change in several if change.is_named)
        is_other, is_small = bool(several[0].trained_for), not any(map(_matters, several))
        return _training(several[0]) not in matters, is_other, is_small, is_explained

    return sorted(by_name.values(), key=rank)


def answers(kinds: Kinds, chosen: Sequence[str] = KINDS) -> list[str]:
    """Return a sentence for each kind with members: what these methods changed, or why nothing."""
    return [
        say("mitigation_kind", kind=kind, members=kinds[kind], most=_named(kind, kinds))
        for kind in chosen
        if kinds[kind]
    ]


def unconfirmed(changes: Iterable[Change]) -> list[str]:
    """Name the changes that are beyond delta but not significant, in each direction.

    All of the methods with the largest ones, on each data set; the others are counted.
    """
    beyond = [
        change
        for change in changes
        if change.verdict == INCONCLUSIVE
        and not (change.unjudged or change.one_seed or change.with_all is not None)
        and abs(change.difference) > change.delta
    ]
    beyond.sort(key=lambda change: -abs(change.difference))
    ways = []
    for way in ("Fairer", "Less fair"):
        by_method: dict[tuple[str, str], list[Change]] = {}
        for change in beyond:
            if change.direction == way.lower():
                by_method.setdefault((change.method, change.of), []).append(change)
        named, others = [*by_method.values()][:LARGE], [*by_method.values()][LARGE:]
        ways.append((way, named, sum(map(len, others))))
    unadjusted = any(change.unadjusted for change in beyond)
    return [say("mitigation_large", ways=ways, unadjusted=unadjusted)] if beyond else []


def by_kind(rows: Iterable[dict[str, Any]]) -> Kinds:
    """Return the rows of `by_method` by what the method changed, or by why it is not known.

    The first row of each attribute precedes the second of any, so that each is named.
    """
    kinds: Kinds = {kind: [] for kind in KINDS}
    for row in rows:
        several = row["changes"]
        elsewhere = any(change.credited and change.elsewhere is not False for change in several)
        if any(change.credited for change in several):
            kind = "fairer" if elsewhere else "fairer_here"
            if worse := row["opposite"]:
                kind = "mixed" if worse.significant else "contradicted"
        else:
            kind = "less_fair" if row["worse"] else "no_addition" if row["better"] else ""
            if row["worse"] and row["aim"] and row["aim"].direction != "less fair":
                kind = "less_fair_by_another"
        for name, part in [(kind, several)] if kind else _without_change(several):
            kinds[name].append((row, len(part)))
    for kind in SIGNIFICANT:
        kinds[kind] = spread(kinds[kind], lambda member: _subject(member[0]["clearest"]))
    return kinds


def _subject(change: Change) -> str:
    """Return the attribute of a change; of people their data set, which has one attribute."""
    return change.attribute or change.of


def _named(kind: str, kinds: Kinds) -> int:
    """Return how many members of a kind are named: each attribute once if significant."""
    attributes = {_subject(row["clearest"]) for row, _ in kinds[kind] if kind in SIGNIFICANT}
    return max(NAMED, len(attributes))


def _without_change(changes: Iterable[Change]) -> list[tuple[str, list[Change]]]:
    """Return the changes of a method without a significant one, by the reason."""
    unjudged = [change for change in changes if change.unjudged]
    judged = [change for change in changes if not change.unjudged]
    reason = "one_seed" if all(change.one_seed for change in judged) else "undecided"
    if all(change.verdict == EQUIVALENT for change in judged):
        reason = "unchanged"
    return [(kind, some) for kind, some in ((reason, judged), ("constant", unjudged)) if some]


def compare_weights(people: Iterable[Path]) -> str:
    """State IFR_p of the plain network with each individual loss at the same weight.

    The changes of several losses are not comparable where their weights differ.
    """
    for path in people:
        rows = where(
            read_tables(path).get("grid", []), method=PLAIN, metric="ifr_p", split="random"
        )
        rows = [row for row in rows if row["individual"] != "none" and row["mean"] is not None]
        for of_one in grouped(rows, "dataset").values():
            weights = [
                {row["lambda"] for row in losses}
                for losses in grouped(of_one, "individual").values()
            ]
            shared = set.intersection(*weights)
            if len(weights) > 1 and len(set.union(*weights)) > 1 and shared:
                at = where(of_one, **{"lambda": max(shared)})
                losses = {loss_title(row["individual"]): row["mean"] for row in at}
                files = ["tables/individual/grid.csv"]
                if len(at) == len(losses):  # one setting of each
                    return say("mitigation_weights", files, weight=max(shared), losses=losses)
    return ""


def _next(changes: Sequence[Change]) -> str:
    """State how many further seeds the largest unconfirmed change lacks.

    If none exceeds delta, it is the change that lacks the fewest seeds.
    Of texts: whether more seeds or more texts are needed.
    One that may be fairer: none that is less fair in these runs, and of no training with a gain
    that its loss adds nothing to.
    """
    vain = {_training(change) for change in changes if change.better and not change.credited}
    lacking = [
        change
        for change in changes
        if change.verdict == INCONCLUSIVE and change.further and change.direction != "less fair"
        if _training(change) not in vain
    ]

    def priority(change: Change) -> tuple[float, int]:
        size = abs(change.difference)
        return -size if size > change.delta else 0.0, change.further

    change = min(lacking, key=priority, default=None)
    if change:
        return say("mitigation_next", [change.file], change=change)
    few = [change for change in changes if change.lacks]
    largest = max(few, key=lambda change: abs(change.difference), default=None)
    return say("mitigation_lacks", [largest.file], changes=few, largest=largest) if largest else ""


def _legal(
    path: Path,
    titles: Mapping[str, str],
    gaps: Mapping[Gap, bool],
    unlearned: Collection[tuple[str, str]],
) -> Iterable[Change]:
    tables = read_tables(path)
    rows = tables["tests"]
    tests = len({test_of(row) for row in rows if row["p_cases_adjusted"] is not None})
    overall = {tuple(row[name] for name in TRAINING): row for row in where(rows, measure="overall")}
    classifiers = _classifiers(rows)
    count = Counter((classifier, objective) for classifier, objective, _ in classifiers)
    for row in rows:
        names = classifiers.get(tuple(row[name] for name in TRAINING), [])
        if (
            names
            and row["measure"] in MEASURES
            and row["difference"] is not None
            and row["verdict"]
        ):
            attribute, trained_for = (
                CROSS.join(
                    titles.get(f"{path.name}/{part}", part) for part in row[name].split(PLUS)
                )
                for name in ("attribute", "trained_for")
            )
            low, high, over = _wider(row)
            of_all = overall.get(tuple(row[name] for name in TRAINING))
            with_all = _with_all(row, of_all, low, high)
            gap = path.name, row["classifier"], row["attribute"], row["measure"]
            yield Change(
                titles.get(f"objectives/{row['objective']}", row["objective"]),
                _of(path, titles, names),
                row["measure"],
                "/".join([*path.parts[-3:], "tests.csv"]),
                row["measure"] in GAPS,
                row["erm"], row["value"], row["difference"], low, high,
                row["delta"], row["verdict"] if with_all is None else INCONCLUSIVE,
                over=over, reason=row["reason"] or "", with_all=with_all,
                seeds=row["seeds"], attribute=attribute,
                lacks=_lacks(row),
                label=row["label"] or "",
                is_named=gap in gaps,
                is_explained=gaps.get(gap, False),
                tests=tests,
                turned=bool(row["turned"]) and row["measure"] in RATES,
                trained_for=trained_for if is_of_other(row) else "",
                named_training=trained_for
                if row["trained_for"] not in (row["attribute"], NO_ATTRIBUTE)
                or count[row["classifier"], row["objective"]] > 1
                else "",
                training=row["trained_for"],
                refitted=row["objective"] in REFITTED,
                not_learned=(path.name, row["classifier"]) in unlearned,
                **_cost(of_all),
            )  # fmt: skip


#: The columns of ``tests`` of texts that name a training.
TRAINING = ("classifier", "objective", "trained_for")

#: Trainings that are alike in these, and not constant, are one, as is their plain training.
ALIKE = ("objective", "trained_for", "attribute", "measure", "label", "seeds", "erm", "value",
         "low", "high")  # fmt: skip


def _of(path: Path, titles: Mapping[str, str], classifiers: list[str]) -> str:
    """Return the title of a data set with the classifiers of one training."""
    data = titles.get(path.name, path.name)
    return plain("mitigation_of", data=data, classifiers=classifiers)


def _classifiers(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[str]]:
    """Return the first of each training's names, with the classifiers that have this training.

    Classifiers may differ only in groups that an objective does not use.
    """

    def numbers(training: tuple[tuple[str, ...], list[Mapping[str, Any]]]) -> tuple[Any, ...]:
        (classifier, *_), several = training
        unlike = any(row["reason"] in (CONSTANT, ONE_CONSTANT) for row in several)
        alike = [tuple(row[name] for name in ALIKE) for row in several]
        return classifier if unlike else "", *alike

    trainings = grouped_by(rows, lambda row: tuple(row[name] for name in TRAINING))
    alike = grouped_by(trainings.items(), numbers).values()
    return {several[0][0]: [classifier for (classifier, *_), _ in several] for several in alike}


def _with_all(
    row: Mapping[str, Any], of_all: Mapping[str, Any] | None, low: float | None, high: float | None
) -> float | None:
    """Return the change over all cases if that of the worst group, with this interval, may be it.

    None of other measures, and where the worst group does not change significantly.
    """
    if row["measure"] != "worst" or row["verdict"] not in (ABOVE, BELOW) or None in (low, high):
        return None
    change = of_all and of_all["difference"]
    return change if change is not None and low <= change <= high else None


def _lacks(row: Mapping[str, Any]) -> str:
    """Return `Change.lacks` of a row of ``tests`` of texts."""

    def is_significant(name: str) -> bool:
        return row[name] is not None and row[name] < ALPHA

    if row["verdict"] != INCONCLUSIVE:
        return ""
    if is_significant("p_cases_adjusted"):
        return "seeds"
    if is_significant("p_seeds_adjusted"):
        return "" if row["p_cases_adjusted"] is None else "cases"
    return "both" if is_significant("p_cases") and is_significant("p_seeds") else ""


def _cost(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fields of `Change` on the accuracy, from the row of its test."""
    if row is None or row["difference"] is None or row["verdict"] is None:
        return {}
    holds = row["verdict"] in (ABOVE, BELOW)
    p = row.get("p_cases_adjusted")
    over = " over seeds" if p is not None and p < ALPHA else ""
    matters = holds or over or abs(row["difference"]) > row["delta"]
    standing = "significant" if holds else f"not significant{over}"
    return {"cost": row["difference"] if matters else None, "cost_standing": standing}


def is_of_other(row: Mapping[str, Any]) -> bool:
    """Return whether a row is of another attribute than the objective was trained for."""
    return not Training("", "", row["trained_for"]).scored_for(row["attribute"])


def _wider(row: Mapping[str, Any]) -> tuple[float | None, float | None, str]:
    """Return the ends of the wider interval of a row of ``tests``, and its units."""
    over = [(row["low"], row["high"], "cases"), (row["seeds_low"], row["seeds_high"], "seeds")]
    known = [(low, high, name) for low, high, name in over if None not in (low, high)]
    return max(known, key=lambda ends: ends[1] - ends[0], default=over[0])


def _people(path: Path, data: Iterable[Path]) -> Iterable[Change]:
    titles = titles_of(read_description(document, RECORD, "prepare_table") for document in data)
    rows = read_tables(path).get("tests", [])
    alone = {_loss(row): row["against_mean"] for row in rows if row["against"] == "none"}
    of_plain = where(rows, against=PLAIN)
    bases = {_base(row): row for row in where(of_plain, individual="none")}
    flips = {_loss(row): row for row in where(of_plain, metric="ifr_b")}
    accuracies = {_loss(row): row for row in where(of_plain, metric="acc")}
    tests = Counter(row["dataset"] for row in rows if row["p_adjusted"] is not None)
    for row in rows:
        compared = row["against"] == PLAIN and row["method"] not in BASELINES
        known = row["metric"] in MEASURES and row["difference"] is not None and row["verdict"]
        if compared and known:
            names = ("against_mean", "mean", "difference", "difference_low", "difference_high")
            numbers = [*(row[name] for name in (*names, "delta")), alone.get(_loss(row))]
            scale, p = POINTS.get(row["metric"], 1), row["p_resampled_adjusted"]
            *numbers, without_loss = (n if n is None else n * scale for n in numbers)
            weight = "" if row["individual"] == "none" else f" (λ {row['lambda']:g})"
            base = bases.get(_base(row))
            flip = flips.get(_loss(row | {"metric": "ifr_b"})) if row["metric"] == "ifr_p" else None
            yield Change(
                who(row).removeprefix("the ") + weight,
                title(row["dataset"], titles),
                row["metric"],
                "tables/individual/tests.csv",
                row["metric"] in GAPS,
                *numbers,
                row["verdict"],
                row["further_seeds"],
                without_loss,
                elsewhere=None if p is None else p < ALPHA,
                seeds=row["seeds"],
                alone_varies=base is not None and _varies_more(base, row),
                decisions=flip and (100 - flip["against_mean"], 100 - flip["mean"]),
                decisions_differ=flip is not None and flip["verdict"] in (ABOVE, BELOW),
                decisions_p=flip and flip["p_adjusted"],
                tests=tests[row["dataset"]],
                **_cost(accuracies.get(_loss(row | {"metric": "acc"}))),
            )


def _loss(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key of a setting and a measure."""
    return tuple(row[name] for name in (*SETTING, "metric"))


def _base(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key of a method without individual loss, and of a measure."""
    return tuple(row[name] for name in ("dataset", "method", "mu", "js_base", "split", "metric"))


def _varies_more(base: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Return whether a difference is undecided, and its interval wider than that of a row."""
    ends = [(some["difference_low"], some["difference_high"]) for some in (base, row)]
    if base["verdict"] != INCONCLUSIVE or None in (*ends[0], *ends[1]):
        return False
    return ends[0][1] - ends[0][0] > ends[1][1] - ends[1][0]


def _figure(changes: Sequence[Change], most: int) -> tuple[LayerChart, str]:
    """Draw the first changes."""
    drawn = changes[:most]
    numbers = [(change.difference, change.low, change.high) for change in drawn]
    ends = [end for triple in numbers for end in triple if end is not None]
    data = {change.of for change in drawn}
    reach = max(5.0, *(abs(end) * 1.05 for end in ends))
    estimates = [
        estimated(
            plain("change_bar", change=change, data=data),
            triple,
            text=signed(change.difference, 1),
            words=say("change_number", change=change),
            kind="more" if change.significant else "unclear",
            band=(-change.delta, change.delta),
        )
        for change, triple in zip(drawn, numbers, strict=True)
    ]
    label = plain("mitigation_figure")
    x = axis(plain("mitigation_axis"), (-reach, reach), **SIGNED)
    trainings = [
        {(each.method, each.of, each.training) for each in some} for some in (drawn, changes)
    ]
    caption = say("mitigation_caption", numbers=[*map(len, trainings)], data=data)
    words = {"line": plain("mitigation_interval"), "hollow": plain("not_significant")}
    key = plain("figure_key", band="delta", delta=drawn[0].delta, **words)
    return forest(estimates, x, label, key=key, centre=0), caption
