"""Convert a set of sentence pairs to the common format, with data-quality flags."""

from collections import Counter
from collections.abc import Collection, Iterable
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core.numbers import or_nan
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import write_table
from evenhand.metrics.inference import effective_number, swap_codes, total
from evenhand.stereotypes.clusters import (
    ALIKE,
    alike_sentences,
    check_order,
    count_same_words,
    edits,
    pieces,
    shared_words,
    templates,
    words,
    words_taking_turns,
)
from evenhand.stereotypes.pairs import EXCLUSIONS, FLAGS, PAIRS
from evenhand.tabular.delimited import is_open
from evenhand.text.phrases import listed

#: A swap of more pairs than this is a repeated swap.
REPEATED = 20

#: Agreement is low if fewer annotators than this name the pair's bias type.
AGREEING = 3


def read_pairs(
    *,
    name: str,
    format: Annotated[str, Plugin("evenhand.stereotypes.sets")],
    file: Input,
    out: Output,
    report: Output,
    part: str | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Convert a set of sentence pairs to the common format, with data-quality flags.

    A pair with an empty sentence, or two identical ones, cannot be scored: it stays in the table
    with the reason in `excluded` and without flags, and is not counted in its cluster.

    Parameters
    ----------
    name : str
        The set's name.
    format : str
        The module of `evenhand.stereotypes.sets` for the file: crows_pairs, stereoset, slguset.
    file : Path
        The set's file.
    out : Path
        The pairs (Parquet, columns `PAIRS`), in the order of the source.
    report : Path
        JSON: name, format, part, title, more_means, less_means; pairs; excluded (by reason), flags
        (by flag; only those that apply to the set), first_excluded (the record of the first pair
        of each reason that has one), first_misplaced (the record of the first
        misplaced pair, or null), bias_types, clusters and templates (sentences
        around the swapped words, or words in them, of which taking_turns has examples; alike: two
        sentences that count as one) of the pairs that are not excluded; same_word
        (`count_same_words`); effective_clusters =
        N^2 / sum n^2 over the clusters' sizes; has_unrelated, has_annotations, has_directions:
        whether any pair has them; is_open: whether the last line of the file has no end.
    part : str, optional
        StereoSet: intrasentence or intersentence.
    title : str, optional
        The set's name in the report; by default the name of the format.

    Raises
    ------
    InputError
        The set cannot be read, two pairs have the same id, no pair can be scored, or the sentences
        of most pairs belong to other pairs.
    """
    reader = import_module(f"evenhand.stereotypes.sets.{format}")
    form = reader.form(part)
    rows = list(reader.read(file, part))
    if not rows:
        raise InputError("holds no pair", file=file)
    for side in ("more", "less"):
        numbers = sum(not isnan(or_nan(row[side])) for row in rows)
        if 2 * numbers > len(rows):
            problem = f"holds numbers in place of sentences ({numbers} of {len(rows)} sent_{side})"
            remedy = "name the columns of texts sent_more and sent_less"
            raise InputError(problem, file=file, remedy=remedy)
    _check_ids(rows, file)
    for row in rows:
        row["excluded"] = _exclusion(row)
    kept = [row for row in rows if row["excluded"] is None]
    if not kept:
        raise InputError(
            f"holds no pair that can be scored: all {len(rows)} have an empty sentence or twice"
            " the same",
            file=file,
            remedy="give each pair two different sentences",
        )
    moved = []
    if "misplaced" in form.flags:  # else sentences differ by more than the group
        numbered = [(row["source_position"], row["more"], row["less"]) for row in kept]
        moved = check_order(numbered, file)
    set_flags(kept, form.flags, moved)
    write_table(out, PAIRS, rows)
    clusters = [row["cluster"] for row in kept]
    parts = templates((row["more"], row["less"], row["context"]) for row in kept)
    totals = total(np.ones(len(kept)), swap_codes(clusters, templates=parts))
    counted = totals.templates.counted if totals.templates else "sentence"
    flags = Counter(flag for row in kept for flag in row["flags"])
    excluded = Counter(row["excluded"] for row in rows)
    summary = {
        "name": name,
        "format": format,
        "part": part,
        "title": title or form.title,
        "more_means": form.more_means,
        "less_means": form.less_means,
        "pairs": len(rows),
        "excluded": {reason: excluded[reason] for reason in EXCLUSIONS},
        "first_excluded": {
            row["excluded"]: row["source_position"] for row in reversed(rows) if row["excluded"]
        },
        "flags": {flag: flags[flag] for flag in FLAGS if flag in form.flags},
        "first_misplaced": moved[0] if moved else None,
        "bias_types": dict(sorted(Counter(row["bias_type"] for row in kept).items())),
        "clusters": len(set(clusters)),
        "templates": totals.template_count,
        "taking_turns": words_taking_turns(parts, counted),
        "alike": alike_sentences([row["more"] for row in kept], parts, counted),
        "same_word": count_same_words((row["more"], row["less"]) for row in kept),
        "effective_clusters": round(effective_number(np.array([*Counter(clusters).values()])), 6),
        "has_unrelated": any(row["unrelated"] is not None for row in kept),
        "has_annotations": any(row["annotators"] is not None for row in kept),
        "has_directions": any(row["direction"] is not None for row in kept),
        "is_open": is_open(file),
    }
    write_json(report, summary)
    return {key: summary[key] for key in ("pairs", "excluded", "flags", "clusters")}


def set_flags(
    rows: list[dict[str, Any]], requested: Iterable[str], moved: Collection[int] = ()
) -> None:
    """Set each row's `flags` to the requested ones that apply to it, sorted.

    Parameters
    ----------
    rows : list of dict
        Rows of `PAIRS` whose sentences are neither empty nor identical; repeated swaps and
        duplicate sentences are counted over these.
    requested : iterable of str
        The requested names of `FLAGS`.
    moved : collection of int
        The source positions of misplaced pairs.
    """
    clusters = Counter(row["cluster"] for row in rows)
    sentences = Counter((row["context"], row[side]) for row in rows for side in ("more", "less"))
    orders = {(row["context"], row["more"], row["less"]) for row in rows}
    seen = set()
    for row in rows:
        order = (row["context"], row["more"], row["less"])
        more, less = pieces(row["more"]), pieces(row["less"])
        differences = edits(more, less)
        true = {
            "unequal_length": len(more) != len(less),
            "several_edits": len(differences) > 1,
            "insertion_only": words(row["more"]) == words(row["less"])
            or (all(not edit.left or not edit.right for edit in differences) and bool(differences)),
            "repeated_swap": clusters[row["cluster"]] > REPEATED,
            "low_agreement": row["agreement"] is not None and row["agreement"] < AGREEING,
            "duplicate": any(sentences[row["context"], row[s]] > 1 for s in ("more", "less")),
            "repeated_pair": order in seen,
            "reversed_pair": (row["context"], row["less"], row["more"]) in orders,
            "lower_case": any(map(str.isupper, row["more"])) != any(map(str.isupper, row["less"])),
            "unlike": shared_words(words(row["more"]), words(row["less"])) < ALIKE,
            "misplaced": row["source_position"] in moved,
        }
        row["flags"] = sorted(flag for flag in requested if true[flag])
        seen.add(order)


def _exclusion(row: dict[str, Any]) -> str | None:
    """Return why a pair cannot be scored (a name of `EXCLUSIONS`), or None."""
    sides = [row["more"], row["less"], *([] if row["unrelated"] is None else [row["unrelated"]])]
    if not all(side and side.strip() for side in sides):
        return "empty"
    return "identical" if row["more"] == row["less"] else None


def _check_ids(rows: list[dict[str, Any]], file: Path) -> None:
    records: dict[str, list[int]] = {}
    for row in rows:
        records.setdefault(row["pair_id"], []).append(row["source_position"])
    twice = {name: numbers for name, numbers in records.items() if len(numbers) > 1}
    if twice:
        named = [
            f"{name!r} (records {listed([*map(str, numbers)], 3)})"
            for name, numbers in twice.items()
        ]
        problem = f"has ids that more than one pair has: {listed(named, 3)}"
        raise InputError(problem, file=file, remedy="give each pair an id of its own")
