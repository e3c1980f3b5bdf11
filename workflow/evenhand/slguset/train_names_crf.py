"""Train the CRF that finds personal names, and measure it on held-out sentences."""

import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from evenhand.core.stage import Input, Natural, Output, Range, Share, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.slguset.keywords import Keywords, read_keywords
from evenhand.slguset.names_crf_model import NameModel, features, labels
from evenhand.text.segmentation import cut
from evenhand.text.tagged import FORMATS, TaggedText, read_tagged
from evenhand.text.traditional import simplified

#: The thresholds among which the one for the wished recall is chosen: the hundredths.
THRESHOLDS = [i / 100 for i in range(1, 100)]
#: Those that the report lists.
REPORTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)

#: Fewer held-out names than this make the choice of the threshold a guess.
FEW = 50


#: Of L-BFGS: the most iterations, and the weights of the L1 and L2 penalties.
PARAMETERS = {"max_iterations": 80, "c1": 0.05, "c2": 0.02}


@checked
def train_names_crf(
    *,
    corpora: list[Input],
    formats: list[str],
    keywords: Input,
    model: Output,
    report: Output,
    recall: Share = 0.93,
    held_out: Annotated[float, Range(above=0, most=0.9)] = 0.2,
    seed: Natural = 0,
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
    seed : int
        Another seed holds out other documents.
    """
    if len(corpora) != len(formats) or {*formats} - {*FORMATS}:
        problem = f"the {len(corpora)} tagged corpora have the formats {', '.join(formats)}"
        remedy = f"name the format of each corpus, one of {', '.join(FORMATS)}"
        raise InputError(problem, remedy=remedy)
    table = read_keywords(keywords)
    training, held_out_sentences = _split(corpora, formats, held_out, seed)
    if not training or not held_out_sentences:
        raise InputError(
            f"the tagged corpora leave {len(training)} sentences to train on and"
            f" {len(held_out_sentences)} to measure on",
            file=corpora[0] if corpora else None,
        )
    unseen = _measure_other_sources(training, held_out_sentences, model, table)
    _train(training, model)
    measured = _measure(NameModel(model), held_out_sentences, table)
    single = measured[measured["single_keyword"]]
    decisive = single if unseen is None else unseen
    named = decisive.loc[decisive["has_name"], "probability"]
    threshold = choose_threshold(named, recall, lowest=unseen is not None)
    if len(named) < FEW:
        warning = f"the threshold {threshold} rests on {len(named)} held-out sentences with a name"
        print(warning, file=sys.stderr)

    def rates(sentences: pd.DataFrame) -> dict[str, Any]:
        thresholds = sorted({threshold, *REPORTED})
        return {"together": _rates(sentences, thresholds)} | {
            str(number): _rates(sentences[sentences["corpus"] == number], thresholds)
            for number in range(len(corpora))
        }

    by_corpus = Counter(number for number, _ in training)
    document = {
        "threshold": threshold,
        "threshold_from": "held_out" if unseen is None else "other_sources",
        "recall_wished": recall,
        "seed": seed,
        "held_out_share": held_out,
        "parameters": PARAMETERS,
        "trained_on": {
            "sentences": len(training),
            "with_name": sum(bool(tagged.names) for _, tagged in training),
            "by_corpus": {str(number): by_corpus[number] for number in sorted(by_corpus)},
        },
        "held_out": {"single_keyword": rates(single), "all": rates(measured)},
        "other_sources": None if unseen is None else rates(unseen),
    }
    write_json(report, document)
    return {
        "trained_on": len(training),
        "held_out": len(measured),
        "held_out_single_keyword": len(single),
        "threshold": threshold,
    }


def choose_threshold(named: Sequence[float], recall: float, *, lowest: bool = False) -> float:
    """Return the highest hundredth exceeded by at least `recall` of the sentences with a name.

    `named` has the highest probability of each of these sentences. With `lowest`, 0.01 and a
    warning if there is no such hundredth.

    Raises
    ------
    InputError
        No sentence has a name, or even 0.01 rejects too few.
    """
    named = np.asarray(named)
    if not len(named):
        raise InputError(
            "no held-out sentence with exactly one keyword has a name: no threshold can be chosen",
            remedy="give a larger tagged corpus, or hold out a larger share",
        )
    for threshold in reversed(THRESHOLDS):
        if (named > threshold).sum() >= recall * len(named):
            return threshold
    reached = f"a recall of {(named > THRESHOLDS[0]).mean():.3f} at most, less than {recall}"
    if not lowest:
        remedy = "lower slguset.train_names_crf.recall, or train on a larger tagged corpus"
        raise InputError(f"the model reaches {reached}", remedy=remedy)
    warning = f"on sources not trained on, the model reaches {reached}"
    print(f"{warning}: the threshold is {THRESHOLDS[0]}", file=sys.stderr)
    return THRESHOLDS[0]


def hash_position(document: str, seed: int) -> float:
    """Return a number between 0 and 1, by a hash of the document and the seed."""
    digest = hashlib.blake2b(document.encode(), digest_size=8, salt=f"{seed:016d}".encode())
    return int.from_bytes(digest.digest(), "big") / 2**64


#: Sentences with the number of their corpus.
Numbered = list[tuple[int, TaggedText]]


def _split(
    corpora: Sequence[Path], formats: Sequence[str], held_out: float, seed: int
) -> tuple[Numbered, Numbered]:
    """Return the sentences to train on, in the order of their hashes, and those to measure on."""
    training: list[tuple[float, int, TaggedText]] = []
    held_out_sentences: Numbered = []
    seen: set[str] = set()
    for number, (path, form) in enumerate(zip(corpora, formats, strict=True)):
        for tagged in read_tagged(path, form):
            if tagged.text in seen:
                continue
            seen.add(tagged.text)
            tagged = tagged._replace(text=simplified(tagged.text))
            position = hash_position(tagged.document, seed)
            if position < held_out:
                held_out_sentences.append((number, tagged))
            else:
                training.append((position, number, tagged))
    training.sort(key=lambda entry: entry[0])
    return [(number, tagged) for _, number, tagged in training], held_out_sentences


def _train(training: Numbered, model: Path) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(PARAMETERS)
    words_of = [cut(tagged.text) for _, tagged in training]
    for (_, tagged), words, word_features in zip(
        training, words_of, features(words_of), strict=True
    ):
        trainer.append(word_features, labels(words, tagged.names))
    print(f"training on {len(training)} sentences", file=sys.stderr)
    trainer.train(str(model))


def _measure_other_sources(
    training: Numbered, held_out: Numbered, model: Path, keywords: Keywords
) -> pd.DataFrame | None:
    """Measure each corpus with a model of the others, at its sentences with one keyword.

    None for one corpus. The models are saved at the path of the final one, which replaces them.
    """
    numbers = sorted({number for number, _ in training})
    if len(numbers) < 2:
        return None
    measured = []
    for corpus in numbers:
        _train([(number, tagged) for number, tagged in training if number != corpus], model)
        sentences = [
            (number, tagged)
            for number, tagged in (*training, *held_out)
            if number == corpus and len(keywords.pattern.findall(tagged.text)) == 1
        ]
        measured.append(_measure(NameModel(model), sentences, keywords))
    return pd.concat(measured, ignore_index=True)


def _measure(model: NameModel, sentences: Numbered, keywords: Keywords) -> pd.DataFrame:
    """Return, for each sentence, the highest probability of a word outside its one keyword."""
    texts = [tagged.text for _, tagged in sentences]
    rows = []
    for (corpus, tagged), words in zip(sentences, model.words(texts), strict=True):
        surfaces = [match.span() for match in keywords.pattern.finditer(tagged.text)]
        first, last = surfaces[0] if len(surfaces) == 1 else (0, 0)
        outside = (p for start, end, p in words if not (first <= start and end <= last))
        rows.append((corpus, len(surfaces) == 1, bool(tagged.names), max(outside, default=0.0)))
    types = {"corpus": int, "single_keyword": bool, "has_name": bool, "probability": float}
    return pd.DataFrame(rows, columns=[*types]).astype(types)


def _rates(measured: pd.DataFrame, thresholds: Sequence[float]) -> dict[str, Any]:
    """Return precision, recall and loss by threshold; null where the denominator is 0."""
    named = measured.loc[measured["has_name"], "probability"]
    clean = measured.loc[~measured["has_name"], "probability"]
    rows = []
    for threshold in thresholds:
        rejected, lost = int((named > threshold).sum()), int((clean > threshold).sum())
        row = {
            "threshold": threshold,
            "precision": _share(rejected, rejected + lost),
            "recall": _share(rejected, len(named)),
            "clean_lost": _share(lost, len(clean)),
        }
        rows.append(row)
    return {"sentences": len(measured), "with_name": len(named), "by_threshold": rows}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
