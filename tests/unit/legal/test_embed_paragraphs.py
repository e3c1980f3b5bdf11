import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoModel

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_arrow
from evenhand.learning.hierarchical import encode_padding, load_encoder
from evenhand.learning.packing import Limits
from evenhand.legal.embed_paragraphs import embed_paragraphs
from evenhand.legal.stores import TokenStore, VectorStore, read_vectors_meta
from unit.legal.made_classifiers import make, save_model


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"))


def embed(made, folder, **given):
    """The store and the counts."""
    inputs = {
        "tokens": made.tokens,
        "tokens_meta": made.inputs()["features_meta"],
        "model": made.model,
    }
    files = {"out": folder / "v.arrow", "meta": folder / "v.json"}
    counts = embed_paragraphs(**{**inputs, **files, **given})
    return VectorStore(folder / "v.arrow"), counts


def test_vectors_are_what_the_encoder_returns_for_each_paragraph(made, tmp_path):
    store, counts = embed(made, tmp_path)
    tokens, model = TokenStore(made.tokens), AutoModel.from_pretrained(made.model).eval()
    assert store.case_ids == tokens.case_ids
    paragraphs = 0
    for row in range(len(tokens.case_ids)):
        ids = tokens.paragraphs(row, Limits(32, 128), [3])
        paragraphs += len(ids)
        assert store.case(row).shape == (len(ids), 16)
        for vector, paragraph in zip(store.case(row), ids, strict=True):
            with torch.inference_mode():
                states = model(torch.tensor(paragraph[None].astype(np.int64))).last_hidden_state
            np.testing.assert_allclose(vector, states[0, 0].numpy(), rtol=1e-3, atol=1e-3)
    assert store.case(3).dtype == np.float16
    assert counts == {"cases": 48, "paragraphs": paragraphs, "empty": 1}
    meta = read_vectors_meta(tmp_path / "v.json")
    assert (meta["encoder"]["hidden_size"], len(meta["padding"])) == (16, 16)
    with torch.inference_mode():
        assert meta["padding"] == encode_padding(load_encoder(made.model).eval(), 128).tolist()


def test_a_vector_too_large_for_half_the_bytes(made, tmp_path):
    model = save_model(tmp_path / "large")
    encoder = AutoModel.from_pretrained(model, add_pooling_layer=False)
    with torch.no_grad():
        encoder.encoder.layer[-1].output.LayerNorm.weight.fill_(1e6)
    encoder.save_pretrained(model)
    large = made._replace(model=model)
    with pytest.raises(InputError, match=r"the case ecthr-1 has a vector .* in fp16"):
        embed(large, tmp_path)


def middle_lost(text: bytes) -> bytes:
    """With zeros where the numbers stand: still a file that Arrow reads."""
    half = len(text) // 2
    return text[: half - 20] + bytes(40) + text[half + 20 :]


@pytest.mark.parametrize(
    ("damage", "left"),
    [(lambda text: text, 3), (lambda _: b"half of it", 5), (middle_lost, 5)],
    ids=["whole", "cut", "zeros"],
)
def test_what_is_embedded_is_not_embedded_again(made, tmp_path, monkeypatch, damage, left):
    monkeypatch.setattr("evenhand.legal.embed_paragraphs.CASES", 10)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    (tmp_path / "whole").mkdir()
    embed(made, tmp_path / "whole")
    from evenhand.learning import hierarchical

    plain, calls, died = hierarchical.encode_paragraphs, [], [True]

    def dies(encoder, packed):
        calls.append(len(packed.counts))
        if len(calls) >= 3 and died:
            raise KeyboardInterrupt
        return plain(encoder, packed)

    arguments = {"tokens": made.tokens, "tokens_meta": made.inputs()["features_meta"]}
    arguments |= {"out": tmp_path / "v.arrow", "meta": tmp_path / "v.json", "model": made.model}
    monkeypatch.setattr(hierarchical, "encode_paragraphs", dies)
    with pytest.raises(KeyboardInterrupt):
        stage.execute(embed_paragraphs, arguments)
    (kept,) = (tmp_path / "state").rglob("*.npz")
    kept.write_bytes(damage(kept.read_bytes()))
    died.clear()
    calls.clear()
    stage.execute(embed_paragraphs, arguments)
    assert calls == [10] * (left - 1) + [8]
    for name in ("v.arrow", "v.json"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_other_files_are_no_vectors(made):
    with pytest.raises(InputError, match="other columns"):
        VectorStore(made.tokens)
    with pytest.raises(InputError, match="lacks encoder"):
        read_vectors_meta(made.inputs()["features_meta"])


def test_paragraphs_with_the_same_tokens_keep_their_vectors(made):
    cases, others = (VectorStore(made.folder / f"{stem}vectors.arrow") for stem in ("", "cf_"))
    tokens, swapped = (TokenStore(made.folder / f"{stem}tokens.arrow") for stem in ("", "cf_"))
    changed = 0
    for row in range(len(tokens.case_ids)):
        pair = (store.paragraphs(row, Limits(32, 128), [3]) for store in (tokens, swapped))
        for place, paragraphs in enumerate(zip(*pair, strict=True)):
            same = np.array_equal(*paragraphs)
            assert np.array_equal(cases.case(row)[place], others.case(row)[place]) == same
            changed += not same
    assert changed


def test_vectors_of_other_cases(made, tmp_path):
    vectors = read_arrow(made.folder / "vectors.arrow", ["case_id", "vectors"], "a stage")
    with pa.ipc.new_file(tmp_path / "less.arrow", vectors.schema) as writer:
        writer.write_table(vectors.slice(1))
    with pytest.raises(InputError, match="about other cases than the data set"):
        embed(made, tmp_path, same=tmp_path / "less.arrow", same_tokens=made.tokens)
