"""What the trainings of legal classifiers share: the cases, the checks, one seed after another."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.core.files import atomic
from evenhand.core.scratch import scratch_folder
from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.learning.board import open_board
from evenhand.learning.evaluation import Batcher, predict
from evenhand.learning.examples import Examples, check, uses_groups
from evenhand.learning.history import write_history
from evenhand.learning.objective import Objective, Options, load_objective, read_options
from evenhand.learning.pairs import GRAPH, Pairs, asked_for, check_pairs
from evenhand.learning.settings import Settings
from evenhand.learning.trainer import Trained, train
from evenhand.legal.built import (
    load_dataset,
    read_cases_table,
    read_groups,
    read_labels,
    read_splits,
)
from evenhand.legal.dataset import Dataset
from evenhand.legal.neighbours import read_neighbours
from evenhand.legal.predictions import (
    NO_ATTRIBUTE,
    Predictions,
    labelled,
    read_predictions,
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
    total : int
        Cases of the data set, those without a label included.
    """

    dataset: Dataset
    rows: np.ndarray
    splits: np.ndarray
    examples: Examples
    total: int

    def check_ids(self, case_ids: Sequence[str], every: Sequence[str], file: Path) -> None:
        """Refuse a file about other cases, or in another order; `every` has the data set's ids."""
        if list(case_ids) != list(every):
            raise InputError(
                "is about other cases than the data set, or has them in another order",
                file=file,
                remedy="make it from this data set",
            )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is trained.

    Attributes
    ----------
    classifier : str
        What tables call it.
    objective : Objective
    options : mapping
        Its options, all of them.
    attribute : str
        The attribute whose groups take part, or `NO_ATTRIBUTE`.
    settings : Settings
    device : str
    configuration : mapping
        What determines the trainings beside these: the encoder, say.
    """

    classifier: str
    objective: Objective
    options: Options
    attribute: str
    settings: Settings
    device: str = "cpu"
    configuration: Mapping[str, Any]


def read_labelled(data: Path, kind: str, attribute: str | None = None) -> LabelledCases:
    """Read labels, splits, and the groups of one attribute; not the texts.

    Raises
    ------
    InputError
        It is not what `build_cases` writes, a label is out of range or named twice, or there is
        no such attribute with groups.
    """
    dataset = load_dataset(kind)
    known, hot = read_labels(data, dataset)
    table = read_cases_table(data, ["case_id", "labels"])
    case_ids = table["case_id"].to_pylist()
    named = table["labels"].combine_chunks().value_lengths().fill_null(0).to_numpy()
    if (twice := np.flatnonzero(known & (named != hot.sum(axis=1)))).size:
        raise InputError(f"the case {case_ids[twice[0]]} names a label twice", file=data)
    splits = read_splits(data)
    rows = labelled(known, splits)
    splits = splits[rows]
    groups: dict[str, Any] = {}
    if attribute is not None:
        found = {one.attribute.name: one for one in read_groups(data, dataset)}
        if attribute not in found:
            raise InputError(
                f"{attribute!r} is no attribute with groups of {dataset.title}",
                file=data,
                remedy=f"take one of {', '.join(found)}",
            )
        one = found[attribute]
        codes = one.codes[rows]
        there = len(one.names) if (codes == one.unknown).any() else one.unknown
        groups = {
            "groups": codes,
            "group_names": one.names[:there],
            "known_groups": one.unknown,
        }
    single = dataset.task == "multi_class"
    examples = Examples(
        ids=[case_ids[row] for row in rows],
        labels=hot[rows].argmax(axis=1) if single else hot[rows],
        classes=len(dataset.labels),
        task=dataset.task,
        train=np.flatnonzero(splits == SPLITS[0]),
        dev=np.flatnonzero(splits == SPLITS[1]),
        **groups,
    )
    return LabelledCases(dataset, rows, splits, examples, len(known))


def read_case_ids(data: Path) -> list[str]:
    """All case ids of the data set, in order."""
    return read_cases_table(data, ["case_id"])["case_id"].to_pylist()


def make_plan(
    classifier: str,
    objective: str,
    given: Sequence[str] | None,
    attribute: str | None,
    settings: Settings,
    *,
    device: str,
    configuration: Mapping[str, Any],
) -> Plan:
    """Check what was asked for.

    Raises
    ------
    InputError
        An option is unknown, the device is not there, an attribute is missing, or named although
        no group takes part: the trainings would be the same for all attributes.
    """
    check_device(device)
    module = load_objective(objective)
    options = read_options(module, given or [])
    with_groups = uses_groups(module, options, settings.select)
    if with_groups and attribute is None:
        raise InputError(
            f"{objective} with epochs chosen by {settings.select} needs groups",
            remedy="name an attribute",
        )
    if attribute is not None and not with_groups:
        raise InputError(
            f"{objective} with epochs chosen by {settings.select} does not depend on"
            f" {attribute}, nor on any attribute",
            remedy="leave the attribute out, and score the one training for all of them",
        )
    return Plan(
        classifier=classifier,
        objective=module,
        options=options,
        attribute=attribute or NO_ATTRIBUTE,
        settings=settings,
        device=device,
        configuration=configuration,
    )


def graph_of(path: Path | None, cases: LabelledCases, plan: Plan) -> np.ndarray | None:
    """The neighbours for `evenhand.learning.pairs.Pairs`; None if nobody asks for them."""
    if path is None or asked_for(plan.options) != GRAPH:
        return None
    return read_neighbours(
        path,
        cases.examples.ids,
        cases.examples.train,
        epsilon=plan.options["epsilon"],
        unit=plan.options["epsilon_unit"],
    )


def train_seed(
    build: "Callable[[], nn.Module]",
    batcher: Batcher,
    cases: LabelledCases,
    plan: Plan,
    seed: int,
    *,
    features: int,
    pairs: Pairs | None = None,
    folder: Path | None = None,
    tensorboard: Path | None = None,
) -> "tuple[Trained, Predictions, nn.Module]":
    """Train one seed, and predict every case.

    Parameters
    ----------
    build : callable
        Makes the model on the device; called when the seed is set.
    batcher : callable
        See `evenhand.learning.trainer.train`.
    cases : LabelledCases
        What is trained on and predicted.
    plan : Plan
        How.
    seed : int
        Of first weights, batches and dropout.
    features : int
        Width of what the classifier sees.
    pairs : Pairs, optional
        Whoever has a twin in it has the twin predicted, whatever the objective.
    folder : path, optional
        For the checkpoint.
    tensorboard : path, optional
        For curves.
    """
    name = f"{plan.objective.NAME}, seed {seed}"
    goes_on = folder is not None and (folder / checkpoint.NAME).is_file()
    board = open_board(tensorboard, goes_on=goes_on)
    how = {"threads": plan.settings.threads, "deterministic": plan.settings.deterministic}
    with repeatable(seed, device=plan.device, **how):
        model = build()
        trained = train(
            model,
            batcher,
            cases.examples,
            plan.objective,
            plan.options,
            plan.settings,
            seed=seed,
            features=features,
            device=plan.device,
            folder=folder,
            configuration=plan.configuration,
            pairs=pairs,
            title=f"train {name}",
            board=board,
        )
        logits = predict(
            model,
            batcher,
            np.arange(len(cases.rows)),
            plan.settings,
            device=plan.device,
            title=f"predict {name}",
        )
        twins = None
        if pairs is not None and pairs.twins is not None:
            who = np.flatnonzero(pairs.twins)
            twins = np.full_like(logits, np.nan)
            if len(who):
                told = {"device": plan.device, "title": f"predict twins of {name}"}
                twins[who] = predict(model, batcher, len(cases.rows) + who, plan.settings, **told)
    if board is not None:
        board.close()
    said = Predictions(
        plan.classifier,
        plan.objective.NAME,
        plan.attribute,
        seed,
        np.array(cases.examples.ids, dtype=str),
        cases.splits,
        logits,
        twins,
    )
    return trained, said, model


def train_seeds(
    build: "Callable[[], nn.Module]",
    batcher: Batcher,
    cases: LabelledCases,
    plan: Plan,
    seeds: Sequence[int],
    *,
    features: int,
    pairs: Pairs | None = None,
    tensorboard: Path | None = None,
) -> list[tuple[Trained, Predictions]]:
    """Train seeds one after the other; what is done of an attempt that died is not done again.

    Parameters and errors are those of `train_seed`.
    """
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError("there is no seed, or one twice", remedy="name each seed once")
    scratch, found = scratch_folder(), []
    for seed in seeds:
        folder = scratch / f"seed-{seed}" if scratch else None
        kept = _read_done(folder)
        if kept is None:
            board = tensorboard / f"seed-{seed}" if tensorboard else None
            kept = train_seed(
                build, batcher, cases, plan, seed, features=features, pairs=pairs,
                folder=folder, tensorboard=board,
            )[:2]  # fmt: skip
            _keep_done(folder, *kept)
        found.append(kept)
    return found


def note_remarks(cases: LabelledCases, plan: Plan, pairs: Pairs | None = None) -> list[str]:
    """Say on the error stream what is doubtful about the cases and their pairs; return it."""
    remarks = check(cases.examples, plan.objective, plan.options, plan.settings)
    remarks += check_pairs(plan.options, pairs or Pairs(), cases.examples.train)
    for one in remarks:
        print(f"note: {one}", file=sys.stderr)
    return remarks


def write_results(
    out: Path, history: Path, trainings: Sequence[tuple[Trained, Predictions]]
) -> None:
    """Write predictions and history."""
    write_predictions(out, [said for _, said in trainings])
    names = ("classifier", "objective", "attribute", "seed")
    write_history(
        history,
        [
            (dict(zip(names, said.training, strict=True)), trained.history)
            for trained, said in trainings
        ],
    )


def counts_of(
    cases: LabelledCases, trainings: Sequence[tuple[Trained, Predictions]], remarks: Sequence[str]
) -> dict[str, Any]:
    """What a stage returns."""
    twins = trainings[0][1].twin_logits
    counted = {}
    if twins is not None:
        has = np.isfinite(twins).all(axis=1)
        counted = {"twins": {split: int(has[cases.splits == split].sum()) for split in SPLITS}}
    return counted | {
        "cases": len(cases.rows),
        "left_out": cases.total - len(cases.rows),
        "splits": {split: int((cases.splits == split).sum()) for split in SPLITS},
        "remarks": list(remarks),
        "epochs": [len(trained.history) for trained, _ in trainings],
        "best_epochs": [trained.epoch for trained, _ in trainings],
        "steps": [trained.steps for trained, _ in trainings],
        "dev_scores": [round(trained.score, 6) for trained, _ in trainings],
    }


def _keep_done(folder: Path | None, trained: Trained, said: Predictions) -> None:
    if folder is None:
        return
    write_predictions(folder / "predictions.parquet", [said])
    document = [trained.history, trained.epoch, trained.score, trained.steps]
    with atomic(folder / "trained.json") as path:  # last: it says that the seed is done
        path.write_text(json.dumps(document), encoding="utf-8")


def _read_done(folder: Path | None) -> tuple[Trained, Predictions] | None:
    if folder is None or not (folder / "trained.json").is_file():
        return None
    try:
        document = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
        return Trained(*document), read_predictions(folder / "predictions.parquet")[0]
    except (OSError, ValueError, InputError) as error:
        # the machine went down before the disk had it
        print(f"trains again: what {folder} holds is broken ({error})", file=sys.stderr)
        return None
