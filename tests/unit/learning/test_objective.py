import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.learning import objective as common
from evenhand.learning.objectives import irm
from unit.learning.objectives.cases import answers, batch_of, made


def test_the_loss_of_a_case():
    batch = made(0, "multi_class")
    found = common.losses_of(batch)
    expected = functional.cross_entropy(batch.logits, batch.labels, reduction="none")
    torch.testing.assert_close(found, expected)
    batch = made(0, "multi_label")
    p = batch.logits.sigmoid()
    expected = -torch.where(batch.labels == 1, p, 1 - p).log().mean(dim=1)
    torch.testing.assert_close(common.losses_of(batch), expected)


def test_the_mean_loss():
    batch = batch_of(answers(0.5, 0.75, 0.1, 0.9), [0, 1, 0, 0], [0, 0, 1, 2])
    value, state = common.load_objective("erm").loss(batch, {}, {}, None)
    assert value.item() == pytest.approx(-math.log(0.5 * 0.75 * 0.9 * 0.1) / 4)
    assert state == {}


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool])
def test_labels_of_any_type(dtype):
    batch = made(0, "multi_label")
    found = common.per_example_loss(batch.logits, batch.labels.to(dtype), "multi_label")
    torch.testing.assert_close(found, common.losses_of(batch))


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 3)), min_size=1, max_size=9))
def test_group_means(cases):
    values, groups = zip(*cases, strict=True)
    members = common.membership(torch.tensor(groups), 4, torch.float64)
    values = torch.tensor(values, dtype=torch.float64)
    means, present = common.group_means(values, members)
    for group in range(4):
        mine = [value for value, of in cases if of == group]
        assert present[group] == bool(mine)
        assert means[group].item() == pytest.approx(sum(mine) / len(mine) if mine else 0, abs=1e-12)
    known = [means[group].item() for group in set(groups)]
    assert common.mean_over(means, present).item() == pytest.approx(sum(known) / len(known))


def test_class_means():
    # losses in ln 2: class 0: 1, 2 and 3; class 2: none
    batch = batch_of(answers(0.5, 0.75, 0.875), [0, 0, 0], [0, 0, 0])
    means, present = common.class_means(batch)
    assert means.tolist() == pytest.approx([2 * math.log(2), 0])
    assert present.tolist() == [1, 0]


DEFAULTS = {"rate": 0.01, "compat": False, "pairs": "cosine", "epochs": 3}


def parse(*given):
    return common.parse_options("the objective x", "option", DEFAULTS, given)


def test_options():
    assert parse() == DEFAULTS
    assert parse("compat=true", "rate=1e-3") == DEFAULTS | {"compat": True, "rate": 0.001}
    assert parse("pairs=graph", "epochs=0") == DEFAULTS | {"pairs": "graph", "epochs": 0}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["beta=1"], "the objective x has no option 'beta'; write key=value; it has rate, compat"),
        (["rate"], "no option 'rate'"),
        (["rate="], "the option rate= of the objective x is no number from 0"),
        (["rate=nan"], "no number"),
        (["rate=inf"], "no number"),
        (["rate=-1"], "no number"),
        (["epochs=1.5"], "no whole number"),
        (["epochs=-1"], "no whole number"),
        (["compat=1"], "neither true nor false"),
        (["rate=1", "rate=1"], "twice"),
    ],
)
def test_wrong_options(given, problem):
    with pytest.raises(InputError, match=problem):
        parse(*given)


def test_objectives_by_name():
    assert common.load_objective("irm").loss is irm.loss
    with pytest.raises(InputError, match="no objective 'imr'"):
        common.load_objective("imr")


def test_compat_may_have_other_batches():
    group_dro, iifr_text = map(common.load_objective, ("group_dro", "iifr_text"))
    assert common.sampler_of(group_dro, {"compat": False}) == "group_uniform"
    assert common.sampler_of(group_dro, {"compat": True}) == "group_weighted"
    assert common.sampler_of(iifr_text, iifr_text.OPTIONS) == "shuffle"
