"""Common parts of the trainings of legal classifiers: cases, checks, networks by seed, results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.core.scratch import scratch_folder
from evenhand.errors import InputError
from evenhand.learning.evaluation import predict
from evenhand.learning.examples import Examples, uses_groups
from evenhand.learning.history import Trained
from evenhand.learning.objective import (
    REMOVES,
    Objective,
    Options,
    load_objective,
    parse_options,
)
from evenhand.learning.pairs import Pairs
from evenhand.learning.settings import Settings
from evenhand.learning.trainer import fit
from evenhand.legal.built import BuiltCases, check_ids, label_sets
from evenhand.legal.groups import NO_ATTRIBUTE, PLUS, attributes, has_label, multiply
from evenhand.legal.records import SPLITS
from evenhand.scoring.device import prepare_device, repeatable

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class Job:
    """The settings and cases of a training.

    Attributes
    ----------
    objective : Objective
    options : mapping
        Its options, all of them.
    attribute : str
        The attribute whose groups take part, or `NO_ATTRIBUTE`.
    settings : Settings
    extra : mapping
        The settings that only this kind of classifier has.
    device : str
    data : BuiltCases
        The data set.
    examples : Examples
        Its cases that are trained on or scored: row n is the place ``data.labelled[n]``.
    remarks : list of str
        On groups that were merged.
    """

    objective: Objective
    options: Options
    attribute: str
    settings: Settings
    extra: Mapping[str, Any]
    device: str
    data: BuiltCases
    examples: Examples
    remarks: list[str]


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


def read_examples(data: BuiltCases, attribute: str | None) -> tuple[Examples, list[str]]:
    """Return the cases with a known label and a split, and remarks on groups that were merged.

    With an attribute or a product they have its groups.

    Raises
    ------
    InputError
        A label is out of range, or there is no such attribute with groups.
    """
    dataset, rows, remarks = data.dataset, data.labelled, []
    splits, hot = data.splits[rows], data.labels[1][rows]
    examples = Examples(
        ids=[data.case_ids[row] for row in rows],
        labels=hot.argmax(axis=1) if dataset.task == "multi_class" else hot,
        classes=len(dataset.labels),
        task=dataset.task,
        train=np.flatnonzero(splits == SPLITS[0]),
        dev=np.flatnonzero(splits == SPLITS[1]),
    )
    if attribute is None:
        return examples, remarks
    groups = {some.attribute.name: some.take(rows) for some in data.groups}
    if missing := [name for name in attributes(attribute) if name not in groups]:
        raise InputError(
            f"{missing[0]!r} is no attribute with groups of {dataset.title}",
            file=data.path,
            remedy=f"take one of {', '.join(groups)}",
        )
    parts = [groups[name] for name in attributes(attribute)]
    codes, names = parts[0].codes, parts[0].names
    if PLUS in attribute:
        labels = label_sets(hot, dataset) if has_label(attribute) else (None, ())
        codes, names, remarks = multiply(parts, *labels, examples.train)
    unknown = len(names) - 1
    if not (codes == unknown).any():
        names = names[:unknown]
    return replace(examples, groups=codes, group_names=names, known_groups=unknown), remarks


def make_job(
    data: Path,
    module: ModuleType,
    classifier: str,
    settings: Sequence[str],
    objective: str,
    objective_options: Sequence[str],
    attribute: str | None,
    *,
    threads: int,
    device: str,
) -> Job:
    """Check the settings of a training and read its cases.

    The arguments are those of `train_classifier`, and its `family` as a module.

    Raises
    ------
    InputError
        An option or setting is unknown, the device is not there, an attribute is missing, or named
        although no group takes part: the trainings would be the same for all attributes.
    """
    prepare_device(device)
    extra = parse_options(f"the classifier {classifier}", "setting", module.SETTINGS, settings)
    shared = {f.name: extra.pop(f.name) for f in fields(Settings) if f.name in extra}
    how = Settings(**shared, threads=threads)
    chosen = load_objective(objective)
    options = parse_options(
        f"the objective {objective}", "option", chosen.OPTIONS, objective_options
    )
    with_groups = uses_groups(chosen, options, how.select)
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
    if chosen.AIM in REMOVES and has_label(attribute or ""):
        raise InputError(
            f"{objective} removes its groups, and the label is part of {attribute}",
            remedy="name the attributes alone; batches are balanced over the label anyway",
        )
    built = BuiltCases(data)
    examples, remarks = read_examples(built, attribute)
    return Job(
        objective=chosen,
        options=options,
        attribute=attribute or NO_ATTRIBUTE,
        settings=how,
        extra=extra,
        device=device,
        data=built,
        examples=examples,
        remarks=remarks,
    )


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

    def open(self, store: Callable[[Path], Any], files: SimpleNamespace) -> None:
        """Open the cases, and their counterfactuals if there are any; see who has one."""
        data, self.changed = self.job.data, None
        paths = [path for path in (files.features, files.counterfactuals) if path is not None]
        self.stores = [store(path) for path in paths]
        for opened, path in zip(self.stores, paths, strict=True):
            check_ids(opened.case_ids, data.case_ids, path)
        if files.counterfactuals is not None:
            self.changed = np.array([self.differs(int(row)) for row in data.labelled], bool)

    def located(self, rows: np.ndarray) -> Iterator[tuple[Any, int]]:
        """Yield store and place of each row: of n cases, row n + i is i's counterfactual."""
        cases = self.job.data.labelled
        for store, place in zip(*np.divmod(rows, len(cases)), strict=True):
            yield self.stores[store], int(cases[place])

    def train(self, pairs: Pairs, seeds: Sequence[int]) -> Iterator[Result]:
        """Train one seed after the other, and predict every case."""
        job, settings = self.job, self.job.settings
        for seed in seeds:
            name = f"{job.objective.NAME}, seed {seed}"
            with repeatable(seed, threads=settings.threads):
                model, trained, logits, features = fit(
                    self.build,
                    self.batcher,
                    job.examples,
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
                counterfactual_logits = None
                if pairs.swapped is not None:
                    counterfactual_logits = np.full_like(logits, np.nan)
                    changed = np.flatnonzero(pairs.swapped)
                    if len(changed):
                        counterfactual_logits[changed] = predict(
                            model,
                            self.batcher,
                            len(logits) + changed,
                            settings,
                            device=job.device,
                            title=f"predict counterfactuals of {name}",
                        )[0]
            yield Result(seed, trained, logits, counterfactual_logits, features, model)
