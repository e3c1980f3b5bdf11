"""Stage: compute the tables of individual fairness, one per module in `individual.tables`."""

from typing import Any

from evenhand.core.families import load_members
from evenhand.core.stage import Delta, Input, Output, Source, checked
from evenhand.core.tables import tabulate
from evenhand.individual import tables
from evenhand.individual.people import read_people
from evenhand.individual.published import read_published, read_settings
from evenhand.individual.results import read_groups, read_runs
from evenhand.individual.study import IndividualStudy


@checked
def tabulate_individual(
    *,
    runs: list[Input],
    groups: list[Input],
    predictions: list[Input],
    data: list[Input],
    meta: list[Input],
    published: list[Source],
    settings: Input,
    training: Input,
    out: Output,
    delta: Delta = 5.0,
) -> dict[str, Any]:
    """Compute the tables of individual fairness from the runs of all data sets and methods.

    Parameters
    ----------
    runs, groups, predictions : list of Path
        The outputs of `train_table` and `train_eidig`, in the same order.
    data, meta : list of Path
        ``data.parquet`` and ``data.json`` of each data set.
    published : list of Path
        The facts of the paper, from ``resources/iifr``; see `evenhand.individual.published`.
    settings : Path
        The reported settings of methods (``resources/iifr/settings.csv``).
    training : Path
        The training hyperparameters (``resources/iifr/training.csv``).
    out : Path
        The folder of the tables; see `evenhand.core.tables`.
    delta : float
        The smallest difference that matters, in percentage points.

    Raises
    ------
    InputError
        The numbers of files of each kind differ, or they do not belong together.
    """
    rows = read_runs(runs)
    study = IndividualStudy(
        runs=rows,
        groups=read_groups(groups, rows),
        trainings=list(zip(runs, predictions, strict=True)),
        people=read_people(data, meta),
        published=read_published(published),
        settings=read_settings(settings),
        training=training,
        delta=delta,
    )
    lost = {
        "diverged": sum(result.diverged for result in study.results.values()),
        "empty": sum(result.empty for result in study.results.values()),
    }
    return tabulate(out, load_members(tables), study) | {"runs": len(rows)} | lost
