"""Trainings that compare pairs: cases with their swapped, and neighbours in one batch."""

import numpy as np
import pytest
import torch

from evenhand.learning.pairs import Pairs
from evenhand.learning.settings import Settings
from unit.learning.made_training import examples, inputs, run

COUNTERFACTUAL = {"pairs": "counterfactual", "weight": 5.0}


def made(share: int = 3):
    """Cases, what they and their swapped look like, and who has a counterfactual or neighbours."""
    some = examples()
    x = inputs(some)
    has = np.arange(len(x)) % share > 0
    swapped = x.clone()
    swapped[has] = swapped[has].flip(1)
    near = np.random.default_rng(2).integers(-1, len(x), (len(x), 3))
    near[~np.isin(near, some.train)] = -1
    return some, torch.cat([x, swapped]), Pairs(swapped=has, neighbours=near)


def trained(objective, options=None, **given):
    some, x, pairs = made()
    return run(some, objective, options=options, x=x, **{"pairs": pairs, **given})


def test_pairs_of_no_weight_change_no_bit_even_with_dropout():
    plain, logits, _ = trained("erm", pairs=None)
    found, also, _ = trained("iifr_text", {"pairs": "counterfactual", "weight": 0.0})
    assert (logits == also).all()
    assert found.history == plain.history
    _, other, _ = trained("iifr_text", COUNTERFACTUAL)
    assert (other != logits).any()


def test_whoever_has_no_twin_does_not_change_a_training():
    some, x, _ = made()
    none = Pairs(swapped=np.zeros(len(some.ids), dtype=bool))
    _, logits, _ = trained("erm", pairs=None)
    _, also, _ = run(some, "iifr_text", options=COUNTERFACTUAL, x=x, pairs=none)
    assert (logits == also).all()


@pytest.mark.parametrize("options", [COUNTERFACTUAL, {"pairs": "graph", "weight": 5.0}])
def test_parts_of_a_batch_give_the_same(options):
    how = {"learning_rate": 0.02, "batch": 8, "epochs": 3, "patience": 9}
    given = {"dropout": 0.0, "dtype": torch.float64}
    whole, logits, _ = trained("iifr_text", options, settings=Settings(**how), **given)
    settings = Settings(**how, accumulate=3)
    parts, also, _ = trained("iifr_text", options, settings=settings, **given)
    np.testing.assert_allclose(logits, also, atol=1e-10)
    for one, other in zip(whole.history, parts.history, strict=True):
        np.testing.assert_allclose(one["losses"], other["losses"], atol=1e-10)


def test_the_first_step_is_what_autograd_says():
    some, x, pairs = made()
    x = x.double()
    everyone = np.arange(len(some.ids))
    options = {"pairs": "counterfactual", "weight": 2.0, "epsilon": 0.8}
    how = Settings(learning_rate=0.01, batch=len(some.train), epochs=1, patience=1, clip=0.0)
    given = {"settings": how, "dropout": 0.0, "dtype": torch.float64, "x": x}
    found, _, _ = run(some, "iifr_text", options=options, pairs=pairs, **given)
    _, _, model = run(
        some, "erm", **{**given, "settings": Settings(learning_rate=1e-300, batch=99, epochs=1)}
    )
    with torch.no_grad():
        logits, swapped = model(x[: len(everyone)])[0], model(x[len(everyone) :])[0]
    rows = some.train
    label_loss = -logits.log_softmax(1)[rows, some.labels[rows]].mean()
    p, q = (one.softmax(1)[rows[pairs.swapped[rows]]] for one in (logits, swapped))
    middle = (p + q) / 2
    js = ((p * (p / middle).log()).sum(1) + (q * (q / middle).log()).sum(1)) / 2
    expected = (label_loss + 2 * js.mean()).item()
    assert found.history[0]["losses"] == [pytest.approx(expected, abs=1e-12)]


def resumable(options, pairs=None):
    """A training by the folder of its checkpoints: history, and bytes of the logits."""

    def train(folder):
        given = {"folder": folder} | ({"pairs": pairs} if pairs else {})
        found, logits, _ = trained("iifr_text", options, **given)
        return found, logits.tobytes()

    return train


@pytest.mark.parametrize("options", [COUNTERFACTUAL, {"pairs": "graph", "weight": 5.0}])
def test_a_training_that_died_goes_on_to_the_same_bits(interrupted, options):
    interrupted.goes_on(resumable(options), 7)


def test_a_checkpoint_of_other_pairs_is_refused(interrupted):
    interrupted.refused(resumable(COUNTERFACTUAL), resumable(COUNTERFACTUAL, made(2)[2]))
