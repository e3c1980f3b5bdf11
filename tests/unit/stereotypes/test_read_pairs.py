import json
from collections import Counter

import pytest

from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.stereotypes.pairs import EXCLUSIONS, FLAGS, PAIRS, pair_row
from evenhand.stereotypes.read_pairs import read_pairs, set_flags

DEMO = "resources/demo/stereotypes"


def read(file, folder, format="crows_pairs", part=None):
    out, report = folder / "pairs.parquet", folder / "pairs.json"
    read_pairs(name="set", format=format, file=file, part=part, out=out, report=report)
    return list(read_rows(out)), json.loads(report.read_text(encoding="utf-8"))


def flagged(*pairs, wanted=FLAGS, **columns):
    rows = [
        pair_row(pair_id=str(n), cluster="c", more=more, less=less) | columns
        for n, (more, less) in enumerate(pairs)
    ]
    set_flags(rows, wanted)
    return [row["flags"] for row in rows]


@pytest.mark.parametrize(
    ("more", "less", "flags"),
    [
        ("A man works.", "A woman works.", []),
        ("A man works.", "A young woman works.", ["unequal_length"]),
        ("Her mother rests.", "His father rests.", []),
        ("Her mother cooked rice.", "It rains in spring.", ["unlike"]),
        ("A man works.", "a woman works.", ["lower_case"]),
        ("30 % agree.", "40 % agree.", []),
        ("he works", "12", ["unequal_length", "unlike"]),
        ("He lost his keys.", "She lost her keys.", ["several_edits"]),
        ("He can not go.", "He can go.", ["insertion_only", "unequal_length"]),
        ("He just works hard.", "He works just hard.", ["insertion_only", "several_edits"]),
        ("男人很强", "女孩很强", []),
        ("男人很强", "女孩子很强", ["unequal_length"]),
        ("The same day.", "the same day", ["insertion_only", "lower_case", "several_edits"]),
        ("The same day.", "The same day!", ["insertion_only"]),
    ],
)
def test_flags_of_a_pair(more, less, flags):
    assert flagged((more, less)) == [flags]


def test_low_agreement_is_fewer_than_three():
    for agreement, flags in ((None, []), (0, ["low_agreement"]), (2, ["low_agreement"]), (3, [])):
        assert flagged(("a c", "b c"), agreement=agreement) == [flags]


def test_a_swap_is_repeated_above_twenty():
    pairs = [(f"he {n}", f"she {n}") for n in range(21)]
    assert flagged(*pairs[:20]) == [[]] * 20
    assert flagged(*pairs) == [["repeated_swap"]] * 21
    assert flagged(*pairs, wanted=("duplicate",)) == [[]] * 21


def test_a_sentence_in_two_pairs_is_a_duplicate_unless_the_context_differs():
    pairs = [("a x", "a y"), ("a y", "a z"), ("b x", "b y")]
    assert flagged(*pairs) == [["duplicate"], ["duplicate"], []]
    rows = [
        pair_row(pair_id=context, cluster="c", context=context, more="a x", less="a y")
        for context in ("one", "other")
    ]
    set_flags(rows, FLAGS)
    assert [row["flags"] for row in rows] == [[], []]


def test_a_pair_with_both_sentences_of_an_earlier_one_repeats_it():
    repeated = ["duplicate", "repeated_pair"]
    assert flagged(("a x", "a y"), ("a x", "a y"), ("a x", "a z"), ("a x", "a y")) == [
        ["duplicate"], repeated, ["duplicate"], repeated
    ]  # fmt: skip
    reversed_pair = ["duplicate", "reversed_pair"]
    assert flagged(("a x", "a y"), ("a y", "a x"), ("a x", "a z")) == [
        reversed_pair, reversed_pair, ["duplicate"]
    ]  # fmt: skip


def test_the_demo_pairs(repository, tmp_path):
    rows, report = read(repository / DEMO / "pairs.csv", tmp_path)
    assert [row["source_position"] for row in rows] == list(range(1, 91))
    assert rows[0].keys() == set(PAIRS.names)
    assert report["pairs"] == 90 and report["excluded"] == {"empty": 1, "identical": 1}
    assert report["first_excluded"].keys() == {"empty", "identical"}
    kept = [row for row in rows if row["excluded"] is None]
    assert len(kept) == 88 and sum(report["bias_types"].values()) == 88
    assert report["flags"] == {
        "unequal_length": 5,
        "several_edits": 4,
        "insertion_only": 2,
        "repeated_swap": 24,
        "low_agreement": 8,
        "duplicate": 2,
        "repeated_pair": 0,
        "reversed_pair": 0,
        "lower_case": 0,
        "unlike": 0,
        "misplaced": 0,
    }
    assert {len(row["flags"]) for row in rows if row["excluded"]} == {0}
    assert Counter(row["cluster"] for row in kept)["he|she"] == 24
    assert (report["clusters"], report["effective_clusters"]) == (23, 7.759519)
    assert (report["templates"], report["pairs"], report["is_open"]) == (87, 90, False)
    assert (report["taking_turns"], report["same_word"]) == ("", 62)
    assert report["has_annotations"] and report["has_directions"] and not report["has_unrelated"]
    assert (report["more_means"], report["less_means"]) == ("stereotype", "anti-stereotype")
    assert {row["agreement"] for row in kept} == {None, 0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize(("part", "pairs"), [("intrasentence", 30), ("intersentence", 20)])
def test_the_demo_clusters(repository, tmp_path, part, pairs):
    rows, report = read(repository / DEMO / "stereoset.json", tmp_path, "stereoset", part)
    assert report["pairs"] == len(rows) == pairs and report["clusters"] == 12
    assert report["has_unrelated"] and report["has_annotations"]
    assert not report["has_directions"]
    assert report["title"] == f"StereoSet, {part}" and report["part"] == part
    assert all((row["context"] is None) == (part == "intrasentence") for row in rows)
    assert ("several_edits" in report["flags"]) == (part == "intrasentence")
    assert report["flags"]["low_agreement"] == 1


def written(folder, *rows):
    file = folder / "set.csv"
    text = "\n".join(["id,sent_more,sent_less,stereo_antistereo,bias_type", *rows])
    file.write_text(text, encoding="utf-8")
    return file


def test_sets_without_a_pair_to_score(tmp_path):
    with pytest.raises(InputError, match=r"set.csv: holds no pair\."):
        read(written(tmp_path, ",,,,"), tmp_path)
    rows = ("1,a,a,stereo,age", "2,,b,stereo,age")
    with pytest.raises(InputError, match=r"holds no pair that can be scored: all 2.*; give each"):
        read(written(tmp_path, *rows), tmp_path)
    assert not (tmp_path / "pairs.parquet").exists()
    found, report = read(written(tmp_path, *rows, "3,a,b,stereo,age"), tmp_path)
    assert [row["excluded"] for row in found] == ["identical", "empty", None]
    assert set(report["excluded"]) == set(EXCLUSIONS) and report["pairs"] == 3


def test_an_excluded_pair_makes_no_duplicate(tmp_path):
    found, _ = read(written(tmp_path, "1,a c,a c,stereo,age", "2,a c,b c,stereo,age"), tmp_path)
    assert [row["flags"] for row in found] == [[], []]


def test_ids_that_stand_twice_are_named(tmp_path):
    rows = [f"{name},a{n},b{n},stereo,age" for n, name in enumerate("xyzx")]
    with pytest.raises(InputError, match=r"more than one pair has: 'x' \(records 1 and 4\);"):
        read(written(tmp_path, *rows), tmp_path)
    rows = [f"{n % 7},a{n},b{n},stereo,age" for n in range(14)]
    with pytest.raises(InputError, match=r"1 and 8\), .* and 4 others;"):
        read(written(tmp_path, *rows), tmp_path)
    rows = [f"x,a{n},b{n},stereo,age" for n in range(60)]
    with pytest.raises(InputError, match=r"'x' \(records 1, 2, 3 and 57 others\);"):
        read(written(tmp_path, *rows), tmp_path)


def test_a_pair_has_no_other_columns():
    with pytest.raises(ValueError, match="'mor'"):
        pair_row(mor="a")


def test_pairs_after_a_deleted_cell_are_flagged(tmp_path):
    names = ["ash", "bay", "cob", "dew", "elm", "fir", "gum", "hay", "ivy", "jut", "kit", "lag"]
    both = [[f"{name} has a {word} for {name} and so {name}" for word in ("man", "woman")]
            for name in names]  # fmt: skip
    less = [pair[1] for pair in both]
    del less[8]
    texts = zip((pair[0] for pair in both), [*less, less[-1]], strict=True)
    rows = [f"{n},{more},{end},stereo,age" for n, (more, end) in enumerate(texts)]
    found, report = read(written(tmp_path, *rows), tmp_path)
    assert report["flags"]["misplaced"] == 3 and report["first_misplaced"] == 9
    assert [row["pair_id"] for row in found if "misplaced" in row["flags"]] == ["8", "9", "10"]


@pytest.mark.mirror
def test_the_real_crows_pairs(mirror, tmp_path):
    """The counts that others took of it: 213 unequal, 236 with 2-6 edits, black|white 181, ..."""
    rows, report = read(mirror / "crows_pairs" / "crows_pairs_anonymized.csv", tmp_path)
    assert report["pairs"] == 1508 and report["excluded"] == {"empty": 0, "identical": 0}
    assert report["flags"] == {
        "unequal_length": 213,
        "several_edits": 236,
        "insertion_only": 4,
        "repeated_swap": 395,
        "low_agreement": 162,
        "duplicate": 2,
        "repeated_pair": 1,
        "reversed_pair": 0,
        "lower_case": 1,
        "unlike": 1,
        "misplaced": 0,
    }
    assert report["bias_types"]["race-color"] == 516 and len(report["bias_types"]) == 9
    assert Counter(row["direction"] for row in rows) == {"stereo": 1290, "antistereo": 218}
    # Without digits there are 799: 20|80 and 18|30 fall together then.
    assert report["clusters"] == 800 and round(report["effective_clusters"]) == 51
    most = Counter(row["cluster"] for row in rows).most_common(3)
    assert most == [("black|white", 181), ("poor|rich", 49), ("he|she", 43)]
    agreement = Counter(row["agreement"] for row in rows)
    assert agreement == {5: 631, 4: 478, 3: 237, 2: 121, 1: 31, 0: 10}
    any_bias = Counter(row["agreement_any"] for row in rows)
    assert any_bias == {5: 1015, 4: 352, 3: 111, 2: 28, 1: 2}
    assert {row["annotators"] for row in rows} == {5}


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("part", "types"),
    [
        ("intrasentence", {"gender": 255, "profession": 810, "race": 962, "religion": 79}),
        ("intersentence", {"gender": 242, "profession": 827, "race": 976, "religion": 78}),
    ],
)
def test_the_real_stereoset_in_two_layouts(mirror, tmp_path, part, types):
    folder = mirror / "stereoset"
    rows, report = read(folder / "dev_rebuilt.json", tmp_path, "stereoset", part)
    assert report["bias_types"] == types and report["clusters"] == 79
    relaid, _ = read(folder / "stereoset.json", tmp_path, "stereoset", part)
    texts = ("pair_id", "bias_type", "cluster", "context", "more", "less", "unrelated")
    assert [[r[name] for name in texts] for r in relaid] == [[r[n] for n in texts] for r in rows]
    rated = Counter(row["agreement"] for row in rows if row["agreement"] is not None)
    assert rated == ({5: 489, 4: 374, 3: 178} if part == "intrasentence" else {})


def test_a_set_can_be_given_a_title(tmp_path):
    source = tmp_path / "own.csv"
    source.write_text(
        "sent_more,sent_less,stereo_antistereo,bias_type\nHe ran.,She ran.,stereo,gender\n",
        encoding="utf-8",
    )
    report = tmp_path / "pairs.json"
    files = {"file": source, "out": tmp_path / "pairs.parquet", "report": report}
    for title, shown in ((None, "CrowS-Pairs"), ("Our pairs", "Our pairs")):
        read_pairs(name="own", format="crows_pairs", title=title, **files)
        assert json.loads(report.read_text(encoding="utf-8"))["title"] == shown


def test_numbers_in_place_of_sentences_are_refused(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("sent_more,sent_less\na,2\nb,4\nc,NA\n")
    with pytest.raises(InputError, match=r"holds numbers in place .* \(2 of 3 sent_less\);"):
        read(file, tmp_path)
    file.write_text("sent_more,sent_less\na,2\nb,c\n")
    assert len(read(file, tmp_path)[0]) == 2


def test_sentences_of_other_pairs_are_refused(tmp_path):
    trades = ["nurse", "pilot", "cook", "judge", "clerk", "baker"]
    pairs = [(f"The {trade} said that she is {i}.", f"The {trade} said that he is {i}.")
             for i, trade in enumerate(trades)]  # fmt: skip
    more, less = zip(*pairs, strict=True)
    for order, refused in ((less, False), (less[:2] + less[:1:-1], True), (less[::-1], True)):
        lines = (f"{first},{second}" for first, second in zip(more, order, strict=True))
        file = tmp_path / "pairs.csv"
        file.write_text("\n".join(["sent_more,sent_less", *lines]))
        if refused:
            with pytest.raises(
                InputError, match=r"sentence of pair \d is closer to one of pair \d"
            ):
                read(file, tmp_path)
        else:
            assert read(file, tmp_path)


def test_a_file_whose_last_line_has_no_end_may_be_cut_off(tmp_path):
    for text, is_open in (("He ran.,She ran.\n", False), ("He ran.,She ran.", True)):
        (tmp_path / "pairs.csv").write_text(f"sent_more,sent_less\n{text}")
        _, report = read(tmp_path / "pairs.csv", tmp_path, "crows_pairs")
        assert report["is_open"] is is_open
