"""SCOTUS: the Supreme Court Database (SCDB), joined to texts of the cases.

Chalkidis et al. (2022, section 3.2) join the opinions to SCDB; how is not published. Here a text
is joined by its citation (of the U.S. Reports, or of the Supreme Court Reporter, the only one
that the newest cases have) or by its term and docket number. Where both are given and lead to
two rows, or the citation's row has another docket number, the names of the parties decide:
sources do cite wrongly. A row gets one text; others that fit less are left out and reported.

FairLex predicts the issue area from opinions, which contain the reasoning. Summaries of the
facts (Oyez) can replace them; `given["text_kind"]` has the kind of the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.io.formats import kind_of
from evenhand.io.members import Member
from evenhand.io.quarantine import Quarantine
from evenhand.legal.objects import Found, Note, RejectedError, records_of
from evenhand.legal.paragraphs import paragraphs_of
from evenhand.legal.records import Record
from evenhand.legal.rows import (
    csv_table,
    members_of,
    plain,
    rows_of,
    western_lines,
    western_text,
    whole,
)

KIND = "scotus"
NEEDS = (
    "SCDB's case-centred csv (any release since 2010) and texts: .txt named by U.S. citation or by"
    " term and docket, or jsonl or csv with citation, or term and docket, and the text"
)
TABLES = ("scdb_columns", "scdb_issue_areas")
OPTIONS: dict[str, object] = {}

#: Columns of SCDB without which nothing can be read.
_NEEDED = ("caseId", "usCite", "term", "docket", "dateDecision", "issueArea")
_NEEDED += ("decisionDirection", "respondent")

#: Columns that only tables with a row a vote have.
_JUSTICES = ("justice", "justicename")

_CITATION = re.compile(r"(?<!\d)(\d{1,4})[\s_.-]*u[\s_.-]*s[\s_.-]*(\d{1,4})(?!\d)", re.IGNORECASE)
_REPORTER = re.compile(r"(?<!\d)(\d{1,4})[\s_.-]*s[\s_.-]*ct[\s_.-]*(\d{1,5})(?!\d)", re.IGNORECASE)
_TERM_DOCKET = re.compile(r"((?:17|18|19|20)\d\d)[\s_.]+(.+)")
_ISO_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ].*)?")
_AMERICAN_DATE = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})(?: .*)?")
_WORD = re.compile(r"[a-z0-9]+")

#: Words that say nothing about who the parties are.
_PARTY_WORDS = frozenset(
    _WORD.findall(
        """v vs et al the of and in re ex rel for on a an by inc co corp ltd llc united states
        state city county board department company commission national aka dba"""
    )
)


class Key(NamedTuple):
    """The identifiers of a case in a text or a row; "" for a missing one."""

    citation: str
    term: str
    docket: str
    name: str
    reporter: str = ""


@dataclass
class Row:
    """A row of SCDB."""

    file: str
    line: int
    values: dict[str, str]
    key: Key


@dataclass
class Table:
    """SCDB: its rows, and where each citation and each docket leads."""

    rows: list[Row] = field(default_factory=list)
    by_citation: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_docket: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    by_docket_alone: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Row) -> None:
        """Add a row."""
        number = len(self.rows)
        self.rows.append(row)
        for citation in filter(None, (row.key.citation, row.key.reporter)):
            self.by_citation[citation].append(number)
        if row.key.docket:
            self.by_docket[row.key.term, row.key.docket].append(number)
            self.by_docket_alone[row.key.docket].append(number)


@dataclass(frozen=True)
class Match:
    """Which row a text belongs to, or why to none.

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


def read(
    files: list[Path],
    options: dict[str, Any],
    quarantine: Quarantine,
    tables: dict[str, Path],
) -> Iterator[Record]:
    """Read SCDB and the texts; see the module.

    The texts are gone through twice, first for their citations and dockets; SCDB itself stays in
    memory (9,000 rows), the texts do not.

    Parameters
    ----------
    files : list of Path
        Files, archives and folders: one csv of SCDB (recognised by its columns), the rest texts.
    options : dict
        None.
    quarantine : Quarantine
        Gets texts without a row (``unmatched_text``), rows without a text (``unmatched_row``),
        rows with an issue area that FairLex has no label for (``outside_labels``) or with none
        (``bad_label``), and dates that are none (``bad_date``).
    tables : dict of str to Path
        Those of `TABLES`.

    Raises
    ------
    InputError
        There is no table of SCDB, or several; it lacks a column, or has a row per vote; a table
        of texts has no column with a text.
    """
    names = _Names(tables["scdb_columns"])
    areas = read_areas(tables["scdb_issue_areas"])
    table, keys = _look_through(files, names)
    chosen = choose(table, keys)
    sources = _sources(files, names, quarantine)
    texts = (one for one in sources if isinstance(one, _Text))
    matched = (
        text.found._replace(value={"text": text, "match": match})
        for text, match in zip(texts, chosen, strict=True)
    )
    yield from records_of(matched, quarantine, partial(_record, rows=table.rows, areas=areas))
    there = {match.row for match in chosen}
    for index, row in enumerate(table.rows):
        if index not in there:
            detail = f"{row.values['caseId']} {row.key.citation or row.key.docket}"
            quarantine.add(row.file, row.line, "line", "unmatched_row", detail)


def read_areas(path: Path) -> dict[str, str]:
    """SCDB's issue areas, by code and by name: the label, or "" for one outside them."""
    areas = {}
    columns = ["code", "name", "label"]
    for row in read_resource(path, columns, optional=("label",), unique=("code",)):
        areas[row["code"]] = areas[row["name"].casefold()] = row["label"]
    return areas


# --- keys -----------------------------------------------------------------------------------


def citation_key(text: str) -> str:
    """The key of a citation of the U.S. Reports: ``329 U.S. 1 (1946)`` is ``329 u.s. 1``."""
    match = _CITATION.search(text)
    return f"{int(match[1])} u.s. {int(match[2])}" if match else ""


def reporter_key(text: str) -> str:
    """Return the key of a citation of the Supreme Court Reporter: ``67 s. ct. 6``."""
    match = _REPORTER.search(text)
    return f"{int(match[1])} s. ct. {int(match[2])}" if match else ""


def docket_key(text: str) -> str:
    """The key of a docket number: ``No. 12, Original`` and ``12 ORIG`` are ``12 orig``."""
    text = re.sub("[\u2010-\u2015\u2212]", "-", text.casefold())
    text = re.sub(r"^\s*nos?\b\.?\s*", "", text)
    if match := re.fullmatch(r"\s*(\d+)[\s,.\-]*o(?:rig(?:inal)?)?\.?\s*", text):
        return f"{int(match[1])} orig"
    if match := re.fullmatch(r"\s*22o(\d+)\s*", text):  # as the Court's own pages number them
        return f"{int(match[1])} orig"
    if match := re.fullmatch(r"\s*(\d+)[\s,.\-]*m(?:isc)?\.?\s*", text):
        return f"{int(match[1])} m"
    return " ".join(text.split()) if re.search(r"\d", text) else ""


def party_words(name: str) -> frozenset[str]:
    """The words of a case's name that tell who the parties are."""
    return frozenset(_WORD.findall(name.casefold().replace(".", ""))) - _PARTY_WORDS


def _names_agree(one: str, other: str) -> bool | None:
    """Whether two names share a word, or None if one of them has no party's word."""
    first, second = party_words(one), party_words(other)
    return bool(first & second) if first and second else None


# --- joining --------------------------------------------------------------------------------


def match_text(table: Table, key: Key) -> Match:
    """The row that a text belongs to, by itself; see `choose` for several texts."""
    citations = (key.citation, key.reporter)
    cited = next((table.by_citation[one] for one in citations if one in table.by_citation), [])
    docketed = table.by_docket.get((key.term, key.docket), []) if key.docket else []
    if key.docket and not key.term:
        docketed = table.by_docket_alone.get(key.docket, [])
    if both := [row for row in cited if row in docketed]:
        return _only(both, "citation_and_docket", table, key)
    if cited and docketed:
        by_name = [n for n in (*cited, *docketed) if _names_agree(key.name, _name(table, n))]
        if not by_name:
            return Match(None, "its citation and its docket lead to different cases")
        return _only(by_name, "citation" if by_name[0] in cited else "docket", table, key, 1)
    if cited:
        return _only(cited, "citation", table, key, 1)
    if docketed:
        return _only(docketed, "docket", table, key, 1)
    if not (key.citation or key.reporter or key.docket):
        return Match(None, "neither a citation nor a docket number")
    where = key.citation or key.reporter or " ".join(filter(None, (key.term, key.docket)))
    return Match(None, f"no row has {where}")


def _only(rows: list[int], how: str, table: Table, key: Key, rank: int = 0) -> Match:
    """The one row of several that fits.

    It does not if the citation or the docket contradicts and no name of a party agrees.
    """
    if len(rows) > 1:
        rows = [n for n in rows if _names_agree(key.name, _name(table, n))] or rows
    if len(rows) > 1:
        return Match(None, f"{len(rows)} rows have its {how.replace('_', ' ')}")
    row = table.rows[rows[0]]
    pairs = (
        (key.citation, row.key.citation),
        (key.reporter, row.key.reporter),
        (key.docket, row.key.docket),
    )
    contradicts = any(one and other and one != other for one, other in pairs)
    if contradicts and _names_agree(key.name, row.key.name) is False:
        return Match(None, f"its {how} is that of {row.values['caseId']}, with another name")
    return Match(rows[0], how, rank)


def _name(table: Table, row: int) -> str:
    return table.rows[row].key.name


def choose(table: Table, keys: list[Key]) -> list[Match]:
    """The row of each text; of several texts for a row the best stays, else the first."""
    matches = [match_text(table, key) for key in keys]
    best: dict[int, int] = {}
    for number, match in enumerate(matches):
        if match.row is not None:
            other = best.get(match.row)
            if other is None or match.rank < matches[other].rank:
                best[match.row] = number
    for number, match in enumerate(matches):
        if match.row is not None and best[match.row] != number:
            case = table.rows[match.row].values["caseId"]
            matches[number] = Match(None, f"another text fits {case} better, or came first")
    return matches


# --- files ----------------------------------------------------------------------------------


class _Names:
    """Which name a column has in which release."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, dict[str, list[str]]] = {"scdb": {}, "texts": {}}
        for row in read_resource(path, ["table", "column", "name"], choices={"table": self.known}):
            names = self.known[row["table"]].setdefault(row["column"], [])
            names.append(_folded(row["name"]))

    def of(self, table: str, header: Iterable[str]) -> dict[str, str]:
        """The header's name of each column that is there."""
        there = {_folded(name): name for name in reversed(list(header))}
        return {
            column: there[next(name for name in names if name in there)]
            for column, names in self.known[table].items()
            if any(name in there for name in names)
        }


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


@dataclass
class _Text:
    """A text, its place, and the identifiers of its case."""

    found: Found
    key: Key
    text: str
    kind: str


def _look_through(files: list[Path], names: _Names) -> tuple[Table, list[Key]]:
    """SCDB, and the keys of all texts in their order."""
    tables: list[list[Row]] = []
    keys: list[Key] = []
    for found in _sources(files, names, Quarantine()):
        if isinstance(found, list):
            tables.append(found)
        else:
            keys.append(found.key)
    if len(tables) != 1:
        subject = "none of the files is" if not tables else f"{len(tables)} of the files are"
        raise InputError(
            f"{subject} a table of SCDB",
            remedy="name SCDB's case-centred csv once, beside the texts; it is recognised by its"
            f" column issueArea, whose other names are in {names.path.name}",
        )
    table = Table()
    for row in tables[0]:
        table.add(row)
    return table, keys


def _sources(
    files: list[Path], names: _Names, quarantine: Quarantine
) -> Iterator["list[Row] | _Text"]:
    for member in members_of(files, quarantine):
        with quarantine.beyond_limits(member.name, None, "file"):
            yield from _sources_in(member, names, quarantine)


def _sources_in(
    member: Member, names: _Names, quarantine: Quarantine
) -> Iterator["list[Row] | _Text"]:
    format = kind_of(member.file_name).format
    if format == "txt":
        text = western_text(whole(member))
        key = _key_of_name(PurePosixPath(member.file_name.removesuffix(".gz")).stem)
        yield _Text(Found(member.name, 1, "file", {}), key, text, "opinion")
    elif format == "csv":
        yield from _csv(member, names, quarantine)
    else:
        rows = rows_of(member, quarantine)
        yield from records_of(rows, quarantine, partial(_text, names=names))


def _csv(member: Member, names: _Names, quarantine: Quarantine) -> Iterator["list[Row] | _Text"]:
    """A csv is SCDB or texts, as its columns say. Both can be in Windows-1252."""
    header, rows = csv_table(western_lines(member), member.name, quarantine)
    if not header:
        return
    if "issueArea" in names.of("scdb", header):
        yield _scdb(rows, header, member.name, names, quarantine)
        return
    columns = names.of("texts", header)
    if "opinion" not in columns and "summary" not in columns:
        raise InputError(
            f"is neither a table of SCDB (it has no column issueArea) nor one of texts (its"
            f" columns are {', '.join(header)})",
            file=member.name,
            line=1,
            remedy=f"add the names of its columns to {names.path.name}",
        )
    yield from records_of(rows, quarantine, partial(_text, names=names))


def _scdb(
    table: Iterator[Found], header: list[str], file: str, names: _Names, quarantine: Quarantine
) -> list[Row]:
    """The rows of SCDB, a case each."""
    columns = names.of("scdb", header)
    if missing := [name for name in _NEEDED if name not in columns]:
        raise InputError(
            f"lacks SCDB's column {missing[0]} (it has {', '.join(header)})",
            file=file,
            line=1,
            remedy=f"add the name that this release gives it to {names.path.name}",
        )
    if any(_folded(name) in _JUSTICES for name in header):
        raise InputError(
            "is SCDB's justice-centred table, with a row per vote",
            file=file,
            remedy="take the case-centred one",
        )
    rows: dict[str, Row] = {}
    for found in table:
        values = {column: plain(found.value[name]) for column, name in columns.items()}
        case, line = values["caseId"], found.position
        if not case:
            quarantine.add(file, line, "line", "missing_field", "no caseId")
        elif case in rows:
            detail = f"the case {case} stands in line {rows[case].line} too"
            quarantine.add(file, line, "line", "duplicate_case", detail)
        else:
            citation, docket = citation_key(values["usCite"]), docket_key(values["docket"])
            reporter = reporter_key(values.get("sctCite", ""))
            key = Key(citation, values["term"], docket, values.get("caseName", ""), reporter)
            rows[case] = Row(file, line, values, key)
    return list(rows.values())


def _text(found: Found, note: Note, *, names: _Names) -> _Text:
    """A row of a table of texts, or an object, as a text."""
    columns = names.of("texts", found.value)
    field_name = columns.get("opinion") or columns.get("summary")
    text = found.value.get(field_name) if field_name else None
    if not isinstance(text, str) or not text.strip():
        if field_name:
            raise RejectedError("no_facts", "no text")
        raise RejectedError("missing_field", f"the fields are {', '.join(found.value)}"[:200])
    fields = ("citation", "reporter", "docket")
    values = {name: found.value.get(columns.get(name, "")) for name in fields}
    cited = values["citation"]
    if isinstance(cited, dict):  # Oyez: {"volume": "329", "page": "1", "year": "1946"}
        volume, page = plain(cited.get("volume")), plain(cited.get("page"))
        cited = f"{volume} U.S. {page}" if volume and page else ""
    key = Key(
        citation_key(plain(cited)),
        plain(found.value.get(columns.get("term", ""))),
        docket_key(plain(values["docket"])),
        plain(found.value.get(columns.get("name", ""))),
        reporter_key(plain(values["reporter"])) or reporter_key(plain(cited)),
    )
    kind = "opinion" if "opinion" in columns else "summary"
    return _Text(found, key, text, kind)


def _key_of_name(stem: str) -> Key:
    """Return the key in a file's name: ``329_US_1``, ``67_SCt_6``, ``1946_24`` or ``70-13``.

    ``1946_24`` is term and docket number.
    """
    citation, reporter = citation_key(stem), reporter_key(stem)
    if citation or reporter:
        return Key(citation, "", "", "", reporter)
    if match := _TERM_DOCKET.fullmatch(stem):
        return Key("", match[1], docket_key(match[2].replace("_", " ")), "")
    return Key("", "", docket_key(stem.replace("_", " ")), "")


# --- records --------------------------------------------------------------------------------


def _record(found: Found, note: Note, *, rows: list[Row], areas: dict[str, str]) -> Record:
    text, match = found.value["text"], found.value["match"]
    if match.row is None:
        raise RejectedError("unmatched_text", match.how)
    row = rows[match.row]
    area = row.values["issueArea"]
    label = areas.get(area, areas.get(area.casefold()))
    if not label:
        reason = "bad_label" if label is None else "outside_labels"
        detail = f"issue area {area}" if area else "no issue area"
        raise RejectedError(reason, f"{row.values['caseId']}: {detail}")
    day = parse_date(row.values["dateDecision"])
    if day is None and row.values["dateDecision"]:
        note("bad_date", f"dateDecision {row.values['dateDecision']}")
    given = {
        "joined_by": match.how,
        "text_kind": text.kind,
        "us_cite": row.values["usCite"],
        "term": row.values["term"],
        "docket": row.values["docket"],
        "scdb_issue_area": area,
        "scdb_respondent": row.values["respondent"],
        "scdb_decision_direction": row.values["decisionDirection"],
    }
    return found.record(
        case_id=row.values["caseId"],
        date=day,
        title=row.values.get("caseName") or None,
        language="en",
        text=paragraphs_of(text.text),
        labels=(label,),
        given=given,
    )


def parse_date(text: str) -> date | None:
    """A day as SCDB writes it (11/18/1946), or as ISO 8601; None if it is none."""
    try:
        if match := _AMERICAN_DATE.fullmatch(text):
            return date(int(match[3]), int(match[1]), int(match[2]))
        if match := _ISO_DATE.fullmatch(text):
            return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        pass
    return None
