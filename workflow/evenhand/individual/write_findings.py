"""Stage: what the tables come to, in sentences made from their numbers."""

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.individual.lines import FIRST
from evenhand.individual.names import DATASETS, MOST, method_title, read_titles, title, who
from evenhand.io.documents import write_json
from evenhand.text.phrases import listed

#: Below this adjusted p-value a difference is called one.
CHANCE = 0.05

#: A share of positive predictions below which a model has collapsed to one class.
COLLAPSED = 0.01

NUMBERS = (
    *("lambda", "epsilon", "mu", "ours_mean", "ours_sd", "ours_low", "ours_high", "paper"),
    *("mean", "sd", "low", "high"),
    *("difference", "difference_low", "difference_high", "against_mean", "p_value", "p_adjusted"),
    *("p_resampled", "p_resampled_adjusted", "balanced_acc", "unfairness"),
)
WHOLE = ("seeds", "diverged", "empty")

Row = dict[str, Any]


def write_findings(
    *,
    table_4: Input,
    table_6: Input,
    table_7: Input,
    table_8: Input,
    sweeps: Input,
    fronts: Input,
    tests: Input,
    out: Output,
    data: list[Input] | None = None,
) -> dict[str, Any]:
    """Say what was found.

    Parameters
    ----------
    table_4, table_6, table_7, table_8 : Path
        Of `tabulate_results`.
    sweeps, fronts, tests : Path
        Of `sweep_lambdas`, `find_fronts` and `compare_methods`.
    out : Path
        JSON: ``headline``, a list of sentences, and ``findings``, a list of

        - id, dataset (null for all), sentence;
        - holds: whether what the id asks is so (null where it is no yes or no);
        - numbers: what the sentence rests on.

        A question for which a number is missing has no finding; ``left_out`` counts them.
    data : list of Path, optional
        ``data.json`` of each data set, for its title; by default sentences use its name.
    """
    titles = read_titles(data or [])
    tables = {
        name: _read(path)
        for name, path in (
            ("4", table_4),
            ("6", table_6),
            ("7", table_7),
            ("8", table_8),
        )
    }
    sweep_rows, front_rows, test_rows = _read(sweeps), _read(fronts), _read(tests)
    datasets = list(dict.fromkeys(row["dataset"] for row in sweep_rows))
    findings: list[Row] = []
    left_out: Counter[str] = Counter()

    def add(name: str, found: Row | None, dataset: str | None) -> None:
        if found is None:
            left_out[name] += 1
        else:
            findings.append({"id": name, "dataset": dataset, **found})

    for table, rows in tables.items():
        add(f"reproduced_table_{table}", reproduced(table, rows), None)
    for dataset in datasets:
        own = [
            [row for row in rows if row["dataset"] == dataset and row["split"] == "random"]
            for rows in (tables["4"], sweep_rows, front_rows, test_rows)
        ]
        for name, ask in QUESTIONS.items():
            add(name, ask(title(dataset, titles), *own), dataset)
    document = {
        "headline": headline(findings, datasets, distinct(tables), titles),
        "findings": findings,
        "left_out": dict(sorted(left_out.items())),
    }
    write_json(out, document)
    return {"findings": len(findings), "left_out": sum(left_out.values())}


def _read(path: Path) -> list[Row]:
    with Path(path).open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        rows = []
        for row in reader:
            try:
                rows.append(
                    {
                        name: None
                        if not cell
                        else float(cell)
                        if name in NUMBERS
                        else int(cell)
                        if name in WHOLE
                        else cell
                        for name, cell in row.items()
                    }
                )
            except ValueError as error:
                raise InputError(str(error), file=path, line=reader.line_num) from error
    return rows


def reproduced(table: str, rows: list[Row]) -> Row | None:
    """How many cells of a table come out as the paper prints them."""
    of_paper = [row for row in rows if row["paper"] is not None]
    verdicts = Counter(row["verdict"] for row in of_paper)
    judged = verdicts["reproduced"] + verdicts["not_reproduced"]
    if not judged:
        return None
    sentence = (
        f"Of the {judged} cells of Table {table} that can be compared with runs of ours,"
        f" {verdicts['reproduced']} lie within two standard deviations of single runs."
        if judged > 1
        else f"The one cell of Table {table} that can be compared with runs of ours"
        f" {'lies' if verdicts['reproduced'] else 'does not lie'} within two standard deviations"
        " of single runs."
    )
    if other := verdicts["inconsistent_in_paper"]:
        sentence += f" {_cells(other)} contradict{'s' if other == 1 else ''} the paper elsewhere."
    if missing := verdicts["not_run"] + verdicts["undecided"]:
        sentence += f" {_cells(missing)} could not be judged."
    return {"sentence": sentence, "holds": None, "numbers": dict(sorted(verdicts.items()))}


def distinct(tables: dict[str, list[Row]]) -> Counter[str]:
    """Verdicts on the paper's cells, each counted once.

    Table 8 prints rows of Tables 4 and 7 again: the MLP's (at a threshold of 1), and its row with
    IIFR. The first table's verdict counts.
    """
    verdicts: dict[tuple[Any, ...], str] = {}
    for name, rows in tables.items():
        for row in rows:
            if row["paper"] is None:
                continue
            how = row["individual"], row["lambda"], row["epsilon"]
            if name == "8" and row["epsilon"] == 1:
                how = "none", 0.0, None
            key = (row["dataset"], row["method"], *how, row["mu"], row["group"], row["metric"])
            verdicts.setdefault(key, row["verdict"])
    return Counter(verdicts.values())


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _cell(rows: list[Row], method: str, individual: str, metric: str) -> Row | None:
    found = [
        row
        for row in rows
        if (row["method"], row["individual"], row["metric"]) == (method, individual, metric)
        and row["ours_mean"] is not None
    ]
    return found[0] if found else None


def _test(rows: list[Row], method: str, individual: str, metric: str) -> Row | None:
    found = [
        row
        for row in rows
        if (row["method"], row["individual"], row["metric"]) == (method, individual, metric)
        and row["against"] == "mlp"
        and row["difference"] is not None
    ]
    return found[0] if found else None


def without_attribute(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """Whether the MLP that never sees the attribute is as fair as IIFR on IIFR's own metric."""
    names = {"blind": ("mlp_without_attribute", "none"), "iifr": ("mlp", "iifr_cosine")}
    found = {
        (who, metric): _cell(table, *name, metric)
        for who, name in names.items()
        for metric in ("ifr_p", "balanced_acc")
    }
    if None in found.values():
        return None
    mean = {f"{who}_{metric}": row["ours_mean"] for (who, metric), row in found.items() if row}
    fairer = mean["blind_ifr_p"] >= mean["iifr_ifr_p"]
    better = mean["blind_balanced_acc"] > mean["iifr_balanced_acc"]
    side = "at least" if fairer else "less than"
    accuracy = f"{'and' if fairer == better else 'but'} the {'higher' if better else 'lower'}"
    accuracy += " balanced accuracy"
    if not _apart(found["blind", "balanced_acc"], found["iifr", "balanced_acc"]):
        accuracy = "and a balanced accuracy whose 95 % interval overlaps"
    sentence = (
        f"On {dataset}, the MLP that never sees the attribute has {side} the IFR_p of IIFR"
        f"{_which(found['iifr', 'ifr_p'])} ({mean['blind_ifr_p']:.1f} against"
        f" {mean['iifr_ifr_p']:.1f}) {accuracy}"
        f" ({mean['blind_balanced_acc']:.1f} against {mean['iifr_balanced_acc']:.1f})."
    )
    return {"sentence": sentence, "holds": fairer, "numbers": mean}


def _apart(one: Row, other: Row) -> bool:
    """Whether the intervals of two means have nothing in common; one run has none that says so."""
    ends = [row[end] for row in (one, other) for end in ("ours_low", "ours_high")]
    return None not in ends and (ends[0] > ends[3] or ends[1] < ends[2])


def collapse(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """Whether IIFR's gain comes with fewer positive predictions."""
    found = {
        metric: _test(tests, "mlp", "iifr_cosine", metric)
        for metric in ("ifr_p", "positive_rate", "balanced_acc")
    }
    if None in found.values():
        return None
    sure = {metric: _sure(row) for metric, row in found.items() if row}
    up = {metric: row["difference"] > 0 for metric, row in found.items() if row}
    gain, fall = found["ifr_p"], found["positive_rate"]
    accuracy = found["balanced_acc"]
    holds = up["ifr_p"] and not up["positive_rate"] and sure["ifr_p"] and sure["positive_rate"]
    said = [
        _change("IFR_p", gain, 1),
        _change("the share of positive predictions", fall, 1, " %", 100),
        _change("balanced accuracy", accuracy, 1),
    ]
    name = f"IIFR{_which(gain)}"
    start = (
        f"the gain of {name} comes with fewer positive predictions"
        if holds
        else f"the runs do not show that a gain of {name} comes with fewer positive predictions"
    )
    sentence = f"On {dataset}, {start}: {said[0]}, {said[1]}, and {said[2]}."
    return {"sentence": sentence, "holds": holds, "numbers": _differences(found)}


def counterfactual(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """Whether counterfactual pairs give more individual fairness, and at what cost."""
    found = {
        metric: _test(tests, "mlp", "iifr_counterfactual", metric)
        for metric in ("ifr_p", "acc", "ddp")
    }
    if None in found.values():
        return None
    fair, accuracy, gap = found["ifr_p"], found["acc"], found["ddp"]
    said = [_change("IFR_p", fair, 1), _change("accuracy", accuracy, 1), _change("dDP", gap, 3)]
    which = _which(fair) or f" (lambda {fair['lambda']:g})"
    sentence = (
        f"On {dataset}, with training on pairs of a person and the same person with the"
        f" attribute flipped{which}, {listed(said)}."
    )
    holds = _sure(fair) and fair["difference"] > 0
    return {"sentence": sentence, "holds": holds, "numbers": _differences(found)}


def adversaries(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """Whether adversarial models have less individual fairness than the MLP."""
    found = {
        method: row
        for method in ("alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo")
        if (row := _test(tests, method, "none", "ifr_p"))
    }
    if not found:
        return None
    lower = [name for name, row in found.items() if _sure(row) and row["difference"] < 0]
    higher = [name for name, row in found.items() if _sure(row) and row["difference"] > 0]
    unclear = [name for name in found if name not in lower + higher]
    base = next(iter(found.values()))["against_mean"]
    parts = [
        f"{words} {listed([_named(n, found[n]) for n in names])}"
        for words, names in (
            ("these lie below it:", lower),
            ("these above it:", higher),
            ("these cannot be told from it:", unclear),
        )
        if names
    ]
    sentence = (
        f"On {dataset}, the MLP has an IFR_p of {base:.1f};"
        f" of the adversarial models without IIFR {'; '.join(parts)}."
    )
    return {"sentence": sentence, "holds": len(lower) == len(found), "numbers": _differences(found)}


def on_front(front: str) -> Callable[..., Row | None]:
    """Which methods have a setting that no other beats on both of two measures."""

    def ask(
        dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
    ) -> Row | None:
        own = [row for row in fronts if row["front"] == front]
        if not own:
            return None
        held = Counter(who(row) for row in own if row["on_front"] == "true")
        # those with most settings first, so that these are named
        names = [f"{who} ({n})" for who, n in held.most_common()]
        off = sorted({who(row) for row in own} - held.keys())
        measure = {"ddp": "dDP", "ifr_p": "1 − IFR_p"}[front]
        sentence = (
            f"On {dataset}, no setting beats"
            f" {listed(names, MOST)}"
            f" on both balanced accuracy and {measure} (in brackets: how many of"
            f" {len(own)} setting{'' if len(own) == 1 else 's'})."
        )
        if off:
            rest = f"{_upper(off[0])} has" if len(off) == 1 else f"{len(off)} other methods have"
            sentence += f" {rest} no such setting."
        numbers = {"settings": len(own), "on_front": dict(held), "off_front": off}
        return {"sentence": sentence, "holds": None, "numbers": numbers}

    return ask


def cliff(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """At which lambda the MLP with IIFR predicts one class only."""
    stands = _cell(table, "mlp", "iifr_cosine", "positive_rate")
    if stands is None:
        return None
    fixed = ("method", "individual", "epsilon", "epsilon_unit", "reduction", "js_base")
    own = [
        row
        for row in sweeps
        if row["metric"] == "positive_rate"
        and row["mean"] is not None
        and all(row[name] == stands[name] for name in fixed)
    ]
    if len(own) < 2:
        return None
    own.sort(key=lambda row: row["lambda"])
    rates = {f"{row['lambda']:g}": row["mean"] for row in own}
    gone = [row["lambda"] for row in own if row["mean"] < COLLAPSED]
    if gone:
        sentence = (
            f"On {dataset}, the MLP with IIFR predicts next to nobody positive (under"
            f" {100 * COLLAPSED:g} %) at lambda {gone[0]:g}, the least weight at which it does."
        )
    else:
        sentence = (
            f"On {dataset}, the MLP with IIFR keeps predicting positives at every weight"
            f" that was run (lambda {own[0]['lambda']:g} to {own[-1]['lambda']:g}; at least"
            f" {100 * min(row['mean'] for row in own):.1f} % of people)."
        )
    return {"sentence": sentence, "holds": bool(gone), "numbers": rates}


def noise(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """How far single runs of the MLP lie apart in IFR_p."""
    row = _cell(table, "mlp", "none", "ifr_p")
    if row is None or row["ours_sd"] is None:
        return None
    sentence = (
        f"On {dataset}, single runs of the MLP differ in IFR_p with a standard deviation of"
        f" {row['ours_sd']:.1f} points ({row['seeds']} seeds)"
        f"{'; the paper reports one run' if row['dataset'] in DATASETS else ''}."
    )
    numbers = {"sd": row["ours_sd"], "mean": row["ours_mean"], "seeds": row["seeds"]}
    return {"sentence": sentence, "holds": None, "numbers": numbers}


def diverged(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """How many runs diverged."""
    lost, runs = _lost(sweeps, "diverged")
    if not lost:
        return None
    sentence = f"On {dataset}, {lost} of {_runs(runs)} diverged; they are in no mean."
    return {"sentence": sentence, "holds": True, "numbers": {"diverged": lost, "runs": runs}}


def empty(
    dataset: str, table: list[Row], sweeps: list[Row], fronts: list[Row], tests: list[Row]
) -> Row | None:
    """How many runs could not be made, because their split leaves a group or a label empty."""
    lost, runs = _lost(sweeps, "empty")
    if not lost:
        return None
    reasons = [reason for row in sweeps for reason in (row["reasons"] or "").split("; ") if reason]
    why = list(dict.fromkeys(reasons))
    sentence = (
        f"On {dataset}, {lost} of {_runs(runs)} could not be made, and are in no mean:"
        f" {listed(why, MOST)}."
    )
    return {
        "sentence": sentence,
        "holds": True,
        "numbers": {"empty": lost, "runs": runs, "reasons": why},
    }


def _lost(sweeps: list[Row], why: str) -> tuple[int, int]:
    """How many runs were lost in this way, and how many there are in all."""
    own = [row for row in sweeps if row["metric"] == "acc"]
    runs = sum(row["seeds"] + row["diverged"] + row["empty"] for row in own)
    return sum(row[why] for row in own), runs


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


#: What is asked of each data set.
QUESTIONS: dict[str, Callable[..., Row | None]] = {
    "without_attribute_beats_iifr": without_attribute,
    "gain_with_fewer_positives": collapse,
    "one_class_from_lambda": cliff,
    "counterfactual_pairs": counterfactual,
    "adversaries_less_fair": adversaries,
    "front_ddp": on_front("ddp"),
    "front_ifr_p": on_front("ifr_p"),
    "noise_of_runs": noise,
    "diverged_runs": diverged,
    "runs_not_made": empty,
}


def headline(
    findings: list[Row],
    datasets: Sequence[str],
    cells: Counter[str],
    titles: Mapping[str, str] | None = None,
) -> list[str]:
    """The page's first sentences: what holds on how many of the data sets, and of the cells."""
    said = []
    for name, yes, no in (
        (
            "without_attribute_beats_iifr",
            "a network that never sees the attribute is individually at least as fair as IIFR",
            "IIFR is individually fairer than a network that never sees the attribute",
        ),
        (
            "gain_with_fewer_positives",
            "what IIFR gains in fairness comes with fewer positive predictions",
            "it is not shown that what IIFR gains comes with fewer positive predictions",
        ),
    ):
        own = [row for row in findings if row["id"] == name]
        # no words of a gain where the runs have none
        none = [row for row in own if row["numbers"].get("ifr_p", {}).get("difference", 1) <= 0]
        for some_of, words in (
            ([row for row in own if row["holds"]], yes),
            ([row for row in own if row["holds"] is False and row not in none], no),
            (none, "IIFR does not raise IFR_p above that of the same network without it"),
        ):
            some = [row["dataset"] for row in some_of]
            if some:
                said.append(f"On {listed([title(one, titles) for one in some])}, {words}.")
    if judged := cells["reproduced"] + cells["not_reproduced"]:
        said.append(
            f"Of {_cells(judged)} of the paper that could be judged, {cells['reproduced']}"
            f" {'is' if cells['reproduced'] == 1 else 'are'} reproduced (a cell that two tables"
            " print counts once)."
        )
    names = listed([title(one, titles) for one in datasets])
    return said or [f"Nothing was concluded from the runs on {names}."] * bool(datasets)


def _sure(row: Row) -> bool:
    return row["p_adjusted"] is not None and row["p_adjusted"] < CHANCE


def _change(what: str, row: Row, digits: int, unit: str = "", scale: float = 1.0) -> str:
    """``accuracy goes from 84.6 to 83.1``, or that it is unchanged as far as it is printed."""
    before, after = (f"{scale * row[name]:.{digits}f}" for name in ("against_mean", "mean"))
    if before == after:
        return f"{what} is unchanged at {after}{unit}"
    return f"{what} goes from {before} to {after}{unit}{_doubt(row)}"


def _which(row: Row) -> str:
    """A setting in brackets where it is not the named one, and so the reader cannot know it."""
    if row["choice"] != FIRST:
        return ""
    return f" ({_numbers(row)}the first that was run)"


def _numbers(row: Row) -> str:
    names = ("lambda", "epsilon", "mu") if row["individual"] != "none" else ("mu",)
    return "".join(f"{name} {row[name]:g}, " for name in names if row[name] is not None)


def _doubt(row: Row) -> str:
    """Says so where a difference may be chance."""
    return "" if _sure(row) or not row["difference"] else " (which may be chance)"


def _differences(found: dict[str, Row | None]) -> Row:
    names = ("against_mean", "mean", "difference", "p_adjusted", "p_resampled_adjusted", "seeds")
    return {key: {name: row[name] for name in names} for key, row in found.items() if row}


def _named(method: str, row: Row) -> str:
    which = f"{_numbers(row)}the first that was run: " if row["choice"] == FIRST else ""
    return f"{method_title(method)} ({which}{row['mean']:.1f})"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    stage.run(write_findings)
