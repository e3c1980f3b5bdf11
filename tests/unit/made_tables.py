"""Declared tables for tests: the contract of a family, and folders of made rows."""

from evenhand.core.tables import read_package, read_table, read_tables, write_tables


def check_declaration(member):
    """Check that a member is named after its table, and that the table describes itself."""
    table = member.TABLE
    assert member.__name__.rpartition(".")[2] == table.name
    assert table.title and table.title[0].isupper() and not table.title.endswith(".")
    assert {*table.key} <= {*table.header} and len({*table.header}) == len(table.header)
    assert len(member.__doc__.splitlines()[0]) > 20


def check_rows(folder, table):
    """Check that a written table follows its declaration: keys, intervals, types."""
    rows = read_tables(folder)[table.name]
    assert read_package(folder)[table.name] == table
    keys = [tuple(row[column] for column in table.key) for row in rows]
    assert len({*keys}) == len(keys), table.name
    for column in table.numbers():
        low, high = column.interval
        for row in rows:
            if None not in (row[low], row[high]):
                assert row[low] <= row[high]
    return rows


def read_back(folder, table, rows):
    """Write the rows of one table, and return them as a reader gets them."""
    write_tables(folder, [(table, rows)])
    return read_table(folder / f"{table.name}.csv")


def edited(folder, out, **changes):
    """Copy a folder of tables; a change turns the rows of a table into others."""
    tables = read_package(folder)
    rows = read_tables(folder)
    own = {name: changes.get(name, list)(rows[name]) for name in tables}
    write_tables(out, [(tables[name], own[name]) for name in tables])
    return out
