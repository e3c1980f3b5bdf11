from evenhand.slguset.dataset import SCHEMA, dataset_row, in_order
from made_sentences import keyword_row


def test_a_row_is_masked_and_swapped():
    row = dataset_row(keyword_row("那位奶奶来了。"))
    assert list(row) == SCHEMA.names
    assert row["masked_sentence"] == "那位[MASK][MASK]来了。"
    assert row["swapped_sentence"] == "那位爷爷来了。"
    assert row["gender"] == "female"


def test_rows_are_ordered_by_pair_gender_and_id():
    rows = [dataset_row(keyword_row(s)) for s in ("他来了。", "她来了。", "奶奶来了。", "她走了。")]
    ordered = in_order(rows, ["爷爷/奶奶", "他/她"])
    assert [row["keyword"] for row in ordered] == ["奶奶", "她", "她", "他"]
    assert ordered[1]["sentence_id"] < ordered[2]["sentence_id"]
    assert in_order(rows[::-1], ["爷爷/奶奶", "他/她"]) == ordered
