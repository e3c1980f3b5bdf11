import json

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoModel

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.learning import trainer
from evenhand.legal import training
from evenhand.legal.embed_paragraphs import embed_paragraphs
from evenhand.legal.predictions import read_predictions
from evenhand.legal.tokens import TokenStore
from evenhand.legal.train_top import train_top
from evenhand.legal.vectors import VectorStore, read_vectors_meta
from unit.legal.made_classifiers import make, options, save_model


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def embedded(made, tmp_path_factory):
    """The vectors and their description."""
    folder = tmp_path_factory.mktemp("embedded")
    embed(made, folder)
    return folder / "v.arrow", folder / "v.json"


def embed(made, folder, **given):
    """The store and the counts."""
    inputs = {"tokens": made.tokens, "tokens_meta": made.meta, "model": made.model}
    files = {"out": folder / "v.arrow", "meta": folder / "v.json"}
    counts = embed_paragraphs(**{**inputs, **files, **given})
    return VectorStore(folder / "v.arrow"), counts


def inputs(made, embedded, folder, **given):
    """The arguments of `train_top`."""
    files = dict(zip(("embeddings", "embeddings_meta"), embedded, strict=True))
    files |= {"data": made.data, "out": folder / "out", "history": folder / "history"}
    usual = options(kind=made.kind, seeds=[1, 2])
    return {**files, **usual, **given}


# ---------------------------------------------------------------- vectors


def test_vectors_are_what_the_encoder_says_of_each_paragraph(made, tmp_path):
    store, counts = embed(made, tmp_path, stored="fp32")
    tokens, model = TokenStore(made.tokens), AutoModel.from_pretrained(made.model).eval()
    assert store.case_ids == tokens.case_ids
    paragraphs = 0
    for row in range(len(tokens)):
        ids, lengths = tokens.case(row)
        paragraphs += len(lengths)
        found = store.case(row)
        assert found.shape == (len(lengths), 16)
        for vector, one in zip(found, np.split(ids, np.cumsum(lengths))[:-1], strict=True):
            with torch.inference_mode():
                wanted = model(torch.tensor(one[None].astype(np.int64))).last_hidden_state[0, 0]
            np.testing.assert_allclose(vector, wanted.numpy(), atol=1e-5)
    assert counts == {"cases": 48, "paragraphs": paragraphs, "empty": 1}
    meta = read_vectors_meta(tmp_path / "v.json")
    assert (meta["encoder"]["hidden_size"], len(meta["padding"])) == (16, 16)


def test_half_the_bytes_are_as_good(made, tmp_path):
    for name in ("fp16", "fp32"):
        (tmp_path / name).mkdir()
    half, whole = (embed(made, tmp_path / name, stored=name)[0] for name in ("fp16", "fp32"))
    assert (half.case(3).dtype, whole.case(3).dtype) == (np.float16, np.float32)
    np.testing.assert_allclose(half.case(3), whole.case(3), rtol=1e-3, atol=1e-3)


def test_limits(made, tmp_path):
    store, counts = embed(made, tmp_path, segments=1)
    assert (len(store.case(2)), len(store.case(7)), counts["paragraphs"]) == (1, 0, 47)
    with pytest.raises(InputError, match="65 paragraphs"):
        embed(made, tmp_path, segments=65)


def test_a_vector_too_large_for_half_the_bytes(made, tmp_path):
    model = save_model(tmp_path / "large")
    encoder = AutoModel.from_pretrained(model, add_pooling_layer=False)
    with torch.no_grad():
        encoder.encoder.layer[-1].output.LayerNorm.weight.fill_(1e6)
    encoder.save_pretrained(model)
    large = made._replace(model=model)
    with pytest.raises(InputError, match=r"the case ecthr-1 has a vector .* store fp32"):
        embed(large, tmp_path)
    embed(large, tmp_path, stored="fp32")


def middle_lost(text: bytes) -> bytes:
    """With zeros where the numbers stand: still a file that Arrow reads."""
    half = len(text) // 2
    return text[: half - 20] + bytes(40) + text[half + 20 :]


@pytest.mark.parametrize("damage", [lambda _: b"half of it", middle_lost], ids=["cut", "zeros"])
def test_what_is_embedded_is_not_embedded_again(made, tmp_path, monkeypatch, capsys, damage):
    monkeypatch.setattr("evenhand.legal.embed_paragraphs.CASES", 10)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    (tmp_path / "whole").mkdir()
    embed(made, tmp_path / "whole")
    from evenhand.learning import hierarchical

    plain, calls = hierarchical.encode_paragraphs, []

    def dies(encoder, packed):
        calls.append(len(packed.counts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(encoder, packed)

    arguments = {"tokens": made.tokens, "tokens_meta": made.meta, "model": made.model,
                 "out": tmp_path / "v.arrow", "meta": tmp_path / "v.json"}  # fmt: skip
    monkeypatch.setattr(hierarchical, "encode_paragraphs", dies)
    with pytest.raises(KeyboardInterrupt):
        stage.execute(embed_paragraphs, arguments)
    _, broken = sorted((tmp_path / "state").rglob("*.zip"))
    broken.write_bytes(damage(broken.read_bytes()))
    stage.execute(embed_paragraphs, arguments)
    assert calls == [10, 10, 10, 10, 10, 10, 8]
    assert "is broken" in capsys.readouterr().err
    for name in ("v.arrow", "v.json"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_other_files_are_no_vectors(made, embedded, tmp_path):
    with pytest.raises(InputError, match="other columns"):
        VectorStore(made.tokens)
    with pytest.raises(InputError, match="no Arrow file"):
        VectorStore(made.data)
    with pytest.raises(InputError, match="lacks encoder"):
        read_vectors_meta(made.meta)
    (tmp_path / "m.json").write_text("[]")
    with pytest.raises(InputError, match="is not a description"):
        read_vectors_meta(tmp_path / "m.json")


# ---------------------------------------------------------------- trainings


def test_seeds_one_after_the_other(made, embedded, tmp_path):
    counts = train_top(**inputs(made, embedded, tmp_path))
    one, other = read_predictions(tmp_path / "out")
    assert (one.seed, other.seed) == (1, 2)
    assert (one.logits != other.logits).any()
    assert len(one.case_ids) == 47
    assert [(row["seed"], row["epoch"]) for row in read_rows(tmp_path / "history")] == [
        *((1, 1), (1, 2), (1, 3)),
        *((2, 1), (2, 2), (2, 3)),
    ]
    assert counts["steps"] == [12, 12]
    train_top(**inputs(made, embedded, tmp_path, seeds=[2]))
    (alone,) = read_predictions(tmp_path / "out")
    assert (alone.logits == other.logits).all()


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "compat"},
        {"objective": "group_dro", "attribute": "applicant_gender"},
        {"objective": "adversarial", "attribute": "applicant_gender"},
    ],
)
def test_other_ways(made, embedded, tmp_path, given):
    train_top(**inputs(made, embedded, tmp_path, seeds=[1]))
    (usual,) = read_predictions(tmp_path / "out")
    train_top(**inputs(made, embedded, tmp_path, seeds=[1], **given))
    (found,) = read_predictions(tmp_path / "out")
    assert (found.logits != usual.logits).any()


def test_it_learns(made, embedded, tmp_path):
    train_top(**inputs(made, embedded, tmp_path, seeds=[1], epochs=40, patience=40))
    losses = [row["dev_loss"] for row in read_rows(tmp_path / "history")]
    assert min(losses) < 0.5 * losses[0]


def test_a_seed_that_is_done_is_not_trained_again(made, embedded, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.io.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("evenhand.io.checkpoint.SHARE", 0)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    (tmp_path / "whole").mkdir()
    weights = {"objective": "group_dro", "attribute": "applicant_gender"}  # -inf in no history
    train_top(**inputs(made, embedded, tmp_path / "whole", **weights))
    arguments = inputs(made, embedded, tmp_path, **weights)
    step, seen = trainer._Run._one_step, []

    def dies(self, places):
        seen.append(self.step)
        if len(seen) == 17:
            raise KeyboardInterrupt
        step(self, places)

    monkeypatch.setattr(trainer._Run, "_one_step", dies)
    with pytest.raises(KeyboardInterrupt):
        stage.execute(train_top, arguments)
    stage.execute(train_top, arguments)
    assert seen == [*range(12), 0, 1, 2, 3, 4, *range(4, 12)]
    for name in ("out", "history"):
        assert content_digest(tmp_path / name) == content_digest(tmp_path / "whole" / name)


def test_weights_of_groups_that_never_occur_are_kept(tmp_path):
    """Minus infinity, as Group DRO has it, comes back from the file of a seed that is done."""
    rows = [{"state": {"log_weights": [0.0, -np.inf]}, "dev_worst_group_f1": None}]
    said = training.Predictions(
        "tiny", "group_dro", "a", 1, np.array(["c"]), np.array(["train"]), np.ones((1, 2))
    )
    training._keep_done(tmp_path, trainer.Trained(rows, 1, 0.5, 12), said)
    trained, _ = training._read_done(tmp_path)
    assert trained == trainer.Trained(rows, 1, 0.5, 12)


@pytest.mark.parametrize("name", ["trained.json", "predictions.parquet"])
def test_a_seed_whose_files_are_broken_is_trained_again(tmp_path, capsys, name):
    said = training.Predictions(
        "tiny", "erm", "none", 1, np.array(["c"]), np.array(["train"]), np.ones((1, 2))
    )
    training._keep_done(tmp_path, trainer.Trained([], 1, 0.5, 12), said)
    (tmp_path / name).write_bytes(b"")
    assert training._read_done(tmp_path) is None
    assert "trains again: " in capsys.readouterr().err


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_that_make_no_sense(made, embedded, tmp_path, seeds):
    with pytest.raises(InputError, match="no seed, or one twice"):
        train_top(**inputs(made, embedded, tmp_path, seeds=seeds))


def test_vectors_of_other_cases(made, embedded, tmp_path):
    with pa.memory_map(str(embedded[0])) as stream, pa.ipc.open_file(stream) as file:
        table = file.read_all()
    with (
        pa.OSFile(str(tmp_path / "v"), "wb") as stream,
        pa.ipc.new_file(stream, table.schema) as out,
    ):
        out.write_table(table.slice(1))
    with pytest.raises(InputError, match="other cases than the data set"):
        train_top(**inputs(made, (tmp_path / "v", embedded[1]), tmp_path))


def test_the_description_is_the_same_each_time(made, embedded, tmp_path):
    embed(made, tmp_path)
    assert json.loads((tmp_path / "v.json").read_text()) == json.loads(embedded[1].read_text())
    assert (tmp_path / "v.arrow").read_bytes() == embedded[0].read_bytes()
