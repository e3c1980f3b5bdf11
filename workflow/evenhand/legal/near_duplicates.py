"""Cases whose texts are nearly the same: pairs by MinHash, each compared, then groups.

A text is the set of its runs of three tokens; a token is a word, or one Chinese character.
Two texts are near duplicates if these sets have a Jaccard similarity of at least the
threshold. Pairs to compare come from MinHash signatures with locality-sensitive hashing
(Broder 1997; Indyk and Motwani 1998), whose bands are chosen so that a pair at the threshold
is missed with a probability below `MISSED`; each pair is then compared exactly. Groups are
connected components: near duplicates of near duplicates belong together.

Seeds are fixed, and nothing depends on the order of the texts but the numbers of the groups.
In memory are a signature a text (640 bytes), and the sets of those that have to be compared.
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

Texts = Callable[[], Iterable[tuple[str, ...]]]


class NearDuplicates:
    """The groups of near duplicates among n texts.

    Attributes
    ----------
    group : array of int64, shape (n,)
        Texts of one group share a number.
    """

    def __init__(self, group: np.ndarray, same: np.ndarray, sets: dict[int, np.ndarray]) -> None:
        self.group = group
        self._same, self._sets = same, sets

    def similarity(self, one: int, other: int) -> float:
        """The Jaccard similarity of two texts of one group."""
        one, other = int(self._same[one]), int(self._same[other])
        return 1.0 if one == other else jaccard(self._sets[one], self._sets[other])


def find_near_duplicates(texts: Texts, threshold: float) -> NearDuplicates:
    """Group texts.

    Parameters
    ----------
    texts : callable
        Gives the texts (paragraphs), always the same ones in the same order: they are gone
        through twice, one at a time.
    threshold : float
        Jaccard similarity from which two texts belong together, above 0 and up to 1.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    signatures, same = _signatures(texts())
    pairs = _suspected(signatures, np.unique(same), threshold)
    wanted = set(pairs.flatten().tolist())
    sets = {i: shingles(text) for i, text in enumerate(texts()) if i in wanted}
    near = [pair for pair in pairs.tolist() if jaccard(*(sets[i] for i in pair)) >= threshold]
    links = np.array([*near, *enumerate(same.tolist())], dtype=np.int64).reshape(-1, 2)
    ones = np.ones(len(links), dtype=np.int8)
    graph = coo_array((ones, (links[:, 0], links[:, 1])), shape=(len(same), len(same)))
    group = connected_components(graph, directed=False)[1].astype(np.int64)
    kept = set(np.array(near, dtype=np.int64).flatten().tolist())
    return NearDuplicates(group, same, {i: sets[i] for i in sorted(kept)})


def shingles(text: tuple[str, ...]) -> np.ndarray:
    """The hashes of a text's runs of tokens: array of uint64, sorted, each once.

    A shorter text is its own one run.
    """
    words = _TOKEN.findall("\n".join(text).casefold())
    tokens = np.fromiter((crc32(word.encode()) for word in words), np.uint64, len(words))
    tokens = np.pad(tokens, (0, max(0, WIDTH - len(tokens))))
    runs = len(tokens) - WIDTH + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for i, place in enumerate(_PLACES):
        hashes += _mixed(tokens[i : i + runs] + place)
        hashes *= place
    return np.unique(_mixed(hashes))


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """Size of the intersection of two of `shingles` divided by size of the union."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def _mixed(hashes: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output."""
    for shift, factor in zip((30, 27), _MIX, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return hashes ^ (hashes >> np.uint64(31))


def _signatures(texts: Iterable[tuple[str, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """MinHash signatures (n, `PERMUTATIONS`), and for each text the first with equal runs."""
    random = np.random.default_rng(20220523)
    factors = random.integers(0, 1 << 63, PERMUTATIONS, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    terms = random.integers(0, 1 << 63, PERMUTATIONS, dtype=np.uint64)
    rows: list[np.ndarray] = []
    same: list[int] = []
    first: dict[bytes, int] = {}
    for text in texts:
        own = shingles(text)
        signature = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
        for i in range(0, len(own), _CHUNK):
            hashed = own[i : i + _CHUNK, None] * factors + terms
            least = (hashed.min(axis=0) >> np.uint64(32)).astype(np.uint32)
            np.minimum(signature, least, out=signature)
        same.append(first.setdefault(blake2b(own.tobytes(), digest_size=16).digest(), len(rows)))
        rows.append(signature)
    return np.array(rows, dtype=np.uint32).reshape(-1, PERMUTATIONS), np.array(same, dtype=np.int64)


def _rows_of_band(threshold: float) -> int:
    """The most rows of a band with which few enough pairs at the threshold are missed."""
    fit = [
        rows
        for rows in range(1, PERMUTATIONS + 1)
        if (1 - threshold**rows) ** (PERMUTATIONS // rows) <= MISSED
    ]
    return max(fit, default=1)


def _suspected(signatures: np.ndarray, distinct: np.ndarray, threshold: float) -> np.ndarray:
    """Pairs (i < j) of distinct texts that may reach the threshold: array of int64 (pairs, 2)."""
    rows = _rows_of_band(threshold)
    own = signatures[distinct]
    found: list[np.ndarray] = []
    for begin in range(0, PERMUTATIONS - rows + 1, rows):
        keys = np.zeros(len(own), dtype=np.uint64)
        for column in own[:, begin : begin + rows].T:
            keys = _mixed(keys + column.astype(np.uint64) + _PLACES[0])
        for bucket in _buckets(keys):
            for i, one in enumerate(bucket[:-1]):
                others = bucket[i + 1 :]
                alike = (own[others] == own[one]).mean(axis=1) >= threshold - SLACK
                chosen = others[alike]
                found.append(np.column_stack([np.full(len(chosen), one), chosen]))
    if not found:
        return np.empty((0, 2), dtype=np.int64)
    return distinct[np.unique(np.concatenate(found), axis=0)]


def _buckets(keys: np.ndarray) -> Iterator[np.ndarray]:
    """The positions that share a key, ascending, where there are several."""
    order = np.argsort(keys, kind="stable")
    borders = np.concatenate([[0], np.flatnonzero(np.diff(keys[order])) + 1, [len(keys)]])
    for place in np.flatnonzero(np.diff(borders) > 1):
        yield order[borders[place] : borders[place + 1]]
