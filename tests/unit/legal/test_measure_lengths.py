import itertools

import pytest

from evenhand.errors import InputError
from evenhand.legal.measure_lengths import measure_lengths
from evenhand.legal.tokenise_cases import tokenise_cases
from unit.legal import made_tokenizers
from unit.legal.made_cases import read_csv, write_cases


def measured(folder, kind, cases, tokenizer=None, other=None):
    data = write_cases(folder / "d.parquet", kind, cases)
    given = {}
    if tokenizer:
        model = made_tokenizers.save(folder / "model", tokenizer)
        given = {"tokens": [folder / "t.arrow"], "metas": [folder / "t.json"]}
        tokenise_cases(
            data=other or data, out=folder / "t.arrow", meta=folder / "t.json", kind=kind,
            name="tiny", model=model,
        )  # fmt: skip
    counts = measure_lengths(data=data, out=folder / "l.csv", kind=kind, dataset="mine", **given)
    return counts, read_csv(folder / "l.csv")


def one(rows, unit, quantity):
    (row,) = [row for row in rows if (row["unit"], row["quantity"]) == (unit, quantity)]
    return row


def test_words_and_paragraphs(tmp_path):
    cases = [{"text": ["one two  three", "four"]}, {"text": ["one two"] * 40}]
    counts, rows = measured(tmp_path, "ecthr", cases)
    assert counts == {"cases": 2, "rows": len(rows)}
    assert one(rows, "words", "mean")["value"] == "42.000000"
    assert one(rows, "words", "max")["value"] == "80"
    assert one(rows, "paragraphs", "min")["value"] == "2"
    beyond = one(rows, "words", "beyond the segments")
    assert [beyond[name] for name in ("value", "count", "of")] == ["32", "16", "84"]
    beyond = one(rows, "paragraphs", "beyond the segments")
    assert (beyond["count"], beyond["share"]) == ("1", "0.500000")
    assert {row["unit"] for row in rows} == {"words", "paragraphs"}


def test_characters_where_words_have_no_blanks(tmp_path):
    _, rows = measured(tmp_path, "cail", [{"text": ["被告人 张某。", "某"]}])
    assert one(rows, "characters", "max")["value"] == "7"
    assert not [row for row in rows if row["unit"] == "words"]


@pytest.mark.parametrize("longest", [1, 39, 40, 400, 4000, 123456])
def test_the_histogram_covers_every_case_once(tmp_path, longest):
    cases = [{"text": ["a " * (1 + longest * n // 9)]} for n in range(10)]
    _, rows = measured(tmp_path, "ecthr", cases)
    bars = [row for row in rows if (row["unit"], row["quantity"]) == ("words", "histogram")]
    assert sum(int(row["count"]) for row in bars) == 10
    assert len(bars) <= 42
    edges = [(int(row["from"]), row["to"]) for row in bars]
    assert edges[0][0] == 0
    for (_, to), (start, _) in itertools.pairwise(edges):
        assert int(to) + 1 == start


def test_what_the_limits_cut(tmp_path):
    cases = [
        {"text": ["case " * 200, "facts"]},  # 126 and 1 are read
        {"text": ["facts of"] * 34},  # 64 of 68
        {"text": ["case"]},
    ]
    _, rows = measured(tmp_path, "ecthr", cases, made_tokenizers.words())
    values = {
        quantity: [one(rows, "tokens", quantity)[name] for name in ("value", "count", "of")]
        for quantity in
        ("beyond the segments", "beyond the tokens", "cut", "cases cut", "slots filled")
    }  # fmt: skip
    assert values == {
        "beyond the segments": ["32", "4", "270"],
        "beyond the tokens": ["128", "74", "270"],
        "cut": ["", "78", "270"],
        "cases cut": ["", "2", "3"],
        "slots filled": ["", str(128 + 3 + 32 * 4 + 3), str(3 * 32 * 128)],
    }
    assert one(rows, "tokens", "max")["value"] == "201"
    assert {row["tokenizer"] for row in rows if row["unit"] == "tokens"} == {"tiny"}


def test_tokens_of_another_data_set(tmp_path):
    other = write_cases(tmp_path / "o.parquet", "ecthr", [{}, {"case_id": "another"}])
    for cases in ([{}], [{}, {}]):
        with pytest.raises(InputError, match="other cases than the data set"):
            measured(tmp_path, "ecthr", cases, made_tokenizers.words(), other)


def test_a_description_is_missing(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "ecthr", [{}])
    with pytest.raises(InputError, match="its description"):
        measure_lengths(
            data=data, out=tmp_path / "l.csv", kind="ecthr", dataset="mine", tokens=[data]
        )


def test_no_case_at_all(tmp_path):
    counts, rows = measured(tmp_path, "ecthr", [], made_tokenizers.words())
    assert counts == {"cases": 0, "rows": 0}
    assert rows == []
