import threading

import numpy as np
import pytest
import torch

from evenhand.errors import InputError
from evenhand.scoring import attention
from evenhand.scoring.attention import collecting, enable_attention
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.questions import Questions, answer
from unit.scoring import architectures, tiny_models


def _ids(seed, rows=3, length=9):
    return torch.randint(5, 20, (rows, length), generator=torch.Generator().manual_seed(seed))


def _own(model, ids):
    """Mean attention to each place, from all attentions."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        layers = model(input_ids=ids, output_attentions=True).attentions
    return torch.stack(layers).mean(dim=(0, 2, 3))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    model = load_masked_lm(tiny_models.save(tmp_path_factory.mktemp("model"))).model
    enable_attention(model)
    return model


def _collect(model, ids, **inputs):
    with torch.inference_mode(), collecting() as received:
        model(input_ids=ids, **inputs)
    return received.mean()


def test_scores_are_held_a_few_rows_at_a_time(model, monkeypatch):
    whole = _collect(model, _ids(2, rows=7))
    monkeypatch.setitem(attention.SCORES_AT_ONCE, "cpu", 1)
    torch.testing.assert_close(_collect(model, _ids(2, rows=7)), whole)


def test_padding_receives_nothing(model):
    ids, mask = _ids(3), torch.ones(3, 9, dtype=torch.int64)
    mask[1, 6:] = 0
    found = _collect(model, ids, attention_mask=mask)
    assert (found[1, 6:] == 0).all()
    alone = _collect(model, ids[1:2, :6])
    # the rows of padding count as queries here; what they pay attention to is not defined
    assert found[0].sum() == pytest.approx(1) and alone.sum() == pytest.approx(1)
    torch.testing.assert_close(found[0], _collect(model, ids[:1])[0])


def test_threads_do_not_disturb_each_other(model):
    inputs = [_ids(seed) for seed in range(8)]
    alone = [_collect(model, ids) for ids in inputs]
    found = [None] * len(inputs)
    start = threading.Barrier(len(inputs))

    def work(number):
        start.wait()
        for _ in range(5):
            found[number] = _collect(model, inputs[number])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for one, other in zip(found, alone, strict=True):
        assert torch.equal(one, other)


def test_not_wanted(model):
    with collecting(False) as received, torch.no_grad():
        model(input_ids=_ids(4))
    assert received is None


def test_bfloat16(tmp_path):
    folder = tiny_models.save(tmp_path)
    models = [load_masked_lm(folder, dtype=dtype).model for dtype in ("bf16", "fp32")]
    for one in models:
        enable_attention(one)
    low, full = (_collect(one, _ids(5)) for one in models)
    assert low.dtype == torch.float32
    np.testing.assert_allclose(low, full, rtol=2e-2)


@pytest.mark.parametrize("name", architectures.CONFIGS)
def test_attention_of_classes_with_their_own_code(name, tmp_path):
    model = load_masked_lm(architectures.save(tmp_path, name)).model
    ids, before = _ids(6, length=12), model.config._attn_implementation
    readable = name not in architectures.WITHOUT_WEIGHTS
    assert enable_attention(model) == enable_attention(model) == readable
    if not readable:
        assert model.config._attn_implementation == before
        return
    with torch.no_grad():
        idle = model(input_ids=ids).logits
        with collecting() as received:
            collected = model(input_ids=ids).logits
    assert torch.equal(idle, collected)
    torch.testing.assert_close(received.mean(), _own(model, ids), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(received.mean().sum(dim=1), torch.ones(3))


def test_weights_that_are_no_shares_cannot_be_read(tmp_path):
    model = load_masked_lm(tiny_models.save(tmp_path)).model

    def scores(*_):  # as SqueezeBERT returns, before the softmax
        return (torch.randn(2, 2, 7, 7),) * 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "_own_weights", scores)
        assert not enable_attention(model)


def test_a_model_whose_attention_cannot_be_read_is_an_error(tmp_path):
    lm = load_masked_lm(architectures.save(tmp_path, "fnet"))
    questions = Questions()
    questions.ask([0, 6, 7, 2], 1, 6)
    with pytest.raises(InputError, match="attention of FNetForMaskedLM cannot be read; leave out"):
        answer(lm, questions, tokens_per_batch=100, attention=True)
    answer(lm, questions, tokens_per_batch=100)


def test_a_wrong_alpha_is_not_used(tmp_path, monkeypatch):
    # A class may hand over something else than what its attention is made of.
    model = load_masked_lm(tiny_models.save(tmp_path)).model
    add = attention.Received.add
    monkeypatch.setattr(
        attention.Received, "add", lambda self, query, *rest: add(self, 2 * query, *rest)
    )
    assert enable_attention(model)
    torch.testing.assert_close(_collect(model, _ids(7)), _own(model, _ids(7)), rtol=1e-5, atol=1e-7)
