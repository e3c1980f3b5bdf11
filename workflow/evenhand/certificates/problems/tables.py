"""Methods on tables with a planted effect of the attribute, and whether each improves its aim.

In the table ``direct`` the label depends on the attribute itself; in ``proxy`` on a number that
depends on the attribute. Each method of `evenhand.learning.methods` is trained with its grid of
weights, the MLP also with each individual loss.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from evenhand.certificates.study import Finding, Study
from evenhand.core.families import member_names
from evenhand.core.tables import Column, Row, Table, flag, integer, number, percent, share, text
from evenhand.learning.hyperparameters import Hyperparameters
from evenhand.tabular.prepared import Prepared

EFFECTS = ("direct", "proxy")

#: The reference method; candidate weights and the threshold of the individual losses, which are
#: added to it.
PLAIN, LAMBDAS, EPSILON = "mlp", (0.1, 1.0), 0.8

#: EIDIG's retrained network, and the steps of the search from each start.
EIDIG, EIDIG_TRIES = "eidig", 1000

#: A gap must fall to this share of the MLP's, in the mean of the heavier half of the weights, since
#: more weight is to close it and not another one; IFR must rise by `MARGIN` points, or be 100. The
#: accuracy must be above that of the majority class by `MARGIN` points.
SHARE, MARGIN = 0.6, 5.0

MEASURES = {
    "acc": "Accuracy",
    "ddp": "dDP",
    "deo": "dEO, the larger of both labels",
    "ifr_b": "IFR_b",
    "ifr_p": "IFR_p",
}


def _column(name: str, words: str) -> Column:
    return (share if "dd" in name or "deo" in name else percent)(name, words)


TABLE = Table(
    "certified_tables",
    title="Does each method do what it promises? Tables with a planted effect of the attribute",
    key=("effect", "method", "individual", "mu", "lambda"),
    columns=(
        text("effect", "direct: the attribute moves the label; proxy: a number that depends on it"),
        text("method"),
        text("individual", "The individual loss, or none"),
        number("mu", "Weight of the adversary"),
        number("lambda", "Weight of the individual loss"),
        integer("seeds", "Each with people, a split and first weights of its own"),
        *(_column(name, f"{words}; mean") for name, words in MEASURES.items()),
        *(_column(f"plain_{name}", f"{words} of the MLP") for name, words in MEASURES.items()),
        text("aim", "The measure that the method promises to improve; blank: none"),
        flag("met", "Whether it does: IFR at some weight, a gap at heavy ones; blank: no promise"),
    ),
    form=".3f",
)

HYPERPARAMETERS = Hyperparameters((30, 20, 10), (10,), 1.0, 128, 12)


def plant_table(seed: int, effect: str, n: int = 2000) -> Prepared:
    """Make a table whose label depends on merit and, directly or by a proxy, on the group.

    Parameters
    ----------
    seed : int
        Seed of all random numbers.
    effect : str
        One of `EFFECTS`.
    n : int
        Number of rows.
    """
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 2, n).astype(np.int16)
    merit, other, noise = generator.normal(size=(3, n))
    proxy = other + 2.0 * (a == 1) * (effect == "proxy")
    moved = proxy - 1.0 if effect == "proxy" else 1.5 * a - 0.75
    y = (merit + moved + 0.5 * noise > 0).astype(np.int8)
    return Prepared(
        name=f"planted_{effect}",
        x=np.column_stack([merit, proxy, np.eye(2)[a]]),
        y=y,
        a=a,
        features=["merit", "proxy", "group=0", "group=1"],
        attribute_name="group",
        attribute_values=["0", "1"],
        attribute_columns=[2, 3],
        attribute_codes=np.eye(2),
        scale="standard",
        test_share=0.3,
        official=None,
    )


def measured_rows(
    seeds: Sequence[int], *, methods: Sequence[str] | None = None, individual: bool = True
) -> Iterator[Row]:
    """Yield a row per planted effect, method and weight.

    Parameters
    ----------
    seeds : sequence of int
        Seeds of the tables and the trainings.
    methods : sequence of str, optional
        Names; all of `evenhand.learning.methods`, and EIDIG's networks, by default.
    individual : bool
        Whether to test the individual losses with the MLP.
    """
    names = dict.fromkeys([PLAIN, *(methods or [*_names("evenhand.learning.methods"), EIDIG])])
    for effect in EFFECTS:
        results: list[Row] = []
        for name in names:
            of_name = _of_eidig if name == EIDIG else partial(_of_method, name, individual)
            results += of_name(effect, seeds)
        plain = next(
            row for row in results if row["method"] == PLAIN and row["individual"] == "none"
        )
        shared = {f"plain_{name}": plain[name] for name in MEASURES}
        for row in results:
            grid = [
                other
                for other in results
                if (other["method"], other["individual"]) == (row["method"], row["individual"])
            ]
            aim = "ifr_p" if row["individual"] != "none" else row["aim"]
            whole = row | shared | {"aim": aim, "met": judge(aim, grid, plain)}
            yield {name: whole[name] for name in TABLE.header}


def judge(aim: str, grid: Sequence[Row], plain: Row) -> bool | None:
    """Return whether a grid improves the measure: IFR in some row, a gap in the heavier half.

    None without an aim.

    Parameters
    ----------
    aim : str
        A measure, or "".
    grid : sequence of rows
        The rows of a method, in the order of their weights.
    plain : row
        The row of the MLP.
    """
    if not aim:
        return None
    least = plain["majority"] + MARGIN
    if aim.startswith("ifr"):
        able = [row[aim] for row in grid if row["acc"] > least]
        return max(able, default=0) >= min(plain[aim] + MARGIN, 100 - 1e-9)
    heavy = grid[len(grid) // 2 :]
    gap, accuracy = (float(np.mean([row[name] for row in heavy])) for name in (aim, "acc"))
    return gap <= SHARE * plain[aim] and accuracy > least


def _names(package: str) -> list[str]:
    return [name.rpartition(".")[2] for name in member_names(package)]


def _of_method(name: str, individual: bool, effect: str, seeds: Sequence[int]) -> Iterator[Row]:
    from evenhand.learning import stacked
    from evenhand.learning.train_table import configurations

    method = importlib.import_module(f"evenhand.learning.methods.{name}").METHOD
    options, losses = stacked.Options(), ["none"]
    if name == PLAIN and individual:
        losses = dict.fromkeys([*losses, *_names("evenhand.learning.individual_losses")])
    grid = configurations(method, losses, LAMBDAS, [EPSILON], method.mus, options.epsilon_unit)
    runs = {}
    for seed in seeds:
        table = plant_table(seed, effect)
        trained = stacked.train_runs(table, method, HYPERPARAMETERS, grid, [seed], options)
        runs[seed] = list(trained)
    yield from _means(effect, name, method.aim, runs)


def _of_eidig(effect: str, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield a row for each network of EIDIG: the searched, the control and the retrained one."""
    from evenhand.learning.train_eidig import METHODS, VARIANTS, Search
    from evenhand.tabular.prepared import make_split

    trained: dict[str, dict[int, list]] = {name: {} for name in METHODS["base"]}
    for seed in seeds:
        table = plant_table(seed, effect)
        search = Search(
            table=table,
            track="base",
            hyperparameters=HYPERPARAMETERS,
            interval=VARIANTS["5"],
            tries=EIDIG_TRIES,
        )
        runs, _ = search.train(seed, make_split(table, seed))
        for name, run in zip(trained, runs, strict=True):
            trained[name][seed] = [run]
    for name, runs in trained.items():
        yield from _means(effect, name, "ifr_b" if name == EIDIG else "", runs)


def _means(effect: str, name: str, aim: str, runs: Mapping[int, list]) -> Iterator[Row]:
    """Yield a row per individual loss and weight: means over the seeds, from the runs of each."""
    from evenhand.learning.stacked import Options
    from evenhand.learning.train_table import measure

    by_setting: dict[tuple, list[Row]] = {}
    for seed, some in runs.items():
        table = plant_table(seed, effect)
        measured, _ = measure(table, some, asdict(Options()))
        for row in measured:
            if row["diverged"]:
                continue
            row["deo"] = max(row["deo_0"], row["deo_1"])
            row["majority"] = 100 * max(table.y.mean(), 1 - table.y.mean())
            by_setting.setdefault((row["individual"], row["mu"], row["lambda"]), []).append(row)
    for (loss, mu, lam), some in by_setting.items():
        named = {"effect": effect, "method": name, "individual": loss, "mu": mu}
        named |= {"lambda": lam if loss != "none" else None, "seeds": len(some)}
        means = {key: float(np.mean([run[key] for run in some])) for key in (*MEASURES, "majority")}
        yield named | means | {"aim": aim}


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per planted effect, method and weight."""
    return measured_rows([seed + 1 for seed in study.seeds])


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield whether each method improves its aim."""
    promises = {
        (row["effect"], row["method"], row["individual"]): row
        for row in measured
        if row["met"] is not None
    }
    for (effect, method, individual), row in promises.items():
        name = method if individual == "none" else individual
        measure = f"keeps its promise ({row['aim']})"
        yield Finding(f"{name}, {effect} effect", measure, float(row["met"]), least=1)
