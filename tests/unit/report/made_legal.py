"""A small legal data set that the real stages have counted: what the report's tests read."""

import datetime
import json
from pathlib import Path

from evenhand.core.tables import write_tables
from evenhand.io.tables import write_table
from evenhand.legal.findings import Finding
from evenhand.legal.splits import DUPLICATE
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.predictions.tables import gaps, groups
from unit.legal.made_cases import evidence, record, write_cases, write_found
from unit.report.made_once import made_once


@made_once
def write_results(repository: Path, folder: Path, name: str = "mine") -> list[Path]:
    """Write the results on thirty cases of a data set, and return their paths."""
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
    own = folder / "legal" / name
    (own / "records").mkdir(parents=True)
    data = write_cases(own / f"{name}.parquet", "ecthr", cases)
    she = record(1, text=("She was born.",))
    found = Finding("female", "pronouns", 0.97, (evidence(she, "She"),))
    tables = folder / "tables/cases" / name
    tabulate_cases(
        data=data,
        claims=repository / "resources/legal/published_cross.csv",
        words=repository / "resources/legal/outcome_words.csv",
        out=tables,
        dataset=name,
        findings=write_found(folder, [(she, found)])[1],
        permutations=100,
    )
    counts = own / "records" / "part.counts.json"
    counts.write_text(
        json.dumps({"records": 30, "left_out": {"no_facts": 2}, "noted": {"bad_date": 1}})
    )
    near = {"case_id": "a", "source": 0, "duplicate_of": "b", "how": "near_duplicate"}
    write_table(own / "duplicates.parquet", DUPLICATE, [near | {"similarity": 0.9}])
    document = {
        "cases": 30,
        "splits": {"train": {"cases": 22}, "dev": {"cases": 0}, "test": {"cases": 8}},
        "methods": {"undated": 5},
        "note": "5 of 30 cases have no date",
        "groups_parted_by_given_splits": 1,
    }
    (own / "splits.json").write_text(json.dumps(document))
    return [tables, counts, own / "duplicates.parquet", own / "splits.json"]


def audit(folder, *rows, name="p", objective="erm", dataset="ecthr", classifier="linear"):
    """An audit of the predictions of a classifier, with these gaps."""
    meta = folder / f"predictions/{name}/meta.json"
    meta.parent.mkdir(parents=True)
    trained = {"dataset": dataset, "classifier": classifier, "objective": objective}
    meta.write_text(json.dumps({"trained": trained}), encoding="utf-8")
    tables = folder / f"tables/predictions/{name}"
    write_tables(tables, [(gaps.TABLE, rows), (groups.TABLE, [])])
    return [meta, tables]


def rate_gap(metric="selection_rate", verdict="above", difference=0.6, **more):
    return {
        "attribute": "applicant_gender", "metric": metric, "label": "6", "gap": difference,
        "lowest_group": "women", "lowest": 0.22, "highest_group": "men",
        "highest": 0.22 + difference, "noise_95": 0.1, "p_adjusted": 0.001, "verdict": verdict,
    } | more  # fmt: skip
