# What the runs say: the paper's tables beside ours, sweeps, fronts, tests, findings.


rule tabulate_results:
    input:
        runs=plan_individual.table_runs(config),
        groups=plan_individual.table_runs(config, "groups"),
        published_4="resources/iifr/published_table_4.csv",
        published_6="resources/iifr/published_table_6.csv",
        published_7="resources/iifr/published_table_7.csv",
        published_8="resources/iifr/published_table_8.csv",
        settings=INDIVIDUAL["settings"],
        inconsistencies="resources/iifr/inconsistencies.csv",
    output:
        table_4=shown("<results>/tables/iifr_table_4.csv"),
        table_6=shown("<results>/tables/iifr_table_6.csv"),
        table_7=shown("<results>/tables/iifr_table_7.csv"),
        table_8=shown("<results>/tables/iifr_table_8.csv"),
    log:
        "<logs>/tabulate_results/all.log",
    benchmark:
        "<benchmarks>/tabulate_results/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.tabulate_results"),
    shell:
        "python -m evenhand.individual.tabulate_results {params.given}"
        " --table-4 {output.table_4} --table-6 {output.table_6}"
        " --table-7 {output.table_7} --table-8 {output.table_8} 2> {log}"


rule check_paper:
    input:
        published_4="resources/iifr/published_table_4.csv",
        published_6="resources/iifr/published_table_6.csv",
        published_7="resources/iifr/published_table_7.csv",
        published_8="resources/iifr/published_table_8.csv",
        mixes="resources/iifr/published_mixes.csv",
        rates="resources/iifr/published_rates.csv",
        inconsistencies="resources/iifr/inconsistencies.csv",
    output:
        shown("<results>/tables/iifr_inconsistencies.csv"),
    log:
        "<logs>/check_paper/all.log",
    benchmark:
        "<benchmarks>/check_paper/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.check_paper"),
    shell:
        "python -m evenhand.individual.check_paper {params.given} --out {output} 2> {log}"


rule count_people:
    input:
        **plan_individual.people_files(config),
    output:
        shown("<results>/tables/iifr_people.csv"),
    log:
        "<logs>/count_people/all.log",
    benchmark:
        "<benchmarks>/count_people/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.count_people"),
        trained=Options(None, {"trained_on": plan_individual.people_options(config)["trained_on"]}),
    shell:
        "python -m evenhand.individual.count_people {params.given} {params.trained}"
        " --out {output} 2> {log}"


rule sweep_lambdas:
    input:
        runs=plan_individual.table_runs(config),
    output:
        shown("<results>/tables/iifr_sweeps.csv"),
    log:
        "<logs>/sweep_lambdas/all.log",
    benchmark:
        "<benchmarks>/sweep_lambdas/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.sweep_lambdas"),
    shell:
        "python -m evenhand.individual.sweep_lambdas {params.given} --out {output} 2> {log}"


rule find_fronts:
    input:
        runs=plan_individual.table_runs(config),
    output:
        shown("<results>/tables/iifr_fronts.csv"),
    log:
        "<logs>/find_fronts/all.log",
    benchmark:
        "<benchmarks>/find_fronts/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.find_fronts"),
    shell:
        "python -m evenhand.individual.find_fronts {params.given} --out {output} 2> {log}"


rule compare_methods:
    input:
        runs=plan_individual.table_runs(config),
        settings=INDIVIDUAL["settings"],
    output:
        shown("<results>/tables/iifr_tests.csv"),
    log:
        "<logs>/compare_methods/all.log",
    benchmark:
        "<benchmarks>/compare_methods/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.compare_methods"),
    shell:
        "python -m evenhand.individual.compare_methods {params.given} --out {output} 2> {log}"


rule write_findings:
    input:
        table_4="<results>/tables/iifr_table_4.csv",
        table_6="<results>/tables/iifr_table_6.csv",
        table_7="<results>/tables/iifr_table_7.csv",
        table_8="<results>/tables/iifr_table_8.csv",
        sweeps="<results>/tables/iifr_sweeps.csv",
        fronts="<results>/tables/iifr_fronts.csv",
        tests="<results>/tables/iifr_tests.csv",
        data=expand("<results>/tabular/{name}/data.json", name=INDIVIDUAL["datasets"]),
    output:
        "<results>/tables/iifr_findings.json",
    log:
        "<logs>/write_findings/all.log",
    benchmark:
        "<benchmarks>/write_findings/all.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.individual.write_findings"),
    shell:
        "python -m evenhand.individual.write_findings {params.given} --out {output} 2> {log}"
