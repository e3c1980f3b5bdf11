"""Small predictions that the real stages have scored: what the tests of their report read."""

import shutil
from pathlib import Path

from evenhand.learning.history import write_history
from evenhand.legal.tabulate_classifiers import tabulate_classifiers
from unit.legal.made_predictions import noisy, predictions, write, write_people, wrong_for
from unit.legal.made_study import write_case_tables
from unit.report.made_once import made_once


@made_once
def write_results(repository: Path, folder: Path) -> list[Path]:
    """Write the results on ERM, which fails women, and on Group DRO, which does not."""
    data, genders = write_people(folder / "mine.parquet")
    dro = {"objective": "group_dro", "attribute": "defendant_gender"}
    runs = []
    for seed in (1, 2, 3):
        runs.append(predictions(data, wrong_for(genders, "female"), seed=seed))
        runs.append(predictions(data, noisy(seed, 0.5), seed=seed, **dro))
    published, tables = repository / "resources/legal", folder / "tables/classifiers/mine"
    claims = folder / "legal/published_claims.csv"
    claims.parent.mkdir()
    shutil.copy(published / claims.name, claims)
    tabulate_classifiers(
        data=data,
        predictions=[write(folder / "p.parquet", *runs)],
        histories=[
            train(folder / "erm.parquet"),
            train(folder / "dro.parquet", "group_dro", "defendant_gender", loss=90.0),
        ],
        cases=write_case_tables(folder / "counted", data),
        scores=published / "published_scores.csv",
        claims=claims,
        out=tables,
        dataset="mine",
        transformer=["linear"],
        splits=["test"],
        permutations=100,
        swaps=99,
    )
    return [tables, claims]


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
