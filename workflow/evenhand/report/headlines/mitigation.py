"""The headline on mitigation: the largest changes against plain training."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from altair import LayerChart

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table, read_tables
from evenhand.individual.names import loss_title, title, titles_of, who
from evenhand.individual.results import SETTING
from evenhand.io.documents import read_description
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_SEED
from evenhand.metrics.inference import ABOVE, BELOW, EQUIVALENT, INCONCLUSIVE
from evenhand.report.figures import SIGNED, axis, estimated, forest
from evenhand.report.headline import Headline, ResultFiles, say, strength
from evenhand.report.render import signed
from evenhand.tabular.prepared import RECORD

FILES = {
    "classifiers": "tables/classifiers/*",
    "people": "tables/individual",
    "data": "tabular/*/data.json",
}

#: The measures that mitigation should change, and their names.
MEASURES = {
    "gd": "the group disparity of {}",
    "worst": "the score of the worst group of {}",
    "ifr_p": "IFR_p (per cent of people whose predicted probability hardly changes with the"
    " attribute flipped; high is fair)",
    "ddp": "dDP (difference of the groups’ shares of positive predictions; low is fair)",
}

#: Those of which less is fairer.
GAPS = ("gd", "ddp")

#: Points of a unit of a measure that is no percentage.
POINTS = {"ddp": 100}

#: The baseline of the methods for tables of people: plain training.
PLAIN = "mlp"

#: A network without the attribute has an IFR of 100 by construction, which is no finding.
BY_CONSTRUCTION = (("mlp_without_attribute", "ifr_p"),)

#: Methods of tables of people that mitigate nothing.
BASELINES = ("logistic_regression", "majority", "eidig_base", "eidig_control")

#: A p-value below which a change is significant.
CHANCE = 0.05

#: Changes in words, and in the figure.
LINES, SHOWN = 3, 6


class Change(NamedTuple):
    """The change of a measure under a method against plain training, in points.

    Attributes
    ----------
    method, of, measure, file : str
        The method, the data set, the measure that changed, and its table.
    gap : bool
        Whether less of the measure is fairer.
    before, after, difference, low, high, delta : float or None
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

    @property
    def unjudged(self) -> bool:
        """Whether both classifiers predict the same for every case."""
        return self.reason == CONSTANT

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
    def better(self) -> bool:
        """Whether the difference is significant, and towards more fairness."""
        return self.verdict == (BELOW if self.gap else ABOVE)

    @property
    def strength(self) -> float:
        """The difference in halves of its interval."""
        return strength(self.difference, 0, self.low, self.high)

    @property
    def short(self) -> str:
        """The measure without its explanation."""
        return self.measure.partition(" (")[0]

    @property
    def words(self) -> str:
        """The change with interval and verdict."""
        return say("change", [self.file], change=self)

    @property
    def in_short(self) -> str:
        """The same without method and explanation, for a row of the method."""
        return say("change_short", [self.file], change=self)


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline on mitigation.

    The titles are those of legal data sets by name, of attributes by ``data_set/attribute``, and
    of objectives by ``objectives/name``.
    """
    paths = ResultFiles(files, FILES).paths
    changes = find_changes(paths["classifiers"], paths["people"], paths["data"], titles)
    return conclude(changes, compare_weights(paths["people"]))


def find_changes(
    classifiers: Iterable[Path],
    people: Iterable[Path],
    data: Sequence[Path],
    titles: Mapping[str, str],
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
    """
    changes = [change for path in classifiers for change in _legal(path, titles)]
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
    """Return a row per method: method, comparisons, better, worse, clearest (in words).

    Where none is significant, `opposite` is the clearest change in the other direction.
    """
    by_name: dict[str, list[Change]] = {}
    for change in changes:
        by_name.setdefault(change.method, []).append(change)
    return [
        {
            "method": method,
            "comparisons": len(several),
            "better": sum(change.better for change in several),
            "worse": sum(change.significant and not change.better for change in several),
            "clearest": several[0].in_short,
            "opposite": "" if several[0].significant else _opposite(several),
            "changes": several,
        }
        for method, several in by_name.items()
    ]


def _opposite(changes: Sequence[Change]) -> str:
    """Return in words the clearest change in the other direction than the first, if any."""
    ways = [change for change in changes if change.direction and not change.unjudged]
    other = (change.in_short for change in ways if change.direction != ways[0].direction)
    return next(other, "")


def conclude(order: Sequence[Change], weights: str = "") -> Headline:
    """Return the headline of changes in the order of `find_changes`.

    `weights` is the sentence of `compare_weights`.
    """
    if not order:
        return Headline(sentence=say("mitigation_nothing"))
    files = list(dict.fromkeys(change.file for change in order))
    significant = sum(change.significant for change in order)
    figure, caption = _figure(order[:SHOWN], len(order))
    clearest = [change for change in order if change.significant or not significant]
    lines = [change.words for change in clearest[:LINES]]
    return Headline(
        sentence=say("mitigation_found", files, changes=order),
        more=[*lines, weights] if weights else lines,
        main=lines[0] if significant else "",
        short=_short(order),
        next=_next(order),
        figure=figure,
        caption=caption,
        figure_files=files,
        strength=order[0].strength if significant else 0.0,
    )


def _short(changes: Iterable[Change]) -> str:
    """Name the methods by what they changed, and those without a change by the reason."""
    kinds = (
        "fairer", "fairer_here", "no_addition", "less_fair", "mixed", "unchanged", "undecided",
        "one_seed", "constant",
    )  # fmt: skip
    methods: dict[str, list[str]] = {kind: [] for kind in kinds}
    for row in by_method(changes):
        several, name = row["changes"], row["method"].removeprefix("the ")
        elsewhere = any(change.credited and change.elsewhere is not False for change in several)
        if any(change.credited for change in several):
            by_reason = {
                "mixed" if row["worse"] else "fairer" if elsewhere else "fairer_here": several
            }
        elif row["worse"]:
            by_reason = {"less_fair": several}
        else:
            by_reason = {"no_addition": several} if row["better"] else _without_change(several)
        for kind, part in by_reason.items():
            some = {"part": len(part), "total": len(several)} if len(by_reason) > 1 else {}
            methods[kind].append(say("mitigation_method", method=name, **some))
    return say("mitigation_short", methods=methods)


def _without_change(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """Return the changes of a method without a significant one, by the reason."""
    unjudged = [change for change in changes if change.unjudged]
    judged = [change for change in changes if not change.unjudged]
    reason = "one_seed" if all(change.one_seed for change in judged) else "undecided"
    if all(change.verdict == EQUIVALENT for change in judged):
        reason = "unchanged"
    return {kind: some for kind, some in ((reason, judged), ("constant", unjudged)) if some}


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
                files = [f"{FILES['people']}/grid.csv"]
                if len(at) == len(losses):  # one setting of each
                    return say("mitigation_weights", files, weight=max(shared), losses=losses)
    return ""


def _next(changes: Iterable[Change]) -> str:
    """State how many further seeds the comparison that needs the fewest of them lacks."""
    lacking = [change for change in changes if change.verdict == INCONCLUSIVE and change.further]
    change = min(lacking, key=lambda change: change.further, default=None)
    return say("mitigation_next", [change.file], change=change) if change else ""


def _legal(path: Path, titles: Mapping[str, str]) -> Iterable[Change]:
    for row in read_table(path / "tests.csv"):
        if row["measure"] in MEASURES and row["difference"] is not None and row["verdict"]:
            attribute = titles.get(f"{path.name}/{row['attribute']}", row["attribute"])
            yield Change(
                titles.get(f"objectives/{row['objective']}", row["objective"]),
                f"{titles.get(path.name, path.name)} ({row['classifier']})",
                MEASURES[row["measure"]].format(attribute),
                "/".join([*path.parts[-3:], "tests.csv"]),
                row["measure"] in GAPS,
                row["erm"], row["value"], row["difference"], row["low"], row["high"],
                row["delta"], row["verdict"], reason=row["reason"] or "", seeds=row["seeds"],
            )  # fmt: skip


def _people(path: Path, data: Iterable[Path]) -> Iterable[Change]:
    titles = titles_of(read_description(document, RECORD, "prepare_table") for document in data)
    rows = read_tables(path).get("tests", [])
    alone = {_loss(row): row["against_mean"] for row in rows if row["against"] == "none"}
    for row in rows:
        compared = row["against"] == PLAIN and row["method"] not in BASELINES
        compared = compared and (row["method"], row["metric"]) not in BY_CONSTRUCTION
        known = row["metric"] in MEASURES and row["difference"] is not None and row["verdict"]
        if compared and known:
            names = ("against_mean", "mean", "difference", "difference_low", "difference_high")
            numbers = [*(row[name] for name in (*names, "delta")), alone.get(_loss(row))]
            scale, p = POINTS.get(row["metric"], 1), row["p_resampled_adjusted"]
            *numbers, without_loss = (n if n is None else n * scale for n in numbers)
            weight = "" if row["individual"] == "none" else f" (λ {row['lambda']:g})"
            yield Change(
                who(row) + weight,
                title(row["dataset"], titles),
                MEASURES[row["metric"]],
                f"{FILES['people']}/tests.csv",
                row["metric"] in GAPS,
                *numbers,
                row["verdict"],
                row["further_seeds"],
                without_loss,
                elsewhere=None if p is None else p < CHANCE,
                seeds=row["seeds"],
            )


def _loss(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key of a setting and a measure."""
    return tuple(row[name] for name in (*SETTING, "metric"))


def _figure(changes: Sequence[Change], total: int) -> tuple[LayerChart, str]:
    numbers = [(change.difference, change.low, change.high) for change in changes]
    ends = [end for triple in numbers for end in triple if end is not None]
    data = {change.of for change in changes}
    reach = max(5.0, *(abs(end) * 1.05 for end in ends))
    estimates = [
        estimated(
            f"{change.of}, " * (len(data) > 1) + f"{change.short} {'↓' if change.gap else '↑'}"
            f" {change.method.removeprefix('the ')}",
            triple,
            text=signed(change.difference, 1),
            words=say("change_number", change=change),
            kind="more" if change.significant else "unclear",
            band=(-change.delta, change.delta),
        )
        for change, triple in zip(changes, numbers, strict=True)
    ]
    x = axis("Change against plain training, points", (-reach, reach), **SIGNED)
    label = "The clearest changes against plain training, with their intervals"
    caption = say("mitigation_caption", number=len(changes), changes=total, data=data)
    return forest(estimates, x, label, centre=0), caption
