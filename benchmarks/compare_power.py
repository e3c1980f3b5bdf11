"""Error rates and power of `compare` on two audits of the same cases, by simulation.

    python benchmarks/compare_power.py [--runs 40] [--cases 800] [--seed 0] [--workers 2]

Two versions of a model answer the same cases, with two attributes, and share most errors. In head
one group's true positive rate has fallen by so many points. Counted are the comparisons whose first
line counts that gap, or for no fall any number, among what moved, and those whose gate on it
breaks. With the *drift* head turns some negatives of all six groups into positives, so that no
difference changes, and in a small group often none is turned. If without a fall or with the drift
more than 5 % of the first lines name a change, beyond two standard errors of the simulation, the
exit status is 1.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

import evenhand as eh  # noqa: E402

#: Falls in points; of the drift, the share of negatives that it turns.
CASES = ((0, 0.0), (6, 0.0), (12, 0.0), (24, 0.0), (0, 0.04))

#: The groups of the drift, with their shares.
TEAMS = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.04, "e": 0.03, "f": 0.03}

TABLE, KEYS = "tables/predictions/mine/groups.csv", "attribute=sex:group=f:metric=tpr"

#: The share of cases on which both versions answer alike, and the accuracy of each.
SHARED, ACCURACY = 0.85, 0.8


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("runs", 40), ("cases", 800), ("seed", 0), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
