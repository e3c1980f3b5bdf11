"""Findings on the people of a case, with their evidence."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.io.tables import schema_of, write_table
from evenhand.legal.declaration import Attribute, Dataset, described, read_dataset
from evenhand.legal.records import Record

#: Where evidence may stand; ``given`` is the source's metadata.
PARTS = ("text", "context", "given")

_WORDS = schema_of(part="string", paragraph="int32", start="int32", end="int32", words="string")
EVIDENCE = pa.list_(pa.struct([*_WORDS]))

FINDING = schema_of(
    case_id="string",
    value="string",
    rule="string",
    confidence="float64",
    evidence=EVIDENCE,
    flags=pa.list_(pa.string()),
)


@dataclass(frozen=True)
class Evidence:
    """Words of a record.

    Attributes
    ----------
    part : str
        One of `PARTS`.
    paragraph : int
        Its number in ``record.text`` or ``record.context``, from 0; -1 for ``given``.
    start, end : int
        Characters of that paragraph, `end` exclusive; 0 and the length for ``given``.
    words : str
        The words there; ``name=value`` for ``given``.
    """

    part: str
    paragraph: int
    start: int
    end: int
    words: str

    @classmethod
    def of_match(
        cls, part: str, paragraph: int, match: re.Match[str], group: int | str = 0
    ) -> "Evidence":
        """Return the words of a match in a paragraph."""
        return cls(part, paragraph, *match.span(group), match[group])


@dataclass(frozen=True)
class Finding:
    """The finding of a rule on a case.

    Attributes
    ----------
    value : str or None
        The group, or a number as text; None is unknown.
    rule : str
        The rule that decided; for an unknown value, the reason why it is unknown.
    confidence : float
        0 to 1, as stated with the rule.
    evidence : tuple of Evidence
        The words that it relied on.
    flags : tuple of str
        Remarks for the reader (``several_respondents``).
    """

    value: str | None
    rule: str
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Coded:
    """An attribute that a code or name in the metadata of the source decides.

    Attributes
    ----------
    field : str
        The code's name in `Record.metadata`.
    named : str
        The code's name in errors.
    missing, rule, other : str
        The rule of a case without the code, with a group, and with a code of no group.
    table : str
        The table of ``resources/legal`` with the group of each code.
    codes : tuple of str
        The columns with codes and names.
    groups : tuple of str
        The columns with groups, of which the first is used. The others may be blank; the first
        too if the attribute has no unknown group.
    confidence : float
        The confidence in the table.
    """

    field: str
    named: str
    missing: str
    rule: str
    other: str
    table: str
    codes: tuple[str, ...]
    groups: tuple[str, ...]
    confidence: float = 1.0

    def prepare(self, tables: dict[str, Path], attribute: Attribute) -> dict[str, str]:
        """Return the group of each code and name, in lower case."""
        known = (*attribute.groups, attribute.unknown)
        rows = read_resource(
            tables[self.table],
            [*self.codes, *self.groups],
            optional=self.groups[1:] if attribute.unknown else self.groups,
            unique=self.codes[:1],
            choices=dict.fromkeys(self.groups, known),
        )
        return {row[key].casefold(): row[self.groups[0]] for row in rows for key in self.codes}

    def find(self, record: Record, attribute: Attribute, prepared: Mapping[str, str]) -> Finding:
        """Return the group by the code; no value without one, or for a code of no group.

        Raises
        ------
        InputError
            The table lacks the code.
        """
        code = record.metadata.get(self.field)
        if code is None:
            return Finding(None, self.missing, 1.0)
        group = prepared.get(code.casefold())
        if group is None:
            remedy = f"add it to {self.table}.csv"
            raise unknown_value(record, f"the {self.named} {code!r}", remedy)
        known = group in attribute.groups
        evidence = (metadata_evidence(record, self.field),)
        rule = self.rule if known else self.other
        return Finding(group if known else None, rule, self.confidence, evidence)


def unknown_value(record: Record, named: str, remedy: str) -> InputError:
    """Return the error for a value in the metadata of a case that is none of its kind."""
    problem = f"the case {record.case_id} has {named}, which is unknown"
    return InputError(problem, file=record.source, line=record.source_position, remedy=remedy)


def metadata_evidence(record: Record, name: str) -> Evidence:
    """The evidence that metadata of the source are."""
    words = f"{name}={record.metadata[name]}"
    return Evidence("given", -1, 0, len(words), words)


def check_evidence(record: Record, finding: Finding) -> None:
    """Raise ValueError if evidence is not at its stated place, or the confidence is no share."""
    if not 0 <= finding.confidence <= 1:
        raise ValueError(f"case {record.case_id}: the confidence is {finding.confidence}")
    for words in finding.evidence:
        if words.part == "given":
            name, _, value = words.words.partition("=")
            there = record.metadata.get(name) == value
        else:
            paragraphs = record.text if words.part == "text" else record.context
            there = (
                0 <= words.paragraph < len(paragraphs)
                and paragraphs[words.paragraph][words.start : words.end] == words.words
            )
        if not there:
            raise ValueError(f"case {record.case_id}: {words} is not at its place")


def write_findings(path: Path, findings: Iterable[tuple[str, Finding]], dataset: Dataset) -> int:
    """Write (case id, finding) in the order in which they come; return how many."""
    schema = described(FINDING, dataset)
    return write_table(path, schema, (_row(case, finding) for case, finding in findings))


def findings_files(folder: Path) -> tuple[Dataset, dict[str, Path]]:
    """Return the data set of a folder of `find_attributes`, and the file of each attribute.

    The files are in the order of the data set's attributes.

    Raises
    ------
    InputError
        A file is of no attribute of the data set, or there is none.
    """
    there = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    if not there:
        raise InputError("has no findings", file=folder, remedy="give what find_attributes wrote")
    dataset = read_dataset(next(iter(there.values())))
    known = [attribute.name for attribute in dataset.attributes]
    if unknown := there.keys() - {*known}:
        raise InputError(f"{dataset.title} has no attribute {min(unknown)!r}", file=folder)
    return dataset, {name: there[name] for name in known if name in there}


def _row(case_id: str, finding: Finding) -> dict[str, Any]:
    evidence = [vars(item) for item in finding.evidence]
    return vars(finding) | {"case_id": case_id, "evidence": evidence}
