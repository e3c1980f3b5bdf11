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


rule fit_tfidf:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
    output:
        out="<results>/legal/{legal}/words/{classifier}.arrow",
        vocabulary="<results>/legal/{legal}/words/{classifier}.csv",
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.fit_tfidf",
            lambda wildcards: options(
                plan_legal.section(config, "classifiers", wildcards.classifier),
                *("features", "ngrams", "min_df"),
            ),
        ),
    shell:
        run("legal.fit_tfidf")


rule make_counterfactuals:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        tables=lambda wildcards: plan_classifiers.swap_tables(config, wildcards.legal),
    output:
        "<results>/legal/{legal}/twins.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.make_counterfactuals"),
    shell:
        run("legal.make_counterfactuals")


rule transform_tfidf:
    input:
        counterfactuals="<results>/legal/{legal}/twins.parquet",
        vocabulary="<results>/legal/{legal}/words/{classifier}.csv",
    output:
        "<results>/legal/{legal}/twins/words/{classifier}.arrow",
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.transform_tfidf"),
    shell:
        run("legal.transform_tfidf")


rule find_neighbours:
    input:
        data="<results>/legal/{legal}/training/none.parquet",
        features="<results>/legal/{legal}/{space}.arrow",
    output:
        "<results>/legal/{legal}/neighbours/{space}.parquet",
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.find_neighbours"),
    shell:
        run("legal.find_neighbours")


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


rule train_classifier:
    input:
        unpack(training_inputs),
    output:
        out="<results>/legal/{legal}/predictions/{classifier}/{objective}/{attribute}/{seed}.parquet",
        history="<results>/legal/{legal}/history/{classifier}/{objective}/{attribute}/{seed}.parquet",
        weights=directory(
            "<results>/legal/{legal}/weights/{classifier}/{objective}/{attribute}/{seed}"
        ),
    wildcard_constraints:
        classifier=of_family("hierarchical"),
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "legal.train_classifier",
            PROCESSORS,
            training_options,
            encoder_hub,
            plugins=training_modules,
        ),
        device=device,
    shell:
        run("legal.train_classifier", "--seeds {wildcards.seed} --device {params.device}")


rule train_frozen_head:
    input:
        unpack(training_inputs),
    output:
        out="<results>/legal/{legal}/predictions/{classifier}/{objective}/{attribute}/all.parquet",
        history="<results>/legal/{legal}/history/{classifier}/{objective}/{attribute}/all.parquet",
    wildcard_constraints:
        classifier=of_family("frozen"),
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "legal.train_classifier",
            PROCESSORS,
            training_options,
            all_seeds,
            plugins=training_modules,
        ),
        device=device,
    shell:
        run("legal.train_classifier", "--device {params.device}")


rule train_linear:
    input:
        unpack(training_inputs),
    output:
        out="<results>/legal/{legal}/predictions/{classifier}/{objective}/{attribute}/all.parquet",
        history="<results>/legal/{legal}/history/{classifier}/{objective}/{attribute}/all.parquet",
    wildcard_constraints:
        classifier=of_family("linear"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.train_classifier", training_options, all_seeds, plugins=training_modules),
    shell:
        run("legal.train_classifier")
