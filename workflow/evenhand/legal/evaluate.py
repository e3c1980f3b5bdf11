"""Scores of each training on each attribute, and the scores that random groups would have.

Source of the measures: FairLex (Chalkidis et al. 2022), section 4.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from evenhand.legal.built import NO_LABEL, Groups
from evenhand.legal.classifier_study import CHANCE, MEAN, ClassifierStudy, noise_verdict
from evenhand.legal.scored import (
    MEASURES,
    Cases,
    Runs,
    case_counts,
    drawn_seed,
    measured,
    resample_groups,
    scored_for,
    scores_of_groups,
)
from evenhand.metrics.classification import conventions, predicted_labels, stacked
from evenhand.metrics.disparity import (
    centred_interval,
    group_sums,
    permuted_sums,
    planted,
    resampled_sums,
    share_as_far,
)

Row = dict[str, Any]


@lru_cache(maxsize=1)
def evaluate(study: ClassifierStudy) -> list[tuple[Row, list[Row]]]:
    """Score all trainings: a row of `scores` with its rows of `group_scores`.

    There is one per split, attribute, convention, setting, and seed or their mean.
    """
    rows: list[tuple[Row, list[Row]]] = []
    for split in study.splits:
        cases, runs = study.of_split(split)
        values = case_counts(cases, runs)
        draws = drawn_seed(study.seed, split)
        drawn = resampled_sums(values, seed=draws, resamples=study.resamples)
        every, classes = np.array([len(cases.true)]), cases.classes.shape[1]
        constant = constant_labels(cases, runs)
        for one in cases.groups:
            is_scored = scored_for(one.attribute.name)
            kept = [place for place, setting in enumerate(runs.settings) if is_scored(setting)]
            if not kept:
                continue
            scorer = _Scorer(study, cases, runs.of(is_scored), one, split)
            same = [constant[place] for place in kept]
            for name, convention in conventions(cases.dataset.task).items():
                overall = [
                    scores_of_groups(sums, every, classes, convention)[..., 0][..., kept]
                    for sums in (values.sum(axis=0)[None], drawn[:, None])
                ]
                key = {"attribute": one.attribute.name, "split": split, "convention": name}
                for row, of_groups in scorer.rows(convention, *overall, same):
                    shared = {
                        column: row[column]
                        for column in ("classifier", "objective", "trained_for", "seed", "seeds")
                    }
                    rows.append((key | row, [key | shared | group for group in of_groups]))
    return rows


def constant_labels(cases: Cases, runs: Runs) -> list[str | None]:
    """The labels that a run gives to every case; None if they differ or there is one case."""
    predicted = predicted_labels(runs.logits, cases.dataset.task).astype(bool)
    found: list[str | None] = []
    for run in predicted:
        names = [cases.dataset.labels[place] for place in np.flatnonzero(run[0])]
        constant = len(run) > 1 and (run == run[0]).all()
        found.append((", ".join(names) or NO_LABEL) if constant else None)
    return found


class _Sample(NamedTuple):
    """The scores of some runs (mean over them where draws are concerned), by group."""

    seen: np.ndarray
    drawn: np.ndarray
    noise: np.ndarray


class _Scorer:
    """The groups of an attribute and their draws, for all trainings scored on it."""

    def __init__(
        self, study: ClassifierStudy, cases: Cases, runs: Runs, one: Groups, split: str
    ) -> None:
        self.runs, self.one, self.few, self.delta = runs, one, study.few, study.delta
        self.classes = cases.classes.shape[1]
        values, name = case_counts(cases, runs), f"{study.seed}/{split}"
        self.drawn = resample_groups(values, one, name, study.resamples)
        known = one.codes < one.unknown
        strata = np.unique(cases.true[known], axis=0, return_inverse=True)[1].reshape(-1)
        self.shuffled = [
            permuted_sums(
                values[known],
                one.codes[known],
                one.unknown,
                seed=drawn_seed(name, one.attribute.name, "shuffled"),
                permutations=study.permutations,
                strata=some,
            )
            for some in (None, strata)
        ]
        truth = cases.classes
        self.present = (group_sums(truth.astype(np.float64), one.codes, one.unknown) > 0).sum(1)
        self.perfect = group_sums(stacked(truth, truth[None]), one.codes, one.unknown)

    def rows(
        self,
        convention: Callable,
        overall: np.ndarray,
        overall_drawn: np.ndarray,
        constant: list[str | None],
    ) -> Iterator[tuple[Row, list[Row]]]:
        """Yield a row for each seed and for their mean, with the rows of its groups."""
        sizes = self.drawn.sizes
        seen, drawn, noise, noise_labels, perfect = (
            scores_of_groups(sums, sizes, self.classes, convention)
            for sums in (
                self.drawn.of_groups,
                self.drawn.of_groups_drawn,
                *self.shuffled,
                self.perfect,
            )
        )
        values, values_drawn = measured(overall, seen), measured(overall_drawn, drawn)
        empty = np.full(noise.shape[:-1], np.nan)
        chance = [measured(empty, some) for some in (noise, noise_labels)]
        there = sizes[sizes > 0]
        for setting, places in self.runs.by_setting().items():
            each = [(self.runs.seeds[place], [place]) for place in places]
            for seed, which in [*each, (MEAN, places)]:
                same = [constant[place] for place in which if constant[place] is not None]
                row: Row = {
                    **setting._asdict(),
                    "seed": seed,
                    "seeds": len(which),
                    "cases": len(self.one.codes),
                    "known_cases": int(sizes.sum()),
                    "groups": len(there),
                    "smallest_group": int(there.min()) if len(there) else None,
                    "constant_seeds": len(same),
                    "always": "; ".join(dict.fromkeys(same)),
                    "gd_perfect": float(measured(np.array(np.nan), perfect[0])["gd"]),
                }
                for name in MEASURES:
                    row |= _summary(name, values[name][which], values_drawn[name][:, which])
                if len(there):
                    row["worst_group"] = self.one.names[int(np.nanargmin(seen[which].mean(0)))]
                if len(there) > 1:
                    chances = ({n: v[:, which] for n, v in c.items()} for c in chance)
                    row |= self._chance(row, *chances, noise[:, which])
                else:
                    row |= {"gd": None, "gd_low": None, "gd_high": None}
                sample = _Sample(seen[which], drawn[:, which].mean(1), noise[:, which].mean(1))
                yield row, list(self._groups(sample, perfect[0]))

    def _chance(
        self,
        row: Row,
        noise: dict[str, np.ndarray],
        labels: dict[str, np.ndarray],
        scores: np.ndarray,
    ) -> Row:
        """How far random groups lie apart, those with the same labels, and those with a gap."""
        found: Row = {}
        apart = dict(zip(("gd", "worst"), planted(scores, self.delta, seed=0), strict=True))
        # constant predictions or a small group would hide any difference
        hidden = row["constant_seeds"] == row["seeds"] or row["smallest_group"] < self.few
        for name, low, percentile in (("gd", False, 95), ("worst", True, 5)):
            value, drawn = np.array(row[name]), noise[name].mean(axis=-1)
            p = float(share_as_far(drawn, value, low=low))
            border, side = float(np.percentile(drawn, percentile)), -1 if low else 1
            gaps = side * apart[name].mean(axis=-1)
            found |= {
                f"{name}_noise_mean": float(drawn.mean()),
                f"{name}_noise_{percentile}": border,
                f"{name}_p": p,
                f"{name}_p_labels": float(share_as_far(labels[name].mean(axis=-1), value, low=low)),
                f"{name}_power": float((gaps > side * border).mean()),
                f"{name}_verdict": noise_verdict(
                    p, not hidden and side * value < np.quantile(gaps, CHANCE)
                ),
            }
        return found

    def _groups(self, sample: _Sample, perfect: np.ndarray) -> Iterator[Row]:
        for group, name in enumerate(self.one.names[:-1]):
            size = int(self.drawn.sizes[group])
            note = {0: "no cases", 1: "one case"}.get(size, "few cases")
            row = {"group": name, "cases": size, "note": note if size < self.few else None}
            if size:
                noise = sample.noise[:, group]
                row |= _summary("score", sample.seen[:, group], sample.drawn[:, group, None])
                row["noise_low"], row["noise_high"] = np.quantile(noise, [0.025, 0.975])
                sides = [share_as_far(noise, row["score"], low=side) for side in (True, False)]
                row |= {
                    "classes_present": int(self.present[group]),
                    "perfect": perfect[group],
                    "p": min(1.0, 2 * float(min(sides))),
                }
            if size == 1:
                row |= {"low": None, "high": None}
            yield {column.removeprefix("score_"): cell for column, cell in row.items()}


def _summary(name: str, values: np.ndarray, drawn: np.ndarray) -> Row:
    """Mean and sd over runs (runs,), and the interval over cases from (resamples, runs)."""
    value = values.mean()
    low, high = np.clip(centred_interval(drawn.mean(axis=-1), value), 0, 100)
    return {
        name: value,
        f"{name}_sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        f"{name}_low": float(low),
        f"{name}_high": float(high),
    }
