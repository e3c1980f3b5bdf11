"""Does each objective do what it promises? Trainings on problems with a planted attribute.

Each kind of classifier is trained with each objective on texts whose attribute agrees with the
label in half of the training cases (no correlation) and in 95 % of them (a spurious one), and is
evaluated on test cases in which the two are unrelated. An objective declares its promise in `AIM`;
a new one is tested without further code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, share, text
from evenhand.learning.objective import REMOVES, Objective, load_objective
from evenhand.learning.planted import Planted, plant_cases
from evenhand.learning.probes import PROBES, probe
from evenhand.learning.settings import Settings

#: P(attribute = label) in training: no correlation, and a spurious one.
AGREEMENTS = (0.5, 0.95)

#: What others are measured against: plain training, and batches balanced over label x attribute.
PLAIN, SAMPLER = "erm", "erm_group_uniform"

#: The highest scores of probes after erasure, by agreement and probe.
ERASED = {0.5: {"linear": 0.52, "MLP": 0.57}, 0.95: {"linear": 0.55, "MLP": 0.55}}

#: Accuracy that erasure may cost without correlation, and what the worst group is to gain.
COST, GAIN = 0.005, 0.02

_PROBED = [f"{where}_{name.lower()}" for where in ("features", "logits") for name in PROBES]

TABLE = Table(
    "certified_mitigation",
    title="Does each objective do what it promises? Problems with a planted attribute",
    key=("classifier", "agreement", "objective"),
    columns=(
        text("classifier", "linear, frozen or hierarchical"),
        share("agreement", "P(attribute = label) in training; 0.5: no correlation"),
        text("objective"),
        text("groups", "What the objective sees: label x attribute, attribute, or none"),
        text("select", "The development score that chooses the epoch"),
        integer("seeds", "Each with texts, first weights and batches of its own"),
        share("accuracy", "On test cases, where label and attribute are unrelated; mean"),
        share("worst", "Accuracy in the worst cell of label x attribute"),
        share("plain_accuracy", "Of plain training (ERM)"),
        share("plain_worst", "Of plain training"),
        share("sampler_worst", "Of ERM on batches balanced over label x attribute"),
        *(
            column
            for name in _PROBED
            for column in (
                share(name, f"Balanced accuracy of a probe of the attribute ({name}); chance 0.5"),
                share(f"plain_{name}", "The same after plain training"),
            )
        ),
        text("aim", "What the objective promises; blank: nothing of this kind"),
        flag("met", "Whether it does so; blank without a promise for this agreement"),
        text("reason", "What is not met"),
    ),
    form=".4f",
)


@dataclass(frozen=True)
class Measured:
    """The scores of a training on a planted problem, by column of `TABLE`."""

    scores: dict[str, float]
    groups: str


def rows(
    seeds: Sequence[int],
    *,
    kinds: Sequence[str] = ("linear", "frozen", "hierarchical"),
    objectives: Sequence[str] | None = None,
    sizes: tuple[int, int, int] = (3000, 800, 4000),
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Row]:
    """Yield a row per kind of classifier, agreement and objective.

    Parameters
    ----------
    seeds : sequence of int
        Of the problems and the trainings.
    kinds : sequence of str
        Kinds of classifiers.
    objectives : sequence of str, optional
        Names; all of `evenhand.learning.objectives` by default.
    sizes : tuple of int
        Cases of training, development and test.
    progress : callable
        Called with the name of each training.
    """
    from evenhand.core.families import member_names
    from evenhand.learning import objective as contract

    every = [one.rpartition(".")[2] for one in member_names(contract.PACKAGE)]
    for kind, agreement in product(kinds, AGREEMENTS):
        found: dict[str, list[Measured]] = {}
        for name in dict.fromkeys([PLAIN, SAMPLER, *(objectives or every)]):
            if kind == "linear" and hasattr(load_objective(name), "inner_loss"):
                continue  # it needs a representation that is trained
            for seed in seeds:
                progress(f"{kind}, {agreement}, {name}, seed {seed}")
                one = measure(kind, plant_cases(seed, agreement, sizes=sizes), name, seed)
                found.setdefault(name, []).append(one)
        means = {
            name: {key: float(np.mean([m.scores[key] for m in some])) for key in some[0].scores}
            for name, some in found.items()
        }
        for name, some in found.items():
            shared = {f"plain_{key}": value for key, value in means[PLAIN].items()}
            row = {**shared, **means[name], "sampler_worst": means[SAMPLER]["worst"]}
            named = {"classifier": kind, "agreement": agreement, "objective": name}
            named |= {
                "groups": some[0].groups,
                "select": selection(load_objective(name)),
                "seeds": len(seeds),
            }
            promised = kind in getattr(load_objective(name), "AIM_FOR", TRAINED)
            aim = getattr(load_objective(name), "AIM", "") if promised else ""
            yield {**named, **row, **judge(aim, agreement, row)}


def judge(aim: str, agreement: float, row: Row) -> Row:
    """Return the promise of an objective for a row, whether it is met, and the failures."""
    wrong, spurious = [], agreement > AGREEMENTS[0]
    if aim == "erase":
        for where, (name, most) in product(("features", "logits"), ERASED[agreement].items()):
            value = row[f"{where}_{name.lower()}"]
            if value > most:
                wrong.append(f"{name} probe on {where} {value:.3f}, above {most}")
        if not spurious and row["accuracy"] < row["plain_accuracy"] - COST:
            wrong.append(f"accuracy {row['accuracy']:.3f}, plain {row['plain_accuracy']:.3f}")
        if spurious and row["worst"] < row["sampler_worst"]:
            wrong.append(f"worst group {row['worst']:.3f}, sampler {row['sampler_worst']:.3f}")
    elif aim == "hide":
        for name in _PROBED[:2]:
            if row[name] >= row[f"plain_{name}"]:
                wrong.append(f"{name} {row[name]:.3f}, plain {row[f'plain_{name}']:.3f}")
    elif aim == "worst_group" and spurious:
        if row["worst"] < row["plain_worst"] + GAIN:
            wrong.append(f"worst group {row['worst']:.3f}, plain {row['plain_worst']:.3f}")
    else:
        return {"aim": aim}
    return {"aim": aim, "met": not wrong, "reason": "; ".join(wrong)}


def measure(kind: str, planted: Planted, name: str, seed: int) -> Measured:
    """Train a classifier with an objective on a planted problem, and score it.

    Parameters
    ----------
    kind : str
        ``linear``, ``frozen`` or ``hierarchical``.
    planted : Planted
        The problem; its groups are those of the attribute.
    name : str
        The objective, with its default options.
    seed : int
        Of the training.
    """
    objective, examples, test = load_objective(name), planted.examples, planted.test
    seen, groups = examples, "none"
    if objective.USES_GROUPS:
        groups = "attribute"
        if getattr(objective, "AIM", None) not in REMOVES:
            groups = "label x attribute"
            cells = 2 * examples.labels + examples.groups
            seen = replace(examples, groups=cells, group_names=tuple("abcd"), known_groups=4)
    features, logits = TRAINED[kind](planted, seen, objective, seed)
    right = logits[test].argmax(axis=1) == examples.labels[test]
    cell = 2 * examples.labels[test] + examples.groups[test]
    by_cell = [right[cell == one].mean() for one in range(4)]
    scores = {"accuracy": float(np.mean(by_cell)), "worst": float(np.min(by_cell))}
    splits = (examples.train, examples.dev, test)
    for where, values in (("features", features), ("logits", logits)):
        for probe_name, hidden in PROBES.items():
            found = probe(values[None], examples.groups, splits, hidden=hidden)
            scores[f"{where}_{probe_name.lower()}"] = found.mean
    return Measured(scores, groups)


def selection(objective: Objective) -> str:
    """Return the development score that chooses the epoch."""
    return "worst_group_f1" if objective.USES_GROUPS else "macro_f1"


def _linear(planted: Planted, examples, objective, seed: int):
    from evenhand.learning.linear import train_models

    matrix = planted.tfidf()
    settings = Settings(lr=0.1, batch=32, epochs=8, patience=5, select=selection(objective))
    options = objective.OPTIONS
    (model,) = train_models(matrix, examples, objective, options, settings, [seed])
    features = matrix.toarray() if model.reads is None else matrix @ model.reads
    return features, model.logits


def _frozen(planted: Planted, examples, objective, seed: int):
    import torch

    from evenhand.learning.packing import places
    from evenhand.legal.classifiers.frozen import Head

    width = 32
    encoder = SimpleNamespace(hidden_size=width, num_attention_heads=4, intermediate_size=64)
    vectors = planted.vectors(width, seed)

    def batcher(rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        counts = np.full(len(rows), vectors.shape[1])
        batch = (vectors[rows].reshape(-1, width), *places(counts), counts)
        return tuple(torch.from_numpy(one) for one in batch)

    def build() -> Head:
        return Head(encoder, examples.classes, vectors.shape[1])

    return _network(build, batcher, examples, objective, seed, width, lr=1e-3, epochs=8)


def _hierarchical(planted: Planted, examples, objective, seed: int):
    import torch
    from transformers import BertConfig, BertModel

    from evenhand.learning.hierarchical import HierarchicalClassifier
    from evenhand.learning.packing import Limits, pack

    width, first = 32, len(planted.vocabulary)
    vectors = planted.word_vectors(width, seed)
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
            encoder.embeddings.word_embeddings.weight[:first] = torch.from_numpy(vectors)
        return HierarchicalClassifier(encoder, examples.classes, paragraphs)

    return _network(build, batcher, examples, objective, seed, width, lr=1e-3, epochs=8)


def _network(build, batcher, examples, objective, seed: int, width: int, **how):
    from evenhand.learning.trainer import fit
    from evenhand.scoring.device import repeatable

    settings = Settings(batch=32, patience=3, select=selection(objective), **how)
    with repeatable(seed):
        found = fit(
            build, batcher, examples, objective, objective.OPTIONS, settings,
            seed=seed, features=width,
        )  # fmt: skip
    return found.features, found.logits


#: From a planted problem, the examples as the objective sees them, the objective and a seed to
#: features and logits of all cases.
TRAINED = {"linear": _linear, "frozen": _frozen, "hierarchical": _hierarchical}
