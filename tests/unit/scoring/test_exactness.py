"""Scores of real CrowS-Pairs pairs against the plain definitions."""

import csv

import pytest
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import BertConfig, BertTokenizerFast

from evenhand.scoring import pair_masks
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.questions import Questions, answer
from unit.scoring import plain


@pytest.fixture(scope="module")
def crows_pairs(mirror):
    path = mirror / "crows_pairs" / "crows_pairs_anonymized.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        pairs = [(row["sent_more"], row["sent_less"]) for row in csv.DictReader(stream)]
    assert len(pairs) == 1508
    return pairs


@pytest.fixture(scope="module")
def folder(crows_pairs, tmp_path_factory):
    """The tokenizer (a token per word of the pairs) and the configuration of a small BERT."""
    folder = tmp_path_factory.mktemp("bert")
    split = BertPreTokenizer().pre_tokenize_str
    sentences = (sentence for pair in crows_pairs[::4] for sentence in pair)
    words = {word for sentence in sentences for word, _ in split(sentence)}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    vocab = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = BertTokenizerFast(vocab=vocab, do_lower_case=False, strip_accents=False)
    tokenizer.save_pretrained(folder)
    BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=128,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=512,
        max_position_embeddings=128,
        initializer_range=0.1,
    ).save_pretrained(folder)
    return folder


def library_scores(lm, pairs):
    """The scores of both sides of each pair: a list of (dict, dict)."""
    questions, asked = Questions(), []
    for pair in pairs:
        both = pair_masks.pair_masks(*(ids[1:-1] for ids in pair))
        for ids, masks in zip(pair, both, strict=True):
            shared, changed = ([1 + place for place in places] for places in masks)
            asked.append(
                (
                    pair_masks.ask(questions, ids, range(1, len(ids) - 1)),
                    pair_masks.ask_each_masked(questions, ids, shared, lm.mask_id),
                    pair_masks.ask(questions, ids, changed, lm.mask_id),
                    pair_masks.ask_crossed(questions, ids, changed, lm.mask_id),
                )
            )
    answers = answer(lm, questions, tokens_per_batch=2048, attention=True)
    log_p, sides = answers.log_p, []
    for unmasked, each, changed, crossed in asked:
        given = {"cps": each, "sss": changed, "sss_compat": crossed}
        scores = {
            name: pair_masks.FORMULAS[name](log_p[numbers]) if numbers else None
            for name, numbers in {"aul": unmasked, **given}.items()
        }
        for name in ("aula", "aula_norm"):
            scores[name] = pair_masks.FORMULAS[name](log_p[unmasked], answers.alpha[unmasked])
        sides.append(scores)
    return list(zip(sides[::2], sides[1::2], strict=True))


@pytest.mark.mirror
def test_scores_follow_the_definitions(crows_pairs, folder):
    lm = load_masked_lm(folder, seed=0)
    coded = [tuple(lm.tokenizer(list(pair)).input_ids) for pair in crows_pairs[::20]]
    scores = library_scores(lm, coded)
    lm.model.set_attn_implementation("eager")
    for pair, sides in zip(coded, scores, strict=True):
        expected = plain.pair_scores(lm.model, *pair, lm.mask_id)
        for name in expected[0]:
            ours, theirs = ([side[name] for side in both] for both in (sides, expected))
            if None in theirs:
                assert [x is None for x in ours] == [x is None for x in theirs], name
            else:
                assert ours == pytest.approx(theirs, rel=1e-5), name
                assert (ours[0] > ours[1]) == (theirs[0] > theirs[1]), name
