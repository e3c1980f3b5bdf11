import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.slguset import distinct_sentences as module
from evenhand.slguset.merge_candidates import SCHEMA, merge_candidates
from made_sentences import keyword_row, made_sentences, write_judged
from unit.io.damage import damage


def cut(folder, rows, shards, reasons_by_filter):
    """Write judged tables, exact duplicates inside a shard joined."""
    tables = []
    for number in range(shards):
        merged = {}
        for row in rows[number::shards]:
            kept = merged.get(row["sentence_id"])
            if kept is None:
                merged[row["sentence_id"]] = row
                continue
            first = min(kept, row, key=lambda r: (r["source"], r["source_position"]))
            merged[row["sentence_id"]] = first | {"copies": kept["copies"] + row["copies"]}
        path = folder / f"judged{shards}-{number}.parquet"
        tables.append(write_judged(path, list(merged.values()), reasons_by_filter))
    return tables


def merged(folder, rows, shards, reasons_by_filter, **options):
    out = folder / f"candidates{shards}.parquet"
    tables = cut(folder, rows, shards, reasons_by_filter)
    return out, merge_candidates(judged=tables, out=out, **options)


def test_copies_are_summed_and_the_smallest_source_is_named(tmp_path):
    sentence = "他在家。"
    rows = [
        keyword_row(sentence, source="b.txt", source_position=1, copies=2),
        keyword_row(sentence, source="a.txt", source_position=9),
        keyword_row(sentence, source="a.txt", source_position=10, copies=3),
    ]
    out, counts = merged(tmp_path, rows, 3, {})
    (row,) = pq.read_table(out).to_pylist()
    assert (row["source"], row["source_position"], row["copies"]) == ("a.txt", 9, 6)
    assert counts == {"read": 3, "duplicates": 2, "sentences": 1, "verdicts": {"accepted": 1}}


def test_the_first_reason_is_the_verdict_and_all_are_listed(tmp_path):
    both, second, none = "他叫小明。", "她在医院。", "爷爷在家。"
    several = keyword_row("他和她。", verdict="several_keywords", word="他、她")
    reasons = {
        "names": {both: ("name", "小明")},
        "biology": {both: ("biology", "叫"), second: ("biology", "医院")},
    }
    rows = [keyword_row(both), keyword_row(second), keyword_row(none), several]
    out, counts = merged(tmp_path, rows, 1, reasons)
    by_sentence = {row["sentence"]: row for row in pq.read_table(out).to_pylist()}

    def decision(sentence):
        return [by_sentence[sentence][name] for name in ("verdict", "reasons", "evidence")]

    assert decision(both) == ["name", ["name", "biology"], "小明"]
    assert decision(second) == ["biology", ["biology"], "医院"]
    assert decision(none) == ["accepted", [], None]
    assert decision("他和她。") == ["several_keywords", ["several_keywords"], "他、她"]
    assert by_sentence["他和她。"]["start"] is None
    assert counts["verdicts"] == {"accepted": 1, "biology": 1, "name": 1, "several_keywords": 1}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_is_lost_and_the_shards_do_not_show(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("merge")
    sentences = made_sentences(12)
    reasons = {
        "one": dict.fromkeys(data.draw(st.sets(st.sampled_from(sentences))), ("first", None)),
        "two": dict.fromkeys(data.draw(st.sets(st.sampled_from(sentences))), ("second", "米")),
    }
    rejected = data.draw(st.sets(st.sampled_from(sentences)))
    rows = [
        keyword_row(
            sentence,
            source=source,
            source_position=position,
            copies=copies,
            verdict="length" if sentence in rejected else "accepted",
        )
        for sentence, source, position, copies in data.draw(
            st.lists(
                st.tuples(
                    st.sampled_from(sentences),
                    st.sampled_from("ab"),
                    st.integers(1, 5),
                    st.integers(1, 3),
                ),
                max_size=40,
            )
        )
    ]
    written = set()
    for shards in (1, 3):
        out, counts = merged(folder, rows, shards, reasons)
        assert pq.read_schema(out).equals(SCHEMA)
        table = pq.read_table(out).to_pylist()
        assert [r["sentence_id"] for r in table] == sorted({r["sentence_id"] for r in rows})
        assert sum(r["copies"] for r in table) == sum(r["copies"] for r in rows)
        assert sum(counts["verdicts"].values()) == counts["sentences"] == len(table)
        assert counts["sentences"] + counts["duplicates"] == counts["read"]
        assert all((r["verdict"] == "accepted") == (r["reasons"] == []) for r in table)
        written.add(out.read_bytes())
    assert len(written) == 1


def test_near_duplicates_are_rejected_when_asked(tmp_path):
    first, second, other = (
        "昨天下午，他在学校门口等了很久很久，没有人来。",
        "昨天下午，他在学校门口等了很久很久，没人来。",
        "奶奶每天早晨都去公园散步，风雨无阻。",
    )
    rows = [keyword_row(s) for s in (first, second, other)]
    _, counts = merged(tmp_path, rows, 1, {})
    assert counts["verdicts"] == {"accepted": 3}
    out, counts = merged(tmp_path, rows, 2, {}, near_duplicates=0.7)
    assert counts["verdicts"] == {"accepted": 2, "near_duplicate": 1}
    by_id = {row["sentence_id"]: row for row in pq.read_table(out).to_pylist()}
    kept, dropped = sorted(keyword_row(s)["sentence_id"] for s in (first, second))
    assert by_id[kept]["verdict"] == "accepted"
    assert by_id[dropped]["verdict"] == "near_duplicate"
    assert by_id[dropped]["reasons"] == ["near_duplicate"]
    assert by_id[dropped]["evidence"] == kept


def test_a_damaged_shard_is_an_error(tmp_path):
    tables = cut(tmp_path, [keyword_row(sentence) for sentence in made_sentences(4)], 1, {})
    words = damage(tables[0], "sentence")
    with pytest.raises(InputError, match=words):
        merge_candidates(judged=tables, out=tmp_path / "candidates.parquet")


@pytest.mark.parametrize("change", [{"verdict": "length"}, {"sentence": "她在家。"}])
def test_shards_that_disagree_on_a_sentence_are_refused(tmp_path, change):
    row = keyword_row("他在家。")
    tables = cut(tmp_path, [row, row | change], 2, {})
    with pytest.raises(InputError, match="two shards differ in sentence"):
        merge_candidates(judged=tables, out=tmp_path / "o.parquet")


def test_batches_are_full_whatever_the_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BATCH_ROWS", 2048)  # DuckDB's own step
    rows = [
        keyword_row(f"他有{number}个。", source=source) for number in range(2100) for source in "ab"
    ]
    written = [merged(tmp_path, rows, shards, {})[0] for shards in (1, 3)]
    assert written[0].read_bytes() == written[1].read_bytes()
    groups = pq.ParquetFile(written[0]).metadata
    assert [groups.row_group(i).num_rows for i in range(2)] == [2048, 52]
