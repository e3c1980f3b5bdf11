"""FairLex's Table 4 with our runs, beside the published numbers that are known."""

from collections.abc import Iterator
from typing import Any

from evenhand.core.tables import Row, Table, flag, integer, number, percent, share, text
from evenhand.legal.classifier_study import (
    CHANCE,
    MEAN,
    NOISE_VERDICT,
    SETTING,
    ClassifierStudy,
)
from evenhand.legal.evaluate import evaluate
from evenhand.legal.published import NO_NUMBER, NO_RUN, NOT_RUN, VERDICT, judge, read_scores
from evenhand.legal.scored import BASE, MEASURES
from evenhand.metrics.classification import PUBLISHED
from evenhand.metrics.inference import ABOVE

TABLE = Table(
    "table_4",
    title="Scores of each objective beside the paper's",
    key=(*(one.name for one in SETTING), "stands_for", "attribute", "measure"),
    columns=(
        *SETTING,
        text("attribute"),
        text("stands_for", "linear or transformer (of the paper), or none"),
        text("measure", "overall, mean, gd or worst, as in scores"),
        integer("seeds"),
        integer("constant_seeds", "Seeds that predict the same labels for every case"),
        text("always", "These labels, or none"),
        percent("ours", "Macro-F1 by our convention, over cases", interval=("low", "high")),
        percent("sd", "Standard deviation over seeds"),
        integer("smallest_group", "Its cases"),
        percent("noise_mean", "Mean of random groups"),
        percent("noise_border", "Their 95th percentile for gd, 5th for worst"),
        number("p", "Share of random groups that are as far"),
        number("p_labels", "The same for random groups with the same labels"),
        share("power", "Share of random groups above noise if delta is added"),
        text("noise_verdict", NOISE_VERDICT),
        flag("from_labels", "Above noise, but not above random groups with the same labels"),
        percent("compat", "By the convention of FairLex's code"),
        percent("compat_sd", "Standard deviation over seeds"),
        percent("published"),
        text("source", "table_4: reported second-hand; draft_2021: a table of a draft"),
        text("verdict", f"On compat: {VERDICT}"),
        text("reason"),
    ),
    source="FairLex (Chalkidis et al. 2022), table 4",
    main={"measure": ("gd",)},
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per attribute, classifier, objective and measure, over test cases.

    Classifiers that reproduce the linear one come first, and ERM before other objectives.
    Published numbers without a run are last.
    """
    published = read_scores(study.scores, study.dataset)
    met = set()
    for ours, compat in _pairs(study):
        for measure in MEASURES:
            row = _row(ours, compat, measure)
            row["stands_for"] = study.stands_for.get(row["classifier"], "none")
            key = row["stands_for"], row["attribute"], row["objective"], measure
            if score := published.get(key):
                met.add(key)
                why_not = study.other_cases
                if score.only_compat and row["objective"] not in study.compat_objectives:
                    why_not = why_not or score.note
                number = (score.value, score.value, score.tolerance)
                row |= {"published": score.value, "source": score.source}
                row |= judge(*number, row["compat"], row["compat_sd"], row["seeds"], why_not)
            else:
                row["verdict"] = NO_NUMBER
            yield row
    for key, score in published.items():
        if key not in met:
            names = ("stands_for", "attribute", "objective", "measure")
            row = dict(zip(names, key, strict=True))
            row |= {"published": score.value, "source": score.source}
            yield row | {"verdict": NOT_RUN, "reason": NO_RUN}


def _pairs(study: ClassifierStudy) -> list[tuple[Row, Row]]:
    """The mean scores of each setting and attribute on test, by our and by FairLex's convention."""
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row, _ in evaluate(study):
        if (row["split"], row["seed"]) == ("test", MEAN):
            key = tuple(row[name] for name in ("attribute", "classifier", "objective"))
            found.setdefault((*key, row["trained_for"]), {})[row["convention"]] = row
    attributes = list(dict.fromkeys(key[0] for key in found))
    order = sorted(
        found,
        key=lambda key: (
            attributes.index(key[0]),
            study.stands_for.get(key[1]) != "linear",
            key[1],
            key[2] != BASE,
            key[2:],
        ),
    )
    compat = PUBLISHED[study.dataset.task]
    return [(found[key]["all"], found[key][compat]) for key in order]


def _row(ours: Row, compat: Row, measure: str) -> dict[str, Any]:
    same = ("attribute", "classifier", "objective", "trained_for", "seeds", "constant_seeds")
    row = {
        **{name: ours[name] for name in (*same, "always", "smallest_group")},
        "measure": measure,
        "ours": ours[measure],
        **{end: ours[f"{measure}_{end}"] for end in ("sd", "low", "high")},
        "compat": compat[measure],
        "compat_sd": compat[f"{measure}_sd"],
    }
    if f"{measure}_verdict" in ours:
        border = {"gd": "noise_95", "worst": "noise_5"}[measure]
        row |= {
            name: ours[f"{measure}_{name}"] for name in ("noise_mean", "p", "p_labels", "power")
        }
        row |= {"noise_border": ours[f"{measure}_{border}"]}
        row["noise_verdict"] = ours[f"{measure}_verdict"]
        if row["noise_verdict"] == ABOVE:
            row["from_labels"] = row["p_labels"] >= CHANCE
    return row
