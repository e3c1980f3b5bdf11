import csv
from pathlib import Path

from evenhand.core.sources import read_sources, source_path, unchecked

TABLE = """name, file,sha256,url,licence,note
known,a.zip,{sum},,MIT,
new,b.zip,,https://example.org/b.zip,"CC BY, 4.0","they say ""none"" of it"
never,c.zip,,,MIT,not fetched
"""


def test_a_source_without_a_checksum_is_told_with_its_line(tmp_path):
    table = tmp_path / "sources.csv"
    table.write_text(TABLE.format(sum="a" * 64), encoding="utf-8")
    config = {"sources": str(table), "results": str(tmp_path / "results")}
    sources = read_sources(table)
    assert unchecked(config, sources) == ""
    for name in ("known", "new"):
        record = Path(f"{source_path(config, sources, name)}.sha256")
        record.parent.mkdir(parents=True)
        record.write_text(f"{'b' * 64}  file\n", encoding="utf-8")
    words, line = unchecked(config, sources).splitlines()
    assert words.startswith(f"warning: the data source new has no checksum in {table}")
    assert "known" not in words and "replace the line of new" in words
    expected = ["new", "b.zip", "b" * 64, "https://example.org/b.zip", "CC BY, 4.0"]
    assert next(csv.reader([line])) == [*expected, 'they say "none" of it']
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([*lines[:2], line, lines[3]]), encoding="utf-8")
    assert unchecked(config, read_sources(table)) == ""
