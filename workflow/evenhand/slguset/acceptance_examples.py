"""Sentences that the acceptance model learns from: tables of labels, and certain reasons."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.slguset.annotation import ANSWERS
from evenhand.slguset.distinct_sentences import sentence_id
from evenhand.slguset.filters import biology, coreference, deny_list, pair_fit
from evenhand.slguset.keywords import Keywords

#: Reasons by which a sentence is bad for certain. A name may be none: its filters err too often.
CERTAIN = frozenset(
    reason for one in (pair_fit, coreference, biology, deny_list) for reason in one.REASONS
)

#: Labelled sentences by id: rows with the columns of keywords, and whether good.
Labels = dict[str, tuple[dict[str, Any], bool]]


def read_labels(
    keywords: Keywords, files: Sequence[Path], plain: Callable[[str], str] = str
) -> Labels:
    """Return the sentences of tables of labels: rows with the columns of keywords, whether good.

    Sentences without exactly one keyword are left out, and counted on the console. `plain` makes
    the form of a text in which keywords are sought.

    Raises
    ------
    InputError
        A label is none of `ANSWERS`, or a table is malformed.
    """
    found: Labels = {}
    for path in files:
        without = 0
        for line, row in enumerate(
            read_resource(path, ["sentence", "label"], unique=("sentence",)), start=2
        ):
            if row["label"] not in ANSWERS:
                raise InputError(
                    f"{row['label']!r} is no label", file=path, line=line,
                    remedy=f"write {', '.join(ANSWERS)}",
                )  # fmt: skip
            sentence, matched = row["sentence"], plain(row["sentence"])
            hits = [*keywords.pattern.finditer(matched)]
            one = sentence_id(sentence)
            without += len(hits) != 1
            if len(hits) == 1:
                place = dict(zip(("surface_start", "surface_end"), hits[0].span(), strict=True))
                surface = keywords.surfaces[hits[0].group()]
                if matched != sentence:
                    surface = surface.written_in(sentence, hits[0].start())
                place |= surface._asdict()
                found[one] = (
                    {"sentence_id": one, "sentence": sentence} | place,
                    row["label"] == "accept",
                )
        if without:
            print(f"{path}: {without} sentences do not have one keyword, and are left out",
                  file=sys.stderr)  # fmt: skip
    return found
