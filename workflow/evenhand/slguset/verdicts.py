"""The decisions of find_keywords and the filters about a sentence."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa

#: The verdict of `find_keywords` on sentences that go on to the filters.
ACCEPTED = "accepted"

#: Beside a shard's keywords table: the filters that reject each sentence, in their order.
FINDINGS = pa.field(
    "findings",
    pa.list_(
        pa.struct([("filter", pa.string()), ("reason", pa.string()), ("evidence", pa.string())])
    ),
)


class Finding(NamedTuple):
    """Why a filter rejects a sentence: one of its reasons, and the words that prove it."""

    reason: str
    evidence: Sequence[str] = ()

    def words(self) -> str | None:
        """The words as one text, each once; None if there are none."""
        return "、".join(dict.fromkeys(self.evidence)) or None

    def in_text(self, matched: str, written: str) -> "Finding":
        """Return the finding with words of the text as written instead of the form matched."""
        if matched == written:
            return self
        places = [(matched.find(word), len(word), word) for word in self.evidence]
        words = [written[at : at + n] if at >= 0 else word for at, n, word in places]
        return self._replace(evidence=words)


#: A filter: gets a list per column, and returns a finding or None for each row.
Judge = Callable[..., Iterable[Finding | None]]
