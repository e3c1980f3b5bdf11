# The result tables of pairs: all tables of a set in one job, and a check on released scores.


rule tabulate_pairs:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        out=shown_folder("<results>/tables/pairs/{set}"),
    log:
        "<logs>/tabulate_pairs/{set}.log",
    benchmark:
        "<benchmarks>/tabulate_pairs/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=family("evenhand.stereotypes.tabulate_pairs", "evenhand.stereotypes.tables"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.tabulate_pairs {params.given} {params.options}"
        " --out {output.out} 2> {log}"


rule check_released:
    input:
        gold=lambda wildcards: source_of(STEREOTYPES["released"]["gold"]),
        scores=lambda wildcards: [source_of(one) for one in STEREOTYPES["released"]["scores"]],
        published="resources/stereotypes/published_stereoset.csv",
    output:
        shown_folder("<results>/tables/released"),
    log:
        "<logs>/check_released/all.log",
    benchmark:
        "<benchmarks>/check_released/all.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.check_released"),
    shell:
        "python -m evenhand.stereotypes.check_released {params.given} --out {output} 2> {log}"
