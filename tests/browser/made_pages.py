"""Pages of made results: hostile ones, and those of a run of one system."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.certificates.dose_response import dose_row, dose_table
from evenhand.certificates.study import CERTIFICATE, Finding, judge
from evenhand.core.tables import write_tables
from evenhand.individual.tabulate_individual import tabulate_individual
from evenhand.learning.train_eidig import train_eidig
from evenhand.report.explore_cases import explore_cases
from evenhand.report.explore_people import explore_people
from evenhand.report.explore_sentences import explore_sentences
from evenhand.report.export_tables import export_tables
from evenhand.report.headline import PUBLISHED, SYSTEMS
from evenhand.report.known_errors import COLUMNS
from evenhand.report.page_list import BESIDE, DRAWING, NOTICE, PAGES
from evenhand.report.write_certificate_page import write_certificate_page
from evenhand.report.write_classifiers_page import write_classifiers_page
from evenhand.report.write_errors_page import write_errors_page
from evenhand.report.write_front_page import write_front_page
from evenhand.report.write_individual_page import write_individual_page
from evenhand.report.write_legal_page import write_legal_page
from evenhand.report.write_mitigation_page import write_mitigation_page
from evenhand.report.write_models_page import write_models_page
from evenhand.report.write_provenance_page import write_provenance_page
from evenhand.report.write_shared import write_shared
from evenhand.report.write_slguset_page import write_slguset_page
from evenhand.tabular.prepared import write_prepared
from unit.individual.made_study import FACTS, PHRASES
from unit.learning import made_eidig as of_eidig
from unit.legal.made_cases import declaration
from unit.report import (
    made_case_page,
    made_classifiers,
    made_explorer,
    made_individual,
    made_legal,
    made_people,
    made_results,
    made_stereotypes,
)

#: What a sentence, a title or a label may hold: markup, script, quotes, a formula of a
#: spreadsheet, a mark of writing direction, and what a template might take for its own.
HOSTILE = (
    '=HYPERLINK("javascript:hacked=1")<script>window.hacked=2</script>\'"><img src=x'
    " onerror=window.hacked=3><svg onload=window.hacked=4>\u202e&amp;{{ 7*7 }}</title></svg>"
    "</script><!--"
)

#: The same as the name of a file.
HOSTILE_NAME = HOSTILE.replace("/", "∕")

#: The pages of a run without predictions that were made elsewhere, as the demo is one.
WHOLE = [page for page in PAGES if page not in ("predictions", "predicted")]

#: The pages of a run of SlguSet alone.
ONE_SYSTEM = ["front", "slguset", "sentences", "reproduction", "certificate", "known_errors"]
ONE_SYSTEM += ["provenance"]


#: Tables of the repository that pages offer.
RESOURCES = ("known_errors", "paper_items")


def hostile(repository: Path, results: Path) -> Path:
    """All pages, with `HOSTILE` wherever data has a say; the folder that they lie in."""
    report = results / "report"
    report.mkdir(parents=True)
    (report / NOTICE).write_text(HOSTILE, encoding="utf-8")
    templates = [*made_results.templates(repository), report / NOTICE]
    common = {"templates": templates, "pages": WHOLE}
    slguset = made_results.write_hostile(results, HOSTILE)
    provenance = write_provenance(results / "provenance.json")
    write_slguset_page(
        **common, out=report / "slguset.html", provenance=provenance,
        **made_results.arguments(slguset),
    )  # fmt: skip

    models = made_stereotypes.write_results(
        results,
        models={"tiny-bert-en": HOSTILE_NAME, "headless": f"{HOSTILE_NAME} 2"},
        sets={"crows_pairs": HOSTILE_NAME},
        text=HOSTILE,
    )
    of_models = made_stereotypes.arguments(models)
    write_models_page(
        **common, out=report / "language_models.html", provenance="../provenance.json", **of_models
    )

    made = made_individual.rows(HOSTILE, HOSTILE)
    tables = made_individual.results(results / "tables", made, HOSTILE)
    write_individual_page(**common, out=report / "individual_fairness.html", **tables)

    explore_people(
        **common, out=report / "people.html", tables_out=report / "people",
        **made_people.joined(
            made_people.two_groups(results / "tabular/mine", HOSTILE, many=40),
            made_people.three_groups(results / "tabular/other"),
        ),
    )  # fmt: skip

    of_cases = made_legal.write_results(repository, results / "tables")
    write_legal_page(
        **common,
        out=report / "legal_cases.html",
        titles=[HOSTILE],
        declarations=[declaration("ecthr")],
        **of_cases,
    )
    of_classifiers = made_classifiers.write_results(repository, results / "tables")
    write_classifiers_page(
        **common, out=report / "legal_classifiers.html", titles=[HOSTILE],
        declarations=[declaration("cail")],
        **of_classifiers,
    )  # fmt: skip

    write_mitigation_page(
        **common, out=report / "mitigation.html", titles=[HOSTILE],
        declarations=[declaration("cail")],
        tables=of_classifiers["tables"], individual=tables["tables"], data=tables["data"],
    )  # fmt: skip

    explore_cases(
        **common, out=report / "cases.html", tables_out=report / "cases",
        **made_case_page.joined(
            made_case_page.ecthr(results / "legal/explored", HOSTILE, many=40),
            made_case_page.cail(results / "legal/other"),
        ),
    )  # fmt: skip

    found = {
        "systems": list(SYSTEMS),
        "slguset": [slguset / "tables/corpus", slguset / "tables/bias/slguset"],
        "language_models": [
            *of_models["sets"], *of_models["gates"], *of_models["tables"],
            of_models["released"],
        ],
        "legal": [*of_cases["tables"], *of_classifiers["tables"]],
        "names": ["mine"], "titles": [HOSTILE],
    }  # fmt: skip
    write_front_page(**common, out=report / "index.html", provenance=provenance, **found)
    write_front_page(**common, out=report / "reproduction.html", page="reproduction", **found)
    write_certificate(common, results, report, HOSTILE)
    write_errors(results / "errors.csv")
    write_errors_page(**common, out=report / "known_errors.html", errors=results / "errors.csv")
    explore_sentences(
        **common, out=report / "sentences.html", tables_out=report / "sentences",
        **made_explorer.write_results(folder(results / "explored"), HOSTILE),
    )  # fmt: skip
    write_provenance_page(
        **common, out=report / "provenance.html", provenance=provenance, results="results"
    )
    return report


def one_system(repository: Path, results: Path) -> Path:
    """The pages of a run that has SlguSet alone; the folder that they lie in."""
    report = folder(results / "report")
    drawing = [*DRAWING, *DRAWING.values()]
    files = {path.name: path for path in made_results.templates(repository)}
    write_shared(
        scripts=[files[name] for name in DRAWING],
        licences=[files[name] for name in DRAWING.values()],
        out=report / BESIDE,
        notice_out=report / NOTICE,
        notice="",
    )
    without = [path for name, path in files.items() if name not in drawing]
    common = {"templates": without, "pages": ONE_SYSTEM}
    made_results.write_results(results)
    sources = ("slguset", "slguset_published")
    scores = [path for one in sources for path in (results / one / "bias").glob("*.parquet")]
    explore_sentences(
        **common, out=report / "sentences.html", tables_out=report / "sentences",
        datasets=[results / one / "slguset.parquet" for one in sources],
        summaries=[results / "tables/bias" / one for one in sources], bias_scores=scores,
    )  # fmt: skip
    shutil.copyfile(
        results / "tables/published/filters.csv", results / "slguset_published/problems.csv"
    )
    files = made_results.arguments(results)
    write_slguset_page(**common, out=report / "slguset.html", **files)
    found = {"systems": ["slguset"], "slguset": [files["corpus"], files["bias"][0]]}
    write_front_page(**common, out=report / "index.html", **found)
    write_front_page(**common, out=report / "reproduction.html", page="reproduction", **found)
    write_certificate(common, results, report, "method")
    errors = repository / "resources/known_errors.csv"
    write_errors_page(**common, out=report / "known_errors.html", errors=errors)
    provenance = write_provenance(results / "provenance.json", "made", results)
    (results / "made").touch()
    write_provenance_page(
        **common, out=report / "provenance.html", provenance=provenance, results="results"
    )
    paths = sorted([*results.glob("slguset*/**/*.csv"), *results.glob("slguset*/*.json")])
    paths += sorted(results.glob("tables/**/*.csv"))
    files = {path.relative_to(results).as_posix(): path for path in paths}
    files |= {f"{name}.csv": repository / f"resources/{name}.csv" for name in RESOURCES}
    files["provenance.csv"] = errors  # any table
    files["certificate"] = results / "certificate"
    export_tables(
        tables=list(files.values()), files=list(files), provenance=provenance,
        out=report / "tables",
    )  # fmt: skip
    return report


def write_certificate(common: dict, results: Path, report: Path, method: str) -> None:
    """The page of a certificate with one measure of each verdict, and a figure."""
    bounds = ({"least": 0}, {"least": 2}, {})
    findings = [Finding(method, f"{method} {i}", 1.0, **one) for i, one in enumerate(bounds)]
    rows = [
        dose_row([dose + 0.1] * 6, list("abcdef"), dose)
        | {"language": method, "family": "masked", "method": method, "seed": 0}
        | {"new_frames": False}
        for dose in (0, 0.5, 1)
    ]
    verdicts = [judge("made", one, {}) for one in findings]
    folder = results / "certificate"
    write_tables(folder, [(CERTIFICATE, verdicts), (dose_table("made", "Scores"), rows)])
    write_certificate_page(**common, out=report / "certificate.html", certificate=folder)


def eidig(repository: Path, results: Path) -> Path:
    """The pages of individual fairness of EIDIG alone, on features and on whole numbers.

    These have three groups of the same people, whose attribute has two.
    """
    report = folder(results / "report")
    made = of_eidig.people(240)
    sizes = made.integers[:, 1] // 2
    names = {"title": "Made", "integer_groups": ["small", "of middle size", "large"]}
    made = replace(made, integers=np.column_stack([made.integers[:, :2], sizes]), meta=names)
    data, meta = results / "data.parquet", results / "data.json"
    write_prepared(made, data, meta)
    training = results / "training.csv"
    training.write_text(
        "dataset,hidden,adversary,learning_rate,batch,epochs\ndefault,8;6,4,1,32,4\n",
        encoding="utf-8",
    )
    files: dict[str, list[Path]] = {}
    for track in ("base", "integers"):
        for kind in ("runs", "groups", "predictions"):
            files.setdefault(kind, []).append(results / f"{kind}_{track}.parquet")
        train_eidig(
            data=data, meta=meta, training=training, track=track, seeds=2, tries=20,
            out=files["runs"][-1], groups=files["groups"][-1],
            predictions=files["predictions"][-1],
        )  # fmt: skip
    tables = results / "tables/individual"
    tabulate_individual(
        **files, data=[data], meta=[meta], published=FACTS, training=training, phrases=PHRASES,
        settings=repository / "resources/iifr/settings.csv", out=tables,
    )  # fmt: skip
    told: dict[str, Any] = {
        "people": [data], "meta": [meta], "runs": files["runs"],
        "predictions": files["predictions"], "tables": tables,
        "trained_on": ["made/eidig/base", "made/eidig/integers"],
    }  # fmt: skip
    common = {"templates": made_results.templates(repository), "pages": list(PAGES)}
    write_individual_page(
        **common, out=report / "individual_fairness.html", tables=tables, data=[meta]
    )
    write_mitigation_page(**common, out=report / "mitigation.html", individual=tables, data=[meta])
    explore_people(
        **common, out=report / "people.html", tables_out=report / "people", formats=["table"],
        **told,
    )  # fmt: skip
    return report


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_provenance(path: Path, text: str = HOSTILE, results: Path | None = None) -> Path:
    """A record of a file of this name, and of each table of `results`."""
    entry = dict.fromkeys(("stage", "code", "sha256"), text) | {
        "file": f"results/{text}", "result": True, "kind": "file", "bytes": 1, "rows": 1,
        "columns": [text], "parameters": {text: text}, "config": {text: text},
        "packages": {text: text}, "counts": {text: 1},
        "inputs": {text: [{"sha256": text, "file": text}]},
    }  # fmt: skip
    files = sorted(path for path in results.rglob("*.*") if path.is_file()) if results else []
    entries = [entry] + [
        entry | {"file": f"results/{file.relative_to(results).as_posix()}", "sha256": f"{i:064x}"}
        for i, file in enumerate(files)
        if "report" not in file.parts
    ]
    document = {"files": entries, "sources": [{"file": text, "sha256": text}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_errors(path: Path) -> Path:
    """Known errors of each system and kind, in hostile words."""
    kinds = ("paper", "reference_code", "data")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval=HOSTILE)
        writer.writeheader()
        for i, system in enumerate(PUBLISHED):
            writer.writerow({"id": f"id-{i}", "system": system, "kind": kinds[i % 3]})
    return path
