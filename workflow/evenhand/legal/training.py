"""Common parts of the trainings of legal classifiers: cases, checks, networks by seed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.scratch import scratch_folder
from evenhand.errors import InputError
from evenhand.learning.examples import Examples, uses_groups
from evenhand.learning.history import Fitted
from evenhand.learning.objective import REMOVES, load_objective, parse_options
from evenhand.learning.problem import Problem
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
    problem : Problem
        The cases to learn from, without pairs: row n is the place ``data.labelled[n]``.
    attribute : str
        The attribute whose groups take part, or `NO_ATTRIBUTE`.
    extra : mapping
        The settings that only this kind of classifier has.
    device : str
    data : BuiltCases
        The data set.
    remarks : list of str
        On groups that were merged.
    """

    problem: Problem
    attribute: str
    extra: Mapping[str, Any]
    device: str
    data: BuiltCases
    remarks: list[str]


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
        problem = f"{missing[0]!r} is no attribute with groups of {dataset.title}"
        raise InputError(problem, file=data.path, remedy=f"take one of {', '.join(groups)}")
    parts = [groups[name] for name in attributes(attribute)]
    codes, names = parts[0].codes, parts[0].names
    if PLUS in attribute:
        labels = label_sets(hot, dataset) if has_label(attribute) else (None, ())
        codes, names, remarks = multiply(parts, *labels, examples.train)
    unknown = len(names) - 1
    if not (codes == unknown).any():
        names = names[:unknown]
    return replace(examples, groups=codes, group_names=names, known_groups=unknown), remarks


def make_job(arguments: SimpleNamespace, defaults: Mapping[str, Any]) -> Job:
    """Check the settings of a training and read its cases.

    Parameters
    ----------
    arguments : SimpleNamespace
        The arguments of `train_classifier`.
    defaults : mapping
        The settings of its `family`.

    Raises
    ------
    InputError
        An option or setting is unknown, the device is not there, an attribute is missing, or named
        although no group takes part: the trainings would be the same for all attributes.
    """
    prepare_device(arguments.device)
    objective, attribute = arguments.objective, arguments.attribute
    owner = f"the classifier {arguments.classifier}"
    extra = parse_options(owner, "setting", defaults, arguments.settings or [])
    shared = {f.name: extra.pop(f.name) for f in fields(Settings) if f.name in extra}
    how = Settings(**shared, threads=arguments.threads)
    chosen, owner = load_objective(objective), f"the objective {objective}"
    options = parse_options(owner, "option", chosen.OPTIONS, arguments.objective_options or [])
    if attribute is None and uses_groups(chosen, options, how.select):
        problem = f"{objective} with epochs chosen by {how.select} needs groups"
        raise InputError(problem, remedy="name an attribute")
    if chosen.AIM in REMOVES and has_label(attribute or ""):
        problem = f"{objective} removes its groups, and the label is part of {attribute}"
        remedy = "name the attributes alone; batches are balanced over the label anyway"
        raise InputError(problem, remedy=remedy)
    built = BuiltCases(arguments.data)
    examples, remarks = read_examples(built, attribute)
    return Job(
        problem=Problem(examples, chosen, options, how),
        attribute=attribute or NO_ATTRIBUTE,
        extra=extra,
        device=arguments.device,
        data=built,
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

    def train(self, problem: Problem, seeds: Sequence[int]) -> Iterator[Fitted]:
        """Train one seed after the other, and predict every case."""
        for seed in seeds:
            with repeatable(seed, threads=problem.settings.threads):
                fitted = fit(
                    self.build,
                    self.batcher,
                    problem,
                    seed=seed,
                    features=self.features,
                    device=self.job.device,
                    folder=scratch_folder(f"seed-{seed}"),
                    title=f"train {problem.objective.NAME}, seed {seed}",
                )
            yield fitted
