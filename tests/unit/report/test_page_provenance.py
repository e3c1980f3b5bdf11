"""The page of provenance, of a small run that real stages have made."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.core.stage import Input, Output
from evenhand.report.collect_provenance import collect_provenance
from evenhand.report.pages.provenance import _pattern
from evenhand.report.render import slug
from evenhand.report.words import file_content
from unit.report import checks
from unit.report.checks import HOSTILE, text


def join(*, parts: list[Input], out: Output, note: Output, sign: str = "-") -> dict[str, Any]:
    """A stage with several inputs and two outputs."""
    out.write_text(sign.join(part.read_text(encoding="utf-8") for part in parts), encoding="utf-8")
    note.write_text("a,b\n1,2\n", encoding="utf-8")
    return {"parts": len(parts)}


def make(parts: list[str], out: str) -> None:
    join.__module__ = "evenhand.slguset.merge_candidates"  # a module that has a code digest
    arguments = {
        "parts": [Path(part) for part in parts],
        "out": Path(out),
        "note": Path(out).with_suffix(".csv"),
    }
    stage.execute(join, arguments, {"sign": "slguset.sign"})


#: One with a dot in it, as models have.
NAMES = ("v", "w", "x", "y", "z2.5")

RESULTS = ["results/slguset/c.txt", "results/slguset/c.csv", "results/tables/d.csv"]


@pytest.fixture
def provenance(tmp_path, monkeypatch) -> Path:
    """Six sources, five files of a kind between, with their notes, and three results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_STATE", "results/.evenhand")
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    for name in ("one", *NAMES):
        Path(f"{name}.txt").write_text(name, encoding="utf-8")
    between = [f"results/slguset/keywords/{name}.txt" for name in NAMES]
    for path in between:
        make(["one.txt", Path(path).name], path)
    make(between, RESULTS[0])
    make([RESULTS[1], "one.txt"], "results/tables/d.txt")
    collect_provenance(
        files=[Path(file) for file in RESULTS],
        records=sorted(Path("results/.evenhand/records").iterdir()),
        out=Path("results/provenance.json"),
        table=Path("results/provenance.csv"),
    )
    return Path("results/provenance.json")


@pytest.fixture
def page(write):
    def written(provenance: Path, **options: Any):
        return write("provenance", [provenance], **options)

    return written


def data_of(tree) -> dict[str, Any]:
    return json.loads(tree.css_first("script#provenance").text())


def test_each_file_has_its_anchor_and_its_words(page, provenance):
    tree = page(provenance)
    paths = [entry["file"] for entry in json.loads(provenance.read_text())["files"]]
    assert len(paths) == 8
    for path in paths:
        below = path.removeprefix("results/")
        item = tree.css_first(f"#files li#file-{slug(below)}")
        assert item.css_first("a").attributes["href"] == f"#file-{slug(below)}"
        assert below in item.text()
        assert content_digest(Path(path))[:12] in item.text()
    totals = "3 result files, 5 intermediate files, 1 stage that made them, and 6 sources"
    assert text(tree, ".lead").startswith(totals)
    fold = tree.css_first("#files details")
    assert fold.css_first("summary code").text() == "slguset/keywords/*.txt"
    assert len(fold.css("li")) == 5
    assert [node.text().split()[0] for node in tree.css("#files h3")] == ["slguset", "tables"]


def test_stages_and_sources_can_be_read_without_a_script(page, provenance):
    tree = page(provenance)
    made = tree.css_first("#stage-evenhand-slguset-merge_candidates").text()
    record = json.loads(provenance.read_text())["files"][0]
    for words in ("evenhand.slguset.merge_candidates", record["code"], "slguset.sign = -"):
        assert words in made
    assert "parts 17" in " ".join(made.split())  # 5 runs read 2, one reads 5, one reads 2
    assert "7 runs, 8 files" in made
    rows = {row.css_first("th").text(): row.text() for row in tree.css("#sources tbody tr")}
    assert list(rows) == ["one.txt", *(f"{name}.txt" for name in NAMES)]
    assert content_digest(Path("one.txt"))[:12] in rows["one.txt"]
    assert "merge_candidates" in rows["one.txt"]


def test_the_script_s_data_leads_from_a_result_to_the_sources(page, provenance):
    data = data_of(page(provenance))
    nodes, runs = data["nodes"], data["runs"]
    numbers = {node[1]: number for number, node in enumerate(nodes)}

    def read_by(number: int) -> set[str]:
        run = nodes[number][8]
        return {nodes[one][1] for _, inputs in runs[run][5] for one in inputs}

    assert read_by(numbers["tables/d.csv"]) == {"slguset/c.csv", "one.txt"}
    assert read_by(numbers["slguset/c.csv"]) == {f"slguset/keywords/{n}.txt" for n in NAMES}
    assert read_by(numbers["slguset/keywords/v.txt"]) == {"one.txt", "v.txt"}
    assert numbers["one.txt"] >= data["files"] > numbers["tables/d.csv"]
    node = nodes[numbers["tables/d.csv"]]
    assert (node[2], node[3], node[6]) == (content_digest(Path(RESULTS[2])), "../tables/d.csv", 1)
    assert data["columns"][node[7]] == ["a", "b"]
    stage_number, code, parameters, packages, counts, _ = runs[node[8]]
    assert data["stages"][stage_number][0] == "evenhand.slguset.merge_candidates"
    assert data["parameters"][parameters] == [["slguset.sign", "-", True]]
    assert counts == [["parts", 2]]
    assert len(data["codes"][code]) == 16 and data["packages"][packages]


def test_what_no_record_tells_is_said(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("results/a.bin").write_bytes(b"x")
    collect_provenance(
        files=[Path("results/a.bin")],
        out=Path("results/provenance.json"),
        table=Path("results/provenance.csv"),
    )
    tree = page(Path("results/provenance.json"))
    body = text(tree, "body")
    for words in ("0 of 1 file are traced", "not traced", "There is no record", "names no source"):
        assert words in body
    assert data_of(tree)["nodes"][0][8] is None


def test_hostile_strings_stay_text(page, tmp_path):
    entry = dict.fromkeys(("stage", "code", "sha256"), HOSTILE) | {
        "file": f"results/{HOSTILE}", "result": True, "kind": "file", "bytes": 1, "rows": 1,
        "columns": [HOSTILE], "parameters": {HOSTILE: HOSTILE}, "config": {HOSTILE: HOSTILE},
        "packages": {HOSTILE: HOSTILE}, "counts": {HOSTILE: 1},
        "inputs": {HOSTILE: [{"sha256": HOSTILE, "file": HOSTILE}]},
    }  # fmt: skip
    document = {"files": [entry], "sources": [{"file": HOSTILE, "sha256": HOSTILE}]}
    path = tmp_path / "provenance.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    tree = page(path)
    assert len(tree.css("script")) == 1 == len(tree.css("script[type='application/json']"))
    assert not tree.css("img, iframe, object, embed, link, base, form")
    assert not [n for node in tree.css("*") for n in node.attributes if n.startswith("on")]
    for section in ("files", "stages", "sources"):
        assert "<script>alert(1)</script>" in tree.css_first(f"#{section}").text(), section
    for isolated in tree.css("bdi, code, script"):
        isolated.decompose()
    assert "\u202e" not in tree.body.text()
    checks.check_no_request(tree)


def test_ids_are_of_one_element_each_even_where_paths_differ_by_signs_only(page, tmp_path):
    paths = ["results/a b.csv", "results/a-b.csv", "results/a.b.csv", "results/a-b-csv-2"]
    keys = ("stage", "code", "parameters", "packages", "counts", "columns", "rows")
    files = [
        dict.fromkeys(keys) | {"file": file, "sha256": file, "bytes": 1, "inputs": {}}
        for file in paths
    ]
    path = tmp_path / "provenance.json"
    path.write_text(json.dumps({"files": files, "sources": []}), encoding="utf-8")
    tree = page(path)
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    assert "file-a-b-csv" in ids and len([i for i in ids if i.startswith("file-a")]) == 4


def test_links_of_the_data_exist(page, provenance):
    tree = page(provenance)
    ids = {node.attributes.get("id") for node in tree.css("[id]")}
    for node in data_of(tree)["nodes"]:
        assert node[0] in ids
        assert len(node) == 3 or (Path("results/report") / node[3]).resolve().exists()
    for link in tree.css("a[href^='#']"):
        assert link.attributes["href"][1:] in ids
    checks.check_no_request(tree)
    assert str(Path.cwd()) not in tree.html


def test_files_elsewhere_are_not_linked_to(page, provenance):
    tree = page(provenance, results="other")
    assert {node[3] for node in data_of(tree)["nodes"] if len(node) > 3} == {None}


def test_every_known_kind_of_file_has_its_own_words():
    assert file_content("results/slguset/sentences/a.quarantine.parquet").startswith("Parts of the")
    assert file_content("results/slguset/sentences/a.parquet").startswith("Sentences that")
    assert file_content("results/legal/ecthr/ecthr.parquet").startswith("The cases")
    assert file_content("results/cards/a/README.md").startswith("The card of a language")
    assert file_content("results/tabular/a/README.md").startswith("The card of these people")
    assert file_content("results/legal/ecthr/splits.parquet").startswith("How the cases")
    assert file_content("results/unknown.bin") is None


@given(st.lists(st.from_regex(r"\A([ab]{1,2}[/_.-]){0,3}[ab]{1,2}\Z"), min_size=1, unique=True))
def test_a_pattern_fits_each_of_its_paths(paths):
    pattern = _pattern(paths)
    assert pattern.count("*") == (len(paths) > 1)
    for path in paths:
        assert re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), path)


def test_a_pattern_keeps_what_paths_have_in_common():
    assert _pattern(["tables/legal_a_sizes.csv", "tables/legal_b_c_sizes.csv"]) == (
        "tables/legal_*_sizes.csv"
    )
