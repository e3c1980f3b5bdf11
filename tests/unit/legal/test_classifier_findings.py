import json
from pathlib import Path

from evenhand.core.tables import write_tables
from evenhand.legal.classifier_tables import calibration, table_2, table_4, tests
from evenhand.legal.write_classifier_findings import TABLES, write_classifier_findings
from expected import check_expected
from unit.legal.made_cases import declaration

REPOSITORY = Path(__file__).parents[3]
MEMBERS = {"table_4": table_4, "tests": tests, "table_2": table_2, "calibration": calibration}


#: The objectives of the tables.
TITLES = {"erm": "ERM", "group_dro": "Group DRO"}


def gap(attribute, verdict, p_labels=0.01, classifier="linear", ours=9.0, measure="gd"):
    return {
        "attribute": attribute, "classifier": classifier, "objective": "erm", "measure": measure,
        "ours": ours, "noise_mean": 2.5, "noise_border": 4.0, "p_labels": p_labels,
        "noise_verdict": verdict, "trained_for": "none",
    }  # fmt: skip


def comparison(measure, verdict, difference=1.0, **more):
    return {"measure": measure, "verdict": verdict, "difference": difference} | more


def group(name, worst, **marks):
    return {"classifier": "linear", "attribute": "court_region", "group": name, "worst": worst} | {
        "fewest_train_cases": False, "most_drift": False, "most_wci": False
    } | marks  # fmt: skip


def cause(name, worst, attribute="court_region", **marks):
    return group(name, worst, **marks) | {"attribute": attribute}


TIE = [
    cause("male", False, "defendant_gender", most_drift=True),
    cause("female", False, "defendant_gender"),
]
CONSTANT = [
    gap("court_region", None) | {"objective": objective, "trained_for": attribute, "seeds": 2}
    | {"constant_seeds": constant, "always": "none"}
    for objective, attribute, constant in (
        ("erm", "none", 2), ("group_dro", "court_region", 1), ("irm", "court_region", 0),
    )
]  # fmt: skip
COUNTED = {"seeds": 2, "always": "none"}

#: The tables of data sets, each with some rows.
DATASETS = {
    "the average loss is beside the paper's": [
        {
            "tests": [
                comparison("mean", "below", -1.0),
                comparison("mean", "inconclusive", 0.5),
                comparison("worst", "above", 2.0),
            ]
        }
    ],
    "causes of the worst group, and of none": [
        {
            "table_2": [
                cause("Beijing", True, fewest_train_cases=True),
                cause("Hunan", False, most_drift=True),
                cause("Sichuan", None, most_wci=None),  # without a test case
                *TIE,
            ]
        },
        {"table_2": TIE},
    ],
    "constant classifiers": [{"table_4": CONSTANT * 2}, {"table_4": CONSTANT[2:]}],
    "linear against encoders": [
        {
            "table_4": [
                gap("court_region", None, classifier=classifier, measure=measure, ours=ours)
                | {"stands_for": stands_for}
                for classifier, stands_for, scores in (
                    ("words", "linear", (40, 30, 9)),
                    ("encoder", "transformer", (50, 20, 5)),
                    ("frozen", "none", (90, 90, 0)),
                )
                for measure, ours in zip(("mean", "worst", "gd"), scores, strict=True)
            ]
        }
    ],
    "calibration": [
        {
            "calibration": [
                {"classifier": "linear", "objective": "erm", "attribute": "court_region"}
                | {"group": name, "verdict": verdict}
                for name, verdict in (
                    ("Hunan", "above"),
                    ("Beijing", "inconclusive"),
                    ("all", None),
                )
            ]
        }
    ],
    "two data sets": [
        {"table_4": [gap("court_region", "above") | COUNTED | {"constant_seeds": 2}]},
        {"table_4": [gap("applicant_age", "equivalent") | COUNTED | {"constant_seeds": 0}]},
    ],
}


def test_findings_are_those_that_are_kept(tmp_path):
    lines = []
    for name, datasets in DATASETS.items():
        folders = [tmp_path / name / f"set {number}" for number in range(len(datasets))]
        for folder, rows in zip(folders, datasets, strict=True):
            write_tables(folder, [(MEMBERS[one].TABLE, rows.get(one, [])) for one in TABLES])
        counts = write_classifier_findings(
            tables=folders,
            declarations=[declaration("cail")] * len(folders),
            claims=REPOSITORY / "resources/legal/published_claims.csv",
            out=tmp_path / "findings.json",
            objectives=list(TITLES),
            objective_titles=list(TITLES.values()),
        )
        document = json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))
        lines += [f"## {name}: {counts}, left out {document['left_out']}"]
        lines += [
            f"{one['id']} of {one['dataset']}: {one['holds']} {one['numbers']}\n  {one['sentence']}"
            for one in document["findings"]
        ]
    check_expected("findings/classifiers.txt", "\n".join(lines) + "\n")
