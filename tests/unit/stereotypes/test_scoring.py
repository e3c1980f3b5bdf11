import copy
import difflib
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.scoring.methods import METHODS
from evenhand.scoring.models import load_causal_lm, load_masked_lm
from evenhand.scoring.selection import enable_selection
from evenhand.stereotypes import scoring
from evenhand.stereotypes.rows import (
    ACCURACY_PASS,
    choose_methods,
    encode,
    passes_for,
    score_row,
    value,
)
from evenhand.stereotypes.scoring import Exact, calibrated, score_pairs_of
from unit.scoring import tiny_causal
from unit.stereotypes import english_models
from unit.stereotypes.english_models import pair


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Each family's model, loaded when first asked for."""
    loaded = {}

    def get(family, **options):
        if family not in loaded:
            folder = english_models.save(tmp_path_factory.mktemp(family), family)
            load = load_masked_lm if family in english_models.MASKED else load_causal_lm
            loaded[family] = load(folder, **options)
        return loaded[family]

    return get


def family_of(lm):
    return "masked" if hasattr(lm, "mask_id") else "causal"


def score(lm, pairs, methods=None, **options):
    """The rows of a table of pairs, by pair, side and variant."""
    family = family_of(lm)
    chosen = choose_methods(methods, family)
    passes = passes_for(family, chosen, accuracy=True)
    options = {"tokens_per_batch": 200} | options
    return {
        (row.pair["pair_id"], row.side, row.variant): row
        for rows in score_pairs_of(lm, pairs, methods=chosen, passes=passes, **options)
        for row in rows
    }


def scores(lm, pairs, methods=None, **options):
    family = family_of(lm)
    return {
        key: score_row(row, choose_methods(methods, family), ACCURACY_PASS[family])
        for key, row in score(lm, pairs, methods=methods, **options).items()
    }


def assert_close(found, expected):
    """Equal but for rounding."""
    assert list(found) == list(expected)
    for key, row in expected.items():
        for name, wanted in row.items():
            close = (
                pytest.approx(wanted, rel=1e-5, abs=1e-6) if isinstance(wanted, float) else wanted
            )
            assert found[key][name] == close, (key, name)


# ---------------------------------------------------------------- the definitions, read off


def plain_tokens(lm, context, sentence):
    """The input as the tokenizer gives it, and the places of the sentence."""
    if context is None:
        coded = lm.tokenizer(sentence, return_special_tokens_mask=True)
        own = [i for i, special in enumerate(coded["special_tokens_mask"]) if not special]
        return coded["input_ids"], own, {}
    coded = lm.tokenizer(context, sentence, return_token_type_ids=True)
    own = [i for i, number in enumerate(coded.sequence_ids()) if number == 1]
    types = {"token_type_ids": torch.tensor([coded["token_type_ids"]])}
    knows = hasattr(lm.model.config, "type_vocab_size")
    return coded["input_ids"], own, types if knows else {}


def plain_scores(lm, one, side):
    """AUL, AULA, CPS, SSS and the control of one sentence, each input by itself."""
    ids, own, types = plain_tokens(lm, one["context"], one[side])
    log_p, attention = english_models.plain_unmasked(lm, ids, **types)
    log_p, attention = log_p[own], attention[own]
    found = {
        "aul": log_p.mean(),
        "aula": (attention * log_p).mean(),
        "aula_norm": (attention * log_p).sum() / attention.sum(),
    }

    def masked(places):
        hidden = [lm.mask_id if i in places else token for i, token in enumerate(ids)]
        with torch.inference_mode():
            logits = lm.model(input_ids=torch.tensor([hidden]), **types).logits[0].double()
        return logits.log_softmax(dim=-1)

    found["all_masked"] = np.mean([masked(own)[i, ids[i]].item() for i in own])
    if side == "unrelated":
        return found | dict.fromkeys(("cps", "sss", "sss_compat"))
    both = [plain_tokens(lm, one["context"], one[side])[0] for side in ("more", "less")]
    matcher = difflib.SequenceMatcher("", *([*map(str, ids)] for ids in both))
    starts = [(block[side == "less"], block.size) for block in matcher.get_matching_blocks()]
    shared = [i for start, size in starts for i in range(start, start + size) if i in own]
    changed = [i for i in own if i not in shared]
    found["cps"] = sum(masked([i])[i, ids[i]].item() for i in shared) if shared else None
    hidden = masked(changed)
    found["sss"] = np.mean([hidden[i, ids[i]].item() for i in changed]) if changed else None
    cross = [hidden[i, ids[j]].item() for i in changed for j in changed]
    return found | {"sss_compat": np.mean(cross) if changed else None}


@pytest.mark.parametrize(("name", "end"), [("AUL", r"; did you mean aul\?"), ("cosine", r"\.")])
def test_an_unknown_method_is_refused_with_the_nearest(name, end):
    with pytest.raises(
        InputError, match=rf"^there is no method '{name}'; choose one of aul, .* and .*_token{end}$"
    ):
        choose_methods([name], "masked")


@pytest.mark.parametrize("family", english_models.MASKED)
def test_scores_are_those_of_the_plain_definitions(models, family):
    lm = models(family)
    pairs = english_models.ordinary_pairs()
    found = scores(lm, pairs)
    for one in pairs:
        for side in ("more", "less", "unrelated"):
            if one[side] is None:
                assert (one["pair_id"], side, "original") not in found
                continue
            row = found[one["pair_id"], side, "original"]
            assert row["excluded"] is None
            plain = {**one, "context": (one["context"] or "").strip() or None}
            for method, expected in plain_scores(lm, plain, side).items():
                assert row[method] == (
                    None if expected is None else pytest.approx(expected, rel=1e-5, abs=1e-6)
                ), (one["pair_id"], side, method)


def test_a_causal_model_scores_each_token_given_those_before_it(models):
    lm = models("gpt2")
    pairs = english_models.ordinary_pairs()
    for (number, side, _), row in scores(lm, pairs).items():
        one = next(one for one in pairs if one["pair_id"] == number)
        before = (one["context"] or "").strip()
        ids = lm.tokenizer(f"{before} {one[side]}" if before else one[side]).input_ids
        given = len(lm.tokenizer(before).input_ids)
        log_p, first, _ = tiny_causal.plain_scores(lm, [lm.start_id, *ids], 1 + given)
        assert row["n_tokens"] == len(log_p)
        assert row["log_likelihood"] == pytest.approx(sum(log_p), rel=1e-5)
        assert row["log_likelihood_per_token"] == pytest.approx(np.mean(log_p), rel=1e-5)
        assert row["n_correct"] == sum(first)
        assert row["n_specials"] == 0
        assert all(row[name] is None for name in ("aul", "cps", "cps_tokens", "all_masked_correct"))


# ---------------------------------------------------------------- what is excluded


@pytest.mark.parametrize("family", english_models.FAMILIES)
def test_each_exclusion_has_its_reason_and_no_score(models, family):
    lm = models(family)
    pairs = english_models.all_pairs()
    found = scores(lm, pairs, shuffle_seed=0)
    reasons = {
        (number.removeprefix("pair-"), side): row["excluded"]
        for (number, side, variant), row in found.items()
        if variant == "original" and row["excluded"]
    }
    expected = {
        ("20", "more"): "identical",
        ("20", "less"): "identical",
        ("21", "more"): "identical",
        ("21", "less"): "identical",
        ("22", "more"): "empty",
        ("22", "less"): "empty",
        ("23", "more"): "empty",
        ("24", "more"): "empty",
        ("25", "more"): "too_long",
        ("25", "less"): "too_long",
        ("26", "less"): "too_long",
        ("31", "unrelated"): "empty",
    }
    if family not in ("roberta", "gpt2"):  # these two write every character, as bytes
        expected |= {("27", "more"): "unknown_only"}
        expected |= {("28", "more"): "unknown_only", ("28", "less"): "unknown_only"}
    if family in ("bert", "electra", "distilbert"):  # without capitals
        expected |= {("29", "more"): "identical_tokens", ("29", "less"): "identical_tokens"}
    assert reasons == expected
    for (number, side, variant), row in found.items():
        assert row["excluded"] == found[number, side, "original"]["excluded"]
        numbers = [row[name] for name in (*METHODS, "n_correct", "cps_tokens", "sss_correct")]
        if row["excluded"]:
            assert numbers == [None] * len(numbers)
        else:
            assert all(value is None or math.isfinite(value) for value in numbers)
            assert row["n_correct"] is not None
        if variant == "shuffled":
            assert side != "unrelated"
            assert row["cps"] is row["sss"] is row["all_masked"] is None
    partner = found["pair-26", "more", "original"]  # of one that is too long
    assert partner["cps"] is partner["sss"] is None
    assert (partner["aul"] or partner["log_likelihood"]) is not None


def test_an_insertion_has_no_changed_token_on_one_side(models):
    row = scores(models("bert"), [pair(0, "He is not poor.", "He is poor.")])
    more, less = (row["pair-0", side, "original"] for side in ("more", "less"))
    assert less["sss"] is less["sss_compat"] is None and less["sss_tokens"] == 0
    assert more["sss"] is not None and more["sss_tokens"] > 0
    assert more["cps_tokens"] == less["cps_tokens"] > 0


def test_sentences_without_a_shared_token_have_no_cps(models):
    row = scores(models("bert"), [pair(0, "women", "he is poor")])["pair-0", "more", "original"]
    assert row["cps_tokens"] == 0 and row["cps"] is None
    assert row["sss"] is not None


def test_a_model_that_gives_no_finite_number(tmp_path):
    lm = load_masked_lm(english_models.save(tmp_path, "bert"))
    poor = lm.tokenizer.convert_tokens_to_ids("p")
    with torch.no_grad():
        lm.model.bert.embeddings.word_embeddings.weight[poor] = math.nan
    found = scores(lm, [pair(0, "He is poor.", "He is rich."), pair(1, "A fish.", "A man.")])
    assert {row["excluded"] for row in found.values()} == {"not_finite"}  # the head is tied
    lm = load_masked_lm(tmp_path)
    with torch.no_grad():
        lm.model.bert.embeddings.position_embeddings.weight[9:] = math.nan
    found = scores(lm, [pair(0, "He is old.", "The tall girls were good at basketball.")])
    assert found["pair-0", "more", "original"]["excluded"] is None
    assert found["pair-0", "less", "original"]["excluded"] == "not_finite"
    assert found["pair-0", "less", "original"]["aul"] is None


def test_a_causal_model_without_a_start(tmp_path):
    lm = load_causal_lm(tiny_causal.save(tmp_path, "gpt_neox"))
    assert lm.start_id is None
    found = scores(lm, [pair(0, "a", "ab b"), pair(1, "Xabc", "Yabc")])
    assert found["pair-0", "more", "original"]["excluded"] == "one_token"
    assert found["pair-0", "less", "original"]["log_likelihood"] is not None
    more, less = (found["pair-1", side, "original"] for side in ("more", "less"))
    assert more["excluded"] is less["excluded"] is None
    assert more["n_tokens"] == less["n_tokens"] == len(lm.tokenizer("Xabc").input_ids) - 1


# ---------------------------------------------------------------- tokens


@pytest.mark.parametrize("family", english_models.FAMILIES)
def test_the_sentence_is_all_of_its_text_and_nothing_else(models, family):
    lm = models(family)
    texts = [("", "He is poor."), ("My neighbour is tall.", "He is poor.")]
    for (context, sentence), one in zip(texts, encode(lm, texts), strict=True):
        own = [one.ids[place] for place in one.places]
        alone = lm.tokenizer(sentence, add_special_tokens=False).input_ids
        if family == "gpt2" and context:
            assert lm.tokenizer.decode(own) == f" {sentence}"
        else:
            assert own == alone
        assert not {*one.places}.intersection(one.specials)
        around = len(one.ids) - len(own) - len(one.specials)
        assert (around > (family == "gpt2")) == bool(context)


def test_equal_texts_are_read_once(models):
    lm = models("bert")
    text = ("", "He is poor.")
    first, other, again = encode(lm, [text, ("He is tall.", "He is poor."), text])
    assert first is again and other is not first


def test_a_tokenizer_without_a_form_for_two_texts_joins_them(tmp_path):
    folder = english_models.save(tmp_path, "albert")
    lm = load_masked_lm(folder)
    from tokenizers import processors

    lm.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    (one,) = encode(lm, [("My neighbour is tall.", "He is poor.")])
    assert one.ids == lm.tokenizer("My neighbour is tall. He is poor.").input_ids
    assert one.specials == [0, len(one.ids) - 1]
    own = lm.tokenizer.convert_ids_to_tokens([one.ids[place] for place in one.places])
    assert "".join(own).replace("▁", " ") == " He is poor."


# Not ALBERT: its Unigram vocabulary holds these names as pieces, so they cannot be told apart.
@pytest.mark.parametrize("family", [f for f in english_models.FAMILIES if f != "albert"])
def test_the_name_of_a_special_token_is_text(models, family):
    lm = models(family)
    names = [lm.tokenizer.special_tokens_map.get(name) for name in ("mask_token", "eos_token")]
    texts = [("", f"He is {name} poor.") for name in names if name]
    assert texts
    for one in encode(lm, texts):
        special = {*lm.tokenizer.all_special_ids} - {lm.unknown_id}
        assert not special.intersection(one.ids[place] for place in one.places)


def test_unknown_text_is_named(models):
    (one,) = encode(models("bert"), [("", "He is 貧 and 富 .")])
    assert one.unknown == ["貧", "富"]


# ---------------------------------------------------------------- chunks, threads, orders


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_chunks_and_batches_change_rounding_only(models, family, monkeypatch):
    lm = models(family)
    pairs = english_models.all_pairs()
    whole = scores(lm, pairs, shuffle_seed=1)
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 3)
    parts = scores(lm, pairs, shuffle_seed=1, tokens_per_batch=40)
    assert list(parts) == list(whole)
    assert_close(parts, whole)


def test_chunks_are_bounded_by_pairs_and_by_length(monkeypatch):
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 3)
    monkeypatch.setattr(scoring, "SQUARED_CHARACTERS_AT_ONCE", 1000)
    short, long = pair(0, "a", "b"), pair(1, "a" * 40, None)
    sizes = [len(chunk) for chunk in scoring.chunks([short] * 7 + [long] * 2 + [short])]
    assert sizes == [3, 3, 1, 1, 1, 1]
    assert list(scoring.chunks([])) == []


def test_progress_ends_at_the_number_of_pairs(models):
    for family in ("bert", "gpt2"):
        told = []
        pairs = english_models.all_pairs()
        score(models(family), pairs, progress=told.append)
        assert sum(told) == pytest.approx(len(pairs)) and min(told) >= -1e-9


words = st.sampled_from(["the", "old", "young", "man", "was", "late", "women", "girls", "poor"])
sentences = st.lists(words, min_size=1, max_size=7).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(sentences, sentences)
def test_swapping_the_sides_swaps_their_scores(models, more, less):
    lm = models("bert")
    there = scores(lm, [pair(0, more, less)])
    back = scores(lm, [pair(0, less, more)])
    for side, other in (("more", "less"), ("less", "more")):
        row, swapped = there["pair-0", side, "original"], back["pair-0", other, "original"]
        assert row["excluded"] == swapped["excluded"]
        for name in ("aul", "aula_norm", "all_masked") if not row["excluded"] else ():
            assert row[name] == pytest.approx(swapped[name], rel=1e-5)
        if row["cps_tokens"] is not None:
            assert row["cps_tokens"] + row["sss_tokens"] == row["n_tokens"]


# ---------------------------------------------------------------- methods and passes


def test_attention_is_read_only_where_it_is_wanted(models):
    rows = score(models("bert"), english_models.ordinary_pairs(), methods=["aul", "sss"])
    for row in rows.values():
        assert row.readings["unmasked"].alpha is None
        assert all(reading.crossed is None for reading in row.readings.values())
        assert {*row.readings} <= {"unmasked", "sss"}


def test_specials_are_counted(models):
    found = scores(models("roberta"), english_models.ordinary_pairs())
    assert found["pair-0", "more", "original"]["n_specials"] == 2
    assert found["pair-6", "more", "original"]["n_specials"] == 4  # <s> context </s></s> it </s>


# ---------------------------------------------------------------- exact decisions


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_near_ties_are_read_again_and_nothing_else(models, family):
    lm = models(family)
    pairs = english_models.ordinary_pairs()
    del pairs[3]  # an insertion: by SSS there is nothing to decide, so nothing to read again
    plain = scores(lm, pairs)
    methods = choose_methods(None, family_of(lm))
    # not bf16 but some noise on the weights, so that every score differs
    low = replace(lm, model=type(lm.model)(copy.deepcopy(lm.model.config)))
    low.model.load_state_dict(lm.model.state_dict())
    low.model.eval()
    enable_selection(low.model, before_output=family == "gpt2")
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in low.model.parameters():
            parameter.add_(0.003 * torch.randn(parameter.shape, generator=generator))
    wide = Exact(lm, dict.fromkeys(methods, math.inf), 0)
    assert_close(scores(low, pairs, exact=wide), plain)
    none = Exact(lm, dict.fromkeys(methods, -1.0), 0)
    assert scores(low, pairs, exact=none) == scores(low, pairs) != plain
    method = methods[0]
    gaps = {
        one["pair_id"]: abs(
            plain[one["pair_id"], "more", "original"][method]
            - plain[one["pair_id"], "less", "original"][method]
        )
        for one in pairs
    }
    margins = dict.fromkeys(methods, -1.0) | {method: sorted(gaps.values())[2]}
    rows = score(low, pairs, exact=Exact(lm, margins, 0))
    again = {key[0] for key, row in rows.items() if row.rescored}
    assert again and len(again) < len(pairs)
    for (number, side, variant), row in rows.items():
        # all sentences of the pair, in the pass of this method, and in no other
        expected = {ACCURACY_PASS[family_of(lm)]} if number in again else set()
        assert row.rescored == expected
        if number in again:
            exact = plain[number, side, variant][method]
            assert value(row, method) == pytest.approx(exact, rel=1e-6)


def test_margins_are_calibrated_for_each_method(tmp_path):
    folder = english_models.save(tmp_path, "bert")
    low, full = (load_masked_lm(folder, dtype=dtype) for dtype in ("bf16", "fp32"))
    methods = choose_methods(None, "masked")
    pairs = english_models.ordinary_pairs() * 5
    exact = calibrated(low, full, pairs, methods=methods, tokens_per_batch=200)
    assert exact.lm is full and exact.pairs == len(pairs) and {*exact.margins} == {*methods}
    assert all(0 < margin < math.inf for margin in exact.margins.values())
    assert exact.margins["cps"] > scoring.CPS_ROUNDING
    few = calibrated(low, full, pairs[:2], methods=methods, tokens_per_batch=200)
    assert set(few.margins.values()) == {math.inf}


def test_no_decision_in_bf16_differs_from_fp32(tmp_path):
    folder = english_models.save(tmp_path, "bert")
    low, full = (load_masked_lm(folder, dtype=dtype) for dtype in ("bf16", "fp32"))
    generator = np.random.default_rng(0)
    vocabulary = " ".join(english_models.SENTENCES).replace(".", "").lower().split()
    drawn = []
    for number in range(1000):
        text = generator.choice(vocabulary, 6)
        other = text.copy()
        other[generator.integers(6)] = generator.choice(vocabulary)
        drawn.append(pair(number, " ".join(text), " ".join(other)))
    methods = choose_methods(None, "masked")
    exact = calibrated(low, full, drawn[:35], methods=methods, tokens_per_batch=500)

    def gap(one, table):
        more, less = (table[one["pair_id"], side, "original"]["aul"] for side in ("more", "less"))
        return math.inf if None in (more, less) or more == less else abs(more - less)

    # the nearest ties, so that rounding turns some round on whatever processor this runs
    all_scores = scores(full, drawn, methods=["aul"], tokens_per_batch=5000)
    pairs = sorted(drawn, key=lambda one: gap(one, all_scores))[:30]
    wanted, found = scores(full, pairs), scores(low, pairs, exact=exact)
    plain = scores(low, pairs)
    flipped = dict.fromkeys(methods, 0)
    for one in pairs:
        if wanted[one["pair_id"], "more", "original"]["excluded"]:
            continue
        for method in methods:
            signs = []
            for table in (wanted, found, plain):
                values = [
                    table[one["pair_id"], side, "original"][method] for side in ("more", "less")
                ]
                signs.append(None if None in values else np.sign(values[0] - values[1]))
            assert signs[0] == signs[1], (one["more"], one["less"], method)
            flipped[method] += signs[0] != signs[2]
    assert flipped["aul"] > 0, flipped  # without the second reading decisions do flip


# ---------------------------------------------------------------- the pairs
