# Annotation, round by round: the sample with its sheets, and the answers.


rule draw_annotation:
    input:
        candidates="<results>/slguset/candidates.parquet",
        keywords=table("keywords"),
        quotas=SLGUSET["annotation"]["quotas"] or [],
        ledger=plan_slguset.ledger_files(config),
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
            options("slguset.annotation", "sentences_per_pair", "seed", "annotators"),
            of_pack("values"),
        ),
    shell:
        run("slguset.draw_annotation", "--round {wildcards.round}")


rule read_sheets:
    input:
        sample="<results>/slguset/annotation/{round}/sample.parquet",
        sheets=lambda wildcards: ROUNDS[wildcards.round].sheets,
    output:
        "<results>/slguset/annotation/{round}/answers.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.read_sheets",
            Options(
                "slguset.annotation", {"annotators": len(SLGUSET["annotation"]["annotators"])}
            ),
        ),
    shell:
        run("slguset.read_sheets")
