from dataclasses import replace

from evenhand.legal.classifier_findings import TABLES, classifier_findings
from evenhand.legal.classifier_tables import calibration, table_2, table_4, tests
from evenhand.legal.declaration import KIND, read_declaration
from evenhand.legal.published import ALL, read_claims
from evenhand.text.phrases import Titles
from expected import check_expected
from unit.legal.made_cases import declaration
from unit.made_tables import read_back

MEMBERS = {"table_4": table_4, "tests": tests, "table_2": table_2, "calibration": calibration}


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
                comparison("worst", "inconclusive", 0.0, reason=tests.CONSTANT),
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


def named(rows, dataset):
    return [row | {"dataset": dataset} for row in rows]


def test_findings_are_those_that_are_kept(repository, tmp_path):
    claims = read_claims(repository / "resources/legal/published_claims.csv", ALL)
    court = read_declaration(declaration("cail"))
    objectives = Titles(erm="ERM", group_dro="Group DRO")
    lines = []
    for name, datasets in DATASETS.items():
        read = [
            {
                one: read_back(tmp_path, MEMBERS[one].TABLE, named(rows.get(one, ()), f"set {n}"))
                for one in TABLES
            }
            for n, rows in enumerate(datasets)
        ]
        for part in [[one] for one in read] + [read] * (len(read) > 1):
            found = classifier_findings([(court, one) for one in part], objectives, claims)
            lines += [f"## {name}: {len(part)}", *found]
            other = [(replace(court, kind=KIND), one) for one in part]
            assert "FairLex" not in "".join(classifier_findings(other, objectives, claims))
    check_expected("findings/classifiers.txt", "\n".join(lines) + "\n")
