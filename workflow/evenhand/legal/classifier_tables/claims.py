"""The claims of FairLex's text about groups, beside our classifiers with ERM."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, text
from evenhand.legal.classifier_study import BASE, MEAN, ClassifierStudy
from evenhand.legal.classifier_tables.scores import evaluate
from evenhand.legal.published import (
    NO_NUMBER,
    NO_RUN,
    NOT_COMPARABLE,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    VERDICT,
    judge,
    read_claims,
    rounding,
)
from evenhand.metrics.classification import PUBLISHED
from evenhand.text.catalogue import reason

#: The columns that name a claim.
CLAIM = ("attribute", "quantity", "group", "other_group")

TABLE = Table(
    "claims",
    title="Claims of the paper beside our runs",
    key=("dataset", *CLAIM, "classifier"),
    columns=(
        text("dataset"),
        text("attribute"),
        text("quantity", "gap, score, below (the other group), best or worst (group)"),
        text("group"),
        text("other_group"),
        number("published_low"),
        number("published_high"),
        text("classifier", "Trained with ERM"),
        integer("seeds"),
        text("ours", "By the convention of FairLex's code; or the name of a group"),
        percent("sd", "Standard deviation over seeds"),
        text("verdict", VERDICT),
        text("reason"),
        text("known_error", "Its entry in known_errors.csv"),
    ),
    source="FairLex (Chalkidis et al. 2022), section 5",
)

OTHER_CLASSIFIER = reason("other_classifier")


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per claim and classifier; one without a classifier if none has the scores."""
    scores = _scores(study)
    names = {classifier for classifier, _ in scores}
    order = sorted(names, key=lambda name: (study.stands_for.get(name) != "linear", name))
    for claim in read_claims(study.claims, study.dataset.kind):
        key = {name: claim[name] for name in (*CLAIM, "known_error")}
        key |= {"published_low": claim["low"], "published_high": claim["high"]}
        classifiers = [
            name for name in order if scores.get((name, claim["attribute"]), {}).get(MEAN)
        ]
        for classifier in classifiers:
            by_seed = dict(scores[classifier, claim["attribute"]])
            mean = by_seed.pop(MEAN)
            stands = study.stands_for.get(classifier) == "transformer"
            why_not = study.other_cases or (None if stands else OTHER_CLASSIFIER)
            row = _judged(claim, mean, list(by_seed.values()), why_not)
            yield key | {"classifier": classifier, "seeds": len(by_seed)} | row
        if not classifiers:
            yield key | {"verdict": NOT_RUN, "reason": NO_RUN}


def _scores(study: ClassifierStudy) -> dict[tuple[str, str], dict[str, dict[str, float]]]:
    """Return test scores under ERM by (classifier, attribute), then by seed and group."""
    convention, scores = PUBLISHED[study.dataset.task], {}
    for row, groups in evaluate(study):
        if (row["objective"], row["split"], row["convention"]) == (BASE, "test", convention):
            of_groups = {group["group"]: group["score"] for group in groups if group["cases"]}
            key = row["classifier"], row["attribute"]
            scores.setdefault(key, {})[row["seed"]] = of_groups
    return scores


def _judged(
    claim: Row, mean: dict[str, float], seeds: list[dict[str, float]], why_not: str | None
) -> Row:
    if claim["quantity"] in ("best", "worst"):
        group = (max if claim["quantity"] == "best" else min)(mean, key=mean.get)
        if why_not:
            return {"ours": group, "verdict": NOT_COMPARABLE, "reason": why_not}
        verdict = REPRODUCED if group == claim["group"] else NOT_REPRODUCED
        return {"ours": group, "verdict": verdict}
    values = [_quantity(claim, scores) for scores in seeds]
    numbers = np.array([value for value in values if value is not None])
    if not len(numbers):
        return {"verdict": NOT_RUN, "reason": "a group has no score"}
    value = float(numbers.mean())
    sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    ends = [claim["low"], claim["high"]]
    if None in ends:
        return {"ours": value, "sd": sd, "verdict": NO_NUMBER}
    tolerance = max(rounding(f"{end:g}") for end in ends)
    return {"ours": value, "sd": sd} | judge(*ends, tolerance, value, sd, len(numbers), why_not)


def _quantity(claim: Row, scores: dict[str, float]) -> float | None:
    if claim["quantity"] == "gap":
        return max(scores.values()) - min(scores.values()) if len(scores) > 1 else None
    needed = ["group"] if claim["quantity"] == "score" else ["other_group", "group"]
    values = [scores.get(claim[name]) for name in needed]
    return None if None in values else values[0] - sum(values[1:])
