# Language models, and their gender bias on SlguSet.


rule train_masked_lm:
    input:
        tables=of_shards("<results>/slguset/sentences/{shard}.parquet"),
    output:
        directory("<results>/models/{model}"),
    log:
        "<logs>/train_masked_lm/{model}.log",
    benchmark:
        "<benchmarks>/train_masked_lm/{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.scoring.train_masked_lm"),
        options=lambda wildcards: options(f"models.{wildcards.model}.train"),
    shell:
        "python -m evenhand.scoring.train_masked_lm --tables {input.tables}"
        " {params.options} --out {output} 2> {log}"


rule score_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        model=lambda wildcards: plan.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/{edition}/bias/{model}.parquet",
        gate="<results>/{edition}/bias/{model}.gate.json",
    log:
        "<logs>/score_bias/{edition}/{model}.log",
    benchmark:
        "<benchmarks>/score_bias/{edition}/{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 6000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=1 if config["bias"]["device"].startswith("cuda") else 0,
    params:
        given=given,
        code=code("evenhand.slguset.score_bias"),
        options=options("bias", "log_base", "dtype", "allow_missing"),
        hub=lambda wildcards: Options(
            f"models.{wildcards.model}", {"hub_name": config["models"][wildcards.model].get("hub")}
        ),
        device=lambda wildcards, input: config["bias"]["device"],
    shell:
        "python -m evenhand.slguset.score_bias {params.given} --name {wildcards.model}"
        " {params.hub} {params.options} --device {params.device} --threads {threads}"
        " --out {output.out} --gate {output.gate} 2> {log}"


rule summarise_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
        published=lambda wildcards: (
            table("published_bias") if wildcards.edition == "slguset_published" else []
        ),
    output:
        out="<results>/tables/{edition}_bias.csv",
        by_pair="<results>/tables/{edition}_bias_by_pair.csv",
        correlations="<results>/tables/{edition}_bias_correlations.csv",
    log:
        "<logs>/summarise_bias/{edition}.log",
    benchmark:
        "<benchmarks>/summarise_bias/{edition}.jsonl"
    conda:
        "../../envs/score.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.summarise_bias"),
        options=options("bias", "threshold", "resamples"),
    shell:
        "python -m evenhand.slguset.summarise_bias {params.given} {params.options}"
        " --out {output.out} --by-pair {output.by_pair}"
        " --correlations {output.correlations} 2> {log}"
