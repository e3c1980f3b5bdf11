"""FairLex's Table 4 with our runs, beside the published numbers that are known."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, flag, integer, number, percent, share, text
from evenhand.legal.classifier_study import (
    MEAN,
    NOISE_VERDICT,
    SETTING,
    SETTING_KEY,
    ClassifierStudy,
)
from evenhand.legal.classifier_tables.scores import evaluate
from evenhand.legal.published import (
    MEASURES,
    NO_NUMBER,
    NO_RUN,
    NOT_RUN,
    VERDICT,
    judge,
    read_scores,
)
from evenhand.metrics.classification import PUBLISHED
from evenhand.metrics.inference import ABOVE

TABLE = Table(
    "table_4",
    title="Scores of each objective beside the paper's",
    key=(*SETTING_KEY, "stands_for", "attribute", "measure"),
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
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per attribute, classifier, objective and measure, over test cases.

    Classifiers that reproduce the linear one come first, and ERM before other objectives.
    Published numbers without a run are last.
    """
    published = read_scores(study.scores, study.dataset.kind)
    unused = dict(published)
    for (means, compat), measure in product(_means(study), MEASURES):
        row = {**_row(means, measure), "compat": compat[measure], "verdict": NO_NUMBER}
        row["compat_sd"] = compat[f"{measure}_sd"]
        row["stands_for"] = study.stands_for.get(row["classifier"], "none")
        key = row["stands_for"], row["attribute"], row["objective"], measure
        if score := published.get(key):
            unused.pop(key, None)
            why_not = study.other_cases
            if score.only_compat and row["objective"] not in study.compat_objectives:
                why_not = why_not or score.note
            number = (score.value, score.value, score.tolerance)
            row |= {"published": score.value, "source": score.source}
            row |= judge(*number, row["compat"], row["compat_sd"], row["seeds"], why_not)
        yield row
    for key, score in unused.items():
        row = dict(zip(("stands_for", "attribute", "objective", "measure"), key, strict=True))
        row |= {"published": score.value, "source": score.source}
        yield row | {"verdict": NOT_RUN, "reason": NO_RUN}


def _means(study: ClassifierStudy) -> list[tuple[Row, Row]]:
    """Return the mean test scores of each attribute and setting, by our and FairLex's convention.

    Attributes are in the order of the data set.
    """
    rows: dict[tuple[str, ...], dict[str, Row]] = {}
    for row, _ in evaluate(study):
        if (row["split"], row["seed"]) == ("test", MEAN):
            key = tuple(row[name] for name in ("attribute", *SETTING_KEY[1:]))
            rows.setdefault(key, {})[row["convention"]] = row
    attributes = list(dict.fromkeys(key[0] for key in rows))
    order = sorted(
        rows, key=lambda key: (attributes.index(key[0]), study.stands_for.get(key[1]) != "linear")
    )
    compat = PUBLISHED[study.dataset.task]
    return [(rows[key]["all"], rows[key][compat]) for key in order]


def _row(scores: Row, measure: str) -> dict[str, Any]:
    """Return the cells of a measure by our convention."""
    same = ("attribute", *SETTING_KEY[1:], "seeds", "constant_seeds", "always", "smallest_group")
    row = {name: scores[name] for name in same}
    row |= {"measure": measure, "ours": scores[measure]}
    row |= {end: scores[f"{measure}_{end}"] for end in ("sd", "low", "high")}
    if f"{measure}_verdict" in scores:
        of_noise = ("noise_mean", "p", "p_labels", "power")
        row |= {name: scores[f"{measure}_{name}"] for name in of_noise}
        row["noise_border"] = scores["gd_noise_95" if measure == "gd" else "worst_noise_5"]
        row["noise_verdict"] = scores[f"{measure}_verdict"]
        if row["noise_verdict"] == ABOVE:
            row["from_labels"] = row["p_labels"] >= ALPHA
    return row
