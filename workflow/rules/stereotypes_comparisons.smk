# Which methods and which models agree: with people, with each other, with what was published.


rule meta_evaluate:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        out=shown("<results>/tables/{set}_meta_evaluation.csv"),
        roc=shown("<results>/tables/{set}_roc.csv"),
        auc_tests=shown("<results>/tables/{set}_auc_tests.csv"),
    log:
        "<logs>/meta_evaluate/{set}.log",
    benchmark:
        "<benchmarks>/meta_evaluate/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.meta_evaluate"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.meta_evaluate {params.given} {params.options}"
        " --out {output.out} --roc {output.roc} --auc-tests {output.auc_tests} 2> {log}"


rule measure_length:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_length.csv"),
    log:
        "<logs>/measure_length/{set}.log",
    benchmark:
        "<benchmarks>/measure_length/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.measure_length"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.measure_length {params.given} {params.options}"
        " --out {output} 2> {log}"


rule compare_compat:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        shown("<results>/tables/{set}_compat.csv"),
    log:
        "<logs>/compare_compat/{set}.log",
    benchmark:
        "<benchmarks>/compare_compat/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.compare_compat"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.compare_compat {params.given} {params.options}"
        " --out {output} 2> {log}"


rule compare_models:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_model_comparisons.csv"),
    log:
        "<logs>/compare_models/{set}.log",
    benchmark:
        "<benchmarks>/compare_models/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.compare_models"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.compare_models {params.given} {params.options}"
        " --out {output} 2> {log}"


rule check_released:
    input:
        gold=lambda wildcards: source_of(STEREOTYPES["released"]["gold"]),
        scores=lambda wildcards: [source_of(one) for one in STEREOTYPES["released"]["scores"]],
        published="resources/stereotypes/published_stereoset.csv",
    output:
        shown("<results>/tables/stereoset_released.csv"),
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
