import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.learning import trainer
from evenhand.learning.history import HISTORY
from evenhand.learning.packing import Limits, pack
from evenhand.legal.classifier_folder import load_classifier
from evenhand.legal.predictions import read_predictions
from evenhand.legal.tokens import TokenStore
from evenhand.legal.train_classifier import train_classifier
from unit.legal import made_classifiers
from unit.legal.made_classifiers import ATTRIBUTES, cases, make, options, outputs, save_model


@pytest.fixture(scope="module")
def ecthr(tmp_path_factory):
    return make(tmp_path_factory.mktemp("ecthr"))


@pytest.fixture(scope="module")
def scotus(tmp_path_factory):
    return make(tmp_path_factory.mktemp("scotus"), "scotus")


def run(made, folder, **given):
    """The predictions, the rows of the history, and the counts."""
    folder.mkdir(exist_ok=True)
    files = outputs(folder)
    counts = train_classifier(**{**made.inputs(), **files, **options(**given)})
    (found,) = read_predictions(files["out"])
    return found, list(read_rows(files["history"])), counts


def digests(folder):
    """Of all that a training writes."""
    return {name: content_digest(path) for name, path in outputs(folder).items()}


# ---------------------------------------------------------------- what comes out


def test_every_case_with_a_label_is_predicted_in_order(ecthr, tmp_path):
    found, history, counts = run(ecthr, tmp_path)
    labelled = [f"ecthr-{number}" for number in range(1, 49) if number != 6]
    assert found.case_ids.tolist() == labelled
    assert found.splits[:4].tolist() == ["train", "train", "dev", "test"]
    assert found.logits.shape == (47, 10)
    assert found.training == ("tiny", "erm", "none", 1)
    assert pq.read_schema(tmp_path / "history").equals(HISTORY)
    assert [row["epoch"] for row in history] == [1, 2, 3]
    assert {len(row["losses"]) for row in history} == {4}
    assert (counts["cases"], counts["left_out"]) == (47, 1)
    assert counts["splits"] == {"train": 23, "dev": 12, "test": 12}
    assert counts["best_epochs"] == [row["epoch"] for row in history if row["best"]]


@pytest.mark.parametrize("kind", ["ecthr", "scotus"])
def test_it_learns(ecthr, scotus, tmp_path, kind):
    made = {"ecthr": ecthr, "scotus": scotus}[kind]
    found, history, _ = run(made, tmp_path, epochs=60, patience=60, lr=0.005, dropout=0.0)
    assert min(row["dev_loss"] for row in history) < 0.5 * history[0]["dev_loss"]
    test = found.splits == "test"
    assert np.ptp(found.logits[test].argmax(axis=1)) > 0


def test_the_same_training_gives_the_same_bytes(ecthr, tmp_path):
    for name in ("a", "b"):
        run(ecthr, tmp_path / name)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    one, other = run(ecthr, tmp_path / "a")[0], run(ecthr, tmp_path / "b", seed=2)[0]
    assert (one.logits != other.logits).any()


@pytest.mark.parametrize(
    ("objective", "select"), [("group_dro", "macro_f1"), ("erm", "worst_group_f1")]
)
def test_groups_take_part(scotus, tmp_path, objective, select):
    attribute = ATTRIBUTES["scotus"]
    found, history, _ = run(
        scotus, tmp_path, objective=objective, select=select, attribute=attribute
    )
    assert found.attribute == attribute
    assert all(len(row["dev_group_f1"]) == 2 for row in history)


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "compat"},
        {"dtype": "bf16"},
        {"accumulate": 3},
        {"segments": 1, "paragraph_tokens": 8},
        {"objective": "adversarial", "attribute": "applicant_gender"},
        {"objective": "irm", "attribute": "applicant_gender", "objective_options": ["compat=true"]},
    ],
)
def test_other_ways(ecthr, tmp_path, given):
    usual, _, _ = run(ecthr, tmp_path / "a")
    found, _, _ = run(ecthr, tmp_path / "b", **given)
    assert (found.logits != usual.logits).any()


def test_the_folder_is_the_classifier(ecthr, tmp_path):
    found, _, _ = run(ecthr, tmp_path)
    model, description = load_classifier(tmp_path / "weights")
    assert description["labels"][0] == "2"
    assert (description["objective"], description["segments"]) == ("erm", 32)
    store, limits = TokenStore(ecthr.tokens), Limits(32, 128)
    documents = []
    for row in (0, 1, 7):
        ids, lengths = store.case(row)
        documents.append(np.split(ids, np.cumsum(lengths)[:-1]) if len(lengths) else [])
    with torch.inference_mode():
        logits, _ = model(pack(documents, limits, pad_id=0, after=[3]))
    rows = [found.case_ids.tolist().index(f"ecthr-{row + 1}") for row in (0, 1, 7)]
    np.testing.assert_allclose(logits.numpy(), found.logits[rows], atol=1e-5)
    for file in (tmp_path / "weights").iterdir():
        assert str(ecthr.folder).encode() not in file.read_bytes()


def test_weights_need_not_be_kept(ecthr, tmp_path):
    run(ecthr, tmp_path, keep_weights=False)
    names = {file.name for file in (tmp_path / "weights").iterdir()}
    assert names == {"classifier.json", "config.json"}
    with pytest.raises(InputError, match=r"lacks model\.safetensors; train it"):
        load_classifier(tmp_path / "weights")


# ---------------------------------------------------------------- killed, broken, full


def test_killed_for_real_it_comes_to_the_same_bytes(ecthr, tmp_path):
    """SIGKILL after a random number of checkpoints, twice; then it is let through."""
    generator = np.random.default_rng()
    whole = tmp_path / "whole"
    run(ecthr, whole, objective="group_dro", attribute="applicant_gender")
    state = tmp_path / "state"
    command = [sys.executable, made_classifiers.__file__, str(ecthr.folder)]
    paths = [str(Path(made_classifiers.__file__).parents[2]), *sys.path]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "EVENHAND_STATE": str(state),
    }
    environment.pop("EVENHAND_CACHE", None)
    codes = []
    for _ in range(2):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        wanted, seen = int(generator.integers(1, 4)), set()
        while process.poll() is None and len(seen) <= wanted:
            time.sleep(0.005)
            seen |= {file.stat().st_mtime_ns for file in state.glob("scratch/*/checkpoint.pt")}
        process.send_signal(signal.SIGKILL)
        codes.append(process.wait())
    subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
    assert -signal.SIGKILL in codes
    assert digests(ecthr.folder / "killed") == digests(whole)


def test_a_failed_training_keeps_its_checkpoint_and_the_next_goes_on(
    ecthr, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("evenhand.io.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("evenhand.io.checkpoint.SHARE", 0)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    run(ecthr, tmp_path / "whole")
    arguments = {**ecthr.inputs(), **outputs(tmp_path / "again"), **options()}
    step, count = trainer._Run._one_step, iter(range(100))

    def poisoned(self, places):
        if next(count) == 6:
            with torch.no_grad():
                self.model.top.classifier.bias.fill_(torch.nan)
        step(self, places)

    with monkeypatch.context() as patch:
        patch.setattr(trainer._Run, "_one_step", poisoned)
        with pytest.raises(InputError, match="the loss of step 7 is no finite number"):
            stage.execute(train_classifier, arguments)
    assert not any(path.exists() for path in outputs(tmp_path / "again").values())
    (note,) = (tmp_path / "state").glob("scratch/*/broken_batch.json")
    assert '"ecthr-' in note.read_text()
    capsys.readouterr()
    stage.execute(train_classifier, arguments)
    assert "goes on after step 6" in capsys.readouterr().err
    assert digests(tmp_path / "again") == digests(tmp_path / "whole")


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"objective": "group_dro"}, "needs groups; name an attribute"),
        ({"select": "mean_group_f1"}, "needs groups; name an attribute"),
        ({"attribute": "applicant_gender"}, "does not depend on applicant_gender"),
        ({"objective": "v_rex", "attribute": "court"}, "'court' is no attribute with groups"),
        (
            {"objective": "v_rex", "attribute": "applicant_birth_year"},
            "no attribute with groups of ECtHR; take one of defendant_state",
        ),
        ({"objective": "nothing"}, "no objective 'nothing'"),
        ({"objective_options": ["speed=3"]}, "no option 'speed'"),
        ({"objective": "v_rex", "attribute": "defendant_state"}, "no known group"),
        ({"segments": 65}, "65 paragraphs of a case are to be read, and 64 are stored"),
        ({"paragraph_tokens": 129}, "129 tokens of a paragraph are to be read, and 128"),
        ({"mode": "odd"}, "the mode 'odd' is unknown"),
        ({"hub_name": "x/y"}, "give one of them, not both"),
        ({"device": "tpu"}, "device 'tpu' is unknown"),
        ({"batch": 0}, "batch is 0"),
    ],
)
def test_what_makes_no_sense(ecthr, tmp_path, given, problem):
    with pytest.raises(InputError, match=problem):
        run(ecthr, tmp_path, **given)


def test_an_encoder_without_a_tokenizer(ecthr, tmp_path):
    model = save_model(tmp_path / "bare")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (model / name).unlink()
    with pytest.raises(InputError, match="lacks a tokenizer"):
        run(ecthr._replace(model=model), tmp_path)


def test_an_encoder_with_another_tokenizer(ecthr, tmp_path):
    model = save_model(tmp_path / "other")
    text = (model / "tokenizer.json").read_text()
    (model / "tokenizer.json").write_text(text.replace("applicant", "respondent"))
    with pytest.raises(InputError, match="another tokenizer than words"):
        run(ecthr._replace(model=model), tmp_path)


def test_an_encoder_that_reads_too_little(ecthr, tmp_path):
    with pytest.raises(InputError, match="the encoder reads 64 tokens, and paragraphs may have"):
        run(ecthr._replace(model=save_model(tmp_path / "short", longest=64)), tmp_path)


def test_tokens_of_other_cases(ecthr, scotus, tmp_path):
    with pytest.raises(InputError, match="other cases than the data set"):
        run(ecthr._replace(tokens=scotus.tokens), tmp_path)


def test_labels_that_cannot_be(ecthr, tmp_path):
    table = pq.read_table(ecthr.data)
    place = table.schema.get_field_index("labels")
    form = table.schema.field(place).type
    for labels, problem in (
        ([10], "a label that is none of the 10"),
        ([3, 3], "the case ecthr-2 names a label twice"),
        ([*range(10), 0], "the case ecthr-2 names a label twice"),
    ):
        column = table["labels"].to_pylist()
        column[1] = labels
        wrong = table.set_column(place, table.schema.field(place), pa.array(column, form))
        pq.write_table(wrong, tmp_path / "d.parquet")
        with pytest.raises(InputError, match=problem):
            run(ecthr._replace(data=tmp_path / "d.parquet"), tmp_path)


def test_a_split_without_cases(tmp_path):
    rows = [one | {"split": "train"} for one in cases("ecthr", 12)]
    with pytest.raises(InputError, match="no case with a label in the split dev"):
        run(make(tmp_path / "made", rows=rows), tmp_path)


@pytest.mark.filterwarnings("ignore")  # of packages that tensorboard brings
def test_tensorboard_reads_the_losses_of_the_history(ecthr, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    _, history, _ = run(ecthr, tmp_path / "made", tensorboard=tmp_path / "board")
    plain, _, _ = run(ecthr, tmp_path / "plain")
    (folder,) = {path.parent for path in (tmp_path / "board").rglob("events.*")}
    events = EventAccumulator(str(folder))
    events.Reload()
    drawn = [one.value for one in events.Scalars("loss")]
    assert drawn == pytest.approx([loss for row in history for loss in row["losses"]])
    scores = [one.value for one in events.Scalars("dev_macro_f1")]
    assert scores == pytest.approx([row["dev_macro_f1"] for row in history])
    made, _ = run(ecthr, tmp_path / "made", tensorboard=tmp_path / "board")[:2]
    assert np.array_equal(made.logits, plain.logits)


def test_curves_where_tensorboard_is_missing(ecthr, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="not installed"):
        run(ecthr, tmp_path, tensorboard=tmp_path / "board")
