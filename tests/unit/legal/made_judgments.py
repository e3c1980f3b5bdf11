"""Judgments of our own, as lines and as the flat string that HUDOC's pages become."""

from pathlib import Path
from typing import Any

HEADER = """SECOND SECTION
CASE OF GRANDE v. PORTUGAL
(Application no. 1234/05)
JUDGMENT
STRASBOURG
7 May 2009
FINAL
07/08/2009
In the case of Grande v. Portugal,
The European Court of Human Rights (Second Section), sitting as a Chamber composed of:
A. Weaver, President,
Delivers the following judgment, which was adopted on that date:"""

PROCEDURE = """PROCEDURE
1. The case originated in an application (no. 1234/05) against the Portuguese Republic lodged by a
 Portuguese national, Ms Ana Grande (“the applicant”).
2. The applicant was represented by Mr B. Smith, a lawyer practising in Braga."""

FACTS = """THE FACTS
I. THE CIRCUMSTANCES OF THE CASE
3. The applicant was born in 1950 and lives in Braga.
A. The first proceedings
4. On 4 June 1999 she sued her neighbour. The court said:
“1. The wall stands.
2. It may stay.”
5. She appealed. The appeal was heard in 2004."""

LAW = """II. RELEVANT DOMESTIC LAW AND PRACTICE
6. The Civil Code says who owns a wall.
THE LAW
I. ALLEGED VIOLATION OF ARTICLE 6 § 1 OF THE CONVENTION
7. The applicant complained of the length of the proceedings.
8. There has accordingly been a violation of Article 6 § 1 of the Convention."""

OPERATIVE = """FOR THESE REASONS, THE COURT UNANIMOUSLY
1. Declares the application admissible;
2. Holds that there has been a violation of Article 6 § 1 of the Convention;
3. Dismisses the remainder of the claim for just satisfaction.
Done in English, and notified in writing on 7 May 2009.
SEPARATE OPINION OF JUDGE WEAVER
1. There has been a violation of Article 2."""

JUDGMENT = "\n".join((HEADER, PROCEDURE.replace("\n ", " "), FACTS, LAW, OPERATIVE))

#: The paragraphs of the facts.
TEXT = (
    "3. The applicant was born in 1950 and lives in Braga.",
    "4. On 4 June 1999 she sued her neighbour. The court said: “1. The wall stands."
    " 2. It may stay.”",
    "5. She appealed. The appeal was heard in 2004.",
)

CSS = ".s1AB { font-size:12pt } .sFF { margin-top:0pt; color:#ff0000 } @page x { size:a4 } "


def changed(case: dict[str, Any]) -> str:
    """`JUDGMENT` with the replacements of a case (`judgment`: pairs), flat on request."""
    text = JUDGMENT
    for old, new in case["judgment"]:
        assert old in text
        text = text.replace(old, new)
    return flat(text) if case.get("flat") else text


def flat(text: str) -> str:
    """A judgment as one string: numbers and numerals are followed by non-breaking blanks."""
    import re

    text = re.sub(r"(?m)^((?:\d+|[IVX]+|[A-Z])\.) ", r"\1 &#xa0; &#xa0; ", text)
    return CSS + "&#xa0; " + text.replace("\n", " ").replace("Article ", "Article &#xa0; ")


def hudoc(**changes: Any) -> dict[str, Any]:
    """A record of HUDOC's; one with other articles has no conclusion."""
    if "violation" in changes:
        changes = {"conclusion": ""} | changes
    return {
        "itemid": "001-1",
        "title": "CASE OF GRANDE v. PORTUGAL",
        "app_no": "1234/05",
        "date": "2009-05-07",
        "country": "PRT",
        "doc_type": "CHAMBER",
        "importance": "3",
        "conclusion": "Violation of Art. 6-1",
        "violation": "6;6-1",
        "nonviolation": "",
        "language": "ENG",
        "full_text": flat(JUDGMENT),
    } | changes


def text_file(path: Path, text: str = JUDGMENT) -> Path:
    """A judgment as a file."""
    path.write_text(text, encoding="utf-8")
    return path
