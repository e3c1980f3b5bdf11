"""Section: the declared tables of a page that no other section shows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from evenhand.core.decimals import as_cell
from evenhand.core.tables import read_package, read_table
from evenhand.report.render import stem
from evenhand.report.study import Study

#: The tables that the report on mitigation shows, and no other one.
OF_MITIGATION = {
    *("tests", "curves", "mitigation", "attribute_leakage"),
    *("grid", "pareto_fronts", "inconsistencies"),
}

#: Rows that the page shows of a table.
ROWS = 25


@dataclass(frozen=True)
class MoreTables:
    """The tables that belong to a page.

    Attributes
    ----------
    study : Study
        The results of the page.
    folders : sequence of str
        Their folders, as patterns of paths.
    only, but : collection of str
        The names of the tables of the page (all, if it is empty), and of those of other pages.
    """

    study: Study
    folders: Sequence[str]
    only: Collection[str] = ()
    but: Collection[str] = ()

    def on(self, body: str) -> list[dict[str, Any]]:
        """Return the tables, if they have rows, to whose copies the body of the page has no link.

        Parameters
        ----------
        body : str
            The other sections, HTML.

        Returns
        -------
        list of dict
            file (its path below the results), of (the name of its folder, where the page has
            several), table (its declaration), total (the number of its rows) and rows (the cells
            of the first `ROWS`, shares in percent).
        """
        folders = [
            (path, "/".join(path.parts[-pattern.count("/") - 1 :]))
            for pattern in self.folders
            for path in self.study.paths(pattern)
        ]
        tables: list[dict[str, Any]] = []
        for folder, place in folders:
            for name, table in read_package(folder).items():
                file = f"{place}/{name}.csv"
                if name in self.but or (self.only and name not in self.only):
                    continue
                if f'href="tables/{quote(stem(file))}.csv"' in body:
                    continue
                if rows := read_table(folder / f"{name}.csv"):
                    of = folder.name if len(folders) > 1 else ""
                    cells = [
                        [_cell(row[key], unit) for key, unit in table.units.items()]
                        for row in rows[:ROWS]
                    ]
                    entry = {"file": file, "of": of, "table": table, "total": len(rows)}
                    tables.append(entry | {"rows": cells})
        return tables


def _cell(value: Any, unit: str) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return as_cell(value, unit).replace("-", "−") if isinstance(value, float) else value
