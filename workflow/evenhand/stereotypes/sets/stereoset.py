"""StereoSet (Nadeem, Bethke and Reddy, ACL 2021), in its common layouts.

- the authors' dev.json: ``data.intrasentence`` and ``data.intersentence``, lists of clusters
  ``{id, target, bias_type, context, sentences: [{id, sentence, gold_label, labels}]}``, of which
  some ids and labels may be missing;
- a bare list of such clusters: those whose context contains BLANK are intrasentence;
- three lists `stereotype`, `anti-stereotype` and `unrelated` of
  ``{id, target, bias_type, context, sentence}``, joined by id.

Sentences are identified by their gold label, never by their position in the cluster.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.io.json_text import load
from evenhand.stereotypes.pairs import Form, pair_row

PARTS = ("intrasentence", "intersentence")

#: The gold labels, and the corresponding sides of a pair.
LABELS = {"stereotype": "more", "anti-stereotype": "less", "unrelated": "unrelated"}

#: The annotators' labels for biased sentences, in either direction.
BIASED = ("stereotype", "anti-stereotype")


def form(part: str | None) -> Form:
    """Return the properties of the set, with flags for edits of intrasentence clusters only.

    Sentences of an intersentence cluster share no words.
    """
    if part not in PARTS:
        problem = f"StereoSet has no part {part!r}" if part else "StereoSet has two parts"
        raise InputError(problem, remedy=f"choose the part {' or '.join(PARTS)}")
    flags = ("unequal_length", "low_agreement", "duplicate")
    if part == "intrasentence":
        flags += ("several_edits", "insertion_only")
    return Form(f"StereoSet, {part}", "stereotype", "anti-stereotype", flags)


def read(file: Path, part: str | None) -> Iterator[dict[str, Any]]:
    """Yield the clusters of one part as pairs with an unrelated sentence.

    Parameters
    ----------
    file : Path
        A JSON file in one of the layouts above, UTF-8, gzip-compressed if it ends in .gz.
    part : str
        ``intrasentence`` or ``intersentence``.

    Yields
    ------
    dict
        Rows of `PAIRS`. `cluster` is the target term. `context` is the preceding sentence in the
        intersentence part, null in the intrasentence part, whose sentences are complete. If the
        stereotype sentence has labels, `annotators` is their number, `agreement` the number of
        labels stereotype, `agreement_any` the number of labels stereotype or anti-stereotype.
        `source_position` counts the clusters of the part.

    Raises
    ------
    InputError
        The file is not such a JSON file or lacks the part; or a cluster, which is named, lacks a
        key or one of the three gold labels, or has a label twice.
    """
    form(part)
    for number, cluster in enumerate(read_clusters(file, part), start=1):
        sentences = sentences_by_label(cluster, file)
        votes = _votes(sentences["stereotype"], file, cluster)
        bias_type = _text(cluster, "bias_type", file, cluster)
        if bias_type == "all":  # the tables use this name for all bias types together
            raise _broken("has the bias_type 'all', which is none", file, cluster)
        yield pair_row(
            pair_id=_text(cluster, "id", file, cluster),
            bias_type=bias_type,
            cluster=_text(cluster, "target", file, cluster),
            context=_text(cluster, "context", file, cluster) if part == "intersentence" else None,
            **{
                LABELS[label]: _text(sentence, "sentence", file, cluster, blank=True)
                for label, sentence in sentences.items()
            },
            annotators=len(votes) or None,
            agreement=votes.count("stereotype") if votes else None,
            agreement_any=sum(vote in BIASED for vote in votes) if votes else None,
            source_position=number,
        )


def read_clusters(file: Path, part: str) -> list[dict[str, Any]]:
    """Return the clusters of a part in the authors' layout, in the order of the file."""
    document = read_json(file)
    if isinstance(document, dict) and isinstance(document.get("data"), dict):
        clusters = document["data"].get(part, [])
    elif isinstance(document, dict) and set(LABELS) <= document.keys():
        clusters = _of_part(_joined(document, file), part)
    elif isinstance(document, list) and all(isinstance(cluster, dict) for cluster in document):
        clusters = _of_part(document, part)
    else:
        problem = "has no layout of StereoSet"
        raise InputError(problem, file=file, remedy="give it the layout of dev.json")
    if not isinstance(clusters, list) or not all(isinstance(cluster, dict) for cluster in clusters):
        raise InputError(f"its {part} is no list of clusters", file=file)
    if not clusters:
        raise InputError(f"holds no {part} cluster", file=file)
    return clusters


def sentences_by_label(cluster: dict[str, Any], file: Path) -> dict[str, dict[str, Any]]:
    """Return the three sentences of a cluster by gold label, in the order of `LABELS`."""
    sentences = cluster.get("sentences")
    if not isinstance(sentences, list) or not all(
        isinstance(sentence, dict) for sentence in sentences
    ):
        raise _broken("has no list of sentences", file, cluster)
    labels = [str(sentence.get("gold_label")) for sentence in sentences]
    for label in LABELS:
        if labels.count(label) != 1:
            count = labels.count(label) or "no"
            raise _broken(f"has {count} sentences with the gold label {label}", file, cluster)
    if unknown := [label for label in labels if label not in LABELS]:
        raise _broken(f"has a sentence with the gold label {unknown[0]!r}", file, cluster)
    return {label: sentences[labels.index(label)] for label in LABELS}


def read_json(file: Path) -> Any:
    """Read a JSON document, UTF-8 with or without byte-order mark, gzip-compressed or not."""
    text = read_text(file)
    try:
        return load(text)
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON ({error.msg})", file=file, line=error.lineno) from error
    except ValueError as error:
        raise InputError(f"is no JSON that is read ({error})", file=file) from error


def _joined(document: dict[str, Any], file: Path) -> Iterator[dict[str, Any]]:
    """Yield the clusters of three lists, joined by id, in the order of the stereotypes."""
    by_id: dict[str, dict[Any, dict[str, Any]]] = {}
    for label in LABELS:
        records = document[label]
        if not isinstance(records, list) or not all(
            isinstance(stereotype, dict) for stereotype in records
        ):
            raise InputError(f"its {label} is no list of records", file=file)
        by_id[label] = {}
        for record in records:
            if by_id[label].setdefault(_text(record, "id", file, record), record) is not record:
                raise _broken(f"stands twice among the {label} sentences", file, record)
    for stereotype in by_id["stereotype"].values():
        shared = {key: stereotype.get(key) for key in ("id", "target", "bias_type", "context")}
        sentences = []
        for label, records in by_id.items():
            record = records.get(_text(stereotype, "id", file, stereotype))
            if record is None or shared != {key: record.get(key) for key in shared}:
                raise _broken(
                    f"has no {label} sentence with its target and context", file, stereotype
                )
            sentences.append(record | {"gold_label": label})
        yield shared | {"sentences": sentences}
    for label, records in by_id.items():
        for name, record in records.items():
            if name not in by_id["stereotype"]:
                raise _broken(f"has no stereotype sentence beside its {label} one", file, record)


def _of_part(clusters: Iterable[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    has_blank = part == "intrasentence"
    return [
        cluster for cluster in clusters if ("BLANK" in str(cluster.get("context"))) == has_blank
    ]


def _votes(sentence: dict[str, Any], file: Path, cluster: dict[str, Any]) -> list[str]:
    """Return the annotators' labels of a sentence."""
    labels = sentence.get("labels") or []
    if not isinstance(labels, list) or not all(
        isinstance(vote, dict) and isinstance(vote.get("label"), str) for vote in labels
    ):
        raise _broken("has labels that are no list of {label, human_id}", file, cluster)
    return [vote["label"] for vote in labels]


def _text(
    record: dict[str, Any], key: str, file: Path, cluster: dict[str, Any], *, blank: bool = False
) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not (blank or value.strip()):
        raise _broken(f"has no {key}", file, cluster)
    return value.strip()


def _broken(problem: str, file: Path, cluster: dict[str, Any]) -> InputError:
    return InputError(f"the cluster {cluster.get('id')!r} {problem}", file=file)
