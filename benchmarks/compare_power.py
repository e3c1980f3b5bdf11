"""Error rates and power of `compare` on two audits of the same cases, by simulation.

    python benchmarks/compare_power.py [--runs 40] [--cases 800] [--seed 0] [--workers 2]
    python benchmarks/compare_power.py --gaps 1000

Two versions of a model answer the same cases, with two attributes, and share most errors. In head
one group's true positive rate has fallen by so many points. Counted are the comparisons whose first
line counts that gap, or for no fall any number, among what moved, and those whose gate on it
breaks. With the *drift* head turns some negatives of all six groups into positives, so that no
difference changes, and in a small group often none is turned. If without a fall or with the drift
more than 5 % of the first lines name a change, beyond two standard errors of the simulation, the
exit status is 1.

With --gaps instead so many pairs of classifiers a cell, of equal truth, with errors independent
by case: counted are those whose difference in group disparity, and in the highest less the lowest
TPR, has p below 0.05, item by item. More than 7 % in a cell, beyond two standard errors, fail.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

import evenhand as eh  # noqa: E402
from evenhand.comparison.items import classifier_cases  # noqa: E402
from evenhand.comparison.items.common import side_by_side  # noqa: E402
from evenhand.metrics.classification import stacked  # noqa: E402
from evenhand.metrics.differences import difference_of_items  # noqa: E402
from evenhand.metrics.inference import sign_flip_p_value  # noqa: E402

#: Falls in points; of the drift, the share of negatives that it turns.
CASES = ((0, 0.0), (6, 0.0), (12, 0.0), (24, 0.0), (0, 0.04))

#: The groups of the drift, with their shares.
TEAMS = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.04, "e": 0.03, "f": 0.03}

TABLE, KEYS = "tables/predictions/mine/groups.csv", "attribute=sex:group=f:metric=tpr"

#: The share of cases on which both versions answer alike, and the accuracy of each.
SHARED, ACCURACY = 0.85, 0.8

#: Cases of each label by group; by how much accuracies differ; shares of answers drawn anew.
SIZES = {
    **{f"{k} x {n}": (n,) * k for k in (3, 8) for n in (10, 30)},
    "3 x 100": (100,) * 3,
    "10, 60, 300": (10, 60, 300),
    "5, 10 to 300": (10, 25, 60, 120, 300),
    "8, 10 to 300": (10, 15, 25, 40, 60, 100, 160, 300),
}
SPREADS, ANEW = (0.0, 0.24), (0.05, 0.2, 1.0)

#: The largest share of significant gaps; and random signs, fewer than of `compare`, which is slow.
MOST, FLIPS = 0.07, 999


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("runs", 40), ("cases", 800), ("seed", 0), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--gaps", type=int, default=0)
    options = parser.parse_args()
    if options.gaps:
        sys.exit(gaps(options.gaps, options.seed, options.workers))
    rows, failed = [], False
    with ProcessPoolExecutor(options.workers) as pool:
        for fall, drift in CASES:
            entropy = [options.seed, fall, *([1] if drift else [])]
            seeds = np.random.SeedSequence(entropy).spawn(options.runs)
            same = ([value] * options.runs for value in (fall, drift, options.cases))
            named, broken = np.mean([*pool.map(once, seeds, *same)], axis=0)
            of = "drift" if drift else fall
            rows.append({"fall": of, "named": named, "gate broken": broken})
            failed |= not fall and named > 0.05 + 2 * np.sqrt(0.05 * 0.95 / options.runs)
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".2f"))
    sys.exit(bool(failed))


def once(seed: np.random.SeedSequence, fall: float, drift: float, cases: int) -> tuple[bool, bool]:
    """Return whether the change is among what moved, and whether a gate on it breaks."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"id": np.arange(cases), "label": rng.integers(0, 2, cases)})
    rows["sex"] = rng.choice(["f", "m"], cases)
    rows["age"] = rng.choice(["old", "middle", "young"], cases)
    right = [rng.random(cases) < ACCURACY for _ in range(3)]
    is_shared = rng.random(cases) < SHARED
    versions = [np.where(is_shared, right[0], apart) for apart in right[1:]]
    hit = (rows["sex"] == "f") & (rows["label"] == 1) & versions[1]
    versions[1] &= ~(hit & (rng.random(cases) < fall / 100 / ACCURACY))
    groups, keys = ["sex", "age"], KEYS
    if drift:
        groups, keys = ["team"], "metric=fpr"
        rows["team"] = rng.choice([*TEAMS], cases, p=[*TEAMS.values()])
        versions = [right[0], right[0] & ((rows["label"] == 1) | (rng.random(cases) >= drift))]
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("base", "head")]
        for folder, correct in zip(folders, versions, strict=True):
            answers = rows.assign(answer=np.where(correct, rows["label"], 1 - rows["label"]))
            eh.audit_predictions(
                answers, label="label", prediction="answer", id="id", groups=groups,
                out=folder,
            )  # fmt: skip
        compared = eh.compare(*folders, [f"{TABLE}:difference:{keys}:moved"])
    numbers = compared.table
    numbers = numbers[numbers["status"] == "moved"]
    if drift:
        numbers = numbers[numbers["number"] == "difference"]
    if fall:
        numbers = numbers[(numbers["attribute"] == "sex") & (numbers["metric"] == "tpr")]
    return len(numbers) > 0, any(outcome.status == "broken" for outcome in compared.outcomes)


def gaps(pairs: int, seed: int, workers: int) -> bool:
    """Print the shares of significant gaps without a change; return whether one is too large."""
    most = MOST + 2 * np.sqrt(MOST * (1 - MOST) / pairs)
    columns = [(spread, anew) for spread in SPREADS for anew in ANEW]
    rows, highest = [], 0.0
    with ProcessPoolExecutor(workers) as pool:
        for place, (name, sizes) in enumerate(SIZES.items()):
            row = {"groups": name}
            for spread, anew in columns:
                entropy = [seed, place, int(100 * spread), int(100 * anew)]
                seeds = np.random.SeedSequence(entropy).spawn(pairs)
                same = ([value] * pairs for value in (sizes, spread, anew))
                shares = np.mean([*pool.map(gap, seeds, *same, chunksize=25)], axis=0)
                highest = max(highest, *shares)
                row[f"{spread:g}, {anew:g}"] = "; ".join(f"{100 * share:.1f}" for share in shares)
            rows.append(row)
    print(pd.DataFrame(rows).to_markdown(index=False))
    return bool(highest > most)


def gap(
    seed: np.random.SeedSequence, sizes: tuple[int, ...], spread: float, anew: float
) -> list[bool]:
    """Return whether the differences in group disparity and in the TPR's gap are significant."""
    sign_flip_p_value.__kwdefaults__["flips"] = FLIPS
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), 2 * np.array(sizes))
    label = np.concatenate([np.repeat([0, 1], size) for size in sizes])
    accuracy = ACCURACY + np.linspace(-spread / 2, spread / 2, len(sizes))[codes]
    base = rng.random(len(codes)) < accuracy
    head = np.where(rng.random(len(codes)) < anew, rng.random(len(codes)) < accuracy, base)
    stores = [_store(codes, label, right) for right in (base, head)]
    key = dict.fromkeys(("split", "classifier", "objective", "trained_for", "seed"), "mean")
    key |= {"attribute": "group", "convention": "all", "label": "1"}
    significant = []
    for column in ("gd", "tpr"):
        items = [store.items(key, column) for store in stores]
        *sides, parts, slopes = side_by_side(*items)
        found = difference_of_items(*sides, parts=parts, slopes=slopes)
        significant.append(found.p_value < 0.05)
    return significant


def _store(codes: np.ndarray, label: np.ndarray, right: np.ndarray) -> classifier_cases.Store:
    """Return the cases of a classifier with these right answers."""
    true, predicted = (np.eye(2, dtype=bool)[k] for k in (label, np.where(right, label, 1 - label)))
    group = SimpleNamespace(
        attribute=SimpleNamespace(name="group"), codes=codes, unknown=codes.max() + 1
    )
    dataset = SimpleNamespace(labels=["0", "1"], task="multi_class")
    cases = SimpleNamespace(groups=[group], classes=true, dataset=dataset)
    counts = stacked(true, predicted[None])
    trained = classifier_cases.Trained(np.arange(len(label)).astype(str), cases, ["mean"], counts)
    store = classifier_cases.Store(SimpleNamespace(training=dict, rows=dict), "a/b/c")
    store.read = lambda *_: trained
    return store


if __name__ == "__main__":
    main()
