"""The name filters of SlguSet on sentences with and without a planted name."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.certificates.study import Finding, Study
from evenhand.core.families import declared, member_names
from evenhand.core.tables import Row, Table, integer, percent, text
from evenhand.errors import InputError
from evenhand.slguset.apply_filters import prepare_filter
from evenhand.slguset.names import COLUMNS
from evenhand.slguset.train_names_crf import train_names_crf

TABLE = Table(
    "name_filters",
    title="Sentences that the name filters reject, by planted name",
    key=("method", "planted"),
    columns=(
        text("method", "The filter"),
        text("planted", "What was planted: a kind of name, or none: an ordinary word"),
        integer("sentences"),
        integer("rejected"),
        percent("share", "Sentences rejected; of none, the clean sentences lost"),
        text("reason", "Why the filter was not run"),
    ),
)

#: Requirements for a certified filter, in per cent: the least share of sentences with each kind of
#: name that it rejects, and the largest share of clean sentences that it rejects.
LEAST_FOUND, MOST_LOST = 90, 5

NONE = "none"

#: The keywords of the planted sentences.
KEYWORD = re.compile("爸爸|妈妈|爷爷|姐姐|叔叔|妹妹")

SETTINGS = {
    **{"anonymised": "drop", "surname_title": "drop", "familiar": "drop"},
    **{"threshold": None, "pipeline": "zh_core_web_sm"},
}


def planted_names(resources: Path) -> list[tuple[str, str]]:
    """Return sentences with the kind of name in each: every word in every frame."""
    words = json.loads((resources / "planted/names.json").read_text(encoding="utf-8"))
    return [
        (kind, frame.format(name=name))
        for kind, names in words["names"].items()
        for name in names
        for frame in words["frames"]
    ]


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per name filter and kind of planted name."""
    planted = planted_names(study.resources)
    with tempfile.TemporaryDirectory() as folder:
        files = _files(study.resources, Path(folder))
        for module in member_names("evenhand.slguset.filters"):
            if declared(module, "COLUMNS") != COLUMNS:
                continue  # it reads other columns than the planted sentences have
            name = module.rpartition(".")[2]
            try:
                _, judge = prepare_filter(name, files, SETTINGS)
            except InputError as error:  # a pipeline that is not installed
                yield {"method": name, "planted": NONE, "reason": error.problem}
                continue
            verdicts = judge(*zip(*(_row(sentence) for _, sentence in planted), strict=True))
            yield from _count(name, planted, verdicts)


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield the share of sentences that each filter rejects, by kind of name."""
    for row in measured:
        if row.get("share") is None:
            yield Finding(row["method"], f"not run: {row['reason']}", None)
        elif row["planted"] == NONE:
            lost = "clean sentences lost, in per cent"
            yield Finding(row["method"], lost, row["share"], most=MOST_LOST)
        else:
            recall = f"sentences with {row['planted']} found, in per cent"
            yield Finding(row["method"], recall, row["share"], least=LEAST_FOUND)


def _count(name: str, planted: list[tuple[str, str]], verdicts: Any) -> Iterator[Row]:
    rejected = [verdict is not None for verdict in verdicts]
    for kind in dict.fromkeys(kind for kind, _ in planted):
        of_kind = [
            is_rejected
            for is_rejected, (other, _) in zip(rejected, planted, strict=True)
            if other == kind
        ]
        share = 100 * sum(of_kind) / len(of_kind)
        yield {
            **{"method": name, "planted": kind, "sentences": len(of_kind)},
            **{"rejected": sum(of_kind), "share": share},
        }


def _row(sentence: str) -> tuple[str, int, int]:
    """Return a sentence and the span of its keyword, the inputs of name filters."""
    return (sentence, *KEYWORD.search(sentence).span())


def _files(resources: Path, folder: Path) -> Mapping[str, Path]:
    """Return the files of the filters; the CRF is trained on the tagged sentences of the demo."""
    tagged = resources / "demo/tagged"
    model, report = folder / "crf.crfsuite", folder / "crf.json"
    train_names_crf(
        corpora=[tagged / "people.txt", tagged / "names.jsonl"],
        formats=["pku", "cluener"],
        keywords=resources / "packs/zh_gender/keywords.csv",
        model=model,
        report=report,
        recall=0.85,
    )
    files = [*(resources / "packs/zh_gender").glob("*.csv"), model, report]
    return {path.name: path for path in files}
