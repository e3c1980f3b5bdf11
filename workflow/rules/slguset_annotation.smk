# Annotation, round by round: what is drawn, the sheets, what came back.


rule draw_annotation:
    input:
        candidates="<results>/slguset/candidates.parquet",
        keywords=table("keywords"),
        quotas=SLGUSET["annotation"]["quotas"] or [],
        ledger=plan_slguset.ledger_files(config),
    output:
        out="<results>/slguset/annotation/{round}/sample.parquet",
        drawn="<results>/slguset/annotation/{round}/drawn.csv",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.draw_annotation", options("slguset.annotation", "sentences_per_pair", "seed")
        ),
    shell:
        run("slguset.draw_annotation", "--round {wildcards.round}")


rule write_sheets:
    input:
        sample="<results>/slguset/annotation/{round}/sample.parquet",
        instructions="workflow/evenhand/slguset/templates/annotation/instructions.md.jinja",
        interface="workflow/evenhand/slguset/templates/annotation/label_studio.xml",
    output:
        directory("<results>/slguset/annotation/{round}/sheets"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.write_sheets", options("slguset.annotation", "annotators")),
    shell:
        run("slguset.write_sheets")


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


rule measure_agreement:
    input:
        samples=expand("<results>/slguset/annotation/{round}/sample.parquet", round=ANNOTATED),
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        keywords=table("keywords"),
    output:
        out=shown("<results>/slguset/agreement.csv"),
        disagreements="<results>/slguset/annotation/disagreements.csv",
        annotators="<results>/slguset/annotation/annotators.csv",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.measure_agreement"),
    shell:
        run("slguset.measure_agreement")
