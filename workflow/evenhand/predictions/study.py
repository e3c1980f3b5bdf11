"""Metrics of predictions in each group: shares, macro-F1, calibration, with their items.

Each metric is a ratio of sums over cases or a smooth function of such, so that tests and intervals
are those of `evenhand.metrics.inference`, over clusters where there are any.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand.core.numbers import MOST_GROUPS, low_end
from evenhand.core.phrases import phrases_of
from evenhand.metrics.calibration import bin_values, calibration_error
from evenhand.metrics.classification import counts_of, has_few, influence, over_occurring, stacked
from evenhand.metrics.disparity import permuted_sums, random_group_tests
from evenhand.metrics.group import group_sums
from evenhand.metrics.individual import similar_outputs
from evenhand.metrics.inference import (
    LEAST_EFFECTIVE,
    bounded,
    correlation_of_means,
    difference_interval,
    effective_number,
    inverted_p_value,
    p_value_with_runs,
    share_interval,
    total,
    with_runs,
)
from evenhand.predictions.read import COUNTERFACTUALS, Predictions, one_hot
from evenhand.predictions.words import ALL
from evenhand.text.phrases import CROSS

#: Metrics that are shares of cases, by name, with their meaning.
SHARES = phrases_of(__file__)["shares"]

#: All metrics of a group.
METRICS = SHARES | phrases_of(__file__)["others"]

#: Scores are reversed if they rank positive cases below others with a p-value below this.
MOST_P_REVERSED = 0.001

#: Random groups behind a noise floor; and of calibration errors, whose tests they are, where one of
#: these may be significant, unless the product with the cases exceeds `MOST_DRAWN`.
PERMUTATIONS, FURTHER_PERMUTATIONS = 1000, 10_000
MOST_DRAWN = 500_000_000

#: Without a positive label, the recall of so many labels is computed: the most frequent ones.
MOST_RECALLS = 20


class Metric(NamedTuple):
    """A metric of `METRICS`, and the label that it is of."""

    metric: str
    label: str | None = None


@dataclass(frozen=True, eq=False)
class Attribute:
    """The groups of an attribute or of an intersection.

    Attributes
    ----------
    name : str
    values : list of str
        The groups.
    codes : array of int, shape (n,)
        Places in `values`; -1 where the group is missing.
    """

    name: str
    values: list[str]
    codes: np.ndarray


class Sides(NamedTuple):
    """A group, and the others that it is compared with.

    Attributes
    ----------
    counted : two arrays of bool, shape (n,)
        The cases in the denominator of the metric.
    values : two arrays of float
        Of these cases: their mean is the metric.
    runs : array of float, shape (runs,)
        The difference of the metric by each run; empty with a reason.
    reason : str
        Why there is no test.
    open : tuple of float
        By how much macro-F1 of the others may be below and above their value at most, as of groups
        without a test it may be anything from 0 to 1.
    """

    counted: list[np.ndarray]
    values: list[np.ndarray]
    runs: np.ndarray
    reason: str = ""
    open: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class PredictionStudy:
    """Predictions, and how they are judged.

    Parameters
    ----------
    predictions : Predictions
    delta : float
        The smallest difference that matters, in percentage points.
    level : float
        Coverage of intervals; one minus the size of tests.
    seed : int
        Of random groups.
    """

    predictions: Predictions
    delta: float = 5.0
    level: float = 0.95
    seed: int = 0

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The attributes, and the intersections of each two with at most `MOST_GROUPS` groups."""
        return [
            attribute for attribute in self._every_attribute if len(attribute.values) <= MOST_GROUPS
        ]

    @property
    def not_crossed(self) -> list[str]:
        """The intersections with more groups."""
        return [
            attribute.name
            for attribute in self._every_attribute
            if attribute not in self.attributes
        ]

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """The rows that could not be used."""
        return self.predictions.left_out

    @cached_property
    def _every_attribute(self) -> list[Attribute]:
        names = list(self.predictions.groups)
        parts = [(name,) for name in names] + list(combinations(names, 2))
        return [self._attribute(part) for part in parts]

    def _attribute(self, names: tuple[str, ...]) -> Attribute:
        columns = [self.predictions.groups[name] for name in names]
        joined = np.array([
            CROSS.join(cells) if all(cells) else ""
            for cells in zip(*(column.tolist() for column in columns), strict=True)
        ])  # fmt: skip
        values = sorted(set(joined.tolist()) - {""}, key=order_of)
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place.get(value, -1) for value in joined.tolist()])
        return Attribute(CROSS.join(names), values, codes)

    @cached_property
    def ratios(self) -> dict[Metric, np.ndarray]:
        """Numerator (its mean over runs) and denominator of each case, by metric of `SHARES`.

        Where no label is positive, the TPR of each of `MOST_RECALLS` labels: its recall.
        """
        predictions, every = self.predictions, np.ones(len(self.predictions.id), dtype=bool)
        counted = {Metric("accuracy"): every}
        by_size = np.argsort(-predictions.true.sum(axis=0), kind="stable")
        recalled = {*by_size[:MOST_RECALLS].tolist()} if predictions.positive is None else set()
        for place, label in enumerate(predictions.classes):
            positive = predictions.true[:, place]
            if predictions.several or place == predictions.positive:
                counted[Metric("selection_rate", label)] = every
                counted[Metric("tpr", label)] = positive
                counted[Metric("fpr", label)] = ~positive
            elif place in recalled:
                counted[Metric("tpr", label)] = positive
        return {
            metric: np.stack([self._hits(metric).mean(axis=0) * below, below], axis=1).astype(float)
            for metric, below in counted.items()
        }

    def _hits(self, metric: Metric) -> np.ndarray:
        """Whether each run predicts a case right, or its label, shape (runs, n)."""
        predictions = self.predictions
        if metric.label is None:
            return (predictions.predicted == predictions.true).all(axis=2)
        return predictions.predicted[..., predictions.classes.index(metric.label)]

    @cached_property
    def recalls(self) -> np.ndarray | None:
        """The recall of each case's label over all cases; None where a case has several."""
        if self.predictions.several:
            return None
        codes = self.predictions.true.argmax(axis=1)
        right = self._hits(Metric("accuracy")).mean(axis=0)
        return (np.bincount(codes, right) / np.maximum(np.bincount(codes), 1))[codes]

    def of_runs(self, metric: Metric, chosen: np.ndarray) -> np.ndarray:
        """Return a share or macro-F1 of some cases by each run."""
        if metric in self.ratios:
            below = self.ratios[metric][chosen, 1]
            return self._hits(metric)[:, chosen] @ below / below.sum()
        counts = counts_of(self.one_hot[chosen].sum(axis=0), len(self.predictions.classes))
        return over_occurring(counts)

    @cached_property
    def one_hot(self) -> np.ndarray:
        """The terms of `evenhand.metrics.classification.stacked`, as float64."""
        return stacked(self.predictions.true, self.predictions.predicted).astype(float)

    @cached_property
    def calibrated(self) -> np.ndarray | None:
        """`bin_values` of each run: of the positive class, the predicted one, or of all."""
        predictions = self.predictions
        if predictions.probabilities is None:
            return None
        if predictions.several or (
            predictions.positive is not None and len(predictions.classes) == 2
        ):
            some = slice(None) if predictions.several else [predictions.positive]
            confidence = predictions.probabilities[..., some]
            holds = np.broadcast_to(predictions.true[:, some], confidence.shape)
        else:
            confidence = predictions.probabilities.max(axis=2, keepdims=True)
            holds = (predictions.predicted & predictions.true).any(axis=2, keepdims=True)
        return np.hstack([bin_values(*run) for run in zip(confidence, holds, strict=True)])

    @cached_property
    def counterfactuals(self) -> pd.DataFrame:
        """The counterfactual rows, with the values whose means are the numbers of their table.

        The columns are ``place`` (of the factual case), ``attribute`` (the changed one), ``value``
        (the value that it is set to), those of `evenhand.predictions.tables.counterfactuals`, and
        with a positive label that of `evenhand.predictions.tables.counterfactual_values`.
        """
        predictions, cases = self.predictions, self.predictions.factual
        before, after = predictions.predicted[0, cases], predictions.flipped_predicted
        names = {"attribute": predictions.changed, "value": predictions.set_to}
        rows = pd.DataFrame({"place": cases, **names})
        rows["ifr_b"] = 100.0 * (before == after).all(axis=1)
        if predictions.flipped is not None:
            p, flipped = predictions.probabilities[0, cases], predictions.flipped
            rows["ifr_p"] = 100.0 * similar_outputs(p, flipped[:, None])
            rows["moved"] = np.abs(flipped - p).sum(axis=1) / 2
            before, after = p, flipped
        if predictions.positive is not None:
            rows["signed_change"] = (after - before.astype(float))[:, predictions.positive]
        return rows

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that these predictions have."""
        has_bins = self.calibrated is not None
        return [*self.ratios, Metric("macro_f1"), *([Metric("ece")] if has_bins else [])]

    def of_sums(self, metric: Metric, sums: np.ndarray) -> np.ndarray:
        """Return a metric from sums of `values_of`, shape (..., m); NaN without a case.

        Macro-F1 and the calibration error are means over the runs of the metric of each run.
        """
        if metric.metric == "ece":
            return calibration_error(self.by_run(sums)).mean(axis=-1)
        if metric.metric == "macro_f1":
            counts = counts_of(sums, len(self.predictions.classes))
            return over_occurring(counts).mean(axis=-1)
        return _divide(sums[..., 0], sums[..., 1])

    def by_run(self, sums: np.ndarray) -> np.ndarray:
        """Return sums of `calibrated` with an axis of runs: (..., runs, 3 bins)."""
        return sums.reshape(*sums.shape[:-1], len(self.predictions.predicted), -1)

    def values_of(self, metric: Metric) -> np.ndarray:
        """Return each case's terms in the sums of a metric, shape (n, m)."""
        if metric.metric == "ece":
            return self.calibrated
        return self.one_hot if metric.metric == "macro_f1" else self.ratios[metric]

    def by_group(self, metric: Metric, attribute: Attribute) -> np.ndarray:
        """Return a metric of each group."""
        sums = group_sums(self.values_of(metric), attribute.codes, len(attribute.values))
        return self.of_sums(metric, sums)

    @cached_property
    def noise(self) -> dict[tuple[Metric, str], np.ndarray]:
        """Each metric of random groups of the same sizes, by metric and attribute's name.

        The shape is (permutations, groups). For the rates of a label, random groups have as many
        cases of each label. Clusters exchange their groups. The draw follows the ids, so that the
        order of the rows of a file does not matter. Of a calibration error there are more draws,
        whose first are the same, where a p-value may be significant: of so few it is coarse.
        """
        noise = {}
        strata = dict.fromkeys(map(self._stratum, self.metrics))
        further = min(FURTHER_PERMUTATIONS, MOST_DRAWN // len(self.predictions.id))
        for attribute, label in product(self.attributes, strata):
            together = [each for each in self.metrics if self._stratum(each) == label]
            drawn = self._draw(together, attribute, PERMUTATIONS)
            for metric in together:
                if metric.metric == "ece" and further > PERMUTATIONS:
                    values = self.by_group(metric, attribute)
                    of_gap, of_groups = random_group_tests(values, drawn[metric])
                    if min(of_gap, np.nanmin(of_groups)) <= 1 - self.level:
                        drawn |= self._draw([metric], attribute, further)
            noise |= {(metric, attribute.name): values for metric, values in drawn.items()}
        return noise

    def _draw(
        self, metrics: list[Metric], attribute: Attribute, permutations: int
    ) -> dict[Metric, np.ndarray]:
        """Return metrics of one stratum of random groups, of shape (permutations, groups)."""
        by_id, clusters = self._by_id
        known = by_id[attribute.codes[by_id] >= 0]
        label = self._stratum(metrics[0])
        values = [self.values_of(each)[known] for each in metrics]
        sums = permuted_sums(
            np.hstack(values),
            attribute.codes[known],
            len(attribute.values),
            seed=self.seed,
            permutations=permutations,
            strata=None if label is None else self._strata(label)[known].astype(int),
            clusters=clusters[known] if self.clustered else None,
        )
        ends = np.cumsum([each.shape[1] for each in values])[:-1]
        parts = zip(metrics, np.split(sums, ends, axis=2), strict=True)
        return {each: self.of_sums(each, part) for each, part in parts}

    @cached_property
    def _by_id(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the cases in the order of their ids, and the clusters as numbers."""
        clusters = np.unique(self.predictions.clusters, return_inverse=True)[1]
        return np.argsort(self.predictions.id, kind="stable"), clusters

    def _stratum(self, metric: Metric) -> str | None:
        """The label that random groups keep; blank for that of each case, None for none."""
        if metric.metric not in ("tpr", "fpr"):
            return None
        return metric.label if self.predictions.several else ""

    def _strata(self, label: str) -> np.ndarray:
        predictions = self.predictions
        return (
            predictions.true[:, predictions.classes.index(label)]
            if label
            else predictions.true.argmax(axis=1)
        )

    def interval(self, metric: Metric, chosen: np.ndarray) -> tuple[float, float] | None:
        """Return the interval of a share or macro-F1 over some cases; None of another metric."""
        if metric.metric == "ece" or not chosen.any():
            return None
        clusters, is_share = self.predictions.clusters[chosen], metric in self.ratios
        if is_share:
            above, below = self.ratios[metric][chosen].T
            if not below.any():
                return None
            totals = total(above, clusters, below)
        elif self._has_few(chosen):
            return None
        else:
            totals = total(self.pseudo_values(metric, [chosen])[chosen], clusters)
        of_cases = share_interval(totals, pseudo_values=not is_share)
        interval = with_runs(of_cases, self.of_runs(metric, chosen))(self.level)
        return bounded(interval, 0.0, 1.0)

    @cached_property
    def clustered(self) -> bool:
        """Whether cases depend on each other."""
        return len(np.unique(self.predictions.clusters)) < len(self.predictions.clusters)

    @cached_property
    def beside_others(self) -> dict[tuple[Metric, str], list[dict[str, Any]]]:
        """`differ` of each group and all others, by metric and attribute's name."""
        return {
            (metric, attribute.name): [
                self.differ(metric, codes, code) for code in range(len(attribute.values))
            ]
            for attribute in self.attributes
            for codes in [attribute.codes]
            for metric in self.metrics
        }

    @property
    def uniform(self) -> str | None:
        """``right`` if every prediction is right, ``same`` if those of each run are alike."""
        predicted = self.predictions.predicted
        same = bool((predicted == predicted[:, :1]).all())
        right = self._hits(Metric("accuracy")).all()
        return "right" if right else "same" if same else None

    @property
    def tied(self) -> dict[str, dict[str, int]]:
        """The cases of each group whose largest probabilities tie, where any do; first of all."""
        tied, every = np.flatnonzero(self.predictions.tied), np.zeros(len(self.predictions.id), int)
        counts = {
            name: {value: int((codes[tied] == code).sum()) for code, value in enumerate(values)}
            for name, values, codes in [(ALL, [ALL], every), *map(astuple, self.attributes)]
        }
        return counts if len(tied) else {}

    @property
    def majority(self) -> float | None:
        """The share of the most frequent class; None if a case may have several."""
        return None if self.predictions.several else float(self.predictions.true.mean(axis=0).max())

    @property
    def auc_reversed(self) -> dict[str, float]:
        """The area under the ROC curve of the labels with one well below 0.5.

        Of two labels only the positive one. Of the probability, or of the prediction;
        `MOST_P_REVERSED` is divided by the labels, and of the means by cluster.
        """
        from scipy.stats import mannwhitneyu

        predictions, classes = self.predictions, self.predictions.classes
        scores = predictions.probabilities
        scores = (predictions.predicted if scores is None else scores).mean(axis=0)
        labels = range(len(classes))
        if len(classes) == 2 and not predictions.several:  # the scores of the other one mirror it
            labels = [1 if predictions.positive is None else predictions.positive]
        clusters = np.unique(predictions.clusters, return_inverse=True)[1]
        aucs = {}
        for at in labels:
            cases = pd.DataFrame({"score": scores[:, at], "true": predictions.true[:, at]})
            means = cases.groupby([clusters, "true"], as_index=False).mean()
            samples = [
                [part.loc[part["true"] == side, "score"] for side in (True, False)]
                for part in (cases, means)
            ]
            if not all(map(len, samples[0])):
                continue
            auc, test = (mannwhitneyu(*pair, alternative="less") for pair in samples)
            if test.pvalue < MOST_P_REVERSED / len(labels):
                aucs[classes[at]] = float(auc.statistic) / math.prod(map(len, samples[0]))
        return aucs

    def differ(self, metric: Metric, codes: np.ndarray, code: int) -> dict[str, Any]:
        """Compare a metric of a group with that of all other cases with a group.

        Macro-F1 is compared with the mean of the other groups, weighted by their cases: of all
        others together it may be far above that of each of them, where their labels are unlike.
        Groups without a test of their own make the interval wider (`Sides.open`).

        Parameters
        ----------
        metric : Metric
            One of `metrics`.
        codes : array of int, shape (n,)
            Groups; -1 is none.
        code : int
            The group.

        Returns
        -------
        dict
            rest, difference with interval, p_value, equivalent (within delta), reason; empty for a
            calibration error, and without other cases. Of several runs the interval is over
            cases and runs, and the p-value that of `p_value_with_runs`.
        """
        if (sides := self.sides(metric, codes, code)) is None:
            return {}
        if not sides.values:
            return {"reason": sides.reason}
        samples, is_share = sides.values, metric in self.ratios
        members = [self.predictions.clusters[part] for part in sides.counted]
        first, second = (float(sample.mean()) for sample in samples)
        result: dict[str, Any] = {"rest": second, "difference": first - second}
        if sides.reason:
            return result | {"reason": sides.reason}
        totals = [total(*part) for part in zip(samples, members, strict=True)]
        shared = correlation_of_means(samples, members) if self.clustered else 0.0
        of_tested = difference_interval(
            totals, first, second, pseudo_values=not is_share, correlation=shared
        )

        def interval(level: float) -> tuple[float, float]:
            low, high = of_tested(level)
            return low - sides.open[1], high + sides.open[0]

        both = with_runs(interval, sides.runs)
        result["difference_low"], result["difference_high"] = bounded(both(self.level), -1.0, 1.0)
        inner, delta = both(2 * self.level - 1), self.delta / 100
        result["equivalent"] = bool(-delta < inner[0] and inner[1] < delta)
        joined = np.concatenate(members)
        several_runs = len(sides.runs) > 1
        alone = len(np.unique(joined)) == len(joined) and not several_runs
        result["p_value"] = _fisher(*samples) if is_share and alone else inverted_p_value(interval)
        if several_runs:
            result["p_value"] = p_value_with_runs(result["p_value"], both, self.level)
        return result

    def sides(self, metric: Metric, codes: np.ndarray, code: int) -> Sides | None:
        """Return the sides of `differ`; None of a calibration error, and without other cases."""
        some, others = codes == code, (codes >= 0) & (codes != code)
        if metric.metric == "ece" or not others.any():
            return None
        is_share = metric in self.ratios
        rest = [others] if is_share else [codes == each for each in np.unique(codes[others])]
        values = [self.pseudo_values(metric, groups) for groups in ([some], rest)]
        parts = [np.isfinite(array) for array in values]
        if not all(part.any() for part in parts):
            return Sides(parts, [], np.empty(0), "no cases")
        sizes = [self._effective(part) for part in parts]
        reason, runs = "", np.empty(0)
        if min(sizes) < LEAST_EFFECTIVE:
            reason = "few clusters" if self.clustered else "few cases"
        elif not is_share and (self._has_few(some) or all(map(self._is_small, rest))):
            reason = "few cases of a class, or few errors"
        else:
            shares = [group.sum() for group in rest]
            first, *of_rest = [self.of_runs(metric, group) for group in (some, *rest)]
            runs = first - np.average(of_rest, axis=0, weights=shares)
        samples = [array[part] for array, part in zip(values, parts, strict=True)]
        small = [] if is_share else [group for group in rest if self._is_small(group)]
        weights = np.array([group.sum() / others.sum() for group in small])
        scores = np.array([values[1][group].mean() for group in small])
        below, above = weights @ scores, weights @ (1 - scores)
        return Sides(parts, samples, runs, reason, (float(below), float(above)))

    def _effective(self, chosen: np.ndarray) -> float:
        """The effective number of clusters of some cases."""
        sizes = np.unique(self.predictions.clusters[chosen], return_counts=True)[1]
        return effective_number(sizes)

    def _is_small(self, group: np.ndarray) -> bool:
        """Whether macro-F1 of a group has no test."""
        return self._effective(group) < LEAST_EFFECTIVE or self._has_few(group)

    def _has_few(self, chosen: np.ndarray) -> bool:
        """Whether macro-F1 of these cases has no interval."""
        return has_few(self.predictions.true[chosen], self.predictions.predicted[:, chosen])

    def pseudo_values(self, metric: Metric, groups: Sequence[np.ndarray]) -> np.ndarray:
        """Values of cases whose mean over each of the groups is the metric; NaN: does not count."""
        pseudo_values = np.full(len(self.predictions.id), np.nan)
        for chosen in groups:
            if metric in self.ratios:
                above, below = self.ratios[metric][chosen].T
                pseudo_values[chosen] = np.where(below > 0, above, np.nan)
                continue
            values = self.one_hot[chosen]
            of_case = influence(values, len(self.predictions.classes), over_occurring).mean(axis=1)
            estimate = self.of_sums(metric, values.sum(axis=0))
            pseudo_values[chosen] = estimate + len(values) * of_case
        return pseudo_values

    def cases(self) -> Iterator[dict[str, Any]]:
        """Yield each case: `CASE_COLUMNS` and groups; the prediction is that of most runs.

        If there are counterfactual rows, also those of the case (`counterfactuals`).
        """
        predictions, rows = self.predictions, {}
        if len(predictions.factual):
            rows = {n: [] for n in range(len(predictions.id))}
            for row in self.counterfactuals.to_dict("records"):
                rows[row.pop("place")].append(row)
        shares = predictions.predicted.mean(axis=0)
        most = (
            shares > 0.5
            if predictions.several
            else one_hot(shares.argmax(axis=1), predictions.classes)
        )
        p = None if predictions.probabilities is None else predictions.probabilities.mean(axis=0)
        for i, name in enumerate(predictions.id.tolist()):
            right = bool((predictions.true[i] == most[i]).all())
            outcome = "right" if right else "wrong"
            if predictions.positive is not None:
                sign = "positive" if most[i, predictions.positive] else "negative"
                outcome = f"{'true' if right else 'false'} {sign}"
            at = predictions.positive if predictions.positive is not None else int(most[i].argmax())
            yield {
                "id": name,
                "label": self._named(predictions.true[i]),
                "prediction": self._named(most[i]),
                "probability": None if p is None or predictions.several else p[i, at],
                "outcome": outcome,
                "cluster": predictions.clusters[i],
                **{name: cells[i] for name, cells in predictions.groups.items()},
                **({COUNTERFACTUALS: rows[i]} if rows else {}),
            }

    def _named(self, of_case: np.ndarray) -> str:
        """Return the labels of a case in words."""
        classes = self.predictions.classes
        return "; ".join(classes[i] for i in np.flatnonzero(of_case)) or "none"


def order_of(name: str) -> list[tuple[float, str]]:
    """Numbers and bins by size, other groups by name."""
    return [(low_end(part), part) for part in name.split(CROSS)]


def _divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    above, below = np.asarray(above, float), np.asarray(below, float)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def _fisher(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of Fisher's exact test of two samples of hits."""
    from scipy.stats import fisher_exact

    table = [[int(part.sum()), int(len(part) - part.sum())] for part in (first, second)]
    return float(fisher_exact(table).pvalue)
