"""The contract of `train_classifier` for each family, and what each family does besides."""

import functools
import json
import multiprocessing
import signal
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.learning import linear, trainer
from evenhand.learning.hierarchical import HierarchicalClassifier
from evenhand.learning.history import HISTORY
from evenhand.learning.packing import Limits, pack
from evenhand.legal.predictions import read_predictions
from evenhand.legal.stores import TokenStore
from evenhand.legal.train_classifier import train_classifier
from unit.cases import load_cases
from unit.legal.made_classifiers import (
    ATTRIBUTES,
    FAMILIES,
    arguments,
    cases,
    make,
    outputs,
    save_model,
)

CASES = load_cases(__file__)


@pytest.fixture(scope="module")
def ecthr(tmp_path_factory):
    return make(tmp_path_factory.mktemp("ecthr"))


@pytest.fixture(scope="module")
def scotus(tmp_path_factory):
    return make(tmp_path_factory.mktemp("scotus"), "scotus")


@pytest.fixture(scope="module")
def usual(ecthr, tmp_path_factory):
    """The predictions of a family with its usual settings."""

    @functools.cache
    def predictions(family, **given):
        return run(ecthr, family, tmp_path_factory.mktemp(family), **given)[0]

    return predictions


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


def run(made, family, folder, **given):
    """The predictions of the first seed, the rows of the history, and the counts."""
    counts = train_classifier(**arguments(made, family, folder, **given))
    return read_predictions(folder / "out")[0], list(read_rows(folder / "history")), counts


def digests(folder, family):
    """Of all that a training writes."""
    return {name: content_digest(path) for name, path in outputs(folder, family).items()}


def learning(pairs, weight=10.0):
    """An objective that compares pairs."""
    return {"objective": "iifr_text", "objective_options": [f"pairs={pairs}", f"weight={weight}"]}


# ---------------------------------------------------------------- predictions


def test_every_case_with_a_label_is_predicted_in_order(ecthr, tmp_path, family, capsys):
    found, history, counts = run(ecthr, family, tmp_path)
    assert found.case_ids.tolist() == [f"ecthr-{n}" for n in range(1, 49) if n != 6]
    assert found.splits[:4].tolist() == ["train", "train", "dev", "test"]
    assert found.logits.shape == (47, 10) and np.isfinite(found.logits).all()
    assert found.training == ("tiny", "erm", "none", 1)
    assert found.counterfactual_logits is None
    assert pq.read_schema(tmp_path / "history").equals(HISTORY)
    assert [(row["epoch"], len(row["losses"])) for row in history] == [(1, 4), (2, 4), (3, 4)]
    assert (counts["cases"], counts["left_out"], counts["steps"]) == (47, 1, [12])
    assert counts["splits"] == {"train": 23, "dev": 12, "test": 12}
    (best,) = (row for row in history if row["best"])
    assert counts["best_epochs"] == [best["epoch"]]
    assert counts["dev_scores"] == [pytest.approx(best["dev_macro_f1"], abs=1e-6)]
    assert counts["remarks"][0].startswith("no case of the split train has")
    assert f"note: {counts['remarks'][0]}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("family", "kind"),
    [*((one, "ecthr") for one in FAMILIES), ("linear", "scotus"), ("frozen", "scotus")],
    indirect=["family"],
)
def test_it_learns(ecthr, scotus, tmp_path, family, kind):
    made = {"ecthr": ecthr, "scotus": scotus}[kind]
    given = (
        {"learning_rate": 0.1} if family == "linear" else {"dropout": 0.0, "learning_rate": 0.005}
    )
    found, history, _ = run(made, family, tmp_path, epochs=40, patience=40, **given)
    enough = 0.9 if family == "linear" else 0.6  # its first epoch learns most
    assert min(row["dev_loss"] for row in history) < enough * history[0]["dev_loss"]
    assert np.ptp(found.logits[found.splits == "test"].argmax(axis=1)) > 0


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_same_training_gives_the_same_bytes(ecthr, tmp_path, family, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    on = {} if device == "cpu" else {"device": device}
    found = [run(ecthr, family, tmp_path / name, **on)[0] for name in ("a", "b")]
    assert digests(tmp_path / "a", family) == digests(tmp_path / "b", family)
    other, _, _ = run(ecthr, family, tmp_path / "b", seeds=[2], **on)
    assert (found[0].logits != other.logits).any()


@pytest.mark.parametrize("family", ["linear", "frozen"])
def test_several_seeds(ecthr, tmp_path, family):
    _, history, counts = run(ecthr, family, tmp_path, seeds=[1, 2])
    first, second = read_predictions(tmp_path / "out")
    assert (first.seed, second.seed, len(counts["steps"])) == (1, 2, 2)
    rows = [(row["seed"], row["epoch"]) for row in history]
    assert rows == [(seed, epoch) for seed in (1, 2) for epoch in (1, 2, 3)]
    alone, _, _ = run(ecthr, family, tmp_path, seeds=[2])
    np.testing.assert_allclose(alone.logits, second.logits, atol=0 if family == "frozen" else 1e-5)


@pytest.mark.parametrize(
    ("objective", "select"), [("group_dro", "macro_f1"), ("erm", "worst_group_f1")]
)
def test_groups_take_part(scotus, tmp_path, family, objective, select):
    attribute = ATTRIBUTES["scotus"]
    given = {"objective": objective, "select": select, "attribute": attribute}
    found, history, _ = run(scotus, family, tmp_path, **given)
    assert found.attribute == attribute
    assert all(len(row["dev_group_f1"]) == 2 for row in history)


GENDER = {"attribute": "applicant_gender"}


@pytest.mark.parametrize(("given", "families"), CASES["settings_and_objectives_take_part"])
def test_settings_and_objectives_take_part(ecthr, usual, tmp_path, given, families):
    for family in families:
        found, _, _ = run(ecthr, family, tmp_path / family, **given, epochs=1)
        assert (found.logits != usual(family, epochs=1).logits).any()


# ---------------------------------------------------------------- counterfactuals and neighbours


def changed(made, found, most=None):
    """Which of the predicted cases have the word that is swapped, in so many paragraphs."""
    text = dict(zip(*pq.read_table(made.data, columns=["case_id", "text"]), strict=True))
    words = {case.as_py(): " ".join((text.as_py() or [])[:most]) for case, text in text.items()}
    return np.array(["facts" in words[case] for case in found.case_ids.tolist()])


def test_counterfactuals_are_predicted_whatever_the_objective(ecthr, usual, tmp_path, family):
    found, _, counts = run(ecthr, family, tmp_path / "pairs", pairs=True)
    assert (found.logits == usual(family).logits).all()
    has = np.isfinite(found.counterfactual_logits).all(axis=1)
    assert (has == changed(ecthr, found)).all()
    assert 0 < has.sum() < len(has)
    assert (found.counterfactual_logits[has] != found.logits[has]).any()
    assert counts["counterfactuals"] == {
        split: int(has[found.splits == split].sum()) for split in ("train", "dev", "test")
    }
    none = learning("counterfactual", 0.0)  # pairs of no weight
    same, _, _ = run(ecthr, family, tmp_path / "none", pairs=True, **none)
    assert (same.logits == found.logits).all()
    np.testing.assert_array_equal(same.counterfactual_logits, found.counterfactual_logits)


def test_logits_of_counterfactuals_come_nearer(ecthr, tmp_path, family):
    gaps, given = [], {"epochs": 10, "patience": 10, "pairs": True}
    given |= {} if family == "linear" else {"dropout": 0.0}
    for weight in (0.0, 300.0):
        settings = given | learning("counterfactual", weight)
        found, _, _ = run(ecthr, family, tmp_path / str(weight), **settings)
        gaps.append(np.nanmean(np.abs(found.logits - found.counterfactual_logits)))
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("pairs", ["counterfactual", "graph"])
def test_pairs_take_part_or_are_missed(ecthr, usual, tmp_path, family, pairs):
    found, _, _ = run(ecthr, family, tmp_path / "one", pairs=True, **learning(pairs))
    assert (found.logits != usual(family).logits).any()
    with pytest.raises(InputError, match=f"pairs={pairs} needs the cases' "):
        run(ecthr, family, tmp_path, **learning(pairs))


def test_what_is_not_read_makes_no_counterfactual(ecthr, tmp_path):
    found, _, _ = run(ecthr, "hierarchical", tmp_path, pairs=True, segments=1)
    has = np.isfinite(found.counterfactual_logits).all(axis=1)
    assert (has == changed(ecthr, found, 1)).all()
    short = {"segments": 1, "paragraph_tokens": 2}  # of two tokens none is a word
    found, _, _ = run(ecthr, "hierarchical", tmp_path, pairs=True, **short)
    assert found.counterfactual_logits is None


# ---------------------------------------------------------------- the folder of weights


def test_the_folder_is_the_classifier(ecthr, tmp_path):
    found, _, _ = run(ecthr, "hierarchical", tmp_path)
    folder = tmp_path / "weights"
    description = json.loads((folder / "classifier.json").read_text(encoding="utf-8"))
    assert description["labels"][0] == "2"
    assert (description["objective"], description["segments"]) == ("erm", 32)
    encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder), add_pooling_layer=False)
    how = {name: description[name] for name in ("classes", "segments", "mode", "dropout")}
    model = HierarchicalClassifier(encoder, **how).eval()
    model.load_state_dict(load_file(folder / "model.safetensors"))
    store, rows, limits = TokenStore(ecthr.tokens), (0, 1, 7), Limits(32, 128)
    documents = [store.paragraphs(row, limits, [3]) for row in rows]
    with torch.inference_mode():
        logits, _ = model(pack(documents, limits, pad_id=0))
    places = [found.case_ids.tolist().index(f"ecthr-{row + 1}") for row in rows]
    np.testing.assert_allclose(logits.numpy(), found.logits[places], atol=1e-5)
    for file in folder.iterdir():
        assert str(ecthr.folder).encode() not in file.read_bytes()


def test_weights_need_not_be_kept(ecthr, tmp_path):
    run(ecthr, "hierarchical", tmp_path, keep_weights=False)
    names = {file.name for file in (tmp_path / "weights").iterdir()}
    assert names == {"classifier.json", "config.json"}


def test_several_seeds_of_an_encoder_start_from_the_same_weights(ecthr, tmp_path):
    given = arguments(ecthr, "hierarchical", tmp_path, seeds=[1, 2])
    train_classifier(**given | {"weights": None})
    _, other = read_predictions(tmp_path / "out")
    alone, _, _ = run(ecthr, "hierarchical", tmp_path / "alone", seeds=[2])
    assert (other.logits == alone.logits).all()
    linear_with_weights = arguments(ecthr, "linear", tmp_path) | {"weights": tmp_path / "w"}
    for refused in (given, linear_with_weights):
        with pytest.raises(InputError, match="weights of one seed of a hierarchical classifier"):
            train_classifier(**refused)


# ---------------------------------------------------------------- killed, broken


def interrupted(monkeypatch, tmp_path, family, arguments, at, error):
    """Run the stage until `error` at a step, then again; the steps, the error, broken batches."""
    monkeypatch.setattr("evenhand.io.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("evenhand.io.checkpoint.SHARE", 0)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    owner, name = (
        (linear.Stack, "_update") if family == "linear" else (trainer.Training, "_one_step")
    )
    step, seen = getattr(owner, name), []

    def dies(self, *given):
        seen.append(self.step)
        if len(seen) == at:
            error(self)
        return step(self, *given)

    monkeypatch.setattr(owner, name, dies)
    with pytest.raises((KeyboardInterrupt, InputError)) as caught:
        stage.execute(train_classifier, arguments)
    assert not any(path.exists() for path in outputs(tmp_path / "again", family).values())
    notes = [path.read_text() for path in (tmp_path / "state").glob("scratch/**/broken_batch.json")]
    stage.execute(train_classifier, arguments)
    return seen, caught.value, notes


def kill(_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("given", [{"objective": "group_dro"}, learning("counterfactual")], ids=str)
def test_a_training_that_died_continues_to_the_same_bytes(
    ecthr, tmp_path, monkeypatch, family, given
):
    if given["objective"] == "group_dro":  # with -inf in its state
        given = given | {"attribute": "applicant_gender"}
    given = given | {"pairs": True, "seeds": [1] if family == "hierarchical" else [1, 2]}
    run(ecthr, family, tmp_path / "whole", **given)
    died = arguments(ecthr, family, tmp_path / "again", **given)
    at = {"linear": 11, "frozen": 19, "hierarchical": 8}[family]
    seen, *_ = interrupted(monkeypatch, tmp_path, family, died, at, kill)
    # a linear training continues after an epoch; a seed that is done is not trained again
    assert seen[at] == {"linear": 8, "frozen": 6, "hierarchical": 7}[family]
    assert seen[at:] == list(range(seen[at], 12))
    assert digests(tmp_path / "again", family) == digests(tmp_path / "whole", family)


def test_a_failed_training_names_the_batch_and_the_next_continues(
    ecthr, tmp_path, monkeypatch, family, capsys
):
    def poison(training):
        if family == "linear":
            training.parameters["weight"].fill_(torch.nan)
        else:
            with torch.no_grad():
                next(training.model.parameters()).fill_(torch.nan)

    run(ecthr, family, tmp_path / "whole")
    failing = arguments(ecthr, family, tmp_path / "again")
    seen, error, (note,) = interrupted(monkeypatch, tmp_path, family, failing, 7, poison)
    assert "of step 7 is not finite" in str(error)
    assert '"ecthr-' in note
    assert f"continues after step {seen[7]}" in capsys.readouterr().err
    assert digests(tmp_path / "again", family) == digests(tmp_path / "whole", family)


def train(arguments):
    """Run the stage in a forked process, in which no thread of OpenMP is left."""
    torch.set_num_threads(1)
    stage.execute(train_classifier, arguments)


@pytest.mark.skipif(
    torch.cuda.is_available(), reason="where a GPU is, a fork cannot train after its parent has"
)
def test_a_killed_training_continues_to_the_same_bytes(ecthr, tmp_path, monkeypatch):
    """SIGKILL of the process after its first checkpoint; then the same training again."""
    given = {"objective": "group_dro", "attribute": "applicant_gender"}
    run(ecthr, "hierarchical", tmp_path / "whole", **given)
    monkeypatch.setattr("evenhand.io.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("evenhand.io.checkpoint.SHARE", 0)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    again = arguments(ecthr, "hierarchical", tmp_path / "again", **given)
    process = multiprocessing.get_context("fork").Process(target=train, args=(again,))
    process.start()
    while process.is_alive() and not list(tmp_path.glob("state/scratch/**/checkpoint.pt")):
        time.sleep(0.002)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not (tmp_path / "again" / "out").exists()
    stage.execute(train_classifier, again)
    assert digests(tmp_path / "again", "hierarchical") == digests(
        tmp_path / "whole", "hierarchical"
    )


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize(("given", "problem"), CASES["what_makes_no_sense"])
def test_what_makes_no_sense(ecthr, tmp_path, given, problem):
    with pytest.raises(InputError, match=problem):
        run(ecthr, "linear", tmp_path, **given)


@pytest.mark.parametrize(
    ("family", "given", "problem"),
    [
        ("linear", {"dropout": 0.5}, "the classifier tiny has no setting 'dropout'"),
        ("frozen", {"mode": "odd"}, "the mode 'odd' is unknown"),
        ("hierarchical", {"segments": 65}, "65 paragraphs of a case are to be read, and 64 are"),
        ("hierarchical", {"paragraph_tokens": 129}, "129 tokens of a paragraph are to be read"),
        ("hierarchical", {"hub_name": "x/y"}, "give one of them, not both"),
    ],
)
def test_settings_of_a_family_that_make_no_sense(ecthr, tmp_path, family, given, problem):
    with pytest.raises(InputError, match=problem):
        run(ecthr, family, tmp_path, **given)


def test_an_encoder_that_does_not_fit(ecthr, tmp_path):
    bare, other = save_model(tmp_path / "bare"), save_model(tmp_path / "other")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bare / name).unlink()
    text = (other / "tokenizer.json").read_text()
    (other / "tokenizer.json").write_text(text.replace("applicant", "respondent"))
    short = save_model(tmp_path / "short", longest=64)
    for model, problem in (
        (bare, "lacks a tokenizer"),
        (other, "another tokenizer than words"),
        (short, "the encoder reads 64 tokens, and paragraphs may have"),
    ):
        with pytest.raises(InputError, match=problem):
            run(ecthr._replace(model=model), "hierarchical", tmp_path)


def test_features_of_other_cases(ecthr, scotus, tmp_path, family):
    with pytest.raises(InputError, match="other cases than the data set"):
        run(ecthr, family, tmp_path, features=scotus.inputs(family)["features"])


@pytest.mark.parametrize(
    ("change", "given", "problem"),
    [
        ({"split": "train"}, {}, "no case with a label in the split dev"),
        ({"labels": ["2"]}, {}, "all cases of the split train have the same labels"),
        ({"applicant_gender": "male"}, {"objective": "v_rex", **GENDER}, "only the group 'male'"),
    ],
    ids=str,
)
def test_cases_that_cannot_be_trained_on(tmp_path, change, given, problem):
    made = make(tmp_path / "made", rows=[case | change for case in cases("ecthr", 12)])
    with pytest.raises(InputError, match=problem):
        run(made, "linear", tmp_path, **given)
