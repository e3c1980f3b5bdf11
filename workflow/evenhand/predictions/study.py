"""Metrics of predictions in each group: shares, macro-F1, calibration, with their items.

Each metric is a ratio of sums over cases or a smooth function of such, so that tests and intervals
are those of `evenhand.metrics.inference`, over clusters where there are any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.metrics.calibration import bin_values, calibration_error
from evenhand.metrics.disparity import group_sums, permuted_sums
from evenhand.metrics.inference import (
    LEAST_EFFECTIVE,
    Inference,
    effective_number,
    infer,
    korn_graubard,
    sign_flip_interval,
    sign_flip_p_value,
    total,
)
from evenhand.predictions.read import MOST_GROUPS, Predictions
from evenhand.tabular.numbers import low_end

#: Metrics that are shares of cases, by name, with their meaning.
SHARES = {
    "accuracy": "cases whose prediction is their label",
    "selection_rate": "cases that are predicted positive",
    "tpr": "positive cases that are predicted positive",
    "fpr": "negative cases that are predicted positive",
}

#: All metrics of a group.
METRICS = SHARES | {
    "macro_f1": "mean F1 of the classes that occur as label or prediction",
    "ece": "expected calibration error of the probability (15 bins); higher is worse",
}

#: Macro-F1 has an interval where each class has so many cases, and so many predictions are wrong:
#: with fewer its distribution is far from normal, and intervals of 95 % cover 50 to 90 %.
LEAST_OF_CLASS, LEAST_WRONG = 15, 5

#: Random groups behind a noise floor.
PERMUTATIONS = 1000

#: Attributes of an intersection are joined by this, and their groups too.
CROSS = " × "


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
        return [one for one in self._every_attribute if len(one.values) <= MOST_GROUPS]

    @property
    def not_crossed(self) -> list[str]:
        """The intersections with more groups."""
        return [one.name for one in self._every_attribute if one not in self.attributes]

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
        values = sorted(set(joined.tolist()) - {""}, key=_order)
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place.get(one, -1) for one in joined.tolist()])
        return Attribute(CROSS.join(names), values, codes)

    @cached_property
    def ratios(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Numerator and denominator of each case, by metric of `SHARES`."""
        own, every = self.predictions, np.ones(len(self.predictions.id))
        found = {"accuracy": (own.true == own.predicted, every)}
        if own.positive is not None:
            chosen, positive = own.predicted == own.positive, own.true == own.positive
            found["selection_rate"] = chosen, every
            found["tpr"] = chosen & positive, positive
            found["fpr"] = chosen & ~positive, ~positive
        return {
            name: (above.astype(float), np.asarray(below, float))
            for name, (above, below) in found.items()
        }

    @cached_property
    def one_hot(self) -> np.ndarray:
        """Label, prediction and both by class, shape (n, 3 k)."""
        eye = np.eye(len(self.predictions.classes))
        true, predicted = eye[self.predictions.true], eye[self.predictions.predicted]
        return np.hstack([true, predicted, true * predicted])

    @cached_property
    def calibrated(self) -> np.ndarray | None:
        """The sums of `bin_values` of each case: of the positive class, or of the predicted one."""
        own = self.predictions
        if own.probabilities is None:
            return None
        if own.positive is not None and len(own.classes) == 2:
            confidence, holds = own.probabilities[:, own.positive], own.true == own.positive
        else:
            confidence, holds = own.probabilities.max(axis=1), own.true == own.predicted
        return bin_values(confidence[:, None], holds[:, None])

    @property
    def metrics(self) -> list[str]:
        """The metrics that these predictions have, of `METRICS`."""
        has_bins = self.calibrated is not None
        return [*self.ratios, "macro_f1", *(["ece"] if has_bins else [])]

    def of_sums(self, metric: str, sums: np.ndarray) -> np.ndarray:
        """Return a metric from sums of `values_of`, shape (..., m); NaN without a case."""
        if metric == "ece":
            return calibration_error(sums)
        if metric == "macro_f1":
            parts = sums.reshape(*sums.shape[:-1], 3, -1)
            below = parts[..., 0, :] + parts[..., 1, :]
            f1 = np.divide(2 * parts[..., 2, :], below, out=np.zeros_like(below), where=below > 0)
            return _divide(f1.sum(axis=-1), (below > 0).sum(axis=-1))
        return _divide(sums[..., 0], sums[..., 1])

    def values_of(self, metric: str) -> np.ndarray:
        """Return each case's terms in the sums of a metric, shape (n, m)."""
        if metric == "ece":
            return self.calibrated
        return self.one_hot if metric == "macro_f1" else np.stack(self.ratios[metric], axis=1)

    def by_group(self, metric: str, attribute: Attribute) -> np.ndarray:
        """Return a metric of each group."""
        sums = group_sums(self.values_of(metric), attribute.codes, len(attribute.values))
        return self.of_sums(metric, sums)

    def noise(self, metric: str, attribute: Attribute) -> np.ndarray:
        """Return a metric of random groups of the same sizes, shape (permutations, groups).

        For the rates of a label, random groups have as many cases of each label.
        """
        if (metric, attribute.name) not in self._noise:
            known, by_label = attribute.codes >= 0, ("tpr", "fpr")
            together = [one for one in self.metrics if (one in by_label) == (metric in by_label)]
            values = [self.values_of(one)[known] for one in together]
            sums = permuted_sums(
                np.hstack(values),
                attribute.codes[known],
                len(attribute.values),
                seed=self.seed,
                permutations=PERMUTATIONS,
                strata=self.predictions.true[known] if metric in by_label else None,
            )
            ends = np.cumsum([one.shape[1] for one in values])[:-1]
            for one, part in zip(together, np.split(sums, ends, axis=2), strict=True):
                self._noise[one, attribute.name] = self.of_sums(one, part)
        return self._noise[metric, attribute.name]

    @cached_property
    def _noise(self) -> dict[tuple[str, str], np.ndarray]:
        return {}

    def judge(self, metric: str, chosen: np.ndarray) -> Inference | None:
        """Return the interval of a share or macro-F1 over some cases; None of another metric."""
        if metric == "ece" or not chosen.any():
            return None
        clusters = self.predictions.clusters
        if metric in SHARES:
            above, below = (one * chosen for one in self.ratios[metric])
            if not below.any():
                return None
            totals = total(above, clusters, below)
            return infer(totals, neutral=0.5, delta=self.delta / 100, is_share=True)
        if self._has_few(chosen):
            return None
        values = self._pseudo_values(metric, chosen)
        return infer(total(values[chosen], clusters[chosen]), neutral=0.0, delta=self.delta / 100)

    @cached_property
    def clustered(self) -> bool:
        """Whether cases depend on each other."""
        return len(np.unique(self.predictions.clusters)) < len(self.predictions.clusters)

    def beside_others(self, metric: str, attribute: Attribute) -> list[dict[str, Any]]:
        """Return `differ` of each group and all others of the attribute; empty without any."""
        key = metric, attribute.name
        if key not in self._compared:
            known, found = attribute.codes >= 0, []
            for code in range(len(attribute.values)):
                some = attribute.codes == code
                others = known & ~some
                possible = metric != "ece" and others.any()
                found.append(self.differ(metric, some, others) if possible else {})
            self._compared[key] = found
        return self._compared[key]

    @cached_property
    def _compared(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        return {}

    def differ(self, metric: str, some: np.ndarray, others: np.ndarray) -> dict[str, Any]:
        """Compare a metric of some cases with that of others.

        Returns
        -------
        dict
            difference with interval, p_value, equivalent (within delta), reason.
        """
        values = [self._pseudo_values(metric, part) for part in (some, others)]
        parts = [part & np.isfinite(one) for part, one in zip((some, others), values, strict=True)]
        if not all(part.any() for part in parts):
            return {"reason": "no cases"}
        first, second = (float(one[part].mean()) for one, part in zip(values, parts, strict=True))
        clusters = self.predictions.clusters
        sizes = [effective_number(np.unique(clusters[part], return_counts=True)[1])
                 for part in parts]  # fmt: skip
        found: dict[str, Any] = {"difference": first - second}
        if min(sizes) < LEAST_EFFECTIVE:
            return found | {"reason": "few cases"}
        if metric not in SHARES and any(map(self._has_few, parts)):
            return found | {"reason": "few cases of a class, or few errors"}
        joined, size = parts[0] | parts[1], (parts[0] | parts[1]).sum()
        if metric in SHARES:
            shares = [total(one[part], clusters[part])
                      for one, part in zip(values, parts, strict=True)]  # fmt: skip

            def interval(level: float) -> tuple[float, float]:
                return _recovered(*(korn_graubard(one, level) for one in shares), first, second)
        else:  # a case counts in its part only, so its influence is scaled to the mean over all
            rest = np.zeros(len(joined))
            rest[parts[0]] = size * (values[0][parts[0]] - first) / parts[0].sum()
            rest[parts[1]] = -size * (values[1][parts[1]] - second) / parts[1].sum()
            centred = total(rest[joined], clusters[joined])

            def interval(level: float) -> tuple[float, float]:
                low, high = sign_flip_interval(centred, level=level)
                return first - second + low, first - second + high

        low, high = interval(self.level)
        inner, delta = interval(2 * self.level - 1), self.delta / 100
        found |= {"difference_low": low, "difference_high": high}
        found["equivalent"] = bool(-delta < inner[0] and inner[1] < delta)
        if metric in SHARES and len(np.unique(clusters[joined])) == size:
            found["p_value"] = _fisher(
                *(one[part] for one, part in zip(values, parts, strict=True))
            )
        else:  # the sums by cluster under the hypothesis that both parts have the common value
            middle = float(
                np.concatenate([v[p] for v, p in zip(values, parts, strict=True)]).mean()
            )
            null = np.zeros(len(joined))
            null[parts[0]] = (values[0][parts[0]] - middle) / parts[0].sum()
            null[parts[1]] = (middle - values[1][parts[1]]) / parts[1].sum()
            found["p_value"] = sign_flip_p_value(total(null[joined], clusters[joined]).sums)
        return found

    def _has_few(self, chosen: np.ndarray) -> bool:
        """Whether macro-F1 of these cases has no interval."""
        true, predicted = self.predictions.true[chosen], self.predictions.predicted[chosen]
        sizes = np.bincount(true, minlength=len(self.predictions.classes))
        occurring = np.union1d(true, predicted)
        few = (sizes[occurring] < LEAST_OF_CLASS).any()
        return bool(few or (true != predicted).sum() < LEAST_WRONG)

    def _pseudo_values(self, metric: str, chosen: np.ndarray) -> np.ndarray:
        """Values of cases whose mean over the chosen ones is the metric; NaN: does not count."""
        if metric in SHARES:
            above, below = self.ratios[metric]
            return np.where(below > 0, above, np.nan)
        parts = self.one_hot.reshape(len(chosen), 3, -1)
        true, predicted, both = (parts[chosen, i].sum(axis=0) for i in range(3))
        below, found = true + predicted, np.full(len(chosen), np.nan)
        there = below > 0
        slopes = (
            2 * parts[:, 2, there] / below[there]
            - 2 * both[there] * (parts[:, 0, there] + parts[:, 1, there]) / below[there] ** 2
        )
        mean = (2 * both[there] / below[there]).mean()
        found[chosen] = mean + chosen.sum() * slopes.mean(axis=1)[chosen]
        return found

    def cases(self) -> Iterator[dict[str, Any]]:
        """Yield each case: id, label, prediction, probability, outcome and groups."""
        own = self.predictions
        for i, name in enumerate(own.id.tolist()):
            true, predicted = own.true[i], own.predicted[i]
            outcome = "right" if true == predicted else "wrong"
            if own.positive is not None:
                sign = "positive" if predicted == own.positive else "negative"
                outcome = f"{'true' if true == predicted else 'false'} {sign}"
            at = own.positive if own.positive is not None else predicted
            yield {
                "id": name,
                "label": own.classes[true],
                "prediction": own.classes[predicted],
                "probability": None if own.probabilities is None else own.probabilities[i, at],
                "outcome": outcome,
                **{name: cells[i] for name, cells in own.groups.items()},
            }


def _order(name: str) -> list[tuple[float, str]]:
    """Numbers and bins by size, other groups by name."""
    return [(low_end(part), part) for part in name.split(CROSS)]


def _divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    above, below = np.asarray(above, float), np.asarray(below, float)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def _recovered(
    one: tuple[float, float], other: tuple[float, float], first: float, second: float
) -> tuple[float, float]:
    """Return the interval of a difference of shares from their intervals.

    The method of variance estimates recovery (Zou and Donner, Statistics in Medicine 27, 2008),
    which has a width where all cases of a group agree.
    """
    low = ((first - one[0]) ** 2 + (other[1] - second) ** 2) ** 0.5
    high = ((one[1] - first) ** 2 + (second - other[0]) ** 2) ** 0.5
    return first - second - low, first - second + high


def _fisher(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of Fisher's exact test of two samples of hits."""
    from scipy.stats import fisher_exact

    table = [[int(one.sum()), int(len(one) - one.sum())] for one in (first, second)]
    return float(fisher_exact(table).pvalue)
