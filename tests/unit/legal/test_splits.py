from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.legal.records import Record, write_records
from evenhand.legal.splits import SPLIT, split_cases
from evenhand.text.near_duplicates import jaccard, words

FIRST = date(2010, 1, 1)


def case(number, *, day=None, text=None, split=None):
    """A case whose text no other has, unless `text` says otherwise."""
    return Record(
        case_id=f"c{number}",
        source="s",
        source_position=number,
        text=(text or " ".join(f"w{number}x{i}" for i in range(12)),),
        date=None if day is None else FIRST + timedelta(days=day),
        split=split,
        metadata={},
    )


def divide(folder, *files, **options):
    """Splits by case id, the other table's rows, and the counts."""
    records = []
    for number, cases in enumerate(files):
        records.append(folder / f"{number}.parquet")
        write_records(records[-1], cases)
    cases, duplicates, counts = split_cases(
        records, options.get("shares"), options.get("threshold", 0.8)
    )
    assert len(cases) == counts["cases"]
    splits = {name: {key: case[key] for key in SPLIT.names} for name, case in cases.items()}
    assert all(name == row["case_id"] for name, row in splits.items())
    return splits, duplicates, counts


def test_by_date(tmp_path):
    cases = [case(i, day=(7 * i) % 20) for i in range(20)]
    splits, duplicates, counts = divide(tmp_path, cases)
    by_age = sorted(cases, key=lambda one: one.date)
    assert [splits[one.case_id]["split"] for one in by_age] == (
        ["train"] * 16 + ["dev"] * 2 + ["test"] * 2
    )
    assert {row["method"] for row in splits.values()} == {"chronological"}
    assert list(splits) == [one.case_id for one in cases]
    assert not duplicates and not counts["note"]
    assert counts["splits"]["dev"] == {
        "cases": 2,
        "first_date": "2010-01-17",
        "last_date": "2010-01-18",
    }


def test_undated_cases_are_divided_by_a_digest(tmp_path):
    cases = [case(i, day=i if i < 10 else None) for i in range(30)]
    splits, _, counts = divide(tmp_path, cases)
    found = [splits[f"c{i}"]["split"] for i in range(30)]
    assert found[:10] == ["train"] * 8 + ["dev", "test"]
    assert sorted(found[10:]) == ["dev"] * 2 + ["test"] * 2 + ["train"] * 16
    assert counts["methods"] == {"chronological": 10, "undated": 20}
    assert "20 of 30 cases" in counts["note"]
    # one more case moves others over a border at most
    more, _, _ = divide(tmp_path, [*cases, case(40)])
    assert sum(splits[i]["split"] != more[i]["split"] for i in splits) <= 2


def test_given_splits_stay(tmp_path):
    same = "one text that two cases of the source have and both sides of it"
    given_cases = [
        case(1, split="test"),
        case(2, split="train", text=same),
        case(3, split="test", text=same),
        case(4, split="dev", text="another text that a case without a split has as well"),
    ]
    again = case(17, text="another text that a case without a split has as well")
    free = [case(5, text=same), again, *(case(i, day=i) for i in range(6, 16))]
    reordered, _, _ = divide(tmp_path, free, given_cases[::-1])
    assert [reordered[f"c{i}"]["duplicate_of"] for i in (2, 3, 4, 5, 17)] == (
        ["c5", "c5", "c17", None, None]
    )
    splits, duplicates, counts = divide(tmp_path, given_cases, free)
    assert [splits[f"c{i}"]["split"] for i in range(1, 6)] == (
        ["test", "train", "test", "dev", "train"]
    )
    assert splits["c5"]["method"] == "group" and splits["c3"]["duplicate_of"] == "c2"
    assert counts["groups_parted_by_given_splits"] == 1
    assert counts["methods"] == {"chronological": 10, "given": 4, "group": 2}
    assert [(row["case_id"], row["duplicate_of"], row["similarity"]) for row in duplicates] == [
        ("c3", "c2", 1.0),
        ("c5", "c2", 1.0),
        ("c17", "c4", 1.0),
    ]


def test_a_source_without_dev_lends_a_part_of_train(tmp_path):
    same = "one text that two cases of train have"
    cases = [case(i, day=i, split="train") for i in range(16)]
    cases += [case(i, day=0, text=same, split="train") for i in (16, 17)]
    cases += [case(i, day=30, split="test") for i in range(18, 22)]
    splits, _, counts = divide(tmp_path, cases)
    assert counts["methods"] == {"given": 20, "held_out": 2} and not counts["note"]
    assert {name for name, row in splits.items() if row["split"] == "dev"} == {"c14", "c15"}
    assert all(splits[f"c{i}"]["split"] == "test" for i in range(18, 22))


def test_a_group_goes_where_its_earliest_member_goes(tmp_path):
    text = "the facts of a case that came to the court a second time after many years"
    cases = [case(i, day=i) for i in range(20)]
    cases[2] = case(2, day=2, text=text)
    cases[19] = case(19, day=19, text=text + " again")
    cases[7] = case(7, text=text)  # undated, but its group is not
    splits, duplicates, counts = divide(tmp_path, cases)
    assert {splits[f"c{i}"]["split"] for i in (2, 7, 19)} == {"train"}
    assert [splits[f"c{i}"]["duplicate_of"] for i in (2, 7, 19)] == [None, "c2", "c2"]
    assert [(row["how"], row["duplicate_of"]) for row in duplicates] == [
        ("near_duplicate", "c2")
    ] * 2
    assert duplicates[1]["similarity"] == pytest.approx(14 / 15)
    assert (counts["groups_of_several"], counts["largest_group"]) == (1, 3)


def test_the_first_file_with_a_case_id_wins(tmp_path):
    splits, duplicates, counts = divide(
        tmp_path, [case(1, day=1), case(2, day=2)], [case(2, day=9), case(3, day=3)]
    )
    assert [(row["case_id"], row["source"]) for row in splits.values()] == (
        [("c1", 0), ("c2", 0), ("c3", 1)]
    )
    (row,) = duplicates
    assert [*row.values()] == ["c2", 1, "c2", "same_id", None]
    assert counts["same_id"] == 1 and counts["near_duplicates"] == 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"shares": [0.8, 0.2]}, "give three shares"),
        ({"shares": [0.8, 0.1, 0.2]}, "`shares` is .* sums up to 1.1"),
    ],
)
def test_wrong_options(tmp_path, options, match):
    with pytest.raises(InputError, match=match):
        divide(tmp_path, [case(1)], **options)
    with pytest.raises(InputError, match="no case to divide"):
        divide(tmp_path, [])


# --- laws -----------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)
CASES = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), WORDS), min_size=1, max_size=25)


def made(drawn):
    return [case(i, day=day, text=text) for i, (day, text) in enumerate(drawn)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CASES)
def test_no_near_duplicates_on_both_sides(tmp_path, drawn):
    cases = made(drawn)
    splits, _, counts = divide(tmp_path, cases)
    for one in cases:
        for other in cases:
            if jaccard(words(one.text), words(other.text)) >= 0.8:
                assert splits[one.case_id]["split"] == splits[other.case_id]["split"]
    assert counts["groups_parted_by_given_splits"] == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CASES, st.integers(0, 25), st.randoms(use_true_random=False))
def test_the_order_of_files_and_cases_does_not_matter(tmp_path, drawn, cut, random):
    cases = made(drawn)
    splits, _, counts = divide(tmp_path, cases)
    shuffled = random.sample(cases, len(cases))
    other, _, other_counts = divide(tmp_path, shuffled[cut:], shuffled[:cut])
    groups = [Counter(row["duplicate_of"] or i for i, row in of.items()) for of in (splits, other)]
    assert sorted(groups[0].values()) == sorted(groups[1].values())
    of_order = {"source": 0, "duplicate_of": None}  # the first of each group is that of the files
    assert {i: row | of_order for i, row in other.items()} == {
        i: row | of_order for i, row in splits.items()
    }
    assert counts == other_counts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    CASES, st.sampled_from([[0.8, 0.1, 0.1], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.4, 0.6, 0.0]])
)
def test_shares_are_within_one_group_of_the_wanted(tmp_path, drawn, shares):
    splits, _, counts = divide(tmp_path, made(drawn), shares=shares)
    free = [row["split"] for row in splits.values() if row["method"] != "undated"]
    for names, share in ((["train"], shares[0]), (["train", "dev"], shares[0] + shares[1])):
        cases = sum(split in names for split in free)
        assert abs(cases - share * len(free)) <= counts["largest_group"] / 2 + 1e-9
