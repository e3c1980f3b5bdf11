"""FSCS: facts of the Swiss Federal Supreme Court wrapped in prompts for a language model.

Files of kapllan/zeroshot_lexglue ask a model how critical a decision is. The facts are in quotation
marks in ``input_text``. There is **no outcome**, no date, no canton and no legal area: such cases
cannot be trained on; they demonstrate the rules on real facts in three languages.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.io.quarantine import Quarantine
from evenhand.legal.records import Record
from evenhand.legal.rows import plain, read_rows
from evenhand.legal.swiss import find_facts, read_headings

KIND = "fscs"
NEEDS = 'jsonl with "input_text", a prompt that quotes the facts of a decision, and "language"'
TABLES = ("swiss_headings",)
OPTIONS: dict[str, object] = {}

#: The facts: from the quotation mark at the end of the first line to the last one that an empty
#: line follows.
_QUOTED = re.compile(r"\A[^\n]*:\n\"(.*)\"\n\n", re.DOTALL)

LANGUAGES = ("de", "fr", "it")


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
    headings = read_headings(tables["swiss_headings"])
    for found in read_rows(files, quarantine):
        where = (found.source, found.position, found.unit)
        prompt = found.value.get("input_text")
        quoted = _QUOTED.match(prompt) if isinstance(prompt, str) else None
        if quoted is None:
            quarantine.add(*where, "missing_field", "no input_text that quotes facts")
            continue
        language = plain(found.value.get("language")).casefold()
        if language not in LANGUAGES:
            quarantine.add(
                *where,
                "other_language",
                f"language {language}" if language else "no language stated",
            )
            continue
        facts = find_facts(quoted[1], headings)
        if facts.problem:
            quarantine.add(*where, "no_facts", facts.problem)
            continue
        digest = hashlib.blake2b("\n".join(facts.text).encode(), digest_size=8).hexdigest()
        yield Record(
            case_id=digest,
            source=found.source,
            source_position=found.position,
            language=language,
            text=facts.text,
            context=facts.context,
            labels=None,
            given={"swiss_language": language, "text_kind": "facts_in_prompt"},
        )
