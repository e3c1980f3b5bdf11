"""Every page of the report, with small results to show: what the tests of all pages read."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from evenhand import plan_report
from evenhand.certificates.dose_response import dose_row, dose_table
from evenhand.certificates.study import CERTIFICATE, Finding, judge
from evenhand.core.tables import write_tables
from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.report import (
    write_certificate_page,
    write_classifiers_page,
    write_errors_page,
    write_front_page,
    write_individual_page,
    write_legal_page,
    write_mitigation_page,
    write_models_page,
    write_predictions_page,
    write_slguset_page,
)
from evenhand.report.known_errors import COLUMNS
from unit.legal.made_cases import declaration
from unit.made_tables import edited
from unit.predictions.test_audit_predictions import people
from unit.report import (
    made_classifiers,
    made_individual,
    made_legal,
    made_results,
    made_stereotypes,
)

templates = made_results.templates

#: The titles of objectives.
OBJECTIVES = {"erm": "ERM", "group_dro": "Group DRO", "iifr_text": "IIFR", "v_rex": "V-REx"}


#: The link of a page to what made its numbers.
LINK = {"provenance": "../provenance.json"}


class Made(NamedTuple):
    """What writes a page, and its arguments but for `templates` and `out`."""

    write: Callable[..., Any]
    given: dict[str, Any]
    results: Path


def slguset(repository: Path, folder: Path, text: str = "") -> Made:
    made = made_results.write_hostile if text else made_results.write_results
    results = made(folder, *[text] * bool(text))
    (results / "slguset_published/problems.csv").touch()  # other stages write these
    reasons = plan_report.reason_options({"slguset": {"filters": ["names_jieba", "biology"]}})
    given = reasons | made_results.arguments(results)
    return Made(write_slguset_page.write_slguset_page, given, results)


def language_models(repository: Path, folder: Path, text: str = "") -> Made:
    name = text.replace("/", "|")  # which a file may have
    renamed = {"models": {"tiny-bert-en": name, "headless": f"{name} 2"}} if text else {}
    results = made_stereotypes.write_results(folder, **renamed, text=text)
    for own in (results / "stereotypes").iterdir():
        (results / f"tables/pairs/{own.name}/models.csv").touch()
    given = LINK | made_stereotypes.arguments(results)
    return Made(write_models_page.write_models_page, given, results)


def legal_cases(repository: Path, folder: Path, text: str = "") -> Made:
    given: dict[str, Any] = LINK | made_legal.write_results(repository, folder)
    given |= {"declarations": [declaration("ecthr")], "titles": [text or "Mine"]}
    if text:
        changes = {"rules": lambda rows: [row | {"value": text, "flags": text} for row in rows]}
        given["tables"] = [edited(given["tables"][0], folder / "named/mine", **changes)]
    return Made(write_legal_page.write_legal_page, given, folder)


def _classified(repository: Path, folder: Path, text: str) -> dict[str, Any]:
    made = made_classifiers.write_results(repository, folder)
    if text:
        named = dict.fromkeys(
            ("table_4", "claims"), lambda rows: [row | {"classifier": text} for row in rows]
        )
        made["tables"] = [edited(made["tables"][0], folder / "classifiers/named", **named)]
    about = {"declarations": [declaration("cail")], "titles": [text or "Mine"]}
    about |= {"objectives": [*OBJECTIVES], "objective_titles": [*OBJECTIVES.values()]}
    return made | about


def legal_classifiers(repository: Path, folder: Path, text: str = "") -> Made:
    given = LINK | _classified(repository, folder, text)
    return Made(write_classifiers_page.write_classifiers_page, given, folder)


def mitigation(repository: Path, folder: Path, text: str = "") -> Made:
    given = _classified(repository, folder, text)
    del given["findings"]
    of_people = individual_fairness(repository, folder / "r", text).given
    given |= {"individual": of_people["tables"], "data": of_people["data"]}
    return Made(write_mitigation_page.write_mitigation_page, given, folder)


def individual_fairness(repository: Path, folder: Path, text: str = "") -> Made:
    rows = made_individual.rows(*[text] * 2 * bool(text))
    given = made_individual.results(folder, rows, text)
    return Made(write_individual_page.write_individual_page, given, folder)


def predictions(repository: Path, folder: Path, text: str = "") -> Made:
    file = folder / "mine.csv"
    folder.mkdir(parents=True, exist_ok=True)
    named = people(shift=0.2).replace({"group": {"a": text or "a"}})
    named.to_csv(file, index=False)
    meta, tables = folder / "predictions/mine/meta.json", folder / "tables/predictions/mine"
    for place in (meta, tables):
        place.parent.mkdir(parents=True)
    audit_predictions(
        files=[file], label="y", prediction="p", groups=["group"], name="mine", out=tables,
        title=text or "Mine", cases=meta.with_name("cases"), meta=meta,
    )  # fmt: skip
    given = {"meta": [meta], "tables": [tables]}
    return Made(write_predictions_page.write_predictions_page, given, folder)


def certificate(repository: Path, folder: Path, text: str = "") -> Made:
    findings = [
        Finding("m", "held", 0.95, least=0.9),
        Finding("m", "failed", 0.5, least=0.9),
        Finding("m", "known", None, least=0.9),
        Finding(text or "n", "shown", 3.0),
    ]
    verdicts = [judge("pairs", one, {("pairs", "m", "known"): text or "Why."}) for one in findings]
    which = {"language": "english", "family": "masked", "seed": 0, "new_frames": False}
    doses = [
        dose_row([effect] * 6, list("abcdef"), dose) | which | {"method": text or "aul"}
        for dose, effect in ((0, 0.1), (0.5, 1.0), (1, 2.0))
    ]
    write_tables(folder, [(CERTIFICATE, verdicts), (dose_table("pairs", "Scores"), doses)])
    return Made(write_certificate_page.write_certificate_page, {"certificate": folder}, folder)


def known_errors(repository: Path, folder: Path, text: str = "") -> Made:
    kinds = ("paper", "reference_code", "data")
    rows = [
        dict.fromkeys(COLUMNS, text or f"Words of `{system}`.")
        | {"id": f"e-{system}-{kind}", "system": system, "kind": kind}
        | ({} if kind == "data" else {"right": "", "effect": ""})
        for system in ("slguset", "language_models", "individual_fairness", "legal")
        for kind in kinds
    ]
    folder.mkdir()
    with (folder / "errors.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    given = {"errors": folder / "errors.csv"}
    return Made(write_errors_page.write_errors_page, given, folder)


def front(repository: Path, folder: Path, text: str = "") -> Made:
    pairs = language_models(repository, folder / "results", text).given
    corpus = slguset(repository, folder / "slguset_results", text).results
    classified = legal_classifiers(repository, folder / "tables", text).given["tables"]
    people = individual_fairness(repository, folder / "tables", text).given
    (folder / "tabular/mine").mkdir(parents=True)
    people["data"] = [people["data"][0].rename(folder / "tabular/mine/data.json")]
    published = corpus / "slguset_published"
    given = {
        "language_models": [
            *(file for name in ("sets", "gates", "tables") for file in pairs[name]),
            pairs["released"],
        ],
        "slguset": [
            *(corpus / "tables" / name for name in ("corpus", "annotation", "bias/slguset")),
            corpus / "slguset/statistics.json",
            *(published / name for name in ("statistics.json", "report.json")),
            corpus / "tables/sentences/slguset_published",
        ],
        "individual_fairness": [people["tables"], *people["data"]],
        "legal": [*made_legal.write_results(repository, folder / "tables")["tables"], *classified],
        "mitigation": [people["tables"], *classified],
        "predictions": [
            file
            for one in predictions(repository, folder / "predicted", text).given.values()
            for file in one
        ],
    }
    return Made(write_front_page.write_front_page, given | {"systems": [*given]}, folder)


def reproduction(repository: Path, folder: Path, text: str = "") -> Made:
    made = front(repository, folder, text)
    return made._replace(given=made.given | {"page": "reproduction"})


#: Each by its name among `evenhand.report.page_list.PAGES`.
PAGES = {
    make.__name__: make
    for make in (
        front, language_models, legal_classifiers, individual_fairness, slguset, mitigation,
        legal_cases, predictions, certificate, reproduction, known_errors,
    )
}  # fmt: skip
