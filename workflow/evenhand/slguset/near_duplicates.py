"""Sentences that say almost the same as an earlier one."""

from collections.abc import Iterable

#: The verdict of a sentence that is rejected for being a near duplicate.
REASON = "near_duplicate"
REASONS = {
    "near_duplicate": (
        "Almost said before",
        "Another sentence that is kept says nearly the same; the evidence is its id.",
    )
}

#: Characters per shingle.
WIDTH = 3

#: Hash functions of a MinHash signature.
PERMUTATIONS = 64


def shingles(sentence: str) -> frozenset[str]:
    """The sentence's character trigrams; a shorter sentence is its own one shingle."""
    last = max(len(sentence) - WIDTH, 0)
    return frozenset(sentence[i : i + WIDTH] for i in range(last + 1))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Size of the intersection divided by size of the union, from 0 to 1."""
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def find(sentences: Iterable[tuple[str, str]], *, threshold: float) -> dict[str, str]:
    """Find the near duplicates among sentences.

    The sentences are taken one after another; one whose similarity to a sentence that was
    kept before reaches the threshold is a near duplicate of it, every other is kept. Pairs
    to compare come from MinHash signatures with locality-sensitive hashing (datasketch), set
    so as to miss few; each pair is then compared exactly. Seeds are fixed.

    Parameters
    ----------
    sentences : iterable of (str, str)
        sentence_id and sentence, in the order in which they have precedence.
    threshold : float
        Jaccard similarity of the sets of character trigrams, above 0 and up to 1.

    Returns
    -------
    dict of str to str
        sentence_id of each near duplicate: sentence_id of the kept sentence; if there are
        several, the one that came first.
    """
    from datasketch import MinHash, MinHashLSH

    # A missed pair stays in the data, a false one only costs a comparison: weigh the first.
    # The index takes no threshold near 1, where it would have a single band.
    index = MinHashLSH(threshold=min(threshold, 0.9), num_perm=PERMUTATIONS, weights=(0.1, 0.9))
    empty = MinHash(num_perm=PERMUTATIONS, seed=1)
    ids: list[str] = []
    texts: list[str] = []
    found: dict[str, str] = {}
    for sentence_id, sentence in sentences:
        own = shingles(sentence)
        signature = empty.copy()
        # Every shingle counts alike in the signature, so its order does not matter.
        signature.update_batch([shingle.encode() for shingle in own])
        for position in sorted(index.query(signature)):
            if jaccard(own, shingles(texts[position])) >= threshold:
                found[sentence_id] = ids[position]
                break
        else:
            index.insert(len(ids), signature)
            ids.append(sentence_id)
            texts.append(sentence)
    return found
