"""FairLex's (Chalkidis et al. 2022) published values on its classifiers, as far as available.

The bodies of its Tables 2 to 4 were not available; ``resources/legal`` contains a few cells quoted
by others, a table of a draft of October 2021 from its code, and claims of its text.
"""

from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.resources import read_resource

#: Verdicts on a published value.
REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not_reproduced", "not_run"
UNDECIDED, NOT_COMPARABLE, NO_NUMBER = "undecided", "not_comparable", "no_published_value"

#: What these verdicts mean, for the descriptions of columns.
VERDICT = "reproduced (within 2 sd, rounding and tolerance), not_reproduced, undecided (one seed),\
 not_comparable (other cases, or a quirk of the published code), not_run or no_published_value"

#: A published number is reproduced within so many sd over seeds.
WIDTH = 2.0

#: Why a published value has no run beside it.
NO_RUN = "no run stands for the paper's"

#: Columns of ``published_scores.csv``.
SCORES = [
    *("kind", "classifier", "attribute", "objective", "measure"),
    *("value", "tolerance", "source", "only_compat", "note"),
]

#: What is measured of a classifier on an attribute, in percent (overall: on all cases).
MEASURES = ("overall", "mean", "gd", "worst")

#: The paper's data sets.
COURTS = ("cail", "ecthr", "fscs", "scotus")

#: The paper's classifiers.
CLASSIFIERS = ("linear", "transformer")

#: Columns of ``published_claims.csv``.
CLAIMS = ["kind", "attribute", "quantity", "group", "other_group", "low", "high", "known_error"]

#: What is claimed of groups: largest less least score; a score; how far below the other group; the
#: best, the worst group.
QUANTITIES = ("gap", "score", "below", "best", "worst")

#: What is claimed over all data sets.
ALL_QUANTITIES = ("loss_mean", "loss_worst", "fewest_is_worst", "linear_worse")

#: The kind of a claim over all data sets.
ALL = "all"


class Score(NamedTuple):
    """A published score in percent, its tolerance, and its source.

    `only_compat` marks scores that depend on a quirk of the published code, named in the note; a
    run without that quirk does not measure the same quantity.
    """

    value: float
    tolerance: float
    source: str
    only_compat: bool = False
    note: str = ""


def read_scores(path: Path, kind: str) -> dict[tuple[str, str, str, str], Score]:
    """Return the scores of a court, by classifier, attribute, objective and measure.

    The tolerance of a score includes half a unit of its last printed digit.
    """
    choices = {"kind": COURTS, "classifier": CLASSIFIERS, "measure": MEASURES}
    choices["only_compat"] = ("true",)
    rows = read_resource(
        path, SCORES, optional=tuple(SCORES[-2:]), unique=tuple(SCORES[:5]), choices=choices
    )
    return {
        tuple(row[name] for name in SCORES[1:5]): Score(
            float(row["value"]),
            float(row["tolerance"]) + rounding(row["value"]),
            row["source"],
            row["only_compat"] == "true",
            row["note"],
        )
        for row in rows
        if row["kind"] == kind
    }


def read_claims(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the claims about a court, or `ALL`, by column; low and high as numbers or None.

    Both are None for a best or worst group. `known_error` is the id of its entry in
    ``known_errors.csv``, or blank.
    """
    rows = read_resource(
        path,
        CLAIMS,
        optional=tuple(CLAIMS[1:2] + CLAIMS[3:]),
        unique=tuple(CLAIMS[:5]),
        choices={"kind": (*COURTS, ALL), "quantity": (*QUANTITIES, *ALL_QUANTITIES)},
    )
    return [
        row | {end: float(row[end]) if row[end] else None for end in ("low", "high")}
        for row in rows
        if row["kind"] == kind
    ]


def judge(
    low: float,
    high: float,
    tolerance: float,
    reproduced: float | None,
    sd: float | None,
    seeds: int,
    why_not: str | None,
) -> dict[str, str]:
    """Return the verdict on a published number or range, and its reason.

    Parameters
    ----------
    low, high : float
        The published ends; equal for a number.
    tolerance : float
        The distance that is allowed besides `WIDTH` sd.
    reproduced, sd : float
        Mean over seeds and sd; None where there is none.
    seeds : int
        The number of seeds.
    why_not : str
        Why the two cannot be compared, if so.
    """
    if why_not:
        return {"verdict": NOT_COMPARABLE, "reason": why_not}
    if reproduced is None:
        return {"verdict": NOT_RUN, "reason": "no group has a score"}
    if seeds < 2 or sd is None:
        return {"verdict": UNDECIDED, "reason": "one seed does not say how far runs lie apart"}
    distance = max(low - reproduced, reproduced - high)
    if distance <= WIDTH * sd + tolerance + 1e-9:
        return {"verdict": REPRODUCED}
    side = "below" if reproduced < low else "above"
    return {"verdict": NOT_REPRODUCED, "reason": f"ours is {distance:.1f} {side}"}


def rounding(number: str) -> float:
    """Return half a unit of the last digit of a number."""
    return 0.5 * 10.0 ** -len(number.partition(".")[2])
