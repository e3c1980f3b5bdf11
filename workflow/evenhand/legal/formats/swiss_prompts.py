"""FSCS: facts of the Swiss Federal Supreme Court wrapped in prompts for a language model.

Files of kapllan/zeroshot_lexglue ask a model how critical a decision is. The facts are in quotation
marks in ``input_text``. There is **no outcome**, no date, no canton and no legal area: such cases
cannot be trained on; they demonstrate the rules on real facts in three languages.
"""

import re
from collections.abc import Iterator
from functools import partial

from evenhand.legal.formats.swiss_judgment import (
    Headings,
    checked_language,
    find_facts,
    read_headings,
)
from evenhand.legal.records import Record, text_id
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow, plain

KIND = "fscs"
NEEDS = 'jsonl with "input_text", a prompt that quotes the facts of a decision, and "language"'
TABLES = ("swiss_headings",)

#: The facts: from the quotation mark at the end of the first line to the last one that an empty
#: line follows.
_QUOTED = re.compile(r"\A[^\n]*:\n\"(.*)\"\n\n", re.DOTALL)


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the facts out of prompts.

    The id is a digest of the facts, so that the same decision in two files is one case. The
    quarantine gets records without a prompt (``missing_field``), in another language
    (``other_language``), and those whose facts are not separate (``no_facts``).
    """
    headings = read_headings(cases.tables["swiss_headings"])
    return cases.records(cases.rows(), partial(_record, headings=headings))


def _record(row: SourceRow, note: Note, *, headings: Headings) -> Record:
    prompt = row.fields.get("input_text")
    quoted = _QUOTED.match(prompt) if isinstance(prompt, str) else None
    if quoted is None:
        raise RejectedError("missing_field", "no input_text that quotes facts")
    language = checked_language(plain(row.fields.get("language")))
    text, context = find_facts(quoted[1], headings)
    return row.record(
        case_id=text_id(text),
        language=language,
        text=text,
        context=context,
        metadata={"swiss_language": language, "text_kind": "facts_in_prompt"},
    )
