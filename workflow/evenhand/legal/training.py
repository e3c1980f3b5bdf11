"""Common parts of the trainings of legal classifiers: cases, checks, networks by seed, results."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.core.scratch import scratch_folder
from evenhand.errors import InputError
from evenhand.learning.evaluation import predict
from evenhand.learning.examples import Examples, check, uses_groups
from evenhand.learning.history import Trained, write_history
from evenhand.learning.objective import (
    REMOVES,
    Objective,
    Options,
    load_objective,
    parse_options,
)
from evenhand.learning.pairs import GRAPH, Pairs, check_pairs, kind_of_pairs
from evenhand.learning.probes import probed_features
from evenhand.learning.settings import Settings
from evenhand.learning.trainer import fit
from evenhand.legal.built import (
    check_ids,
    label_sets,
    read_cases_table,
    read_groups,
    read_labels,
    read_splits,
)
from evenhand.legal.dataset import Dataset
from evenhand.legal.declaration import read_dataset
from evenhand.legal.groups import PLUS, attributes, has_label, multiply
from evenhand.legal.neighbours import read_neighbours
from evenhand.legal.predictions import (
    NO_ATTRIBUTE,
    Predictions,
    labelled,
    write_predictions,
)
from evenhand.legal.records import SPLITS
from evenhand.scoring.device import check_device, repeatable

if TYPE_CHECKING:
    from torch import nn


class LabelledCases(NamedTuple):
    """The cases of a data set that are trained on or scored.

    Attributes
    ----------
    dataset : Dataset
    rows : array of int64, shape (n,)
        Their places in the data set.
    splits : array of str, shape (n,)
    examples : Examples
        Of these n cases: row numbers below n.
    every : list of str
        The ids of all cases of the data set, those without a label included.
    remarks : list of str
        On groups that were merged.
    """

    dataset: Dataset
    rows: np.ndarray
    splits: np.ndarray
    examples: Examples
    every: list[str]
    remarks: list[str]


@dataclass(frozen=True, kw_only=True)
class Files:
    """The inputs of a classifier besides the labels; see `train_classifier`."""

    features: Path
    features_meta: Path | None = None
    counterfactuals: Path | None = None
    counterfactuals_meta: Path | None = None
    model: Path | None = None
    hub_name: str | None = None
    revision: str | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """The settings and cases of a training.

    Attributes
    ----------
    classifier : str
        Its name in tables.
    objective : Objective
    options : mapping
        Its options, all of them.
    attribute : str
        The attribute whose groups take part, or `NO_ATTRIBUTE`.
    settings : Settings
    own : dict
        The settings that only this kind of classifier has.
    device : str
    cases : LabelledCases
    """

    classifier: str
    objective: Objective
    options: Options
    attribute: str
    settings: Settings
    own: Mapping[str, Any]
    device: str
    cases: LabelledCases


class Result(NamedTuple):
    """One seed of a classifier: its training, its logits, the features that its last layer reads,
    and the model, if it is a network.
    """

    seed: int
    trained: Trained
    logits: np.ndarray
    counterfactual_logits: np.ndarray | None
    features: np.ndarray
    model: "nn.Module | None" = None


def read_labelled(data: Path, attribute: str | None = None) -> LabelledCases:
    """Read labels, splits, and the groups of an attribute or a product; not the texts.

    Raises
    ------
    InputError
        The file was not written by `build_cases`, a label is out of range or named twice, or
        there is no such attribute with groups.
    """
    dataset = read_dataset(data)
    known, hot = read_labels(data, dataset)
    table = read_cases_table(data, ["case_id", "labels"])
    case_ids = table["case_id"].to_pylist()
    named = table["labels"].combine_chunks().value_lengths().fill_null(0).to_numpy()
    if (twice := np.flatnonzero(known & (named != hot.sum(axis=1)))).size:
        raise InputError(f"the case {case_ids[twice[0]]} names a label twice", file=data)
    splits = read_splits(data)
    rows = labelled(known, splits)
    splits = splits[rows]
    single, remarks = dataset.task == "multi_class", []
    examples = Examples(
        ids=[case_ids[row] for row in rows],
        labels=hot[rows].argmax(axis=1) if single else hot[rows],
        classes=len(dataset.labels),
        task=dataset.task,
        train=np.flatnonzero(splits == SPLITS[0]),
        dev=np.flatnonzero(splits == SPLITS[1]),
    )
    if attribute is not None:
        found = {one.attribute.name: one for one in read_groups(data, dataset)}
        if missing := [one for one in attributes(attribute) if one not in found]:
            raise InputError(
                f"{missing[0]!r} is no attribute with groups of {dataset.title}",
                file=data,
                remedy=f"take one of {', '.join(found)}",
            )
        parts = [found[one] for one in attributes(attribute)]
        codes, names = parts[0].codes[rows], parts[0].names
        if PLUS in attribute:
            parts = [one._replace(codes=one.codes[rows]) for one in parts]
            labels, label_names = (
                (None, ()) if not has_label(attribute) else label_sets(hot[rows], dataset)
            )
            codes, names, remarks = multiply(parts, labels, label_names, examples.train)
        unknown = len(names) - 1
        there = len(names) if (codes == unknown).any() else unknown
        examples = replace(examples, groups=codes, group_names=names[:there], known_groups=unknown)
    return LabelledCases(dataset, rows, splits, examples, case_ids, remarks)


def make_job(
    data: Path,
    classifier: str,
    objective: str,
    objective_options: Sequence[str] | None,
    attribute: str | None,
    defaults: Mapping[str, Any],
    settings: Sequence[str] | None,
    *,
    threads: int,
    device: str,
) -> Job:
    """Check the settings of a training and read its cases.

    The arguments are those of `train_classifier`, and `defaults`, the settings that this family
    of classifiers has.

    Raises
    ------
    InputError
        An option or setting is unknown, the device is not there, an attribute is missing, or named
        although no group takes part: the trainings would be the same for all attributes.
    """
    check_device(device)
    values = parse_options(f"the classifier {classifier}", "setting", defaults, settings or [])
    shared = {one.name for one in fields(Settings)} & values.keys()
    own = {name: values[name] for name in values.keys() - shared}
    how = Settings(**{name: values[name] for name in shared}, threads=threads)
    module = load_objective(objective)
    options = parse_options(
        f"the objective {objective}", "option", module.OPTIONS, objective_options or []
    )
    with_groups = uses_groups(module, options, how.select)
    if with_groups and attribute is None:
        raise InputError(
            f"{objective} with epochs chosen by {how.select} needs groups",
            remedy="name an attribute",
        )
    if attribute is not None and not with_groups:
        raise InputError(
            f"{objective} with epochs chosen by {how.select} does not depend on"
            f" {attribute}, nor on any attribute",
            remedy="leave the attribute out, and score the one training for all of them",
        )
    if module.AIM in REMOVES and has_label(attribute or ""):
        raise InputError(
            f"{objective} removes its groups, and the label is part of {attribute}",
            remedy="name the attributes alone; batches are balanced over the label anyway",
        )
    cases = read_labelled(data, attribute)
    return Job(
        classifier=classifier,
        objective=module,
        options=options,
        attribute=attribute or NO_ATTRIBUTE,
        settings=how,
        own=own,
        device=device,
        cases=cases,
    )


def read_pairs(job: Job, changed: np.ndarray | None, neighbours: Path | None) -> Pairs:
    """Return who has a counterfactual, and the neighbours if the objective compares them."""
    graph = None
    if neighbours is not None and kind_of_pairs(job.options) == GRAPH:
        graph = read_neighbours(
            neighbours,
            job.cases.examples.ids,
            job.cases.examples.train,
            epsilon=job.options["epsilon"],
            unit=job.options["epsilon_unit"],
        )
    return Pairs(swapped=changed, neighbours=graph)


class NetworkClassifier:
    """A classifier that `evenhand.learning.trainer` trains, seed after seed.

    A kind of classifier opens its stores and defines `features` (the input width of its last
    layer), `differs`, `build` and `batcher`.
    """

    job: Job
    features: int
    description: dict[str, Any] | None = None
    build: "Callable[[], nn.Module]"
    batcher: Callable[[np.ndarray], Any]
    differs: Callable[[int], bool]

    def open(self, store: Callable[[Path], Any], files: Files) -> None:
        """Open the cases, and their counterfactuals if there are any; see who has one."""
        paths = [one for one in (files.features, files.counterfactuals) if one is not None]
        self.stores = [store(path) for path in paths]
        for one, path in zip(self.stores, paths, strict=True):
            check_ids(one.case_ids, self.job.cases.every, path)
        self.changed = None
        if files.counterfactuals is not None:
            self.changed = np.array([self.differs(int(row)) for row in self.job.cases.rows], bool)

    def located(self, rows: np.ndarray) -> Iterator[tuple[Any, int]]:
        """Yield store and place of each row: of n cases, row n + i is i's counterfactual."""
        cases = self.job.cases.rows
        for store, place in zip(*np.divmod(rows, len(cases)), strict=True):
            yield self.stores[store], int(cases[place])

    def train(self, pairs: Pairs, seeds: Sequence[int]) -> list[Result]:
        """Train one seed after the other, and predict every case."""
        return [self._train(pairs, seed) for seed in seeds]

    def _train(self, pairs: Pairs, seed: int) -> Result:
        job, settings = self.job, self.job.settings
        name, count = f"{job.objective.NAME}, seed {seed}", len(job.cases.rows)
        how = {"threads": settings.threads, "deterministic": settings.deterministic}
        with repeatable(seed, device=job.device, **how):
            fitted = fit(
                self.build,
                self.batcher,
                job.cases.examples,
                job.objective,
                job.options,
                settings,
                seed=seed,
                features=self.features,
                device=job.device,
                folder=scratch_folder(f"seed-{seed}"),
                pairs=pairs,
                title=f"train {name}",
            )
            model, trained, logits, features = fitted
            counterfactuals = None
            if pairs.swapped is not None:
                who = np.flatnonzero(pairs.swapped)
                counterfactuals = np.full_like(logits, np.nan)
                if len(who):
                    title = f"predict counterfactuals of {name}"
                    counterfactuals[who] = predict(
                        model, self.batcher, count + who, settings, device=job.device, title=title
                    )
        return Result(seed, trained, logits, counterfactuals, features, model)


def note_remarks(job: Job, pairs: Pairs) -> list[str]:
    """Print data-quality remarks on the cases and their pairs to stderr, and return them."""
    examples = job.cases.examples
    remarks = [*job.cases.remarks, *check(examples, job.objective, job.options, job.settings)]
    remarks += check_pairs(job.options, pairs, examples.train)
    for one in remarks:
        print(f"note: {one}", file=sys.stderr)
    return remarks


def write_results(out: Path, history: Path, job: Job, results: Sequence[Result]) -> None:
    """Write predictions and history, seed by seed."""
    case_ids, splits = np.array(job.cases.examples.ids, dtype=str), job.cases.splits
    name = (job.classifier, job.objective.NAME, job.attribute)
    write_predictions(
        out,
        [
            Predictions(
                *name,
                one.seed,
                case_ids,
                splits,
                one.logits,
                one.counterfactual_logits,
                probed_features(one.features, splits, job.cases.examples.train),
            )
            for one in results
        ],
    )
    columns = ("classifier", "objective", "attribute", "seed")
    write_history(
        history,
        [
            (dict(zip(columns, (*name, one.seed), strict=True)), one.trained.history)
            for one in results
        ],
    )


def counts_of(job: Job, results: Sequence[Result], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the counts of a stage."""
    cases, trainings = job.cases, [one.trained for one in results]
    counted: dict[str, Any] = {}
    if (logits := results[0].counterfactual_logits) is not None:
        has = cases.splits[np.isfinite(logits).all(axis=1)]
        counted["counterfactuals"] = {split: int((has == split).sum()) for split in SPLITS}
    return counted | {
        "cases": len(cases.rows),
        "left_out": len(cases.every) - len(cases.rows),
        "splits": {split: int((cases.splits == split).sum()) for split in SPLITS},
        "remarks": list(remarks),
        "epochs": [len(one.history) for one in trainings],
        "best_epochs": [one.epoch for one in trainings],
        "steps": [one.steps for one in trainings],
        "dev_scores": [round(one.score, 6) for one in trainings],
    }
