"""A small legal data set that the real stages have counted: what the page's tests read."""

import datetime
import json
from pathlib import Path

from evenhand.io.tables import write_table
from evenhand.legal.check_leakage import check_leakage
from evenhand.legal.count_rules import count_rules
from evenhand.legal.cross_attributes import cross_attributes
from evenhand.legal.describe_cases import describe_cases
from evenhand.legal.findings import Finding
from evenhand.legal.measure_lengths import measure_lengths
from evenhand.legal.measure_shift import measure_shift
from evenhand.legal.split_cases import DUPLICATE
from unit.legal.made_cases import evidence, record, write_cases, write_found


def write_results(repository: Path, folder: Path) -> dict[str, list[Path]]:
    """What the stages say of thirty cases of the data set ``mine``."""
    cases = [
        {
            "labels": [["3"], ["6", "8"], []][number % 3],
            "split": "test" if number % 4 == 0 else "train",
            "text": ["It found a violation of Article 3. " * (number + 1)],
            "date": datetime.date(2000 + number, 1, 1),
            "applicant_gender": ["male", "female", None][number % 3],
            "defendant_state": ["C.E. European", "Rest of Europe"][number % 2],
        }
        for number in range(30)
    ]
    data = write_cases(folder / "mine.parquet", "ecthr", cases)
    about = {"kind": "ecthr", "dataset": "mine"}
    out = {
        name: folder / f"{name}.csv"
        for name in ("sizes", "groups", "labels", "shift", "cross", "lengths", "leakage", "rules")
    }
    tables = repository / "resources/legal"
    describe_cases(data=data, **{n: out[n] for n in ("sizes", "groups", "labels")}, **about)
    measure_shift(data=data, out=out["shift"], resamples=100, **about)
    claims = tables / "published_cross.csv"
    cross_attributes(data=data, claims=claims, out=out["cross"], **about)
    measure_lengths(data=data, out=out["lengths"], **about)
    words = tables / "outcome_words.csv"
    check_leakage(data=data, words=words, out=out["leakage"], resamples=100, **about)
    she = record(1, text=("She was born.",))
    found = Finding("female", "pronouns", 0.97, (evidence(she, "She"),))
    _, findings = write_found(folder, [(she, found)])
    count_rules(findings=[findings], attributes=["applicant_gender"], out=out["rules"], **about)
    counts = folder / "part.counts.json"
    counts.write_text(
        json.dumps({"records": 30, "left_out": {"no_facts": 2}, "noted": {"bad_date": 1}})
    )
    near = {"case_id": "a", "source": 0, "duplicate_of": "b", "how": "near_duplicate"}
    write_table(folder / "duplicates.parquet", DUPLICATE, [near | {"similarity": 0.9}])
    divided = folder / "splits.json"
    splits = {"train": {"cases": 22}, "dev": {"cases": 0}, "test": {"cases": 8}}
    note = "5 of 30 cases have no date"
    divided.write_text(
        json.dumps(
            {
                "cases": 30,
                "splits": splits,
                "methods": {"undated": 5},
                "note": note,
                "groups_parted_by_given_splits": 1,
            }
        )
    )
    return {name: [path] for name, path in out.items()} | {
        "counts": [counts],
        "duplicates": [folder / "duplicates.parquet"],
        "divided": [divided],
    }
