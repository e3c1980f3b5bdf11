"""The headline of the legal cases: whether groups are served alike, beyond chance."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.report.figures import Estimate, Step, estimates, waterfall
from evenhand.report.headline import (
    NOT_RUN,
    Headline,
    Verdicts,
    by_kind,
    listed,
    name,
    places,
    reasons,
    sentence,
    tally,
    told,
)
from evenhand.report.read import read_csv, read_json
from evenhand.report.render import count, decimal, plural
from evenhand.report.vega import Side, Spec

FILES = {
    "counts": "legal/*/records/*.counts.json",
    "sizes": "tables/legal_*_sizes.csv",
    "cross": "tables/legal_*_cross.csv",
    "table_4": "tables/legal_*_table_4.csv",
    "claims": "tables/legal_*_claims.csv",
    "tests": "tables/legal_*_tests.csv",
}
SIZES = {"quantity": str, "item": str, "ours": str, "verdict": str}
TABLE_4 = {
    "attribute": str,
    "classifier": str,
    "objective": str,
    "measure": str,
    "ours": float,
    "low": float,
    "high": float,
    "noise_border": float,
    "p_labels": float,
    "noise_verdict": str,
    "verdict": str,
}
TESTS = {"measure": str, "difference": float, "verdict": str, "p_cases_adjusted": float}
VERDICT = {"verdict": str}

#: The lines of verdicts: what they are about.
LINES = {
    "sizes": "Sizes of the data sets",
    "cross": "Shares of one attribute within another",
    "table_4": "Table 4: scores",
    "claims": "Claims of the text",
}

#: What is compared with plain training.
MEASURES = {
    "overall": "score over all cases",
    "mean": "mean over groups",
    "worst": "worst group",
    "gd": "gap",
}

#: What a comparison with plain training says, by measure and verdict.
SHOWN_WORDS = {
    ("gd", "lower"): "narrowing the gap",
    ("gd", "higher"): "widening the gap",
    ("worst", "higher"): "lifting the worst group",
    ("worst", "lower"): "lowering the worst group",
    ("mean", "higher"): "raising the mean over groups",
    ("mean", "lower"): "lowering the mean over groups",
    ("overall", "higher"): "raising the score over all cases",
    ("overall", "lower"): "lowering the score over all cases",
}

#: A p-value below which a gap is no chance.
CHANCE = 0.05

#: Rows of the figure.
SHOWN = 8


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """The headline of the legal cases.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        The titles of the data sets by name, and of attributes by ``data_set/attribute``; what has
        none stands under its name.

    Raises
    ------
    InputError
        A file is none of these, or not well formed.
    """
    found = by_kind(files, FILES)
    cases = {_dataset(path): _cases(path) for path in found["sizes"]}
    gaps = [
        row
        | {
            "dataset": titles.get(_dataset(path), _dataset(path)),
            "called": titles.get(
                f"{_dataset(path)}/{row['attribute']}", row["attribute"].replace("_", " ")
            ),
        }
        for path in found["table_4"]
        for row in read_csv(path, TABLE_4)
        if row["objective"] == "erm" and row["measure"] == "gd" and row["ours"] is not None
    ]
    built = _built(cases, titles)
    of = partial(places, found, FILES)
    said = [(built, of("sizes"))]
    if gaps:
        said = [(_gaps(gaps), of("table_4")), (_tests(found["tests"]), of("tests")), *said]
    words = [told(text, files) for text, files in said if text]
    figure, caption = _figure(gaps) if gaps else _sizes(cases, titles)
    return Headline(
        sentence=words[0] if words else "Nothing was built yet.",
        more=words[1:],
        figure=figure,
        caption=caption,
        figure_files=of("table_4" if gaps else "sizes"),
        verdicts=_verdicts(found),
        doubts=_doubts(found, gaps),
    )


def _dataset(path: Path) -> str:
    found = re.fullmatch(r"legal_(.+?)_(?:sizes|cross|table_4|claims|tests)\.csv", path.name)
    return found[1] if found else path.stem


def _cases(path: Path) -> int:
    """The cases of a data set, of its table of sizes."""
    rows = [row for row in read_csv(path, SIZES) if row["quantity"] == "cases"]
    return next((int(row["ours"]) for row in rows if row["item"] is None and row["ours"]), 0)


def _built(cases: Mapping[str, int], titles: Mapping[str, str]) -> str | None:
    if not cases:
        return None
    names = [sentence("{} ({})", name(titles.get(one, one)), count(n)) for one, n in cases.items()]
    return sentence(
        "{} with {}: {}.",
        plural(len(cases), "data set"),
        plural(sum(cases.values()), "case"),
        listed(names),
    )


def _gaps(gaps: list[dict[str, Any]]) -> str:
    above = [row for row in gaps if row["noise_verdict"] == "above noise"]
    few = sum(row["noise_verdict"] == "too few cases" for row in gaps)
    alike = sum((row["p_labels"] or 0) >= CHANCE for row in above)
    said = (
        f"Of {plural(len(gaps), 'gap')} between groups under plain training, {len(above) or 'none'}"
        f" {'is' if len(above) < 2 else 'are'} larger than chance shows among groups of these"
        " sizes"
    )
    if few == len(gaps):
        return f"{said}; all rest on too few cases to tell."
    if few:
        said += f"; {few} rest{'s' if few == 1 else ''} on too few cases to tell"
    if alike:
        which = (
            "that one goes"
            if len(above) == 1
            else (f"{alike} of the {len(above)} {'goes' if alike == 1 else 'go'}")
        )
        said += f"; {which} away among groups with the same labels"
    return f"{said}."


def _tests(paths: list[Path]) -> str | None:
    read = [read_csv(path, TESTS, optional=("p_cases_adjusted",)) for path in paths]
    rows = [row for table in read for row in table]
    if not rows:
        return None
    said = [
        f"{count(n)} show{'s' if n == 1 else ''} it {words}"
        for (measure, verdict), words in SHOWN_WORDS.items()
        if (n := sum((row["measure"], row["verdict"]) == (measure, verdict) for row in rows))
    ]
    there = {row["measure"] for row in rows}
    measures = listed([words for measure, words in MEASURES.items() if measure in there])
    of = f"Of {plural(len(rows), 'comparison')} of another objective with plain training"
    of += f" ({measures})" if measures else ""
    cases = [row.get("p_cases_adjusted") for row in rows if row["verdict"] == "not shown"]
    alone = sum(p is not None and p < CHANCE for p in cases)
    more = f" Over cases alone {alone} more would; the seeds do not say so." * bool(alone)
    return f"{of}, {listed(said) if said else 'none shows a difference beyond chance'}.{more}"


def _figure(gaps: list[dict[str, Any]]) -> tuple[Spec | None, str]:
    # those that can be told first, and none last: then in the order of the tables
    order = sorted(gaps, key=lambda row: (row["noise_verdict"] == "too few cases", not row["ours"]))
    shown = order[:SHOWN]
    ends = [row[end] for row in shown for end in ("ours", "high", "noise_border") if row[end]]
    high = max(1.0, *ends, 0) * 1.02 if ends else 1.0
    drawn = []
    for row in shown:
        words = f"group disparity {decimal(row['ours'], 1)}"
        if row["low"] is not None:
            words += f" ({decimal(row['low'], 1)} to {decimal(row['high'], 1)})"
        if row["noise_border"] is not None:
            words += f", chance up to {decimal(row['noise_border'], 1)}"
        drawn.append(
            Estimate(
                f"{row['dataset']}, {row['called']} ({row['classifier']})",
                row["ours"],
                words,
                decimal(row["ours"], 1),
                (row["low"], row["high"]),
                (None, None) if row["noise_border"] is None else (0, row["noise_border"]),
                kind="more" if row["noise_verdict"] == "above noise" else "unclear",
            )
        )
    figure = estimates(
        drawn,
        Side("Group disparity of macro-F1, points", (0, high)),
        "Group disparity of macro-F1 under plain training, with its interval and chance",
    )
    rest = f" {SHOWN} of {len(gaps)} gaps." if len(gaps) > SHOWN else ""
    return figure, (
        "Plain training (ERM). Line: 95 % interval over"
        f" cases; band: 95 % of what random groups show; a filled dot lies above chance.{rest}"
    )


def _sizes(cases: Mapping[str, int], titles: Mapping[str, str]) -> tuple[Spec | None, str]:
    order = sorted(cases, key=lambda one: (-cases[one], one))
    if not order or not cases[order[0]]:
        return None, ""
    steps = [Step(titles.get(one, one), cases[one], cases[one], "kept") for one in order]
    figure = waterfall(steps, "Cases of each data set", unit="Cases")
    return figure, "Cases of each data set."


def _verdicts(found: Mapping[str, list[Path]]) -> list[Verdicts]:
    lines = []
    for kind, words in LINES.items():
        verdicts = [row["verdict"] for path in found[kind] for row in read_csv(path, VERDICT)]
        if kind in ("sizes", "cross"):  # which count much that nobody published
            verdicts = [verdict for verdict in verdicts if verdict]
        counts = tally(verdicts)
        if counts:
            note = "Numbers of FairLex’s own cases, which were not read." * (
                set(counts) == {NOT_RUN}
            )
            lines.append(Verdicts(words, counts, note, places(found, FILES, kind)))
    return lines


def _doubts(found: Mapping[str, list[Path]], gaps: list[dict[str, Any]]) -> list[Markup | str]:
    doubts: list[Markup | str] = []
    of = partial(places, found, FILES)
    left_out: Counter[str] = Counter()
    for path in found["counts"]:
        left_out.update(read_json(path).get("left_out") or {})
    if n := left_out.total():
        text = sentence(
            "{} {} left out: {}.",
            plural(n, "record"),
            "was" if n == 1 else "were",
            reasons(left_out),
        )
        doubts.append(told(text, of("counts")))
    if few := sum(row["noise_verdict"] == "too few cases" for row in gaps):
        text = (
            f"{plural(few, 'gap')} of {len(gaps)} could hardly stand out: a group has too few"
            " cases."
        )
        doubts.append(told(text, of("table_4")))
    if gaps:
        doubts.append("A score is no service: no classifier here should decide a case.")
    return doubts
