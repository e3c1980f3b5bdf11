"""Predictions for each test individual: factual, and with each other value of the attribute.

An *answer* is the prediction of one seed's network for one individual. It is *changed* if another
value of the attribute gives another label, and *beyond* tau if another value changes its
probability by more than that (`evenhand.metrics.individual`). IFR_b and IFR_p are the shares of
flips without such a change, as a mean over individuals, then over seeds.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.tables import read_table
from evenhand.errors import InputError
from evenhand.individual.results import (
    LEVEL,
    Setting,
    by_setting,
    describe,
    largest,
    read_runs,
    setting_of,
)
from evenhand.io.tables import read_columns
from evenhand.metrics.individual import BASES, binary, similar_outputs, unchanged_labels
from evenhand.metrics.inference import Totals, share_interval
from evenhand.tabular.prepared import Prepared, read_prepared, with_integer_groups

COLUMNS = ["run", "row", "p", "p_flipped"]

#: Name prefix of the methods whose groups are those of the integer encoding.
WITH_INTEGERS = "eidig_integers"

#: The name of a setting: its data set, and the rest in words.
Name = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Answers:
    """The predictions of the runs of one setting for the test individuals.

    Attributes
    ----------
    setting : tuple
        The values of `evenhand.individual.results.SETTING`.
    people : Prepared
        The data set, with the groups that the method uses.
    seeds : list of int
        The seeds with kept answers, ascending.
    runs : int
        Number of runs of the setting with measures, including those without kept answers.
    seed : array of int64, shape (n,)
        The index into `seeds`, ascending.
    row : array of int64, shape (n,)
        The position in the prepared table.
    p : array of float32, shape (n,)
        P(Y=1).
    flipped : array of float32, shape (n, values)
        P(Y=1) with each value of the attribute; NaN for the factual value.
    """

    setting: Setting
    people: Prepared
    seeds: list[int]
    runs: int
    seed: np.ndarray
    row: np.ndarray
    p: np.ndarray
    flipped: np.ndarray

    @cached_property
    def positive(self) -> np.ndarray:
        """Whether each predicted label is 1 (a probability above one half): bool, (n,)."""
        return binary(self.p).argmax(axis=1) == 1

    @cached_property
    def changed(self) -> np.ndarray:
        """Whether each value changes the label: bool, (n, values); False for the factual one."""
        return self._flips(unchanged_labels)

    @cached_property
    def beyond(self) -> np.ndarray:
        """Whether each value changes the probability by more than tau: as `changed`."""
        base = BASES[self.setting.js_base]
        return self._flips(partial(similar_outputs, base=base))

    def _flips(self, share_kept: Callable[..., np.ndarray]) -> np.ndarray:
        flips = np.zeros(self.flipped.shape, dtype=bool)
        for value in range(flips.shape[1]):
            some = ~np.isnan(self.flipped[:, value])
            pair = binary(self.p[some]), binary(self.flipped[some, value : value + 1])
            flips[some, value] = share_kept(*pair) == 0
        return flips

    @property
    def name(self) -> Name:
        """The data set, and the setting in words."""
        return name_of(self.setting)


def name_of(setting: Setting) -> Name:
    """Return the name of a setting in reports: its data set, and the rest in words."""
    return setting.dataset, describe(setting)


def settings_of_tables(paths: Iterable[Path]) -> list[Setting]:
    """Return the distinct settings of result tables, in their order."""
    settings: dict[Name, Setting] = {}
    for path in paths:
        for row in read_table(path):
            settings.setdefault(name_of(setting_of(row)), setting_of(row))
    return list(settings.values())


def read_answers(
    runs: Path, predictions: Path, table: Prepared, names: Collection[Name]
) -> list[Answers]:
    """Read the answers of the settings of one training, from `train_table` or `train_eidig`.

    Parameters
    ----------
    runs, predictions : Path
        Tables of the same training.
    table : Prepared
        The data set.
    names : collection of (str, str)
        Names of the requested settings, from `name_of`.

    Returns
    -------
    list of Answers
        One for each requested setting with predictions; runs that diverged are left out.

    Raises
    ------
    InputError
        The predictions do not belong to these individuals.
    """
    import pyarrow.compute as pc

    results = by_setting(read_runs([runs]))
    chosen = [results[key] for key in results if name_of(key) in names and results[key].runs]
    if any(result.setting.method.startswith(WITH_INTEGERS) for result in chosen):
        table, _ = with_integer_groups(table)
    numbers = sorted(run["run"] for result in chosen for run in result.runs)
    read = read_columns(predictions, COLUMNS).filter(pc.field("run").isin(numbers))
    run = read["run"].to_numpy()
    named = read["row"].to_numpy()
    row = np.minimum(np.searchsorted(table.row, named), len(table.row) - 1)
    p = read["p"].to_numpy()
    lists = read["p_flipped"].combine_chunks()
    values = len(table.attribute_values)
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    factual = table.a[row][:, None] == np.arange(values)
    are_known = np.array_equal(table.row[row], named)
    if not are_known or not np.array_equal(np.isnan(flat), factual.ravel()):
        raise InputError(f"is not of the people of {table.name}", file=predictions)
    flipped = flat.reshape(factual.shape)
    made = []
    for result in chosen:
        seeds = {item["run"]: item["seed"] for item in result.runs}
        at = np.flatnonzero(np.isin(run, [*seeds]))
        there, seed = np.unique(run[at], return_inverse=True)
        if not len(at):
            continue
        kept = [seeds[number] for number in there.tolist()]
        made.append(
            Answers(
                result.setting, table, kept, len(result.runs), seed, row[at], p[at], flipped[at]
            )
        )
    return made


def count_answers(answers: Answers, some: np.ndarray) -> dict[str, Any]:
    """Count the wrong, positive, changed and beyond ones of some answers, and compute measures.

    Parameters
    ----------
    answers : Answers
        The answers of one setting.
    some : array of bool, shape (n,)
        Mask of the answers to count.

    Returns
    -------
    dict
        answers, people; for each of wrong, positive, changed (by at least one flip) and beyond,
        the number of answers and, under ``{name}_people``, of individuals with such an answer by
        at least one seed; flips, changed_flips, beyond_flips; and measures, as means over the
        seeds with such answers, with intervals over individuals: acc, ifr_b, ifr_p and ifr_p_all
        in percent, positive_rate as a share. Measures without any answer, and intervals of few
        individuals, are None. label_rate, the same mean of the labels, has no interval.
    """
    table, row, seed = answers.people, answers.row[some], answers.seed[some]
    changed, beyond = answers.changed[some], answers.beyond[some]
    kinds = {
        "wrong": answers.positive[some] != (table.y[row] == 1),
        "positive": answers.positive[some],
        "changed": changed.any(axis=1),
        "beyond": beyond.any(axis=1),
    }
    others = len(table.attribute_values) - 1
    counts: dict[str, Any] = {"answers": len(row), "people": len(np.unique(row))}
    for kind, holds in kinds.items():
        counts[kind] = int(holds.sum())
        counts[f"{kind}_people"] = len(np.unique(row[holds]))
    counts |= {
        "flips": len(row) * others,
        "changed_flips": int(changed.sum()),
        "beyond_flips": int(beyond.sum()),
    }
    shares = {
        "acc": 1.0 - kinds["wrong"],
        "positive_rate": kinds["positive"].astype(float),
        "ifr_b": 1 - changed.sum(axis=1) / others,
        "ifr_p": 1 - beyond.sum(axis=1) / others,
        "ifr_p_all": 1.0 - kinds["beyond"],
    }
    for name, values in shares.items():
        counts |= _measure(name, values, seed, row)
    counts["label_rate"] = _measure("label_rate", table.y[row] == 1, seed, row)["label_rate"]
    return counts


def positive_rates(answers: Answers, some: np.ndarray) -> np.ndarray:
    """Return each seed's share of positive ones of some answers; NaN of a seed without any."""
    sizes, positive = (
        np.bincount(answers.seed[mask], minlength=len(answers.seeds))
        for mask in (some, some & answers.positive)
    )
    return np.divide(positive, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)


def _measure(name: str, values: np.ndarray, seed: np.ndarray, row: np.ndarray) -> dict[str, Any]:
    """Return the mean over seeds of the means of each seed's values, with its interval.

    The interval is that of a share of answers in clusters, the individuals.
    """
    means = [values[seed == number].mean() for number in np.unique(seed)]
    if not means:
        return {name: None}
    sums, sizes = (np.bincount(row, weights=weights) for weights in (values, np.ones(len(row))))
    totals = Totals(sums[sizes > 0], sizes[sizes > 0], float((values**2).sum()))
    numbers = [float(np.mean(means)), *share_interval(totals)(LEVEL)]
    cells = dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))
    most = largest(name)
    return {key: None if np.isnan(cell) else most * cell for key, cell in cells.items()}


def members(answers: Answers) -> Iterator[tuple[int | None, int | None, np.ndarray]]:
    """Yield masks of answers by group and label: (group, label, mask), None for all.

    All groups come first, then each group; for each, first both labels, then 0 and 1. Empty masks
    are left out.
    """
    table = answers.people
    group, label = table.a[answers.row], table.y[answers.row]
    groups: Sequence[int | None] = [None, *range(len(table.attribute_values))]
    for code in groups:
        for value in (None, 0, 1):
            some = np.ones(len(answers.row), dtype=bool) if code is None else group == code
            if value is not None:
                some = some & (label == value)
            if some.any():
                yield code, value, some


def read_people(people: Sequence[Path], meta: Sequence[Path]) -> dict[str, Prepared]:
    """Read the data sets, and return them by name."""
    read = [read_prepared(*pair) for pair in zip(people, meta, strict=True)]
    return {table.name: table for table in read}
