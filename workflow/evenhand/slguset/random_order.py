"""The random order of a corpus' sentences, of which the beginning is a random sample."""

from collections.abc import Iterable
from pathlib import Path

from evenhand.io.tables import read_rows
from evenhand.sheets.tasks import digest


def corpora_by_file(inventories: list[Path], corpora: list[str]) -> dict[str, str]:
    """Return the corpus of each file, from the shards' inventories and corpora, in equal order."""
    return {
        row["file"]: corpus
        for path, corpus in zip(inventories, corpora, strict=True)
        for row in read_rows(path, ["file"])
    }


def random_order(ids: Iterable[str], seed: int) -> list[str]:
    """Return ids of sentences in an order that depends on nothing but the seed and the id."""
    return sorted(ids, key=lambda one: digest(f"{seed} random", one))
