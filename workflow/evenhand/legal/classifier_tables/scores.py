"""Scores of each training over groups, and how far groups lie apart by chance.

Source of the measures: FairLex (Chalkidis et al. 2022), section 4.
"""

import math
from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, integer, number, percent, share, text, with_interval
from evenhand.legal.built import NO_LABEL, Groups
from evenhand.legal.classifier_study import (
    FEW,
    MEAN,
    NOISE_VERDICT,
    SEED,
    SELECT,
    SETTING,
    SETTING_KEY,
    Cases,
    ClassifierStudy,
    Runs,
    case_counts,
    measured,
    noise_verdict,
    scores_of_groups,
)
from evenhand.legal.published import MEASURES
from evenhand.metrics.classification import (
    conventions,
    counts_of,
    has_few,
    influence,
    over_all,
    predicted_labels,
    stacked,
)
from evenhand.metrics.disparity import (
    drawn_seed,
    gd_interval,
    mean_interval,
    permuted_sums,
    planted,
    share_as_far,
    worst_interval,
)
from evenhand.metrics.inference import (
    ENOUGH_POWER,
    LEAST_EFFECTIVE,
    IntervalByLevel,
    bounded,
    conclude,
    difference_interval,
    inverted_p_value,
    p_value_with_runs,
    share_interval,
    total,
    with_runs,
)

#: The columns after `SETTING` that name a row of scores.
SCORED = (
    text("attribute"),
    text("split"),
    text(
        "convention",
        "Macro-F1 over: all (all classes, absent ones count 0; none is a class where there may be"
        " several labels), present (classes of the group), labels_only (all without none),"
        " double_none (none counted twice). FairLex's code: double_none for ECtHR, else present",
    ),
)

TITLES = {
    "overall": "Macro-F1 of all cases",
    "mean": "Mean over groups",
    "gd": "Standard deviation of the groups",
    "worst": "Least score of a group",
}


def _noise(name: str, percentile: int) -> tuple:
    return (
        percent(f"{name}_noise_mean", "Mean if groups are shuffled among cases with known ones"),
        percent(f"{name}_noise_{percentile}", f"Percentile {percentile} of these"),
        number(f"{name}_p", "Share of shuffles that are as far"),
        number(f"{name}_p_labels", "The same if cases swap groups only among equal labels"),
        share(f"{name}_power", "Share of random groups above noise if delta is added"),
        text(f"{name}_verdict", NOISE_VERDICT),
    )


TABLE = Table(
    "scores",
    title="Scores, disparity, and that of random groups",
    key=(*SETTING_KEY, "attribute", "split", "convention", "seed"),
    columns=(
        *SETTING,
        *SCORED,
        SELECT,
        text("seed", "A seed, or mean: the mean over seeds of each number"),
        integer("seeds"),
        integer("cases"),
        integer("known_cases", "Cases with a known group"),
        integer("groups", "Groups with a case"),
        integer("smallest_group", f"Its cases; with fewer than {FEW} only overall has an interval"),
        integer("constant_seeds", "Seeds that predict the same labels for every case"),
        text("always", "These labels, or none"),
        *(
            column
            for name in MEASURES
            for column in (
                percent(
                    name,
                    TITLES[name],
                    interval=True,
                    neutral=0 if name == "gd" else None,
                    items="classifier_cases",
                ),
                percent(f"{name}_sd", "Standard deviation over seeds"),
            )
        ),
        text("worst_group"),
        percent("gd_perfect", "Disparity of a perfect classifier, because groups lack classes"),
        *_noise("gd", 95),
        *_noise("worst", 5),
    ),
    source="FairLex (Chalkidis et al. 2022), section 4",
    main={"split": ("test",), "convention": ("all",), "seed": ("mean",)},
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute, split, convention, and seed or their mean."""
    return (study.selected(row) for row, _ in evaluate(study))


#: Scores or sums of the groups as they are, of random groups, of random groups with the same
#: labels, and of a perfect classifier.
Draws = dict[str, np.ndarray]


@lru_cache(maxsize=1)
def evaluate(study: ClassifierStudy) -> list[tuple[Row, list[Row]]]:
    """Score all trainings: a row of `scores` with its rows of `group_scores`.

    There is one per split, attribute, convention, setting, and seed or their mean.
    """
    rows: list[tuple[Row, list[Row]]] = []
    for split in study.splits:
        cases, runs = study.of_split(split)
        for groups in cases.groups:
            if places := runs.scored_for(groups.attribute.name):
                rows += _of_attribute(study, split, cases, runs.take(places), groups)
    return rows


def _of_attribute(
    study: ClassifierStudy, split: str, cases: Cases, runs: Runs, groups: Groups
) -> Iterator[tuple[Row, list[Row]]]:
    classes, sizes = cases.classes.shape[1], groups.sizes
    constant = constant_labels(cases, runs)
    values = case_counts(cases, runs)
    sums = _sums(study, f"{SEED}/{split}", cases, values, groups)
    present = (groups.sums(cases.classes.astype(np.float64)) > 0).sum(axis=1)
    for name, convention in conventions(cases.dataset.task).items():
        scores = {
            kind: scores_of_groups(some, sizes, classes, convention) for kind, some in sums.items()
        }
        every = values.sum(axis=0)[None], np.array([len(values)])
        overall = scores_of_groups(*every, classes, convention)[..., 0]
        measures = {kind: measured(overall, of_groups) for kind, of_groups in scores.items()}
        influences = [
            influence(some, classes, convention)
            for some in (values, *(values[groups.codes == code] for code in range(groups.unknown)))
        ]
        for setting, places in runs.by_setting().items():
            key = {**setting._asdict(), "attribute": groups.attribute.name}
            key |= {"split": split, "convention": name}
            for seed, chosen in [*((runs.seeds[n], [n]) for n in places), (MEAN, places)]:
                row = key | {"seed": seed, "seeds": len(chosen)}
                labels = [constant[place] for place in chosen if constant[place] is not None]
                # of all cases, and of each group
                numbers = [overall, *scores["seen"].T]
                intervals = [
                    _over_cases(number[chosen], some[:, chosen]) if len(some) else None
                    for number, some in zip(numbers, influences, strict=True)
                ]
                of_groups = list(_group_rows(row, groups, present, scores, intervals, chosen))
                if (name, seed) == ("all", MEAN):
                    parts = influences[1:], chosen
                    of_groups = _beside_others(study, of_groups, values, groups, classes, *parts)
                row |= {"constant_seeds": len(labels), "always": "; ".join(dict.fromkeys(labels))}
                parts = intervals, [some[:, chosen] for some in influences[1:]]
                yield _score_row(study, row, groups, scores, measures, chosen, *parts), of_groups


def _sums(
    study: ClassifierStudy, name: str, cases: Cases, values: np.ndarray, groups: Groups
) -> Draws:
    """Return sums of `case_counts` by group."""
    attribute, known = groups.attribute.name, groups.known
    strata = np.unique(cases.true[known], axis=0, return_inverse=True)[1].reshape(-1)
    shuffled, seed = (values[known], groups.codes[known]), drawn_seed(name, attribute, "shuffled")
    draw = partial(permuted_sums, *shuffled, groups.unknown, seed=seed)
    noise, noise_labels = (
        draw(permutations=study.permutations, strata=some) for some in (None, strata)
    )
    perfect = groups.sums(stacked(cases.classes, cases.classes[None]))
    sums = {"seen": groups.sums(values), "noise": noise}
    return sums | {"noise_labels": noise_labels, "perfect": perfect}


def constant_labels(cases: Cases, runs: Runs) -> list[str | None]:
    """Return the labels that each run predicts for every case.

    None if they differ or there is one case.
    """
    predicted = predicted_labels(runs.logits, cases.dataset.task).astype(bool)
    constant: list[str | None] = []
    for run in predicted:
        names = [cases.dataset.labels[place] for place in np.flatnonzero(run[0])]
        same = len(run) > 1 and (run == run[0]).all()
        constant.append((", ".join(names) or NO_LABEL) if same else None)
    return constant


def _score_row(
    study: ClassifierStudy,
    row: Row,
    groups: Groups,
    scores: Draws,
    measures: dict[str, Draws],
    chosen: list[int],
    intervals: list[IntervalByLevel | None],
    influences: list[np.ndarray],
) -> Row:
    """Return a row of `scores`, of some runs."""
    sizes = groups.sizes[groups.sizes > 0]
    row |= {
        "cases": len(groups.codes),
        "known_cases": int(sizes.sum()),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()) if len(sizes) else None,
        "gd_perfect": float(measures["perfect"]["gd"][0]),
    }
    of_measures: dict[str, IntervalByLevel] = {"overall": intervals[0]}
    if len(sizes) and sizes.min() >= FEW:  # fewer are all right, or all wrong, by chance
        there = np.flatnonzero(groups.sizes)
        of_groups, of_cases = ([some[n] for n in there] for some in (intervals[1:], influences))
        seen = scores["seen"][chosen][:, there] / 100
        of_measures |= {
            "mean": partial(mean_interval, seen, of_groups),
            "gd": partial(gd_interval, seen, of_groups, influences=of_cases),
            "worst": partial(worst_interval, seen, of_groups),
        }
    for name in MEASURES:
        row |= _summary(name, measures["seen"][name][..., chosen], of_measures.get(name))
    if len(sizes):
        row["worst_group"] = groups.names[int(np.nanargmin(scores["seen"][chosen].mean(0)))]
    if len(sizes) < 2:
        return row | with_interval("gd", None, None, None)
    spread = planted(scores["noise"][:, chosen], study.delta, seed=0)
    apart = dict(zip(("gd", "worst"), spread, strict=True))
    # constant predictions or a small group would hide any difference
    hidden = row["constant_seeds"] == row["seeds"] or row["smallest_group"] < FEW
    for name, low, percentile in (("gd", False, 95), ("worst", True, 5)):
        value, side = np.array(row[name]), -1 if low else 1
        noise, noise_labels = (
            measures[kind][name][:, chosen].mean(axis=-1) for kind in ("noise", "noise_labels")
        )
        p = float(share_as_far(noise, value, low=low))
        border = float(np.percentile(noise, percentile))
        gaps = side * apart[name].mean(axis=-1)
        power = float((gaps > side * border).mean())
        is_smaller = power >= ENOUGH_POWER and side * value < np.quantile(gaps, ALPHA)
        if name == "gd" and is_smaller and name in of_measures:
            of_runs = measures["seen"][name][..., chosen] / 100
            _, high = with_runs(of_measures[name], of_runs)(1 - 2 * ALPHA)
            is_smaller = 100 * high < study.delta
        row |= {
            f"{name}_noise_mean": float(noise.mean()),
            f"{name}_noise_{percentile}": border,
            f"{name}_p": p,
            f"{name}_p_labels": float(share_as_far(noise_labels, value, low=low)),
            f"{name}_power": power,
            f"{name}_verdict": noise_verdict(p, is_smaller and not hidden),
        }
    return row


def _group_rows(
    key: Row,
    groups: Groups,
    present: np.ndarray,
    scores: Draws,
    intervals: list[IntervalByLevel | None],
    chosen: list[int],
) -> Iterator[Row]:
    """Yield the rows of `group_scores`, of some runs."""
    noise = scores["noise"][:, chosen].mean(axis=1)
    for group, name in enumerate(groups.names[:-1]):
        size = int(groups.sizes[group])
        note = {0: "no cases", 1: "one case"}.get(size, "few cases")
        row = key | {"group": name, "cases": size, "note": note if size < FEW else None}
        if size:
            seen = scores["seen"][chosen, group]
            summary = _summary("score", seen, intervals[1 + group])
            row |= {column.removeprefix("score_"): cell for column, cell in summary.items()}
            sides = [share_as_far(noise[:, group], row["score"], low=low) for low in (True, False)]
            row |= {
                "noise_low": np.quantile(noise[:, group], 0.025),
                "noise_high": np.quantile(noise[:, group], 0.975),
                "classes_present": int(present[group]),
                "perfect": scores["perfect"][0, group],
                "p": min(1.0, 2 * float(min(sides))),
            }
        yield row


def _beside_others(
    study: ClassifierStudy,
    rows: list[Row],
    values: np.ndarray,
    groups: Groups,
    classes: int,
    influences: list[np.ndarray],
    chosen: list[int],
) -> list[Row]:
    """Return rows of `group_scores` with the difference of each group from the others' mean."""
    counts = counts_of(values, classes)
    true, predicted = counts.true[:, 0] > 0, np.moveaxis(counts.predicted > 0, 1, 0)[chosen]
    # a group that lacks a class would have a lower score because of its labels
    occurring = true[groups.known].any(axis=0)
    tested = {}
    for group in range(len(rows)):
        part = groups.codes == group
        small = part.sum() < LEAST_EFFECTIVE
        if not small and not has_few(true[part], predicted[:, part], occurring):
            of_runs = over_all(counts_of(values[part].sum(axis=0), classes))[chosen]
            added = len(influences[group]) * influences[group][:, chosen].mean(axis=1)
            tested[group] = of_runs, float(of_runs.mean()) + added
    for group in tested if len(tested) > 1 else ():
        row, others = rows[group], [each for name, each in tested.items() if name != group]
        samples = [tested[group][1], np.concatenate([pseudo_values for _, pseudo_values in others])]
        sizes = [len(pseudo_values) for _, pseudo_values in others]
        mean = np.average([of_runs for of_runs, _ in others], axis=0, weights=sizes)
        of_runs = tested[group][0], mean
        means = [float(each.mean()) for each in of_runs]
        totals = [total(sample, np.arange(len(sample))) for sample in samples]
        of_cases = difference_interval(totals, *means, pseudo_values=True)
        interval = with_runs(of_cases, of_runs[0] - of_runs[1])
        inner = [100 * end for end in interval(1 - 2 * ALPHA)]
        low, high = interval(1 - ALPHA)
        row["difference"] = 100 * (means[0] - means[1])
        row["difference_low"], row["difference_high"] = 100 * max(low, -1.0), 100 * min(high, 1.0)
        row["p_cases"] = inverted_p_value(of_cases)
        row["p_others"] = p_value_with_runs(row["p_cases"], interval, 1 - ALPHA)
        is_small = -study.delta < inner[0] and inner[1] < study.delta
        row["verdict"] = conclude(row["difference"], row["p_others"], is_small, level=1 - ALPHA)
    return rows


def _over_cases(scores: np.ndarray, influences: np.ndarray) -> IntervalByLevel:
    """Return the interval over cases of a mean score over runs in percent, as shares, by level."""
    count = len(influences)
    pseudo_values = scores.mean() / 100 + count * influences.mean(axis=1)
    return share_interval(total(pseudo_values, np.arange(count)), pseudo_values=True)


def _summary(name: str, values: np.ndarray, of_cases: IntervalByLevel | None) -> Row:
    """Return mean and sd over runs, and the interval; None where there is none."""
    ends = (math.nan, math.nan)
    if of_cases is not None:
        ends = [100 * end for end in with_runs(of_cases, values / 100)(1 - ALPHA)]
    ends = [None if np.isnan(end) else end for end in bounded(ends, 0.0, 100.0)]
    return {
        f"{name}_sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        **with_interval(name, values.mean(), *ends),
    }
