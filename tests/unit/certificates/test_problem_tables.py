"""The certificate of methods on tables with a planted effect."""

from functools import partial

import numpy as np
import pytest

from evenhand.certificates.problems import tables
from evenhand.certificates.problems.tables import EFFECTS, TABLE, judge, measured_rows, plant_table

PLAIN = {"acc": 90.0, "majority": 50.0, "ddp": 0.5, "deo": 0.5, "ifr_p": 20.0}


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_planted_effect(effect):
    table = plant_table(3, effect, n=4000)
    shares = [table.y[table.a == group].mean() for group in (0, 1)]
    assert shares[1] - shares[0] > 0.3
    merit, proxy = table.x[:, 0], table.x[:, 1]
    near = np.abs(merit) < 0.2
    if effect == "proxy":  # among people with the same numbers the group says nothing more
        near &= np.abs(proxy - 1) < 0.2
    apart = table.y[near & (table.a == 1)].mean() - table.y[near & (table.a == 0)].mean()
    assert (apart > 0.5) == (effect == "direct")
    assert abs(np.corrcoef(merit, table.a)[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("aim", "grid", "met"),
    [
        ("", [{"acc": 90}], None),
        ("ddp", [{"acc": 80, "ddp": 0.5}, {"acc": 70, "ddp": 0.2}], True),
        ("ddp", [{"acc": 80, "ddp": 0.4}], False),
        ("ddp", [{"acc": 52, "ddp": 0.0}], False),  # the majority class
        # as of parity where labels differ: more weight opens the gap again
        ("deo", [{"acc": 80, "deo": 0.1}, {"acc": 70, "deo": 0.4}], False),
        ("ifr_p", [{"acc": 80, "ifr_p": 26}], True),
        ("ifr_p", [{"acc": 80, "ifr_p": 24}], False),
    ],
)
def test_what_is_certified(aim, grid, met):
    assert judge(aim, grid, PLAIN) is met


def test_parity_is_gained_at_some_weight_and_the_blind_network_is_invariant(monkeypatch):
    monkeypatch.setattr(tables, "plant_table", partial(plant_table, n=1000))
    found = list(
        measured_rows([2], methods=["laftr_dp", "mlp_without_attribute"], individual=False)
    )
    assert all(list(row) == TABLE.header for row in found)
    assert {row["met"] for row in found if row["method"] != "mlp"} == {True}
    assert {row["met"] for row in found if row["method"] == "mlp"} == {None}
    assert {(row["individual"], row["lambda"], row["seeds"]) for row in found} == {
        ("none", None, 1)
    }
    mus = [row["mu"] for row in found if (row["method"], row["effect"]) == ("laftr_dp", "direct")]
    assert mus[:3] == [0.1, 0.5, 1.0]
    blind = [row for row in found if row["method"] == "mlp_without_attribute"]
    assert [row["ifr_b"] for row in blind] == [100, 100]
