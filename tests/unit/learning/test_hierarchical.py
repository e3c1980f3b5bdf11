from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from evenhand.errors import InputError
from evenhand.learning import hierarchical
from evenhand.learning.hierarchical import (
    HierarchicalClassifier,
    check_input,
    encode_paragraphs,
    load_encoder,
    sinusoids,
)
from evenhand.learning.packing import Limits, cut, pack
from unit.learning import tiny_encoders
from unit.learning.padded_reference import PaddedClassifier, published_positions, square
from unit.scoring import architectures, tiny_causal, tiny_models

LIMITS, CLASSES, AFTER = Limits(6, 24), 5, [7]

#: A document of one paragraph, one with too many, one with paragraphs that are cut or full.
SHAPES = [[9], [3, 12, 5, 5, 17, 2, 8, 4], [40, 24, 30], [16, 16]]


def documents_of(shapes, seed=0):
    generator = np.random.default_rng(seed)
    return [
        [generator.integers(5, tiny_encoders.VOCABULARY, size) for size in one] for one in shapes
    ]


def classifier(family="bert", mode="fixed", *, dropout=0.0, seed=0):
    encoder = tiny_encoders.make(family, seed=seed)
    torch.manual_seed(seed + 1)
    model = HierarchicalClassifier(encoder, CLASSES, LIMITS.segments, mode=mode, dropout=dropout)
    return model.double()


def packed(documents, model, **options):
    read = [cut(document, LIMITS, AFTER) for document in documents]
    return pack(read, LIMITS, pad_id=tiny_encoders.pad_id(model.encoder), **options)


def loss_of(logits, features):
    """A loss that every logit and feature moves."""
    weights = torch.linspace(-1, 1, logits.shape[1], dtype=logits.dtype)
    return (logits.log_softmax(dim=-1) * weights).sum() + features.pow(2).mean()


@pytest.mark.parametrize("mode", ["fixed", "compat"])
@pytest.mark.parametrize("family", sorted(tiny_encoders.CONFIGS))
def test_it_is_the_padded_forward_pass(family, mode):
    ours = classifier(family, mode)
    reference = PaddedClassifier(ours)
    documents = documents_of(SHAPES)
    mixed = ours(packed(documents, ours, tokens_per_batch=64, device="cuda"))
    found = ours(packed(documents, ours, tokens_per_batch=64))
    expected = reference(*square(documents, LIMITS, tiny_encoders.pad_id(ours.encoder), AFTER))
    for one, other in (*zip(found, expected, strict=True), *zip(mixed, expected, strict=True)):
        assert one.dtype == torch.float64
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)
    losses = loss_of(*found), loss_of(*expected)
    torch.testing.assert_close(*losses, rtol=0, atol=1e-12)
    for loss in losses:
        loss.backward()
    gradients = {name: one.grad for name, one in ours.named_parameters()}
    wanted = {
        name if name.startswith("encoder.") else f"top.{name}": one.grad
        for name, one in reference.named_parameters()
    }
    assert gradients.keys() == wanted.keys()
    for name, gradient in gradients.items():
        assert gradient is not None and wanted[name] is not None, name
        scale = max(1.0, wanted[name].abs().max().item())
        torch.testing.assert_close(gradient, wanted[name], rtol=0, atol=1e-12 * scale, msg=name)


MODELS = {mode: classifier(mode=mode) for mode in ("fixed", "compat")}


@pytest.mark.parametrize("family", sorted(hierarchical.LIKE_BERT & tiny_encoders.CONFIGS.keys()))
def test_the_last_layer_works_for_first_tokens_only(family):
    model = classifier(family)
    shapes = []
    for layer in model.encoder.encoder.layer:
        layer.intermediate.register_forward_hook(
            lambda _module, given, _result: shapes.append(given[0].shape[1])
        )
    batch = packed(documents_of([[9], [9]]), model)
    first = encode_paragraphs(model.encoder, batch)
    assert shapes == [16, 1]
    whole = model.encoder(input_ids=batch.buckets[0].ids, attention_mask=batch.buckets[0].mask())
    assert whole.last_hidden_state.shape[1] == 16  # nothing of it stays behind
    torch.testing.assert_close(whole.last_hidden_state[:, 0], first, rtol=0, atol=1e-12)
    # other implementations of attention have masks of another kind
    model.encoder.set_attn_implementation("eager")
    again = encode_paragraphs(model.encoder, batch)
    torch.testing.assert_close(again, first, rtol=0, atol=1e-12)


def test_dropout_reaches_the_last_layer():
    encoder = tiny_encoders.make(dropout=0.3)
    layers = encoder.encoder.layer
    for module in layers[0].modules():  # only the last layer drops anything
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    encoder.embeddings.dropout.p = 0.0
    batch = pack(documents_of([[9, 9]]), LIMITS, pad_id=0)
    torch.manual_seed(0)
    one, other = encode_paragraphs(encoder, batch), encode_paragraphs(encoder, batch)
    assert not torch.allclose(one, other)
    layers[-1].attention.output.dropout.p = layers[-1].output.dropout.p = 0.0
    one, other = encode_paragraphs(encoder, batch), encode_paragraphs(encoder, batch)
    assert not torch.allclose(one, other)  # that of the attention
    encoder.eval()
    assert torch.equal(encode_paragraphs(encoder, batch), encode_paragraphs(encoder, batch))


def test_the_top_starts_as_published_and_is_trained():
    np.testing.assert_allclose(
        sinusoids(32, 24).numpy(), published_positions(32, 24), rtol=0, atol=1e-7
    )
    model = classifier()
    model(packed(documents_of(SHAPES), model))[0].sum().backward()
    gradient = model.top.positions.weight.grad
    assert (gradient[0] == 0).all() and (gradient[1:] != 0).any(dim=1).all()
    for name, parameter in model.top.layers.named_parameters():
        if parameter.dim() > 1:  # as torch.nn.Transformer draws them
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.9 * bound < parameter.abs().max() <= bound, name


def test_a_document_without_paragraphs_has_finite_logits():
    for model in MODELS.values():
        documents = documents_of([[], [5, 3], []])
        logits, _ = model(packed(documents, model))
        assert logits.isfinite().all()
        torch.testing.assert_close(logits[0], logits[2])
        torch.testing.assert_close(
            logits[1:2], model(packed(documents[1:2], model))[0], rtol=0, atol=1e-12
        )
        logits, _ = model(packed([[]], model))
        assert logits.isfinite().all()


@pytest.mark.parametrize("mode", ["fixed", "compat"])
@pytest.mark.parametrize("training", [True, False])
def test_bf16_autocast_is_near(mode, training):
    model = classifier(mode=mode).float().train(training)
    batch = packed(documents_of(SHAPES), model)
    whole, features = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        logits, low = model(batch)
        loss_of(logits, low).backward()
    assert logits.dtype == low.dtype == torch.float32
    assert 0 < (logits - whole).abs().max() < 0.15 * whole.std()
    assert (low - features).abs().max() < 0.3 * features.std()
    assert all(one.grad.isfinite().all() for one in model.parameters())


def test_dropout_is_of_the_top_and_off_in_evaluation():
    model = classifier(dropout=0.5)
    batch = packed(documents_of(SHAPES), model)
    torch.manual_seed(0)
    one, other = model(batch)[0], model(batch)[0]
    assert not torch.allclose(one, other)
    model.eval()
    assert torch.equal(model(batch)[0], model(batch)[0])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("mode", ["fixed", "compat"])
def test_a_gpu_gives_the_same(mode):
    model = classifier(mode=mode)
    batch = packed(documents_of(SHAPES), model)
    expected = loss_of(*model(batch))
    found = loss_of(*(one.cpu() for one in model.cuda()(batch.to("cuda"))))
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_what_does_not_fit():
    model = classifier()
    with pytest.raises(InputError, match="the mode 'published' is unknown"):
        classifier(mode="published")
    with pytest.raises(InputError, match="vocabulary of 121, and the encoder knows 120"):
        check_input(model.encoder, vocabulary=121, limits=LIMITS)
    for family in tiny_encoders.CONFIGS:
        encoder = tiny_encoders.make(family)
        longest = tiny_encoders.LONGEST
        check_input(encoder, vocabulary=120, limits=Limits(6, longest))
        with pytest.raises(InputError, match=f"reads {longest} tokens, .* may have {longest + 1}"):
            check_input(encoder, vocabulary=120, limits=Limits(6, longest + 1))


# ---------------------------------------------------------------- loading


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_a_masked_lm_is_an_encoder(tmp_path, family):
    folder = tiny_models.save(tmp_path, family)
    before = torch.random.get_rng_state()
    encoder = load_encoder(folder)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert encoder.training and all(one.requires_grad for one in encoder.parameters())
    kept = load_file(folder / "model.safetensors")
    for name, tensor in encoder.state_dict().items():
        (stored,) = (key for key in kept if key.split(".", 1)[-1] == name)
        assert torch.equal(tensor, kept[stored]), name
    batch = pack([[np.array([2, 5, 6, 3])]], Limits(2, 16), pad_id=0)
    model = HierarchicalClassifier(encoder, 2, 2)
    model(batch)[0].sum().backward()
    assert all(one.grad is not None for one in model.parameters())


def test_an_encoder_that_reads_images_too(tmp_path):
    encoder = load_encoder(architectures.save(tmp_path, "modernvbert"))
    check_input(encoder, vocabulary=270, limits=Limits(2, 16))
    with pytest.raises(InputError, match="the encoder knows 270"):
        check_input(encoder, vocabulary=271, limits=Limits(2, 16))
    model = HierarchicalClassifier(encoder, 2, 2)
    batch = pack([[np.array([0, 5, 6, 2])], []], Limits(2, 16), pad_id=1)
    assert model(batch)[0].isfinite().all() and model.top.width == 32
    nothing = pack([[]], Limits(2, 16), pad_id=1)
    assert model(nothing)[0].isfinite().all()


def test_what_is_no_encoder(tmp_path):
    folder = tiny_models.save(tmp_path / "m")
    with pytest.raises(InputError, match="its first token does not see the others"):
        load_encoder(tiny_causal.save(tmp_path / "c"))
    weights = load_file(folder / "model.safetensors")
    lacking = {
        name: tensor for name, tensor in weights.items() if "layer.1.output.dense" not in name
    }
    save_file(lacking, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="lacks 2 weights of an encoder"):
        load_encoder(folder)
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(InputError, match="the weights are broken"):
        load_encoder(folder)


def test_an_encoder_without_a_tokenizer_is_an_encoder(tmp_path):
    folder: Path = tiny_models.save(tmp_path)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert load_encoder(folder).config.hidden_size == 32
