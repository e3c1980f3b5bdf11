# Where every file came from, and the pages.
import snakemake

from evenhand.report.pages import templates_of

TEMPLATES = {
    page: [f"workflow/evenhand/report/templates/{name}" for name in templates_of(page)]
    for page in plan_report.pages(config, SHARDS)
}
#: what is offered as tables, by what it is called among them
TABLES = {
    **{one.removeprefix("<results>/"): one for one in plan_report.tables(config, SHARDS)},
    "provenance.csv": "<results>/provenance.csv",
    "known_errors.csv": "resources/known_errors.csv",
    "paper_items.csv": "resources/paper_items.csv",
}
#: system -> what the front page reads of it
SYSTEMS = plan_report.headline_files(config, SHARDS)
PAGES = Options(None, {"pages": plan_report.pages(config, SHARDS)})
#: the splits whose cases can be looked at one by one
LINKED = derived("legal.cases_page.splits", {"linked": LEGAL["cases_page"]["splits"]})
#: explorer page -> its inputs, and its options
EXPLORERS = {
    "sentences": [plan_report.explorer_files(config)],
    "people": [
        plan_individual.people_files(config) | {"words": "resources/iifr/feature_words.csv"},
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
}
#: what the page of the run tells of and comes after: a benchmark that is being written is empty
BEFORE_RUN = [
    *plan_report.page_files(config, SHARDS)[:-1],
    "<results>/report/tables",
    *plan_cards.card_files(config),
]


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
            '--records $(grep -LE \'"stage": "evenhand.report.(collect_|export_|write_.*_page")\'',
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
        **stage("report.export_tables", Options(None, {"files": list(TABLES)})),
    shell:
        run("report.export_tables")


rule write_front_page:
    input:
        **SYSTEMS,
        errors="resources/known_errors.csv",
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("front", []),
    output:
        shown("<results>/report/index.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_front_page",
            Options(None, {"systems": list(SYSTEMS)}),
            Options(None, plan_report.titles(config)),
            options("slguset.annotation", "notice"),
            PAGES,
            plugins=[f"evenhand.report.headlines.{system}" for system in SYSTEMS],
        ),
    shell:
        run("report.write_front_page")


rule write_errors_page:
    input:
        errors="resources/known_errors.csv",
        templates=TEMPLATES.get("known_errors", []),
    output:
        shown("<results>/report/known_errors.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_errors_page", PAGES),
    shell:
        run("report.write_errors_page")


rule write_provenance_page:
    input:
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("provenance", []),
    output:
        shown("<results>/report/provenance.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_provenance_page", PAGES),
        results=lambda wildcards, output: str(Path(output[0]).parents[1]),
    shell:
        run("report.write_provenance_page", "--results {params.results}")


rule write_run_page:
    input:
        BEFORE_RUN,
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("run", []),
    output:
        out=shown("<results>/report/run.html"),
        jobs_out="<results>/report/run.csv",
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_run_page", PAGES),
        logs=f"{config['results']}/logs",
        benchmarks=f"{config['results']}/benchmarks",
        snakemake=snakemake.__version__,
    shell:
        "EVENHAND_CACHE= "
        + run(
            "report.write_run_page",
            "--logs {params.logs} --benchmarks {params.benchmarks} --snakemake {params.snakemake}",
        )


rule write_slguset_page:
    input:
        **plan_report.slguset_page_files(config, SHARDS),
        provenance="<results>/provenance.json",
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("slguset", []),
    output:
        shown("<results>/report/slguset.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_slguset_page",
            options("slguset.annotation", "notice"),
            Options(None, plan_report.reason_options(config)),
            PAGES,
        ),
    shell:
        run("report.write_slguset_page")


rule write_models_page:
    input:
        **plan_report.models_page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("language_models", []),
    output:
        shown("<results>/report/language_models.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_models_page", PAGES),
    shell:
        run("report.write_models_page", "--provenance ../provenance.json")


rule write_individual_page:
    input:
        **plan_report.individual_page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("individual_fairness", []),
    output:
        shown("<results>/report/individual_fairness.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_individual_page", PAGES),
    shell:
        run("report.write_individual_page")


rule write_legal_page:
    input:
        **plan_legal.page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("legal_cases", []),
    output:
        shown("<results>/report/legal_cases.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_legal_page",
            derived("legal.datasets", plan_legal.page_options(config)),
            LINKED,
            PAGES,
            plugins=KINDS,
        ),
    shell:
        run("report.write_legal_page", "--provenance ../provenance.json")


rule write_classifiers_page:
    input:
        **plan_classifiers.classifiers_page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("legal_classifiers", []),
    output:
        shown("<results>/report/legal_classifiers.html"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_classifiers_page",
            derived(
                "legal.datasets",
                plan_classifiers.classifiers_page_options(config),
                swapped="legal.swap",
                objectives=None,
                objective_titles=None,
            ),
            LINKED,
            PAGES,
            plugins=KINDS,
        ),
    shell:
        run("report.write_classifiers_page", "--provenance ../provenance.json")


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
            "report.explore_{wildcards.explorer}",
            lambda wildcards: Options.join(EXPLORERS[wildcards.explorer][1:]),
            PAGES,
            plugins=lambda wildcards: KINDS if wildcards.explorer == "cases" else [],
        ),
    shell:
        run("report.explore_{wildcards.explorer}")
