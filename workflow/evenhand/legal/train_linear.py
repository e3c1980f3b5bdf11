"""Stage: train linear classifiers on weighted n-grams with one objective, all seeds at once."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Input, Output, Plugin, Setting
from evenhand.errors import InputError


def train_linear(
    *,
    data: Input,
    out: Output,
    history: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    objective: Annotated[str, Plugin("evenhand.learning.objectives")],
    seeds: list[int],
    classifier: str = "linear",
    words: Input | None = None,
    twins: Input | None = None,
    neighbours: Input | None = None,
    attribute: str | None = None,
    objective_options: list[str] | None = None,
    features: int = 5000,
    ngrams: int = 3,
    min_df: int = 5,
    lr: float = 0.1,
    epsilon: float = 1e-3,
    batch: int = 16,
    epochs: int = 20,
    patience: int = 5,
    select: str = "macro_f1",
    clip: float = 1.0,
    warmup: float = 0.0,
    weight_decay: float = 0.0,
    tensorboard: Annotated[Path | None, Setting] = None,
) -> dict[str, Any]:
    """Train the linear classifier of FairLex (section 4) on a legal data set, and predict all.

    Only cases with a known label are trained on and predicted. The epoch with the best
    development score is kept.

    FairLex trains with AdamW, lr=0.003, and its usual epsilon=1e-8. On TF-IDF that stays far
    behind logistic regression; the defaults here come to the same as it (see
    `evenhand.learning.linear.EPSILON`).

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        Parquet: `evenhand.legal.predictions.PREDICTIONS`, seed by seed.
    history : path
        Parquet, a row per seed and epoch: `evenhand.learning.history.HISTORY`.
    kind : str
        ecthr, scotus, fscs or cail.
    objective : str
        A module of `evenhand.learning.objectives`.
    seeds : list of int
        Each of them once.
    classifier : str
        What tables call it.
    words : path, optional
        Of `weigh_words` for this data set; without it the same is done here, with `features`,
        `ngrams` and `min_df`, which say nothing otherwise.
    twins : path, optional
        Of `weigh_twins`, with `words`. The twin of each case that has one is predicted too, and
        learned from if the objective asks for it.
    neighbours : path, optional
        Of `find_neighbours`, for the option pairs=graph.
    attribute : str, optional
        Whose groups take part; none for what uses no groups.
    objective_options : list of str
        ``key=value``, of the objective's `OPTIONS`.
    features, ngrams, min_df : int
        See `evenhand.legal.weigh_words`.
    lr, batch, epochs, patience, select, clip, warmup, weight_decay
        See `evenhand.learning.settings.Settings`.
    epsilon : float
        AdamW's.
    tensorboard : path, optional
        Folder for curves, one inside for each seed; what is served from the run cache writes none.

    Returns
    -------
    dict
        cases, left_out (without a label or split), splits, twins (cases with one, if there are
        any, by split), remarks, and lists with a value for each seed: epochs, best_epochs, steps,
        dev_scores; features.

    Raises
    ------
    InputError
        The files do not belong together, the cases cannot be trained on, or a loss is no finite
        number.
    """
    from evenhand.learning.board import open_board, write_curves
    from evenhand.learning.linear import train_models
    from evenhand.learning.pairs import Pairs
    from evenhand.learning.settings import Settings
    from evenhand.legal import training
    from evenhand.legal.features import changed_rows, read_features
    from evenhand.legal.predictions import Predictions
    from evenhand.legal.weigh_words import weigh_cases

    settings = Settings(
        lr=lr,
        batch=batch,
        epochs=epochs,
        patience=patience,
        select=select,
        clip=clip,
        warmup=warmup,
        weight_decay=weight_decay,
    )
    plan = training.make_plan(
        classifier,
        objective,
        objective_options,
        attribute,
        settings,
        device="cpu",
        configuration={},
    )
    cases = training.read_labelled(data, kind, attribute)
    if twins is not None and words is None:
        raise InputError("twins were weighed with words that are not given", remedy="give words")
    if words is None:
        found, _ = weigh_cases(data, kind, features=features, ngrams=ngrams, min_df=min_df)
        matrix = found.matrix
    else:
        case_ids, matrix = read_features(words)
        cases.check_ids(case_ids, training.read_case_ids(data), words)
    matrix, of_twins, has_twin = matrix[cases.rows], None, None
    if twins is not None:
        case_ids, of_twins = read_features(twins)
        cases.check_ids(case_ids, training.read_case_ids(data), twins)
        of_twins = of_twins[cases.rows]
        if of_twins.shape != matrix.shape:
            raise InputError(
                f"has {of_twins.shape[1]} n-grams, and the cases have {matrix.shape[1]}",
                file=twins,
                remedy="weigh the twins with the vocabulary of the cases",
            )
        has_twin = changed_rows(matrix, of_twins)
    pairs = Pairs(twins=has_twin, neighbours=training.graph_of(neighbours, cases, plan))
    remarks = training.note_remarks(cases, plan, pairs)
    boards = [open_board(tensorboard and tensorboard / f"seed-{seed}") for seed in seeds]
    models = train_models(
        matrix,
        cases.examples,
        plan.objective,
        plan.options,
        settings,
        seeds,
        epsilon=epsilon,
        pairs=pairs,
        twins=of_twins,
        folder=scratch_folder(),
        progress=True,
    )
    for board, model in zip(boards, models, strict=True):
        write_curves(board, model.history)
    case_ids = np.array(cases.examples.ids, dtype=str)
    named = (plan.classifier, plan.objective.NAME, plan.attribute)
    trainings = [
        (
            model,
            Predictions(
                *named, model.seed, case_ids, cases.splits, model.logits, model.twin_logits
            ),
        )
        for model in models
    ]
    training.write_results(out, history, trainings)
    counts = training.counts_of(cases, trainings, remarks)
    return counts | {"features": matrix.shape[1]}


if __name__ == "__main__":
    stage.run(train_linear)
