"""Small predictions that the real stages have scored: what the tests of their page read."""

from pathlib import Path
from typing import Any

from evenhand.learning.history import write_history
from evenhand.legal.compare_objectives import compare_objectives
from evenhand.legal.describe_cases import describe_cases
from evenhand.legal.explain_groups import explain_groups
from evenhand.legal.measure_calibration import measure_calibration
from evenhand.legal.measure_shift import measure_shift
from evenhand.legal.score_groups import score_groups
from evenhand.legal.tabulate_classifiers import tabulate_classifiers
from evenhand.legal.tabulate_curves import tabulate_curves
from evenhand.legal.write_classifier_findings import write_classifier_findings
from unit.legal.made_predictions import noisy, predictions, write, write_people, wrong_for


def write_results(repository: Path, folder: Path) -> dict[str, Any]:
    """What the stages say of ERM, which fails women, and of Group DRO, which does not."""
    data, genders = write_people(folder / "d.parquet")
    dro = {"objective": "group_dro", "attribute": "defendant_gender"}
    runs = []
    for seed in (1, 2, 3):
        runs.append(predictions(data, "cail", wrong_for(genders, "female"), seed=seed))
        runs.append(predictions(data, "cail", noisy(seed, 0.5), seed=seed, **dro))
    path = write(folder / "p.parquet", *runs)
    about = {"kind": "cail", "dataset": "mine"}
    names = ("scores", "group_scores", "shift", "tests", "table_2", "calibration", "bins", "sizes")
    out = {name: folder / f"{name}.csv" for name in (*names, "table_4", "claims")}
    common = {"data": data, "predictions": [path], **about}
    score_groups(
        **common, out=out["scores"], groups_out=out["group_scores"], splits=["test"],
        resamples=50, permutations=50,
    )  # fmt: skip
    counted = {name: folder / f"counted_{name}.csv" for name in ("groups", "labels")}
    describe_cases(data=data, sizes=out["sizes"], **counted, **about)
    measure_shift(data=data, out=out["shift"], resamples=50, **about)
    compare_objectives(**common, out=out["tests"], resamples=99)
    explain_groups(**common, shift=out["shift"], out=out["table_2"])
    measure_calibration(**common, out=out["calibration"], bins_out=out["bins"], permutations=20)
    published = repository / "resources/legal"
    tabulate_classifiers(
        scores=out["scores"], groups=out["group_scores"], sizes=out["sizes"],
        anchors=published / "published_scores.csv", claims=published / "published_claims.csv",
        out=out["table_4"], claims_out=out["claims"], transformer=["linear"], **about,
    )  # fmt: skip
    tables = ("table_4", "tests", "table_2", "calibration")
    found = {name: [out[name]] for name in tables}
    findings = folder / "findings.json"
    write_classifier_findings(**found, claims=published / "published_claims.csv", out=findings)
    return found | {"claims": [out["claims"]], "findings": findings}


def drawn(folder: Path) -> dict[str, Any]:
    """What the figures of these results are drawn from."""
    dro = train(folder / "dro.parquet", "group_dro", "defendant_gender", loss=90.0)
    erm = train(folder / "erm.parquet")
    return {
        "group_scores": [folder / "group_scores.csv"],
        "bins": [folder / "bins.csv"],
        "curves": [curves(folder / "curves.csv", erm, dro)],
        "objectives": ["erm", "group_dro"],
        "objective_titles": ["ERM", "Group DRO"],
    }


def curves(path: Path, *histories: Path) -> Path:
    """What the stage makes of histories."""
    tabulate_curves(histories=list(histories), out=path, dataset="mine")
    return path


def train(path, objective="erm", attribute="none", scores=((0.2, 0.4), (0.3,)), loss=2.0):
    """Write a history: a seed per list of development scores, whose losses halve by epoch."""
    fixed = dict.fromkeys(("learning_rate", "gradient_norm", "dev_loss"), 0.5)
    fixed |= {"dev_mean_group_f1": None, "dev_worst_group_f1": None, "dev_group_f1": [None]}
    named = {"classifier": "linear", "objective": objective, "attribute": attribute}
    write_history(
        path,
        [
            (
                named | {"seed": seed},
                [
                    fixed
                    | {"epoch": epoch, "steps": 2 * epoch, "losses": [loss / 2**epoch] * 2}
                    | {"dev_macro_f1": score, "state": {}, "best": False}
                    for epoch, score in enumerate(own, 1)
                ],
            )
            for seed, own in enumerate(scores)
        ],
    )
    return path
