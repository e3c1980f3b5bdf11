# Annotation, round by round: the sample with its sheets, and the answers.


rule draw_annotation:
    input:
        candidates="<results>/slguset/candidates.parquet",
        keywords=table("keywords"),
        quotas=SLGUSET["annotation"]["quotas"] or [],
        handed_out=plan_slguset.handed_out(config),
        inventories=of_shards("<results>/slguset/sentences/{shard}.files.parquet"),
        scores=lambda wildcards: (
            ["<results>/slguset/acceptance/verdicts.parquet"]
            if plan_slguset.is_undecided(config, wildcards.round)
            else []
        ),
        instructions=plan_slguset.pack_file(config, "instructions.md.jinja"),
        interface=plan_slguset.pack_file(config, "label_studio.xml"),
    output:
        out="<results>/slguset/annotation/{round}/sample.parquet",
        drawn="<results>/slguset/annotation/{round}/drawn.csv",
        sheets=directory("<results>/slguset/annotation/{round}/sheets"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.draw_annotation",
            options(
                "slguset.annotation",
                "sentences_per_pair",
                "seed",
                "annotators",
                "per_sentence",
                "draw",
                "random_per_corpus",
            ),
            CORPUS_OF_SHARDS,
            of_pack("values", "headings"),
        ),
    shell:
        run("slguset.draw_annotation", "--round {wildcards.round}")


rule read_sheets:
    input:
        sample="<results>/slguset/annotation/{round}/sample.parquet",
        sheets=lambda wildcards: ROUNDS[wildcards.round].sheets,
        instructions=plan_slguset.pack_file(config, "instructions.md.jinja"),
        interface=plan_slguset.pack_file(config, "label_studio.xml"),
    output:
        out="<results>/slguset/annotation/{round}/answers.parquet",
        adjudication=directory("<results>/slguset/annotation/{round}/adjudication"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.read_sheets", of_pack("headings", "synonyms")),
    shell:
        run("slguset.read_sheets")


rule gather_examples:
    input:
        candidates="<results>/slguset/candidates.parquet",
        keywords=table("keywords"),
        published="<results>/slguset_published/slguset.parquet" if INPUTS.published else [],
        labels=list(plan_slguset.acceptance_labels(config).values()),
    output:
        "<results>/slguset_examples/slguset.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.gather_examples", of_pack("values", "language")),
    shell:
        run("slguset.gather_examples")


rule accept_candidates:
    input:
        **plan_slguset.acceptance_odds(config),
        candidates="<results>/slguset/candidates.parquet",
        keywords=table("keywords"),
        inventories=of_shards("<results>/slguset/sentences/{shard}.files.parquet"),
        published="<results>/slguset_published/slguset.parquet" if INPUTS.published else [],
        samples=expand("<results>/slguset/annotation/{round}/sample.parquet", round=ANNOTATED),
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        labels=list(plan_slguset.acceptance_labels(config).values()),
    output:
        out="<results>/slguset/acceptance/verdicts.parquet",
        table="<results>/slguset/acceptance/accepted.csv",
        tables=folder_in_report("<results>/tables/acceptance"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.accept_candidates",
            options("slguset.acceptance", "risk", "confidence", "without_guarantee"),
            options("slguset.annotation", "seed"),
            CORPUS_OF_SHARDS,
            of_pack("values", "language", "segmenter"),
            plugins=plan_slguset.text_modules(config, "segmenter"),
        ),
    shell:
        run("slguset.accept_candidates")
