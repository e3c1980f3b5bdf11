# The authors' published file: repaired, checked, and run through our filters.


rule import_published:
    input:
        file=INPUTS.published or [],
        keywords=table("keywords"),
    output:
        sentences="<results>/slguset_published/sentences/published.parquet",
        dataset="<results>/slguset_published/slguset.parquet",
        problems=in_report("<results>/slguset_published/problems.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.import_published"),
    shell:
        run("slguset.import_published")


rule report_published:
    input:
        judged="<results>/slguset_published/filters/published.parquet",
        problems="<results>/slguset_published/problems.csv",
    output:
        table=folder_in_report("<results>/tables/published"),
        report="<results>/slguset_published/report.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.report_published", options("slguset", "filters")),
    shell:
        run("slguset.report_published")
