"""Our scores against those that follow from the definitions step by step (`plain`)."""

import csv

import numpy as np
import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from evenhand.scoring import pair_masks
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.questions import Questions, answer
from unit.scoring import plain, tiny_models

PAIRS = [
    ("他是一个好老师。", "妈妈是一个好老师。"),
    ("爸爸在厨房里做饭。", "女人在厨房里做饭。"),
    ("这个男人很高。", "这个女孩子很高。"),
    ("儿子和朋友去了北京。", "女儿和朋友去了。"),
    ("叔叔都来了。", "叔叔阿姨都来了。"),  # nothing to mask on the first side
    ("小男孩丢了钱包。", "女儿在2024年毕业。"),
]


def our_scores(lm, pairs):
    """The scores of both sides of each pair: a list of (dict, dict)."""
    questions, asked = Questions(), []
    for one, other in pairs:
        both = pair_masks.pair_masks(one[1:-1], other[1:-1])
        for ids, masks in zip((one, other), both, strict=True):
            shared, changed = ([1 + i for i in places] for places in masks)
            asked.append(
                (
                    pair_masks.ask_unmasked(questions, ids, range(1, len(ids) - 1)),
                    pair_masks.ask_each_masked(questions, ids, shared, lm.mask_id),
                    pair_masks.ask_all_masked(questions, ids, changed, lm.mask_id),
                    pair_masks.ask_crossed(questions, ids, changed, lm.mask_id),
                )
            )
    answers = answer(lm, questions, tokens_per_batch=2048, attention=True)
    sides = []
    for unmasked, each, changed, crossed in asked:
        log_p, alpha = answers.log_p[unmasked], answers.alpha[unmasked]
        sides.append(
            {
                "aul": pair_masks.aul(log_p),
                "aula": pair_masks.aula(log_p, alpha),
                "aula_norm": pair_masks.aula_norm(log_p, alpha),
                "cps": pair_masks.cps(answers.log_p[each]),
                "sss": pair_masks.sss(answers.log_p[changed]),
                "sss_compat": pair_masks.sss_compat(answers.log_p[np.array(crossed, dtype=int)]),
            }
        )
    return list(zip(sides[::2], sides[1::2], strict=True))


def plain_scores(lm, pairs):
    lm.model.set_attn_implementation("eager")
    return [plain.pair_scores(lm.model, *pair, lm.mask_id) for pair in pairs]


def check(ours, expected):
    """Equal to 1e-5, and which side of a pair has the higher score is the same everywhere."""
    for found, wanted in zip(ours, expected, strict=True):
        for name in wanted[0]:
            one, two = ([side[name] for side in sides] for sides in (found, wanted))
            if None in two:
                assert [score is None for score in one] == [score is None for score in two], name
                continue
            assert one == pytest.approx(two, rel=1e-5), name
            assert (one[0] > one[1]) == (two[0] > two[1]), name


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_five_architectures(family, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    pairs = [tuple(lm.tokenizer(list(pair)).input_ids) for pair in PAIRS]
    ours = our_scores(lm, pairs)
    assert ours[4][0]["sss"] is None and ours[4][1]["sss"] is not None
    check(ours, plain_scores(lm, pairs))


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_all_masked(family, tmp_path):
    lm = load_masked_lm(tiny_models.save(tmp_path, family))
    for ids in lm.tokenizer(tiny_models.SENTENCES).input_ids:
        questions = Questions()
        asked = pair_masks.ask_all_masked(questions, ids, range(1, len(ids) - 1), lm.mask_id)
        answers = answer(lm, questions, tokens_per_batch=64)
        assert pair_masks.all_masked(answers.log_p[asked]) == pytest.approx(
            plain.all_masked(lm.model, ids, lm.mask_id), rel=1e-5
        )


@pytest.mark.mirror
def test_every_eighth_of_crows_pairs(mirror, tmp_path):
    file = mirror / "crows_pairs/crows_pairs_anonymized.csv"
    with file.open(encoding="utf-8", newline="") as stream:
        texts = [(row["sent_more"], row["sent_less"]) for row in csv.DictReader(stream)]
    trained = BertWordPieceTokenizer(lowercase=False)
    trained.train_from_iterator(
        [text for pair in texts for text in pair], vocab_size=1500, show_progress=False
    )
    tokenizer = BertTokenizerFast(vocab=trained.get_vocab(), do_lower_case=False)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.2,
    )
    BertForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    lm = load_masked_lm(tmp_path)
    assert len(texts) == 1508
    coded = tokenizer([text for pair in texts[::8] for text in pair]).input_ids
    pairs = list(zip(coded[::2], coded[1::2], strict=True))
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # for a model as small as this one the fastest
    try:
        check(our_scores(lm, pairs), plain_scores(lm, pairs))
    finally:
        torch.set_num_threads(before)
