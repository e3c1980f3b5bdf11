# Data sources: found in the mirror or fetched, and checked.


rule fetch_source:
    output:
        "<results>/sources/{source}/{file}",
    log:
        "<logs>/fetch_source/{source}/{file}.log",
    benchmark:
        "<benchmarks>/fetch_source/{source}/{file}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.io.fetch_source"),
        options=lambda wildcards: derived("sources", SOURCES[wildcards.source]),
    shell:
        # an output that Snakemake does not know of, and so does not remove before it fetches again
        "python -m evenhand.io.fetch_source {params.options} --out {output}"
        " --record {output}.sha256 2> {log}"
