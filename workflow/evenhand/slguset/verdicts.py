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


#: A filter: gets a list per column, and returns a finding or None for each row.
Judge = Callable[..., Iterable[Finding | None]]
