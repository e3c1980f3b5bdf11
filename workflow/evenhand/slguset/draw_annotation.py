"""Draw the sentences that annotators judge in one round."""

import csv
import hashlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import BATCH_ROWS, read_batches, write_table
from evenhand.slguset.ledger import Entry, check_name, read_ledger
from evenhand.slguset.surface_pairs import surface_pair, surface_pairs
from evenhand.slguset.verdicts import ACCEPTED

DRAWN_COLUMNS = ["pair", "surface_male", "surface_female", "gender", "wanted", "available",
                 "drawn", "missing"]  # fmt: skip

#: A surface pair and a gender: what a quota is for.
Side = tuple[str, str]


def draw_annotation(
    *,
    candidates: Input,
    keywords: Input,
    out: Output,
    drawn: Output,
    round: str,
    sentences_per_pair: int = 100,
    quotas: Input | None = None,
    ledger: list[Input] | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Draw the sentences that annotators judge in one round.

    Accepted candidates that no earlier round handed out are drawn per surface pair, half of
    them with the male and half with the female word. Which ones is settled by a digest of seed
    and sentence_id: the order of the candidates does not matter, and a new candidate takes the
    place of one sentence at most. The order in which they are shown mixes all pairs.

    If the ledger holds the round itself, its sentences are the sample, whatever has changed
    since, for that is what the annotators have in their hands.

    Parameters
    ----------
    candidates : Path
        candidates.parquet.
    keywords : Path
        The table of surface pairs (keywords.csv).
    out : Path
        sample.parquet: the candidates' columns, round, and rank (from 1), sorted by rank.
    drawn : Path
        drawn.csv: per surface pair and gender, sentences wanted, available (accepted and not
        handed out in another round), drawn, and missing.
    round : str
        The round's name; letters, digits, underscores, dots and hyphens.
    sentences_per_pair : int
        Sentences per surface pair, both genders together; an even number.
    quotas : Path, optional
        A table (surface_male, surface_female, sentences; sentences as above) that takes the
        place of `sentences_per_pair`. A pair that it leaves out is not drawn.
    ledger : list of Path, optional
        What was handed out: the handed_out.csv files of earlier rounds, and of this one once
        its sheets were given to the annotators.
    seed : int
        Seed of the choice and of the order.

    Returns
    -------
    dict
        wanted, drawn, missing (sentences), frozen (whether the ledger holds the round),
        rejected_since (sentences of a frozen round that a filter rejects now).

    Raises
    ------
    InputError
        A quota or the ledger is wrong, or a sentence of the
        frozen round is no longer among the candidates.
    """
    check_name(round, "round")
    pairs = surface_pairs(keywords)
    wanted = _wanted(pairs, sentences_per_pair, quotas)
    entries = read_ledger(ledger or [])
    frozen = {one: entry for one, entry in entries.items() if entry.round == round}
    others = entries.keys() - frozen.keys()
    chosen, available = _choose(candidates, wanted, others, seed)
    if frozen:
        ranks = {one: entry.rank for one, entry in frozen.items()}
    else:
        shown = sorted(chosen, key=lambda one: _digest(seed, "show", one))
        ranks = {one: rank for rank, one in enumerate(shown, start=1)}
    if not ranks:  # the page must still be written: its funnel tells why
        print(f"{candidates} has no accepted sentence that is not handed out yet", file=sys.stderr)
    schema, rows = _rows_of(candidates, ranks)
    _check_frozen(frozen, rows, candidates)
    for one, row in rows.items():
        row |= {"round": round, "rank": ranks[one]}
    ordered = sorted(rows.values(), key=lambda row: row["rank"])
    write_table(
        out, schema.append(pa.field("round", pa.string())).append(pa.field("rank", pa.int32())),
        ordered,
    )  # fmt: skip
    taken = Counter((surface_pair(row), row["gender"]) for row in ordered)
    missing = _write_drawn(drawn, pairs, wanted, available, taken)
    return {
        "wanted": sum(wanted.values()),
        "drawn": len(ordered),
        "missing": missing,
        "frozen": bool(frozen),
        "rejected_since": sum(row["verdict"] != ACCEPTED for row in ordered),
    }


def _wanted(pairs: dict[str, str], per_pair: int, quotas: Path | None) -> dict[Side, int]:
    """Sentences wanted by surface pair and gender."""
    if quotas is None:
        if per_pair < 0 or per_pair % 2:
            raise InputError(
                f"sentences_per_pair is {per_pair}",
                remedy="give an even number, half of it for each gender",
            )
        return {(pair, gender): per_pair // 2 for pair in pairs for gender in ("male", "female")}
    wanted = {}
    names = ["surface_male", "surface_female"]
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
                remedy="give an even number, half of it for each gender",
            )
        wanted |= {(pair, gender): int(number) // 2 for gender in ("male", "female")}
    return wanted


def _choose(
    candidates: Path, wanted: dict[Side, int], others: set[str], seed: int
) -> tuple[list[str], Counter[Side]]:
    """The sentence_ids with the smallest digests of each side, and how many there were."""
    smallest: dict[Side, list[tuple[bytes, str]]] = {side: [] for side in wanted}
    available: Counter[Side] = Counter()
    columns = ["sentence_id", "surface", "surface_opposite", "gender", "verdict"]
    for batch in read_batches(candidates, columns):
        for row in batch.to_pylist():
            if row["verdict"] != ACCEPTED or row["sentence_id"] in others:
                continue
            side = (surface_pair(row), row["gender"])
            available[side] += 1
            if wanted.get(side):
                one = row["sentence_id"]
                smallest[side].append((_digest(seed, "choose", one), one))
                if len(smallest[side]) > wanted[side] + BATCH_ROWS:
                    smallest[side] = sorted(smallest[side])[: wanted[side]]
    chosen = [
        one for side, keys in smallest.items() for _, one in sorted(keys)[: wanted[side]]
    ]  # fmt: skip
    return chosen, available


def _digest(seed: int, purpose: str, sentence_id: str) -> bytes:
    """A number that looks random and belongs to the sentence."""
    return hashlib.blake2b(f"{seed} {purpose} {sentence_id}".encode(), digest_size=8).digest()


def _rows_of(
    candidates: Path, ranks: dict[str, int]
) -> tuple[pa.Schema, dict[str, dict[str, Any]]]:
    """The candidates' schema, and the rows of some sentences by sentence_id."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    ids = pa.array(list(ranks), pa.string())
    rows = {
        row["sentence_id"]: row
        for batch in read_batches(candidates)
        for row in batch.filter(pc.is_in(batch["sentence_id"], ids)).to_pylist()
    }
    return pq.read_schema(candidates).remove_metadata(), rows


def _check_frozen(
    frozen: dict[str, Entry], rows: dict[str, dict[str, Any]], candidates: Path
) -> None:
    """What the annotators hold must still be a sentence with one keyword."""
    if frozen and not any(one in rows for one in frozen):
        raise InputError(
            f"none of this round's sentences is in {candidates}: it was drawn from another corpus",
            file=next(iter(frozen.values())).file,
            remedy="set slguset.annotation.ledger and .filled to folders of this corpus, or begin"
            " a new round",
        )
    for one, entry in frozen.items():
        row = rows.get(one)
        if row and row["sentence"] != entry.sentence:
            raise InputError(
                f"the text of sentence {one} was changed",
                file=entry.file,
                line=entry.line,
                remedy="put back the file as it was made",
            )
        if row is None or row["keyword"] is None:
            raise InputError(
                f"sentence {one}, which the annotators have, is no longer a sentence with one "
                f"keyword in {candidates}",
                file=entry.file,
                line=entry.line,
                remedy="put back the corpus and the table of keywords that the round was drawn "
                "from, or take the round out of the ledger and begin a new one",
            )


def _write_drawn(
    path: Path,
    pairs: dict[str, str],
    wanted: dict[Side, int],
    available: Counter[Side],
    taken: Counter[Side],
) -> int:
    """Write how the quotas were met; return how many sentences are missing."""
    all_missing = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(DRAWN_COLUMNS)
        for pair, mask_pair in pairs.items():
            for gender in ("male", "female"):
                side = (pair, gender)
                missing = max(wanted.get(side, 0) - taken[side], 0)
                all_missing += missing
                writer.writerow(
                    [mask_pair, *pair.split("/"), gender, wanted.get(side, 0), available[side],
                     taken[side], missing]
                )  # fmt: skip
    return all_missing


if __name__ == "__main__":
    stage.run(draw_annotation)
