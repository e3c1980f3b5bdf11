import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.report.export_tables import export_tables

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "\rx", "＝1"]


def table(path: Path, *rows: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def first_cells(text: str) -> list[str]:
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))]


def export(tmp_path: Path, *rows: list[str], **more) -> dict[str, str]:
    """The copies of one table, by suffix."""
    path = table(tmp_path / "tables/mine.csv", *rows)
    counts = export_tables(tables=[path], files=["tables/mine.csv"], out=tmp_path / "out", **more)
    assert counts["tables"] == 1 and counts["rows"] == len(rows) - 1
    return {
        suffix: (tmp_path / f"out/mine.{suffix}").read_bytes().decode("utf-8-sig")
        for suffix in ("csv", "tex", "md")
    }


def test_formulas_become_text_and_numbers_stay(tmp_path):
    numbers = ["-1", "+2.50", "-1e-9", "-inf"]
    made = export(tmp_path, ["=name"], *([one] for one in [*FORMULAS, *numbers]))
    assert first_cells(made["csv"]) == ["'=name", *("'" + one for one in FORMULAS), *numbers]


@settings(max_examples=25, deadline=None)
@given(cell=st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1))
def test_no_cell_begins_a_formula_unless_it_is_a_number(tmp_path_factory, cell):
    made = export(tmp_path_factory.mktemp("t"), ["a"], [cell])
    written = first_cells(made["csv"])[1]
    assert written == cell or written == "'" + cell
    if written[0] in "=+-@\t＝＋－＠":
        float(written)


def test_the_csv_keeps_all_digits_and_the_others_four(tmp_path):
    made = export(tmp_path, ["a", "n"], ["0.123456789", "12345"], ["1234567.25", ""], ["1e-7", "3"])
    assert "0.123456789,12345\r\n" in made["csv"]
    assert "0.1235 & 12345 \\\\" in made["tex"] and "1234567 &  \\\\" in made["tex"]
    assert "| 0.1235 | 12345 |\n| 1234567 |  |\n| 1e-07 | 3 |" in made["md"]
    assert "\\begin{tabular}{rr}" in made["tex"]
    assert "| ---: | ---: |" in made["md"]
    made = export(tmp_path, ["id"], ["0.10000"], ["none"])  # no column of numbers
    assert "0.10000" in made["tex"] and "0.10000" in made["md"]
    assert "{l}" in made["tex"]
    made = export(tmp_path, ["a", "b"])
    assert made["csv"] == "a,b\r\n"
    assert "a & b \\\\" in made["tex"]
    assert made["md"] == "| a | b |\n| --- | --- |\n"


def test_signs_of_latex_and_markdown_are_text(tmp_path):
    hostile = r"a\b & 50% $x$ #1 _y_ {z} ~ ^ | `c` *d* [e](f) <script>"
    made = export(tmp_path, ["snake_case"], [hostile], ["[1]"], ["*"])
    assert r"\textbackslash b \& 50\% \$x\$ \#1 \_y\_ \{z\}" in made["tex"]
    assert "snake\\_case" in made["tex"]
    assert "\n{}[1] \\\\\n{}* \\\\\n" in made["tex"]
    row = r"a\\b &amp; 50% \$x\$ #1 \_y\_ {z} \~ ^ \| \`c\` \*d\* \[e\](f) &lt;script&gt;"
    assert f"| {row} |" in made["md"]
    assert "| snake_case |" in made["md"]


def test_a_cell_stays_on_its_line_and_chinese_stays_chinese(tmp_path):
    made = export(tmp_path, ["a"], ["他说\n好\x00\x1b"])
    assert "他说 好␀␛ \\\\" in made["tex"]
    assert "| 他说 好␀␛ |" in made["md"]


def test_a_long_table_breaks_over_pages_and_says_what_is_missing(tmp_path):
    rows = [[str(n)] for n in range(60)]
    made = export(tmp_path, ["n"], *rows, rows=50)
    words = "The first 50 of 60 rows; mine.csv holds all of them."
    assert "\\begin{longtable}{r}" in made["tex"]
    assert f"% {words}\n" in made["tex"] and made["md"].endswith(f"\n{words}\n")
    assert "\n49 \\\\" in made["tex"] and "\n50 \\\\" not in made["tex"]
    assert "\n59\r\n" in made["csv"]


def test_the_latex_names_file_and_stage(tmp_path):
    path = table(tmp_path / "tables/mine.csv", ["a"], ["1"])
    entry = {"file": "results/tables/mine.csv", "sha256": content_digest(path)}
    provenance = tmp_path / "provenance.json"
    for made_by, line in (("evenhand.x.y", ", made by evenhand.x.y"), (None, "")):
        document = {"files": [entry | {"stage": made_by}]}
        provenance.write_text(json.dumps(document), encoding="utf-8")
        made = export(tmp_path, ["a"], ["1"], provenance=provenance)
        assert made["tex"].startswith(f"% tables/mine.csv{line}\n\\begin")


def test_copies_of_two_folders_keep_apart(tmp_path):
    files = ["slguset/table_1.csv", "slguset_published/table_1.csv"]
    paths = [table(tmp_path / file, ["a"]) for file in files]
    export_tables(tables=paths, files=files, out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.csv")) == [
        "slguset_published_table_1.csv", "slguset_table_1.csv",
    ]  # fmt: skip
    with pytest.raises(InputError, match="two tables would be called a_b"):
        export_tables(tables=paths, files=["a/b.csv", "tables/a_b.csv"], out=tmp_path / "o")


def test_nothing_to_export_and_the_same_bytes(tmp_path):
    record = stage.execute(export_tables, {"tables": [], "files": [], "out": tmp_path / "none"})
    assert record["counts"] == {"tables": 0, "rows": 0, "shortened": 0}
    assert list((tmp_path / "none").iterdir()) == []
    assert export(tmp_path, ["a"], ["1"]) == export(tmp_path, ["a"], ["1"])


def test_a_document_becomes_a_table_of_fields_and_values(tmp_path):
    document = {
        "name": "=x",
        "empty": None,
        "so": True,
        "length": {"mean": 1.5, "bars": [{"from": 0, "n": 2}, {"from": 10, "n": 1}]},
        "words": ["a", "b"],
        "none": [],
        "nested": {},
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    counts = export_tables(tables=[path], files=["a/x.json"], out=tmp_path / "out")
    text = (tmp_path / "out/a_x.csv").read_text(encoding="utf-8-sig")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["field", "value"],
        ["name", "'=x"],
        ["empty", ""],
        ["so", "true"],
        ["length.mean", "1.5"],
        ["length.bars.1.from", "0"],
        ["length.bars.1.n", "2"],
        ["length.bars.2.from", "10"],
        ["length.bars.2.n", "1"],
        ["words", "a; b"],
        ["none", ""],
    ]
    assert counts["rows"] == 10
    assert "length.bars.1.from" in (tmp_path / "out/a_x.tex").read_text(encoding="utf-8")
