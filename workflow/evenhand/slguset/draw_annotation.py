"""Draw the sentences that annotators judge in one round, and write their sheets."""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_batches, read_rows, read_table_schema, write_table
from evenhand.sheets.tasks import HandedOut, check_name, digest, read_handed_out
from evenhand.sheets.tasks import draw as draw_items
from evenhand.slguset.annotation import TASK
from evenhand.slguset.annotation_sheets import check_annotators, write_round
from evenhand.slguset.keywords import GENDERS, Surface
from evenhand.slguset.random_order import corpora_by_file, random_order
from evenhand.slguset.surface_pairs import attribute_of, surface_pair, surface_pairs, word_columns
from evenhand.slguset.swap import spans_of, swap
from evenhand.slguset.verdicts import ACCEPTED

#: The columns of drawn.csv that are counts.
COUNTS = ("wanted", "available", "drawn", "missing")

#: The columns of sample.parquet after those of the candidates.
ADDED = (
    ("round", pa.string()),
    ("rank", pa.int32()),
    ("random", pa.bool_()),
    ("assigned", pa.list_(pa.string())),
    ("lost", pa.bool_()),
)

#: A surface pair and the value of its keyword: the unit of a quota.
Side = tuple[str, str]


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
    per_sentence: int | None = None,
    sentences_per_pair: int = 100,
    quotas: Input | None = None,
    ledger: list[Input] | None = None,
    inventories: list[Input] | None = None,
    corpora: list[str] | None = None,
    random_per_corpus: int = 0,
    draw: Literal["random", "uncertain"] = "random",
    scores: list[Input] | None = None,
    seed: int = 1,
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Draw the sentences that annotators judge in one round, and write their sheets.

    Accepted candidates that no earlier round handed out are drawn per surface pair, half of
    them with the word of either value, by a digest of seed and sentence_id: the
    order of the candidates does not matter, and a new candidate replaces one sentence at most.
    The order of the sheets mixes all pairs.

    If the ledger holds the round itself, its sentences are the sample, with the same annotators,
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
        A folder with, for each annotator, ``{annotator}.xlsx`` (instructions in Chinese and
        English, and a table with drop-down answers) and ``{annotator}.csv`` (the same table);
        ``instructions.md``; ``label_studio.json`` (tasks to import) with ``label_studio.xml``
        (the project's labelling interface); ``handed_out.csv``, which goes into the ledger once
        the sheets are handed out, and names each sentence's annotators. No program reads a sentence
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
    ledger : list of Path, optional
        The handed_out.csv files of earlier rounds, and of this one once its sheets were given to
        the annotators.
    inventories, corpora : list, optional
        The inventory and the corpus of each shard, in the same order.
    random_per_corpus : int
        In addition, so many sentences of each corpus, the first of its random order
        (`evenhand.slguset.random_order`) that no other round handed out: a random sample,
        whatever pairs and scores, for the guarantee of `accept_candidates`.
    draw : str
        Which sentences of a pair are drawn: `random`, or `uncertain`: those first whose score is
        nearest to 0.5 (uncertainty sampling, Lewis and Gale 1994).
    scores : list of Path, optional
        verdicts.parquet of `accept_candidates`, if the round is drawn by it.
    seed : int
        Seed of the choice, of the order, and of the random order of each corpus.
    values : list of str, optional
        The values of the attribute; male and female by default.

    Returns
    -------
    dict
        wanted, drawn, random (of these), missing (sentences), frozen (whether the ledger holds
        the round), rejected_since and lost (sentences of a frozen round that a filter rejects
        now, or that are no candidates).

    Raises
    ------
    InputError
        A name, a quota or the ledger is malformed, `per_sentence` is more than the annotators,
        or no sentence of the frozen round is among the candidates.
    """
    check_name(round, "round")
    annotators = annotators or ["annotator_1", "annotator_2", "annotator_3"]
    check_annotators(annotators)
    if per_sentence is not None and not 0 < per_sentence <= len(annotators):
        raise InputError(
            f"slguset.annotation.per_sentence is {per_sentence}, and there are"
            f" {len(annotators)} annotators",
            remedy="name more annotators, or lower it",
        )
    values = values or [*GENDERS]
    pairs = surface_pairs(keywords, values)
    wanted = _wanted(pairs, sentences_per_pair, quotas, values)
    entries = read_handed_out(ledger or [], TASK)
    frozen = {one: entry for one, entry in entries.items() if entry.row["round"] == round}
    available: Counter[Side] = Counter()
    free = list(_free(candidates, entries.keys() - frozen.keys(), available, values))
    if draw == "uncertain" and not scores and not frozen:
        raise InputError("there are no scores to draw by", remedy="give verdicts.parquet")
    first = _uncertainty(scores[0]) if scores else None
    chosen = draw_items(
        ((side, one) for side, _, one in free),
        lambda side: wanted.get(side, 0),
        f"{seed} choose",
        first,
    )
    corpus_of = corpora_by_file(inventories or [], corpora or [])
    random = _random_sample(free, corpus_of, random_per_corpus, seed)
    if frozen:
        ranks = {one: entry.row["rank"] for one, entry in frozen.items()}
    else:
        ordered = sorted({*chosen, *random}, key=lambda one: digest(f"{seed} show", one))
        ranks = {one: rank for rank, one in enumerate(ordered, start=1)}
    assigned = _assigned(ranks, frozen, annotators, per_sentence or len(annotators), seed)
    if not ranks:  # the report must still be written: its funnel gives the reason
        print(f"{candidates} has no accepted sentence that is not handed out yet", file=sys.stderr)
    schema, rows = _rows_of(candidates, ranks)
    lost = _lost(frozen, rows, candidates)
    for one in lost:
        entry = frozen[one]
        rows[one] = dict.fromkeys(schema.names)
        rows[one] |= {"sentence_id": one, "sentence": entry.row["sentence"]}
        print(
            f"{entry.file}:{entry.line}: sentence {one} is no longer a candidate with the same"
            " counterpart; its answers do not count",
            file=sys.stderr,
        )
    for one, row in rows.items():
        row |= {"round": round, "rank": ranks[one], "random": one in random}
        row |= {"assigned": assigned[one], "lost": one in lost}
    ordered = sorted(rows.values(), key=lambda row: row["rank"])
    write_table(out, pa.schema([*schema, *ADDED]), ordered)
    attribute = attribute_of(schema.names)
    present = [row for row in ordered if not row["lost"]]
    taken = Counter((surface_pair(row, values), row[attribute]) for row in present)
    header = ["pair", *word_columns(values), attribute, *COUNTS]
    missing = _write_drawn(drawn, header, pairs, wanted, available, taken)
    swapped = {one: frozen[one].row["swapped_sentence"] for one in lost}
    write_round(sheets, ordered, swapped, instructions=instructions, interface=interface)
    return {
        "wanted": sum(wanted.values()),
        "drawn": len(ordered),
        "random": len(random & ranks.keys()),
        "missing": missing,
        "frozen": bool(frozen),
        "rejected_since": sum(row["verdict"] != ACCEPTED for row in present),
        "lost": len(lost),
    }


def _wanted(
    pairs: dict[str, Surface], per_pair: int, quotas: Path | None, values: list[str]
) -> dict[Side, int]:
    """Sentences wanted by surface pair and value."""
    if quotas is None:
        if per_pair < 0 or per_pair % 2:
            raise InputError(
                f"sentences_per_pair is {per_pair}",
                remedy="give an even number, half of it for each value",
            )
        return {(pair, one): per_pair // 2 for pair in pairs for one in _sides(pairs[pair])}
    wanted = {}
    names = word_columns(values)
    rows = read_resource(quotas, [*names, "sentences"], unique=tuple(names))
    for line, row in enumerate(rows, start=2):
        pair, number = "/".join(row[name] for name in names), row["sentences"]
        if pair not in pairs:
            raise InputError(
                f"there is no surface pair {pair}",
                file=quotas,
                line=line,
                remedy="take the words of a pair from the table of keywords",
            )
        if not (number.isascii() and number.isdigit()) or int(number) % 2:
            raise InputError(
                f"{number!r} sentences cannot be drawn",
                file=quotas,
                line=line,
                remedy="give an even number, half of it for each value",
            )
        wanted |= {(pair, one): int(number) // 2 for one in _sides(pairs[pair])}
    return wanted


def _sides(first: Surface) -> tuple[str, str]:
    return first.value, first.value_opposite


def _free(
    candidates: Path, others: set[str], available: Counter[Side], values: list[str]
) -> Iterator[tuple[Side, str, str]]:
    """Side, source and sentence_id of the accepted sentences of no other round, which it counts."""
    columns = read_table_schema(candidates).names
    attribute = attribute_of(columns)
    columns = [one for one in columns if one not in ("sentence", "spans", "evidence", "reasons")]
    for batch in read_batches(candidates, columns):
        for row in batch.to_pylist():
            if row["verdict"] == ACCEPTED and row["sentence_id"] not in others:
                side = (surface_pair(row, values), row[attribute])
                available[side] += 1
                yield side, row["source"], row["sentence_id"]


def _random_sample(
    free: list[tuple[Side, str, str]], corpus_of: dict[str, str], size: int, seed: int
) -> set[str]:
    """Return the first sentences of each corpus in its random order."""
    if not size:
        return set()
    ids: dict[str, list[str]] = defaultdict(list)
    for _, source, one in free:
        ids[corpus_of[source]].append(one)
    return {one for some in ids.values() for one in random_order(some, seed)[:size]}


def _uncertainty(scores: Path) -> dict[str, float]:
    """Return how far the score of each sentence is from 0.5."""
    rows = read_rows(scores, ["sentence_id", "score"])
    return {row["sentence_id"]: abs(row["score"] - 0.5) for row in rows}


def _rows_of(
    candidates: Path, ranks: dict[str, int]
) -> tuple[pa.Schema, dict[str, dict[str, Any]]]:
    """The candidates' schema, and the rows of some sentences by sentence_id."""
    import pyarrow.compute as pc

    ids = pa.array(list(ranks), pa.string())
    rows = {
        row["sentence_id"]: row
        for batch in read_batches(candidates)
        for row in batch.filter(pc.is_in(batch["sentence_id"], ids)).to_pylist()
    }
    return read_table_schema(candidates), rows


def _assigned(
    ranks: dict[str, int],
    frozen: dict[str, HandedOut],
    annotators: list[str],
    per_sentence: int,
    seed: int,
) -> dict[str, list[str]]:
    """Return the annotators of each sentence: as handed out, else those with the fewest so far."""
    load = dict.fromkeys(annotators, 0)
    found = {}
    for one in sorted(ranks, key=lambda one: ranks[one]):
        if one in frozen:
            found[one] = frozen[one].row["annotators"].split() or annotators
            continue
        order = sorted(load, key=lambda name: (load[name], digest(f"{seed} {name}", one)))
        chosen = order[:per_sentence]
        for name in chosen:
            load[name] += 1
        found[one] = [name for name in annotators if name in chosen]
    return found


def _lost(
    frozen: dict[str, HandedOut], rows: dict[str, dict[str, Any]], candidates: Path
) -> list[str]:
    """Return the sentences handed out that no longer have one keyword and the same counterpart."""
    if frozen and not any(one in rows for one in frozen):
        raise InputError(
            f"none of this round's sentences is in {candidates}: it was drawn from another corpus",
            file=next(iter(frozen.values())).file,
            remedy="set slguset.annotation.ledger and .filled to folders of this corpus, or begin"
            " a new round",
        )
    lost = []
    for one, entry in frozen.items():
        row, swapped = rows.get(one), entry.row["swapped_sentence"]
        if row and row["sentence"] != entry.row["sentence"]:
            raise InputError(
                f"the text of sentence {one} was changed",
                file=entry.file,
                line=entry.line,
                remedy="put back the file as it was made",
            )
        gone = not row or row["keyword"] is None
        if gone or (swapped and swap(row["sentence"], spans_of(row)) != swapped):
            lost.append(one)
    return lost


def _write_drawn(
    path: Path,
    header: list[str],
    pairs: dict[str, Surface],
    wanted: dict[Side, int],
    available: Counter[Side],
    taken: Counter[Side],
) -> int:
    """Write how the quotas were met; return how many sentences are missing."""
    all_missing = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        for pair, first in pairs.items():
            for value in _sides(first):
                side = (pair, value)
                missing = max(wanted.get(side, 0) - taken[side], 0)
                all_missing += missing
                writer.writerow(
                    [first.pair, *pair.split("/"), value, wanted.get(side, 0), available[side],
                     taken[side], missing]
                )  # fmt: skip
    return all_missing


if __name__ == "__main__":
    stage.run(draw_annotation)
