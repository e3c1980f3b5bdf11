"""The headline of SlguSet: the data set, and the bias direction of the models on it."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table
from evenhand.report.cells import reach
from evenhand.report.figures import SIGNED, axis, bars, estimated, forest
from evenhand.report.headline import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    Headline,
    Verdicts,
    by_kind,
    places,
    reasons,
    say,
    strength,
)
from evenhand.report.read import read_csv, read_json
from evenhand.report.render import signed
from evenhand.report.sections.bias import ENDS
from evenhand.report.sections.slguset import LEAST_ALPHA, judge
from evenhand.report.words import gate_meaning

FILES = {
    "corpus": "tables/corpus",
    "annotation": "tables/annotation",
    "statistics": "slguset/statistics.json",
    "bias": "tables/bias/slguset",
    "published_bias": "tables/bias/slguset_published",
    "published_table_1": "tables/sentences/slguset_published",
    "published_statistics": "slguset_published/statistics.json",
    "published_report": "slguset_published/report.json",
    "anchors": "published_bias.csv",
}
ANCHORS = {"model": str}

#: Zhao et al. 2021, of their 20,000 sentences.
SENTENCES, CHARACTERS = 20_000, 4_220

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

#: Models shown in the figure.
SHOWN = 8


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of SlguSet.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results; ``published_bias.csv`` of the pack is
        the table of published numbers in resources/.
    titles : mapping
        The sentences that each filter drops, by ``filters/name``.

    Raises
    ------
    InputError
        A file is none of these, or not well formed.
    """
    run = _Results(files)
    drawings = (
        (_leaning_figure(run.trusted), run.bias_tables),
        (_building_figure(run.steps, run.own), run.places("corpus/funnel", "statistics")),
        (_published_figure(run.published, titles), run.places("published_report")),
    )
    (figure, caption), drawn_from = next((one for one in drawings if one[0][0]), ((None, ""), ()))
    clear = [row for row in run.trusted if row["verdict"] in ("male", "female")]
    ends = [(row["mean_bias"], 0, row["mean_bias_low"], row["mean_bias_high"]) for row in clear]
    statements = _statements(run, clear)
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        short=judge(run.own, next(iter(run.agreement), None), explained=False) if run.built else "",
        more=statements[1:],
        next=_next(run),
        strength=max((strength(*some) for some in ends), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=drawn_from,
        verdicts=_verdicts(run),
        doubts=_doubts(run),
    )


class _Results:
    """The results of SlguSet that this run has, by the kinds of `FILES`."""

    def __init__(self, files: list[Path]) -> None:
        self._found = by_kind(files, FILES)
        self.steps = {row["step"]: row["sentences"] for row in self.rows("corpus", "funnel")}
        self.own = (self.document("statistics") or {}).get("sentences")
        self.published = self.document("published_report")
        self.agreement = where(self.rows("annotation", "agreement"), pair="all")
        self.built = any(map(self.path, ("corpus", "annotation", "statistics")))
        self.of_authors = not self.path("bias")
        self.models = self.rows("published_bias" if self.of_authors else "bias", "models")
        self.trusted = [
            row for row in self.models if row["trusted"] and row["mean_bias"] is not None
        ]
        self.bias_tables = self.places("bias/models") or self.places("published_bias/models")

    def path(self, kind: str) -> Path | None:
        return next(iter(self._found[kind]), None)

    def rows(self, kind: str, table: str) -> list[dict[str, Any]]:
        folder = self.path(kind)
        return read_table(folder / f"{table}.csv") if folder else []

    def document(self, kind: str) -> dict[str, Any] | None:
        path = self.path(kind)
        return read_json(path) if path else None

    def places(self, *kinds: str) -> tuple[str, ...]:
        return places(self._found, FILES, *kinds)


def _statements(run: _Results, clear: list[dict[str, Any]]) -> list[str]:
    steps_from = run.places("corpus/funnel", "statistics")
    read, accepted = run.steps.get("read"), run.steps.get("accepted")
    statements = [
        say(
            "slguset_built",
            steps_from,
            read=read,
            accepted=accepted,
            own=run.own,
            answered=next(iter(run.agreement), {}).get("n"),
        ),
        say("slguset_read", run.places("published_report"), published=run.published),
    ]
    if run.built:
        files = run.places("annotation/agreement") or steps_from
        overall = next(iter(run.agreement), None)
        statements.insert(0, judge(run.own, overall, files))
    if run.models:
        leaning = say(
            "slguset_leaning",
            run.bias_tables,
            models=run.models,
            trusted=run.trusted,
            male=len(where(clear, verdict="male")),
            female=len(where(clear, verdict="female")),
            most=max(clear, key=lambda row: abs(row["mean_bias"]), default=None),
            published=run.of_authors,
        )
        statements.insert(-1, leaning)
    return [words for words in statements if words]


def _next(run: _Results) -> str:
    """Recommend clearer criteria where annotators disagree, else more word pairs for a test."""
    for row in run.agreement:
        alpha = row["krippendorff_alpha"]
        if alpha is not None and alpha < LEAST_ALPHA:
            return say("slguset_clarify", run.places("annotation/agreement"), least=LEAST_ALPHA)
    lacking = [row["further_pairs"] for row in where(run.trusted, verdict="inconclusive")]
    if further := [n for n in lacking if n]:
        return say("slguset_more_pairs", run.bias_tables, further=min(further))
    return ""


def _leaning_figure(trusted: list[dict[str, Any]]) -> tuple[LayerChart | None, str]:
    if not trusted:
        return None, ""
    shown = trusted[:SHOWN]
    far = reach(shown, ENDS, least=0.1)
    drawing = forest(
        [
            estimated(
                row["model"],
                tuple(row[end] for end in ENDS),
                text=signed(row["mean_bias"]),
                words=say("mean_bias", row=row),
                kind=row["verdict"] if row["verdict"] in ("male", "female") else "unclear",
            )
            for row in shown
        ],
        axis("← female likelier · Mean Bias · male likelier →", (-far, far), **SIGNED),
        "Mean Bias of each model, with its interval",
        centre=0,
    )
    return drawing, say("slguset_lean_caption", shown=SHOWN, models=len(trusted))


def _building_figure(steps: Mapping[str, int], own: int | None) -> tuple[LayerChart | None, str]:
    numbers = [steps.get(step) for step in ("read", "keyword", "accepted")]
    if None in numbers or not numbers[0]:
        return None, ""
    names = ["Sentences read", "With a gender keyword", "Passed every filter"]
    if own is not None:
        names, numbers = [*names, "In the data set"], [*numbers, own]
    pairs = zip(names, numbers, strict=True)
    steps = [{"name": name, "amount": n, "kind": "kept"} for name, n in pairs]
    label = "From the corpus to the data set"
    figure = bars(steps, label, unit="Sentences", whole=numbers[0])
    return figure, say("slguset_steps_caption")


def _published_figure(
    published: Mapping[str, Any] | None, titles: Mapping[str, str]
) -> tuple[LayerChart | None, str]:
    """Draw the sentences of the published file that each filter alone drops."""
    whole = published["sentences"] if published else 0
    if not whole:
        return None, ""
    before = whole - published["keywords"].get("accepted", 0)
    dropped = published["dropped"].items()
    rows = [
        ("In the published file", whole, "rest"),
        *([("Dropped before the filters (find_keywords)", before, "lost")] if before else []),
        *((titles.get(f"filters/{name}", name), n, "lost") for name, n in dropped),
        ("Pass every filter", published["pass_every_filter"], "kept"),
    ]
    drawn = [{"name": name, "amount": n, "kind": kind} for name, n, kind in rows]
    label = "What each filter drops of the published file"
    figure = bars(drawn, label, unit="Sentences", whole=whole)
    return figure, say("slguset_published_caption")


def _verdicts(run: _Results) -> list[Verdicts]:
    statistics = run.document("published_statistics")
    theirs = statistics is not None and statistics["sentences"] == SENTENCES
    lines = []

    def add(name: str, held: list[bool], note: str, file: str) -> None:
        if held:
            lines.append(Verdicts(name, _counted(held, theirs), note, run.places(file)))

    rows = run.rows("published_table_1", "table_1")
    note = ""
    if statistics and not theirs:
        read = statistics["sentences"]
        note = say("slguset_other_file", sentences=read, authors=SENTENCES)
    same = [_same_counts(own) for own in grouped(rows, "pair").values()]
    add("Table 1: sentences per pair of masked words", same, note, "published_table_1/table_1")
    if statistics:
        right = statistics["distinct_characters"] == CHARACTERS
        add("Distinct characters", [right], "", "published_statistics")
    if run.published:
        dropped = run.published["dropped"].items()
        held = {
            words: not any(numbers)
            for begin, words in CLAIMS.items()
            if (numbers := [n for name, n in dropped if name.startswith(begin)])
        }
        name = f"What the paper says of its sentences ({', '.join(held)})"
        note = say("slguset_claims_note") if theirs else ""
        add(name, list(held.values()), note, "published_report")
    return [*lines, *_bias_verdicts(run)]


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


def _bias_verdicts(run: _Results) -> list[Verdicts]:
    """Judge the published counts of sentences by Bias, only on the authors' sentences."""
    path = run.path("anchors")
    anchors = {row["model"] for row in (read_csv(path, ANCHORS) if path else [])}
    held, judged = [], set()
    for row in run.rows("published_bias", "models"):
        if row["trusted"] and row["published_within"] is not None:
            judged.add(row["model"])
            held += [
                abs(row[f"{part}_threshold"] - row[f"published_{part}"])
                <= TOLERANCE * row["scored"]
                for part in PARTS
            ]
    counts = _counted(held, True) | {NOT_RUN: len(PARTS) * len(anchors - judged)}
    counts = {verdict: n for verdict, n in counts.items() if n}
    note = say("slguset_bias_note") if held else ""
    files = run.places("published_bias/models")
    return [Verdicts("Sentences by Bias", counts, note, files)] if counts else []


def _doubts(run: _Results) -> list[str]:
    doubts: list[str] = []
    if run.steps and run.own is None:
        doubts.append(say("slguset_waiting", run.places("corpus/funnel")))
    for row in where(run.models, trusted=False):
        why = [gate_meaning(word) for word in re.split(r"[,;]\s*", row["reason"] or "") if word]
        doubts.append(say("slguset_no_number", run.bias_tables, model=row["model"], why=why))
    quarantined: Counter[str] = Counter()
    for row in run.rows("corpus", "quarantine"):
        quarantined[row["reason"]] += row["parts"]
    if parts := quarantined.total():
        files, why = run.places("corpus/quarantine"), reasons(quarantined)
        doubts.append(say("slguset_quarantine", files, parts=parts, why=why))
    if run.published and (wrong := run.published["positions"]["wrong"]):
        whole, files = run.published["sentences"], run.places("published_report")
        doubts.append(say("slguset_positions", files, wrong=wrong, sentences=whole))
    return doubts
