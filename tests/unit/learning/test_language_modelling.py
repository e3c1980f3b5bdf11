import hashlib
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.learning import language_modelling as training

SIZES = {"held_out": 0.1, "max_sentences": 1000}


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@given(st.lists(st.text("男女he", min_size=1, max_size=3), max_size=40), st.integers(1, 12))
def test_the_sample_does_not_depend_on_the_order(lines, most):
    one, read = training._sample(lines, most)
    other, _ = training._sample(reversed(lines), most)
    assert one == other
    assert read == len(lines)
    assert len(one) == min(most, len(set(lines))) and set(one) <= set(lines)


@given(st.sets(st.text("abc ", min_size=1).map(str.strip).filter(bool), min_size=2, max_size=30))
def test_held_out_sentences_are_not_trained_on(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("text")
    corpus = training.read_corpus(None, [write_lines(folder / "a.txt", sorted(lines))], **SIZES)
    assert not {*corpus.trained} & {*corpus.held_out}
    assert {*corpus.trained, *corpus.held_out} == lines
    assert len(corpus.held_out) == max(1, round(0.1 * len(lines)))
    ordered = sorted(lines, key=lambda s: hashlib.blake2b(s.encode(), digest_size=16).digest())
    assert corpus.sha256 == hashlib.sha256("\n".join(ordered).encode()).hexdigest()
    # a sentence that is held out stays held out when its neighbours come in another order
    again = training.read_corpus(
        None, [write_lines(folder / "b.txt", sorted(lines)[::-1])], **SIZES
    )
    assert again == corpus


def test_tables_and_files_are_read_together(tmp_path):
    pq.write_table(pa.table({"sentence": ["One.", None, "", "Two."]}), tmp_path / "t.parquet")
    (tmp_path / "bom.txt").write_bytes("\ufeffThree.\r\n\r\n  Two. \n".encode())
    corpus = training.read_corpus([tmp_path / "t.parquet"], [tmp_path / "bom.txt"], **SIZES)
    assert {*corpus.trained, *corpus.held_out} == {"One.", "Two.", "Three."}
    assert corpus.read == 4


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 9))
def test_an_epoch_holds_each_sentence_once(lengths, batch, seed):
    coded = [[0] * length for length in lengths]
    batches = training.Batches(coded, batch, np.random.default_rng(seed))
    for _ in range(2):
        seen = []
        while len(seen) < len(coded):
            seen += next(batches)
        assert sorted(seen) == list(range(len(coded)))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 99))
def test_batches_go_on_where_their_state_was_taken(lengths, batch, used):
    coded = [[0] * length for length in lengths]
    one = training.Batches(coded, batch, generator := np.random.default_rng(3))
    for _ in range(used):
        next(one)
        generator.random()  # masks come from the same generator
    state = json.loads(json.dumps(one.state_dict()))
    expected = [next(one) for _ in range(20)]
    other = training.Batches(coded, batch, np.random.default_rng(4))
    other.load_state_dict(state)
    assert [next(other) for _ in range(20)] == expected


def test_fit_follows_the_schedule_and_clips_gradients(monkeypatch):
    model = torch.nn.Linear(2, 1, bias=False).eval()
    rates, norms, modes = [], [], []
    real = torch.optim.AdamW.step

    def step(self, *arguments):
        assert self.param_groups[0]["weight_decay"] == 0.01
        rates.append(self.param_groups[0]["lr"])
        norms.append(model.weight.grad.norm().item())
        return real(self, *arguments)

    def loss(step):
        modes.append(model.training)
        return (model.weight * (1000.0 if step < 2 else 0.1)).sum()

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    losses = training.fit(model, loss, steps=20, learning_rate=0.1)
    assert rates == pytest.approx([0.05, 0.1, *(0.1 * (20 - i) / 18 for i in range(2, 20))])
    assert norms == pytest.approx([1.0, 1.0, *[0.1 * 2**0.5] * 18])
    assert modes == [True] * 20
    assert len(losses) == 20 and losses[-1] < losses[2]
    assert not model.training


def test_the_curve_is_of_few_stretches():
    curve = training.loss_curve([4.0, 2.000002] * 60)
    assert len(curve) == training.CURVE_POINTS
    assert curve[-1] == {"step": 120, "loss": 3.0}


def test_bad_inputs(tmp_path):
    def read(tables=(), files=(), **options):
        return training.read_corpus([*tables], [*files], **SIZES | options)

    with pytest.raises(InputError, match="nothing to train on"):
        read()
    one = write_lines(tmp_path / "one.txt", ["Only one.", "Only one."])
    with pytest.raises(InputError, match=r"one.txt: there are 1 distinct sentences, too few"):
        read(files=[one])
    (tmp_path / "gb.txt").write_bytes("好。\n".encode() + "老师".encode("gb18030"))
    with pytest.raises(InputError, match=r"gb.txt:2: is not UTF-8"):
        read(files=[tmp_path / "gb.txt"])
    pq.write_table(pa.table({"text": ["好。"]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="lacks the column sentence"):
        read(tables=[tmp_path / "t.parquet"])
    shutil.copy(one, tmp_path / "no.parquet")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read(tables=[tmp_path / "no.parquet"])


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=20), min_size=1, max_size=6),
    st.sets(st.integers(5, 30), min_size=1),
    st.floats(0.01, 0.99),
    st.integers(0, 99),
)
def test_only_ordinary_tokens_are_masked(sentences, ordinary, probability, seed):
    known = np.array(sorted(ordinary))
    ids, attention, rows, columns, wanted = training.mask_tokens(
        sentences, known, probability, np.random.default_rng(seed), pad_id=0, mask_id=4
    )
    whole = training.pad(sentences, 0)
    assert attention.sum(axis=1).tolist() == [len(one) for one in sentences]
    assert (np.diff(attention, axis=1) <= 0).all()
    assert {*wanted.tolist()} <= ordinary
    assert (wanted == whole[rows, columns]).all()
    assert {*ids[rows, columns].tolist()} <= ordinary | {4}
    ids[rows, columns] = wanted
    assert (ids == whole).all()
    assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows)
    eligible = sum(token in ordinary for one in sentences for token in one)
    assert min(eligible, 1) <= len(rows) <= eligible


def test_masks_are_as_frequent_as_asked():
    generator = np.random.default_rng(0)
    sentences = [[5 + i % 90 for i in range(100)]] * 400
    ids, _, rows, columns, wanted = training.mask_tokens(
        sentences, np.arange(5, 95), 0.15, generator, pad_id=0, mask_id=4
    )
    shown = ids[rows, columns]
    assert len(rows) / 40_000 == pytest.approx(0.15, abs=0.01)
    assert (shown == 4).mean() == pytest.approx(0.8, abs=0.02)
    assert (shown == wanted).mean() == pytest.approx(0.1 + 0.1 / 90, abs=0.02)
