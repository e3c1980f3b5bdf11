# From newspapers to sentences with one gender word. One job per shard of the corpus.


rule extract_sentences:
    input:
        files=lambda wildcards: list(SHARDS[wildcards.shard][1].files),
        keywords=table("keywords"),
    output:
        sentences="<results>/slguset/sentences/{shard}.parquet",
        quarantine="<results>/slguset/sentences/{shard}.quarantine.parquet",
        counts="<results>/slguset/sentences/{shard}.counts.json",
        inventory="<results>/slguset/sentences/{shard}.files.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.extract_sentences",
            shard_options,
            of_pack(*plan_slguset.READING),
            plugins=plan_slguset.text_modules(config, "normaliser", "splitter"),
        ),
    shell:
        run("slguset.extract_sentences")


rule merge_candidates:
    input:
        judged=of_shards("<results>/slguset/filters/{shard}.parquet"),
    output:
        "<results>/slguset/candidates.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.merge_candidates", options("slguset", "near_duplicates")),
    shell:
        run("slguset.merge_candidates")


rule count_funnel:
    input:
        candidates="<results>/slguset/candidates.parquet",
        counts=of_shards("<results>/slguset/sentences/{shard}.counts.json"),
        quarantine=of_shards("<results>/slguset/sentences/{shard}.quarantine.parquet"),
    output:
        folder_in_report("<results>/tables/corpus"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.count_funnel",
            Options(None, {"reasons": list(REASONS), "not_read": INPUTS.not_read or None}),
        ),
    shell:
        run("slguset.count_funnel")
