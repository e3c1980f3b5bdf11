"""The headline of SlguSet: the data set, and the bias direction of the models on it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from altair import LayerChart
from markupsafe import Markup

from evenhand.core.tables import read_table
from evenhand.report.figures import SIGNED, axis, bars, forest
from evenhand.report.headline import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    Headline,
    Verdicts,
    by_kind,
    name,
    places,
    reasons,
    sentence,
    strength,
    with_sources,
)
from evenhand.report.read import read_csv, read_json
from evenhand.report.render import count, decimal, plural, signed
from evenhand.report.sections.headline import LEAST_ALPHA
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
    table = one["bias"] or one["published_bias"]
    models = _rows(table, "models")
    trusted = [row for row in models if row["trusted"] and row["mean_bias"] is not None]
    built = _built(steps, own)
    leaning = _leaning(models, trusted)
    if table and not one["bias"]:
        leaning = sentence("{} This is on the authors’ sentences.", leaning)
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
    statements = [
        with_sources(words, files)
        for words, files in (
            (built, steps_from),
            (leaning if models else None, bias_tables),
            (_read(published), of("published_report")),
        )
        if words
    ]
    clear = [row for row in trusted if row["verdict"] in ("male", "female")]
    ends = [(row["mean_bias"], 0, row["mean_bias_low"], row["mean_bias_high"]) for row in clear]
    return Headline(
        sentence=statements[0] if statements else "Nothing was built yet.",
        more=statements[1:],
        next=_next(one, trusted, of, bias_tables),
        strength=max((strength(*some) for some in ends), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=drawn_from,
        verdicts=_verdicts(one, of),
        doubts=[
            *_doubts(one, models, steps, own, of),
            *(with_sources(words, of("published_report")) for words in _wrong_positions(published)),
        ],
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
            text = f"Clarify the criteria and annotate again: alpha is {decimal(alpha, 2)}, and"
            return with_sources(
                f"{text} {LEAST_ALPHA} is the least to go by.", of("annotation/agreement")
            )
    lacking = [row["further_pairs"] for row in trusted if row["verdict"] == "inconclusive"]
    if further := [n for n in lacking if n]:
        return with_sources(
            f"{plural(min(further), 'more pair')} of words would tell a lean.", bias_tables
        )
    return ""


def _built(steps: Mapping[str, int], own: int | None) -> str | None:
    read, accepted = steps.get("read"), steps.get("accepted")
    if read is None or accepted is None:
        return f"The data set has {plural(own, 'sentence')}." if own is not None else None
    text = f"Of {plural(read, 'sentence')} read, {count(accepted)} passed every filter"
    if own is None:
        return f"{text}; the annotators have not answered yet."
    return f"{text}; the {count(own)} that the annotators accepted make the data set."


def _read(published: Mapping[str, Any] | None) -> str | None:
    """Return the facts about the published file from its ``report.json``."""
    if published is None:
        return None
    kept, whole = published["pass_every_filter"], published["sentences"]
    return f"Of {plural(whole, 'sentence')} of the published file, {count(kept)} pass every filter."


def _wrong_positions(published: Mapping[str, Any] | None) -> list[str]:
    wrong = published["positions"]["wrong"] if published else 0
    if not wrong:
        return []
    whole = count(published["sentences"])
    return [f"{count(wrong)} of the {whole} keyword positions in the published file are wrong."]


def _leaning(models: list[dict[str, Any]], trusted: list[dict[str, Any]]) -> Markup:
    if not trusted:
        word = "No model was scored." if not models else "No model passed its check."
        return sentence("{} So there is no conclusion about bias.", word)
    if len(trusted) == 1:
        row = trusted[0]
        return sentence("{} {}: its mean Bias is {}.", name(row["model"]), _lean(row), _mean(row))
    groups = {
        verdict: [row for row in trusted if row["verdict"] == verdict]
        for verdict in ("male", "female")
    }
    clear = groups["male"] + groups["female"]
    if not clear:
        return sentence(
            "None of {} models leans significantly male or female.",
            len(trusted),
        )
    most = max(clear, key=lambda row: abs(row["mean_bias"]))
    return sentence(
        "Of {} models, {} lean{} male, {} female, and {} show{} no significant lean; {} leans most,"
        " with a mean Bias of {}.",
        len(trusted),
        len(groups["male"]),
        "s" if len(groups["male"]) == 1 else "",
        len(groups["female"]),
        len(trusted) - len(clear),
        "s" if len(trusted) - len(clear) == 1 else "",
        name(most["model"]),
        _mean(most),
    )


def _lean(row: Mapping[str, Any]) -> str:
    words = {"male": "leans male", "female": "leans female"}
    words["equivalent"] = "has no mean lean beyond delta (equivalence test; single words may lean)"
    return words.get(row["verdict"], "shows no significant lean, male or female")


def _mean(row: Mapping[str, Any]) -> str:
    if row["mean_bias_low"] is None or row["mean_bias_high"] is None:
        return f"{signed(row['mean_bias'])}, without an interval"
    low, high = signed(row["mean_bias_low"]), signed(row["mean_bias_high"])
    return f"{signed(row['mean_bias'])} (95 % interval {low} to {high})"


def _leaning_figure(trusted: list[dict[str, Any]]) -> tuple[LayerChart | None, str]:
    if not trusted:
        return None, ""
    shown = trusted[:SHOWN]
    ends = [row[end] for row in shown for end in ("mean_bias", "mean_bias_low", "mean_bias_high")
            if row[end] is not None]  # fmt: skip
    reach = max(0.1, *(abs(end) * 1.05 for end in ends))
    drawing = forest(
        [
            {
                "name": row["model"],
                "value": row["mean_bias"],
                "low": row["mean_bias_low"],
                "high": row["mean_bias_high"],
                "text": signed(row["mean_bias"]),
                "words": _mean(row),
                "kind": row["verdict"] if row["verdict"] in ("male", "female") else "unclear",
            }
            for row in shown
        ],
        axis("← female likelier · Mean Bias · male likelier →", (-reach, reach), **SIGNED),
        "Mean Bias of each model, with its interval",
        centre=0,
    )
    rest = f" The first {SHOWN} of {len(trusted)} models." if len(trusted) > SHOWN else ""
    return drawing, (
        "Mean Bias with its 95 % interval over pairs of words; a hollow dot: no significant lean."
        f"{rest}"
    )


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
    return figure, "From the corpus to the data set."


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
    return figure, (
        "The sentences of the published file, how many each filter drops, and how many none drops."
        " Each filter is applied by itself, so a sentence can count for several."
    )


def _verdicts(one: Mapping[str, Path | None], of: Callable[..., tuple[str, ...]]) -> list[Verdicts]:
    lines = []
    statistics = read_json(one["published_statistics"]) if one["published_statistics"] else None
    theirs = statistics is not None and statistics["sentences"] == SENTENCES
    note = ""
    if statistics and not theirs:
        note = (
            f"The file that was read has {plural(statistics['sentences'], 'sentence')} and is not"
            f" the authors’ ({count(SENTENCES)}), so nothing is judged."
        )
    if one["published_table_1"]:
        rows = _rows(one["published_table_1"], "table_1")
        pairs = dict.fromkeys(row["pair"] for row in rows)
        lines.append(
            Verdicts(
                "Table 1: sentences per pair of masked words",
                _counted([_same_counts(rows, pair) for pair in pairs], theirs),
                note,
                of("published_table_1/table_1"),
            )
        )
    if statistics:
        right = statistics["distinct_characters"] == CHARACTERS
        counts = _counted([right], theirs)
        lines.append(Verdicts("Distinct characters", counts, files=of("published_statistics")))
    if one["published_report"]:
        dropped = read_json(one["published_report"])["dropped"]
        rejections = {
            words: [n for name, n in dropped.items() if name.startswith(begin)]
            for begin, words in CLAIMS.items()
        }
        held = {words: not any(numbers) for words, numbers in rejections.items() if numbers}
        if held:
            lines.append(
                Verdicts(
                    f"What the paper says of its sentences ({', '.join(held)})",
                    _counted(list(held.values()), theirs),
                    "A claim fails if our filter finds one sentence against it; filters err."
                    if theirs
                    else "",
                    of("published_report"),
                )
            )
    line = _bias_verdicts(one, of("published_bias/models"))
    return [*lines, line] if line else lines


def _counted(held: list[bool], judged: bool) -> dict[str, int]:
    if not judged:
        return {NOT_RUN: len(held)}
    counts = {REPRODUCED: sum(held), NOT_REPRODUCED: len(held) - sum(held)}
    return {verdict: n for verdict, n in counts.items() if n}


def _same_counts(rows: list[dict[str, Any]], pair: str) -> bool:
    own = [row for row in rows if row["pair"] == pair]
    return all(
        None not in (known := [row[f"published_{side}"] for row in own])
        and sum(known) == sum(row[side] for row in own)
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
        "A count is reproduced if it lies within 1 % of the sentences." if held else "",
        files,
    )


def _doubts(
    one: Mapping[str, Path | None],
    models: list[dict[str, Any]],
    steps: Mapping[str, int],
    own: int | None,
    of: Callable[..., tuple[str, ...]],
) -> list[str]:
    doubts: list[str] = []
    if steps and own is None:
        text = "There is no data set yet: the annotators’ sheets are still out."
        doubts.append(with_sources(text, of("corpus/funnel")))
    for row in models:
        if not row["trusted"]:
            words = re.split(r"[,;]\s*", row["reason"] or "")
            why = [gate_meaning(word) for word in words if word]
            text = (
                sentence("{} gets no number. {}", name(row["model"]), " ".join(why))
                if why
                else sentence("{} gets no number: it did not pass its check.", name(row["model"]))
            )
            doubts.append(with_sources(text, of("bias/models") or of("published_bias/models")))
    quarantined: Counter[str] = Counter()
    for row in _rows(one["corpus"], "quarantine"):
        quarantined[row["reason"]] += row["parts"]
    if things := sum(quarantined.values()):
        text = sentence(
            "{} of the corpus could not be read and {} in the quarantine: {}.",
            plural(things, "part"),
            "is" if things == 1 else "are",
            reasons(quarantined),
        )
        doubts.append(with_sources(text, of("corpus/quarantine")))
    for row in _rows(one["annotation"], "agreement"):
        alpha = row["krippendorff_alpha"]
        if row["pair"] == "all" and alpha is not None and alpha < LEAST_ALPHA:
            text = (
                f"The annotators agree too little for firm conclusions: Krippendorff’s alpha is"
                f" {decimal(alpha, 2)} over {plural(row['n'], 'sentence')}."
            )
            doubts.append(with_sources(text, of("annotation/agreement")))
    return doubts
