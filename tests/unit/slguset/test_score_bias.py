import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.scoring import execution
from evenhand.scoring.models import load_causal_lm, load_masked_lm
from evenhand.scoring.questions import Questions, answer, ask_word
from evenhand.slguset import score_bias as module
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.score_bias import score_bias
from evenhand.slguset.sentence_bias import _differences, score_sentences, tokens_of
from unit.scoring import tiny_causal, tiny_models

PAIRS = [("男", "女"), ("他", "她"), ("爸爸", "妈妈"), ("儿子", "女儿"), ("叔叔", "阿姨")]
OTHER = {"male": "female", "female": "male"}
VARIANTS = ("left_to_right", "right_to_left", "one_character", "single_mask")


def row(sentence, keyword, opposite, gender="male"):
    start = sentence.index(keyword)
    return {
        **{"sentence_id": f"{sentence}|{opposite}", "sentence": sentence},
        **{"keyword": keyword, "opposite": opposite, "gender": gender},
        **{"start": start, "end": start + len(keyword)},
    }


ROWS = [
    row(sentence, word, opposite, gender)
    for sentence in tiny_models.SENTENCES
    for pair in PAIRS
    for word, opposite, gender in ((*pair, "male"), (*pair[::-1], "female"))
    if sentence.count(word) == 1
]
CAUSAL_ROWS = [*ROWS, row("老师们都说他好。", "他", "她"), row("大家都喜欢叔叔。", "叔叔", "阿姨")]


def swapped(one):
    """The counterpart of a sentence."""
    text = one["sentence"][: one["start"]] + one["opposite"] + one["sentence"][one["end"] :]
    return row(text, one["opposite"], one["keyword"], OTHER[one["gender"]]) | {
        **{"start": one["start"], "end": one["start"] + len(one["opposite"])}
    }


def scores_of(lm, rows, **options):
    return score_sentences(lm, rows, **{"log_base": 10, "tokens_per_batch": 100} | options)


def run(tmp_path, rows, folder, **options):
    dataset = tmp_path / "dataset.parquet"
    pq.write_table(pa.Table.from_pylist(rows), dataset)
    output, gate = tmp_path / "bias.parquet", tmp_path / "gate.json"
    counts = score_bias(
        dataset=dataset, out=output, gate=gate, name="tiny", model=folder, **options
    )
    table = pq.read_table(output)
    assert table.schema.equals(BIAS)
    return table.to_pylist(), json.loads(gate.read_text(encoding="utf-8")), counts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def lm(folder):
    return load_masked_lm(folder)


def characters_with_start():
    tokenizer = tiny_models.characters()
    tokenizer.add_special_tokens({"bos_token": "[CLS]"})
    return tokenizer


# ---------------------------------------------------------------- masked models


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_every_way_to_read_a_word_against_its_definition(family, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    several = without = 0
    rows = [*ROWS, row("小男孩丢了钱包。", "男孩", "女")]
    for one, (result, slots) in zip(rows, scores_of(lm, rows, log_base=math.e), strict=True):
        if result["excluded"]:
            assert result["bias"] is result["log_p_male"] is result["bias_one_character"] is None
            continue
        words = [plain_readings(lm, slot) for slot in slots]
        male, female = words if one["gender"] == "male" else words[::-1]
        same_start = len({slot.word()[0] for slot in slots}) == 1
        apart = any(slot.places[-1] - slot.places[0] >= len(slot.places) for slot in slots)
        for name in ("left_to_right", "right_to_left", "single_mask"):
            value = result[f"bias_{name}"]
            if name == "single_mask" and (same_start or apart):
                assert value is None
                without += 1
            else:
                assert value == pytest.approx(male[name] - female[name], abs=4e-5)
        both = (result["bias_left_to_right"] + result["bias_right_to_left"]) / 2
        assert result["bias"] == pytest.approx(both, abs=1e-12)
        for name, reading in (("male", male), ("female", female)):
            log_p = (reading["left_to_right"] + reading["right_to_left"]) / 2
            assert result[f"log_p_{name}"] == pytest.approx(log_p, abs=4e-5)
        apart_by = male["one_character"] - female["one_character"]
        assert result["bias_one_character"] == pytest.approx(apart_by, abs=4e-5)
        assert result["n_masks"] == len(slots[0].places)
        assert result["n_masks_opposite"] == len(slots[1].places)
        if result["n_masks"] == result["n_masks_opposite"] == 1:
            assert {result[f"bias_{name}"] for name in VARIANTS} == {result["bias"]}
        else:
            several += 1
    assert several and bool(without) == (family == "albert")  # ▁ stands before both words


def plain_readings(lm, slot):
    """The chain rule in either order, and one mask for the whole word: one input at a time."""
    places = slot.places
    found = {}
    for name, order in (("left_to_right", places), ("right_to_left", places[::-1])):
        ids = list(slot.ids)
        for place in places:
            ids[place] = lm.mask_id
        found[name] = 0.0
        for place in order:
            token = slot.ids[place]
            found[name] += tiny_models.plain_log_p(lm, ids, place, token)
            ids[place] = token
    masked = [lm.mask_id if i in places else token for i, token in enumerate(slot.ids)]
    found["one_character"] = sum(
        tiny_models.plain_log_p(lm, masked, place, slot.ids[place]) for place in places
    )
    ids = [*slot.ids[: places[0]], lm.mask_id, *slot.ids[places[-1] + 1 :]]
    found["single_mask"] = tiny_models.plain_log_p(lm, ids, places[0], slot.word()[0])
    return found


def test_a_table_of_known_probabilities(tmp_path):
    """A model whose head gives every place the same, known distribution."""
    folder = tiny_models.save(tmp_path / "model")
    lm = load_masked_lm(folder)
    p = {"他": 0.4, "她": 0.04, "爸": 0.05, "妈": 0.2}
    with torch.no_grad():
        for name, parameter in lm.model.named_parameters():
            if name.startswith("cls.predictions.transform.LayerNorm"):
                parameter.zero_()  # nothing of the sentence reaches the head: only its bias does
        bias = lm.model.cls.predictions.bias
        bias.fill_(math.log((1 - sum(p.values())) / (lm.vocabulary - len(p))))
        for word, value in p.items():
            bias[lm.tokenizer.convert_tokens_to_ids(word)] = math.log(value)
    lm.model.save_pretrained(folder)
    rows = [row("他是一个好老师。", "他", "她"), row("妈妈在厨房里。", "妈妈", "爸爸", "female")]
    (one, two), _, _ = run(tmp_path, rows, folder)
    assert one["log_p_male"] == pytest.approx(math.log10(0.4), abs=1e-6)
    assert one["bias"] == pytest.approx(1, abs=1e-6)  # a factor of 10 is 1 in base 10
    assert two["bias"] == pytest.approx(2 * math.log10(0.05 / 0.2), abs=1e-6)
    assert [r["n_masks"] for r in (one, two)] == [1, 2]
    (natural, _), gate, _ = run(tmp_path, rows, folder, log_base=math.e)
    assert natural["bias"] == pytest.approx(math.log(10), abs=1e-5)
    assert gate["log_base"] == math.e


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (row("他" + "一" * 30, "他", "她"), "too_long"),
        (row("一个犇人来了。", "犇", "女"), "keyword_unknown"),
        (row("他来了。", "他", "犇"), "keyword_unknown"),
        (row("一\u200b二", "\u200b", "她"), "keyword_vanishes"),
        # this tokenizer writes an unknown run of letters and digits as one token
        (row("a他他b2024", "0", "4"), "keyword_unknown"),
    ],
)
def test_excluded_sentences_have_a_reason(lm, one, reason):
    ((result, _),) = scores_of(lm, [one])
    assert (result["excluded"], result["bias"]) == (reason, None)


def test_subword_tokens_across_the_keyword(tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, "albert"))
    rows = [row("小男孩丢了钱包。", "男", "女"), row("老男人丢了钱包。", "男", "女")]
    (across, slots), (alone, _) = scores_of(lm, rows)
    assert across["excluded"] is None and np.isfinite(across["bias"])
    beside = [[t for i, t in enumerate(s.ids) if i not in s.places] for s in slots]
    assert beside[0] == beside[1]
    assert alone["n_masks"] == 1


def test_words_that_change_together_are_one_word(lm):
    one = row("他说他来了。", "他", "她")
    both = one | {"spans": [{"start": i, "end": i + 1, "text": "她"} for i in (0, 2)]}
    ((result, slots),) = scores_of(lm, [both])
    assert [slot.places for slot in slots] == [[1, 3], [1, 3]]
    assert result["n_masks"] == 2 and result["bias_single_mask"] is None
    questions = Questions()
    asked = [ask_word(questions, slot.ids, slot.places, lm.mask_id) for slot in slots]
    answers = answer(lm, questions, tokens_per_batch=99)
    expected = [word.chain(answers) / np.log(10) for word in asked]
    assert result["log_p_male"] == pytest.approx(expected[0])
    assert result["bias"] == pytest.approx(expected[0] - expected[1])
    often = [1] * 200  # also where a token is repeated
    assert _differences([2, *often, 4], [3, *often, 5]) == [[0, 201], [0, 201]]


def test_each_value_has_its_column(lm):
    values = ["young", "middle", "old"]
    one = {name: cell for name, cell in row("他来了。", "他", "她").items() if name != "gender"}
    order = {"opposite": one.pop("opposite"), "age": "old", "age_opposite": "middle"}
    ((result, _),) = scores_of(lm, [one | order], values=values)
    assert result["log_p_young"] is None
    assert result["bias"] == pytest.approx(result["log_p_middle"] - result["log_p_old"])


def test_names_of_special_tokens_in_a_sentence_are_text(lm):
    ((result, (own, _)),) = scores_of(lm, [row("他[MASK]好。", "他", "她")])
    assert lm.mask_id not in own.ids
    assert result["has_unk"] is True


@pytest.mark.parametrize(
    ("text", "start", "offsets", "expected"),
    [
        ("甲乙丙", 1, [(0, 0), (0, 1), (1, 2), (2, 3), (0, 0)], [2]),
        ("甲 乙丙", 2, [(0, 1), (1, 3), (3, 4)], [1]),  # the blank does not count
        ("甲乙丙", 1, [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], [1, 2, 3]),  # bytes of a character
        ("甲乙丙", 1, [(0, 2), (2, 3)], [0]),
        ("甲乙丙", 1, [(0, 1), (2, 3)], []),
        ("甲乙 丙", 1, [(0, 1), (1, 3), (3, 4)], [1]),
    ],
)
def test_tokens_of(text, start, offsets, expected):
    assert tokens_of(text, offsets, start, start + 1) == expected


def test_output_and_gate(tmp_path, folder):
    rows = [*ROWS, row("他龘了。", "他", "她"), row("一个犇人。", "犇", "女")]
    table, gate, counts = run(tmp_path, rows, folder)
    assert [r["sentence_id"] for r in table] == [r["sentence_id"] for r in rows]
    assert table[-2]["has_unk"] is True and table[-2]["excluded"] is None
    assert table[-1]["excluded"] == "keyword_unknown"
    assert gate["excluded"] == {"keyword_unknown": 1}
    assert gate["scored"] + 1 == gate["sentences"] == len(rows) == counts["sentences"]
    assert gate["sentences_with_unknown"] == 1
    assert gate["unknown_most_frequent"] == {"龘": 1}
    assert gate["keywords"]["爸爸"] == ["爸", "爸"]
    assert gate["family"] == "masked" and gate["check"]["passed"] is False
    assert (gate["near_tie_margin"], gate["rescored"]) == (None, 0)
    assert gate["trusted"] is False and gate["reason"] == "fill_mask_not_above_baseline"


def test_same_bytes_whatever_the_threads(tmp_path, folder):
    found = []
    for threads in (1, 2):
        run(tmp_path, ROWS, folder, threads=threads, tokens_per_batch=64)
        found.append([(tmp_path / name).read_bytes() for name in ("bias.parquet", "gate.json")])
    assert found[0] == found[1]


def test_chunks_change_rounding_only(tmp_path, folder, monkeypatch):
    whole, _, _ = run(tmp_path, ROWS, folder)
    monkeypatch.setattr(module, "SENTENCES_AT_ONCE", 3)
    parts, gate, _ = run(tmp_path, ROWS, folder)
    for a, b in zip(whole, parts, strict=True):
        assert a["bias"] == pytest.approx(b["bias"], abs=1e-5)
    assert gate["scored"] == len(whole)


def test_a_model_that_gives_nan_is_excluded_and_not_trusted(tmp_path):
    folder = tiny_models.save(tmp_path / "model")
    lm = load_masked_lm(folder)
    lm.model.cls.predictions.bias.data.fill_(np.nan)
    lm.model.save_pretrained(folder)
    table, gate, _ = run(tmp_path, ROWS, folder)
    assert {r["excluded"] for r in table} == {"not_finite"}
    assert gate["reason"] == "weights_not_finite, few_scored"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": 2}, r"dataset.parquet:1: start and end do not cut out the keyword"),
        ({"gender": "m"}, "gender is 'm'"),
        ({"opposite": None}, "the cell of opposite is empty"),
    ],
)
def test_a_malformed_row_is_named(tmp_path, folder, change, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path, [row("他是一个好老师。", "他", "她") | change], folder)
    assert not (tmp_path / "bias.parquet").exists()


def test_unusable_settings_and_an_empty_data_set(tmp_path, folder):
    with pytest.raises(InputError, match="a folder or a hub name"):
        run(tmp_path, ROWS[:1], folder, hub_name="a/b")
    empty = pa.Table.from_pylist(ROWS[:1]).slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="contains no sentence"):
        score_bias(
            dataset=tmp_path / "empty.parquet",
            **{"out": tmp_path / "o", "gate": tmp_path / "g", "name": "x", "model": folder},
        )


# ---------------------------------------------------------------- causal models


@pytest.mark.parametrize("family", ["gpt2", "gpt2 of characters"])
def test_a_causal_model_compares_two_whole_sentences(family, tmp_path):
    tokenizer = characters_with_start() if family.endswith("characters") else None
    lm = load_causal_lm(tiny_causal.save(tmp_path, "gpt2", tokenizer=tokenizer))
    for one, (result, _) in zip(CAUSAL_ROWS, scores_of(lm, CAUSAL_ROWS), strict=True):
        for form in (one, swapped(one)):
            ids = lm.tokenizer(form["sentence"], add_special_tokens=False).input_ids
            log_p, _, _ = tiny_causal.plain_scores(lm, [lm.start_id, *ids], 1)
            expected = pytest.approx(sum(log_p) / math.log(10), abs=1e-4, rel=1e-5)
            assert result[f"log_p_{form['gender']}"] == expected
        assert result["bias"] == result["log_p_male"] - result["log_p_female"]
        assert {result[f"bias_{name}"] for name in VARIANTS} == {None}


def test_sentences_that_a_causal_model_cannot_score(tmp_path):
    lm = load_causal_lm(tiny_causal.save(tmp_path / "a", tokenizer=characters_with_start()))
    rows = [
        row("他" + "一" * 32, "他", "她"),
        row("他来了。", "他", "犇"),
        row("一\u200b二", "\u200b", "她"),
        row("她是一个好老师。", "她", "她"),
    ]
    reasons = ["too_long", "keyword_unknown", "keyword_vanishes", "identical_tokens"]
    assert [result["excluded"] for result, _ in scores_of(lm, rows)] == reasons
    lm = load_causal_lm(tiny_causal.save(tmp_path / "b", "gpt_neox"))
    assert lm.start_id is None
    rows = [row("他来了。", "他", "她"), row("老师说他来了。", "他", "她")]
    assert [result["excluded"] for result, _ in scores_of(lm, rows)] == ["keyword_first", None]


def test_a_causal_model_as_a_stage(tmp_path):
    folder = tiny_causal.save(tmp_path / "model", tokenizer=characters_with_start())
    table, gate, counts = run(tmp_path, CAUSAL_ROWS, folder)
    assert gate["family"] == "causal" and gate["type"] == "gpt2"
    assert gate["reason"] == "next_token_not_above_baseline"
    assert counts["scored"] == len(table) == gate["check"]["sentences"]
    low, gate, _ = run(tmp_path, CAUSAL_ROWS, folder, dtype="bf16")
    assert gate["dtype"] == "bfloat16"
    assert [np.sign(r["bias"]) for r in low] == [np.sign(r["bias"]) for r in table]
    assert gate["keywords"]["叔叔"] == ["叔", "叔"]


# ---------------------------------------------------------------- bf16, and interruptions


def test_only_near_ties_are_scored_again(tmp_path, folder):
    others = sorted({c for sentence in tiny_models.SENTENCES for c in sentence})
    rows = [
        row("一" + sentence, "一", other)
        for sentence in tiny_models.SENTENCES
        for other in others
        if "一" not in sentence and other != "一"
    ]
    exact, _, _ = run(tmp_path, rows, folder)
    low, gate, _ = run(tmp_path, rows, folder, dtype="bf16")
    margin = gate["near_tie_margin"]
    assert 0 < margin < max(abs(a["bias"]) for a in exact)
    assert gate["calibrated_on"] == len(rows) and 0 < gate["rescored"] < len(rows)
    for a, b in zip(exact, low, strict=True):
        assert np.sign(a["bias"]) == np.sign(b["bias"])
        exactly = abs(b["bias"]) <= margin
        assert a["bias"] == pytest.approx(b["bias"], abs=1e-5 if exactly else margin)
    # too few sentences to say what the error is
    few, gate, _ = run(tmp_path, rows[:5], folder, dtype="bf16")
    assert (gate["near_tie_margin"], gate["calibrated_on"], gate["rescored"]) == (None, 5, 5)
    assert [row["bias"] for row in few] == pytest.approx([r["bias"] for r in exact[:5]], abs=1e-5)


def test_an_interrupted_scoring_goes_on(tmp_path, folder, monkeypatch):
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.setattr(module, "SENTENCES_AT_ONCE", 4)
    arguments = {
        "dataset": tmp_path / "dataset.parquet",
        "out": tmp_path / "bias.parquet",
        "gate": tmp_path / "gate.json",
        "name": "tiny",
        "model": folder,
    }
    pq.write_table(pa.Table.from_pylist(ROWS), arguments["dataset"])
    whole = stage.execute(score_bias, arguments)
    first = arguments["out"].read_bytes()
    calls = []

    def counted(*arguments_, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return score_sentences(*arguments_, **options)

    monkeypatch.setattr(module, "score_sentences", counted)
    with pytest.raises(KeyboardInterrupt):
        stage.execute(score_bias, arguments)
    monkeypatch.setattr(module, "score_sentences", score_sentences)
    runs = []
    original = execution._fit
    monkeypatch.setattr(
        execution, "_fit", lambda *arguments_: runs.append(1) or original(*arguments_)
    )
    again = stage.execute(score_bias, arguments)
    assert arguments["out"].read_bytes() == first
    assert again["counts"] == whole["counts"]
    afresh = len(runs)
    runs.clear()
    stage.execute(score_bias, arguments)
    assert 0 < afresh < len(runs)  # two chunks were there; after a success nothing is kept
