"""Stage: every setting's measures, so that the weight of the individual loss can be followed.

The facts that we have of the paper do not hold its Figures 4 to 6; these are the numbers for
figures of the same kind.
"""

from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Output, Source
from evenhand.individual.results import (
    FORM,
    METRICS,
    SETTING,
    by_setting,
    read_runs,
)
from evenhand.individual.summary import SUMMARY, summarise

HEADER = [*SETTING, "metric", *SUMMARY, "diverged", "empty", "reasons"]


def sweep_lambdas(*, runs: list[Source], out: Output) -> dict[str, Any]:
    """Summarise every setting over its seeds.

    Parameters
    ----------
    runs : list of Path
        What `train_table` wrote.
    out : Path
        CSV, per setting and metric: mean, sd of single runs, low and high (95 % t interval of
        the mean), seeds, how many runs diverged, how many could not be made because their split
        leaves a group or a label empty, and why. Without an individual loss lambda is 0.
    """
    results = by_setting(read_runs(runs))
    rows = [
        result.named
        | {"metric": metric, "diverged": result.diverged, "empty": result.empty}
        | {"reasons": "; ".join(result.reasons)}
        | summarise(result.values(metric))
        for result in results.values()
        for metric in METRICS
    ]
    written = write_rows(out, HEADER, rows, FORM)
    return {
        "settings": len(results),
        "rows": written,
        "diverged": sum(result.diverged for result in results.values()),
        "empty": sum(result.empty for result in results.values()),
    }


if __name__ == "__main__":
    stage.run(sweep_lambdas)
