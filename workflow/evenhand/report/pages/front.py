"""The front page: the findings of each system, and how far to trust them.

The truth that was planted in the data is a CSV file of the configuration. A row gives the planted
fact (`planted`) and its `kind` (``bias``, ``no bias`` or ``mitigation``); a number with an interval
that must show it (in `table`, the row with the cells `where`, written ``column=value`` and
separated by blanks, and the `column`); the sentence on this number (`found`, with ``{}`` in its
place); and the `expected` position of the interval: ``above`` or ``below`` the value `than`, or
``equal``, which means that it contains it.
"""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.core.tables import read_package, read_table
from evenhand.errors import InputError
from evenhand.report.headline import SYSTEMS, VERDICTS, plain, say, total
from evenhand.report.study import Study

COLUMNS = ["kind", "planted", "expected", "than", "found", "table", "where", "column"]

#: The permitted cells of the columns with a choice.
CHOICES = {"kind": ("bias", "no bias", "mitigation"), "expected": ("above", "below", "equal")}


def describe_planted(truth: Path, files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of the section, first the first one of each kind with a number.

    Parameters
    ----------
    truth : Path
        The file with the planted facts.
    files : iterable of Path
        Results, among them the folders of the tables.

    Returns
    -------
    list of dict
        kind, planted, table, value, low, high, found, expected and verdict (words); holds: whether
        the interval is as expected, None where there is no such number. ``main`` marks the first
        of a kind.

    Raises
    ------
    InputError
        The file is not well formed, or names a table, row or column that does not exist.
    """
    folders = {"/".join(path.parts[-n:]): path for path in map(Path, files) for n in (2, 3)}
    described: list[dict[str, Any]] = []

    def describe(row: dict[str, str]) -> None:
        try:
            than = float(row["than"])
        except ValueError:
            raise InputError(f"{row['than']!r} is no number to compare with") from None
        place, _, name = row["table"].rpartition("/")
        entry = {name: row[name] for name in ("kind", "planted", "table", "found")}
        entry |= dict.fromkeys(("value", "low", "high", "holds"))
        if place in folders:
            number = _number(folders[place], name.removesuffix(".csv"), row)
            entry |= dict(zip(("value", "low", "high"), number, strict=True))
            entry["holds"] = _holds(row["expected"], than, *number[1:])
        entry["verdict"] = say("planted_verdict", entry=entry)
        entry["expected"] = say("planted_expected", entry=entry, row=row)
        entry["found"] = say("planted_found", entry=entry, row=row)
        known = {earlier["kind"] for earlier in described if earlier["holds"] is not None}
        described.append(entry | {"main": entry["holds"] is not None and row["kind"] not in known})

    read_resource(truth, COLUMNS, unique=("planted", "found"), choices=CHOICES, make=describe)
    return sorted(described, key=lambda entry: not entry["main"])


def _number(folder: Path, table: str, row: dict[str, str]) -> tuple[float | None, ...]:
    """Return a number of a table and the ends of its interval."""
    declared = read_package(folder).get(table)
    numbers = declared.numbers() if declared else []
    column = next((column for column in numbers if column.name == row["column"]), None)
    if column is None:
        raise InputError(f"{row['table']} has no column {row['column']} with an interval")
    cells = dict(cell.split("=", 1) for cell in row["where"].split())
    fitting = [
        candidate
        for candidate in read_table(folder / f"{table}.csv")
        if all(str(candidate.get(name)) == value for name, value in cells.items())
    ]
    if len(fitting) != 1:
        problem = f"{len(fitting)} rows of {row['table']} have {row['where']}"
        raise InputError(problem, remedy="name one row")
    return tuple(fitting[0][name] for name in (column.name, *column.interval))


def _holds(expected: str, than: float, low: float | None, high: float | None) -> bool | None:
    if low is None or high is None:
        return None
    return {"above": low > than, "below": high < than, "equal": low <= than <= high}[expected]


#: The main findings, which the console prints: one of each kind of planted truth, if there is one,
#: then the clearest finding of each system, those without a significant result last. That of each
#: other data set of predictions follows, or of predictions alone further ones.
MAIN = 3


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    cards = system_cards(study, {name: plain("question", system=name) for name in SYSTEMS})
    # the clearest finding first, and remedies behind what they should mend
    cards.sort(
        key=lambda card: (
            card["id"] == "mitigation",
            -card["headline"].strength if card["headline"] else 0,
        )
    )
    truths = describe_planted(study.planted, study.files) if study.planted else []
    headlines = [card["headline"] for card in cards if card["headline"]]
    planted = [say("planted_line", entry=row) for row in truths if row["main"]]
    ordered = sorted(headlines, key=lambda headline: not headline.is_significant)
    findings = [*planted, *(headline.line for headline in ordered)][:MAIN]
    # before those without a significant result
    place = len(planted) + sum(headline.is_significant for headline in headlines)
    findings[place:place] = [words for headline in headlines for words in headline.significant]
    if study.systems == ["predictions"]:
        findings += headlines[0].details
    else:
        findings += [words for headline in headlines for words in headline.of_others]
    further = sum(
        all(words not in finding for finding in findings)
        for headline in headlines
        for words in headline.statements
    )
    provenance = study.document("provenance.json") or {"files": []}
    files = [entry for entry in provenance["files"] if entry.get("result", True)]
    sections = [("short", "In short")] * bool(findings)
    sections += [("planted", "Planted truth")] * bool(truths)
    return published_counts(cards) | {
        "sections": [*sections, ("trust", "Trust")],
        "who_fares_worse": plain("question_groups"),
        "absent": [plain("absent", system=name) for name in SYSTEMS if name not in study.systems],
        "truths": truths,
        "findings": findings,
        "further": [plain("front_further", count=further)] if further else [],
        "left_out": [line for headline in headlines for line in headline.left_out],
        "result_files": len(files),
        "traced_files": sum(entry["stage"] is not None for entry in files),
    }


def system_cards(study: Study, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return, for each of these systems, id, title, pages, headline and the files behind it.

    A system that is not of this configuration has no headline.
    """
    cards = []
    for system, title in titles.items():
        headline = None
        if system in study.systems:
            module = importlib.import_module(f"evenhand.report.headlines.{system}")
            headline = module.describe(study)
        counted = [file for line in headline.verdicts for file in line.files] if headline else []
        card = {
            "id": system.replace("_", "-"),
            "title": (headline and headline.question) or title,
            "pages": SYSTEMS[system],
            "headline": headline,
            "files": headline.files if headline else [],
            "counts": total(headline.verdicts) if headline else None,
            "counted": list(dict.fromkeys(counted)),
        }
        cards.append(card)
    return cards


def published_counts(cards: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the cards, the number of published values by verdict, and the verdicts that occur."""
    headlines = [card["headline"] for card in cards if card["headline"]]
    counts = total(verdicts for headline in headlines for verdicts in headline.verdicts)
    verdicts = {verdict: words for verdict, words in VERDICTS.items() if counts[verdict]}
    return {"cards": cards, "verdicts": verdicts, "counts": counts}
