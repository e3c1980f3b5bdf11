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
    log:
        "<logs>/draw_annotation/{round}.log",
    benchmark:
        "<benchmarks>/draw_annotation/{round}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.draw_annotation"),
        options=options("slguset.annotation", "sentences_per_pair", "seed"),
    shell:
        "python -m evenhand.slguset.draw_annotation {params.given} --round {wildcards.round}"
        " {params.options} --out {output.out} --drawn {output.drawn} 2> {log}"


rule write_sheets:
    input:
        sample="<results>/slguset/annotation/{round}/sample.parquet",
        instructions="workflow/evenhand/slguset/templates/annotation/instructions.md.jinja",
        interface="workflow/evenhand/slguset/templates/annotation/label_studio.xml",
    output:
        directory("<results>/slguset/annotation/{round}/sheets"),
    log:
        "<logs>/write_sheets/{round}.log",
    benchmark:
        "<benchmarks>/write_sheets/{round}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.write_sheets"),
        options=options("slguset.annotation", "annotators"),
    shell:
        "python -m evenhand.slguset.write_sheets --sample {input.sample}"
        " --instructions {input.instructions} --interface {input.interface}"
        " {params.options} --out {output} 2> {log}"


rule read_sheets:
    input:
        sample="<results>/slguset/annotation/{round}/sample.parquet",
        sheets=lambda wildcards: ROUNDS[wildcards.round].sheets,
    output:
        "<results>/slguset/annotation/{round}/answers.parquet",
    log:
        "<logs>/read_sheets/{round}.log",
    benchmark:
        "<benchmarks>/read_sheets/{round}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.read_sheets"),
        annotators=Options(
            "slguset.annotation", {"annotators": len(SLGUSET["annotation"]["annotators"])}
        ),
    shell:
        "python -m evenhand.slguset.read_sheets --sample {input.sample}"
        " --sheets {input.sheets:q} {params.annotators} --out {output} 2> {log}"


rule measure_agreement:
    input:
        samples=expand("<results>/slguset/annotation/{round}/sample.parquet", round=ANNOTATED),
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        keywords=table("keywords"),
    output:
        out=shown("<results>/slguset/agreement.csv"),
        disagreements="<results>/slguset/annotation/disagreements.csv",
        annotators="<results>/slguset/annotation/annotators.csv",
    log:
        "<logs>/measure_agreement/all.log",
    benchmark:
        "<benchmarks>/measure_agreement/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.measure_agreement"),
    shell:
        "python -m evenhand.slguset.measure_agreement --samples {input.samples}"
        " --answers {input.answers} --keywords {input.keywords} --out {output.out}"
        " --disagreements {output.disagreements} --annotators {output.annotators} 2> {log}"
