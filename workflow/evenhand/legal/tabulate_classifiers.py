"""Stage: FairLex's Table 4 with our runs, beside the published numbers that are known."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand import stage
from evenhand.errors import InputError
from evenhand.legal.built import load_dataset, write_rows
from evenhand.legal.describe_cases import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.legal.published import Claim, Score, claim_rounding, read_claims, read_scores
from evenhand.legal.score_groups import MEAN
from evenhand.legal.scored import BASE, MEASURES
from evenhand.metrics.classification import PUBLISHED
from evenhand.stage import Input, Output, Plugin

HEADER = [
    *("dataset", "attribute", "classifier", "objective", "trained_for", "measure", "seeds"),
    *("ours", "sd", "low", "high", "smallest_group", "noise_mean", "noise_border", "p"),
    *("p_labels", "noise_verdict", "compat", "compat_sd", "published", "source", "verdict"),
    "reason",
]

CLAIMS = [
    *("dataset", "attribute", "quantity", "group", "other_group", "published_low"),
    *("published_high", "classifier", "seeds", "ours", "sd", "verdict", "reason"),
]

UNDECIDED, NO_NUMBER = "undecided", "no_published_value"

#: A published number is reproduced within so many sd over seeds.
WIDTH = 2.0

OTHER_CASES = "the cases are not FairLex's own"
OTHER_CLASSIFIER = "it does not stand for the paper's encoder"

Row = dict[str, Any]


def tabulate_classifiers(
    *,
    scores: Input,
    groups: Input,
    anchors: Input,
    claims: Input,
    out: Output,
    claims_out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    paper_classifier: str | None = None,
    published: bool = False,
) -> dict[str, Any]:
    """Write Table 4: test scores by attribute, classifier and objective.

    Parameters
    ----------
    scores, groups : path
        CSVs of `score_groups`.
    anchors, claims : path
        What is published (published_scores.csv and published_claims.csv).
    out : path
        CSV, per attribute, classifier (those that begin with ``linear`` first), objective (ERM
        first) and measure (overall, mean, gd, worst; percent):

        - ours: mean over seeds by our convention of macro-F1, sd over seeds, low and high over
          cases; smallest_group, noise_mean, noise_border (95th percentile for gd, 5th for worst),
          p, p_labels, noise_verdict: as in `score_groups`.
        - compat, compat_sd: the same by the convention of FairLex's code.
        - published and its source (table_4: told second-hand; draft_2021: a table of a draft; what
          both call mF1 may be our overall, as their script prints it); verdict on compat:
          reproduced (within 2 sd, rounding and the tolerance of the table), not_reproduced,
          undecided (one seed), not_run, no_published_value; reason.

        Published numbers that no run stands beside have rows of their own.
    claims_out : path
        CSV, a row per claim of FairLex's text and classifier with ERM: ours and sd by the
        convention of FairLex's code (or the name of a group), verdict, reason.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the tables.
    paper_classifier : str
        The classifier that stands for the paper's hierarchical transformer; by default none.
    published : bool
        Whether the cases are FairLex's own. If not, no number is judged.

    Returns
    -------
    dict
        rows, claims, and how many rows of both have each verdict.
    """
    compat = PUBLISHED[load_dataset(kind).task]
    read = [row for row in _read(scores, ("convention", "seed", *MEASURES)) if _on_test(row)]
    said = read_scores(anchors, kind)
    ours = {_place(row): row for row in read if (row["seed"], row["convention"]) == (MEAN, "all")}
    theirs = {
        _place(row): row for row in read if (row["seed"], row["convention"]) == (MEAN, compat)
    }
    rows: list[Row] = []
    for place in _ordered(ours):
        for measure in MEASURES:
            row = _cell(ours[place], theirs[place], measure)
            key = row["attribute"], row["objective"], measure
            if row["classifier"] == paper_classifier and key in said:
                score = said.pop(key)
                row |= {"published": score.value, "source": score.source}
                row |= _judged(score, row, published)
            else:
                row["verdict"] = NO_NUMBER
            rows.append(row)
    for (attribute, objective, measure), score in said.items():
        rows.append(
            {
                "attribute": attribute,
                "objective": objective,
                "measure": measure,
                "published": score.value,
                "source": score.source,
                "verdict": NOT_RUN,
                "reason": "no run stands for the paper's",
            }
        )
    claim_rows = _claims(
        read_claims(claims, kind),
        [row for row in _read(groups, ("group", "score")) if _on_test(row)],
        compat,
        paper_classifier,
        published,
    )
    write_rows(out, HEADER, ({"dataset": dataset} | row for row in rows))
    write_rows(claims_out, CLAIMS, ({"dataset": dataset} | row for row in claim_rows))
    verdicts = [row["verdict"] for row in [*rows, *claim_rows]]
    named = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_RUN, NO_NUMBER)
    return {
        "rows": len(rows),
        "claims": len(claim_rows),
        **{verdict: verdicts.count(verdict) for verdict in named},
    }


def _on_test(row: Row) -> bool:
    return row["split"] == "test"


def _place(row: Row) -> tuple[str, str, str, str]:
    return row["attribute"], row["classifier"], row["objective"], row["trained_for"]


def _ordered(places: dict[tuple[str, str, str, str], Row]) -> list[tuple[str, str, str, str]]:
    attributes = list(dict.fromkeys(place[0] for place in places))
    return sorted(
        places,
        key=lambda place: (
            attributes.index(place[0]),
            not place[1].startswith("linear"),
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
    return row


def _judged(score: Score, row: Row, published: bool) -> Row:
    return judge(score.value, score.value, score.tolerance, row["compat"], row["compat_sd"],
                 row["seeds"], None if published else OTHER_CASES)  # fmt: skip


def judge(
    low: float,
    high: float,
    tolerance: float,
    ours: float | None,
    sd: float | None,
    seeds: int,
    not_run: str | None,
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
    not_run : str
        Why ours does not count, if so.
    """
    if not_run or ours is None:
        return {"verdict": NOT_RUN, "reason": not_run or "no group has a score"}
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
    paper_classifier: str | None,
    published: bool,
) -> list[Row]:
    base = [row for row in groups if (row["objective"], row["convention"]) == (BASE, compat)]
    classifiers = sorted({row["classifier"] for row in base},
                         key=lambda name: (not name.startswith("linear"), name))  # fmt: skip
    rows = []
    for claim in claims:
        about = {
            **{name: getattr(claim, name) for name in CLAIMS[1:5]},
            "published_low": claim.low,
            "published_high": claim.high,
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
            why = OTHER_CLASSIFIER if classifier != paper_classifier else None
            row = _claimed(
                claim, mean, list(of_seeds.values()), OTHER_CASES if not published else why
            )
            rows.append(about | {"classifier": classifier, "seeds": len(of_seeds)} | row)
        if not found:
            reason = "no run stands for the paper's"
            rows.append(about | {"verdict": NOT_RUN, "reason": reason})
    return rows


def _claimed(
    claim: Claim, mean: dict[str, float], seeds: list[dict[str, float]], not_run: str | None
) -> Row:
    if claim.quantity in ("best", "worst"):
        name = (max if claim.quantity == "best" else min)(mean, key=lambda group: mean[group])
        if not_run:
            return {"ours": name, "verdict": NOT_RUN, "reason": not_run}
        return {"ours": name, "verdict": REPRODUCED if name == claim.group else NOT_REPRODUCED}
    values = [_quantity(claim, scores) for scores in seeds]
    numbers = np.array([value for value in values if value is not None])
    if not len(numbers):
        return {"verdict": NOT_RUN, "reason": not_run or "a group has no score"}
    ours = float(numbers.mean())
    sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    if claim.low is None or claim.high is None:
        return {"ours": ours, "sd": sd, "verdict": NO_NUMBER}
    rounding = claim_rounding(claim)
    verdict = judge(claim.low, claim.high, rounding, ours, sd, len(numbers), not_run)
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


def _read(path: Path, needed: Sequence[str]) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if missing := [name for name in needed if name not in (reader.fieldnames or [])]:
            raise InputError(
                f"lacks the column {missing[0]}", file=path, remedy="give what score_groups wrote"
            )
        return list(reader)


if __name__ == "__main__":
    stage.run(tabulate_classifiers)
