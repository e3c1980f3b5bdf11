# Where every file came from, and the pages.

TEMPLATES = sorted(map(str, Path("workflow/evenhand/report/templates").iterdir()))


rule collect_provenance:
    input:
        results=plan.flat(*plan.page_inputs(config, SHARDS)),
        others=plan.other_files(config, SHARDS),
    output:
        "<results>/provenance.json",
    log:
        "<logs>/collect_provenance/all.log",
    benchmark:
        "<benchmarks>/collect_provenance/all.jsonl"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.report.collect_provenance"),
    shell:
        "python -m evenhand.report.collect_provenance --files {input.results} {input.others}"
        # not those of the report itself, which are of a later time than this
        ' --records $(grep -L \'"stage": "evenhand.report\' $EVENHAND_STATE/records/*.json)'
        " --out {output} 2> {log}"


rule write_slguset_page:
    input:
        **plan.result_files(config, SHARDS),
        provenance="<results>/provenance.json",
        templates=TEMPLATES,
    output:
        "<results>/report/index.html",
    log:
        "<logs>/write_slguset_page/all.log",
    benchmark:
        "<benchmarks>/write_slguset_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_slguset_page"),
        options=options("slguset.annotation", "notice"),
        pages=Options("report", {"pages": plan.pages(config)}),
    shell:
        "python -m evenhand.report.write_slguset_page {params.given} {params.options} {params.pages}"
        " --out {output} 2> {log}"


rule write_models_page:
    input:
        **plan.models_page_files(config),
        templates=TEMPLATES,
    output:
        "<results>/report/language_models.html",
    log:
        "<logs>/write_models_page/all.log",
    benchmark:
        "<benchmarks>/write_models_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_models_page"),
        pages=Options("report", {"pages": plan.pages(config)}),
    shell:
        "python -m evenhand.report.write_models_page {params.given} {params.pages}"
        " --provenance ../provenance.json --out {output} 2> {log}"


rule write_individual_page:
    input:
        **plan.individual_page_files(config),
        templates=TEMPLATES,
    output:
        "<results>/report/individual_fairness.html",
    log:
        "<logs>/write_individual_page/all.log",
    benchmark:
        "<benchmarks>/write_individual_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_individual_page"),
        pages=Options("report", {"pages": plan.pages(config)}),
    shell:
        "python -m evenhand.report.write_individual_page {params.given} {params.pages}"
        " --provenance ../provenance.json --out {output} 2> {log}"


rule write_legal_page:
    input:
        **plan_legal.page_files(config),
        templates=TEMPLATES,
    output:
        "<results>/report/legal_cases.html",
    log:
        "<logs>/write_legal_page/all.log",
    benchmark:
        "<benchmarks>/write_legal_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
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
        options=Options("legal", plan_legal.page_options(config)),
        pages=Options("report", {"pages": plan.pages(config)}),
    shell:
        "python -m evenhand.report.write_legal_page {params.given} {params.options}"
        " {params.pages} --provenance ../provenance.json --out {output} 2> {log}"


rule write_classifiers_page:
    input:
        **plan_legal.classifiers_page_files(config),
        templates=TEMPLATES,
    output:
        "<results>/report/legal_classifiers.html",
    log:
        "<logs>/write_classifiers_page/all.log",
    benchmark:
        "<benchmarks>/write_classifiers_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
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
        options=Options("legal", plan_legal.classifiers_page_options(config)),
        pages=Options("report", {"pages": plan.pages(config)}),
    shell:
        "python -m evenhand.report.write_classifiers_page {params.given} {params.options}"
        " {params.pages} --provenance ../provenance.json --out {output} 2> {log}"
