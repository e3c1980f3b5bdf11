"""Texts that are nearly the same: pairs by MinHash, each of them compared.

A text is the set of its runs of three tokens; two texts are near duplicates if these sets have a
Jaccard similarity of at least the threshold. Pairs to compare come from MinHash signatures with
locality-sensitive hashing (Broder 1997; Indyk and Motwani 1998), whose bands are chosen so that a
pair at the threshold is missed with a probability below `MISSED`; each pair is then compared
exactly.

Seeds are fixed, and no pair depends on the order of the texts. In memory are a signature per text
(640 bytes), and the sets of those that have to be compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from zlib import crc32

import numpy as np

#: Tokens of a run.
WIDTH = 3

#: Hash functions of a signature.
PERMUTATIONS = 160

#: Largest probability with which a pair at the threshold may be missed.
MISSED = 1e-5

#: So far below the threshold an estimate may lie (six of its standard deviations).
SLACK = 0.2

#: Rows handled at once.
_CHUNK = 2048

_TOKEN = re.compile("[\u3400-\u9fff]|[^\\W\u3400-\u9fff]+")
_MIX = tuple(np.uint64(n) for n in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_PLACES = tuple(np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7))

#: Gives the sets of all texts (`words`, `characters`), always the same in the same order.
Sets = Callable[[], Iterable[np.ndarray]]


class NearDuplicates:
    """The pairs of near duplicates among n texts.

    Attributes
    ----------
    same : array of int64, shape (n,)
        The first text with the same set as each text.
    pairs : list of (int, int)
        Pairs of different sets, each named by its first text; the smaller number first, sorted.
    """

    def __init__(
        self, same: np.ndarray, pairs: list[tuple[int, int]], sets: dict[int, np.ndarray]
    ) -> None:
        self.same, self.pairs, self._sets = same, pairs, sets

    def similarity(self, text: int, other: int) -> float:
        """Return the Jaccard similarity of two texts; different ones must each be in `pairs`."""
        text, other = int(self.same[text]), int(self.same[other])
        return 1.0 if text == other else jaccard(self._sets[text], self._sets[other])

    def groups(self) -> np.ndarray:
        """Return the number of each text's connected component in the graph of near duplicates."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        links = np.array([*self.pairs, *enumerate(self.same.tolist())], dtype=np.int64)
        links = links.reshape(-1, 2)
        ones = np.ones(len(links), dtype=np.int8)
        graph = coo_array((ones, (links[:, 0], links[:, 1])), shape=(len(self.same),) * 2)
        return connected_components(graph, directed=False)[1].astype(np.int64)

    def kept_for(self) -> dict[int, int]:
        """Return, for each dropped text, the first kept text that it nearly duplicates.

        Taken one after another, a text is kept unless it is a near duplicate of a kept one.
        """
        earlier: dict[int, list[int]] = {}
        for first, second in self.pairs:
            earlier.setdefault(second, []).append(first)
        kept_by_dropped: dict[int, int] = {}
        for text, same in enumerate(self.same.tolist()):
            if same != text:
                kept_by_dropped[text] = kept_by_dropped.get(same, same)
            elif kept := [first for first in earlier.get(text, ()) if first not in kept_by_dropped]:
                kept_by_dropped[text] = kept[0]
        return kept_by_dropped


def find_near_duplicates(sets: Sets, threshold: float) -> NearDuplicates:
    """Find the pairs of near duplicates.

    Parameters
    ----------
    sets : callable
        Returns an iterator over the sets of the texts; it is called twice.
    threshold : float
        Jaccard similarity of near duplicates, above 0 and up to 1.
    """
    signatures, same = _signatures(sets())
    suspected = _suspected(signatures, np.unique(same), threshold)
    needed = set(suspected.flatten().tolist())
    held = {i: text_set for i, text_set in enumerate(sets()) if i in needed}
    pairs = [
        (first, second)
        for first, second in suspected.tolist()
        if jaccard(held[first], held[second]) >= threshold
    ]
    kept = {first for pair in pairs for first in pair}
    return NearDuplicates(same, pairs, {i: text_set for i, text_set in held.items() if i in kept})


def words(text: tuple[str, ...]) -> np.ndarray:
    """Return the set of a text's word trigrams, ignoring case; a Chinese character is a word."""
    tokens = _TOKEN.findall("\n".join(text).casefold())
    return _runs(np.fromiter((crc32(word.encode()) for word in tokens), np.uint64, len(tokens)))


def characters(text: str) -> np.ndarray:
    """Return the set of a text's character trigrams."""
    return _runs(np.fromiter(map(ord, text), np.uint64, len(text)))


def _runs(tokens: np.ndarray) -> np.ndarray:
    """Return the distinct hashes of all token trigrams, sorted; fewer tokens form one run."""
    tokens = np.pad(tokens, (0, max(0, WIDTH - len(tokens))))
    runs = len(tokens) - WIDTH + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for i, place in enumerate(_PLACES):
        hashes += _mixed(tokens[i : i + runs] + place)
        hashes *= place
    return np.unique(_mixed(hashes))


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    """Return the size of the intersection of two sets divided by that of their union."""
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _mixed(hashes: np.ndarray) -> np.ndarray:
    """Apply the finaliser of splitmix64: every input bit affects every output bit."""
    for shift, factor in zip((30, 27), _MIX, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return hashes ^ (hashes >> np.uint64(31))


def _signatures(sets: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return MinHash signatures (n, `PERMUTATIONS`), and per text the first with the same set."""
    random = np.random.default_rng(20220523)
    factors = random.integers(0, 1 << 63, PERMUTATIONS, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    terms = random.integers(0, 1 << 63, PERMUTATIONS, dtype=np.uint64)
    rows: list[np.ndarray] = []
    same: list[int] = []
    first: dict[bytes, int] = {}
    for text_set in sets:
        signature = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
        for i in range(0, len(text_set), _CHUNK):
            hashed = text_set[i : i + _CHUNK, None] * factors + terms
            least = (hashed.min(axis=0) >> np.uint64(32)).astype(np.uint32)
            np.minimum(signature, least, out=signature)
        same.append(
            first.setdefault(blake2b(text_set.tobytes(), digest_size=16).digest(), len(rows))
        )
        rows.append(signature)
    return np.array(rows, dtype=np.uint32).reshape(-1, PERMUTATIONS), np.array(same, dtype=np.int64)


def _rows_of_band(threshold: float) -> int:
    """Return the most rows per band that keep the probability of a missed pair below `MISSED`."""
    fit = [
        rows
        for rows in range(1, PERMUTATIONS + 1)
        if (1 - threshold**rows) ** (PERMUTATIONS // rows) <= MISSED
    ]
    return max(fit, default=1)


def _suspected(signatures: np.ndarray, distinct: np.ndarray, threshold: float) -> np.ndarray:
    """Return the candidate pairs (i < j) of distinct texts: array of int64, shape (pairs, 2)."""
    rows = _rows_of_band(threshold)
    chosen_signatures = signatures[distinct]
    pairs: list[np.ndarray] = []
    for begin in range(0, PERMUTATIONS - rows + 1, rows):
        keys = np.zeros(len(chosen_signatures), dtype=np.uint64)
        for column in chosen_signatures[:, begin : begin + rows].T:
            keys = _mixed(keys + column.astype(np.uint64) + _PLACES[0])
        for bucket in _buckets(keys):
            for i, text in enumerate(bucket[:-1]):
                others = bucket[i + 1 :]
                alike = (chosen_signatures[others] == chosen_signatures[text]).mean(
                    axis=1
                ) >= threshold - SLACK
                chosen = others[alike]
                pairs.append(np.column_stack([np.full(len(chosen), text), chosen]))
    if not pairs:
        return np.empty((0, 2), dtype=np.int64)
    return distinct[np.unique(np.concatenate(pairs), axis=0)]


def _buckets(keys: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the positions that share a key, ascending, where there are several."""
    order = np.argsort(keys, kind="stable")
    borders = np.concatenate([[0], np.flatnonzero(np.diff(keys[order])) + 1, [len(keys)]])
    for place in np.flatnonzero(np.diff(borders) > 1):
        yield order[borders[place] : borders[place + 1]]
