"""Malformed inputs for every reader, made from a seed: what comes must be results or plain words.

A case is a well-formed file, spoiled by a few of `MUTATORS`, perhaps packed and spoiled again,
and read by one of `READERS`. A reader may return (with rows in the quarantine), or raise an
`InputError` of one sentence; anything else is a failure, and so is taking more than `SECONDS` of
the processor or `MEMORY`. Each case depends on the seed and its number alone:

    python tests/fuzz.py --cases 20000 --seed 7     many, and those that once failed
    python tests/fuzz.py --seed 7 --only 1234       one again, with its traceback and its files
"""

import argparse
import csv
import gzip
import io
import json
import lzma
import os
import random
import re
import resource
import signal
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow"), str(REPOSITORY / "tests")]

from evenhand.core.config import MOST_FAULTS, complete, read_config, read_schema  # noqa: E402
from evenhand.core.resources import read_resource  # noqa: E402
from evenhand.errors import InputError  # noqa: E402
from evenhand.io.tables import FORM  # noqa: E402
from evenhand.legal.draw_audit import task  # noqa: E402
from evenhand.legal.read_cases import read_cases  # noqa: E402
from evenhand.sheets.tasks import group_of, read_filled  # noqa: E402
from evenhand.slguset import annotation as annotation_task  # noqa: E402
from evenhand.slguset.extract_sentences import extract_sentences  # noqa: E402
from evenhand.slguset.import_published import import_published  # noqa: E402
from evenhand.slguset.read_sheets import read_sheets  # noqa: E402
from evenhand.stereotypes.read_pairs import read_pairs  # noqa: E402
from evenhand.tabular.prepare_table import prepare_table  # noqa: E402
from evenhand.text.tagged import read_tagged  # noqa: E402
from made_sentences import ANNOTATION_TEMPLATES, candidate_row, identify, write_sample  # noqa: E402
from unit.legal.made_cases import court, declaration  # noqa: E402
from unit.tabular import made_files  # noqa: E402

#: What a case may take; most take a hundredth of a second.
SECONDS, MEMORY = 10, 2 << 30

Files = dict[str, bytes]
Read = Callable[[list[Path], Path], object]

RESOURCES = REPOSITORY / "resources"
KEYWORDS = RESOURCES / "packs/zh_gender/keywords.csv"
SCHEMA = read_schema(REPOSITORY / "workflow" / "schemas" / "config.schema.yaml")

# --- what reads a file ---------------------------------------------------------------------


def corpus(**options: Any) -> Read:
    """Extract sentences; a file that is neither in the inventory nor in quarantine is lost."""

    def read(files: list[Path], out: Path) -> None:
        outputs = {name: out / name for name in ("sentences", "quarantine", "counts", "inventory")}
        told = extract_sentences(files=files, keywords=KEYWORDS, **outputs, **options)
        assert told["files"] or told["quarantined"], "the file is lost"

    return read


def cases(kind: str, format: str, **options: Any) -> Read:
    options = {"declaration": declaration(kind)} | options
    names = getattr(import_module(f"evenhand.legal.formats.{format}"), "TABLES", ())
    named = [RESOURCES / "legal" / f"{name}.csv" for name in names]

    def read(files: list[Path], out: Path) -> None:
        outputs = {name: out / name for name in ("out", "quarantine", "counts")}
        read_cases(files=files, format=format, tables=named, **outputs, **options)

    return read


def pairs(format: str, part: str | None = None) -> Read:
    def read(files: list[Path], out: Path) -> None:
        read_pairs(
            name="x", format=format, part=part, file=files[0], out=out / "a", report=out / "b"
        )

    return read


def people(format: str, **options: Any) -> Read:
    def read(files: list[Path], out: Path) -> None:
        prepare_table(
            files=files, name="x", format=format, out=out / "a", meta=out / "b", **options
        )

    return read


def annotation(files: list[Path], out: Path) -> None:
    rows = [candidate_row(row["sentence"]) | {"assigned": ["a"]} for row in SAMPLE]
    read_sheets(
        sample=write_sample(out / "a", rows, name="demo"),
        sheets=files,
        out=out / "b",
        adjudication=out / "c",
        **ANNOTATION_TEMPLATES,
    )


def published(files: list[Path], out: Path) -> None:
    outputs = {name: out / name for name in ("sentences", "dataset", "problems")}
    import_published(file=files[0], keywords=KEYWORDS, **outputs)


# --- well-formed files -----------------------------------------------------------------------


def demo(name: str, lines: int = 12) -> Files:
    """The first lines of a file of the demo."""
    path = RESOURCES / "demo" / name
    return {path.name: b"".join(path.read_bytes().splitlines(keepends=True)[:lines])}


def rows(name: str, *values: Any) -> Files:
    return {name: "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values).encode()}


def workbook(name: str, sheet: str, table: list[dict[str, Any]]) -> Files:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for cells in [list(table[0]), *(list(row.values()) for row in table)]:
        book.active.append(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return {name: buffer.getvalue()}


def comma_separated(name: str, table: list[dict[str, Any]]) -> Files:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    return {name: text.getvalue().encode()}


def parquet(name: str, table: list[dict[str, Any]]) -> Files:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(table), buffer, **FORM)
    return {name: buffer.getvalue()}


def made(write: Callable[[Path], Any]) -> Files:
    """The files that a helper of the tests writes into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


PAGE = (
    "<!DOCTYPE html><html><head><title>晨报</title><script>var a = '<p>';</script></head><body>"
    "<div class=a><h1>要闻</h1><p>她说：“今天&nbsp;天气真好！”他笑了。<br>妈妈也笑了。</p><ul>"
    "<li>爸爸 &amp; 妈妈<li>哥哥</ul><table><tr><td>女人</table><!-- x --></div></body></html>\n"
)
NOTES = (
    "# 要闻 #\n\n> * 她**说**：`今天` _天气_ ~~真~~好！\n\n![图](a.png) [妈妈](http://a.b/c_(d))\n"
    "| 一 | 二 |\n|:--|--:|\n| 他 | 她 |\n\n```\nx\n```\n\\* <b>爸爸</b> <!-- x\n --> &lt;她&gt;\n"
)
TEXT = {"text": "她说：“今天天气真好！”\n妈妈笑了。", "data": {"list": [{"a": 1.5}, None, True]}}
SAMPLE = [
    {"sentence_id": identify(text), "sentence": text, "round": "demo", "rank": i}
    for i, text in enumerate(("她在第1家。", "妈妈在家。", "他说了什么？"), start=1)
]
ANSWERS = [
    row | {"answer": "accept", "criterion": "", "comment": "", "annotator": "a"} for row in SAMPLE
]
TASKS = [
    {
        "data": {name: row[name] for name in ("sentence_id", "sentence", "round")},
        "annotations": [
            {
                "completed_by": {"email": "a@b.c"},
                "result": [{"from_name": "answer", "value": {"choices": ["accept"]}}],
            }
        ],
    }
    for row in SAMPLE
]
TRIPLE = [
    {"id": str(n), "sentence": f"He is {label}.", "gold_label": label,
     "labels": [{"label": label, "human_id": "a"}]}
    for n, label in enumerate(("stereotype", "anti-stereotype", "unrelated"))
]  # fmt: skip
CLUSTER = {"id": "c", "target": "he", "bias_type": "gender", "context": "BLANK is.",
           "sentences": TRIPLE}  # fmt: skip
STEREOSET = {"version": "1", "data": {"intrasentence": [CLUSTER], "intersentence": [CLUSTER]}}
RELAID = {
    label: [
        {"id": "c", "target": "he", "bias_type": "gender", "context": "BLANK", "sentence": label}
    ]
    for label in ("stereotype", "anti-stereotype", "unrelated")
}
CASE = {
    "case_id": "001-5", "case_no": "12/05", "title": "CASE OF A v. MALTA",
    "judgment_date": "2011-03-01", "facts": ["5.  The applicant was born in 1950.", "6. She sued."],
    "violated_articles": ["14", "P1-1"], "defendants": ["MALTA"], "applicants": ["A."],
}  # fmt: skip
FAIRLEX = {"text": "One. </s> Two.", "label": 8, "attributes": {"respondent_type": 3}}
PROMPT = {
    "input_text": 'Given the facts:\n"Sachverhalt:\nA.\nEr sagte nein."\n\nTwo labels:',
    "language": "de",
}
SWISS = {"id": 1, "year": 2003, "language": "de", "label": "dismissal", "text": "Faits: A. B."}
SWAPPED = [
    {"sentence_id": f"{i}", "sentence": "他说。", "swapped_sentence": "她说。", "surface": "他",
     "surface_opposite": "她", "gender": "male"} for i in range(3)
]  # fmt: skip
AUDIT = task(court("ecthr").attributes[0])
HANDED_OUT = [
    dict.fromkeys(AUDIT.handed_out, "x") | dict.fromkeys(("rank", "mark_start", "mark_end"), 1)
]
AUDITED = [dict.fromkeys([column.name for column in AUDIT.columns], "x")]
CONFIG = (REPOSITORY / "config" / "config.yaml").read_bytes()
LOANS = {"label": "decision", "positive": ["approved"], "attribute": ["gender"]}

#: How a file is read, and well-formed files of it; of several, one is spoiled.
READERS: dict[str, tuple[Read, list[Files]]] = {
    "txt": (corpus(), [demo("newspapers/chenhe/2024-01.txt"), demo("newspapers/broken/2020.txt")]),
    "txt_blank": (corpus(paragraphs="blank_line"), [demo("newspapers/chenhe/2024-01.txt")]),
    "md": (corpus(), [{"a.md": NOTES.encode()}]),
    "html": (corpus(), [{"a.html": PAGE.encode()}]),
    "json": (corpus(), [rows("a.json", [TEXT, TEXT]), rows("a.json", TEXT)]),
    "jsonl": (corpus(markup="html"), [rows("a.jsonl", TEXT, TEXT | {"text": PAGE})]),
    "path": (corpus(text_field="data.list.a"), [rows("a.jsonl", TEXT)]),
    "csv": (corpus(markup="markdown"), [demo("newspapers/wire/archive.csv")]),
    "tsv": (corpus(header=False, text_field="2"), [{"a.tsv": "1\t她说。\n2\t他笑了。\n".encode()}]),
    "pku": (corpus(format="pku"), [demo("tagged/people.txt")]),
    "crows_pairs": (pairs("crows_pairs"), [demo("stereotypes/pairs.csv", 8)]),
    "stereoset": (pairs("stereoset", "intrasentence"),
                  [rows("a.json", one) for one in (STEREOSET, [CLUSTER], RELAID)]),
    "pairs": (pairs("slguset"), [parquet("a.parquet", SWAPPED)]),
    "adult": (people("adult"), [made(lambda p: made_files.adult(p, *made_files.adult_lines()))]),
    "compas": (people("compas"), [made(lambda p: made_files.compas(p, *made_files.COMPAS))]),
    "german": (people("german"), [made(lambda p: made_files.german(p, *[
        made_files.german_line(age, label=1 + age % 2) for age in range(20, 70, 7)]))]),
    "table": (people("table", **LOANS), [demo("tabular/loans.csv", 30)]),
    "hudoc_json": (cases("ecthr", "hudoc_json"), [demo("legal/ecthr/hudoc.jsonl", 3)]),
    "hudoc_text": (cases("ecthr", "hudoc_text"), [demo("legal/ecthr/texts/001-902001.txt", 400)]),
    "ecthr_naacl": (cases("ecthr", "ecthr_naacl"), [rows("train.jsonl", CASE)]),
    "scdb": (cases("scotus", "scdb"),
             [demo("legal/scotus/scdb.csv", 4) | demo("legal/scotus/opinions.jsonl", 3)]),
    "swiss_judgment": (cases("fscs", "swiss_judgment"), [demo("legal/fscs/cases.jsonl", 3)]),
    "swiss_parquet": (cases("fscs", "swiss_judgment"), [parquet("a.parquet", [SWISS] * 3)]),
    "swiss_prompts": (cases("fscs", "swiss_prompts"), [rows("a.jsonl", PROMPT)]),
    "cail2018": (cases("cail", "cail2018"),
                 [demo("legal/cail/cases.jsonl", 3), demo("legal/cail/cases.gb18030.jsonl", 3)]),
    "judge": (cases("cail", "judge"), [demo("legal/cail/judgments.jsonl", 2)]),
    "fairlex": (cases("scotus", "fairlex"), [rows("train.jsonl", FAIRLEX)]),
    "sheet": (annotation, [comma_separated("a.csv", ANSWERS),
                           workbook("a.xlsx", annotation_task.TASK.table, ANSWERS)]),
    "label_studio": (annotation, [rows("a.json", TASKS)]),
    "handed_out": (lambda f, out: group_of(f[0], AUDIT),
                   [comma_separated("a.csv", HANDED_OUT)]),
    "audit_sheet": (lambda f, out: read_filled(f[0], AUDIT),
                    [workbook("a.xlsx", AUDIT.table, AUDITED)]),
    "published": (published, [demo("slguset_published.csv")]),
    "tagged_pku": (lambda f, out: list(read_tagged(f[0], "pku")), [demo("tagged/people.txt")]),
    "cluener": (lambda f, out: list(read_tagged(f[0], "cluener")), [demo("tagged/names.jsonl")]),
    "resource": (lambda f, out: read_resource(f[0], ["pair", "male", "female", "surface_male",
                                                     "surface_female"]),
                 [{"keywords.csv": KEYWORDS.read_bytes()}]),
    "config": (lambda f, out: complete(read_config(f[0]), SCHEMA), [{"a.yaml": CONFIG}]),
}  # fmt: skip

# --- what spoils a file ----------------------------------------------------------------------

ENDLESS = tarfile.TarInfo("a.txt")
ENDLESS.pax_headers = {"size": "9" * 18}
QUASHED = "撤销决定执行" * 50_000
BOMB = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10))

#: Inputs that once hung a reader, or ended it with a traceback; they are always read.
KNOWN: list[tuple[str, Files]] = [
    ("csv", {"a.csv": b"text,b\n" + b'x",",b\n' * 57_000}),
    ("json", {"a.json": b"[" * 40_000}),
    ("json", {"a.json": b"[" * 5000 + b"]" * 5000}),
    ("path", {"a.jsonl": b'{"data":' + b"[" * 900 + b"1" + b"]" * 900 + b"}\n"}),
    ("jsonl", {"a.jsonl": b'{"text": "' + b"<div>" * 80_000 + b'"}\n'}),
    ("md", {"a.md": b" " * 400_000}),
    ("md", {"a.md": b" ".join(b"`" * i for i in range(400))}),
    ("md", {"a.md": b"]\n" + b"![" * 100_000}),
    ("pku", {"a.txt": b"\n" * 400_000}),
    ("html", {"a.html": b"".join(b" a%d='>'" % i for i in range(50_000)).join((b"<p", b">"))}),
    ("txt", {"a.tar": ENDLESS.tobuf(tarfile.PAX_FORMAT)}),
    ("hudoc_text", {"a.txt": b"THE FACTS\n" + b"".join(b"%d. Under Article 6 of the Act.\n" % i
                                                     for i in range(1, 200_000))}),
    ("hudoc_text", {"a.txt": b"THE FACTS\n1. The applicant.\n" + b"x.\n" * 200_000}),
    ("hudoc_text", {"a.txt": b"x 1." + "\u00a0".encode() * 100_000}),
    ("hudoc_text", {"a.txt": b"THE FACTS\n1. A.\nTHE LAW\n2. " + b". there is no " * 10_000}),
    ("judge", rows("a.jsonl", {"text_id": "a", "text": "x", "fd": f"判决如下{QUASHED}"})),
    ("fairlex", rows("a.jsonl", FAIRLEX | {"text": " " * 400_000})),
    ("stereoset", {"a.json": b"[" * 5000 + b"]" * 5000}),
    ("label_studio", {"a.json": b"[" * 5000 + b"]" * 5000}),
    ("table", {"a.csv": b"a," * 200_000 + b"\n" + b"1," * 200_000}),
    ("resource", {"a.csv": b"a," * 200_000 + b"\n"}),
    ("config", {"a.yaml": f"a0: &a0 [x]\n{BOMB}".encode()}),
    ("config", {"a.yaml": b"a: &a {b: *a}\n"}),
]  # fmt: skip

#: What is put in, once or many times.
WORDS = [
    *(b'"', b"'", b"`", b"*", b"_", b"~", b"#", b"|", b"-", b">", b"(", b")", b"!", b"\\", b"&"),
    *(b"[", b"]", b"{", b"}", b"[[", b'{"a":', b"](", b"![", b"[](", b"``", b"~~a", b"*a", b"_a "),
    *(b"<", b"<div>", b"<ul><li>", b"</p>", b"<b>", b"<p a=", b" a=b", b"<!--", b"<script>", b"="),
    *(b" ", b"\n", b"\r", b"\t", b"\n\n", b"\n ", b"\0", b"\x1b$", b"\xff", b"\x81\x30", b"\x80"),
    *(b",", b";", b'x",",b\n', b'"a\n', b'""', b"9", b"9" * 5000, b"-1", b"1e999", b"NaN", b"&a;"),
    *(b"\\ud800", b"\\udc00", b"\\u0000", b"null", b"true", b"{}", b"[]", b"&a [*a]", b"*a", b"? "),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xe2\x80\xae"),
    *(b"</s>", b" </s", b"1. ", b"1.\xc2\xa0", b"I. ", b"[1]", b"there is no violation ", b"6 "),
    *map(str.encode, ["。", "“", "”", "撤销", "判决如下", "有期徒刑", "年", "（", "\u200b"]),
]  # fmt: skip
ENCODINGS = ("gb18030", "big5", "shift_jis", "euc_kr", "utf-16", "utf-32", "latin-1", "utf-7")
MOST = 100_000


def place(rng: random.Random, data: bytes) -> tuple[int, int]:
    """A slice, mostly a short one."""
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + rng.choice((0, 1, 4, 40, 400, len(data))))


def flip(rng: random.Random, data: bytes) -> bytes:
    spoiled = bytearray(data)
    for _ in range(rng.choice((1, 3, 30)) if data else 0):
        spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
    return bytes(spoiled)


def drop(rng: random.Random, data: bytes) -> bytes:
    begin, end = place(rng, data)
    return data[:begin] + data[end:]


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def insert(rng: random.Random, data: bytes) -> bytes:
    begin, end = place(rng, data)
    return data[:begin] + rng.choice(WORDS) + data[rng.choice((begin, end)) :]


def repeat(rng: random.Random, data: bytes) -> bytes:
    """Some words, or a piece of the file, many times."""
    begin, end = place(rng, data)
    words = rng.choice((data[begin:end], b"".join(rng.choices(WORDS, k=rng.choice((1, 1, 2, 3))))))
    times = rng.choice((10, 1000, MOST)) // max(1, len(words))
    return data[:begin] + words * min(times, MOST) + data[rng.choice((begin, end)) :]


def swap_value(rng: random.Random, data: bytes) -> bytes:
    """Another value where a string, number, list or object of JSON stands."""
    found = list(re.finditer(rb'"[^"\\\n]*"|-?\d+|\[[^][]*\]|\{[^{}]*\}|null|true', data))[:2000]
    if not found:
        return data
    match = rng.choice(found)
    values = (b"null", b"true", b"-1", b"1e999", b"0.5", b'""', b'"x"', b"[]", b"{}", b'{"a": []}',
              b"[" * 5000 + b"]" * 5000, b"9" * 5000, b'"\\ud800"', b"[[null]]",
              b'"' + b"x " * 9000 + b'"', rng.choice(found)[0])  # fmt: skip
    return data[: match.start()] + rng.choice(values) + data[match.end() :]


def mix_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(rng.choices(lines, k=rng.choice((1, len(lines), 200)))) if lines else data


def recode(rng: random.Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "ignore")


def long_number(rng: random.Random, data: bytes) -> bytes:
    digits = rng.choice(
        (b"9" * 20, b"9" * 400, b"9" * 5000, b"-5", b"1_0", "１２".encode(), b"1.5", b"")
    )
    return re.sub(rb"\d+", lambda m: m[0] if rng.random() < 0.7 else digits, data)


MUTATORS = (flip, drop, cut, insert, insert, repeat, repeat, swap_value, swap_value, mix_lines,
            recode, long_number)  # fmt: skip

# --- how it is packed --------------------------------------------------------------------------

INNER = (
    "a.txt",
    "../a.txt",
    "/a",
    ".a",
    "a/b.json",
    "a.zip",
    "a\nb.txt",
    "x" * 300,
    "\udcff.txt",
    "",
)


def as_tar(rng: random.Random, name: str, data: bytes, mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=buffer, mode=mode, format=form) as archive:
        for inner in (name, rng.choice(INNER)):
            info = tarfile.TarInfo(inner[:99] if form == tarfile.USTAR_FORMAT else inner)
            info.size = len(data)
            headers = ("size", "path", "GNU.sparse.major", "GNU.sparse.map", "hdrcharset", "mtime")
            if form == tarfile.PAX_FORMAT and rng.random() < 0.5:
                value = rng.choice(("9" * 18, "-1", "x", "1", "0,1", "\0"))
                info.pax_headers = {rng.choice(headers): value, "GNU.sparse.minor": "0"}
            if rng.random() < 0.2:
                info.type = bytes([rng.choice(b"0123456789SLKxgVM")])
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def as_zip(rng: random.Random, name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((0, 8, 12, 14))) as archive:
        archive.writestr(name, data)
        archive.writestr(rng.choice(INNER).encode("utf-8", "replace").decode() or "b", data[:999])
    return buffer.getvalue()


#: Suffix, and what packs a file.
PACKERS: list[tuple[str, Callable[[random.Random, str, bytes], bytes]]] = [
    (".gz", lambda rng, name, data: gzip.compress(data, mtime=0)),
    (".xz", lambda rng, name, data: lzma.compress(data, preset=0)),
    (".zst", lambda rng, name, data: zstandard.compress(data)),
    (".tar", as_tar),
    (".tar", as_tar),
    (".tgz", lambda rng, name, data: gzip.compress(as_tar(rng, name, data), mtime=0)),
    (".zip", as_zip),
    (".zip", as_zip),
]
NAMES = ("a", "a.xlsx", "a.pdf", "a.docx", "a.gz", "a.json", "a.txt", "a.csv", "a.jsonl", "a.html",
         "a.parquet", "\udcff\udcfe.txt", "a b'\"{}.md", "a.zip", "a.tar.xz", "a.xz")  # fmt: skip


def special(rng: random.Random, path: Path) -> None:
    """No file at all, but what stands in the place of one."""
    path.unlink()
    kind = rng.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.symlink_to("/dev/zero")
    elif kind == 2:
        path.symlink_to(path.name)
    elif kind == 3:
        path.mkdir()
    else:
        path.write_bytes(b"")


def write_case(seed: int, number: int, folder: Path) -> tuple[str, list[Path]]:
    """Write the files of a case into a folder; which reader shall read them. Below 0: `KNOWN`."""
    if number < 0:
        reader, files = KNOWN[number]
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return reader, [folder / name for name in files]
    rng = random.Random(f"{seed} {number}")
    reader = rng.choice(list(READERS))
    files = dict(rng.choice(READERS[reader][1]))
    name = rng.choice(list(files))
    data = files.pop(name)
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(MUTATORS)(rng, data)[: 4 * MOST]
    if rng.random() < 0.25:
        suffix, pack = rng.choice(PACKERS)
        data, name = pack(rng, name, data), name + suffix
        if rng.random() < 0.6:
            data = rng.choice((flip, cut, drop, insert))(rng, data)
    if rng.random() < 0.05:
        name = rng.choice(NAMES)
    for one, content in {name: data, **files}.items():
        (folder / one).write_bytes(content)
    if rng.random() < 0.02:
        special(rng, folder / name)
    return reader, [folder / one for one in (name, *files)]


# --- running -------------------------------------------------------------------------------------


def run_case(seed: int, number: int) -> tuple[str, str]:
    """Run a case in this process: what became of it, and what is wrong, if anything is."""
    with tempfile.TemporaryDirectory() as folder:
        files, out = Path(folder) / "files", Path(folder) / "out"
        files.mkdir()
        out.mkdir()
        reader, paths = write_case(seed, number, files)
        try:
            READERS[reader][0](paths, out)
        except InputError as error:
            lines = str(error).split("\n")
            plain = len(lines) <= (MOST_FAULTS + 1 if reader == "config" else 1)
            bad = not plain or max(map(len, lines)) > 3000
            return reader, f"no plain words: {error}" if bad else ""
        except BaseException:
            return reader, traceback.format_exc()
        return reader, ""


def work(seed: int, numbers: list[int], pipe: Any) -> None:
    """Run cases in a child process; the kernel ends it if one takes too long."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.stderr = sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for number in numbers:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 10 * SECONDS)
        pipe.send(("begins", number, ""))
        pipe.send(("ends", *run_case(seed, number)))
    os._exit(0)


def run(seed: int, numbers: list[int], jobs: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Run cases in child processes; how many of each reader, and the failures."""
    counts: Counter[str] = Counter()
    failures: list[tuple[int, str]] = []
    waiting = [numbers[i::jobs] for i in range(jobs)]
    children: dict[Any, tuple[int, list[int]]] = {}

    def start(part: list[int]) -> None:
        ours, theirs = Pipe(duplex=False)
        if (child := os.fork()) == 0:
            ours.close()
            work(seed, part, theirs)
        theirs.close()
        children[ours] = (child, part)

    for part in filter(None, waiting):
        start(part)
    while children:
        for pipe in wait(list(children)):
            child, part = children[pipe]
            try:
                what, one, wrong = pipe.recv()
            except EOFError:
                del children[pipe]
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                if part:
                    failures.append((part[0], f"ended by {signal.Signals(-status).name}"))
                    if part[1:]:
                        start(part[1:])
                continue
            if what == "ends":
                counts[one] += 1
                if wrong:
                    failures.append((part[0], f"{one}: {wrong}"))
                children[pipe] = (child, part[1:])
    return counts, sorted(failures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("EVENHAND_FUZZ_SEED", 0)))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int)
    told = parser.parse_args()
    if told.only is not None:
        folder = Path(tempfile.mkdtemp(prefix="evenhand-case-"))
        reader, paths = write_case(told.seed, told.only, folder)
        print(reader, *paths)
        READERS[reader][0](paths, Path(tempfile.mkdtemp()))
        return
    begin = time.time()
    counts, failures = run(told.seed, list(range(-len(KNOWN), told.cases)), told.jobs)
    for number, words in failures:
        print(f"seed {told.seed}, case {number}: {words}")
    print(f"{counts.total()} cases of {len(counts)} readers in {time.time() - begin:.0f} s, "
          f"{len(failures)} failures")  # fmt: skip
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
