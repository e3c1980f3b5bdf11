"""Label generated rows with classifiers that do not use the protected attributes."""

import warnings

import numpy as np

from evenhand.learning.eidig.space import Space

#: The share of the generated rows that is labelled and added to the training rows.
SHARE = 0.05


def draw(rows: np.ndarray, generator: np.random.Generator, share: float = SHARE) -> np.ndarray:
    """A share of the rows, drawn with replacement."""
    return rows[generator.integers(max(len(rows), 1), size=int(share * len(rows)))]


def vote(
    space: Space,
    train: np.ndarray,
    y: np.ndarray,
    rows: np.ndarray,
    seed: int,
) -> np.ndarray:
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
