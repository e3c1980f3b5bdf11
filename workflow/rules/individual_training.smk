# Tables of people, made ready, and the classifiers that are trained on them.

PUBLISHED_GROUPS = expand("resources/iifr/published_table_{number}.csv", number=[1, 2])


rule prepare_table:
    input:
        files=lambda wildcards: plan_individual.table_files(config, SOURCES, wildcards.dataset),
    output:
        out="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
    log:
        "<logs>/prepare_table/{dataset}.log",
    benchmark:
        "<benchmarks>/prepare_table/{dataset}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=lambda wildcards: code(
            "evenhand.tabular.prepare_table",
            f"evenhand.tabular.formats.{INDIVIDUAL['datasets'][wildcards.dataset]['format']}",
        )(wildcards),
        options=lambda wildcards: options(
            f"individual_fairness.datasets.{wildcards.dataset}", *plan_individual.TABLE_OPTIONS
        ),
    shell:
        "python -m evenhand.tabular.prepare_table {params.given} --name {wildcards.dataset}"
        " {params.options} --out {output.out} --meta {output.meta} 2> {log}"


rule describe_table:
    input:
        data="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
        published=PUBLISHED_GROUPS,
    output:
        shown("<results>/tables/{dataset}_groups.csv"),
    log:
        "<logs>/describe_table/{dataset}.log",
    benchmark:
        "<benchmarks>/describe_table/{dataset}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.tabular.describe_table"),
    shell:
        "python -m evenhand.tabular.describe_table {params.given} --out {output} 2> {log}"


rule train_table:
    input:
        data="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
        training=INDIVIDUAL["training"],
    output:
        out="<results>/tabular/{dataset}/runs/{split}/{method}.parquet",
        groups="<results>/tabular/{dataset}/groups/{split}/{method}.parquet",
        predictions="<results>/tabular/{dataset}/predictions/{split}/{method}.parquet",
    log:
        "<logs>/train_table/{dataset}/{split}/{method}.log",
    benchmark:
        "<benchmarks>/train_table/{dataset}/{split}/{method}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=given,
        code=lambda wildcards: code(
            "evenhand.learning.train_table",
            *plan_individual.training_modules(config, wildcards.method, wildcards.split),
        )(wildcards),
        options=lambda wildcards: Options(
            "individual_fairness",
            plan_individual.training_options(config, wildcards.method, wildcards.split),
            plan_individual.training_keys(config, wildcards.method),
        ),
    shell:
        "python -m evenhand.learning.train_table {params.given} --method {wildcards.method}"
        " --split {wildcards.split} {params.options} --out {output.out}"
        " --groups {output.groups} --predictions {output.predictions} 2> {log}"


rule train_eidig:
    input:
        data="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
        training=INDIVIDUAL["training"],
    output:
        out="<results>/tabular/{dataset}/runs/eidig/{track}.parquet",
        groups="<results>/tabular/{dataset}/groups/eidig/{track}.parquet",
        predictions="<results>/tabular/{dataset}/predictions/eidig/{track}.parquet",
    log:
        "<logs>/train_eidig/{dataset}/{track}.log",
    benchmark:
        "<benchmarks>/train_eidig/{dataset}/{track}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given=given,
        code=code("evenhand.learning.train_eidig"),
        options=options("individual_fairness.eidig", "seeds", "variant"),
        kept=options("individual_fairness", "predicted_seeds"),
    shell:
        "python -m evenhand.learning.train_eidig {params.given} --track {wildcards.track}"
        " {params.options} {params.kept} --out {output.out} --groups {output.groups}"
        " --predictions {output.predictions} 2> {log}"
