import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizerFast, GPT2TokenizerFast

from evenhand.errors import InputError
from evenhand.learning.vocabulary import (
    BERT_SPECIALS,
    byte_level_bpe,
    character_vocabulary,
    wordpiece_vocabulary,
)

#: Many words that are equally frequent, so that chance has a say in the order of merges.
WORDS = [
    a + b + c for a in ("ba", "ki", "tre") for b in ("no", "sol") for c in ("man", "her", "ed")
]
SENTENCES = [f"{one} {two}." for one in WORDS for two in WORDS]


def test_characters():
    found = character_vocabulary(["老师12老", "Ab"], 1)
    assert found[:5] == BERT_SPECIALS
    assert found[5] == "老"
    assert sorted(found[6:]) == sorted(["师", "1", "##2", "A", "##b"])
    assert character_vocabulary(["老师12老", "Ab"], 2)[5:] == ["老"]
    with pytest.raises(InputError, match="no character occurs least_count = 3"):
        character_vocabulary(["老师12老"], 3)


def test_pieces_are_lower_case_and_the_most_frequent():
    found = wordpiece_vocabulary(["The café", "the CAFE", "the cat"], 60, 3)
    assert found[:5] == BERT_SPECIALS
    assert {"the", "ca", "##f", "f", "##t"} <= {*found} and "cafe" not in found
    assert all(token == token.lower() for token in found[5:])
    assert len({*found}) == len(found)


@given(st.lists(st.sampled_from("abcdé"), min_size=1, max_size=12).map("".join))
def test_any_word_of_known_letters_can_be_written(word):
    vocabulary = wordpiece_vocabulary(["abc de", "Bad cab éd"], 40, 1)
    tokenizer = BertTokenizerFast(vocab={token: i for i, token in enumerate(vocabulary)})
    ids = tokenizer(word, add_special_tokens=False).input_ids
    assert tokenizer.decode(ids) == word.replace("é", "e")


@given(st.text(max_size=30))
def test_bytes_write_any_text(text):
    vocabulary, merges = byte_level_bpe(SENTENCES, 300)
    tokenizer = GPT2TokenizerFast(vocab=vocabulary, merges=merges)
    coded = tokenizer(text, split_special_tokens=True, return_offsets_mapping=True)
    assert tokenizer.decode(coded["input_ids"], clean_up_tokenization_spaces=False) == text
    assert all(0 <= start <= end <= len(text) for start, end in coded["offset_mapping"])


PRINT = """
import json, sys
from evenhand.learning.vocabulary import byte_level_bpe, wordpiece_vocabulary
sentences = json.load(sys.stdin)
print(json.dumps([wordpiece_vocabulary(sentences, 70, 1), byte_level_bpe(sentences, 300)]))
"""


def test_another_process_finds_the_same():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PRINT],
            input=json.dumps(sentences),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for sentences in (SENTENCES, SENTENCES, SENTENCES[::-1])
    ]
    assert runs[0] == runs[1] == runs[2]


def test_too_small():
    with pytest.raises(InputError, match=r"10 tokens is too small .* give at least 34"):
        wordpiece_vocabulary(SENTENCES, 10, 1)
    with pytest.raises(InputError, match=r"256 tokens is too small .* give at least 257"):
        byte_level_bpe(SENTENCES, 256)
