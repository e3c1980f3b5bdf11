import gzip
import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.slguset import distinct_sentences
from evenhand.slguset.distinct_sentences import sentence_id
from evenhand.slguset.extract_sentences import extract_sentences
from evenhand.slguset.shards import plan_shards

TABLE = """pair,male,female,surface_male,surface_female
他/她,他,她,他,她
男/女,男,女,男,女
男/女,男,女,男人,女人
爸爸/妈妈,爸爸,妈妈,爸爸,妈妈
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("keywords.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


def extract(*files: str, **options: object) -> tuple[list[dict], list[dict], dict]:
    """Sentences, quarantine and counts."""
    outputs = {"sentences": Path("s.parquet"), "quarantine": Path("q.parquet")}
    result = extract_sentences(
        files=[Path(f) for f in files],
        keywords=Path("keywords.csv"),
        counts=Path("c.json"),
        inventory=Path("i.parquet"),
        **outputs,
        **options,
    )
    assert json.loads(Path("c.json").read_text(encoding="utf-8")) == result
    inventory = list(read_rows(Path("i.parquet")))
    assert sum(row["bytes"] for row in inventory) == result["bytes"]
    if not options.get("first_byte"):  # a file that is cut is counted once
        found = Counter(row["encoding"] for row in inventory if row["encoding"])
        assert found == result["encodings"]
    sentences = list(read_rows(outputs["sentences"]))
    quarantine = list(read_rows(outputs["quarantine"]))
    damaged = result["quarantined"].get("damaged_sentence", 0)
    assert result["keyword_sentences"] == sum(row["copies"] for row in sentences)
    assert result["duplicates"] == result["keyword_sentences"] - len(sentences)
    assert result["keyword_sentences"] + damaged <= result["sentences"]
    return sentences, quarantine, result


def write(path: str, content: str | bytes, encoding: str = "utf-8") -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def test_sentences_with_a_keyword_are_kept_and_all_are_counted(here: Path) -> None:
    write("a.txt", "他来了。天晴！她 走了？\n\n  　女 人说：“好。”\n爸爸\n无关。她走了？\n")
    sentences, quarantine, counts = extract("a.txt")
    assert [(r["sentence"], r["source_position"], r["copies"]) for r in sentences] == sorted(
        [("他来了。", 1, 1), ("她走了？", 1, 2), ("女人说：“好”。", 3, 1), ("爸爸", 4, 1)],
        key=lambda row: sentence_id(row[0]),
    )
    assert {row["source"] for row in sentences} == {"a.txt"}
    assert quarantine == []
    assert counts == {
        "files": 1,
        "bytes": Path("a.txt").stat().st_size,
        "characters": 33,
        "records": 4,
        "paragraphs": 4,
        "sentences": 7,
        "keyword_sentences": 5,
        "duplicates": 1,
        "quarantined": {},
        "encodings": {"utf-8": 1},
    }


def test_one_run_reads_every_format_and_encoding(here: Path) -> None:
    write("n/1.txt", "她来了。", "gb18030")
    write("n/2.md", "# 题\n<p>她<b>走</b>了。</p>", "utf-8-sig")
    write("n/3.json", '[{"text": "她笑了。"}]', "utf-16-le")
    write("n/4.jsonl.zst", zstandard.compress('{"text": "她哭了。"}'.encode()))
    write("n/5.csv", "id,text\n1,她睡了。\n")
    write("n/6.html", "<p>她醒了。</p>")
    write("n/7.tsv.gz", gzip.compress("text\n她吃了。\n".encode()))
    with tarfile.open("n/8.tar.xz", "w:xz") as archive:
        archive.add(write("x/9.txt", "她喝了。"), "d/9.txt")
        archive.add(write("x/10.log", "她不算。"), "d/10.log")
    sentences, quarantine, counts = extract(*sorted(map(str, Path("n").iterdir())))
    assert {(r["sentence"], r["source"], r["source_position"]) for r in sentences} == {
        ("她来了。", "n/1.txt", 1),
        ("她走了。", "n/2.md", 2),
        ("她笑了。", "n/3.json", 1),
        ("她哭了。", "n/4.jsonl.zst", 1),
        ("她睡了。", "n/5.csv", 2),
        ("她醒了。", "n/6.html", 1),
        ("她吃了。", "n/7.tsv.gz", 2),
        ("她喝了。", "n/8.tar.xz!d/9.txt", 1),
    }
    assert [(r["file"], r["reason"]) for r in quarantine] == [
        ("n/8.tar.xz!d/10.log", "unknown_format")
    ]
    assert counts["files"] == 8
    assert counts["encodings"] == {"gb18030": 1, "utf-16-le": 1, "utf-8": 5, "utf-8-sig": 1}


def test_of_broken_files_the_rest_is_used(here: Path) -> None:
    good = "他说今天天气很好，我们去公园吧。\n" * 3
    write("a.txt", good.encode() + "天".encode() + b"\xff" + b"\n" + "她来了。\n".encode())
    write("b.txt", good.encode() + b"\0\0\0\n" + "她走了。\n".encode())
    write("c.txt", b"")
    write("d.txt.gz", gzip.compress(("她笑了。\n" * 9).encode())[:-9])
    write("e.jsonl", '{"text": "她哭了。"}\n{"text": \n{"x": 1}\n')
    write("f.txt", "长" * 50 + "\n她睡了。\n")
    sentences, quarantine, counts = extract(
        *["a.txt", "b.txt", "c.txt", "d.txt.gz", "e.jsonl", "f.txt"], max_characters=40
    )
    found = {row["sentence"] for row in sentences}
    assert {"她来了。", "她走了。", "她笑了。", "她哭了。", "她睡了。"} <= found
    assert [(r["file"], r["position"], r["unit"], r["reason"]) for r in quarantine] == [
        ("a.txt", len(good.encode()) + 3, "byte", "undecodable_bytes"),
        ("b.txt", len(good.encode()), "byte", "nul_bytes"),
        ("c.txt", None, "file", "empty_file"),
        ("d.txt.gz", 117, "byte", "truncated_archive"),
        ("e.jsonl", 2, "line", "broken_json"),
        ("e.jsonl", 3, "line", "missing_field"),
        ("f.txt", 1, "line", "oversized_line"),
    ]
    assert counts["quarantined"]["empty_file"] == 1


def test_a_damaged_keyword_sentence_is_listed_and_left_out(here: Path) -> None:
    text = (
        "今天她去了学校".encode() + b"\xff" + "。他来了。天气".encode() + b"\xff" + "好。".encode()
    )
    write("a.txt", text)
    sentences, quarantine, counts = extract("a.txt")
    assert [row["sentence"] for row in sentences] == ["他来了。"]
    assert [(r["reason"], r["position"], r["unit"]) for r in quarantine] == [
        ("undecodable_bytes", 21, "byte"),
        ("undecodable_bytes", 43, "byte"),
        ("damaged_sentence", 1, "line"),
    ]
    assert (counts["sentences"], counts["keyword_sentences"]) == (3, 1)


@pytest.mark.parametrize("mark", ["&nbsp;", "<b>", "锟斤拷", "â€™", "Ã¼"])
def test_remains_of_html_or_of_a_wrong_encoding_are_damage(here: Path, mark: str) -> None:
    write("a.txt", f"他 {mark} 来了。\n女人 & 他 R&D; 3 < 4, 5 > 4; „Café“。")
    sentences, quarantine, _ = extract("a.txt", normaliser="blanks")
    assert [row["source_position"] for row in sentences] == [2]
    assert [row["reason"] for row in quarantine] == ["damaged_sentence"]


def test_a_text_field_that_no_record_has_is_a_slip_in_the_config(here: Path) -> None:
    write("a.jsonl", '{"content": "她。", "id": 1}\n' * 3)
    with pytest.raises(InputError, match=r"'text'.*the fields are content, id.*set `text_field`"):
        extract("a.jsonl")
    assert extract("a.jsonl", text_field="content")[2]["keyword_sentences"] == 3


WORDS = ["她来了。", "他说：“好。”", "天晴了！", "男人和女人？", "\n", "\n", "很", "\r\n"]


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=60),
    st.sampled_from(["utf-8", "gb18030", "utf-8-sig", "utf-16-le"]),
    st.integers(20, 300),
)
def test_any_shard_size_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], encoding: str, target: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("shards"))
        Path("keywords.csv").write_text(TABLE, encoding="utf-8")
        text = "今天天气真好，我们一起去公园散步吧。\n" + "".join(words)
        write("n/1.txt", text, encoding)
        write("n/2.txt", text[::-1] + "\n" + text, encoding)
        whole, _, counts = extract("n/1.txt", "n/2.txt")
        merged: dict[str, tuple] = {}
        sums = dict.fromkeys(["bytes", "sentences", "keyword_sentences", "records", "files"], 0)
        for shard in plan_shards("c", ["n"], target_mb=target / 1e6).shards:
            rows, _, part = extract(
                *shard.files, first_byte=shard.first_byte, end_byte=shard.end_byte
            )
            for row in rows:
                place = (row["source"], row["source_position"])
                best, copies = merged.get(row["sentence"], (place, 0))
                merged[row["sentence"]] = (min(best, place), copies + row["copies"])
            for key in sums:
                sums[key] += part[key]
        assert merged == {
            r["sentence"]: ((r["source"], r["source_position"]), r["copies"]) for r in whole
        }
        assert sums == {key: counts[key] for key in sums}


def test_two_runs_write_the_same_bytes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.txt", "".join(f"她第{i % 70}次来了。\n" for i in range(200)) + "\x00")
    extract("a.txt")
    first = [Path(name).read_bytes() for name in ("s.parquet", "q.parquet", "c.json")]
    monkeypatch.setattr(distinct_sentences, "MOST_CHARACTERS", 100)
    extract("a.txt")
    assert [Path(name).read_bytes() for name in ("s.parquet", "q.parquet", "c.json")] == first


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("file", "options", "encoding", "texts", "at_least"),
    [
        ("peoples_daily_1998/pd1998.txt.gz", {"format": "pku"}, "utf-8", 1, 43_902),
        (
            "cnews/cnews.test.txt",
            {"format": "tsv", "header": False, "text_field": "2"},
            "utf-8",
            1,
            19_540,
        ),
        ("cluener/dev.json", {}, "utf-8", 1, 1_343),
        ("xinwen_lianbo/xwlb_2022.tar.gz", {}, "utf-8", 98, 19_000),
    ],
)
def test_real_newspapers(
    here: Path, mirror: Path, file: str, options: dict, encoding: str, texts: int, at_least: int
) -> None:
    sentences, quarantine, counts = extract(str(mirror / "chinese_news" / file), **options)
    assert counts["encodings"] == {encoding: texts}
    assert at_least <= counts["sentences"] < 1.3 * at_least
    assert {row["reason"] for row in quarantine} <= {"damaged_sentence"}
    assert sentences
    assert not any(mark in row["sentence"] for row in sentences for mark in "<>#|\t\n ")
