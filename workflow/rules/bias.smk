# The gender bias of language models on SlguSet.


rule score_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/{edition}/bias/{model}.parquet",
        gate="<results>/{edition}/bias/{model}.gate.json",
    conda:
        "../../envs/score.yaml"
    threads: config["scoring"]["threads"]
    params:
        **stage(
            "slguset.score_bias",
            options("bias", "log_base"),
            of_pack("values"),
            options("scoring", "dtype", "tokens_per_batch", "allow_missing"),
            hub,
        ),
        device=device,
    shell:
        run(
            "slguset.score_bias",
            "--name {wildcards.model} --device {params.device} --threads {threads}",
        )


rule tabulate_bias:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        bias=expand("<results>/{{edition}}/bias/{model}.parquet", model=MODELS),
        gates=expand("<results>/{{edition}}/bias/{model}.gate.json", model=MODELS),
        stop_words=plan_slguset.pack_files(config, "stop_words.csv"),
        published=lambda wildcards: (
            table("published_bias") if wildcards.edition == "slguset_published" else []
        ),
        scores=for_source("scores/{model}.parquet"),
        score_gates=for_source("gates/{model}.json"),
    output:
        folder_in_report("<results>/tables/bias/{edition}"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "slguset.tabulate_bias",
            options("bias", "threshold", "compounds", "top"),
            of_pack("values"),
        ),
    shell:
        run("slguset.tabulate_bias")
