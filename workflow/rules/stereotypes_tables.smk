# What the scores of pairs say: one rule a table, all models of a set together.


rule summarise_scores:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        out=shown("<results>/tables/{set}_bias_scores.csv"),
        models_out=shown("<results>/tables/{set}_models.csv"),
    log:
        "<logs>/summarise_scores/{set}.log",
    benchmark:
        "<benchmarks>/summarise_scores/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.summarise_scores"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.summarise_scores {params.given} {params.options}"
        " --out {output.out} --models-out {output.models_out} 2> {log}"


rule measure_stereoset:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_stereoset.csv"),
    log:
        "<logs>/measure_stereoset/{set}.log",
    benchmark:
        "<benchmarks>/measure_stereoset/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.measure_stereoset"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.measure_stereoset {params.given} {params.options}"
        " --out {output} 2> {log}"


rule measure_accuracy:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_token_accuracy.csv"),
    log:
        "<logs>/measure_accuracy/{set}.log",
    benchmark:
        "<benchmarks>/measure_accuracy/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.measure_accuracy"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.measure_accuracy {params.given} {params.options}"
        " --out {output} 2> {log}"


rule measure_all_masked:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_all_masked.csv"),
    log:
        "<logs>/measure_all_masked/{set}.log",
    benchmark:
        "<benchmarks>/measure_all_masked/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.stereotypes.measure_all_masked"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.stereotypes.measure_all_masked {params.given} {params.options}"
        " --out {output} 2> {log}"
