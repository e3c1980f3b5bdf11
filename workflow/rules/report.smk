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
    **{one.removeprefix("<results>/"): one for one in plan_report.tables(config, SHARDS)},
    "certificate": "resources/certificate",
    "provenance.csv": "<results>/provenance.csv",
    "known_errors.csv": "resources/known_errors.csv",
    "paper_items.csv": "resources/paper_items.csv",
}
#: system -> what the front page reads of it
SYSTEMS = plan_report.headline_files(config, SHARDS)
PAGES = Options(None, {"pages": plan_report.pages(config, SHARDS)})
TRACED = {"provenance": "<results>/provenance.json"}
#: for pages whose links to the page of provenance need no look into it
TO_PROVENANCE = Options(None, {"provenance": "../provenance.json"})
#: the splits whose cases can be looked at one by one
LINKED = derived("legal.cases_page.splits", {"linked": LEGAL["cases_page"]["splits"]})
CERTIFICATE = located({"certificate": "resources/certificate"})
PLANTED = {"planted": config["report"]["planted"]} if config["report"]["planted"] else {}
ERRORS = located({"errors": "resources/known_errors.csv"})
PAPER = located({"paper": "resources/paper_items.csv"})
#: page, as its file is called -> its stage, what it shows, its options, other modules that it runs
WRITTEN = {
    "index": (
        "write_front_page",
        SYSTEMS | TRACED | PLANTED,
        [Options(None, {"systems": list(SYSTEMS)} | plan_report.titles(config))],
        [f"evenhand.report.headlines.{system}" for system in SYSTEMS],
    ),
    "reproduction": (
        "write_front_page",
        SYSTEMS | PAPER | {"written": plan_report.paper_pages(config, SHARDS)},
        [
            Options(None, {"systems": list(SYSTEMS)} | plan_report.titles(config)),
            Options(None, {"page": "reproduction"}),
        ],
        [f"evenhand.report.headlines.{system}" for system in SYSTEMS],
    ),
    "slguset": (
        "write_slguset_page",
        plan_report.slguset_page_files(config, SHARDS) | TRACED,
        [Options(None, plan_report.reason_options(config))],
        [],
    ),
    "language_models": (
        "write_models_page",
        plan_report.models_page_files(config),
        [TO_PROVENANCE],
        [],
    ),
    "individual_fairness": (
        "write_individual_page",
        plan_report.individual_page_files(config),
        [],
        [],
    ),
    "legal_cases": (
        "write_legal_page",
        plan_legal.page_files(config),
        [
            derived("legal.datasets", plan_legal.page_options(config)),
            LINKED,
            TO_PROVENANCE,
        ],
        [],
    ),
    "legal_classifiers": (
        "write_classifiers_page",
        plan_classifiers.classifiers_page_files(config),
        [
            derived(
                "legal.datasets",
                plan_classifiers.classifiers_page_options(config) | {"swapped": LEGAL["swap"]},
                swapped="legal.swap",
                objectives=None,
                objective_titles=None,
            ),
            LINKED,
            TO_PROVENANCE,
        ],
        [],
    ),
    "mitigation": (
        "write_mitigation_page",
        plan_report.mitigation_page_files(config),
        [
            derived(
                "legal.datasets",
                plan_classifiers.classifiers_page_options(config),
                objectives=None,
                objective_titles=None,
            ),
            LINKED,
            TO_PROVENANCE,
        ],
        [],
    ),
    "predictions": ("write_predictions_page", plan_predictions.page_files(config), [], []),
    "certificate": ("write_certificate_page", CERTIFICATE, [], []),
    "known_errors": ("write_errors_page", ERRORS, [], []),
    "provenance": (
        "write_provenance_page",
        TRACED,
        [derived("results", {"results": config["results"]})],
        [],
    ),
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
            trainings="legal.classifiers",
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
        out=shown("<results>/provenance.json"),
        table="<results>/provenance.csv",
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.collect_provenance"),
    shell:
        run(
            "report.collect_provenance",
            # not those of pages and their tables, which are of a later time than this
            '--records $(grep -LE \'"stage": "evenhand.report.(collect_|export_|explore_|write_(.*_page|shared)")\'',
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
        licences=[f"workflow/evenhand/report/templates/{name}" for name in page_list.DRAWING.values()],
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
        unpack(lambda wildcards: WRITTEN[wildcards.page][1]),
        templates=lambda wildcards: TEMPLATES[wildcards.page],
    output:
        shown(
            "<results>/report/{page}.html",
            labels=lambda wildcards: {"result": TITLES[wildcards.page]},
        ),
    wildcard_constraints:
        page="|".join(WRITTEN),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            lambda wildcards: f"report.{WRITTEN[wildcards.page][0]}",
            lambda wildcards: Options.join([*WRITTEN[wildcards.page][2], PAGES]),
            plugins=lambda wildcards: WRITTEN[wildcards.page][3],
        ),
        module=lambda wildcards: WRITTEN[wildcards.page][0],
    shell:
        run("report.{params.module}")


rule write_explorer:
    input:
        unpack(lambda wildcards: EXPLORERS[wildcards.explorer][0]),
        templates=lambda wildcards: TEMPLATES[wildcards.explorer],
    output:
        out=shown("<results>/report/{explorer}.html"),
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
