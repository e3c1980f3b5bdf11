"""Stage: train a classifier of legal cases with one objective, and predict all cases."""

import importlib
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np

from evenhand.core.stage import Count, Input, Output, Plugin, Range, Setting, checked
from evenhand.errors import InputError, placed


@checked
def train_classifier(
    *,
    data: Input,
    features: Input,
    out: Output,
    history: Output,
    family: Annotated[str, Plugin("evenhand.legal.classifiers")],
    classifier: str,
    objective: Annotated[str, Plugin("evenhand.learning.objectives")],
    seeds: Annotated[list[int], Range(least=0)],
    weights: Output | None = None,
    features_meta: Input | None = None,
    counterfactuals: Input | None = None,
    neighbours: Input | None = None,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    attribute: str | None = None,
    objective_options: list[str] | None = None,
    settings: list[str] | None = None,
    threads: Count = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Train a classifier on a legal data set.

    Only cases with a known label are trained on and predicted. The epoch with the best
    development score is kept. Interrupted in a run, the next attempt continues from the last
    checkpoint: on a CPU to the same bits.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    features, features_meta : path
        The cases as the classifier reads them. ``linear``: of `fit_tfidf`; ``hierarchical``: of
        `tokenise_cases`, with the model's tokenizer; ``frozen``: of `embed_paragraphs`. The
        latter two have a description.
    out : path
        Parquet: `evenhand.legal.predictions.PREDICTIONS`, seed by seed.
    history : path
        Parquet, a row per seed and epoch: `evenhand.learning.history.HISTORY`.
    family : str
        ``linear``, ``frozen`` or ``hierarchical``: a module of `evenhand.legal.classifiers`.
    classifier : str
        Its name in tables.
    objective : str
        A module of `evenhand.learning.objectives`.
    seeds : list of int
        Each of them once: of first weights, batches and dropout.
    weights : path, optional
        Folder: `Classifier.save`, for one seed of a hierarchical classifier.
    counterfactuals : path, optional
        The counterfactuals as the classifier reads them, made as `features` were. The
        counterfactual of each case that has one is predicted too, and learned from if the
        objective asks for it.
    neighbours : path, optional
        Of `find_neighbours`, for the option pairs=graph.
    model : path, optional
        Folder of a hierarchical classifier's encoder in the Hugging Face layout, with its
        tokenizer; safetensors only. Either this or `hub_name`.
    hub_name, revision : str, optional
        Name on the hub; branch, tag or commit.
    attribute : str, optional
        The attribute whose groups are used, or a product (`evenhand.legal.groups`); none for
        objectives without groups.
    objective_options : list of str
        ``key=value``, of the objective's `OPTIONS`.
    settings : list of str
        ``key=value``, of the family's `SETTINGS`: see `evenhand.learning.settings.Settings` for
        those of all; mode, dropout of `evenhand.learning.hierarchical.DocumentTop`; epsilon of
        `evenhand.learning.linear.EPSILON`; segments, paragraph_tokens (0: as published for the
        data set), tokens_per_batch (through the encoder at once) and keep_weights (without them
        the folder only describes the classifier).
    threads : int
        CPU threads; another number may change the last bits.
    device : str
        cpu, cuda or cuda:N.

    Returns
    -------
    dict
        cases, left_out (without a label or split), splits, counterfactuals (cases with one, by
        split, if there are any), remarks, and lists with a value for each seed: epochs,
        best_epochs, steps, dev_scores.

    Raises
    ------
    InputError
        The files do not belong together, the encoder cannot be used, the cases cannot be trained
        on, or a loss is not finite.
    """
    arguments = SimpleNamespace(**locals())
    from evenhand.learning.history import write_history
    from evenhand.learning.pairs import GRAPH, Pairs
    from evenhand.learning.probes import probed_features
    from evenhand.legal.find_neighbours import read_neighbours
    from evenhand.legal.predictions import Predictions, write_predictions
    from evenhand.legal.records import SPLITS
    from evenhand.legal.training import make_job

    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError("there is no seed, or one twice", remedy="name each seed once")
    module = importlib.import_module(f"evenhand.legal.classifiers.{family}")
    job = make_job(arguments, module.SETTINGS)
    loaded = module.Classifier(job, arguments)
    if weights is not None and (loaded.description is None or len(seeds) > 1):
        raise InputError("the weights of one seed of a hierarchical classifier can be kept")
    problem, graph = job.problem, None
    examples, options = problem.examples, problem.options
    splits = job.data.splits[job.data.labelled]
    if neighbours is not None and problem.pair_kind == GRAPH:
        epsilon = {"epsilon": options["epsilon"], "unit": options["epsilon_unit"]}
        graph = read_neighbours(neighbours, examples.ids, examples.train, **epsilon)
    problem = replace(problem, pairs=Pairs(swapped=loaded.changed, neighbours=graph))
    with placed(data):
        remarks = [*job.remarks, *problem.check()]
    for remark in remarks:
        print(f"note: {remark}", file=sys.stderr)
    results = list(loaded.train(problem, seeds))
    key = {"classifier": classifier, "objective": objective, "attribute": job.attribute}
    case_ids = np.array(examples.ids, dtype=str)

    def predictions_of(result: Any) -> Predictions:
        probed = probed_features(result.features, splits, examples.train)
        outputs = result.logits, result.counterfactual_logits, probed
        return Predictions(*key.values(), result.seed, case_ids, splits, *outputs)

    write_predictions(out, map(predictions_of, results))
    trainings = [result.trained for result in results]
    named = [key | {"seed": seed} for seed in seeds]
    write_history(history, zip(named, (each.history for each in trainings), strict=True))
    if weights is not None:
        description = {
            **key,
            "objective_options": dict(options),
            "seed": seeds[0],
            "kind": job.data.dataset.kind,
            "labels": list(job.data.dataset.labels),
            "task": job.data.dataset.task,
            **loaded.description,
            "epoch": trainings[0].epoch,
            "select": problem.settings.select,
            "dev_score": round(trainings[0].score, 6),
        }
        loaded.save(weights, results[0].model, description)

    def by_split(some: np.ndarray) -> dict[str, int]:
        return {split: int((some == split).sum()) for split in SPLITS}

    logits = results[0].counterfactual_logits
    changed = None if logits is None else splits[np.isfinite(logits).all(axis=1)]
    return ({} if changed is None else {"counterfactuals": by_split(changed)}) | {
        "cases": len(splits),
        "left_out": len(job.data.case_ids) - len(splits),
        "splits": by_split(splits),
        "remarks": remarks,
        "epochs": [len(trained.history) for trained in trainings],
        "best_epochs": [trained.epoch for trained in trainings],
        "steps": [trained.steps for trained in trainings],
        "dev_scores": [round(trained.score, 6) for trained in trainings],
    }
