"""Stage: macro-F1 of each group, how far groups lie apart, and how far chance takes them.

Source of the measures: FairLex (Chalkidis et al. 2022), section 4.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import NO_LABEL, Groups
from evenhand.legal.scored import (
    FEW,
    MEASURES,
    Cases,
    Runs,
    Setting,
    case_counts,
    drawn_seed,
    measured,
    read_scored,
    resample_groups,
    scored_for,
    scores_of_groups,
)
from evenhand.metrics.classification import Counts, conventions, predicted_labels, stacked
from evenhand.metrics.disparity import (
    centred_interval,
    group_sums,
    permuted_sums,
    resampled_sums,
    share_as_far,
)

#: The seed of a row that is the mean over seeds.
MEAN = "mean"

ABOVE, NOT_ABOVE, TOO_FEW = "above noise", "not above noise", "too few cases"

RUN = ("dataset", "classifier", "objective", "trained_for", "attribute", "split", "convention")

SCORES = [
    *RUN,
    *("seed", "seeds", "cases", "known_cases", "groups", "smallest_group"),
    *("constant_seeds", "always"),
    *(name + end for name in MEASURES for end in ("", "_sd", "_low", "_high")),
    "worst_group",
    *("gd_perfect", "gd_noise_mean", "gd_noise_95", "gd_p", "gd_p_labels", "gd_verdict"),
    *("worst_noise_mean", "worst_noise_5", "worst_p", "worst_p_labels", "worst_verdict"),
]

GROUPS = [
    *(*RUN, "group", "seed", "seeds", "cases", "classes_present"),
    *("score", "sd", "low", "high", "perfect", "noise_low", "noise_high", "p", "note"),
]

#: Below this p-value a gap is said to be above noise.
CHANCE = 0.05


def score_groups(
    *,
    data: Input,
    predictions: list[Input],
    out: Output,
    groups_out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    splits: list[str] | None = None,
    few: int = FEW,
    seed: int = 1,
    resamples: int = 1000,
    permutations: int = 1000,
) -> dict[str, Any]:
    """Score each training on each attribute that it can be scored for.

    A training that used the groups of an attribute is scored for it; one that used none (as ERM)
    for all. Cases of an unknown group count in `overall` only.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions : list of path
        What the training stages wrote; each training once.
    out : path
        CSV, a row per classifier, objective, trained_for (an attribute or none), attribute, split,
        convention, and seed, or ``mean``: the mean over seeds of each number. Scores are percent.

        - convention, of macro-F1: ``all`` (ours: over all classes, 0 for one that neither occurs
          nor is predicted; where cases may have several labels, "none" is a class), ``present``
          (over classes that occur in the group), ``labels_only`` (all without "none"),
          ``double_none`` ("none" counted twice, once where it never occurs). FairLex's code has
          double_none for ECtHR and present for the others.
        - seeds, cases, known_cases (with a known group), groups (with a case), smallest_group
          (its cases).
        - constant_seeds, always: how many of the seeds say the same of every case of the split,
          and what (the labels, or "none"). Their scores say what labels the groups have, and
          nothing of what a classifier has learned.
        - overall (all cases), mean, gd (population sd) and worst (least) over groups, each with
          the sd over seeds, and low and high of a 95 per cent bootstrap interval: cases are
          drawn within each group, for overall among all (see
          `evenhand.metrics.disparity.centred_interval`).
        - worst_group; gd_perfect: what a perfect classifier would have, because groups lack
          classes.
        - gd_noise_mean, gd_noise_95, worst_noise_mean, worst_noise_5: mean and percentile when
          the groups of the cases with known groups are shuffled; gd_p, worst_p: share of
          shuffles that are as far; gd_p_labels, worst_p_labels: the same where cases swap groups
          only with cases of the same labels, so that a gap is not one of labels.
        - gd_verdict, worst_verdict: ``above noise`` (p below 0.05), ``too few cases`` (not so,
          and a group has fewer than `few` cases), ``not above noise``; blank with one group.
          These p-values are not corrected for how many there are.
    groups_out : path
        CSV, the same by group (without the unknown one): cases, classes_present (of the scored
        classes), score, sd, low and high, perfect (score of a perfect classifier), noise_low and
        noise_high (95 per cent of random groups of this size), p (two-sided), note (no cases, one
        case, few cases).
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the tables.
    splits : list of str
        By default dev and test.
    few : int
        Cases below which a group is said to have few.
    seed, resamples, permutations : int
        Bootstrap samples and shuffles, and their seed; all trainings see the same draws.

    Returns
    -------
    dict
        runs, rows, groups, above_noise, too_few_cases (of the mean over seeds on test by our
        convention), constant (runs that say the same of every test case).
    """
    if resamples < 1 or permutations < 1:
        raise InputError("without resamples and permutations nothing can be said of chance",
                         remedy="give at least 100 of each")  # fmt: skip
    splits = ["dev", "test"] if splits is None else splits
    cases, runs = read_scored(data, predictions, kind, splits)
    named = conventions(cases.dataset.task)
    rows: list[dict[str, Any]] = []
    group_rows: list[dict[str, Any]] = []
    constant: dict[str, int] = {}
    for split in splits:
        members = cases.splits == split
        own = cases.of(members)
        seen = runs._replace(logits=runs.logits[:, members])
        values = case_counts(own, seen)
        always = _always(own, seen)
        constant[split] = sum(one is not None for one in always)
        everywhere = drawn_seed(seed, split)
        drawn = resampled_sums(values, seed=everywhere, resamples=resamples)
        classes = own.classes.shape[1]
        all_cases = np.array([len(own.true)])
        overall = {
            name: [
                scores_of_groups(sums, all_cases, classes, convention)[..., 0]
                for sums in (values.sum(axis=0)[None], drawn[:, None])
            ]
            for name, convention in named.items()
        }
        for one in own.groups:
            wanted = scored_for(one.attribute.name)
            kept = [place for place, setting in enumerate(seen.settings) if wanted(setting)]
            if not kept:
                continue
            chance = _Chance(own, seen.of(wanted), one, f"{seed}/{split}", resamples, permutations)
            for name, convention in named.items():
                about = {
                    "dataset": dataset,
                    "attribute": one.attribute.name,
                    "split": split,
                    "convention": name,
                }
                some = [scores[..., kept] for scores in overall[name]]
                for row, of_groups in chance.rows(convention, some[0], some[1], few):
                    rows.append(about | row | _said_always(row, seen, always))
                    shared = {key: row.get(key) for key in (*RUN, "seed", "seeds")}
                    group_rows += [{**shared, **about, **group} for group in of_groups]
    write_rows(out, SCORES, rows)
    write_rows(groups_out, GROUPS, group_rows)
    said = [row for row in rows if (row["seed"], row["convention"]) == (MEAN, "all")
            and row["split"] == "test"]  # fmt: skip
    return {
        "runs": len(runs.seeds),
        "rows": len(rows),
        "groups": len(group_rows),
        "above_noise": sum(row["gd_verdict"] == ABOVE for row in said),
        "too_few_cases": sum(row["gd_verdict"] == TOO_FEW for row in said),
        "constant": constant.get("test", 0),
    }


def _always(cases: Cases, runs: Runs) -> list[str | None]:
    """For each run the labels that it gives to every case, if they are always the same."""
    predicted = predicted_labels(runs.logits, cases.dataset.task).astype(bool)
    found: list[str | None] = []
    for run in predicted:
        names = [cases.dataset.labels[place] for place in np.flatnonzero(run[0])]
        found.append((", ".join(names) or NO_LABEL) if _alike(run) else None)
    return found


def _alike(rows: np.ndarray) -> bool:
    """Whether there are several rows, all the same."""
    return len(rows) > 1 and bool((rows == rows[0]).all())


def _said_always(row: dict[str, Any], runs: Runs, always: list[str | None]) -> dict[str, Any]:
    """The columns of a row (of one seed, or of the mean) that say so."""
    setting = tuple(row[name] for name in Setting._fields)
    own = [
        said
        for one, seed, said in zip(runs.settings, runs.seeds, always, strict=True)
        if one == setting and row["seed"] in (seed, MEAN)
    ]
    there = [said for said in own if said is not None]
    return {"constant_seeds": len(there), "always": "; ".join(dict.fromkeys(there))}


class _Chance:
    """The groups of an attribute and their draws, for all trainings scored on it."""

    def __init__(
        self,
        cases: Cases,
        runs: Runs,
        one: Groups,
        name: str,
        resamples: int,
        permutations: int,
    ) -> None:
        self.cases, self.runs, self.one = cases, runs, one
        self.values = case_counts(cases, runs)
        self.drawn = resample_groups(self.values, one, name, resamples)
        known = one.codes < one.unknown
        strata = np.unique(cases.true[known], axis=0, return_inverse=True)[1].reshape(-1)
        self.shuffled = [
            permuted_sums(
                self.values[known],
                one.codes[known],
                one.unknown,
                seed=drawn_seed(name, one.attribute.name, "shuffled"),
                permutations=permutations,
                strata=some,
            )
            for some in (None, strata)
        ]
        truth = cases.classes
        self.present = (group_sums(truth.astype(np.float64), one.codes, one.unknown) > 0).sum(1)
        self.perfect = group_sums(stacked(truth, truth[None]), one.codes, one.unknown)

    def rows(
        self,
        convention: Callable[[Counts], np.ndarray],
        overall: np.ndarray,
        overall_drawn: np.ndarray,
        few: int,
    ) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """A row of each seed and of their mean, with the rows of its groups."""

        def scores(sums: np.ndarray) -> np.ndarray:
            return scores_of_groups(sums, sizes, classes, convention)

        sizes, classes = self.drawn.sizes, self.cases.classes.shape[1]
        seen, drawn = scores(self.drawn.of_groups), scores(self.drawn.of_groups_drawn)
        noise, noise_labels = (scores(sums) for sums in self.shuffled)
        perfect = scores(self.perfect)[0]
        values = measured(overall, seen)
        values_drawn = measured(overall_drawn, drawn)
        empty = np.full(noise.shape[:-1], np.nan)
        values_noise, values_labels = (measured(empty, some) for some in (noise, noise_labels))
        there = sizes[sizes > 0]
        for setting, places in self.runs.by_setting().items():
            each = [(self.runs.seeds[place], [place]) for place in places]
            for seed, which in [*each, (MEAN, places)]:
                row: dict[str, Any] = {
                    **setting._asdict(),
                    "seed": seed,
                    "seeds": len(which),
                    "cases": len(self.one.codes),
                    "known_cases": int(sizes.sum()),
                    "groups": len(there),
                    "smallest_group": int(there.min()) if len(there) else None,
                    "gd_perfect": float(measured(np.array(np.nan), perfect)["gd"]),
                }
                for name in MEASURES:
                    value = values[name][which].mean()
                    low, high = _interval(values_drawn[name][:, which].mean(axis=-1), value)
                    row |= {
                        name: value,
                        f"{name}_sd": _sd(values[name][which]),
                        f"{name}_low": low,
                        f"{name}_high": high,
                    }
                if len(there):
                    row["worst_group"] = self.one.names[int(np.nanargmin(seen[which].mean(0)))]
                if len(there) > 1:
                    row |= _noise(
                        {name: row[name] for name in ("gd", "worst")},
                        {k: v[:, which].mean(axis=-1) for k, v in values_noise.items()},
                        {k: v[:, which].mean(axis=-1) for k, v in values_labels.items()},
                    )
                    for name in ("gd", "worst"):
                        row[f"{name}_verdict"] = _verdict(row[f"{name}_p"], int(there.min()), few)
                else:
                    row |= {"gd": None, "gd_low": None, "gd_high": None, "gd_verdict": None}
                yield (
                    row,
                    self._groups(
                        seen[which], drawn[:, which].mean(axis=1), noise[:, which].mean(axis=1),
                        perfect, few,
                    ),
                )  # fmt: skip

    def _groups(
        self,
        seen: np.ndarray,
        drawn: np.ndarray,
        noise: np.ndarray,
        perfect: np.ndarray,
        few: int,
    ) -> list[dict[str, Any]]:
        rows = []
        for group, name in enumerate(self.one.names[:-1]):
            size = int(self.drawn.sizes[group])
            row = {"group": name, "cases": size, "note": _note(size, few)}
            if size:
                score = seen[:, group].mean()
                low, high = _interval(drawn[:, group], score) if size > 1 else (None, None)
                noise_low, noise_high = np.quantile(noise[:, group], [0.025, 0.975])
                sides = [share_as_far(noise[:, group], score, low=side) for side in (True, False)]
                row |= {
                    "classes_present": int(self.present[group]),
                    "score": score,
                    "sd": _sd(seen[:, group]),
                    "low": low,
                    "high": high,
                    "perfect": perfect[group],
                    "noise_low": noise_low,
                    "noise_high": noise_high,
                    "p": min(1.0, 2 * float(min(sides))),
                }
            rows.append(row)
        return rows


def _sd(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _interval(drawn: np.ndarray, seen: float) -> tuple[float, float]:
    low, high = np.clip(centred_interval(drawn, seen), 0, 100)
    return float(low), float(high)


def _noise(
    seen: dict[str, float], noise: dict[str, np.ndarray], noise_labels: dict[str, np.ndarray]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, low, percentile in (("gd", False, 95), ("worst", True, 5)):
        value = np.array(seen[name])
        found |= {
            f"{name}_noise_mean": float(noise[name].mean()),
            f"{name}_noise_{percentile}": float(np.percentile(noise[name], percentile)),
            f"{name}_p": float(share_as_far(noise[name], value, low=low)),
            f"{name}_p_labels": float(share_as_far(noise_labels[name], value, low=low)),
        }
    return found


def _verdict(p: float, smallest: int, few: int) -> str:
    if p < CHANCE:
        return ABOVE
    return TOO_FEW if smallest < few else NOT_ABOVE


def _note(size: int, few: int) -> str | None:
    if size >= few:
        return None
    return {0: "no cases", 1: "one case"}.get(size, "few cases")


if __name__ == "__main__":
    stage.run(score_groups)
