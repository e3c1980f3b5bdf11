"""Draw the sentences that annotators judge in one round, and write their sheets."""

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.core.stage import Count, Input, Natural, Output, Range, checked
from evenhand.core.tables import write_rows
from evenhand.errors import InputError
from evenhand.io.tables import read_batches, read_rows, read_table_schema, schema_of, write_table
from evenhand.sheets.tasks import HandedOut, digest, read_handed_out
from evenhand.sheets.tasks import draw as draw_items
from evenhand.slguset.annotation import (
    ADJUDICATOR,
    TASK,
    corpora_by_file,
    random_order,
    write_round,
)
from evenhand.slguset.dataset import spans_of, swap
from evenhand.slguset.keywords import GENDERS, Surface
from evenhand.slguset.surface_pairs import (
    attribute_of,
    read_pair_numbers,
    surface_pair,
    surface_pairs,
    word_columns,
)
from evenhand.slguset.verdicts import ACCEPTED

#: The columns of sample.parquet after those of the candidates.
ADDED = schema_of(
    round="string", rank="int32", random="bool", assigned=pa.list_(pa.string()), lost="bool"
)

#: The columns of drawn.csv after those of a pair and a value.
QUOTA_COLUMNS = ("wanted", "available", "drawn", "missing")

#: Names of files in the folder of sheets that are no annotator's.
RESERVED = {"handed_out", "label_studio", "instructions", ADJUDICATOR}

#: A surface pair and the value of its keyword: the unit of a quota.
Side = tuple[str, str]


@checked
def draw_annotation(
    *,
    candidates: Input,
    keywords: Input,
    instructions: Input,
    interface: Input,
    out: Output,
    drawn: Output,
    sheets: Output,
    round: str,
    annotators: list[str] | None = None,
    per_sentence: Count | None = None,
    sentences_per_pair: Annotated[int, Range(least=2)] = 100,
    quotas: Input | None = None,
    handed_out: list[Input] | None = None,
    inventories: list[Input] | None = None,
    corpora: list[str] | None = None,
    random_per_corpus: Natural = 0,
    draw: Literal["random", "uncertain"] = "random",
    scores: list[Input] | None = None,
    seed: Natural = 1,
    values: list[str] | None = None,
    headings: list[str] | None = None,
) -> dict[str, Any]:
    """Draw the sentences that annotators judge in one round, and write their sheets.

    Accepted candidates that no earlier round handed out are drawn per surface pair, half of
    them with the word of either value, by a digest of seed and sentence_id: the
    order of the candidates does not matter, and a new candidate replaces one sentence at most.
    The order of the sheets mixes all pairs.

    If the round itself was handed out, its sentences are the sample, with the same annotators,
    whatever has changed since: the annotators already have them. A sentence that is no candidate
    with the same counterpart any more (another table of keywords, another corpus) is marked as
    lost: its answers are kept, and do not count.

    Parameters
    ----------
    candidates : Path
        candidates.parquet.
    keywords : Path
        The table of surface pairs (keywords.csv).
    instructions : Path
        The template of the annotators' instructions (instructions.md.jinja).
    interface : Path
        Label Studio's labelling interface (label_studio.xml).
    out : Path
        sample.parquet: the candidates' columns, round, rank (from 1), random (whether it was
        drawn for `random_per_corpus`), assigned (annotators), lost, sorted by rank.
    drawn : Path
        drawn.csv: per surface pair and value, sentences wanted, available (accepted and not
        handed out in another round), drawn, and missing.
    sheets : Path
        A folder with, for each annotator, ``{annotator}.xlsx`` (instructions, and a
        table with drop-down answers) and ``{annotator}.csv`` (the same table);
        ``instructions.md``; ``label_studio.json`` (tasks to import) with ``label_studio.xml``
        (the project's labelling interface); ``handed_out.csv``, which names each sentence's
        annotators; its copy beside the filled sheets freezes the round. No program reads a sentence
        in it as a formula.
    round : str
        The round's name; letters, digits, underscores, dots and hyphens.
    annotators : list of str, optional
        The annotators' names, which name their files (as `round`); annotator_1, annotator_2 and
        annotator_3 by default.
    per_sentence : int, optional
        The number of annotators of each sentence; all by default. Each gets as many sentences as
        the others, or one more.
    sentences_per_pair : int
        Sentences per surface pair, both values together; an even number.
    quotas : Path, optional
        A table (surface_male, surface_female, sentences; sentences as above) that takes the
        place of `sentences_per_pair`. A pair that is not listed is not drawn.
    handed_out : list of Path, optional
        The handed_out.csv files of earlier rounds, and of this one once its sheets were given to
        the annotators.
    inventories, corpora : list, optional
        The inventory and the corpus of each shard, in the same order.
    random_per_corpus : int
        In addition, so many sentences of each corpus, the first of its random order
        (`evenhand.slguset.annotation.random_order`) that no other round handed out: a random
        sample, whatever pairs and scores, for the guarantee of `accept_candidates`.
    draw : str
        Which sentences of a pair are drawn: `random`, or `uncertain`: those first whose score is
        nearest to 0.5 (uncertainty sampling, Lewis and Gale 1994).
    scores : list of Path, optional
        verdicts.parquet of `accept_candidates`, if the round is drawn by it.
    seed : int
        Seed of the choice, of the order, and of the random order of each corpus.
    values : list of str, optional
        The values of the attribute; male and female by default.
    headings : list of str, optional
        Columns of a sheet with the text after their names: ``answer 判断``.

    Returns
    -------
    dict
        wanted, drawn, random (of these), missing (sentences), frozen (whether the round
        was handed out), rejected_since and lost (sentences of a frozen round that a filter rejects
        now, or that are no candidates).

    Raises
    ------
    InputError
        Two annotators share a name, a quota or a list is malformed, `per_sentence` is more
        than the annotators, uncertain sentences are requested without scores, or no sentence of
        the frozen round is among the candidates.
    """
    annotators = annotators or ["annotator_1", "annotator_2", "annotator_3"]
    _check_annotators(annotators, per_sentence)
    values = values or [*GENDERS]
    pairs = surface_pairs(keywords, values)
    quota = _quotas(pairs, sentences_per_pair, quotas, values)
    entries = read_handed_out(handed_out or [], TASK)
    frozen = {key: entry for key, entry in entries.items() if entry.row["round"] == round}
    if draw == "uncertain" and not scores and not frozen:
        raise InputError("there are no scores to draw by", remedy="give verdicts.parquet")
    schema = read_table_schema(candidates)
    attribute = attribute_of(schema.names)
    unread = ("sentence", "spans", "evidence", "reasons")
    free = [
        ((surface_pair(row, values), row[attribute]), row["source"], row["sentence_id"])
        for row in read_rows(candidates, [name for name in schema.names if name not in unread])
        if row["verdict"] == ACCEPTED
        and (row["sentence_id"] in frozen or row["sentence_id"] not in entries)
    ]
    sides = ((side, key) for side, _, key in free)
    distances = None
    if scores:
        distances = {row["sentence_id"]: abs(row["score"] - 0.5) for row in read_rows(scores[0])}
    drawn_ids = draw_items(sides, lambda side: quota.get(side, 0), f"{seed} choose", distances)
    corpus_of = corpora_by_file(inventories or [], corpora or []) if random_per_corpus else {}
    by_corpus: dict[str, list[str]] = defaultdict(list)
    for _, source, key in free if random_per_corpus else ():
        by_corpus[corpus_of[source]].append(key)
    random = {
        key for keys in by_corpus.values() for key in random_order(keys, seed)[:random_per_corpus]
    }
    if frozen:
        ranks = {key: entry.row["rank"] for key, entry in frozen.items()}
    else:
        ordered = sorted({*drawn_ids, *random}, key=lambda key: digest(f"{seed} show", key))
        ranks = {key: rank for rank, key in enumerate(ordered, start=1)}
    if not ranks:  # the report must still be written: its funnel gives the reason
        print(f"{candidates} has no accepted sentence that is not handed out yet", file=sys.stderr)
    assigned = _assigned(ranks, frozen, annotators, per_sentence or len(annotators), seed)
    ids = pa.array(list(ranks), pa.string())
    rows = {
        row["sentence_id"]: row
        for batch in read_batches(candidates)
        for row in batch.filter(pc.is_in(batch["sentence_id"], ids)).to_pylist()
    }
    lost = _lost(frozen, rows, candidates)
    for key in lost:
        row, file, line = frozen[key]
        rows[key] = dict.fromkeys(schema.names)
        rows[key] |= {"sentence_id": key, "sentence": row["sentence"]}
        problem = f"sentence {key} is no longer a candidate with the same counterpart"
        print(f"{file}:{line}: {problem}; its answers do not count", file=sys.stderr)
    for key, row in rows.items():
        row |= {"round": round, "rank": ranks[key], "random": key in random}
        row |= {"assigned": assigned[key], "lost": key in lost}
    sample = sorted(rows.values(), key=lambda row: row["rank"])
    write_table(out, pa.schema([*schema, *ADDED]), sample)
    present = [row for row in sample if not row["lost"]]
    available = Counter(side for side, *_ in free)
    taken = Counter((surface_pair(row, values), row[attribute]) for row in present)
    met = [
        {
            "pair": first.pair,
            **dict(zip(word_columns(values), pair.split("/"), strict=True)),
            attribute: value,
            "wanted": quota.get((pair, value), 0),
            "available": available[pair, value],
            "drawn": taken[pair, value],
            "missing": max(quota.get((pair, value), 0) - taken[pair, value], 0),
        }
        for pair, first in pairs.items()
        for value in (first.value, first.value_opposite)
    ]
    write_rows(drawn, ["pair", *word_columns(values), attribute, *QUOTA_COLUMNS], met)
    swapped = {key: frozen[key].row["swapped_sentence"] for key in lost}
    write_round(
        sheets, sample, swapped, instructions=instructions, interface=interface, headings=headings
    )
    return {
        "wanted": sum(quota.values()),
        "drawn": len(sample),
        "random": len(random & ranks.keys()),
        "missing": sum(row["missing"] for row in met),
        "frozen": bool(frozen),
        "rejected_since": sum(row["verdict"] != ACCEPTED for row in present),
        "lost": len(lost),
    }


def _check_annotators(names: list[str], per_sentence: int | None) -> None:
    """Raise InputError unless each annotator can have a file, and they suffice."""
    if len({name.lower() for name in names} - RESERVED) != len(names):
        problem = f"slguset.annotation.annotators: {', '.join(names)} cannot each have a file"
        remedy = f"give each a distinct name other than {', '.join(sorted(RESERVED))}"
        raise InputError(problem, remedy=remedy)
    if per_sentence is not None and per_sentence > len(names):
        raise InputError(
            f"slguset.annotation.per_sentence is {per_sentence}, and there are"
            f" {len(names)} annotators",
            remedy="name more annotators, or lower it",
        )


def _quotas(
    pairs: dict[str, Surface], per_pair: int, quotas: Path | None, values: list[str]
) -> dict[Side, int]:
    """Return the sentences to draw by surface pair and value: half of a pair's for each value."""
    numbers = dict.fromkeys(pairs, per_pair)
    if quotas:
        numbers = read_pair_numbers(quotas, pairs, values)
    if odd := [number for number in numbers.values() if number < 0 or number % 2]:
        problem = f"{odd[0]} sentences of a pair cannot be drawn"
        remedy = "give an even number, half of it for each value"
        raise InputError(problem, file=quotas, remedy=remedy)
    return {
        (pair, value): number // 2
        for pair, number in numbers.items()
        for value in (pairs[pair].value, pairs[pair].value_opposite)
    }


def _assigned(
    ranks: dict[str, int],
    frozen: dict[str, HandedOut],
    annotators: list[str],
    per_sentence: int,
    seed: int,
) -> dict[str, list[str]]:
    """Return the annotators of each sentence: as handed out, else those with the fewest so far."""
    if frozen:
        return {key: frozen[key].row["annotators"].split() for key in ranks}
    load = dict.fromkeys(annotators, 0)
    assigned = {}
    for key in sorted(ranks, key=ranks.get):
        order = sorted(load, key=lambda name: (load[name], digest(f"{seed} {name}", key)))
        for name in order[:per_sentence]:
            load[name] += 1
        assigned[key] = [name for name in annotators if name in order[:per_sentence]]
    return assigned


def _lost(
    frozen: dict[str, HandedOut], rows: dict[str, dict[str, Any]], candidates: Path
) -> list[str]:
    """Return the sentences handed out that no longer have one keyword and the same counterpart."""
    if frozen and not frozen.keys() & rows.keys():
        raise InputError(
            f"none of this round's sentences is in {candidates}: it was drawn from another corpus",
            file=next(iter(frozen.values())).file,
            remedy="set slguset.annotation.filled to a folder of this corpus, or begin a new round",
        )
    lost = []
    for key, (handed_out, file, line) in frozen.items():
        row, swapped = rows.get(key), handed_out["swapped_sentence"]
        if row and row["sentence"] != handed_out["sentence"]:
            problem = f"the text of sentence {key} was changed"
            remedy = "put back the file as it was made"
            raise InputError(problem, file=file, line=line, remedy=remedy)
        gone = not row or row["keyword"] is None
        if gone or swap(row["sentence"], spans_of(row)) != swapped:
            lost.append(key)
    return lost
