"""Check our LMS, SS and ICAT on the StereoSet authors' own sentence scores.

The authors released the scores of each of their systems for each sentence of the development set,
and the results of their evaluation, which we must reproduce from these scores.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.numbers import or_nan
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Table, percent, text, write_tables
from evenhand.errors import InputError
from evenhand.metrics.stereoset import macro_scores, score_terms
from evenhand.stereotypes.sets.stereoset import PARTS, read_clusters, read_json, sentences_by_label

#: The parts to check; `overall` has the clusters of both parts, and their target terms.
CHECKED = (*PARTS, "overall")

METRICS = ("lms", "ss", "icat")

#: Columns of the table of published numbers.
PUBLISHED = ["file", "system", "part", *METRICS, "source"]

VERDICT = (
    "reproduced: equal at the published decimals; differs; not_published; not_scored: a sentence "
    "of the part has no finite score; not_given: no file with the scores of this system"
)

TABLE = Table(
    "stereoset",
    title="StereoSet from the authors' own sentence scores",
    key=("system", "part"),
    columns=(
        text("system"),
        text("part", "intrasentence, intersentence or overall"),
        *(percent(metric, f"{metric.upper()} computed from the scores") for metric in METRICS),
        *(percent(f"published_{metric}") for metric in METRICS),
        text("verdict", VERDICT),
        text("reason", "The numbers that differ, or what is missing"),
    ),
    source="Nadeem et al. 2021, table 5",
)


def check_released(
    *, gold: Input, scores: list[Input], published: Input, out: Output
) -> dict[str, Any]:
    """Compute LMS, SS and ICAT from released sentence scores, and compare with the published ones.

    Parameters
    ----------
    gold : Path
        StereoSet in the layout of dev.json (JSON, may be gzip-compressed); only ids, targets and
        gold labels are read, not texts.
    scores : list of Path
        A file per system (JSON, may be gzip-compressed): per part a list of ``{id, score}``, with
        higher scores for likelier sentences.
    published : Path
        The table resources/stereotypes/published_stereoset.csv: file (the name of the scores'
        file up to .json, without ``predictions_``), system, part (intrasentence, intersentence or
        overall), lms, ss, icat, source.
    out : Path
        The folder of the table ``stereoset``: systems in the order of `published`, then others by
        name, three parts each.

    Raises
    ------
    InputError
        A file is broken, two belong to one system, or a sentence is scored twice.
    """
    clusters = {part: _gold(gold, part) for part in PARTS}
    table = _published(published)
    scores_by_system: dict[str, dict[str, dict[str, float]]] = {}
    for file in scores:
        head = file.name.partition(".json")[0].removeprefix("predictions_")
        if head in scores_by_system:
            raise InputError(f"is a second file of scores of {head}", file=file)
        scores_by_system[head] = _scores(file)
    names = {head: row["system"] for (head, _), row in table.items()}
    rows = [
        {"system": names.get(head, head), "part": part}
        | _check(part, clusters, scores_by_system.get(head), table.get((head, part)))
        for head in [*names, *sorted(scores_by_system.keys() - names.keys())]
        for part in CHECKED
    ]
    write_tables(out, [(TABLE, rows)])
    verdicts = [row["verdict"] for row in rows]
    return {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}


def _check(
    part: str,
    clusters: dict[str, list[tuple[str, list[str]]]],
    scores: dict[str, dict[str, float]] | None,
    published: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the row of one system and part, without their names."""
    known = {f"published_{metric}": published and float(published[metric]) for metric in METRICS}
    row = dict.fromkeys(METRICS) | known
    if scores is None:
        return row | {"verdict": "not_given", "reason": "the scores of this system are not here"}
    parts = PARTS if part == "overall" else (part,)
    chosen = [(scores[name], cluster) for name in parts for cluster in clusters[name]]
    terms = [term for _, (term, _) in chosen]
    rows = [[by_id.get(name, math.nan) for name in ids] for by_id, (_, ids) in chosen]
    values = np.array(rows, dtype=np.float64).T
    if missing := int((~np.isfinite(values)).sum()):
        reason = f"{missing} of {values.size} sentences have no finite score"
        return row | {"verdict": "not_scored", "reason": reason}
    per_term = score_terms(*values, terms)
    computed = macro_scores(per_term.lms, per_term.ss)._asdict()
    row |= {metric: float(value) for metric, value in computed.items()}
    if published is None:
        return row | {"verdict": "not_published", "reason": "the table has no numbers for it"}
    other = [m for m in METRICS if not _rounds_to(row[m], published[m])]
    if other:
        named = ", ".join(
            f"{metric} by {row[metric] - float(published[metric]):+.6f}" for metric in other
        )
        return row | {"verdict": "differs", "reason": named}
    return row | {"verdict": "reproduced", "reason": None}


def _rounds_to(value: float, published: str) -> bool:
    """Return whether a number equals the published one at its number of decimals."""
    decimals = len(published.partition(".")[2])
    return abs(value - float(published)) <= 0.5 * 10**-decimals + 1e-9


def _gold(file: Path, part: str) -> list[tuple[str, list[str]]]:
    """Return each cluster's target term and its sentence ids in the order of `LABELS`."""
    result = []
    for cluster in read_clusters(file, part):
        names = [sentence.get("id") for sentence in sentences_by_label(cluster, file).values()]
        target = cluster.get("target")
        if not isinstance(target, str) or not all(isinstance(name, str) for name in names):
            problem = f"the cluster {cluster.get('id')!r} lacks its target or the id of a sentence"
            raise InputError(problem, file=file)
        result.append((target, names))
    return result


def _scores(file: Path) -> dict[str, dict[str, float]]:
    """Return the score of each sentence id by part; empty for parts not in the file."""
    document = read_json(file)
    if not isinstance(document, dict) or not document.keys() & set(PARTS):
        raise InputError("holds no scores of StereoSet by part", file=file)
    result: dict[str, dict[str, float]] = {}
    for part in PARTS:
        result[part] = {}
        for number, record in enumerate(document.get(part) or [], start=1):
            try:
                name, score = record["id"], float(record["score"])
            except (TypeError, KeyError, ValueError) as error:
                problem = f"record {number} of {part} has no id and score"
                raise InputError(problem, file=file) from error
            if name in result[part]:
                raise InputError(f"scores the {part} sentence {name!r} twice", file=file)
            result[part][name] = score
    return result


def _published(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the table's rows by file name and part, in the table's order."""

    def checked(row: dict[str, str]) -> dict[str, str]:
        if wrong := [row[metric] for metric in METRICS if not math.isfinite(or_nan(row[metric]))]:
            raise InputError(f"{wrong[0]!r} is no number")
        return row

    unique, choices = ("file", "part"), {"part": CHECKED}
    rows = read_resource(file, PUBLISHED, unique=unique, choices=choices, make=checked)
    return {(row["file"], row["part"]): row for row in rows}
