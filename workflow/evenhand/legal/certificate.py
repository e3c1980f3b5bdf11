"""Does each objective do what it promises? Trainings on problems with a planted attribute.

Each kind of classifier is trained with each objective on texts whose attribute agrees with the
label in half of the training cases (unrelated) and in 95 % of them (spurious), and is evaluated on
test cases in which the two are unrelated. Linear classifiers have two more problems, each for the
objectives that are made for it. An objective declares its promise in `AIM`; a new one is tested
without further code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, number, percent, share, text
from evenhand.learning.objective import load_objective
from evenhand.learning.probes import PROBES
from evenhand.legal.planted_training import (
    PROBLEMS,
    TRAINED,
    groups_seen,
    measure,
    selection,
    variants,
)
from evenhand.metrics.inference import student_reach

#: Aims that promise smaller `evenhand.legal.planted_training.gaps` than balanced batches give.
EQUAL = {"equal_losses": "loss_gap", "equal_slopes": "slope_gap"}

#: The aims for the worst cell. Only the first promises a better one than balanced batches give.
WORST = ("worst_loss", *EQUAL, "worst_group")

#: Problems of linear classifiers only, and the aims of the objectives that are trained on them.
MADE_FOR = {"few cases": ("erase",), "conflict": WORST}

#: What others are measured against: plain training, and batches balanced over label x attribute.
PLAIN, SAMPLER = "erm", "erm_group_uniform"

#: The highest scores of probes after erasure, by problem and probe.
ERASED = {
    "unrelated": {"linear": 0.52, "MLP": 0.57},
    "spurious": {"linear": 0.55, "MLP": 0.55},
    "few cases": {"linear": 0.55, "MLP": 0.55},
}

#: Accuracy that erasure may cost without correlation, and what the worst cell is to gain: the mean
#: over seeds by so much, and significantly. Worst cells of one training vary by about as much
#: between seeds, so that erasure may be below by it, but not significantly.
COST, GAIN = 0.005, 0.02

#: The balanced accuracy above chance that a hidden attribute may leave to a probe: this share of
#: what plain training leaves, or this much, because that may be chance.
HIDDEN, NEAR_CHANCE = 0.5, 0.02

#: Comparisons paired by seed, by column: a score, its name, and the objective of the other one.
COMPARED = {
    "over_plain": ("worst", "worst cell", PLAIN),
    "over_sampler": ("worst", "worst cell", SAMPLER),
    "loss_gap_over_sampler": ("loss_gap", "difference of mean losses", SAMPLER),
    "slope_gap_over_sampler": ("slope_gap", "difference of slopes", SAMPLER),
}

#: What IFR_p is to gain, in points, and the accuracy that this may cost.
MARGIN, SIMILAR_COST = 5.0, 0.02

_PROBED = [f"{where}_{name.lower()}" for where in ("features", "logits") for name in PROBES]

_SCORES = (
    share("accuracy", "On test cases, where label and attribute are unrelated; mean"),
    share("worst", "Accuracy in the worst cell of label x attribute"),
    percent("ifr_b", "Test cases with the same prediction for the other attribute value's words"),
    percent("ifr_p", "Test cases with nearly the same output for these"),
    *(share(name, f"Balanced accuracy of a probe ({name}); chance 0.5") for name in _PROBED),
)

TABLE = Table(
    "certified_mitigation",
    title="Does each objective do what it promises? Problems with a planted attribute",
    key=("classifier", "problem", "objective"),
    columns=(
        text("classifier", "linear, frozen or hierarchical"),
        text(
            "problem",
            "Label and attribute in training. unrelated; spurious: they agree in 95 % of cases; "
            "few cases: the same with a sixth of the cases; conflict: unrelated, and half of the "
            "label's words mislead in one group",
        ),
        text("objective", "With the kind of pairs that it compares"),
        text("groups", "What the objective sees: label x attribute, attribute, or none"),
        text("select", "The development score that chooses the epoch"),
        integer("seeds", "Each with texts, first weights and batches of its own"),
        *_SCORES,
        number("loss_gap", "conflict: difference of mean losses between the attribute's values"),
        number("slope_gap", "The same of the losses' slopes in a scale of the logits"),
        share("sampler_worst", "Worst cell of ERM on batches balanced over label x attribute"),
        *(
            number(
                name,
                f"{words.capitalize()} less that of {objective}, paired by seed, with its t "
                "interval over two seeds or more; blank for this objective itself",
                interval=True,
                count="seeds",
            )
            for name, (_, words, objective) in COMPARED.items()
        ),
        *(
            replace(column, name=f"plain_{column.name}", description="Of plain training")
            for column in _SCORES
        ),
        text("aim", "What the objective promises; blank: nothing of this kind"),
        flag("met", "Whether it does so; blank without a promise for this problem"),
        text("reason", "What is not met"),
    ),
    form=".4f",
)


def rows(
    seeds: Sequence[int],
    *,
    kinds: Sequence[str] = ("linear", "frozen", "hierarchical"),
    objectives: Sequence[str] | None = None,
    sizes: tuple[int, int, int] = (3000, 800, 4000),
    measure: Callable[..., dict[str, float]] = measure,
) -> Iterator[Row]:
    """Yield a row per kind of classifier, problem, objective and kind of pairs.

    Parameters
    ----------
    seeds : sequence of int
        Of the problems and the trainings.
    kinds : sequence of str
        Kinds of classifiers.
    objectives : sequence of str, optional
        Names; all of `evenhand.learning.objectives` by default.
    sizes : tuple of int
        Cases of training, development and test.
    measure : callable
        `evenhand.legal.planted_training.measure`, or a function that keeps its results.
    """
    from evenhand.core.families import member_names
    from evenhand.learning.objective import PACKAGE

    every = [name.rpartition(".")[2] for name in member_names(PACKAGE)]
    names = list(dict.fromkeys([PLAIN, SAMPLER, *(objectives or every)]))
    for kind, problem in product(kinds, PROBLEMS):
        only = MADE_FOR.get(problem)
        if only and kind != "linear":
            continue
        rows_by_objective: dict[str, Row] = {}
        by_seed: dict[str, list[dict[str, float]]] = {}
        for name in names:
            objective = load_objective(name)
            if kind == "linear" and objective.inner_loss:
                continue  # it needs a representation that is trained
            if only and objective.AIM not in only and name not in (PLAIN, SAMPLER):
                continue
            for title, options in variants(name):
                scores = [measure(kind, problem, name, options, seed, sizes) for seed in seeds]
                by_seed[title] = scores
                promised = kind in (objective.AIM_FOR or TRAINED)
                rows_by_objective[title] = {
                    "classifier": kind,
                    "problem": problem,
                    "objective": title,
                    "groups": groups_seen(objective),
                    "select": selection(objective),
                    "seeds": len(seeds),
                    **{key: float(np.mean([row[key] for row in scores])) for key in scores[0]},
                    "aim": objective.AIM if promised else "",
                }
        plain = rows_by_objective[PLAIN]
        shared = {f"plain_{column.name}": plain[column.name] for column in _SCORES}
        shared["sampler_worst"] = rows_by_objective[SAMPLER]["worst"]
        for title, row in rows_by_objective.items():
            row |= shared
            for name, (score, _, other) in COMPARED.items():
                if title != other and score in row:
                    pairs = zip(by_seed[title], by_seed[other], strict=True)
                    row |= _paired(name, np.array([a[score] - b[score] for a, b in pairs]))
            yield row | judge(row["aim"], problem, row)


def _paired(name: str, differences: np.ndarray) -> dict[str, float | None]:
    """Return the mean difference of a column, and its t interval over two seeds or more."""
    mean = float(differences.mean())
    if len(differences) < 2:
        return {name: mean, f"{name}_low": None, f"{name}_high": None}
    reach = student_reach(differences)
    return {name: mean, f"{name}_low": mean - reach, f"{name}_high": mean + reach}


def _difference(name: str, row: Row) -> str:
    """Return a score and its difference from that of plain training or the sampler, in words."""
    (score, words, _), other = COMPARED[name], name.rpartition("_")[2]
    mean, low, high = (row[name + end] for end in ("", "_low", "_high"))
    interval = "" if low is None else f" ({low:.3f} to {high:.3f})"
    return f"{words} {row[score]:.3f}, less that of {other} {mean:.3f}{interval}"


def judge(aim: str, problem: str, row: Row) -> Row:
    """Return the promise of an objective for a row, whether it is met, and the failures."""
    wrong, spurious = [], problem == "spurious"
    if aim == "erase":
        for where, (name, most) in product(("features", "logits"), ERASED[problem].items()):
            value = row[f"{where}_{name.lower()}"]
            if value > most:
                wrong.append(f"{name} probe on {where} {value:.3f}, above {most}")
        if problem == "unrelated" and row["accuracy"] < row["plain_accuracy"] - COST:
            wrong.append(f"accuracy {row['accuracy']:.3f}, plain {row['plain_accuracy']:.3f}")
        if problem != "unrelated" and (
            row["over_sampler"] < -GAIN or (row["over_sampler_high"] or 0) < 0
        ):
            wrong.append(_difference("over_sampler", row))
    elif aim == "hide":
        for name in _PROBED[:2]:
            if row[name] > 0.5 + max(NEAR_CHANCE, HIDDEN * (row[f"plain_{name}"] - 0.5)):
                wrong.append(f"{name} {row[name]:.3f}, plain {row[f'plain_{name}']:.3f}")
    elif aim == "ifr_p" and spurious:
        if row["ifr_p"] < row["plain_ifr_p"] + MARGIN:
            wrong.append(f"IFR_p {row['ifr_p']:.1f}, plain {row['plain_ifr_p']:.1f}")
        if row["accuracy"] < row["plain_accuracy"] - SIMILAR_COST:
            wrong.append(f"accuracy {row['accuracy']:.3f}, plain {row['plain_accuracy']:.3f}")
    elif (aim in WORST and spurious) or (aim == WORST[0] and problem == "conflict"):
        name = "over_plain" if spurious else "over_sampler"
        low = row[f"{name}_low"]  # None with one seed
        if row[name] < GAIN or (low is not None and low <= 0):
            wrong.append(_difference(name, row))
    elif aim in EQUAL and problem == "conflict":
        name = f"{EQUAL[aim]}_over_sampler"
        high = row[f"{name}_high"]
        if (row[name] if high is None else high) >= 0:
            wrong.append(_difference(name, row))
        if row["over_sampler"] < -GAIN:
            wrong.append(_difference("over_sampler", row))
    else:
        return {"aim": aim}
    return {"aim": aim, "met": not wrong, "reason": "; ".join(wrong)}
