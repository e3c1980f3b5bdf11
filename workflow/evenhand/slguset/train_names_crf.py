"""Train the CRF that finds personal names, and measure it on held-out sentences."""

import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.slguset.keywords import Keywords, read_keywords
from evenhand.slguset.names_crf_model import NameModel, features, labels
from evenhand.text.segmentation import cut
from evenhand.text.tagged import TaggedText, read_tagged
from evenhand.text.traditional import simplified

#: The thresholds among which the one for the wished recall is chosen: the hundredths.
THRESHOLDS = [i / 100 for i in range(1, 100)]
#: Those that the report lists.
REPORTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)

#: Fewer held-out names than this make the choice of the threshold a guess.
FEW = 50


class Measured(NamedTuple):
    """One held-out sentence: the number of its corpus, the truth, the predicted probability."""

    corpus: int
    single_keyword: bool
    has_name: bool
    probability: float


def train_names_crf(
    *,
    corpora: list[Input],
    formats: list[str],
    keywords: Input,
    model: Output,
    report: Output,
    recall: float = 0.93,
    held_out: float = 0.2,
    max_sentences: int | None = None,
    max_iterations: int = 80,
    c1: float = 0.05,
    c2: float = 0.02,
    seed: int = 0,
) -> dict[str, Any]:
    """Train the CRF that finds personal names, and measure it on held-out sentences.

    Whole documents are held out (articles of the People's Daily, records of CLUENER), by a hash
    of each, so that a document stays on its side when corpora are added; none of its sentences is
    trained on. A sentence that occurs twice in the corpora counts once. Text of the same source
    shares people and style with the training text. So with several corpora each is also measured,
    as a whole, with a model that was trained on the others alone: `other_sources`. This estimates
    the performance on new text, or a lower one, since the final model is trained on all corpora.

    The report (JSON) has, for sentences with exactly one keyword and for all, by corpus and
    together, the share of rejected sentences that have a name (precision), the share of sentences
    with a name that are rejected (recall), and the share of those without one that are lost, at
    several thresholds of P(name); `other_sources` for sentences with one keyword.

    Parameters
    ----------
    corpora : list of Path
        Tagged corpora (see `evenhand.text.tagged`).
    formats : list of str
        The format of each: `pku` or `cluener`.
    keywords : Path
        The table of surface pairs (keywords.csv).
    model : Path
        The model, a file of crfsuite.
    report : Path
        The measurements, and the threshold.
    recall : float
        The threshold is the highest hundredth at which at least this share of the
        single-keyword sentences with a name is rejected: of those of sources that were not
        trained on where there are several corpora, else of the held-out documents. If no
        hundredth reaches it on other sources, it is 0.01, with a warning.
    held_out : float
        The share of the documents that is held out.
    max_sentences : int, optional
        Train on at most so many sentences (chosen by the same hash); all by default.
    max_iterations : int
        Iterations of L-BFGS at most.
    c1 : float
        Weight of the L1 penalty.
    c2 : float
        Weight of the L2 penalty.
    seed : int
        Another seed holds out other documents.
    """
    if len(corpora) != len(formats):
        raise InputError(
            f"there are {len(corpora)} tagged corpora and {len(formats)} formats",
            remedy="name the format of each corpus",
        )
    if not (0 < held_out < 1 and 0 < recall < 1):
        raise InputError("held_out and recall are shares above 0 and below 1")
    table = read_keywords(keywords)
    training, measured_on = _split(corpora, formats, held_out, max_sentences, seed)
    parameters = {"max_iterations": max_iterations, "c1": c1, "c2": c2}
    if not training or not measured_on:
        raise InputError(
            f"the tagged corpora leave {len(training)} sentences to train on and "
            f"{len(measured_on)} to measure on",
            file=corpora[0] if corpora else None,
        )
    unseen = _measure_other_sources(training, measured_on, model, table, parameters)
    _train(training, model, **parameters)
    measured = _measure(NameModel(model), measured_on, table)
    decisive = [m for m in measured if m.single_keyword]
    threshold = choose_threshold(unseen or decisive, recall, lowest=bool(unseen))
    named = sum(m.has_name for m in unseen or decisive)
    if named < FEW:
        print(
            f"the threshold {threshold} rests on {named} held-out sentences with a name",
            file=sys.stderr,
        )
    document = {
        "threshold": threshold,
        "threshold_from": "other_sources" if unseen else "held_out",
        "recall_wished": recall,
        "seed": seed,
        "held_out_share": held_out,
        "parameters": parameters,
        "trained_on": _count(training),
        "held_out": {
            group: {
                which: _rates(chosen, sorted({threshold, *REPORTED}))
                for which, chosen in _by_corpus(measured, len(corpora), single).items()
            }
            for group, single in (("single_keyword", True), ("all", False))
        },
        "other_sources": {
            which: _rates(chosen, sorted({threshold, *REPORTED}))
            for which, chosen in _by_corpus(unseen, len(corpora), True).items()
        }
        if unseen
        else None,
    }
    write_json(report, document)
    return {
        "trained_on": len(training),
        "held_out": len(measured),
        "held_out_single_keyword": sum(m.single_keyword for m in measured),
        "threshold": threshold,
    }


def choose_threshold(measured: Sequence[Measured], recall: float, *, lowest: bool = False) -> float:
    """The highest hundredth at which at least `recall` of the sentences with a name are rejected.

    With `lowest`, 0.01 and a warning if none rejects as many.

    Raises
    ------
    InputError
        No sentence has a name, or even 0.01 rejects too few.
    """
    named = [m.probability for m in measured if m.has_name]
    if not named:
        raise InputError(
            "no held-out sentence with exactly one keyword has a name: no threshold can be chosen",
            remedy="give a larger tagged corpus, or hold out a larger share",
        )
    for threshold in reversed(THRESHOLDS):
        if sum(p > threshold for p in named) >= recall * len(named):
            return threshold
    reached = sum(p > THRESHOLDS[0] for p in named) / len(named)
    if lowest:
        print(
            f"on sources not trained on a recall of {reached:.3f} is reached at most, less than"
            f" {recall}: the threshold is {THRESHOLDS[0]}",
            file=sys.stderr,
        )
        return THRESHOLDS[0]
    raise InputError(
        f"the model reaches a recall of {reached:.3f} at most, less than {recall}",
        remedy="wish for a lower recall, or train on a larger tagged corpus",
    )


def hash_position(document: str, seed: int) -> float:
    """Return a number between 0 and 1, by a hash of the document and the seed."""
    digest = hashlib.blake2b(document.encode(), digest_size=8, salt=f"{seed:016d}".encode())
    return int.from_bytes(digest.digest(), "big") / 2**64


Numbered = list[tuple[int, TaggedText]]


def _split(
    corpora: Sequence[Path],
    formats: Sequence[str],
    held_out: float,
    max_sentences: int | None,
    seed: int,
) -> tuple[Numbered, Numbered]:
    """The sentences to train on and those to measure on, with the number of their corpus."""
    training: list[tuple[float, int, TaggedText]] = []
    measured_on: Numbered = []
    seen: set[str] = set()
    for number, (path, form) in enumerate(zip(corpora, formats, strict=True)):
        for tagged in read_tagged(path, form):
            if tagged.text in seen:
                continue
            seen.add(tagged.text)
            tagged = tagged._replace(text=simplified(tagged.text))
            position = hash_position(tagged.document, seed)
            if position < held_out:
                measured_on.append((number, tagged))
            else:
                training.append((position, number, tagged))
    training.sort(key=lambda entry: entry[0])
    return [(number, tagged) for _, number, tagged in training[:max_sentences]], measured_on


def _train(training: Numbered, model: Path, **parameters: float) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(parameters)
    sentences = [cut(tagged.text) for _, tagged in training]
    for (_, tagged), words, known in zip(training, sentences, features(sentences), strict=True):
        trainer.append(known, labels(words, tagged.names))
    print(f"training on {len(training)} sentences", file=sys.stderr)
    trainer.train(str(model))


def _measure_other_sources(
    training: Numbered, held_out: Numbered, model: Path, keywords: Keywords, parameters: dict
) -> list[Measured]:
    """Measure each corpus with a model of the others, at its sentences with one keyword.

    Empty for one corpus. The models are saved at the path of the final one, which replaces them.
    """
    numbers = {number for number, _ in training}
    measured: list[Measured] = []
    for number in sorted(numbers) if len(numbers) > 1 else ():
        _train([one for one in training if one[0] != number], model, **parameters)
        corpus = [
            (n, tagged)
            for n, tagged in (*training, *held_out)
            if n == number and len(keywords.pattern.findall(tagged.text)) == 1
        ]
        measured += _measure(NameModel(model), corpus, keywords)
    return measured


def _measure(model: NameModel, sentences: Numbered, keywords: Keywords) -> list[Measured]:
    texts = [tagged.text for _, tagged in sentences]
    surfaces = [list(keywords.pattern.finditer(text)) for text in texts]
    exempt = [found[0].span() if len(found) == 1 else (0, 0) for found in surfaces]
    return [
        Measured(number, len(found) == 1, bool(tagged.names), probability)
        for (number, tagged), found, probability in zip(
            sentences, surfaces, model.name_probabilities(texts, exempt), strict=True
        )
    ]


def _by_corpus(
    measured: Sequence[Measured], corpora: int, single_only: bool
) -> dict[str, list[Measured]]:
    """The sentences of all corpora together, then of each (`0` is the first)."""
    chosen = [m for m in measured if m.single_keyword or not single_only]
    return {"together": chosen} | {
        str(number): [m for m in chosen if m.corpus == number] for number in range(corpora)
    }


def _count(sentences: Numbered) -> dict[str, Any]:
    by_corpus = Counter(number for number, _ in sentences)
    return {
        "sentences": len(sentences),
        "with_name": sum(bool(tagged.names) for _, tagged in sentences),
        "by_corpus": {str(number): by_corpus[number] for number in sorted(by_corpus)},
    }


def _rates(measured: Sequence[Measured], thresholds: Sequence[float]) -> dict[str, Any]:
    """Precision, recall and loss by threshold; null where the denominator is 0."""
    named = [m.probability for m in measured if m.has_name]
    clean = [m.probability for m in measured if not m.has_name]
    rows = []
    for threshold in thresholds:
        found = sum(p > threshold for p in named)
        lost = sum(p > threshold for p in clean)
        rows.append(
            {
                "threshold": threshold,
                "precision": _share(found, found + lost),
                "recall": _share(found, len(named)),
                "clean_lost": _share(lost, len(clean)),
            }
        )
    return {"sentences": len(measured), "with_name": len(named), "by_threshold": rows}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


if __name__ == "__main__":
    from evenhand.core import stage

    stage.run(train_names_crf)
