# The data set, its numbers and its card.


rule build_dataset:
    input:
        samples=expand("<results>/slguset/annotation/{round}/sample.parquet", round=ANNOTATED),
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        keywords=table("keywords"),
    output:
        out="<results>/slguset/slguset.parquet",
        table="<results>/slguset/slguset.csv",
    log:
        "<logs>/build_dataset/all.log",
    benchmark:
        "<benchmarks>/build_dataset/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.build_dataset"),
    shell:
        "python -m evenhand.slguset.build_dataset --samples {input.samples}"
        " --answers {input.answers} --keywords {input.keywords}"
        " --out {output.out} --table {output.table} 2> {log}"


rule describe_dataset:
    input:
        dataset="<results>/{edition}/slguset.parquet",
        keywords=table("keywords"),
        published=table("published_counts"),
        vocabulary=VOCABULARY or [],
    output:
        table=shown("<results>/{edition}/table_1.csv"),
        statistics="<results>/{edition}/statistics.json",
    log:
        "<logs>/describe_dataset/{edition}.log",
    benchmark:
        "<benchmarks>/describe_dataset/{edition}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.describe_dataset"),
        vocabulary=lambda wildcards, input: (
            f"--vocabulary {input.vocabulary}/vocab.txt" if input.vocabulary else ""
        ),
    shell:
        "python -m evenhand.slguset.describe_dataset --dataset {input.dataset}"
        " --keywords {input.keywords} --published {input.published}"
        " {params.vocabulary}"
        " --table {output.table} --statistics {output.statistics} 2> {log}"


rule write_card:
    input:
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        statistics="<results>/slguset/statistics.json",
        table="<results>/slguset/table_1.csv",
        agreement="<results>/slguset/agreement.csv",
        funnel="<results>/slguset/funnel.csv",
        template="workflow/evenhand/slguset/templates/data_card.md.jinja",
    output:
        shown("<results>/slguset/README.md"),
    log:
        "<logs>/write_card/all.log",
    benchmark:
        "<benchmarks>/write_card/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.write_card"),
        options=options("slguset.annotation", "notice"),
        filters=options("slguset", "filters"),
        corpora=Options("slguset", {"corpora": list(SLGUSET["corpora"])}),
    shell:
        "python -m evenhand.slguset.write_card {params.given} {params.options}"
        " {params.filters} {params.corpora} --out {output} 2> {log}"
