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
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.pretrained(config))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "legal.pretrain_encoder",
            PROCESSORS,
            lambda wildcards: options(("models", wildcards.model, "pretrain"), *PRETRAINING),
            lambda wildcards: pretraining(wildcards.model)["hub"],
        ),
        device=device,
    shell:
        run("legal.pretrain_encoder", "--device {params.device}")


rule weigh_words:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
    output:
        out="<results>/legal/{legal}/words/{linear}.arrow",
        vocabulary="<results>/legal/{legal}/words/{linear}.csv",
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.weigh_words",
            kind,
            lambda wildcards: Options(
                f"legal.classifiers.{wildcards.linear}",
                plan_classifiers.words_options(config, wildcards.linear),
            ),
            plugins=kind_module,
        ),
    shell:
        run("legal.weigh_words")


rule swap_cases:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        words=lambda wildcards: swaps(wildcards)["words"].values(),
        followers=lambda wildcards: swaps(wildcards)["followers"].values(),
    output:
        "<results>/legal/{legal}/twins.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.swap_cases",
            lambda wildcards: derived(
                "legal.swap",
                {
                    "languages": list(swaps(wildcards)["words"]),
                    "followers_languages": list(swaps(wildcards)["followers"]),
                },
            ),
        ),
    shell:
        run("legal.swap_cases")


rule weigh_twins:
    input:
        twins="<results>/legal/{legal}/twins.parquet",
        vocabulary="<results>/legal/{legal}/words/{linear}.csv",
    output:
        "<results>/legal/{legal}/twins/words/{linear}.arrow",
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.weigh_twins", kind, plugins=kind_module),
    shell:
        run("legal.weigh_twins")


rule find_neighbours:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        words=lambda wildcards: vectors(wildcards, "words"),
        embeddings=lambda wildcards: vectors(wildcards, "embeddings"),
    output:
        "<results>/legal/{legal}/neighbours/{space}.parquet",
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.find_neighbours", kind, plugins=kind_module),
    shell:
        run("legal.find_neighbours")


rule train_linear:
    input:
        data="<results>/legal/{legal}/training/{attribute}.parquet",
        words="<results>/legal/{legal}/words/{linear}.arrow",
        twins=pairs_for("linear", "twins"),
        neighbours=pairs_for("linear", "neighbours"),
    output:
        out="<results>/legal/{legal}/predictions/{linear}/{objective}/{attribute}/all.parquet",
        history="<results>/legal/{legal}/history/{linear}/{objective}/{attribute}/all.parquet",
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.train_linear", training("linear"), plugins=training_modules),
        board=board("linear"),
    shell:
        run("legal.train_linear", "{params.board}")


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
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "legal.train_classifier",
            PROCESSORS,
            training("hierarchical"),
            hub_of("hierarchical"),
            plugins=training_modules,
        ),
        device=device,
        board=board("hierarchical"),
    shell:
        run(
            "legal.train_classifier",
            "{params.board} --seed {wildcards.seed} --device {params.device}",
        )


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
    params:
        **stage("legal.embed_paragraphs", PROCESSORS, hub),
        device=device,
    shell:
        run("legal.embed_paragraphs", "--device {params.device}")


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
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage("legal.train_top", PROCESSORS, training("frozen"), plugins=training_modules),
        device=device,
        board=board("frozen"),
    shell:
        run("legal.train_top", "{params.board} --device {params.device}")
