"""Stage: FairLex's Table 4 with our runs, beside the published numbers that are known."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import load_dataset
from evenhand.legal.describe_cases import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.legal.published import Claim, Score, claim_rounding, read_claims, read_scores
from evenhand.legal.records import SPLITS
from evenhand.legal.score_groups import ABOVE, CHANCE, MEAN
from evenhand.legal.scored import BASE, MEASURES
from evenhand.metrics.classification import PUBLISHED

HEADER = [
    *("dataset", "attribute", "classifier", "stands_for", "objective", "trained_for", "measure"),
    *("seeds", "constant_seeds", "always"),
    *("ours", "sd", "low", "high", "smallest_group", "noise_mean", "noise_border", "p"),
    *("p_labels", "noise_verdict", "from_labels", "compat", "compat_sd", "published", "source"),
    *("verdict", "reason"),
]

CLAIMS = [
    *("dataset", "attribute", "quantity", "group", "other_group", "published_low"),
    *("published_high", "classifier", "seeds", "ours", "sd", "verdict", "reason", "known_error"),
]

UNDECIDED, NOT_COMPARABLE, NO_NUMBER = "undecided", "not_comparable", "no_published_value"

#: A published number is reproduced within so many sd over seeds.
WIDTH = 2.0

OTHER_CASES = "the cases are not FairLex's own"
OTHER_CLASSIFIER = "it does not stand for the paper's encoder"
NO_RUN = "no run stands for the paper's"

Row = dict[str, Any]


def tabulate_classifiers(
    *,
    scores: Input,
    groups: Input,
    sizes: Input,
    anchors: Input,
    claims: Input,
    out: Output,
    claims_out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    linear: list[str] | None = None,
    transformer: list[str] | None = None,
    compat_objectives: list[str] | None = None,
) -> dict[str, Any]:
    """Write Table 4: test scores by attribute, classifier and objective.

    Parameters
    ----------
    scores, groups : path
        CSVs of `score_groups`.
    sizes : path
        CSV of `describe_cases`: whether the cases are FairLex's own, and all of them.
    anchors, claims : path
        What is published (published_scores.csv and published_claims.csv).
    out : path
        CSV, per attribute, classifier (those that stand for the linear one first), objective (ERM
        first) and measure (overall, mean, gd, worst; percent):

        - stands_for: linear, transformer (of the paper) or none.
        - constant_seeds, always: as in `score_groups`.
        - ours: mean over seeds by our convention of macro-F1, sd over seeds, low and high over
          cases; smallest_group, noise_mean, noise_border (95th percentile for gd, 5th for worst),
          p, p_labels, noise_verdict: as in `score_groups`; from_labels: whether what is above
          noise is no more than among random groups with the same labels.
        - compat, compat_sd: the same by the convention of FairLex's code.
        - published and its source (table_4: told second-hand; draft_2021: a table of a draft; what
          both call mF1 may be our overall, as their script prints it); verdict on compat:
          reproduced (within 2 sd, rounding and the tolerance of the table), not_reproduced,
          undecided (one seed), not_comparable (other cases, or only some of them; a quirk of the
          published code that the run does not have), not_run, no_published_value; reason.

        Published numbers that no run stands beside have rows of their own.
    claims_out : path
        CSV, a row per claim of FairLex's text and classifier with ERM: ours and sd by the
        convention of FairLex's code (or the name of a group), verdict, reason.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the tables.
    linear, transformer : list of str
        The classifiers that stand for the paper's linear one, and for its hierarchical
        transformer. The claims of its text are about the latter.
    compat_objectives : list of str
        The objectives that ran as in the published code.

    Returns
    -------
    dict
        rows, claims, and how many rows of both have each verdict.
    """
    compat = PUBLISHED[load_dataset(kind).task]
    stands = dict.fromkeys(linear or [], "linear") | dict.fromkeys(transformer or [], "transformer")
    other_cases = _other_cases(sizes)
    read = [row for row in _read(scores, ("convention", "seed", *MEASURES)) if _on_test(row)]
    said = read_scores(anchors, kind)
    ours = {_place(row): row for row in read if (row["seed"], row["convention"]) == (MEAN, "all")}
    theirs = {
        _place(row): row for row in read if (row["seed"], row["convention"]) == (MEAN, compat)
    }
    rows: list[Row] = []
    met = set()
    for place in _ordered(ours, stands):
        for measure in MEASURES:
            row = _cell(ours[place], theirs[place], measure)
            row["stands_for"] = stands.get(row["classifier"], "none")
            key = row["stands_for"], row["attribute"], row["objective"], measure
            if (score := said.get(key)) is not None:
                met.add(key)
                row |= {"published": score.value, "source": score.source}
                why_not = other_cases
                if score.only_compat and row["objective"] not in (compat_objectives or []):
                    why_not = why_not or score.note
                row |= _judged(score, row, why_not)
            else:
                row["verdict"] = NO_NUMBER
            rows.append(row)
    for (classifier, attribute, objective, measure), score in said.items():
        if (classifier, attribute, objective, measure) in met:
            continue
        rows.append(
            {
                "stands_for": classifier,
                "attribute": attribute,
                "objective": objective,
                "measure": measure,
                "published": score.value,
                "source": score.source,
                "verdict": NOT_RUN,
                "reason": NO_RUN,
            }
        )
    claim_rows = _claims(
        read_claims(claims, kind),
        [row for row in _read(groups, ("group", "score")) if _on_test(row)],
        compat,
        stands,
        other_cases,
    )
    write_rows(out, HEADER, ({"dataset": dataset} | row for row in rows))
    write_rows(claims_out, CLAIMS, ({"dataset": dataset} | row for row in claim_rows))
    verdicts = [row["verdict"] for row in [*rows, *claim_rows]]
    named = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_COMPARABLE, NOT_RUN, NO_NUMBER)
    return {
        "rows": len(rows),
        "claims": len(claim_rows),
        **{verdict: verdicts.count(verdict) for verdict in named},
    }


def _other_cases(sizes: Path) -> str | None:
    """Why the cases are not those of the paper, if they are not."""
    needed = ("quantity", "item", "ours", "published", "verdict")
    for row in _read(sizes, needed, "describe_cases"):
        if row["quantity"] == "cases" and row["item"] in SPLITS and row["verdict"] != REPRODUCED:
            if row["verdict"] == NOT_RUN:
                return OTHER_CASES
            return f"{row['item']} has {row['ours']} cases, and FairLex's {row['published']}"
    return None


def _on_test(row: Row) -> bool:
    return row["split"] == "test"


def _place(row: Row) -> tuple[str, str, str, str]:
    return row["attribute"], row["classifier"], row["objective"], row["trained_for"]


def _ordered(
    places: dict[tuple[str, str, str, str], Row], stands: dict[str, str]
) -> list[tuple[str, str, str, str]]:
    attributes = list(dict.fromkeys(place[0] for place in places))
    return sorted(
        places,
        key=lambda place: (
            attributes.index(place[0]),
            stands.get(place[1]) != "linear",
            place[1],
            place[2] != BASE,
            place[2:],
        ),
    )


def _cell(ours: Row, theirs: Row, measure: str) -> Row:
    row = {
        **{name: ours[name] for name in ("attribute", "classifier", "objective", "trained_for")},
        "measure": measure,
        "seeds": int(ours["seeds"]),
        **{name: ours[name] for name in ("constant_seeds", "always")},
        "ours": _number(ours[measure]),
        **{end: _number(ours[f"{measure}_{end}"]) for end in ("sd", "low", "high")},
        "smallest_group": ours["smallest_group"],
        "compat": _number(theirs[measure]),
        "compat_sd": _number(theirs[f"{measure}_sd"]),
    }
    if measure in ("gd", "worst"):
        border = "noise_95" if measure == "gd" else "noise_5"
        for name, source in (
            ("noise_mean", "noise_mean"),
            ("noise_border", border),
            ("p", "p"),
            ("p_labels", "p_labels"),
        ):
            row[name] = _number(ours[f"{measure}_{source}"])
        row["noise_verdict"] = ours[f"{measure}_verdict"]
        if row["noise_verdict"] == ABOVE and row["p_labels"] is not None:
            row["from_labels"] = row["p_labels"] >= CHANCE
    return row


def _judged(score: Score, row: Row, why_not: str | None) -> Row:
    return judge(score.value, score.value, score.tolerance, row["compat"], row["compat_sd"],
                 row["seeds"], why_not)  # fmt: skip


def judge(
    low: float,
    high: float,
    tolerance: float,
    ours: float | None,
    sd: float | None,
    seeds: int,
    why_not: str | None,
) -> Row:
    """Verdict on a published number or range, and its reason.

    Parameters
    ----------
    low, high : float
        What is published.
    tolerance : float
        How far ours may lie from it besides `WIDTH` sd.
    ours, sd : float
        Mean over seeds and sd; None where there is none.
    seeds : int
        How many there are.
    why_not : str
        Why ours cannot be held against it, if so.
    """
    if why_not:
        return {"verdict": NOT_COMPARABLE, "reason": why_not}
    if ours is None:
        return {"verdict": NOT_RUN, "reason": "no group has a score"}
    if seeds < 2 or sd is None:
        reason = "one seed does not say how far runs lie apart"
        return {"verdict": UNDECIDED, "reason": reason}
    distance = max(low - ours, ours - high)
    if distance <= WIDTH * sd + tolerance + 1e-9:
        return {"verdict": REPRODUCED}
    side = "below" if ours < low else "above"
    return {"verdict": NOT_REPRODUCED, "reason": f"ours is {distance:.1f} {side}"}


def _claims(
    claims: Sequence[Claim],
    groups: list[Row],
    compat: str,
    stands: dict[str, str],
    other_cases: str | None,
) -> list[Row]:
    base = [row for row in groups if (row["objective"], row["convention"]) == (BASE, compat)]
    classifiers = sorted({row["classifier"] for row in base},
                         key=lambda name: (stands.get(name) != "linear", name))  # fmt: skip
    rows = []
    for claim in claims:
        about = {
            **{name: getattr(claim, name) for name in CLAIMS[1:5]},
            "published_low": claim.low,
            "published_high": claim.high,
            "known_error": claim.known_error,
        }
        own = [row for row in base if row["attribute"] == claim.attribute]
        found = False
        for classifier in classifiers:
            of_seeds: dict[str, dict[str, float]] = {}
            for row in own:
                if row["classifier"] == classifier and row["score"]:
                    of_seeds.setdefault(row["seed"], {})[row["group"]] = float(row["score"])
            mean = of_seeds.pop(MEAN, {})
            if not mean:
                continue
            found = True
            why = OTHER_CLASSIFIER if stands.get(classifier) != "transformer" else None
            row = _claimed(claim, mean, list(of_seeds.values()), other_cases or why)
            rows.append(about | {"classifier": classifier, "seeds": len(of_seeds)} | row)
        if not found:
            rows.append(about | {"verdict": NOT_RUN, "reason": NO_RUN})
    return rows


def _claimed(
    claim: Claim, mean: dict[str, float], seeds: list[dict[str, float]], why_not: str | None
) -> Row:
    if claim.quantity in ("best", "worst"):
        name = (max if claim.quantity == "best" else min)(mean, key=lambda group: mean[group])
        if why_not:
            return {"ours": name, "verdict": NOT_COMPARABLE, "reason": why_not}
        return {"ours": name, "verdict": REPRODUCED if name == claim.group else NOT_REPRODUCED}
    values = [_quantity(claim, scores) for scores in seeds]
    numbers = np.array([value for value in values if value is not None])
    if not len(numbers):
        return {"verdict": NOT_RUN, "reason": "a group has no score"}
    ours = float(numbers.mean())
    sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    if claim.low is None or claim.high is None:
        return {"ours": ours, "sd": sd, "verdict": NO_NUMBER}
    rounding = claim_rounding(claim)
    verdict = judge(claim.low, claim.high, rounding, ours, sd, len(numbers), why_not)
    return {"ours": ours, "sd": sd, **verdict}


def _quantity(claim: Claim, scores: dict[str, float]) -> float | None:
    if claim.quantity == "gap":
        return max(scores.values()) - min(scores.values()) if len(scores) > 1 else None
    needed = [claim.group] if claim.quantity == "score" else [claim.other_group, claim.group]
    if any(group not in scores for group in needed):
        return None
    first, *rest = (scores[group] for group in needed)
    return first - sum(rest)


def _number(text: str) -> float | None:
    return float(text) if text else None


def _read(path: Path, needed: Sequence[str], stage: str = "score_groups") -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if missing := [name for name in needed if name not in (reader.fieldnames or [])]:
            raise InputError(
                f"lacks the column {missing[0]}", file=path, remedy=f"give what {stage} wrote"
            )
        return list(reader)


if __name__ == "__main__":
    stage.run(tabulate_classifiers)
