import json

import numpy as np
import pyarrow as pa
import pytest
from transformers import AutoTokenizer

from evenhand.errors import InputError
from evenhand.legal.stores import TokenStore, read_tokens, read_tokens_meta
from evenhand.legal.tokenise_cases import tokenise_cases
from unit.legal import made_tokenizers
from unit.legal.made_cases import write_cases

CLS, SEP = 2, 3


def run(folder, cases, tokenizer, kind="ecthr", **options):
    """The rows, the description and the counts."""
    model = made_tokenizers.save(folder / "model", tokenizer)
    data = write_cases(folder / "d.parquet", kind, cases)
    out, meta = folder / "tokens.arrow", folder / "tokens.json"
    counts = tokenise_cases(data=data, out=out, meta=meta, name="tiny", model=model, **options)
    rows = read_tokens(out).to_pylist()
    return rows, read_tokens_meta(meta), counts


def test_paragraphs_as_ids(tmp_path):
    cases = [{"text": ["facts of the case", "the applicant zebra"]}, {"text": ["born"]}]
    rows, meta, counts = run(tmp_path, cases, made_tokenizers.words())
    assert [row["case_id"] for row in rows] == ["ecthr-1", "ecthr-2"]
    assert rows[0]["tokens"] == [[CLS, 5, 6, 7, 8, SEP], [CLS, 7, 9, 1, SEP]]
    assert rows[1]["tokens"] == [[CLS, 11, SEP]]
    assert [row["lengths"] for row in rows] == [[4, 3], [1]]
    special = {"before": [CLS], "after": [SEP], "pad": 0, "unknown": 1, "mask": 4}
    assert meta["special"] == special
    assert (meta["segments"], meta["tokens"], meta["dtype"]) == (32, 128, "uint16")
    assert meta["unknown_share"] == 0.125
    assert meta["counts"] == counts == {
        "cases": 2, "paragraphs": 3, "paragraphs_stored": 3, "tokens": 8, "tokens_stored": 8,
        "unknown": 1,
    }  # fmt: skip


def test_what_is_beyond_the_limits_is_counted(tmp_path):
    cases = [{"text": ["case " * 300]}, {"text": ["case"] * 70}]
    rows, meta, counts = run(tmp_path, cases, made_tokenizers.words())
    (paragraph,) = rows[0]["tokens"]
    assert (len(paragraph), paragraph[0], paragraph[-1]) == (128, CLS, SEP)
    assert rows[0]["lengths"] == [300]
    assert (len(rows[1]["tokens"]), len(rows[1]["lengths"])) == (meta["stored_paragraphs"], 70)
    assert (counts["tokens"], counts["tokens_stored"]) == (370, 126 + 64)
    assert (counts["paragraphs"], counts["paragraphs_stored"]) == (71, 65)


def test_it_is_what_transformers_gives(tmp_path):
    text = ["The applicant was born in Ghent; “tér” 判处 facts.", "was " * 200]
    rows, meta, _ = run(tmp_path, [{"text": text}], made_tokenizers.bytes_with_merges())
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    expected = tokenizer(text, truncation=True, max_length=128).input_ids
    assert rows[0]["tokens"] == expected
    assert meta["unknown_share"] is None


def test_published_blanks_are_those_of_the_published_cut(tmp_path):
    """What a RoBERTa tokenizer makes of ``text.split("</s>")``."""
    paragraphs = ["the facts of the case", "the applicant", "was born"]
    tokenizer = made_tokenizers.bytes_with_merges()
    rows, _, _ = run(tmp_path, [{"text": paragraphs}], tokenizer, published_blanks=True)
    published = AutoTokenizer.from_pretrained(tmp_path / "model")
    cut = " </s> ".join(paragraphs).split("</s>")
    assert rows[0]["tokens"] == published(cut)["input_ids"]
    plain, _, _ = run(tmp_path, [{"text": paragraphs}], tokenizer)
    assert plain[0]["tokens"] == published(paragraphs)["input_ids"] != rows[0]["tokens"]


def test_markers_in_the_text_are_text(tmp_path):
    rows, _, _ = run(tmp_path, [{"text": ["born </s> <pad>"]}], made_tokenizers.bytes_with_merges())
    assert not {1, 2} & set(rows[0]["tokens"][0][1:-1])


def test_large_vocabularies_take_four_bytes(tmp_path):
    tokenizer = made_tokenizers.words(extra=2**16)
    rows, meta, _ = run(tmp_path, [{"text": ["word65000 case"]}], tokenizer)
    assert meta["dtype"] == "uint32"
    assert rows[0]["tokens"] == [[CLS, 16 + 65000, 8, SEP]]


def test_the_same_bytes_and_a_mapped_file(tmp_path):
    cases = [{"text": [f"case {n}", "the facts ."]} for n in range(700)]
    tokenizer = made_tokenizers.words()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        run(tmp_path / name, cases, tokenizer)
    for name in ("tokens.arrow", "tokens.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    before = pa.total_allocated_bytes()
    table = read_tokens(tmp_path / "a/tokens.arrow")
    assert pa.total_allocated_bytes() == before and len(table) == 700
    store = TokenStore(tmp_path / "a/tokens.arrow")
    [ids] = store.case(1, most=1)
    assert ids.dtype == np.uint16
    assert not ids.flags.owndata
    assert ids.tolist() == [CLS, 8, 13, SEP]
    assert [paragraph.tolist() for paragraph in store.case(699)] == table["tokens"][699].as_py()


def test_no_case_at_all(tmp_path):
    rows, meta, counts = run(tmp_path, [], made_tokenizers.words())
    assert rows == []
    assert counts["cases"] == 0
    assert meta["unknown_share"] is None


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("none", "no such model folder"),
        ("empty", "lacks a tokenizer"),
        (None, "a folder or a hub name"),
        ("./mine", r"^\./mine is no folder, and no name on the hub; give"),
        ("short", "takes 100 tokens, and paragraphs of ECtHR have up to 128"),
    ],
)
def test_what_is_no_tokenizer(tmp_path, model, problem):
    made_tokenizers.save(tmp_path / "short", made_tokenizers.words(longest=100))
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/config.json").touch()
    with pytest.raises(InputError, match=problem):
        tokenise_cases(
            data=write_cases(tmp_path / "d.parquet", "ecthr", [{}]),
            out=tmp_path / "t.arrow",
            meta=tmp_path / "t.json",
            name="tiny",
            **({"hub_name": model} if model == "./mine" else {"model": model and tmp_path / model}),
        )


def test_other_files(tmp_path):
    file = tmp_path / "x"
    file.write_text(json.dumps({"tokens": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="lacks special"):
        read_tokens_meta(file)
    with pytest.raises(InputError, match="no Arrow file"):
        read_tokens(file)
