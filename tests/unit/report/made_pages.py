"""Every page of the report, with small results to show: what the tests of all pages read."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

from evenhand import plan_report
from evenhand.certificates.dose_response import dose_row, dose_table
from evenhand.certificates.study import CERTIFICATE, Finding, KnownFailure, judge
from evenhand.core.tables import write_tables
from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.report.headline import PUBLISHED, SYSTEMS
from evenhand.report.pages.known_errors import COLUMNS, KINDS
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
from unit.report.checks import titles
from unit.report.made_once import made_once

#: The titles of objectives.
OBJECTIVES = {
    "objectives__erm": "ERM",
    "objectives__group_dro": "Group DRO",
    "objectives__iifr_text": "IIFR",
    "objectives__v_rex": "V-REx",
}


class Made(NamedTuple):
    """The results that a page shows, and the options of the page."""

    files: list[Path]
    options: dict[str, Any]
    results: Path


def slguset(repository: Path, folder: Path, text: str = "") -> Made:
    made = made_results.write_hostile if text else made_results.write_results
    results = made(folder, *[text] * bool(text))
    (results / "slguset_published/problems.csv").touch()  # other stages write these
    filters = ["names_jieba", "biology"]
    pack = "resources/packs/zh_gender"
    words = plan_report.reason_titles({"slguset": {"pack": pack, "filters": filters}})
    options = {"names": [*words], "titles": [*words.values()]}
    return Made(made_results.files(results), options, results)


def language_models(repository: Path, folder: Path, text: str = "") -> Made:
    name = text.replace("/", "|")  # which a file may have
    renamed = {"models": {"tiny-bert-en": name, "headless": f"{name} 2"}} if text else {}
    results = made_stereotypes.write_results(folder, **renamed, text=text)
    for tables in (results / "tables/pairs").iterdir():
        (tables / "models.csv").touch()
    return Made(made_stereotypes.files(results), {}, results)


def legal_cases(repository: Path, folder: Path, text: str = "") -> Made:
    tables, *files = made_legal.write_results(repository, folder)
    if text:
        edited(tables, tables, rules=lambda rows: [row | {"value": text, "flags": text}
                                                   for row in rows])  # fmt: skip
    options = {"declarations": [declaration("ecthr")], **titles(mine=text or "Mine")}
    return Made([tables, *files], options, folder)


def legal_classifiers(repository: Path, folder: Path, text: str = "") -> Made:
    tables, claims = made_classifiers.write_results(repository, folder)
    if text:
        named = dict.fromkeys(
            ("table_4", "claims"), lambda rows: [row | {"classifier": text} for row in rows]
        )
        edited(tables, tables, **named)
    options = {"declarations": [declaration("cail")]} | titles(mine=text or "Mine", **OBJECTIVES)
    return Made([tables, claims], options, folder)


def mitigation(repository: Path, folder: Path, text: str = "") -> Made:
    (tables, _), options, _ = legal_classifiers(repository, folder, text)
    people = individual_fairness(repository, folder, text).files
    return Made([tables, *people], options, folder)


def individual_fairness(repository: Path, folder: Path, text: str = "") -> Made:
    rows = made_individual.rows(*[text] * 2 * bool(text))
    return Made(made_individual.results(folder, rows, text), {}, folder)


@made_once
def predictions(repository: Path, folder: Path, text: str = "") -> Made:
    file = folder / "mine.csv"
    folder.mkdir(parents=True, exist_ok=True)
    named = people(shift=0.2).replace({"group": {"a": text or "a"}})
    named.to_csv(file, index=False)
    meta, tables = folder / "predictions/mine/meta.json", folder / "tables/predictions/mine"
    for place in (meta, tables):
        place.parent.mkdir(parents=True, exist_ok=True)
    audit_predictions(
        files=[file], label="y", prediction="p", groups=["group"], name="mine", out=tables,
        title=text or "Mine", cases=meta.with_name("cases"), meta=meta,
    )  # fmt: skip
    return Made([meta, tables], {}, folder)


def certificate(repository: Path, folder: Path, text: str = "") -> Made:
    findings = [
        Finding("m", "held", 0.95, least=0.9),
        Finding("m", "failed", 0.5, least=0.9),
        Finding("m", "known", None, least=0.9),
        Finding(text or "n", "shown", 3.0),
    ]
    verdicts = [
        judge("pairs", one, {("pairs", "m", "known"): KnownFailure(text or "Why.")})
        for one in findings
    ]
    which = {"language": "english", "family": "masked", "seed": 0, "method": text or "aul"}
    doses = [
        dose_row([effect] * 6, list("abcdef"), dose) | which | {"new_frames": effect < 0}
        for dose, effect in ((0, 0.1), (0.5, 1.0), (1, 2.0), (1, -2.0))
    ]
    tables = folder / "certificate"
    write_tables(tables, [(CERTIFICATE, verdicts), (dose_table("pairs", "Scores"), doses)])
    return Made([tables], {}, folder)


def known_errors(repository: Path, folder: Path, text: str = "") -> Made:
    rows = [
        dict.fromkeys(COLUMNS, f"{text} {kind}" if text else f"Words of `{system}`.")
        | {"id": f"e-{system}-{kind}", "system": system, "kind": kind}
        | ({} if kind == "data" else {"right": "", "effect": ""})
        for system in PUBLISHED
        for kind in KINDS
    ]
    folder.mkdir(exist_ok=True)
    with (folder / "errors.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return Made([folder / "errors.csv"], {}, folder)


def front(repository: Path, folder: Path, text: str = "") -> Made:
    parts = (language_models, slguset, legal_cases, mitigation, predictions)
    made = [part(repository, folder, text) for part in parts]
    bias = folder / "tables/bias/slguset_published"
    files = [path for part in made for path in part.files if path != bias]
    return Made(files, {"systems": list(SYSTEMS)}, folder)


#: Each by its name among `evenhand.report.page_list.PAGES`.
PAGES = {
    make.__name__: make
    for make in (
        front, language_models, legal_classifiers, individual_fairness, slguset, mitigation,
        legal_cases, predictions, certificate, known_errors,
    )
} | {"reproduction": front}  # fmt: skip
