# Classifiers of legal cases: trained with each objective, and what they say of each case.

PRETRAINING = ["epochs", "block", "batch", "learning_rate", "new_head", "seed", "dtype"]


rule pretrain_encoder:
    input:
        data=lambda wildcards: pretraining(wildcards.model)["data"],
        tokens=lambda wildcards: pretraining(wildcards.model)["tokens"],
        tokens_meta=lambda wildcards: pretraining(wildcards.model)["tokens_meta"],
        model=lambda wildcards: pretraining(wildcards.model)["folder"],
    output:
        directory("<results>/models/{model}"),
    log:
        "<logs>/pretrain_encoder/{model}.log",
    benchmark:
        "<benchmarks>/pretrain_encoder/{model}.jsonl"
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.pretrained(config))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=GPU,
    params:
        given=given,
        processors=options("scoring", "threads"),  # what Snakemake grants may be fewer, and other bits
        code=code("evenhand.legal.pretrain_encoder"),
        options=lambda wildcards: options(("models", wildcards.model, "pretrain"), *PRETRAINING),
        hub=lambda wildcards: pretraining(wildcards.model)["hub"],
        device=device,
    shell:
        "python -m evenhand.legal.pretrain_encoder {params.given} {params.options} {params.hub}"
        " --device {params.device} {params.processors} --out {output} 2> {log}"


rule weigh_words:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
    output:
        out="<results>/legal/{legal}/words/{linear}.arrow",
        vocabulary="<results>/legal/{legal}/words/{linear}.csv",
    log:
        "<logs>/weigh_words/{legal}/{linear}.log",
    benchmark:
        "<benchmarks>/weigh_words/{legal}/{linear}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_kind("evenhand.legal.weigh_words"),
        kind=kind,
        options=lambda wildcards: Options(
            f"legal.classifiers.{wildcards.linear}",
            plan_classifiers.words_options(config, wildcards.linear),
        ),
    shell:
        "python -m evenhand.legal.weigh_words --data {input.data} {params.kind}"
        " {params.options} --out {output.out} --vocabulary {output.vocabulary} 2> {log}"


rule swap_cases:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        words=lambda wildcards: swaps(wildcards)["words"].values(),
        followers=lambda wildcards: swaps(wildcards)["followers"].values(),
    output:
        "<results>/legal/{legal}/twins.parquet",
    log:
        "<logs>/swap_cases/{legal}.log",
    benchmark:
        "<benchmarks>/swap_cases/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=code("evenhand.legal.swap_cases"),
        languages=lambda wildcards: derived(
            "legal.swap",
            {
                "languages": list(swaps(wildcards)["words"]),
                "followers_languages": list(swaps(wildcards)["followers"]),
            },
        ),
    shell:
        "python -m evenhand.legal.swap_cases {params.given} {params.languages} --out {output}"
        " 2> {log}"


rule weigh_twins:
    input:
        twins="<results>/legal/{legal}/twins.parquet",
        vocabulary="<results>/legal/{legal}/words/{linear}.csv",
    output:
        "<results>/legal/{legal}/twins/words/{linear}.arrow",
    log:
        "<logs>/weigh_twins/{legal}/{linear}.log",
    benchmark:
        "<benchmarks>/weigh_twins/{legal}/{linear}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.weigh_twins"),
        kind=kind,
    shell:
        "python -m evenhand.legal.weigh_twins {params.given} {params.kind} --out {output}"
        " 2> {log}"


rule find_neighbours:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        words=lambda wildcards: vectors(wildcards, "words"),
        embeddings=lambda wildcards: vectors(wildcards, "embeddings"),
    output:
        "<results>/legal/{legal}/neighbours/{space}.parquet",
    log:
        "<logs>/find_neighbours/{legal}/{space}.log",
    benchmark:
        "<benchmarks>/find_neighbours/{legal}/{space}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.find_neighbours"),
        kind=kind,
    shell:
        "python -m evenhand.legal.find_neighbours {params.given} {params.kind}"
        " --out {output} 2> {log}"


rule train_linear:
    input:
        data="<results>/legal/{legal}/training/{attribute}.parquet",
        words="<results>/legal/{legal}/words/{linear}.arrow",
        twins=pairs_for("linear", "twins"),
        neighbours=pairs_for("linear", "neighbours"),
    output:
        out="<results>/legal/{legal}/predictions/{linear}/{objective}/{attribute}/all.parquet",
        history="<results>/legal/{legal}/history/{linear}/{objective}/{attribute}/all.parquet",
    log:
        "<logs>/train_linear/{legal}/{linear}/{objective}/{attribute}.log",
    benchmark:
        "<benchmarks>/train_linear/{legal}/{linear}/{objective}/{attribute}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=given,
        code=of_training("evenhand.legal.train_linear"),
        options=training("linear"),
        board=board("linear"),
    shell:
        "python -m evenhand.legal.train_linear {params.given} {params.options} {params.board}"
        " --out {output.out} --history {output.history} 2> {log}"


rule train_classifier:
    input:
        data="<results>/legal/{legal}/training/{attribute}.parquet",
        tokens=tokens_of("hierarchical", "arrow"),
        tokens_meta=tokens_of("hierarchical", "json"),
        model=encoder_of("hierarchical"),
        twins=pairs_for("hierarchical", "twins"),
        twins_meta=pairs_for("hierarchical", "twins_meta"),
        neighbours=pairs_for("hierarchical", "neighbours"),
    output:
        out="<results>/legal/{legal}/predictions/{hierarchical}/{objective}/{attribute}/{seed}.parquet",
        history="<results>/legal/{legal}/history/{hierarchical}/{objective}/{attribute}/{seed}.parquet",
        weights=directory(
            "<results>/legal/{legal}/weights/{hierarchical}/{objective}/{attribute}/{seed}"
        ),
    log:
        "<logs>/train_classifier/{legal}/{hierarchical}/{objective}/{attribute}/{seed}.log",
    benchmark:
        "<benchmarks>/train_classifier/{legal}/{hierarchical}/{objective}/{attribute}/{seed}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=GPU,
    params:
        given=given,
        processors=options("scoring", "threads"),  # what Snakemake grants may be fewer, and other bits
        code=of_training("evenhand.legal.train_classifier"),
        options=training("hierarchical"),
        hub=hub_of("hierarchical"),
        device=device,
        board=board("hierarchical"),
    shell:
        "python -m evenhand.legal.train_classifier {params.given} {params.options} {params.hub}"
        " {params.board} --seed {wildcards.seed} --device {params.device} {params.processors}"
        " --out {output.out} --history {output.history} --weights {output.weights} 2> {log}"


rule embed_paragraphs:
    input:
        tokens="<results>/legal/{legal}/{form}tokens/{model}.arrow",
        tokens_meta="<results>/legal/{legal}/{form}tokens/{model}.json",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
        same_tokens=made_of_cases("<results>/legal/{legal}/tokens/{model}.arrow"),
        same=made_of_cases("<results>/legal/{legal}/embeddings/{model}.arrow"),
    output:
        out="<results>/legal/{legal}/{form}embeddings/{model}.arrow",
        meta="<results>/legal/{legal}/{form}embeddings/{model}.json",
    log:
        "<logs>/embed_paragraphs/{legal}/{form}{model}.log",
    benchmark:
        "<benchmarks>/embed_paragraphs/{legal}/{form}{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 6000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=GPU,
    params:
        given=given,
        processors=options("scoring", "threads"),  # what Snakemake grants may be fewer, and other bits
        code=code("evenhand.legal.embed_paragraphs"),
        hub=hub,
        device=device,
    shell:
        "python -m evenhand.legal.embed_paragraphs {params.given} {params.hub}"
        " --device {params.device} {params.processors} --out {output.out} --meta {output.meta}"
        " 2> {log}"


rule train_top:
    input:
        data="<results>/legal/{legal}/training/{attribute}.parquet",
        embeddings=embeddings_of("frozen", "arrow"),
        embeddings_meta=embeddings_of("frozen", "json"),
        twins=pairs_for("frozen", "twins"),
        neighbours=pairs_for("frozen", "neighbours"),
    output:
        out="<results>/legal/{legal}/predictions/{frozen}/{objective}/{attribute}/all.parquet",
        history="<results>/legal/{legal}/history/{frozen}/{objective}/{attribute}/all.parquet",
    log:
        "<logs>/train_top/{legal}/{frozen}/{objective}/{attribute}.log",
    benchmark:
        "<benchmarks>/train_top/{legal}/{frozen}/{objective}/{attribute}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=GPU,
    params:
        given=given,
        processors=options("scoring", "threads"),  # what Snakemake grants may be fewer, and other bits
        code=of_training("evenhand.legal.train_top"),
        options=training("frozen"),
        device=device,
        board=board("frozen"),
    shell:
        "python -m evenhand.legal.train_top {params.given} {params.options} {params.board}"
        " --device {params.device} {params.processors} --out {output.out}"
        " --history {output.history} 2> {log}"
