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
    **({"iifr_training.csv": INDIVIDUAL["training"]} if INDIVIDUAL["datasets"] else {}),
}
#: system -> what the front page reads of it
SYSTEMS = plan_report.headline_files(config, SHARDS)
PAGES = Options(None, {"pages": plan_report.pages(config, SHARDS)})
#: what the page of the run tells of and comes after: a benchmark that is being written is empty
BEFORE_RUN = [
    *plan_report.page_files(config, SHARDS)[:-1],
    "<results>/report/tables",
    *plan_cards.card_files(config),
]


rule collect_provenance:
    input:
        results=plan_report.traced_files(config, SHARDS),
    output:
        out=shown("<results>/provenance.json"),
        table="<results>/provenance.csv",
    log:
        "<logs>/collect_provenance/all.log",
    benchmark:
        "<benchmarks>/collect_provenance/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.report.collect_provenance"),
    shell:
        "python -m evenhand.report.collect_provenance --files {input.results}"
        # not those of pages and their tables, which are of a later time than this
        ' --records $(grep -LE \'"stage": "evenhand.report.(collect_|export_|write_.*_page")\''
        " $EVENHAND_STATE/records/*.json)"
        " --out {output.out} --table {output.table} 2> {log}"


rule export_tables:
    input:
        tables=list(TABLES.values()),
        provenance="<results>/provenance.json",
    output:
        directory("<results>/report/tables"),
    log:
        "<logs>/export_tables/all.log",
    benchmark:
        "<benchmarks>/export_tables/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.export_tables"),
        files=Options(None, {"files": list(TABLES)}),
    shell:
        "python -m evenhand.report.export_tables {params.given} {params.files} --out {output}"
        " 2> {log}"


rule write_front_page:
    input:
        **SYSTEMS,
        errors="resources/known_errors.csv",
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("front", []),
    output:
        shown("<results>/report/index.html"),
    log:
        "<logs>/write_front_page/all.log",
    benchmark:
        "<benchmarks>/write_front_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code(
            "evenhand.report.write_front_page",
            *(f"evenhand.report.headlines.{system}" for system in SYSTEMS),
        ),
        systems=Options(None, {"systems": list(SYSTEMS)}),
        titles=Options(None, plan_report.titles(config)),
        options=options("slguset.annotation", "notice"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_front_page {params.given} {params.systems}"
        " {params.titles} {params.options} {params.pages} --out {output} 2> {log}"


rule write_sentences_page:
    input:
        **plan_report.explorer_files(config),
        templates=TEMPLATES.get("sentences", []),
    output:
        out=shown("<results>/report/sentences.html"),
        tables_out=directory("<results>/report/sentences"),
    log:
        "<logs>/write_sentences_page/all.log",
    benchmark:
        "<benchmarks>/write_sentences_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_sentences_page"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_sentences_page {params.given} {params.pages}"
        " --out {output.out} --tables-out {output.tables_out} 2> {log}"


rule write_errors_page:
    input:
        errors="resources/known_errors.csv",
        templates=TEMPLATES.get("known_errors", []),
    output:
        shown("<results>/report/known_errors.html"),
    log:
        "<logs>/write_errors_page/all.log",
    benchmark:
        "<benchmarks>/write_errors_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_errors_page"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_errors_page {params.given} {params.pages}"
        " --out {output} 2> {log}"


rule write_provenance_page:
    input:
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("provenance", []),
    output:
        shown("<results>/report/provenance.html"),
    log:
        "<logs>/write_provenance_page/all.log",
    benchmark:
        "<benchmarks>/write_provenance_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_provenance_page"),
        results=lambda wildcards, output: str(Path(output[0]).parents[1]),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_provenance_page {params.given} {params.pages}"
        " --results {params.results} --out {output} 2> {log}"


rule write_run_page:
    input:
        provenance="<results>/provenance.json",
        templates=TEMPLATES.get("run", []),
        others=BEFORE_RUN,
    output:
        out=shown("<results>/report/run.html"),
        jobs_out="<results>/report/run.csv",
    log:
        "<logs>/write_run_page/all.log",
    benchmark:
        "<benchmarks>/write_run_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.report.write_run_page"),
        logs=f"{config['results']}/logs",
        benchmarks=f"{config['results']}/benchmarks",
        snakemake=snakemake.__version__,
        pages=PAGES,
    shell:
        "EVENHAND_CACHE= python -m evenhand.report.write_run_page --templates {input.templates}"
        " --provenance {input.provenance} {params.pages}"
        " --logs {params.logs} --benchmarks {params.benchmarks} --snakemake {params.snakemake}"
        " --out {output.out} --jobs-out {output.jobs_out} 2> {log}"


rule write_slguset_page:
    input:
        **plan_report.slguset_page_files(config, SHARDS),
        provenance="<results>/provenance.json",
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("slguset", []),
    output:
        shown("<results>/report/slguset.html"),
    log:
        "<logs>/write_slguset_page/all.log",
    benchmark:
        "<benchmarks>/write_slguset_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_slguset_page"),
        options=options("slguset.annotation", "notice"),
        reasons=Options(None, plan_report.reason_options(config)),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_slguset_page {params.given} {params.options}"
        " {params.reasons} {params.pages} --out {output} 2> {log}"


rule write_models_page:
    input:
        **plan_report.models_page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("language_models", []),
    output:
        shown("<results>/report/language_models.html"),
    log:
        "<logs>/write_models_page/all.log",
    benchmark:
        "<benchmarks>/write_models_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_models_page"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_models_page {params.given} {params.pages}"
        " --provenance ../provenance.json --out {output} 2> {log}"


rule write_individual_page:
    input:
        **plan_report.individual_page_files(config),
        training=INDIVIDUAL["training"],
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("individual_fairness", []),
    output:
        shown("<results>/report/individual_fairness.html"),
    log:
        "<logs>/write_individual_page/all.log",
    benchmark:
        "<benchmarks>/write_individual_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_individual_page"),
        about=derived("individual_fairness.training", plan_report.individual_page_options(config)),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_individual_page {params.given} {params.about}"
        " {params.pages} --provenance ../provenance.json --out {output} 2> {log}"


rule write_people_page:
    input:
        **plan_individual.people_files(config),
        words="resources/iifr/feature_words.csv",
        templates=TEMPLATES.get("people", []),
    output:
        out=shown("<results>/report/people.html"),
        tables_out=directory("<results>/report/people"),
    log:
        "<logs>/write_people_page/all.log",
    benchmark:
        "<benchmarks>/write_people_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_people_page"),
        options=derived("individual_fairness.datasets", plan_individual.people_options(config)),
        shown=options("individual_fairness.people_page"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_people_page {params.given} {params.options}"
        " {params.shown} {params.pages} --out {output.out} --tables-out {output.tables_out}"
        " 2> {log}"


rule write_legal_page:
    input:
        **plan_legal.page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("legal_cases", []),
    output:
        shown("<results>/report/legal_cases.html"),
    log:
        "<logs>/write_legal_page/all.log",
    benchmark:
        "<benchmarks>/write_legal_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code(
            "evenhand.report.write_legal_page",
            *sorted(
                {f"evenhand.legal.datasets.{one['kind']}" for one in LEGAL["datasets"].values()}
            ),
        ),
        options=derived("legal.datasets", plan_legal.page_options(config)),
        shown=options("legal.cases_page", "splits"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_legal_page {params.given} {params.options}"
        " {params.shown} {params.pages} --provenance ../provenance.json --out {output} 2> {log}"


rule write_classifiers_page:
    input:
        **plan_classifiers.classifiers_page_files(config),
        paper="resources/paper_items.csv",
        templates=TEMPLATES.get("legal_classifiers", []),
    output:
        shown("<results>/report/legal_classifiers.html"),
    log:
        "<logs>/write_classifiers_page/all.log",
    benchmark:
        "<benchmarks>/write_classifiers_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code(
            "evenhand.report.write_classifiers_page",
            *sorted(
                {f"evenhand.legal.datasets.{one['kind']}" for one in LEGAL["datasets"].values()}
            ),
        ),
        options=derived(
            "legal.datasets",
            plan_classifiers.classifiers_page_options(config),
            swapped="legal.swap",
            twinned="legal.classifiers",
            objectives="legal.classifiers",
            objective_titles=None,
        ),
        shown=options("legal.cases_page", "splits"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_classifiers_page {params.given} {params.options}"
        " {params.shown} {params.pages} --provenance ../provenance.json --out {output} 2> {log}"


rule write_cases_page:
    input:
        **plan_classifiers.cases_page_files(config),
        templates=TEMPLATES.get("cases", []),
    output:
        out=shown("<results>/report/cases.html"),
        tables_out=directory("<results>/report/cases"),
    log:
        "<logs>/write_cases_page/all.log",
    benchmark:
        "<benchmarks>/write_cases_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code(
            "evenhand.report.write_cases_page",
            *sorted(
                {f"evenhand.legal.datasets.{one['kind']}" for one in LEGAL["datasets"].values()}
            ),
        ),
        options=derived(
            "legal.datasets",
            plan_classifiers.cases_page_options(config),
            trainings="legal.classifiers",
            objectives="legal.classifiers",
            objective_titles=None,
        ),
        shown=options("legal.cases_page"),
        pages=PAGES,
    shell:
        "python -m evenhand.report.write_cases_page {params.given} {params.options}"
        " {params.shown} {params.pages} --out {output.out} --tables-out {output.tables_out}"
        " 2> {log}"
