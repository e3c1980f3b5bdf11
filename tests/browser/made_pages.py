"""Pages of made results: hostile ones, and those of a run of one system."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.individual.tabulate_individual import tabulate_individual
from evenhand.learning.train_eidig import train_eidig
from evenhand.report.explore_cases import explore_cases
from evenhand.report.explore_people import explore_people
from evenhand.report.explore_sentences import explore_sentences
from evenhand.report.export_tables import export_tables
from evenhand.report.page_list import BESIDE, DRAWING, NOTICE, PAGES
from evenhand.report.write_page import write_page
from evenhand.report.write_shared import write_shared
from evenhand.tabular.prepared import write_prepared
from unit.individual.made_study import FACTS
from unit.learning import made_eidig as of_eidig
from unit.report import made_case_page, made_explorer, made_people, made_results
from unit.report.made_pages import PAGES as MADE

#: What a sentence, a title or a label may hold: markup, script, quotes, a formula of a
#: spreadsheet, a mark of writing direction, and what a template might take for its own.
HOSTILE = (
    '=HYPERLINK("javascript:hacked=1")<script>window.hacked=2</script>\'"><img src=x'
    " onerror=window.hacked=3><svg onload=window.hacked=4>\u202e&amp;{{ 7*7 }}</title></svg>"
    "</script><!--"
)

#: The pages of the demo.
DEMO = [*PAGES]

#: The pages of a run without predictions.
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
    provenance = write_provenance(results / "provenance.json")
    for page in (page for page in WHOLE if page in MADE):
        made = MADE[page](repository, folder(results / f"of_{page}"), HOSTILE)
        files = [*made.files, provenance]
        write_page(page=page, files=files, out=report / PAGES[page][0], **common, **made.options)
    write_page(page="provenance", files=[provenance], out=report / "provenance.html", **common)
    explore_people(
        **common, out=report / "people.html", tables_out=report / "people",
        **made_people.joined(
            made_people.two_groups(results / "tabular/mine", HOSTILE, many=40),
            made_people.three_groups(results / "tabular/other"),
        ),
    )  # fmt: skip
    explore_cases(
        **common, out=report / "cases.html", tables_out=report / "cases",
        **made_case_page.joined(
            made_case_page.ecthr(results / "legal/explored", HOSTILE, many=40),
            made_case_page.cail(results / "legal/other"),
        ),
    )  # fmt: skip
    explore_sentences(
        **common, out=report / "sentences.html", tables_out=report / "sentences",
        **made_explorer.write_results(folder(results / "explored"), HOSTILE),
    )  # fmt: skip
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
    made = {
        "slguset": made_results.files(results),
        "certificate": MADE["certificate"](repository, results).files,
        "known_errors": [repository / "resources/known_errors.csv"],
        "provenance": [write_provenance(results / "provenance.json", "made", results)],
    }
    made["front"] = made["reproduction"] = [
        results / "tables/corpus",
        results / "tables/bias/slguset",
    ]
    (results / "made").touch()
    for page, paths in made.items():
        systems = ["slguset"] if page in ("front", "reproduction") else []
        out = report / PAGES[page][0]
        write_page(page=page, files=paths, systems=systems, out=out, **common)
    paths = sorted([*results.glob("slguset*/**/*.csv"), *results.glob("slguset*/*.json")])
    paths += sorted(results.glob("tables/**/*.csv"))
    files = {path.relative_to(results).as_posix(): path for path in paths}
    files |= {f"{name}.csv": repository / f"resources/{name}.csv" for name in RESOURCES}
    files["provenance.csv"] = files["known_errors.csv"]  # any table
    files["certificate"] = results / "certificate"
    export_tables(
        tables=list(files.values()), files=list(files), provenance=results / "provenance.json",
        out=report / "tables",
    )  # fmt: skip
    return report


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
        **files, data=[data], meta=[meta], published=FACTS, training=training,
        settings=repository / "resources/iifr/settings.csv", out=tables,
    )  # fmt: skip
    told: dict[str, Any] = {
        "people": [data], "meta": [meta], "runs": files["runs"],
        "predictions": files["predictions"], "tables": tables,
    }  # fmt: skip
    common = {"templates": made_results.templates(repository), "pages": list(PAGES)}
    for page in ("individual_fairness", "mitigation"):
        write_page(page=page, files=[tables, meta], out=report / f"{page}.html", **common)
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
