from evenhand.core.tables import Table, flag, integer, share, text, write_tables
from evenhand.report.sections.more_tables import ROWS, MoreTables

COLUMNS = (text("name"), integer("n"), share("part", "Of all", interval=True), flag("sure"))


def test_tables_that_no_section_links_are_described(tmp_path):
    tables = [Table(name, "A title", ("name",), COLUMNS) for name in ("one", "two", "é x", "none")]
    row = {"name": "<b>", "n": 3, "part": -0.123456, "part_low": 0.0, "sure": True}
    many = [{"name": str(number), "sure": False} for number in range(ROWS + 1)]
    write_tables(tmp_path, zip(tables, [[row], many, [row], []], strict=True))
    links = 'href="tables/set_one.tex" href="tables/set_%C3%A9%20x.csv"'
    first, second = MoreTables({"tables/set": tmp_path}).on(links)
    assert (first["file"], first["total"]) == ("tables/set/one.csv", 1)
    assert first["rows"] == [["<b>", 3, "−0.1235", "0", None, "yes"]]
    assert (second["table"].name, second["total"], len(second["rows"])) == ("two", ROWS + 1, ROWS)
    assert second["rows"][-1] == [str(ROWS - 1), None, None, None, None, "no"]
    assert first["of"] == ""
    both = MoreTables({"tables/a": tmp_path, "tables/b": tmp_path}).on(links)
    assert {one["of"] for one in both} == {tmp_path.name}
