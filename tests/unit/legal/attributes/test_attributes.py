"""The findings of each attribute for the records in `cases`, with the words that prove them.

Each file of `cases` has the records of an attribute, by what they show: text, context, title and
metadata. ``EXPECTED=write`` writes what is found; `find` checks the evidence.
"""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.errors import InputError
from expected import check_expected
from unit.legal.made_records import find

CASES = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "cases").glob("*.yaml"))
}


def found(attribute: str, case: dict[str, Any]) -> str:
    """The finding in a line."""
    text = case.get("text", ())
    given = {"date": date(2010, 6, 1)} | case | {"context": tuple(case.get("context", ()))}
    given.pop("text", None)
    try:
        finding = find(attribute, *([text] if isinstance(text, str) else text), **given)
    except InputError as error:
        return f"error: {error}"
    cells = [finding.value, finding.rule, f"{finding.confidence:g}", ", ".join(finding.flags)]
    cells += [f"{words.part} {words.paragraph}: {words.words}" for words in finding.evidence]
    return " | ".join(map(str, cells))


@pytest.mark.parametrize("attribute", CASES)
def test_findings_and_their_words(attribute):
    lines = []
    for name, cases in CASES[attribute].items():
        lines += [f"## {name}", *(found(attribute, case) for case in cases)]
    check_expected(f"attributes/{attribute}.txt", "\n".join(lines) + "\n")
