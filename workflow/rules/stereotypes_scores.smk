# Pairs of sentences, and what each language model says of them.

_METHODS = "null_methods" if STEREOTYPES["null_methods"] else "methods"
NULL_OPTIONS = Options(
    "stereotypes",
    {"seeds": STEREOTYPES["null_seeds"], "methods": STEREOTYPES[_METHODS]},
    {"seeds": "stereotypes.null_seeds", "methods": f"stereotypes.{_METHODS}"},
)


rule read_pairs:
    input:
        file=lambda wildcards: plan_stereotypes.pair_set_file(config, SOURCES, wildcards.set),
    output:
        out="<results>/stereotypes/{set}/pairs.parquet",
        report="<results>/stereotypes/{set}/pairs.json",
    log:
        "<logs>/read_pairs/{set}.log",
    benchmark:
        "<benchmarks>/read_pairs/{set}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=lambda wildcards: code(
            "evenhand.stereotypes.read_pairs",
            f"evenhand.stereotypes.sets.{STEREOTYPES['sets'][wildcards.set]['format']}",
        )(wildcards),
        options=lambda wildcards: Options(
            f"stereotypes.sets.{wildcards.set}",
            plan_stereotypes.pair_set_options(config, wildcards.set),
        ),
    shell:
        "python -m evenhand.stereotypes.read_pairs --file {input.file} --name {wildcards.set}"
        " {params.options} --out {output.out} --report {output.report} 2> {log}"


rule score_pairs:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/stereotypes/{set}/scores/{model}.parquet",
        tokens="<results>/stereotypes/{set}/tokens/{model}.parquet",
        gate="<results>/stereotypes/{set}/gates/{model}.json",
    log:
        "<logs>/score_pairs/{set}/{model}.log",
    benchmark:
        "<benchmarks>/score_pairs/{set}/{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 6000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=GPU,
    params:
        given=given,
        code=code("evenhand.stereotypes.score_pairs"),
        options=options("stereotypes", "methods", "shuffle"),
        scoring=options("scoring", "dtype", "tokens_per_batch", "allow_missing"),
        hub=hub,
        device=device,
    shell:
        "python -m evenhand.stereotypes.score_pairs {params.given} --name {wildcards.model}"
        " {params.hub} {params.options} {params.scoring} --device {params.device}"
        " --threads {threads} --out {output.out} --tokens {output.tokens}"
        " --gate {output.gate} 2> {log}"


rule score_null:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        "<results>/stereotypes/{set}/null/{model}.parquet",
    log:
        "<logs>/score_null/{set}/{model}.log",
    benchmark:
        "<benchmarks>/score_null/{set}/{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 6000 * attempt,
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=GPU,
    params:
        given=given,
        code=code("evenhand.stereotypes.score_null"),
        options=NULL_OPTIONS,
        scoring=options("scoring", "dtype", "tokens_per_batch"),
        hub=hub,
        device=device,
    shell:
        "python -m evenhand.stereotypes.score_null {params.given} --name {wildcards.model}"
        " {params.hub} {params.options} {params.scoring} --device {params.device}"
        " --threads {threads} --out {output} 2> {log}"
