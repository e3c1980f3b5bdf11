"""Results of individual fairness with few rows: what the tests of pages read."""

from pathlib import Path
from typing import Any

from evenhand.core.tables import write_tables
from evenhand.individual.tables import (
    findings,
    grid,
    groups,
    inconsistencies,
    individuals,
    pareto_fronts,
    table_4,
    table_6,
    table_7,
    table_8,
    tests,
    training,
)
from evenhand.io.documents import write_json
from evenhand.tabular.prepared import RECORD

Row = dict[str, Any]


def rows(dataset: str = "adult", method: str = "my_loss") -> dict[Any, list[Row]]:
    """A few rows of each table."""
    same = {"dataset": dataset, "individual": "none", "lambda": 0, "js_base": "e"}
    same |= {"split": "random", "choice": "named", "diverged": 0, "empty": 0}
    lost = {"seeds": 20, "diverged": 1, "empty": 2}
    mlp, own = same | {"method": "mlp"}, same | {"method": method}
    cells = [
        mlp | lost | {"metric": "acc", "published": 85.5, "mean": 84.6, "sd": 0.5, "low": 84}
        | {"high": 85, "verdict": "reproduced"},
        mlp | lost | {"metric": "ddp", "published": 0.5, "mean": 0.192, "sd": 0.01, "low": 0.19}
        | {"high": 0.2, "verdict": "not_reproduced", "reason": "far away"},
        own | {"mu": 3, "js_base": "2", "choice": "first", "metric": "acc", "seeds": 0}
        | {"verdict": "not_run", "reason": "there is no run"},
        same | {"method": "eidig_integers", "metric": "acc", "mean": 1, "seeds": 1}
        | {"verdict": "undecided"},
    ]  # fmt: skip
    loss = own | {"individual": "iifr_counterfactual", "reduction": "sum"}
    settings = [(mlp, 0.1), (loss | {"lambda": 0.1}, 0.1), (loss | {"lambda": 1}, 1)]
    against = settings[1][0] | {"choice": "first", "against": "mlp"}
    kinds = ("balanced_acc", "ifr_p", "ddp", "positive_rate")
    official = settings[1][0] | {"split": "official", "against": "none"}
    listed = {"kind": "mix", "table": "6", "dataset": dataset, "individual": "none"}
    listed |= {"metric": "ifr_p"}
    found = {
        **dict.fromkeys((table_4, table_7, table_8), cells),
        table_6: [row | {"group": 1} for row in cells],
        grid: [
            one | {"metric": kind, "mean": 50 + y, "sd": 1, "low": 49, "high": 51, "seeds": 3}
            for one, y in settings
            for kind in kinds
        ],
        pareto_fronts: [
            one | {"front": front, "point": "p", "balanced_acc": 50 + y, "balanced_acc_sd": 1}
            | {"unfairness": 0.5 - y / 4, "seeds": 3, "on_front": y == 1}
            for front in ("ddp", "ifr_p")
            for one, y in settings
        ],
        tests: [
            against | {"metric": "ifr_p", "seeds": 20, "difference": -30.04, "p_adjusted": 0.0002}
            | {"difference_low": -35, "difference_high": -25, "p_resampled_adjusted": 0.4},
            against | {"metric": "ddp", "seeds": 1, "difference": 0, "reason": "one seed"},
            official | {"metric": "ddp", "seeds": 2, "difference": 0},
        ],
        inconsistencies: [
            listed | {"method": "alfr", "published": 30.5, "computed": 15.1, "listed": True}
            | {"result": "contradiction", "known_error": "one-error other-error"}
            | {"words": f"{method} + 1"},
            listed | {"method": "mlp", "result": "agrees", "listed": False, "words": "fine"},
        ],
        findings: [
            {"finding": "headline_x", "sentence": f"The headline of {method}."},
            {"finding": "x", "dataset": dataset, "holds": True, "sentence": f"All is {method}."},
        ],
        groups: [
            {"dataset": dataset, "quantity": "rows", "count": 45222, "of": 1, "reproduced": 45222},
            {"dataset": dataset, "quantity": "P(Y=1)", "count": 11208, "of": 45222}
            | {"reproduced": 0.247844, "published": "0.248", "verdict": "reproduced"}
            | {"digits": "rounded"},
            {"dataset": dataset, "quantity": "P(A)", "value": "Male", "count": 30527, "of": 45222}
            | {"reproduced": 0.675048, "verdict": "not_checked"},
            {"dataset": dataset, "quantity": "P(Y=1|A)", "value": "Female", "count": 1669}
            | {"of": 14695, "reproduced": 0.113576},
        ],
        training: [
            {"dataset": dataset, "hidden": "30, 20", "adversary": "10", "learning_rate": 0.1}
            | {"batch": 256, "epochs": 10}
        ],
        individuals: [],
    }  # fmt: skip
    return {
        member: [{name: row.get(name) for name in member.TABLE.header} for row in own_rows]
        for member, own_rows in found.items()
    }


def counts(**values: Any) -> Row:
    """Counts of the test individuals behind a setting of the MLP on Adult."""
    row = dict.fromkeys(individuals.TABLE.header, 0)
    row |= dict.fromkeys(("reduction", "epsilon", "epsilon_unit", "mu", "group", "label"))
    row |= {"dataset": "adult", "method": "mlp", "individual": "none", "js_base": "e"}
    row |= {"split": "random", "seeds": 2, "runs": 20, "answers": 30, "people": 20, "flips": 30}
    return row | values


def results(folder: Path, made: dict[Any, list[Row]], title: str = "") -> list[Path]:
    """Write the tables, and the description of the data set; return their paths."""
    name = made[grid][0]["dataset"] if made.get(grid) else "adult"
    tables, data = folder / "tables/individual", folder / "tabular/mine/data.json"
    write_tables(tables, [(member.TABLE, own) for member, own in made.items()])
    document = dict.fromkeys(RECORD) | {"name": name, "rows": 45222, "features": ["a", "b"]}
    document |= {"attribute_name": "sex", "attribute_values": ["Male", "Female"]}
    document["meta"] = {"title": title or "Adult (UCI census income)", "label": "earns more"}
    document["meta"] |= {"excluded": {"missing": 3620}, "integer_groups": ["three", "four"]}
    data.parent.mkdir(parents=True, exist_ok=True)
    write_json(data, document)
    return [tables, data]
