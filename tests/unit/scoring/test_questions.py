import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.scoring import head
from evenhand.scoring import questions as module
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.questions import Answers, Questions, WordQuestions, answer, ask_word
from unit.scoring import tiny_models


@pytest.fixture(scope="module")
def lm(folder):
    return load_masked_lm(folder)


def _questions(lm, seed, count=40):
    """Random questions; places and tokens repeat."""
    generator = np.random.default_rng(seed)
    questions = Questions()
    for _ in range(count):
        ids = [2, *generator.integers(5, lm.vocabulary, generator.integers(1, 9)), 3]
        for _ in range(generator.integers(1, 4)):
            questions.ask(ids, int(generator.integers(len(ids))), int(generator.integers(5, 9)))
    return questions


def test_equal_inputs_are_kept_once():
    questions = Questions()
    assert questions.ask([2, 4, 3], 1, 7) == 0
    assert questions.ask([2, 5, 3], 1, 7) == 1
    assert questions.ask([2, 4, 3], 1, 8) == 2
    assert [ids.tolist() for ids in questions.inputs] == [[2, 4, 3], [2, 5, 3]]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_gives_the_same(lm, folder):
    questions = _questions(lm, seed=2)
    one, other, again = (
        answer(
            load_masked_lm(folder, device=device), questions, tokens_per_batch=60, attention=True
        )
        for device in ("cpu", "cuda", "cuda:0")
    )
    for name in ("log_p", "entropy", "alpha"):
        expected, found = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(found, expected, atol=1e-5, rtol=1e-5)
        assert found.tobytes() == getattr(again, name).tobytes()
    assert (one.best == other.best).all() and (one.first == other.first).all()


def test_threads_change_no_bit(lm):
    questions = _questions(lm, seed=3, count=120)
    before = torch.get_num_threads()
    runs = [answer(lm, questions, tokens_per_batch=50, threads=n) for n in (1, 3, 1)]
    assert torch.get_num_threads() == before
    for run in runs[1:]:
        assert run.log_p.tobytes() == runs[0].log_p.tobytes()
        assert run.best.tobytes() == runs[0].best.tobytes()


def _plain_place(lm, ids, place):
    with torch.inference_mode():
        logits = lm.model(input_ids=torch.tensor([ids])).logits[0, place].double()
    return torch.log_softmax(logits, dim=0)


@pytest.mark.parametrize("vocabulary_at_once", [1, 7, 10**9])
def test_entropy_and_rank_whatever_the_pieces_of_the_vocabulary(
    lm, monkeypatch, vocabulary_at_once
):
    monkeypatch.setattr(head, "LEAST_TOKENS", vocabulary_at_once)
    monkeypatch.setitem(head.LOGITS_AT_ONCE, "cpu", 0)
    questions = _questions(lm, seed=6)
    for which, ids in enumerate(list(questions.inputs)):  # also the likeliest token, everywhere
        best = int(_plain_place(lm, ids.tolist(), 0).argmax())
        questions.places.append((which, 0, best))
    answers = answer(lm, questions, tokens_per_batch=60)
    for number, (which, place, token) in enumerate(questions.places):
        log_p = _plain_place(lm, questions.inputs[which].tolist(), place)
        assert answers.log_p[number] == pytest.approx(log_p[token].item(), abs=1e-5, rel=1e-5)
        entropy = -(log_p.exp() * log_p).sum().item()
        assert answers.entropy[number] == pytest.approx(entropy, abs=1e-5, rel=1e-4)
        assert answers.first[number] == (token == log_p.argmax().item())
        assert answers.best[number] == log_p.argmax().item()
    assert answers.first[-len(questions.inputs) :].all() and not answers.first.all()


def test_equals_are_both_first(tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path))
    with torch.no_grad():
        lm.model.cls.predictions.bias[[6, 8]] = 1e4
        lm.model.bert.embeddings.word_embeddings.weight[8] = (
            lm.model.bert.embeddings.word_embeddings.weight[6]
        )
    questions = Questions()
    for token in (6, 7, 8):
        questions.ask([2, 4, 3], 1, token)
    answers = answer(lm, questions, tokens_per_batch=8)
    assert answers.first.tolist() == [True, False, True]
    assert answers.best.tolist() == [6, 6, 6]


def test_entropy_only_where_it_is_wanted(lm):
    questions = _questions(lm, seed=7)
    one, other = (answer(lm, questions, tokens_per_batch=60, entropy=e) for e in (True, False))
    assert other.entropy is None
    np.testing.assert_array_equal(one.best, other.best)
    np.testing.assert_allclose(one.log_p, other.log_p, rtol=1e-6)


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_alpha_is_the_attention_to_the_place(family, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    questions = _questions(lm, seed=8, count=12)
    without = answer(lm, questions, tokens_per_batch=60)
    assert without.alpha is None
    answers = answer(lm, questions, tokens_per_batch=60, attention=True)
    assert answers.log_p.tobytes() == without.log_p.tobytes()
    assert answers.entropy.tobytes() == without.entropy.tobytes()
    lm.model.set_attn_implementation("eager")
    for number, (which, place, _) in enumerate(questions.places):
        with torch.inference_mode():
            ids = torch.tensor(questions.inputs[which][None].astype(np.int64))
            layers = lm.model(input_ids=ids, output_attentions=True).attentions
        expected = torch.stack(layers).mean(dim=(0, 1, 2, 3))[place].item()
        assert answers.alpha[number] == pytest.approx(expected, rel=1e-5)


def test_the_number_of_logits_is_bounded(lm, monkeypatch):
    head.enable_reading(lm.model)
    decoder = lm.model.get_output_embeddings().weight.untyped_storage().data_ptr()
    linear, sizes = torch.nn.functional.linear, []

    def counted(hidden, weight, bias=None):
        found = linear(hidden, weight, bias)
        if weight.untyped_storage().data_ptr() == decoder:
            sizes.append((len(weight), found.numel()))
        return found

    monkeypatch.setattr(head, "LEAST_TOKENS", 3)
    monkeypatch.setitem(head.LOGITS_AT_ONCE, "cpu", 300)
    monkeypatch.setattr(torch.nn.functional, "linear", counted)
    answer(lm, _questions(lm, seed=4), tokens_per_batch=10_000)
    own = [size for tokens, size in sizes if tokens == lm.vocabulary]
    assert own and max(own) == 0  # the model's own layer is given nothing to do
    pieces = [(tokens, size) for tokens, size in sizes if tokens < lm.vocabulary]
    assert pieces and all(tokens == 3 or size <= 300 for tokens, size in pieces)


class OddHead(torch.nn.Module):
    """A last step that is no linear layer."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, hidden):
        return self.inner(hidden).tanh()


def capped(_module, _arguments, logits):
    """As Gemma 2 does: hardly a difference where logits are small."""
    return 30 * (logits / 30).tanh()


@pytest.mark.parametrize("end", [None, capped, lambda _m, _a, logits: logits.mul_(1.001)])
def test_a_head_that_ends_otherwise_is_asked_whole(end, tmp_path, monkeypatch):
    lm = load_masked_lm(tiny_models.save(tmp_path))
    predictions = lm.model.cls.predictions
    if end:
        predictions.register_forward_hook(end)
    else:
        predictions.decoder = OddHead(predictions.decoder)
    assert head.enable_reading(lm.model) is False
    sizes = []
    lm.model.register_forward_hook(
        lambda _module, _arguments, output: sizes.append(output.logits.numel())
    )
    monkeypatch.setattr(module, "WHOLE_LOGITS_AT_ONCE", 20 * lm.vocabulary)
    questions = _questions(lm, seed=9)
    answers = answer(lm, questions, tokens_per_batch=10_000)
    assert max(sizes) <= 20 * lm.vocabulary
    for number, (which, place, token) in enumerate(questions.places):
        log_p = _plain_place(lm, questions.inputs[which].tolist(), place)
        assert answers.log_p[number] == pytest.approx(log_p[token].item(), abs=1e-5, rel=1e-5)


def test_an_interrupted_run_goes_on(lm, tmp_path):
    questions = _questions(lm, seed=10, count=120)
    calls = []

    def stop(tokens):
        calls.append(tokens)
        if len(calls) == 3:
            raise KeyboardInterrupt

    options = {"tokens_per_batch": 50, "attention": True, "scratch": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        answer(lm, questions, progress=stop, **options)
    again, ran = [], []
    hook = lm.model.register_forward_hook(lambda _module, arguments, output: ran.append(1))
    try:
        found = answer(lm, questions, progress=again.append, **options)
    finally:
        hook.remove()
    assert sum(again) == sum(len(ids) for ids in questions.inputs)
    assert len(ran) < len(again)
    fresh = answer(lm, questions, tokens_per_batch=50, attention=True)
    for name in ("log_p", "best", "first", "entropy", "alpha"):
        assert getattr(found, name).tobytes() == getattr(fresh, name).tobytes()


def test_what_another_model_left_is_not_used(lm, tmp_path):
    questions = _questions(lm, seed=11, count=120)
    other = load_masked_lm(tiny_models.save(tmp_path / "other", seed=1))
    scratch = tmp_path / "scratch"
    for one in (lm, other):
        found = answer(one, questions, tokens_per_batch=50, scratch=scratch)
        fresh = answer(one, questions, tokens_per_batch=50)
        assert found.log_p.tobytes() == fresh.log_p.tobytes()


def test_a_model_that_says_nan(tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path))
    with torch.no_grad():
        lm.model.bert.embeddings.word_embeddings.weight[7] = torch.nan
    questions = Questions()
    questions.ask([2, 4, 7, 3], 1, 6)
    questions.ask([2, 4, 8, 3], 1, 6)
    assert np.isnan(answer(lm, questions, tokens_per_batch=8).log_p).all()  # tied to the head


def test_texts_are_told_apart_by_types_that_the_model_has(tmp_path):
    bert = load_masked_lm(tiny_models.save(tmp_path / "bert"))
    for types in (2, 1, 0):
        bert.model.config.type_vocab_size = types
        assert module._tells_texts_apart(bert) == (types == 2)
    roberta = load_masked_lm(tiny_models.save(tmp_path / "roberta", "roberta"))
    assert not module._tells_texts_apart(roberta)  # its tokenizer has one type


def test_nothing_asked(lm):
    assert answer(lm, Questions(), tokens_per_batch=8).log_p.shape == (0,)


def test_the_chain_rule_by_hand():
    # p(ab) = p(a) p(b|a) = .5 * .25 forwards, p(b) p(a|b) = .2 * .4 backwards; apart .5 * .2.
    answers = Answers(log_p=np.log([0.5, 0.25, 0.2, 0.4]), best=np.zeros(4))
    word = WordQuestions(forward=[0, 1], backward=[2, 3], apart=[0, 2])
    assert word.chain(answers) == pytest.approx(math.log(math.sqrt(0.125 * 0.08)))
    assert word.independent(answers) == pytest.approx(math.log(0.1))


def test_inputs_of_a_word():
    questions, mask = Questions(), 4
    ask_word(questions, [2, 10, 20, 21, 3], [2, 3], mask)
    shown = {tuple(ids.tolist()) for ids in questions.inputs}
    assert shown == {(2, 10, 4, 4, 3), (2, 10, 20, 4, 3), (2, 10, 4, 21, 3)}
    ask_word(questions, [2, 10, 30, 31, 3], [2, 3], mask)  # the opposite shares the masked input
    assert len(questions.inputs) == 5


def test_tokens_of_a_word_may_stand_apart():
    questions = Questions()
    ask_word(questions, [2, 20, 10, 21, 3], [1, 3], 4)
    shown = [ids.tolist() for ids in questions.inputs]
    assert shown == [[2, 4, 10, 4, 3], [2, 20, 10, 4, 3], [2, 4, 10, 21, 3]]


def test_a_word_of_one_token_takes_one_input():
    questions = Questions()
    word = ask_word(questions, [2, 10, 20, 3], [2], 4)
    assert [ids.tolist() for ids in questions.inputs] == [[2, 10, 4, 3]]
    answers = Answers(log_p=np.log([0.5, 0.5, 0.5]), best=np.zeros(3))
    assert word.chain(answers) == pytest.approx(word.independent(answers)) == math.log(0.5)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 1000))
def test_words_of_any_length(lm, size, before, seed):
    generator = np.random.default_rng(seed)
    ids = [2, *generator.integers(5, lm.vocabulary, before + size + 2).tolist(), 3]
    start, questions = 1 + before, Questions()
    word = ask_word(questions, ids, range(start, start + size), lm.mask_id)
    answers = answer(lm, questions, tokens_per_batch=64)
    chain, apart = tiny_models.plain_word(lm, ids, start, start + size)
    assert word.chain(answers) == pytest.approx(chain, rel=1e-5, abs=1e-5)
    assert word.independent(answers) == pytest.approx(apart, rel=1e-5, abs=1e-5)
