# Where every file came from, and the pages.
from evenhand.report import page_list

#: page, as its file is called -> the templates that it may use
TEMPLATES = {
    Path(file).stem: [
        f"<results>/report/{page_list.NOTICE}",
        *(
            located(f"workflow/evenhand/report/templates/{name}")
            for name in page_list.templates_of(page, config["report"]["single_file"])
        ),
    ]
    for page, (file, _) in page_list.PAGES.items()
}
TITLES = {Path(file).stem: title for file, title in page_list.PAGES.values()}
#: what is offered as tables, by what it is called among them
TABLES = {
    **{path.removeprefix("<results>/"): path for path in plan_report.tables(config, SHARDS)},
    "certificate": "resources/certificate",
    "provenance.csv": "<results>/provenance.csv",
    "known_errors.csv": "resources/known_errors.csv",
    "paper_items.csv": "resources/paper_items.csv",
}
#: system -> what the front page reads of it
SYSTEMS = plan_report.headline_files(config, SHARDS)
PAGES = Options(None, {"pages": plan_report.pages(config, SHARDS)})
#: page -> the results that it shows
SHOWN_ON = plan_report.page_inputs(config, SHARDS)
TRACED = "<results>/provenance.json"
#: page -> its further inputs
MORE_INPUTS = {
    "front": [*plan_report.flat(SYSTEMS), TRACED],
    "reproduction": [
        *plan_report.flat(SYSTEMS),
        located("resources/paper_items.csv"),
        *plan_report.paper_pages(config, SHARDS),
    ],
    "slguset": [TRACED],
    "legal_classifiers": [located("resources/legal/published_claims.csv")],
    "certificate": [located("resources/certificate")],
    "known_errors": [located("resources/known_errors.csv")],
    "provenance": [TRACED],
}
LEGAL_TITLES = plan_report.legal_titles(config)
#: the splits whose cases can be looked at one by one
LINKED = derived("legal.cases_page.splits", {"linked": LEGAL["cases_page"]["splits"]})
#: page -> its options
PAGE_OPTIONS = {
    "front": [titled(LEGAL_TITLES, systems=list(SYSTEMS)), options("inference", "delta")],
    "reproduction": [titled(LEGAL_TITLES, systems=list(SYSTEMS)), options("inference", "delta")],
    "individual_fairness": [options("inference", "delta")],
    "slguset": [titled(plan_report.reason_titles(config))],
    "legal_cases": [
        titled(LEGAL_TITLES),
        derived("legal.datasets", plan_legal.declarations(config)),
        LINKED,
    ],
    "legal_classifiers": [
        titled(LEGAL_TITLES),
        derived("legal.datasets", plan_classifiers.declarations(config)),
        derived("legal.swap", {"swapped": LEGAL["swap"]}),
        LINKED,
    ],
    "predictions": [titled(LEGAL_TITLES)],
    "mitigation": [
        titled(LEGAL_TITLES),
        derived("legal.datasets", plan_classifiers.declarations(config)),
        LINKED,
    ],
    "provenance": [derived("results", {"results": config["results"]})],
}


#: page, as its file is called -> the results that it shows, its options, the modules that write it
WRITTEN = {
    Path(file).stem: (
        {
            "files": [*SHOWN_ON.get(name, []), *MORE_INPUTS.get(name, [])],
            "planted": [config["report"]["planted"] if name == "front" else None],
        },
        [Options(None, {"page": name}), *PAGE_OPTIONS.get(name, []), PAGES],
        [
            f"evenhand.report.pages.{name}",
            *(
                f"evenhand.report.headlines.{system}"
                for system in SYSTEMS
                if name in ("front", "reproduction")
            ),
        ],
    )
    for name, (file, _) in page_list.PAGES.items()
    if name not in page_list.EXPLORERS
}
#: explorer page -> its inputs, and its options
EXPLORERS = {
    "sentences": [plan_report.explorer_files(config)],
    "people": [
        plan_individual.people_files(config)
        | located({"words": "resources/iifr/feature_words.csv"}),
        derived("individual_fairness.datasets", plan_individual.people_options(config)),
        options("individual_fairness.people_page"),
    ],
    "cases": [
        plan_classifiers.cases_page_files(config),
        derived(
            "legal.datasets",
            plan_classifiers.cases_page_options(config),
            objectives="legal.classifiers",
            objective_titles=None,
        ),
        options("legal.cases_page"),
    ],
    "predicted": [plan_predictions.explorer_files(config)],
}


rule collect_provenance:
    input:
        files=plan_report.traced_files(config, SHARDS),
    output:
        out=in_report("<results>/provenance.json"),
        table="<results>/provenance.csv",
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.collect_provenance"),
    shell:
        run(
            "report.collect_provenance",
            # not those of pages and their tables, which are of a later time than this
            '--records $(grep -LE \'"stage": "evenhand.report.(collect_|export_|explore_|write_(page|shared)")\'',
            "$EVENHAND_STATE/records/*.json)",
        )


rule export_tables:
    input:
        tables=list(TABLES.values()),
        provenance="<results>/provenance.json",
    output:
        directory("<results>/report/tables"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.export_tables",
            Options(None, {"files": list(TABLES)}),
            derived("notice", {"notice": config["notice"]}),
        ),
    shell:
        run("report.export_tables")


rule write_shared:
    input:
        scripts=[f"workflow/evenhand/report/templates/{name}" for name in page_list.DRAWING],
        licences=[
            f"workflow/evenhand/report/templates/{name}" for name in page_list.DRAWING.values()
        ],
    output:
        out=f"<results>/report/{page_list.BESIDE}",
        notice_out=f"<results>/report/{page_list.NOTICE}",
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_shared", derived("notice", {"notice": config["notice"]})),
    shell:
        run("report.write_shared")


rule write_page:
    input:
        unpack(
            lambda wildcards: {
                name: paths
                for name, files in WRITTEN[wildcards.page][0].items()
                if (paths := [file for file in files if file])
            }
        ),
        templates=lambda wildcards: TEMPLATES[wildcards.page],
    output:
        in_report(
            "<results>/report/{page}.html",
            labels=lambda wildcards: {"result": TITLES[wildcards.page]},
        ),
    wildcard_constraints:
        page="|".join(WRITTEN),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_page",
            lambda wildcards: Options.join(WRITTEN[wildcards.page][1]),
            plugins=lambda wildcards: WRITTEN[wildcards.page][2],
        ),
    shell:
        run("report.write_page")


rule write_explorer:
    input:
        unpack(lambda wildcards: EXPLORERS[wildcards.explorer][0]),
        templates=lambda wildcards: TEMPLATES[wildcards.explorer],
    output:
        out=in_report("<results>/report/{explorer}.html"),
        tables_out=directory("<results>/report/{explorer}"),
    wildcard_constraints:
        explorer="|".join(EXPLORERS),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            lambda wildcards: f"report.explore_{wildcards.explorer}",
            lambda wildcards: Options.join(EXPLORERS[wildcards.explorer][1:]),
            PAGES,
        ),
    shell:
        run("report.explore_{wildcards.explorer}")
