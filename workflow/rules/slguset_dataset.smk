# The data set and its numbers.


rule build_dataset:
    input:
        samples=expand("<results>/slguset/annotation/{round}/sample.parquet", round=ANNOTATED),
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        keywords=table("keywords"),
    output:
        out="<results>/slguset/slguset.parquet",
        table="<results>/slguset/slguset.csv",
        tables=folder_in_report("<results>/tables/annotation"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.build_dataset", of_pack("values")),
    shell:
        run("slguset.build_dataset")


rule describe_dataset:
    input:
        INPUTS.vocabulary or [],
        dataset="<results>/{edition}/slguset.parquet",
        keywords=table("keywords"),
        published=plan_slguset.pack_files(config, "published_counts.csv"),
    output:
        table=folder_in_report("<results>/tables/sentences/{edition}"),
        statistics="<results>/{edition}/statistics.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.describe_dataset", of_pack("values")),
        vocabulary=lambda wildcards, input: (
            f"--vocabulary {input[0]}/vocab.txt" if INPUTS.vocabulary else ""
        ),
    shell:
        run("slguset.describe_dataset", "{params.vocabulary}")
