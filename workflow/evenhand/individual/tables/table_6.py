"""Individual fairness of each method by group.

The groups of the methods ``eidig_integers`` are those of EIDIG's own encoding (Adult: Female,
Male; German: four ages).
"""

from collections.abc import Iterator

from evenhand.core.tables import Row
from evenhand.individual.reproduction import compare_cells, reproduction
from evenhand.individual.results import by_setting
from evenhand.individual.study import NAMED, IndividualStudy

TABLE = reproduction("6", "Individual fairness by group")
METRICS = ("ifr_b", "ifr_p")


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per reported setting, group and metric."""
    by_group = {group: by_setting(runs) for group, runs in study.groups.items()}
    known = {cell[:4] for cell in [*study.published.cells["6"], *study.published.inconsistent("6")]}
    for reported, _ in study.reported_results():
        setting = reported.setting
        groups = {group for group, results in by_group.items() if setting in results}
        if reported.choice == NAMED:
            groups |= {cell[3] for cell in known if cell[:3] == setting[:3]}
        for group in sorted(groups):
            result = by_group.get(group, {}).get(setting)
            yield from compare_cells(study, "6", reported, result, METRICS, group=group)
