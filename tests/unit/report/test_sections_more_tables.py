from evenhand.core.tables import Table, flag, integer, number, share, text, write_tables
from evenhand.report.sections.more_tables import ROWS, MoreTables
from evenhand.report.study import Study

COLUMNS = (
    text("name"),
    integer("n"),
    share("part", "Of all", interval=True),
    flag("sure"),
    number("p_adjusted"),
)


def test_tables_that_no_section_links_are_described(tmp_path):
    tables = [Table(name, "A title", ("name",), COLUMNS) for name in ("one", "two", "é x", "none")]
    row = {
        "name": "<b>",
        "n": 3,
        "part": -0.123456,
        "part_low": 0.0,
        "sure": True,
        "p_adjusted": 0.0,
    }
    many = [{"name": str(number), "sure": False} for number in range(ROWS + 1)]
    folder = tmp_path / "tables/set"
    write_tables(folder, zip(tables, [[row], many, [row], []], strict=True))
    links = 'href="tables/set_one.tex" href="tables/set_%C3%A9%20x.csv"'
    study = Study(files=[folder, tmp_path / "tables/other"])
    first, second = MoreTables(study, ["tables/set"]).on(links)
    assert (first["file"], first["total"]) == ("tables/set/one.csv", 1)
    assert first["rows"] == [["<b>", 3, "−12.3 %", "0.0 %", None, "yes", "2.2e−308"]]
    assert (second["table"].name, second["total"], len(second["rows"])) == ("two", ROWS + 1, ROWS)
    assert second["rows"][-1] == [str(ROWS - 1), None, None, None, None, "no", None]
    assert first["of"] == ""
    write_tables(tmp_path / "tables/other", [(tables[0], [row])])
    both = MoreTables(study, ["tables/*"]).on(links)
    assert [(entry["file"], entry["of"]) for entry in both] == [
        *(("tables/set/one.csv", "set"), ("tables/set/two.csv", "set")),
        ("tables/other/one.csv", "other"),
    ]
