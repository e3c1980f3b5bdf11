"""The headline of SlguSet: the data set, and the bias direction of the models on it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from evenhand.report.sections.headline import LEAST_ALPHA, judge
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
ANCHORS = {"model": str, "sentences": int}

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
    found = by_kind(files, FILES)
    one = {kind: paths[0] if paths else None for kind, paths in found.items()}
    steps = {r["step"]: r["sentences"] for r in _rows(one["corpus"], "funnel")}
    own = read_json(one["statistics"])["sentences"] if one["statistics"] else None
    agreement = _rows(one["annotation"], "agreement")
    models = _rows(one["bias"] or one["published_bias"], "models")
    trusted = [row for row in models if row["trusted"] and row["mean_bias"] is not None]
    published = read_json(one["published_report"]) if one["published_report"] else None
    of = partial(places, found, FILES)
    bias_tables = of("bias/models") or of("published_bias/models")
    steps_from = of("corpus/funnel", "statistics")
    drawings = (
        (_leaning_figure(trusted), bias_tables),
        (_building_figure(steps, own), steps_from),
        (_published_figure(published, titles), of("published_report")),
    )
    (figure, caption), drawn_from = next((one for one in drawings if one[0][0]), ((None, ""), ()))
    overall = next((row for row in agreement if row["pair"] == "all"), None)
    built = one["corpus"] or one["annotation"] or one["statistics"]
    statements = [
        judge(own, overall, of("annotation/agreement") or steps_from) if built else "",
        say(
            "slguset_built",
            steps_from,
            read=steps.get("read"),
            accepted=steps.get("accepted"),
            own=own,
        ),
        _leaning(models, trusted, bias_tables, published=not one["bias"]) if models else "",
        say("slguset_read", of("published_report"), published=published),
    ]
    statements = [words for words in statements if words]
    clear = [row for row in trusted if row["verdict"] in ("male", "female")]
    ends = [(row["mean_bias"], 0, row["mean_bias_low"], row["mean_bias_high"]) for row in clear]
    return Headline(
        sentence=statements[0] if statements else say("nothing"),
        more=statements[1:],
        next=_next(one, trusted, of, bias_tables),
        strength=max((strength(*some) for some in ends), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=drawn_from,
        verdicts=_verdicts(one, of),
        doubts=_doubts(one, models, steps, own, published, of),
    )


def _rows(folder: Path | None, name: str) -> list[dict[str, Any]]:
    return read_table(folder / f"{name}.csv") if folder else []


def _next(
    one: Mapping[str, Path | None],
    trusted: list[dict[str, Any]],
    of: Callable[..., tuple[str, ...]],
    bias_tables: tuple[str, ...],
) -> str:
    """Recommend clearer criteria where annotators disagree, else more word pairs for a test."""
    for row in _rows(one["annotation"], "agreement"):
        alpha = row["krippendorff_alpha"]
        if row["pair"] == "all" and alpha is not None and alpha < LEAST_ALPHA:
            return say("slguset_clarify", of("annotation/agreement"), least=LEAST_ALPHA)
    lacking = [row["further_pairs"] for row in trusted if row["verdict"] == "inconclusive"]
    if further := [n for n in lacking if n]:
        return say("slguset_more_pairs", bias_tables, further=min(further))
    return ""


def _leaning(
    models: list[dict[str, Any]],
    trusted: list[dict[str, Any]],
    files: Sequence[str],
    *,
    published: bool,
) -> str:
    male, female = (where(trusted, verdict=verdict) for verdict in ("male", "female"))
    return say(
        "slguset_leaning",
        files,
        models=models,
        trusted=trusted,
        male=len(male),
        female=len(female),
        most=max(male + female, key=lambda row: abs(row["mean_bias"]), default=None),
        published=published,
    )


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
    steps = [
        {"name": name, "amount": n, "kind": "kept"} for name, n in zip(names, numbers, strict=True)
    ]
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
    rows = [("In the published file", whole, "rest")]
    if before := whole - published["keywords"].get("accepted", 0):
        rows.append(("Dropped before the filters (find_keywords)", before, "lost"))
    rows += [
        (titles.get(f"filters/{name}", name), n, "lost") for name, n in published["dropped"].items()
    ]
    rows.append(("Pass every filter", published["pass_every_filter"], "kept"))
    drawn = [{"name": name, "amount": n, "kind": kind} for name, n, kind in rows]
    figure = bars(
        drawn, "What each filter drops of the published file", unit="Sentences", whole=whole
    )
    return figure, say("slguset_published_caption")


def _verdicts(one: Mapping[str, Path | None], of: Callable[..., tuple[str, ...]]) -> list[Verdicts]:
    statistics = read_json(one["published_statistics"]) if one["published_statistics"] else None
    theirs = statistics is not None and statistics["sentences"] == SENTENCES
    lines = []

    def add(name: str, held: list[bool], note: str, file: str) -> None:
        if held:
            lines.append(Verdicts(name, _counted(held, theirs), note, of(file)))

    if one["published_table_1"]:
        rows = _rows(one["published_table_1"], "table_1")
        same = [_same_counts(own) for own in grouped(rows, "pair").values()]
        note = ""
        if statistics and not theirs:
            read = statistics["sentences"]
            note = say("slguset_other_file", sentences=read, authors=SENTENCES)
        name = "Table 1: sentences per pair of masked words"
        add(name, same, note, "published_table_1/table_1")
    if statistics:
        right = statistics["distinct_characters"] == CHARACTERS
        add("Distinct characters", [right], "", "published_statistics")
    if one["published_report"]:
        dropped = read_json(one["published_report"])["dropped"]
        rejections = {
            words: [n for name, n in dropped.items() if name.startswith(begin)]
            for begin, words in CLAIMS.items()
        }
        held = {words: not any(numbers) for words, numbers in rejections.items() if numbers}
        name = f"What the paper says of its sentences ({', '.join(held)})"
        note = say("slguset_claims_note") if theirs else ""
        add(name, list(held.values()), note, "published_report")
    line = _bias_verdicts(one, of("published_bias/models"))
    return [*lines, line] if line else lines


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


def _bias_verdicts(one: Mapping[str, Path | None], files: tuple[str, ...]) -> Verdicts | None:
    """Judge the published counts of sentences by Bias, only on the authors' sentences."""
    anchors = {
        row["model"]: row["sentences"]
        for row in (read_csv(one["anchors"], ANCHORS) if one["anchors"] else [])
    }
    held, judged = [], set()
    for row in _rows(one["published_bias"], "models"):
        if row["trusted"] and row["published_within"] is not None:
            judged.add(row["model"])
            held += [
                abs(row[f"{part}_threshold"] - row[f"published_{part}"])
                <= TOLERANCE * row["scored"]
                for part in PARTS
            ]
    counts = _counted(held, True) | {NOT_RUN: len(PARTS) * len(anchors.keys() - judged)}
    if not any(counts.values()):
        return None
    return Verdicts(
        "Sentences by Bias",
        {verdict: n for verdict, n in counts.items() if n},
        say("slguset_bias_note") if held else "",
        files,
    )


def _doubts(
    one: Mapping[str, Path | None],
    models: list[dict[str, Any]],
    steps: Mapping[str, int],
    own: int | None,
    published: Mapping[str, Any] | None,
    of: Callable[..., tuple[str, ...]],
) -> list[str]:
    doubts: list[str] = []
    if steps and own is None:
        doubts.append(say("slguset_waiting", of("corpus/funnel")))
    for row in models:
        if not row["trusted"]:
            why = [gate_meaning(word) for word in re.split(r"[,;]\s*", row["reason"] or "") if word]
            files = of("bias/models") or of("published_bias/models")
            doubts.append(say("slguset_no_number", files, model=row["model"], why=why))
    quarantined: Counter[str] = Counter()
    for row in _rows(one["corpus"], "quarantine"):
        quarantined[row["reason"]] += row["parts"]
    if parts := quarantined.total():
        files, why = of("corpus/quarantine"), reasons(quarantined)
        doubts.append(say("slguset_quarantine", files, parts=parts, why=why))
    if published and (wrong := published["positions"]["wrong"]):
        whole, files = published["sentences"], of("published_report")
        doubts.append(say("slguset_positions", files, wrong=wrong, sentences=whole))
    return doubts
