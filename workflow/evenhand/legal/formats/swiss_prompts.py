"""FSCS: facts of the Swiss Federal Supreme Court wrapped in prompts for a language model.

Files of kapllan/zeroshot_lexglue ask a model how critical a decision is. The facts are in quotation
marks in ``input_text``. There is **no outcome**, no date, no canton and no legal area: such cases
cannot be trained on; they demonstrate the rules on real facts in three languages.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.io.quarantine import Quarantine
from evenhand.legal.objects import Found, Note, RejectedError, records_of
from evenhand.legal.records import Record, text_id
from evenhand.legal.rows import plain, read_rows
from evenhand.legal.swiss import Headings, find_facts, read_headings, spoken

KIND = "fscs"
NEEDS = 'jsonl with "input_text", a prompt that quotes the facts of a decision, and "language"'
TABLES = ("swiss_headings",)
OPTIONS: dict[str, object] = {}

#: The facts: from the quotation mark at the end of the first line to the last one that an empty
#: line follows.
_QUOTED = re.compile(r"\A[^\n]*:\n\"(.*)\"\n\n", re.DOTALL)


def read(
    files: list[Path],
    options: dict[str, Any],
    quarantine: Quarantine,
    tables: dict[str, Path],
) -> Iterator[Record]:
    """Read the facts out of prompts.

    The id is a digest of the facts, so that the same decision in two files is one case.

    Parameters
    ----------
    files : list of Path
        jsonl files, or archives or folders of them.
    options : dict
        None.
    quarantine : Quarantine
        Gets records without a prompt (``missing_field``), in another language
        (``other_language``), and those whose facts are not separate (``no_facts``).
    tables : dict of str to Path
        Those of `TABLES`.
    """
    make = partial(_record, headings=read_headings(tables["swiss_headings"]))
    return records_of(read_rows(files, quarantine), quarantine, make)


def _record(found: Found, note: Note, *, headings: Headings) -> Record:
    prompt = found.value.get("input_text")
    quoted = _QUOTED.match(prompt) if isinstance(prompt, str) else None
    if quoted is None:
        raise RejectedError("missing_field", "no input_text that quotes facts")
    language = spoken(plain(found.value.get("language")))
    text, context = find_facts(quoted[1], headings)
    return found.record(
        case_id=text_id(text),
        language=language,
        text=text,
        context=context,
        given={"swiss_language": language, "text_kind": "facts_in_prompt"},
    )
