"""The headline of SlguSet: the data set, and the bias direction of the models on it."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.core.rows import grouped, where
from evenhand.report.headline import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    Headline,
    Verdicts,
    say,
    strength,
)
from evenhand.report.sections.bias import ENDS
from evenhand.report.sections.slguset import AUTHORS, LEAST_ALPHA, judge
from evenhand.report.study import Study
from evenhand.report.words import codes, gate_meaning
from evenhand.slguset.tables.models import PUBLISHED

FILES = (
    "tables/corpus",
    "tables/annotation",
    "slguset/statistics.json",
    "tables/bias/*",
    "tables/sentences/slguset_published",
    "slguset_published/*.json",
    "published_bias.csv",
)
REPORT = "slguset_published/report.json"

Row = dict[str, Any]

#: An annotator with a smaller share of right answers, as estimated, is named.
LEAST_ACCURACY = 0.8

#: Zhao et al. 2021, of their sentences.
CHARACTERS = 4_220

#: A count of sentences by Bias is reproduced if it lies so near, as a share of the sentences: the
#: printed counts leave out ten.
TOLERANCE = 0.01

#: The counts of a model by Bias.
PARTS = ("within", "above", "below")

#: The paper's claims on its sentences: the filters that test them, and the words.
CLAIMS = {
    "names_": "no personal names",
    "pair_fit": "both words fit",
    "coreference": "no second gender term",
    "biology": "no biological sex",
}


def describe(study: Study) -> Headline:
    """Return the headline of SlguSet.

    The results include ``published_bias.csv`` of the pack, the table of published numbers.
    """
    statistics = study.document("slguset/statistics.json") or {}
    corpus = study.tables("tables/corpus")
    steps = {row["step"]: row["sentences"] for row in corpus.get("funnel", [])}
    sentences = statistics.get("sentences")
    annotation = study.tables("tables/annotation")
    agreement = next(iter(where(annotation.get("agreement", []), pair="all")), None)
    careless = [
        row
        for row in annotation.get("annotators", [])
        if row["accuracy"] is not None and row["accuracy"] < LEAST_ACCURACY
    ]
    annotators_from = study.places("tables/annotation/annotators.csv")
    built = any(map(study.path, FILES[:3]))
    published_file = study.document("slguset_published/statistics.json")
    authors = published_file is not None and published_file["sentences"] == AUTHORS
    edition = "slguset" if study.path("tables/bias/slguset") else "slguset_published"
    models = study.tables(f"tables/bias/{edition}").get("models", [])
    bias_files = study.places(f"tables/bias/{edition}/models.csv")
    trusted = [row for row in models if row["trusted"] and row["mean_bias"] is not None]
    significant = [row for row in trusted if row["verdict"] in ("male", "female")]
    steps_from = study.places("tables/corpus/funnel.csv", "slguset/statistics.json")
    usable_from = study.places("tables/annotation/agreement.csv") or steps_from
    published = study.document(REPORT)
    usable = judge(sentences, agreement, usable_from) if built else []
    statements = [
        *usable,
        say(
            "slguset_built",
            steps_from,
            read=steps.get("read"),
            accepted=steps.get("accepted"),
            sentences=sentences,
            answered=(agreement or {}).get("n"),
        ),
        say(
            "slguset_leaning",
            bias_files,
            models=models,
            trusted=trusted,
            significant=significant,
            most=max(significant, key=lambda row: abs(row["mean_bias"]), default=None),
            published=edition == "slguset_published",
            authors=authors,
        ),
        say("slguset_read", study.places(REPORT), published=published, authors=authors),
    ]
    statements = [statement for statement in statements if statement]
    parts = sum(row["parts"] for row in corpus.get("quarantine", []))
    unread = [say("slguset_quarantine", study.places("tables/corpus/quarantine.csv"), parts=parts)]
    left_out = unread if parts else []
    ends = [[row[end] for end in ENDS] for row in significant]
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        short=_short(sentences, agreement, statistics.get("pairs", [])) if built else "",
        more=statements[1:],
        next=_next(study, agreement, trusted, bias_files),
        strength=max((strength(value, 0, *rest) for value, *rest in ends), default=0.0),
        verdicts=[*_verdicts(study, published), *_bias_verdicts(study)],
        doubts=[
            *usable[:1],
            *([say("slguset_careless", annotators_from, rows=careless)] if careless else []),
            *_doubts(study, None if built else published, models, bias_files, authors=authors),
            *left_out,
        ],
        left_out=left_out,
    )


def _short(sentences: int | None, agreement: Row | None, pairs: Sequence[Row]) -> str:
    """State whether the data set can be used, and the number of sentences with each value."""
    values = [name for name in (*pairs, {})[0] if name in ("male", "female")]
    sums = [(value, sum(row[value] for row in pairs)) for value in values]
    facts = {"sentences": sentences, "row": agreement, "least": LEAST_ALPHA}
    return say("slguset_short", **facts, sums=sums)


def _next(
    study: Study, agreement: Row | None, trusted: list[Row], bias_files: Sequence[str]
) -> str:
    """Recommend clearer criteria where annotators disagree, else more word pairs for a test."""
    alpha = (agreement or {}).get("krippendorff_alpha")
    if alpha is not None and alpha < LEAST_ALPHA:
        return say("slguset_clarify", study.places("tables/annotation/agreement.csv"))
    lacking = [row["further_pairs"] for row in where(trusted, verdict="inconclusive")]
    further = min(filter(None, lacking), default=None)
    return say("slguset_more_pairs", bias_files, further=further) if further else ""


def _verdicts(study: Study, published: Mapping[str, Any] | None) -> list[Verdicts]:
    statistics = study.document("slguset_published/statistics.json")
    authors = statistics is not None and statistics["sentences"] == AUTHORS
    tables = {"pairs": "tables/sentences/slguset_published/table_1.csv", "claims": REPORT}
    tables["characters"] = "slguset_published/statistics.json"
    rows = study.tables("tables/sentences/slguset_published").get("table_1", [])
    held = {"pairs": [_same_counts(pairs) for pairs in grouped(rows, "pair").values()]}
    notes, claims = {"pairs": "", "characters": "", "claims": ""}, {}
    if statistics:
        held["characters"] = [statistics["distinct_characters"] == CHARACTERS]
        if not authors:
            read = statistics["sentences"]
            notes["pairs"] = say("slguset_other_file", sentences=read, authors=AUTHORS)
    if published:
        for start, claim in CLAIMS.items():
            dropped = [n for name, n in published["dropped"].items() if name.startswith(start)]
            claims |= {claim: not any(dropped)} if dropped else {}
        held["claims"] = list(claims.values())
        notes["claims"] = say("slguset_claims_note") if authors else ""
    facts = {"claims": {"claims": claims}}
    return [
        Verdicts(
            say(f"slguset_{name}", **facts.get(name, {})),
            _counted(verdicts, authors),
            notes[name],
            study.places(tables[name]),
        )
        for name, verdicts in held.items()
        if verdicts
    ]


def _counted(held: list[bool], judged: bool) -> dict[str, int]:
    if not judged:
        return {NOT_RUN: len(held)}
    counts = {REPRODUCED: sum(held), NOT_REPRODUCED: len(held) - sum(held)}
    return {verdict: n for verdict, n in counts.items() if n}


def _same_counts(rows: list[dict[str, Any]]) -> bool:
    """Return whether the rows of a pair have the published sums."""
    return all(
        None not in (known := [row[f"published_{side}"] for row in rows])
        and sum(known) == sum(row[side] for row in rows)
        for side in ("male", "female")
    )


def _bias_verdicts(study: Study) -> list[Verdicts]:
    """Judge the published counts of sentences by Bias, only on the authors' sentences."""
    path = study.path("published_bias.csv")
    models = {row["model"] for row in (read_resource(path, PUBLISHED) if path else [])}
    held = []
    for row in study.tables("tables/bias/slguset_published").get("models", []):
        if row["trusted"] and row["published_within"] is not None:
            models.discard(row["model"])
            held += [
                abs(row[f"{part}_threshold"] - row[f"published_{part}"])
                <= TOLERANCE * row["scored"]
                for part in PARTS
            ]
    counts = _counted(held, True)
    counts |= {NOT_RUN: len(PARTS) * len(models)} if models else {}
    note = say("slguset_bias_note") if held else ""
    files = study.places("tables/bias/slguset_published/models.csv")
    return [Verdicts(say("slguset_by_bias"), counts, note, files)] if counts else []


def _doubts(
    study: Study,
    published: Mapping[str, Any] | None,
    models: list[Row],
    bias_files: Sequence[str],
    *,
    authors: bool,
) -> list[str]:
    doubts = []
    for row in where(models, trusted=False):
        why = [gate_meaning(word) for word in codes(row["reason"])]
        doubts.append(say("slguset_no_number", bias_files, model=row["model"], why=why))
    if published and (wrong := published["positions"]["wrong"]):
        sentences, files = published["sentences"], study.places(REPORT)
        doubts.append(
            say("slguset_positions", files, wrong=wrong, sentences=sentences, authors=authors)
        )
    return doubts
