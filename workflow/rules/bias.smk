# The gender bias of language models on SlguSet.


rule score_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/{edition}/bias/{model}.parquet",
        gate="<results>/{edition}/bias/{model}.gate.json",
    log:
        "<logs>/score_bias/{edition}/{model}.log",
    benchmark:
        "<benchmarks>/score_bias/{edition}/{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 6000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=GPU,
    params:
        given=given,
        code=code("evenhand.slguset.score_bias"),
        options=options("bias", "log_base"),
        scoring=options("scoring", "dtype", "tokens_per_batch", "allow_missing"),
        hub=hub,
        device=device,
    shell:
        "python -m evenhand.slguset.score_bias {params.given} --name {wildcards.model}"
        " {params.hub} {params.options} {params.scoring} --device {params.device} --threads {threads}"
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
        out=shown("<results>/tables/{edition}_bias.csv"),
        by_pair=shown("<results>/tables/{edition}_bias_by_pair.csv"),
        variants=shown("<results>/tables/{edition}_bias_variants.csv"),
        correlations=shown("<results>/tables/{edition}_bias_correlations.csv"),
    log:
        "<logs>/summarise_bias/{edition}.log",
    benchmark:
        "<benchmarks>/summarise_bias/{edition}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.summarise_bias"),
        options=options("bias", "threshold", "compounds"),
        scoring=options("scoring", "resamples"),
    shell:
        "python -m evenhand.slguset.summarise_bias {params.given} {params.options} {params.scoring}"
        " --out {output.out} --by-pair {output.by_pair} --variants {output.variants}"
        " --correlations {output.correlations} 2> {log}"


rule bin_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
    output:
        shown("<results>/tables/{edition}_bias_distribution.csv"),
    log:
        "<logs>/bin_bias/{edition}.log",
    benchmark:
        "<benchmarks>/bin_bias/{edition}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.bin_bias"),
    shell:
        "python -m evenhand.slguset.bin_bias {params.given} --out {output} 2> {log}"


rule describe_sentences:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
    output:
        shown("<results>/tables/{edition}_bias_sentences.csv"),
    log:
        "<logs>/describe_sentences/{edition}.log",
    benchmark:
        "<benchmarks>/describe_sentences/{edition}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.describe_sentences"),
        options=options("bias", "top"),
    shell:
        "python -m evenhand.slguset.describe_sentences {params.given} {params.options}"
        " --out {output} 2> {log}"


rule describe_words:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
        stop_words=table("stop_words"),
    output:
        shown("<results>/tables/{edition}_bias_words.csv"),
    log:
        "<logs>/describe_words/{edition}.log",
    benchmark:
        "<benchmarks>/describe_words/{edition}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.describe_words"),
        options=options("bias", "threshold", "top"),
    shell:
        "python -m evenhand.slguset.describe_words {params.given} {params.options}"
        " --out {output} 2> {log}"


rule correlate_methods:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
        scores=of_edition("scores/{model}.parquet"),
        score_gates=of_edition("gates/{model}.json"),
    output:
        shown("<results>/tables/{edition}_bias_methods.csv"),
    log:
        "<logs>/correlate_methods/{edition}.log",
    benchmark:
        "<benchmarks>/correlate_methods/{edition}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.correlate_methods"),
        options=options("scoring", "resamples"),
    shell:
        "python -m evenhand.slguset.correlate_methods {params.given} {params.options}"
        " --out {output} 2> {log}"
