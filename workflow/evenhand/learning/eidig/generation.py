"""EIDIG's search for rows whose predicted label changes with the attribute, and their labels.

Zhang, Zhang and Zhang (ISSTA 2021): a global search by momentum from seeds spread over the data,
then a local search from its results. All seeds move at once. Unlike the authors' code, the local
search starts from copies, so that it leaves the results of the global search unchanged.
"""

import warnings

import numpy as np

from evenhand.learning.eidig.network import Network
from evenhand.learning.eidig.space import Space

#: Number of clusters that seeds are taken from in turn, and the maximum number of seeds.
CLUSTERS, SEEDS = 4, 1000

#: Steps of the global search, and the decay of its momentum per step.
ITERATIONS, DECAY = 10, 0.5

#: Steps of the local search from each start.
TRIES = 1000

#: Keeps the odds of an attribute without a gradient finite.
EPSILON = 1e-6


def seed_rows(space: Space, train: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Codes to start from: all training rows, or `SEEDS` of them, from each cluster in turn."""
    rows = space.codes[train]
    if len(rows) <= SEEDS:
        return rows
    from sklearn.cluster import KMeans

    state = int(generator.integers(2**31))
    cluster = KMeans(CLUSTERS, n_init=1, random_state=state).fit_predict(rows)
    order = generator.permutation(len(rows))
    turn = np.empty(len(rows), dtype=np.int64)  # whose turn a row is within its cluster
    for number in range(CLUSTERS):
        members = order[cluster[order] == number]
        turn[members] = np.arange(len(members))
    return rows[np.lexsort((cluster, turn))[:SEEDS]]


def outcomes(space: Space, network: Network, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows change their label with the attribute, and the most different partners.

    Returns
    -------
    (array of bool, shape (n,), array of int32, shape (n, attributes))
        Whether another value of the attribute gives another label; and the row with the value
        whose output differs most from that of the row itself (the row itself if none differs).
    """
    n, values = (
        len(codes),
        np.arange(space.lowest[space.protected], space.highest[space.protected] + 1),
    )
    others = np.repeat(codes[:, None], len(values), axis=1)
    others[:, :, space.protected] = values
    p = space.predict(network, others.reshape(-1, codes.shape[1])).reshape(n, len(values))
    factual = p[np.arange(n), codes[:, space.protected] - values[0]]
    differs = ((p > 0.5) != (factual > 0.5)[:, None]).any(axis=1)
    farthest = np.abs(p - factual[:, None]).argmax(axis=1)
    partner = codes.copy()
    moved = (p != factual[:, None]).any(axis=1)
    partner[moved, space.protected] = values[farthest[moved]]
    return differs, partner


def global_search(space: Space, network: Network, seeds: np.ndarray) -> np.ndarray:
    """Discriminatory rows reached from the seeds: distinct, in order of their codes.

    Each step moves against the gradient of a row's own label where it and the partner's gradient,
    both with momentum, agree in sign. A discriminatory row is kept and moves no further.
    """
    codes, kept = seeds.copy(), [seeds[:0]]
    momenta = np.zeros((2, *codes.shape), dtype=np.float32)
    for step in range(ITERATIONS):
        differs, partner = outcomes(space, network, codes)
        kept.append(codes[differs])
        codes, partner, momenta = codes[~differs], partner[~differs], momenta[:, ~differs]
        if not len(codes) or step == ITERATIONS - 1:
            break
        slopes = [_toward_own_label(space, network, rows) for rows in (codes, partner)]
        momenta = DECAY * momenta + np.stack(slopes)
        signs = np.sign(momenta).astype(np.int32)
        direction = np.where(signs[0] == signs[1], -signs[0], 0)
        direction[:, space.protected] = 0
        codes = np.clip(codes + space.steps * direction, space.lowest, space.highest)
    return distinct(np.concatenate(kept))


def local_search(
    space: Space,
    network: Network,
    starts: np.ndarray,
    generator: np.random.Generator,
    *,
    interval: int | None,
    tries: int = TRIES,
) -> np.ndarray:
    """Discriminatory rows near others: distinct, in order of their codes.

    Parameters
    ----------
    space, network : Space, Network
        The space to search, and the network under test.
    starts : array of int32, shape (n, attributes)
        The results of the global search.
    generator : numpy Generator
        Draws attributes and directions.
    interval : int or None
        Compute the gradients again after this many successful steps: 5 is EIDIG-5, None (never)
        is EIDIG-INF.
    tries : int
        Steps from each start. A step moves one attribute, more likely one with small
        gradients. A row that is no longer discriminatory returns to its start.
    """
    if not len(starts):
        return starts.copy()
    everyone = np.arange(len(starts))
    codes = starts.copy()
    first = _odds(space, network, starts, outcomes(space, network, starts)[1])
    odds, successes = first.copy(), np.zeros(len(starts), dtype=np.int64)
    kept = []
    for _ in range(tries):
        if interval is not None and (due := np.flatnonzero(successes >= interval)).size:
            partner = outcomes(space, network, codes[due])[1]
            odds[due] = _odds(space, network, codes[due], partner)
            successes[due] = 0
        drawn = generator.random((2, len(starts)))
        attribute = (odds < drawn[0, :, None]).sum(axis=1)
        sign = np.where(drawn[1] < 0.5, -1, 1)
        codes[everyone, attribute] += sign * space.steps[attribute]
        np.clip(codes, space.lowest, space.highest, out=codes)
        differs, _ = outcomes(space, network, codes)
        kept.append(codes[differs])
        successes += 1
        lost = ~differs
        codes[lost], odds[lost], successes[lost] = starts[lost], first[lost], 0
    return distinct(np.concatenate(kept))


def distinct(rows: np.ndarray) -> np.ndarray:
    """The rows without repetition, sorted by their codes from left to right."""
    return np.unique(rows, axis=0)


def _toward_own_label(space: Space, network: Network, codes: np.ndarray) -> np.ndarray:
    """The gradient of the probability of each row's own label."""
    sign = np.where(space.predict(network, codes) > 0.5, 1, -1)
    return sign[:, None].astype(np.float32) * space.gradient(network, codes)


def _odds(space: Space, network: Network, codes: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """Cumulative probabilities of moving each attribute: (n, attributes), the last of them 1."""
    total = sum(np.abs(space.gradient(network, rows)) for rows in (codes, partner))
    odds = 1 / (total.astype(np.float64) + EPSILON)
    odds[:, space.protected] = 0
    cumulated = np.cumsum(odds, axis=1)
    return cumulated / cumulated[:, -1:]


#: The share of the generated rows that is labelled and added to the training rows.
SHARE = 0.05


def draw(rows: np.ndarray, generator: np.random.Generator, share: float = SHARE) -> np.ndarray:
    """A share of the rows, drawn with replacement."""
    return rows[generator.integers(max(len(rows), 1), size=int(share * len(rows)))]


def vote(space: Space, train: np.ndarray, y: np.ndarray, rows: np.ndarray, seed: int) -> np.ndarray:
    """Return labels of rows by the mean probability of several classifiers.

    These are nearest neighbours, a network, a random forest and naive Bayes, with scikit-learn's
    default settings, on standardised inputs without the columns that carry a protected attribute.
    EIDIG's support vector machine, which takes many minutes on Adult, is left out. EIDIG's paper
    describes a majority vote; its code takes the mean of the probabilities, and so does this
    function.

    Parameters
    ----------
    space : Space
        The space that the codes belong to.
    train : array of int, shape (m,)
        Training rows of the table.
    y : array of 0 and 1, shape (m,)
        Their labels.
    rows : array of int32, shape (n, attributes)
        The rows to label.
    seed : int
        Seed of the randomised classifiers.

    Returns
    -------
    array of int8, shape (n,)
    """
    if not len(rows):
        return np.empty(0, dtype=np.int8)
    from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifiers = [
        ("neighbours", KNeighborsClassifier()),
        ("network", MLPClassifier(random_state=seed)),
        ("forest", RandomForestClassifier(random_state=seed)),
        ("bayes", GaussianNB()),
    ]
    model = make_pipeline(StandardScaler(), VotingClassifier(classifiers, voting="soft"))
    seen = _seen(space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 rounds, as in their code
        model.fit(seen(space.codes[train]), y)
    return model.predict(seen(rows)).astype(np.int8)


def _seen(space: Space):
    """Return a function from codes to the inputs that do not depend on a protected attribute."""
    base = space.lowest[None, :].copy()
    carriers = np.zeros(space.inputs, dtype=bool)
    for j in space.hidden:
        for value in range(space.lowest[j], space.highest[j] + 1):
            other = base.copy()
            other[0, j] = value
            carriers |= (space.encode(other) != space.encode(base))[0]
    return lambda codes: space.encode(codes)[:, ~carriers]
