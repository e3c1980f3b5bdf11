"""Stage: train a classifier of legal cases with one objective, and predict all cases."""

from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin, Setting
from evenhand.errors import InputError


def train_classifier(
    *,
    data: Input,
    features: Input,
    out: Output,
    history: Output,
    family: Annotated[str, Plugin("evenhand.legal.classifiers")],
    classifier: str,
    objective: Annotated[str, Plugin("evenhand.learning.objectives")],
    seeds: list[int],
    weights: Output | None = None,
    features_meta: Input | None = None,
    counterfactuals: Input | None = None,
    counterfactuals_meta: Input | None = None,
    neighbours: Input | None = None,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    attribute: str | None = None,
    objective_options: list[str] | None = None,
    settings: list[str] | None = None,
    threads: int = 1,
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
        Folder: `evenhand.legal.classifier_folder`, for one seed of a hierarchical classifier.
    counterfactuals, counterfactuals_meta : path, optional
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
    import importlib

    from evenhand.legal import training
    from evenhand.legal.classifier_folder import save_classifier

    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError("there is no seed, or one twice", remedy="name each seed once")
    module = importlib.import_module(f"evenhand.legal.classifiers.{family}")
    job = training.make_job(
        data, classifier, objective, objective_options, attribute, module.SETTINGS, settings,
        threads=threads, device=device,
    )  # fmt: skip
    files = training.Files(
        features=features,
        features_meta=features_meta,
        counterfactuals=counterfactuals,
        counterfactuals_meta=counterfactuals_meta,
        model=model,
        hub_name=hub_name,
        revision=revision,
    )
    loaded = module.Classifier(job, files)
    if weights is not None and (loaded.description is None or len(seeds) > 1):
        raise InputError("the weights of one seed of a hierarchical classifier can be kept")
    pairs = training.read_pairs(job, loaded.changed, neighbours)
    remarks = training.note_remarks(job, pairs)
    results = loaded.train(pairs, seeds)
    training.write_results(out, history, job, results)
    if weights is not None:
        (result,) = results
        description = {
            "classifier": classifier,
            "objective": objective,
            "objective_options": dict(job.options),
            "attribute": job.attribute,
            "seed": result.seed,
            "kind": job.cases.dataset.kind,
            "labels": list(job.cases.dataset.labels),
            "task": job.cases.dataset.task,
            **loaded.description,
            "epoch": result.trained.epoch,
            "select": job.settings.select,
            "dev_score": round(result.trained.score, 6),
        }
        save_classifier(weights, result.model, description, weights=job.own["keep_weights"])
    return training.counts_of(job, results, remarks)


if __name__ == "__main__":
    stage.run(train_classifier)
