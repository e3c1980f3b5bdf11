# Pairs of sentences, and the scores of each language model.


rule read_pairs:
    input:
        file=lambda wildcards: plan_stereotypes.pair_set_file(config, SOURCES, wildcards.set),
    output:
        out="<results>/stereotypes/{set}/pairs.parquet",
        report="<results>/stereotypes/{set}/pairs.json",
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "stereotypes.read_pairs",
            lambda wildcards: Options(
                f"stereotypes.sets.{wildcards.set}",
                plan_stereotypes.pair_set_options(config, wildcards.set),
            ),
            plugins=lambda wildcards: [
                f"evenhand.stereotypes.sets.{STEREOTYPES['sets'][wildcards.set]['format']}"
            ],
        ),
    shell:
        run("stereotypes.read_pairs", "--name {wildcards.set}")


rule score_pairs:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/stereotypes/{set}/scores/{model}.parquet",
        tokens="<results>/stereotypes/{set}/tokens/{model}.parquet",
        gate="<results>/stereotypes/{set}/gates/{model}.json",
        null="<results>/stereotypes/{set}/null/{model}.parquet",
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "stereotypes.score_pairs",
            options("stereotypes", "methods", "shuffle", "null_seeds", "null_methods"),
            options("scoring", "dtype", "tokens_per_batch", "allow_missing"),
            hub,
        ),
        device=device,
    shell:
        run(
            "stereotypes.score_pairs",
            "--name {wildcards.model} --device {params.device} --threads {threads}",
        )
