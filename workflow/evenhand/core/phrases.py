"""The folder of the sentences for readers: a file for each module that has some, with its name.

``report.headline.jinja`` has the sentences of `evenhand.report.headline`, one macro each
(`evenhand.text.catalogue`); ``io.quarantine.toml`` the words for the codes of
`evenhand.io.quarantine`; ``text.traditional.toml`` the characters of `evenhand.text.traditional`.
All count as code of the module (`evenhand.core.code`).
"""

import tomllib
from functools import cache
from pathlib import Path

from evenhand.core.places import LIBRARY

SENTENCES = LIBRARY / "evenhand" / "sentences"

#: The forms of a module's sentences.
MACROS, PHRASES = ".jinja", ".toml"


def sentences_file(module: str, form: str) -> Path:
    """Return the file with the sentences of a module, by its ``__file__`` and the form."""
    steps = Path(module).resolve().with_suffix("").relative_to(LIBRARY / "evenhand").parts
    return SENTENCES / f"{'.'.join(steps)}{form}"


@cache
def phrases_of(module: str) -> dict[str, dict]:
    """Return the words for the codes of a module, by table, from its ``__file__``."""
    return tomllib.loads(sentences_file(module, PHRASES).read_text(encoding="utf-8"))
