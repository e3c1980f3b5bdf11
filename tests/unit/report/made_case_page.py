"""Small legal data sets with predictions: what the page of the cases is tested on."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.legal.records import write_records
from unit.legal.made_cases import record, write_cases
from unit.legal.made_predictions import predictions, write

#: What the titles, texts and ids of the cases may hold, beside what a test plants.
PLANTED = "A lantern was left in the orchard."
LANTERN = "果园里有一盏灯。"


def ecthr(folder: Path, text: str = "", many: int = 0) -> dict[str, Any]:
    """Five cases, two of women, one of test without a label; `many` more cases of test follow.

    ERM says nothing of case 1 by its second seed; of case 2 both seeds say label 6 and no other.
    Group DRO, trained for the gender, says label 2 of each case, and nothing else.

    Returns the arguments of `explore_cases`, but for the templates and the output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [{"part": "text", "paragraph": 0, "start": 0, "end": 3, "words": f"She {text}"}]
    cases: list[dict[str, Any]] = [
        {"labels": ["3"], "applicant_gender": "male", "title": f"THE CASE OF ONE {text}"},
        {
            "labels": ["6", "8"], "applicant_gender": "female", "text": [PLANTED, f"More {text}"],
            "applicant_gender_rule": "title_in_procedure", "applicant_gender_evidence": words,
            "date": datetime.date(2015, 3, 1), "applicant_birth_year": "1950",
        },
        {"labels": [], "applicant_gender": "female", "split": "dev"},
        {"labels": None, "source": f"more {text}.jsonl", "date": datetime.date(1999, 1, 1)},
        {"labels": ["2"], "split": "train", "duplicate_of": "ecthr-1"},
    ]  # fmt: skip
    cases[3]["case_id"] = f"4/{text}" if text else "ecthr-4"
    cases += [{"labels": ["3"]} for _ in range(many)]
    data = write_cases(folder / "mine.parquet", "ecthr", [{"split": "test"} | one for one in cases])

    def erm(seed):
        def logits_of(hot):
            logits = np.full(hot.shape, -2.0)
            logits[0, 1] = (2.0, -2.0)[seed]
            logits[1, 3] = 3.0
            return logits

        return logits_of

    def always(hot):
        return np.tile(np.where(np.arange(hot.shape[1]) == 0, 1.0, -1.0), (len(hot), 1))

    named = {"classifier": f"linear {text}".strip()}
    gender = {"objective": "group_dro", "attribute": "applicant_gender"}
    files = [
        write(folder / "predictions/linear/erm/none/all.parquet",
              *(predictions(data, erm(seed), seed=seed, **named) for seed in (0, 1))),
        write(folder / "predictions/linear/group_dro/applicant_gender/all.parquet",
              predictions(data, always, **named, **gender)),
    ]  # fmt: skip
    known = {"application_number": "123/45", "other": "nothing", "date_precision": "year"}
    path = folder / "part.parquet"
    write_records(path, [record(1), record(2, metadata=known), record(9)])
    return {
        "titles": [f"Mine {text}".strip()],
        "cases": [data],
        "records": [path],
        "predictions": files,
        "objectives": ["erm"],
        "objective_titles": ["ERM"],
    }


def cail(folder: Path) -> dict[str, Any]:
    """Three cases of one label each, of which one training has three seeds; in Chinese."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = [
        {"labels": [label], "split": "test", "defendant_gender": gender, "text": [LANTERN]}
        for label, gender in (("0", "male"), ("<=12", "female"), ("<=12", None))
    ]
    data = write_cases(folder / "other.parquet", "cail", cases)

    def odds(seed):
        def logits(hot):
            values = np.zeros(hot.shape)
            values[:, 1] = np.log([4.0, 4.0, 0.5][seed])
            return values

        return logits

    runs = [predictions(data, odds(seed), seed=seed) for seed in range(3)]
    return {
        "titles": ["Other"],
        "cases": [data],
        "predictions": [write(folder / "cail.parquet", *runs)],
    }


def joined(*sets: dict[str, Any]) -> dict[str, Any]:
    """The arguments of several data sets as those of one page."""
    names = list(dict.fromkeys(name for one in sets for name in one))
    return {name: [value for one in sets for value in one.get(name, [])] for name in names}
