"""Stage: how many people stand behind the numbers of the tables of individual fairness."""

from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.individual.people import (
    count_answers,
    members,
    name_of,
    read_answers,
    read_people,
    settings_of_tables,
    trainings,
)
from evenhand.individual.results import FORM, SETTING, order
from evenhand.metrics.individual import TAU

#: Answers and people, and what the answers come to.
COUNTS = (
    *("answers", "people"),
    *(f"{kind}{what}" for kind in ("wrong", "positive", "changed", "beyond")
      for what in ("", "_people")),
    *("flips", "changed_flips", "beyond_flips"),
)  # fmt: skip
MEASURES = ("acc", "positive_rate", "ifr_b", "ifr_p", "ifr_p_all")

HEADER = [*SETTING, "group", "label", "seeds", "runs", *COUNTS, *MEASURES]


def count_people(
    *,
    people: list[Input],
    meta: list[Input],
    runs: list[Input],
    predictions: list[Input],
    trained_on: list[str],
    tables: list[Input],
    out: Output,
    tau: float = TAU,
) -> dict[str, Any]:
    """Count the people behind each setting that stands in a table, and their answers.

    Parameters
    ----------
    people, meta : list of path
        ``data.parquet`` and ``data.json`` of each data set.
    runs, predictions : list of path
        What `train_table` and `train_eidig` wrote, in the same order.
    trained_on : list of str
        ``{dataset}/{split}/{method}`` of each of them.
    tables : list of path
        Of `tabulate_results`: the settings that stand in them are counted.
    out : path
        CSV, a row per setting, group (a code of the attribute, of the methods
        ``eidig_integers`` one of their own encoding; blank for all) and label (0 or 1;
        blank for both) that has people: `HEADER`. What is counted is said in
        `evenhand.individual.people.count_answers`; ``seeds`` are those whose predictions were
        kept, of ``runs`` with measures.
    tau : float
        As in `train_table`.

    Returns
    -------
    dict
        settings, without (those that have no predictions), answers.

    Raises
    ------
    InputError
        There are not as many files of each kind, or they do not belong together.
    """
    found = read_people(people, meta)
    wanted = settings_of_tables(tables)
    counted: dict[Any, list[dict[str, Any]]] = {}
    for run, prediction, dataset in trainings(runs, predictions, trained_on, found):
        names = {name_of(setting) for setting in wanted}
        for one in read_answers(run, prediction, found[dataset], names, tau=tau):
            about = dict(zip(SETTING, one.setting, strict=True))
            about |= {"seeds": len(one.seeds), "runs": one.runs}
            counted[one.setting] = [
                about | {"group": group, "label": label} | count_answers(one, some)
                for group, label, some in members(one)
            ]
    rows = [row for setting in sorted(counted, key=order) for row in counted[setting]]
    write_rows(out, HEADER, rows, FORM)
    return {
        "settings": len(counted),
        "without": len(wanted) - len(counted),
        "answers": sum(some[0]["answers"] for some in counted.values()),
    }


if __name__ == "__main__":
    stage.run(count_people)
