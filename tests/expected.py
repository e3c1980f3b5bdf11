"""Whole outputs, kept as text in `tests/expected` and compared with those of today.

Where a change is meant: ``EXPECTED=write pytest tests/unit/report``, and read the difference.
"""

import os
import re
from difflib import unified_diff
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "expected"

#: The rows of a network that is trained as a probe: another processor has other last bits.
_PROBE = re.compile(r"^.*[,|] ?MLP ?[,|].*\n", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def check_expected(name: str, text: str) -> None:
    """A text is the one that is kept under this name; numbers may differ in the fifth digit."""
    file = FOLDER / name
    text = _PROBE.sub("", text)
    if os.environ.get("EXPECTED") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    kept = file.read_text(encoding="utf-8")
    if _NUMBER.sub("#", kept) == _NUMBER.sub("#", text):
        pairs = zip(_NUMBER.findall(kept), _NUMBER.findall(text), strict=True)
        if all(float(ours) == pytest.approx(float(old), rel=1e-4) for old, ours in pairs):
            return
    lines = unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", n=0, lineterm="")
    shown = "\n".join([*lines][:60])
    pytest.fail(f"{file} is not what comes out; if that is meant, EXPECTED=write.\n{shown}")
