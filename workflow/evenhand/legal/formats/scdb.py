"""SCOTUS: the Supreme Court Database (SCDB), joined to texts of the cases.

Chalkidis et al. (2022, section 3.2) join the opinions to SCDB; how is not published. Here a text
is joined by its citation (of the U.S. Reports, or of the Supreme Court Reporter, the only one
that the newest cases have) or by its term and docket number. Where both are given and lead to
two rows, or the citation's row has another docket number, the names of the parties decide:
sources do cite wrongly. A row gets one text; others that fit less are left out and reported.

FairLex predicts the issue area from opinions, which contain the reasoning. Summaries of the
facts (Oyez) can replace them; `metadata["text_kind"]` has the kind of the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.io.formats import kind_of
from evenhand.io.members import Member
from evenhand.io.quarantine import Quarantine
from evenhand.legal.records import Record
from evenhand.legal.rows import (
    CaseFiles,
    Note,
    RejectedError,
    SourceRow,
    joined_text,
    paragraphs_of,
    plain,
    western_lines,
    western_text,
)

KIND = "scotus"
NEEDS = (
    "SCDB's case-centred csv (any release since 2010) and texts: .txt named by U.S. citation or by"
    " term and docket, or jsonl or csv with citation, or term and docket, and the text"
)
TABLES = ("scdb_columns", "scdb_issue_areas")

#: The table of the names of columns.
COLUMNS = "scdb_columns.csv"

#: Columns of SCDB without which nothing can be read.
_NEEDED = ("caseId", "usCite", "term", "docket", "dateDecision", "issueArea")
_NEEDED += ("decisionDirection", "respondent")

#: Columns that only tables with a row a vote have.
_JUSTICES = ("justice", "justicename")

_CITATION = re.compile(r"(?<!\d)(\d{1,4})[\s_.-]*u[\s_.-]*s[\s_.-]*(\d{1,4})(?!\d)", re.IGNORECASE)
_REPORTER = re.compile(r"(?<!\d)(\d{1,4})[\s_.-]*s[\s_.-]*ct[\s_.-]*(\d{1,5})(?!\d)", re.IGNORECASE)
_TERM_DOCKET = re.compile(r"((?:17|18|19|20)\d\d)[\s_.]+(.+)")
#: Docket numbers of original cases (also as the Court's own pages number them: 22O141), and of the
#: miscellaneous docket.
_DOCKETS = [
    ("orig", re.compile(r"(\d+)[\s,.\-]*o(?:rig(?:inal)?)?\.?")),
    ("orig", re.compile(r"22o(\d+)")),
    ("m", re.compile(r"(\d+)[\s,.\-]*m(?:isc)?\.?")),
]
_WORD = re.compile(r"[a-z0-9]+")

#: Words that do not identify the parties.
_PARTY_WORDS = frozenset(
    _WORD.findall(
        """v vs et al the of and in re ex rel for on a an by inc co corp ltd llc united states
        state city county board department company commission national aka dba"""
    )
)


class Key(NamedTuple):
    """The identifiers of a case in a text or a row; "" for a missing one."""

    citation: str = ""
    reporter: str = ""
    term: str = ""
    docket: str = ""
    name: str = ""


class Keyed(NamedTuple):
    """A row of SCDB, or a text (fields text and kind), and the identifiers of its case."""

    row: SourceRow
    key: Key


class Match(NamedTuple):
    """The row that a text belongs to, or the reason why there is none.

    Attributes
    ----------
    row : int or None
        A number of `Table.rows`.
    how : str
        ``citation``, ``docket`` or ``citation_and_docket``; or why there is none.
    rank : int
        How well it fits: 0 is best.
    """

    row: int | None
    how: str
    rank: int = 0


class Table:
    """SCDB: its rows, and their numbers by citation, and by term (or "") and docket."""

    def __init__(self, rows: Iterable[Keyed]) -> None:
        self.rows = list(rows)
        self.numbers: dict[str | tuple[str, str], list[int]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            key = row.key
            dockets = {(key.term, key.docket), ("", key.docket)} if key.docket else ()
            for place in (*filter(None, (key.citation, key.reporter)), *dockets):
                self.numbers[place].append(number)


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read SCDB and the texts; see the module.

    The files are one csv of SCDB (recognised by its columns), and texts. The texts are read twice,
    first for their citations and dockets; SCDB itself stays in memory (9,000 rows), the texts do
    not. The quarantine gets texts without a row (``unmatched_text``), rows without a text
    (``unmatched_row``), rows with an issue area that FairLex has no label for
    (``outside_labels``) or with none (``bad_label``), and invalid dates (``bad_date``).

    Raises
    ------
    InputError
        There is no table of SCDB, or several; it lacks a column, or has a row per vote; a table
        of texts has no column with a text.
    """
    names = _read_names(cases.tables["scdb_columns"])
    areas = read_areas(cases.tables["scdb_issue_areas"])
    tables, keys = [], []
    for source in _sources(replace(cases, quarantine=Quarantine()), names):
        if isinstance(source, Table):
            tables.append(source)
        else:
            keys.append(source.key)
    if len(tables) != 1:
        subject = f"{len(tables)} of the files are" if tables else "none of the files is"
        raise InputError(
            f"{subject} a table of SCDB",
            remedy="name SCDB's case-centred csv once, beside the texts; it is recognised by its"
            f" column issueArea, whose other names are in {COLUMNS}",
        )
    (table,) = tables
    matches = choose(table, keys)
    texts = (source.row for source in _sources(cases, names) if isinstance(source, Keyed))
    matched = (
        text._replace(fields=text.fields | {"match": match})
        for text, match in zip(texts, matches, strict=True)
    )
    yield from cases.records(matched, partial(_record, rows=table.rows, areas=areas))
    matched_rows = {match.row for match in matches}
    for number, row in enumerate(table.rows):
        if number not in matched_rows:
            detail = f"{row.row.fields['caseId']} {row.key.citation or row.key.docket}"
            cases.quarantine.add(*row.row[:3], "unmatched_row", detail)


def read_areas(path: Path) -> dict[str, str]:
    """Return the label of SCDB's issue areas, by code and by name; "" for one outside them."""
    columns = ["code", "name", "label"]
    rows = read_resource(path, columns, optional=("label",), unique=("code",))
    return {row[key].casefold(): row["label"] for row in rows for key in ("code", "name")}


# --- keys -----------------------------------------------------------------------------------


def citation_key(text: str) -> str:
    """Return the key of a citation of the U.S. Reports: ``329 U.S. 1 (1946)`` is ``329 u.s. 1``."""
    match = _CITATION.search(text)
    return f"{int(match[1])} u.s. {int(match[2])}" if match else ""


def reporter_key(text: str) -> str:
    """Return the key of a citation of the Supreme Court Reporter: ``67 s. ct. 6``."""
    match = _REPORTER.search(text)
    return f"{int(match[1])} s. ct. {int(match[2])}" if match else ""


def _key(citation: str, reporter: str, term: str, docket: str, name: str) -> Key:
    """Return the key of a case; `citation` may be one of either reporter."""
    reporter = reporter_key(reporter) or reporter_key(citation)
    return Key(citation_key(citation), reporter, term, docket_key(docket), name)


def docket_key(text: str) -> str:
    """Return the key of a docket number: ``No. 12, Original`` and ``12 ORIG`` are ``12 orig``."""
    text = re.sub("[\u2010-\u2015\u2212]", "-", text.casefold())
    text = re.sub(r"^\s*nos?\b\.?\s*", "", text).strip()
    for kind, pattern in _DOCKETS:
        if match := pattern.fullmatch(text):
            return f"{int(match[1])} {kind}"
    return " ".join(text.split()) if re.search(r"\d", text) else ""


def party_words(name: str) -> frozenset[str]:
    """Return the words of a case's name that identify the parties."""
    return frozenset(_WORD.findall(name.casefold().replace(".", ""))) - _PARTY_WORDS


def _names_agree(key: Key, row: Keyed) -> bool | None:
    """Return whether two names share a word, or None if one of them has no party's word."""
    words, row_words = party_words(key.name), party_words(row.key.name)
    return bool(words & row_words) if words and row_words else None


# --- joining --------------------------------------------------------------------------------


def match_text(table: Table, key: Key) -> Match:
    """Return the row that a text belongs to, by itself; see `choose` for several texts."""
    citations = [name for name in (key.citation, key.reporter) if name in table.numbers]
    cited = table.numbers[citations[0]] if citations else []
    docketed = table.numbers.get((key.term, key.docket), [])
    if both := [row for row in cited if row in docketed]:
        return _only(both, "citation_and_docket", table, key)
    if cited and docketed:
        by_name = [n for n in (*cited, *docketed) if _names_agree(key, table.rows[n])]
        if not by_name:
            return Match(None, "its citation and its docket lead to different cases")
        return _only(by_name, "citation" if by_name[0] in cited else "docket", table, key, 1)
    if cited or docketed:
        return _only(cited or docketed, "citation" if cited else "docket", table, key, 1)
    if not (key.citation or key.reporter or key.docket):
        return Match(None, "neither a citation nor a docket number")
    identifier = key.citation or key.reporter or f"{key.term} {key.docket}".strip()
    return Match(None, f"no row has {identifier}")


def _only(numbers: list[int], how: str, table: Table, key: Key, rank: int = 0) -> Match:
    """Return the only row of several that fits.

    It does not if the citation or the docket contradicts and no name of a party agrees.
    """
    if len(numbers) > 1:
        numbers = [n for n in numbers if _names_agree(key, table.rows[n])] or numbers
    if len(numbers) > 1:
        return Match(None, f"{len(numbers)} rows have its {how.replace('_', ' ')}")
    row = table.rows[numbers[0]]
    names = ("citation", "reporter", "docket")
    pairs = [(getattr(key, name), getattr(row.key, name)) for name in names]
    contradicts = any(value and stated and value != stated for value, stated in pairs)
    if contradicts and _names_agree(key, row) is False:
        return Match(None, f"its {how} is that of {row.row.fields['caseId']}, with another name")
    return Match(numbers[0], how, rank)


def choose(table: Table, keys: list[Key]) -> list[Match]:
    """Return the row of each text; of several texts for a row the best stays, else the first."""
    matches = [match_text(table, key) for key in keys]
    best: dict[int | None, int] = {}
    for number in sorted(range(len(matches)), key=lambda number: matches[number].rank):
        best.setdefault(matches[number].row, number)
    for number, match in enumerate(matches):
        if match.row is not None and best[match.row] != number:
            case = table.rows[match.row].row.fields["caseId"]
            matches[number] = Match(None, f"another text fits {case} better, or came first")
    return matches


# --- files ----------------------------------------------------------------------------------


#: The names of the columns in all releases, folded, by table and column.
Names = dict[str, dict[str, list[str]]]


def _read_names(path: Path) -> Names:
    known: Names = {"scdb": {}, "texts": {}}
    for row in read_resource(path, ["table", "column", "name"], choices={"table": known}):
        known[row["table"]].setdefault(row["column"], []).append(_folded(row["name"]))
    return known


def _present(names: dict[str, list[str]], header: Iterable[str]) -> dict[str, str]:
    """Return the header's name of each column that is present."""
    present = {_folded(name): name for name in reversed(list(header))}
    there = {column: [name for name in some if name in present] for column, some in names.items()}
    return {column: present[some[0]] for column, some in there.items() if some}


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _sources(cases: CaseFiles, names: Names) -> Iterator[Table | Keyed]:
    """Yield the table of SCDB and the texts, as their names and columns tell them apart."""
    make = partial(_text, names=names)
    for member in cases.members():
        with cases.quarantine.beyond_limits(member.name, None, "file"):
            format = kind_of(member.file_name).format
            if format == "txt":
                text = western_text(joined_text(member.chunks, "bytes"))
                key = _key_of_name(PurePosixPath(member.file_name.removesuffix(".gz")).stem)
                fields = {"text": text, "kind": "opinion"}
                yield Keyed(SourceRow(member.name, 1, "record", fields), key)
            elif format == "csv":
                yield from _csv(member, names, cases)
            else:
                yield from cases.records(cases.rows_of(member), make)


def _csv(member: Member, names: Names, cases: CaseFiles) -> Iterator[Table | Keyed]:
    """Yield SCDB or texts, as the columns of a csv tell. Both can be in Windows-1252."""
    header, rows = cases.csv_table(western_lines(member), member.name)
    if not header:
        return
    if "issueArea" in _present(names["scdb"], header):
        yield Table(_case_rows(rows, header, member.name, names, cases.quarantine))
        return
    columns = _present(names["texts"], header)
    if "opinion" not in columns and "summary" not in columns:
        problem = (
            f"is neither a table of SCDB (it has no column issueArea) nor one of texts (its"
            f" columns are {', '.join(header)})"
        )
        remedy = f"add the names of its columns to {COLUMNS}"
        raise InputError(problem, file=member.name, line=1, remedy=remedy)
    yield from cases.records(rows, partial(_text, names=names))


def _case_rows(
    rows: Iterator[SourceRow], header: list[str], file: str, names: Names, quarantine: Quarantine
) -> Iterator[Keyed]:
    """Yield the rows of SCDB, one per case."""
    columns = _present(names["scdb"], header)
    if missing := [name for name in _NEEDED if name not in columns]:
        problem = f"lacks SCDB's column {missing[0]} (it has {', '.join(header)})"
        remedy = f"add the name that this release gives it to {COLUMNS}"
        raise InputError(problem, file=file, line=1, remedy=remedy)
    if any(_folded(name) in _JUSTICES for name in header):
        problem = "is SCDB's justice-centred table, with a row per vote"
        raise InputError(problem, file=file, remedy="take the case-centred one")
    lines: dict[str, int] = {}
    for row in rows:
        values = {column: plain(row.fields[name]) for column, name in columns.items()}
        case, line = values["caseId"], row.position
        if not case:
            quarantine.add(file, line, "line", "missing_field", "no caseId")
        elif case in lines:
            detail = f"the case {case} stands in line {lines[case]} too"
            quarantine.add(file, line, "line", "duplicate_case", detail)
        else:
            lines[case] = line
            columns_of_key = ("usCite", "sctCite", "term", "docket", "caseName")
            key = _key(*(values.get(name, "") for name in columns_of_key))
            yield Keyed(row._replace(fields=values), key)


def _text(row: SourceRow, note: Note, *, names: Names) -> Keyed:
    """Return a row of a table of texts, or an object, as a text."""
    columns = _present(names["texts"], row.fields)
    kind = "opinion" if "opinion" in columns else "summary"
    if kind not in columns:
        raise RejectedError("missing_field", f"the fields are {', '.join(row.fields)}"[:200])
    text = row.fields[columns[kind]]
    if not isinstance(text, str) or not text.strip():
        raise RejectedError("no_facts", "no text")

    columns_of_key = ("citation", "reporter", "term", "docket", "name")
    citation, *others = (row.fields.get(columns.get(name, "")) for name in columns_of_key)
    if isinstance(citation, dict):  # Oyez: {"volume": "329", "page": "1", "year": "1946"}
        volume, page = plain(citation.get("volume")), plain(citation.get("page"))
        citation = f"{volume} U.S. {page}" if volume and page else ""
    row = row._replace(fields={"text": text, "kind": kind})
    return Keyed(row, _key(*map(plain, (citation, *others))))


def _key_of_name(stem: str) -> Key:
    """Return the key in a file's name: ``329_US_1``, ``67_SCt_6``, ``1946_24`` or ``70-13``.

    ``1946_24`` is term and docket number.
    """
    citation, reporter = citation_key(stem), reporter_key(stem)
    if citation or reporter:
        return Key(citation, reporter)
    term, docket = "", stem
    if match := _TERM_DOCKET.fullmatch(stem):
        term, docket = match.groups()
    return Key(term=term, docket=docket_key(docket.replace("_", " ")))


# --- records --------------------------------------------------------------------------------


def _record(row: SourceRow, note: Note, *, rows: list[Keyed], areas: dict[str, str]) -> Record:
    match = row.fields["match"]
    if match.row is None:
        raise RejectedError("unmatched_text", match.how)
    values = rows[match.row].row.fields
    area = values["issueArea"]
    label = areas.get(area.casefold())
    if not label:
        reason = "bad_label" if label is None else "outside_labels"
        detail = f"issue area {area}" if area else "no issue area"
        raise RejectedError(reason, f"{values['caseId']}: {detail}")
    day = parse_date(values["dateDecision"])
    if day is None and values["dateDecision"]:
        note("bad_date", f"dateDecision {values['dateDecision']}")
    return row.record(
        case_id=values["caseId"],
        date=day,
        title=values.get("caseName") or None,
        language="en",
        text=paragraphs_of(row.fields["text"]),
        labels=(label,),
        metadata={
            "joined_by": match.how,
            "text_kind": row.fields["kind"],
            "us_cite": values["usCite"],
            "term": values["term"],
            "docket": values["docket"],
            "scdb_issue_area": area,
            "scdb_respondent": values["respondent"],
            "scdb_decision_direction": values["decisionDirection"],
        },
    )


def parse_date(text: str) -> date | None:
    """Return a day as SCDB writes it (11/18/1946), or as ISO 8601; None if it is none."""
    for form in ("%m/%d/%Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(re.split("[T ]", text)[0], form).date()
        except ValueError:
            continue
    return None
