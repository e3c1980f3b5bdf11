import json

import numpy as np
import pytest
import torch

from evenhand.errors import InputError
from evenhand.learning import trainer
from evenhand.learning.history import Epochs
from evenhand.learning.objective import load_objective
from evenhand.learning.problem import BROKEN_BATCH, Problem, dev_scores
from evenhand.learning.settings import Settings
from unit.learning import made_training
from unit.learning.made_training import OBJECTIVES, examples, inputs, run


def same(one, other):
    """Whether two runs of `made_training` came to the same bits."""
    return one[0] == other[0] and (one[1] == other[1]).all()


# ---------------------------------------------------------------- what it learns


@pytest.mark.parametrize("task", ["multi_class", "multi_label"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns(objective, task):
    settings = Settings(learning_rate=0.05, batch=8, epochs=12, patience=12)
    options = {"iifr_text": {"weight": 1.0}, "adversarial": {"strength": 0.5}}.get(objective)
    some, module = examples(task), load_objective(objective)
    trained, logits, model = run(some, objective, settings=settings, options=options)
    assert np.isfinite(logits).all()
    assert trained.score > 0.4
    if module.last_layer:  # fitted after the training
        read = model(inputs(some))[1].detach().numpy()
        problem = Problem(some, module, module.OPTIONS, settings)
        layer = module.last_layer(read, problem, some.dev)
        np.testing.assert_allclose(model.last_layer.bias.detach(), layer.bias, rtol=1e-3)
    first, *others = trained.history
    assert len(first["losses"]) == 5 or objective == "jtt"  # which repeats cases
    assert trained.steps == 12 * len(first["losses"])
    if objective != "jtt":  # which is not after the mean loss
        assert min(one["dev_loss"] for one in others) < first["dev_loss"]


def test_what_happens_outside_does_not_change_it():
    before = torch.random.get_rng_state()
    one = run(examples())
    assert (torch.random.get_rng_state() == before).all()
    torch.rand(3)
    assert same(one, run(examples()))
    assert not same(one, run(examples(), dropout=0.0))


def test_group_weights_stand_in_the_history():
    trained, *_ = run(examples(), "group_dro")
    for row in trained.history:
        assert np.exp(row["state"]["log_weights"]).sum() == pytest.approx(1)
    weights = [row["state"]["log_weights"] for row in trained.history]
    assert weights[0] != weights[-1]


def test_the_best_epoch_is_what_is_left():
    settings = Settings(learning_rate=0.5, batch=8, epochs=8, patience=8)
    some = examples()
    trained, logits, _ = run(some, settings=settings)
    scores = [row["dev_macro_f1"] for row in trained.history]
    assert trained.epoch == 1 + int(np.argmax(scores))
    assert [row["epoch"] for row in trained.history if row["best"]] == [trained.epoch]
    assert scores[-1] != max(scores)  # else the test would show nothing
    assert dev_scores(logits[some.dev], some)["dev_macro_f1"] == trained.score == max(scores)


def test_it_stops_when_nothing_gets_better():
    settings = Settings(learning_rate=1.0, batch=8, epochs=50, patience=3)
    trained, *_ = run(examples(), settings=settings)
    assert len(trained.history) == trained.epoch + 3 < 50


def test_among_equal_scores_the_lower_loss_is_better():
    """So that a classifier which says "none" of all cases at first goes on."""
    epochs = Epochs(9, 9, "macro_f1")
    for score, loss in [(0.1, 0.9), (0.1, 0.7), (0.1, 0.8), (0.2, 5.0)]:
        epochs.add({"dev_macro_f1": score, "dev_loss": loss}, {}, dict)
        assert epochs.best == {1: 1, 2: 2, 3: 2, 4: 4}[len(epochs.history)]


@pytest.mark.parametrize("select", ["macro_f1", "mean_group_f1", "worst_group_f1"])
def test_the_epoch_is_chosen_by_what_was_asked_for(select):
    settings = Settings(learning_rate=0.1, batch=8, epochs=6, patience=6, select=select)
    trained, *_ = run(examples(), "group_dro", settings=settings)
    assert trained.score == max(row[f"dev_{select}"] for row in trained.history)


# ---------------------------------------------------------------- schedule, clipping, parts


def test_the_history_tells_the_rate():
    settings = Settings(learning_rate=0.02, batch=8, epochs=4, patience=9, warmup=0.5)
    trained, *_ = run(examples(), settings=settings)
    assert [row["learning_rate"] for row in trained.history] == pytest.approx(
        [0.01, 0.02, 0.02 * 6 / 10, 0.02 / 10]
    )


@pytest.mark.parametrize("parts", [3, 100])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_batch_in_parts_is_the_whole_batch(objective, parts):
    """For objectives that are no sum over cases too; in float64, without dropout."""
    runs = []
    for accumulate in (1, parts):
        settings = Settings(
            learning_rate=0.02, batch=8, epochs=2, patience=9, accumulate=accumulate
        )
        runs.append(run(examples(), objective, settings=settings, dropout=0.0, dtype=torch.float64))
    (one, _, first), (other, _, second) = runs
    for row, twin in zip(one.history, other.history, strict=True):
        assert row["losses"] == pytest.approx(twin["losses"], rel=1e-12, abs=1e-12)
    for name, value in first.state_dict().items():
        torch.testing.assert_close(value, second.state_dict()[name], rtol=1e-9, atol=1e-12)


def test_parts_have_the_same_dropout_in_both_passes():
    """The gradient of a part belongs to the logits that the loss was computed from."""
    some, x = examples(), inputs(examples())
    settings = Settings(batch=8, accumulate=4)
    erm = load_objective("erm")
    model = made_training.Network(0.5)
    problem = Problem(some, erm, erm.OPTIONS, settings)
    one = trainer.Training(model, lambda rows: x[rows], problem, 1, 5, "cpu", None)
    model.train()
    rows, before = some.train[:8], torch.random.get_rng_state()
    one._backward(rows)
    in_parts = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    torch.random.set_rng_state(before)
    logits = torch.cat([model(x[part])[0] for part in np.array_split(rows, 4)])
    torch.nn.functional.cross_entropy(logits, torch.as_tensor(some.labels[rows])).backward()
    for parameter, gradient in zip(model.parameters(), in_parts, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_bfloat16_is_near_single_precision():
    one = run(examples(), settings=Settings(learning_rate=0.02, batch=8, epochs=2), dropout=0.0)
    settings = Settings(learning_rate=0.02, batch=8, epochs=2, dtype="bf16")
    other = run(examples(), settings=settings, dropout=0.0)
    assert other[1].dtype == np.float32
    assert (one[1] != other[1]).any()
    np.testing.assert_allclose(one[1], other[1], atol=0.05)


def test_matrices_decay_and_biases_do_not():
    settings = Settings(weight_decay=0.1)
    groups = trainer.decayed([made_training.Network(), None], settings.weight_decay)
    assert [(one["weight_decay"], len(one["params"])) for one in groups] == [(0.1, 2), (0.0, 2)]


# ---------------------------------------------------------------- killed and started again


def resumable(objective="erm", some=None, **given):
    """A training by the folder of its checkpoints: history, and bytes of the logits."""

    def train(folder):
        trained, logits, _ = run(some or examples(), objective, folder=folder, **given)
        return trained, logits.tobytes()

    return train


@pytest.mark.parametrize(("at", "objective"), [(1, "erm"), *((7, name) for name in OBJECTIVES)])
def test_it_goes_on_to_the_same_bits(interrupted, objective, at):
    interrupted.goes_on(resumable(objective), at)


def test_the_checkpoint_of_another_training_is_refused(interrupted):
    others = ({"seed": 2}, {"objective": "group_dro"}, {"some": examples(cases=63)})
    interrupted.refused(resumable(), *(resumable(**other) for other in others))


# ---------------------------------------------------------------- numbers that are none


def test_a_loss_that_is_no_number_stops_and_names_the_cases(tmp_path, capsys):
    some = examples()
    x = inputs(some)
    x[some.train[3]] = torch.nan
    with pytest.raises(InputError, match="is not finite") as error:
        run(some, x=x, folder=tmp_path)
    note = json.loads((tmp_path / BROKEN_BATCH).read_text())
    broken = [one["case_id"] for one in note["cases"] if one["loss"] == "nan"]
    assert broken == [some.ids[some.train[3]]]
    assert f"step {note['step'] + 1} " in str(error.value)
    assert str(tmp_path / BROKEN_BATCH) in str(error.value)
    assert broken[0] in capsys.readouterr().err


def test_a_gradient_that_is_no_number_stops_before_it_is_used(monkeypatch):
    plain = load_objective("erm").loss

    def loss(batch, state, options, modules):
        root = (batch.logits.sum() * 0).abs().sqrt()  # 0, with an endless slope
        return plain(batch, state, options, modules)[0] + root, state

    monkeypatch.setattr("evenhand.learning.objectives.erm.loss", loss, raising=False)
    with pytest.raises(InputError, match="the gradient of step 1 is not finite"):
        run(examples())


def test_a_dev_case_that_is_no_number_stops():
    some = examples()
    x = inputs(some)
    x[some.dev[2]] = torch.inf
    x[some.dev[2], 0] = -torch.inf
    with pytest.raises(InputError, match=f"epoch 1 .* case {some.ids[some.dev[2]]}"):
        run(some, x=x)
