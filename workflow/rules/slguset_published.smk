# The authors' published file: repaired, checked, and run through our filters.


rule import_published:
    input:
        file=PUBLISHED or [],
        keywords=table("keywords"),
    output:
        sentences="<results>/slguset_published/sentences/published.parquet",
        dataset="<results>/slguset_published/slguset.parquet",
        problems=shown("<results>/slguset_published/problems.csv"),
    log:
        "<logs>/import_published/all.log",
    benchmark:
        "<benchmarks>/import_published/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.import_published"),
    shell:
        "python -m evenhand.slguset.import_published --file {input.file:q}"
        " --keywords {input.keywords} --sentences {output.sentences}"
        " --dataset {output.dataset} --problems {output.problems} 2> {log}"


rule report_published:
    input:
        keywords="<results>/slguset_published/keywords/published.parquet",
        filters=expand(
            "<results>/slguset_published/filters/{filter}/published.parquet",
            filter=FILTERS,
        ),
        problems="<results>/slguset_published/problems.csv",
    output:
        table=shown("<results>/slguset_published/filters.csv"),
        report="<results>/slguset_published/report.json",
    log:
        "<logs>/report_published/all.log",
    benchmark:
        "<benchmarks>/report_published/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.report_published"),
        filters=FILTER_NAMES,
    shell:
        "python -m evenhand.slguset.report_published --keywords {input.keywords}"
        " --filters {input.filters} {params.filters}"
        " --problems {input.problems} --table {output.table} --report {output.report} 2> {log}"
