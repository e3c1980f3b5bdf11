"""One training of a classifier on a problem with a planted attribute, and its scores."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from evenhand.learning.objective import REMOVES, Objective, Options, load_objective
from evenhand.learning.pairs import COUNTERFACTUAL, GRAPH, Pairs
from evenhand.learning.planted import Planted, plant_cases
from evenhand.learning.probes import PROBES, probe
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings

#: The planted problems, as settings of `plant_cases`: label and attribute are unrelated in
#: training; they agree in most cases; the same with a sixth of the cases, which a classifier learns
#: by heart; and unrelated, but half of the label's words mislead in one group.
PROBLEMS: Mapping[str, Mapping[str, Any]] = {
    "unrelated": {"agreement": 0.5},
    "spurious": {"agreement": 0.95},
    "few cases": {"agreement": 0.95},
    "conflict": {"agreement": 0.5, "label_true": ((0.9, 0.62), (0.3, 0.62))},
}

#: Training and development cases of a problem with few cases, as a share of the others'.
FEW = 1 / 6

Scores = dict[str, float]

#: With a graph, this share of the training cases has no pair: those whose neighbour is farthest.
FAR = 0.8


def variants(name: str) -> Iterator[tuple[str, Options]]:
    """Yield an objective's title and default options; if it compares pairs, of each kind."""
    options = load_objective(name).OPTIONS
    if "pairs" not in options:
        yield name, options
        return
    for kind in dict.fromkeys((options["pairs"], COUNTERFACTUAL, GRAPH)):
        yield f"{name}, {kind} pairs", {**options, "pairs": kind}


def measure(
    kind: str, problem: str, name: str, options: Options, seed: int, sizes: tuple[int, int, int]
) -> Scores:
    """Train a classifier with an objective on a planted problem, and score it.

    Parameters
    ----------
    kind : str
        ``linear``, ``frozen`` or ``hierarchical``.
    problem : str
        One of `PROBLEMS`.
    name, options
        The objective.
    seed : int
        Of the problem and the training.
    sizes : tuple of int
        Cases of training, development and test.

    Returns
    -------
    dict
        On test cases: accuracy, worst (cell of label x attribute), ifr_b and ifr_p (of
        counterfactuals with the words of the other attribute value), balanced accuracies of
        probes of the attribute, and, in the problem conflict, `gaps`.
    """
    from scipy.special import softmax

    from evenhand.metrics.individual import ifr_b, ifr_p

    if problem == "few cases":
        sizes = round(FEW * sizes[0]), round(FEW * sizes[1]), sizes[2]
    planted = plant_cases(seed, sizes=sizes, **PROBLEMS[problem]).with_counterfactuals()
    objective, examples, test = load_objective(name), planted.examples, planted.test
    cells, seen = 2 * examples.labels + examples.groups, examples
    if groups_seen(objective) == LABEL_X_ATTRIBUTE:
        seen = replace(examples, groups=cells, group_names=tuple("abcd"), known_groups=4)
    fitted = TRAINED[kind](planted, seen, objective, options, seed)
    features, logits, others = fitted.features, fitted.logits, fitted.counterfactual_logits[test]
    features = features.toarray() if hasattr(features, "toarray") else features
    right = logits[test].argmax(axis=1) == examples.labels[test]
    by_cell = [right[cells[test] == cell].mean() for cell in range(4)]
    p, other = (softmax(some.astype(np.float64), axis=1) for some in (logits[test], others))
    scores = {"accuracy": float(np.mean(by_cell)), "worst": float(np.min(by_cell))}
    scores |= {"ifr_b": ifr_b(p, other[:, None]), "ifr_p": ifr_p(p, other[:, None])}
    splits = (examples.train, examples.dev, test)
    for source, values in (("features", features), ("logits", logits)):
        for probe_name, hidden in PROBES.items():
            result = probe(values[None], examples.groups, splits, hidden=hidden)
            scores[f"{source}_{probe_name.lower()}"] = result.mean
    if problem == "conflict":
        scores |= gaps(p, logits[test], examples.labels[test], examples.groups[test])
    return scores


def gaps(p: np.ndarray, logits: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> Scores:
    """Return how far two groups are apart in mean loss and in its slope in a scale of the logits.

    `p` are the probabilities that `logits` give.
    """
    cells = np.arange(len(labels)), labels
    means = {"loss_gap": -np.log(p[cells]), "slope_gap": (p * logits).sum(axis=1) - logits[cells]}
    return {
        name: abs(float(values[groups == 1].mean() - values[groups == 0].mean()))
        for name, values in means.items()
    }


NO_GROUPS, ATTRIBUTE, LABEL_X_ATTRIBUTE = "none", "attribute", "label x attribute"


def groups_seen(objective: Objective) -> str:
    """Return the groups of a training; those of a removal must not tell the label."""
    if not objective.USES_GROUPS:
        return NO_GROUPS
    return ATTRIBUTE if objective.AIM in REMOVES else LABEL_X_ATTRIBUTE


def selection(objective: Objective) -> str:
    """Return the development score that chooses the epoch."""
    return "worst_group_f1" if objective.USES_GROUPS else "macro_f1"


def _pairs(vectors: Any, train: np.ndarray, n: int) -> Pairs:
    """Return all counterfactuals, and the nearest neighbours among the training cases."""
    import torch

    from evenhand.learning.individual_loss import near_enough, nearest

    rows = vectors[train]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    similarity, partner = nearest(torch.from_numpy(rows))
    near = near_enough(similarity, similarity.new_tensor([FAR]), "quantile")[0].bool().numpy()
    neighbours = np.full((n, 1), -1)
    neighbours[train[near], 0] = train[partner.numpy()[near]]
    return Pairs(swapped=np.ones(n, dtype=bool), neighbours=neighbours)


def _linear(planted: Planted, examples, objective, options, seed: int):
    from evenhand.learning.linear import train_models

    every, n = planted.tfidf(), len(examples.ids)
    matrix = every[:n]
    settings = Settings(
        learning_rate=0.1, batch=32, epochs=8, patience=5, select=selection(objective)
    )
    pairs = _pairs(matrix, examples.train, n)
    problem = Problem(examples, objective, options, settings, pairs)
    (fitted,) = train_models(matrix, problem, [seed], swapped=every[n:])
    return fitted


def _frozen(planted: Planted, examples, objective, options, seed: int):
    import torch

    from evenhand.learning.packing import places
    from evenhand.legal.classifiers.frozen import Head

    width = 32
    encoder = SimpleNamespace(hidden_size=width, num_attention_heads=4, intermediate_size=64)
    vectors = planted.vectors(width, seed)

    def batcher(rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        counts = np.full(len(rows), vectors.shape[1])
        batch = (vectors[rows].reshape(-1, width), *places(counts), counts)
        return tuple(torch.from_numpy(array) for array in batch)

    def build() -> Head:
        return Head(encoder, examples.classes, vectors.shape[1])

    return _network(build, batcher, vectors, examples, objective, options, seed)


def _hierarchical(planted: Planted, examples, objective, options, seed: int):
    import torch
    from transformers import BertConfig, BertModel

    from evenhand.learning.hierarchical import HierarchicalClassifier
    from evenhand.learning.packing import Limits, pack

    width, first = 32, planted.terms
    table = planted.word_vectors(width, seed)
    _, paragraphs, words = planted.words.shape
    limits = Limits(paragraphs, words + 1)
    config = BertConfig(
        vocab_size=first + 2,
        hidden_size=width,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=words + 1,
    )
    ids = np.concatenate([np.full((*planted.words.shape[:2], 1), first), planted.words], axis=2)

    def batcher(rows: np.ndarray):
        return pack([list(ids[row]) for row in rows], limits, pad_id=first + 1)

    def build() -> torch.nn.Module:
        encoder = BertModel(config, add_pooling_layer=False).train()
        with torch.no_grad():  # as if pretrained
            encoder.embeddings.word_embeddings.weight[:first] = torch.from_numpy(table)
        return HierarchicalClassifier(encoder, examples.classes, paragraphs)

    vectors = planted.vectors(width, seed)
    return _network(build, batcher, vectors, examples, objective, options, seed)


def _network(build, batcher, vectors, examples, objective, options, seed: int):
    from evenhand.learning.trainer import fit
    from evenhand.scoring.device import repeatable

    n, width = len(examples.ids), vectors.shape[2]
    settings = Settings(
        batch=32, patience=3, learning_rate=1e-3, epochs=8, select=selection(objective)
    )
    pairs = _pairs(vectors.mean(axis=1), examples.train, n)
    problem = Problem(examples, objective, options, settings, pairs)
    with repeatable(seed):
        return fit(build, batcher, problem, seed=seed, features=width)


#: From a planted problem, the examples as the objective sees them, the objective, its options and a
#: seed to the classifier.
TRAINED = {"linear": _linear, "frozen": _frozen, "hierarchical": _hierarchical}
