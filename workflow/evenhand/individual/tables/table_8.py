"""The MLP with IIFR by epsilon, the similarity from which two people are neighbours.

The paper's thresholds are reported for weight 1. For a data set without named settings, or with
fewer than two thresholds at that weight, the setting with the most thresholds is reported (in case
of ties the largest weight), if it has at least two. Above a threshold of 1 there are no neighbours:
if 1 was not run, it is replaced by the MLP without the loss.
"""

from collections.abc import Iterator

from evenhand.core.tables import Row
from evenhand.individual.reproduction import compare_cells, reproduction
from evenhand.individual.results import SETTING, Setting, setting_of
from evenhand.individual.study import MOST, NAMED, IndividualStudy, ReportedSetting

TABLE = reproduction("8", "Accuracy and fairness by threshold")
METRICS = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per data set, threshold and metric."""
    cells = study.published.cells["8"]
    named = {row["dataset"] for row in study.settings}
    for dataset in dict.fromkeys(setting.dataset for setting in study.results):
        sweeps = _sweeps(study, dataset)
        paper = _mlp(dataset, 1.0)
        published = {cell[4] for cell in cells if cell[0] == dataset}
        most = max(sweeps, key=lambda base: (len(sweeps[base]), base.weight), default=None)
        if len(sweeps.get(paper, ())) > 1 and (dataset in named or published):
            bases = [(paper, NAMED)]
        else:
            bases = [(paper, NAMED)] if published else []
            if most and len(sweeps[most]) > 1:
                bases.append((most, MOST))
        for base, choice in bases:
            thresholds = set(sweeps.get(base, ())) | (published if choice == NAMED else set())
            for epsilon in sorted(thresholds):
                setting = base._replace(epsilon=epsilon)
                result = study.results.get(setting)
                if result is None and epsilon == 1:
                    result = study.results.get(_mlp(dataset, None))
                reported = ReportedSetting(setting, choice)
                yield from compare_cells(study, "8", reported, result, METRICS, epsilon=epsilon)


def _mlp(dataset: str, weight: float | None) -> Setting:
    """Return the MLP's setting with the paper's loss at a weight, or without a loss."""
    named = dict.fromkeys(SETTING) | {"dataset": dataset, "method": "mlp", "individual": "none"}
    named |= {"lambda": 0.0, "js_base": "e", "split": "random"}
    if weight is not None:
        named |= {"individual": "iifr_cosine", "reduction": "sum", "lambda": weight}
        named |= {"epsilon_unit": "cosine"}
    return setting_of(named)


def _sweeps(study: IndividualStudy, dataset: str) -> dict[Setting, list[float]]:
    """Return the thresholds of the MLP's cosine loss on random splits, by the other settings."""
    sweeps: dict[Setting, list[float]] = {}
    for setting in study.results:
        kind = setting.dataset, setting.method, setting.individual, setting.split
        if kind == (dataset, "mlp", "iifr_cosine", "random"):
            sweeps.setdefault(setting._replace(epsilon=None), []).append(setting.epsilon)
    return sweeps
