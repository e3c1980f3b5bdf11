"""Learn which candidates are as natural with the counterpart, and accept with a guarantee."""

import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile, zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa

from evenhand.core.stage import Fraction, Input, Natural, Output, Plugin, Source, checked
from evenhand.core.tables import Row, Table, flag, integer, number, share, text, write_tables
from evenhand.errors import InputError
from evenhand.io.sheets import write_csv
from evenhand.io.tables import read_rows, read_table_schema, schema_of, write_table
from evenhand.metrics.guarantees import Guarantee, guarantee
from evenhand.metrics.proportions import wilson_share
from evenhand.sheets.tasks import draw
from evenhand.slguset.acceptance_model import (
    LABEL_WEIGHT,
    Example,
    Model,
    document,
    features,
    names_by_document,
)
from evenhand.slguset.annotation import WAITING, corpora_by_file, random_order, read_judgements
from evenhand.slguset.bias_tables import read_gate
from evenhand.slguset.dataset import spans_of, swap
from evenhand.slguset.gather_examples import CERTAIN, Labels, read_labels
from evenhand.slguset.keywords import GENDERS, read_keywords
from evenhand.slguset.surface_pairs import attribute_of, surface_pair
from evenhand.slguset.verdicts import ACCEPTED
from evenhand.text.traditional import matching_form

#: The most sentences of a source, and of a class, that the model learns from.
MOST = 20_000

#: Features in the table of the model; sentences whose features are made at once.
LISTED, TOGETHER = 100, 512

BELOW, NONE, REJECTED = "below_threshold", "no_guarantee", "rejected_by_annotators"

VERDICTS = schema_of(
    **dict.fromkeys(("sentence_id", "corpus", "pair"), "string"),
    **{"random_sample": "bool", "good": "bool", "score": "float64", "verdict": "string"},
    **{"guaranteed": "bool", "reasons": pa.list_(pa.string())},
)

GUARANTEES = Table(
    "guarantees",
    title="Sentences accepted per corpus, and what is guaranteed of them",
    key=("corpus",),
    columns=(
        text("corpus"),
        integer("candidates", "Sentences that the filters accept"),
        integer("labelled", "Random sample of these with labels: no gap in the random order"),
        integer("bad", "Sentences of the sample that not all annotators accept"),
        flag("guaranteed"),
        integer("accepted", "Sentences that the model accepts"),
        number("threshold", "Lowest score of an accepted sentence"),
        share("bad_at_most", "Upper confidence limit of bad accepted sentences, for this choice"),
        integer(
            "labels_needed", "Random labels with which a part could be accepted; or those used"
        ),
        text("note"),
    ),
    source="Angelopoulos et al. 2021, Learn then Test",
)

PRECISION = Table(
    "precision",
    title="Precision on the random samples, of the filters alone and with the model",
    key=("group", "name", "accepted_by"),
    columns=(
        text("group", "corpus or pair"),
        text("name"),
        text("accepted_by", "filters, or filters and model; the model's threshold is chosen here"),
        integer("labelled", "Sentences of the random samples that are accepted"),
        share("precision", "Those that all annotators accept", interval=True, count="labelled"),
    ),
)

FEATURES = Table(
    "features",
    title="Strongest features of the acceptance model",
    key=("feature",),
    columns=(text("feature"), number("weight", "Above 0: accepted", "log-odds")),
)


@checked
def accept_candidates(
    *,
    candidates: Input,
    keywords: Input,
    inventories: list[Input],
    corpora: list[str],
    out: Output,
    table: Output,
    tables: Output,
    published: Input | None = None,
    samples: list[Input] | None = None,
    answers: list[Input] | None = None,
    labels: list[Source] | None = None,
    log_odds: Input | None = None,
    gate: Input | None = None,
    risk: Fraction = 0.05,
    confidence: Fraction = 0.9,
    without_guarantee: Literal["none", "all"] = "none",
    seed: Natural = 1,
    language: str = "zh",
    segmenter: Annotated[str, Plugin("evenhand.text.segmenters")] = "jieba",
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Learn which candidates are as natural with the counterpart, and accept with a guarantee.

    A logistic regression learns from the published sentences (good), from candidates that the
    filters reject for certain (bad; the words that gave them away are hidden), from those that
    they accept (good, as far as is known), and from labels. Each corpus has as much weight of
    good as of bad sentences, so that the style of a corpus gives nothing away.

    The labels of the random sample of a corpus are not learned from: they decide how many of the
    best-scored sentences of that corpus can be accepted (`evenhand.metrics.guarantees`). The
    sample is the sentences of the corpus in random order, up to the first without a label. Labels
    of other sentences, such as those drawn because the model was uncertain, train the model.

    Parameters
    ----------
    candidates : Path
        candidates.parquet.
    keywords : Path
        The table of surface pairs (keywords.csv).
    inventories : list of Path
        The inventory of each shard.
    corpora : list of str
        The corpus of each shard, in the same order.
    out : Path
        verdicts.parquet, a row per sentence that the filters accept: corpus, random_sample
        (whether its label serves the guarantee), good (its label, if any), score, verdict
        (`accepted`, `below_threshold`, `no_guarantee` or `rejected_by_annotators`), guaranteed,
        and reasons: the features that count most for the score.
    table : Path
        accepted.csv: the accepted sentences, with their counterparts.
    tables : Path
        The folder of the tables `GUARANTEES`, `PRECISION` and `FEATURES`.
    published : Path, optional
        The published data set.
    samples, answers : list of Path, optional
        sample.parquet and answers.parquet of each round with answers. A sentence is good if
        it enters the data set (`evenhand.slguset.build_dataset`), and has no label while it waits
        for answers.
    labels : list of Path, optional
        Tables (sentence, label: accept, reject or unsure). Answers of rounds precede them.
    log_odds, gate : Path, optional
        The outputs of `score_bias` for the sentences of `gather_examples`: a language model's odds
        of keyword against counterpart are features.
    risk : float
        The largest share of bad sentences among those accepted of a corpus.
    confidence : float
        Lower limit of the probability, per corpus, that `risk` is not exceeded.
    without_guarantee : str
        What is accepted of a corpus without a guarantee.
    seed : int
        Seed of the random order, as in `draw_annotation`.
    language, segmenter, values
        Of the pack.

    Returns
    -------
    dict
        learned_from (sentences), candidates, accepted, guaranteed (corpora).

    Raises
    ------
    InputError
        There is nothing to learn from, a table of labels is malformed, or the language model
        did not pass its check.
    """
    values = values or [*GENDERS]
    cut = importlib.import_module(f"evenhand.text.segmenters.{segmenter}").segmenter(language)
    corpus_of = corpora_by_file(inventories, corpora)
    plain = matching_form(language)
    judged = read_labels(read_keywords(keywords, values), labels or [], plain)
    for sentence in read_judgements(samples or [], answers or []):
        if (fate := sentence.fate()) != WAITING:
            row = sentence.row | {"verdict": ACCEPTED}
            judged[row["sentence_id"]] = (row, fate == "accept")
    odds = _odds(log_odds, gate)
    attribute = attribute_of(read_table_schema(candidates).names)
    columns = ["sentence_id", "source", "source_position", "reasons", "evidence"]
    names = names_by_document(read_rows(candidates, columns), plain)

    def described(row: Row) -> Row:
        key = row["sentence_id"]
        near = names.get(document(row), {}) if "source" in row else {}
        keyword_odds = odds.get(key)
        if keyword_odds is not None and row.get("value", row.get(attribute)) != values[0]:
            keyword_odds = 1 / keyword_odds
        rejected = row.get("verdict", ACCEPTED) != ACCEPTED
        hidden = plain(row["evidence"] or "").split("、") if rejected else []
        return row | {
            "sentence": plain(row["sentence"]),
            "hidden": [*filter(None, hidden)],
            "names": [name for name, other in near.items() if other != key],
            "odds": keyword_odds,
        }

    def featured(rows: Iterable[Row]) -> Iterator[tuple[Row, list[str]]]:
        stream = iter(rows)
        while batch := list(islice(stream, TOGETHER)):
            made = features([*map(described, batch)], cut, chinese=segmenter == "jieba")
            yield from zip(batch, made, strict=True)

    orders = _random_orders(candidates, corpus_of, seed)
    samples_of = {name: [*takewhile(judged.__contains__, keys)] for name, keys in orders.items()}
    sampled = {key for sample in samples_of.values() for key in sample}
    examples = [
        Example(made, row["good"], row["group"], row["weight"])
        for row, made in featured(_examples(candidates, published, judged, sampled, corpus_of))
    ]
    if len({example.good for example in examples}) < 2:
        problem = "the acceptance model has only good or only bad sentences to learn from"
        remedy = "name labels or a published file, or set slguset.acceptance.learn to false"
        raise InputError(problem, remedy=remedy)
    model = Model(examples)
    rows = []
    for row, made in featured(row for row in read_rows(candidates) if row["verdict"] == ACCEPTED):
        score = model.score(made)
        entry = {
            "sentence_id": row["sentence_id"],
            "corpus": corpus_of[row["source"]],
            "pair": surface_pair(row, values),
            "random_sample": row["sentence_id"] in sampled,
            "good": judged.get(row["sentence_id"], (None, None))[1],
            "score": score,
            "reasons": model.reasons(made, score),
        }
        rows.append(entry)
    lost = _lost(judged, samples_of, orders, corpus_of, seed)
    guarantees = []
    for name in orders:
        of_corpus = [row for row in rows if row["corpus"] == name]
        decision = _decide(of_corpus, risk, confidence, without_guarantee)
        guarantees.append(_guarantee_row(name, of_corpus, decision, lost[name]))
        if not decision.accepted:
            print(f"no guarantee for the corpus {name}: see the table guarantees", file=sys.stderr)
    write_table(out, VERDICTS, ({name: row[name] for name in VERDICTS.names} for row in rows))
    by_id = {row["sentence_id"]: row for row in rows if row["verdict"] == ACCEPTED}
    write_csv(table, ACCEPTED_COLUMNS, _accepted_rows(candidates, by_id))
    strongest = sorted(model.weights.items(), key=lambda item: (-abs(item[1]), item[0]))[:LISTED]
    precision = _precision_rows([row for row in rows if row["random_sample"]])
    weights = [{"feature": name, "weight": weight} for name, weight in strongest]
    write_tables(tables, [(GUARANTEES, guarantees), (PRECISION, precision), (FEATURES, weights)])
    return {
        "learned_from": len(examples),
        "candidates": len(rows),
        "accepted": len(by_id),
        "guaranteed": sum(row["guaranteed"] for row in guarantees),
    }


def _odds(log_odds: Path | None, gate: Path | None) -> dict[str, float]:
    """Return how many times as likely as the second value's word the first one's is, by id."""
    if log_odds is None or gate is None:
        return {}
    model = read_gate(gate, "log_base")
    if not model["trusted"]:
        raise InputError(
            f"the model {model['model']} did not pass its check: {model['reason']}", file=gate,
            remedy="name another one under slguset.acceptance.model, or none",
        )  # fmt: skip
    rows = read_rows(log_odds, ["sentence_id", "bias"])
    return {
        row["sentence_id"]: model["log_base"] ** row["bias"]
        for row in rows
        if row["bias"] is not None
    }


def _random_orders(candidates: Path, corpus_of: dict[str, str], seed: int) -> dict[str, list[str]]:
    """Return the ids of the sentences that the filters accept, by corpus, in random order."""
    ids: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(candidates, ["sentence_id", "source", "verdict"]):
        if row["verdict"] == ACCEPTED:
            ids[corpus_of[row["source"]]].append(row["sentence_id"])
    return {corpus: random_order(ids[corpus], seed) for corpus in sorted(ids)}


def _examples(
    candidates: Path,
    published: Path | None,
    judged: Labels,
    sampled: set[str],
    corpus_of: dict[str, str],
) -> Iterator[Row]:
    """Yield the sentences to learn from, with good, group and weight of their `Example`.

    At most `MOST` of each source and class, but all labelled ones.
    """
    if published:
        ids = ((None, row["sentence_id"]) for row in read_rows(published, ["sentence_id"]))
        chosen = set(draw(ids, lambda _: MOST, "learn"))
        for row in read_rows(published):
            if row["sentence_id"] in chosen:
                yield row | {"good": True, "group": "published", "weight": 1.0}
    for key, (row, good) in judged.items():
        if key not in sampled:
            yield row | {"good": good, "group": "labels", "weight": LABEL_WEIGHT}
    classes: dict[str, tuple[str, bool]] = {}
    for row in read_rows(candidates, ["sentence_id", "source", "verdict"]):
        key = row["sentence_id"]
        good = row["verdict"] == ACCEPTED and (key not in judged or key in sampled)
        if good or row["verdict"] in CERTAIN:
            classes[key] = corpus_of[row["source"]], good
    with_bad = {corpus for corpus, good in classes.values() if not good}
    strata = ((group, key) for key, group in classes.items() if group[0] in with_bad)
    chosen = set(draw(strata, lambda _: MOST, "learn"))
    for row in read_rows(candidates):
        if row["sentence_id"] in chosen:
            corpus, good = classes[row["sentence_id"]]
            yield row | {"good": good, "group": corpus, "weight": 1.0}


def _decide(
    rows: list[dict[str, Any]], risk: float, confidence: float, without_guarantee: str
) -> Guarantee:
    """Give each sentence of a corpus its verdict; `within`: whatever its label, it is accepted."""
    ordered = sorted(rows, key=lambda row: (-row["score"], row["sentence_id"]))
    sampled = np.array([row["random_sample"] for row in ordered], bool)
    bad = np.array([row["good"] is False for row in ordered], bool)
    decision = guarantee(sampled, bad, risk=risk, confidence=confidence)
    unlabelled = BELOW if decision.accepted else NONE
    most = decision.accepted or (len(ordered) if without_guarantee == "all" else 0)
    for place, row in enumerate(ordered):
        row["within"] = place < most
        row["verdict"] = ACCEPTED if row["within"] else unlabelled
        if row["good"] is not None:
            row["verdict"] = ACCEPTED if row["good"] else REJECTED
        row["guaranteed"] = row["verdict"] == ACCEPTED and decision.accepted > 0
    return decision


def _lost(
    judged: Labels,
    samples: dict[str, list[str]],
    orders: dict[str, list[str]],
    corpus_of: dict[str, str],
    seed: int,
) -> Counter[str]:
    """Count the labelled sentences that were in the random samples before filters changed."""
    present = {key for order in orders.values() for key in order}
    lost: Counter[str] = Counter()
    for key, (row, _) in judged.items():
        corpus = corpus_of.get(row.get("source", ""), "")
        sample = samples.get(corpus)
        if sample and key not in present and random_order([key, sample[-1]], seed)[0] == key:
            lost[corpus] += 1
    return lost


ACCEPTED_COLUMNS = [
    *("sentence_id", "sentence", "swapped_sentence", "start", "end", "keyword", "opposite"),
    *("corpus", "score", "guaranteed", "reasons"),
]


def _accepted_rows(candidates: Path, by_id: dict[str, dict[str, Any]]) -> Iterator[list[Any]]:
    for row in read_rows(candidates):
        if decision := by_id.get(row["sentence_id"]):
            row |= decision | {"swapped_sentence": swap(row["sentence"], spans_of(row))}
            row |= {"score": f"{row['score']:.4f}", "reasons": "; ".join(row["reasons"])}
            row["guaranteed"] = str(row["guaranteed"]).lower()
            yield [row[name] for name in ACCEPTED_COLUMNS]


def _guarantee_row(corpus: str, rows: list[dict[str, Any]], decision: Guarantee, lost: int) -> Row:
    labels = [row["good"] for row in rows if row["random_sample"]]
    notes = []
    if not decision.accepted:
        needed = f"{decision.needed} needed" if decision.needed else "too many are bad"
        notes.append(f"no guarantee: {len(labels)} random labels, {needed}")
    if lost:
        notes.append(
            f"{lost} labelled sentences are no candidates any more: if filters were changed"
            " because of labels, set another slguset.annotation.seed"
        )
    return {
        "corpus": corpus,
        "candidates": len(rows),
        "labelled": len(labels),
        "bad": labels.count(False),
        "guaranteed": decision.accepted > 0,
        "accepted": sum(row["verdict"] == ACCEPTED for row in rows),
        "threshold": min((row["score"] for row in rows if row["within"]), default=None),
        "bad_at_most": decision.bound if decision.accepted else None,
        "labels_needed": decision.needed or None,
        "note": "; ".join(notes) or None,
    }


def _precision_rows(sample: list[Row]) -> Iterator[Row]:
    """Yield the precision by corpus and by pair, of the random samples."""
    for group in ("corpus", "pair"):
        for name in sorted({row[group] for row in sample}):
            rows = [row for row in sample if row[group] == name]
            within = [row for row in rows if row["within"]]
            for accepted_by, part in (("filters", rows), ("filters and model", within)):
                cells = [group, name, accepted_by, len(part)]
                if part:
                    cells += wilson_share(sum(row["good"] for row in part), len(part))
                yield dict(zip_longest(PRECISION.header, cells))
