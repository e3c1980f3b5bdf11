"""Section: the declared tables of a page that no other section shows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evenhand.core.tables import read_package, read_table
from evenhand.report.render import stem

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
    folders : mapping
        Their folders by the paths below the results.
    only, but : collection of str
        The names of the tables of the page (all, if it is empty), and of those of other pages.
    """

    folders: Mapping[str, Path]
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
            of the first `ROWS`).
        """
        found: list[dict[str, Any]] = []
        for place, folder in self.folders.items():
            for name, table in read_package(folder).items():
                file = f"{place}/{name}.csv"
                if name in self.but or (self.only and name not in self.only):
                    continue
                if f'href="tables/{quote(stem(file))}.csv"' in body:
                    continue
                rows = read_table(folder / f"{name}.csv")
                cells = [[_cell(row[column]) for column in table.header] for row in rows[:ROWS]]
                of = folder.name if len(self.folders) > 1 else ""
                if rows:
                    found.append({"file": file, "of": of, "table": table, "total": len(rows)})
                    found[-1]["rows"] = cells
        return found


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else value
