# Data sources: found in the mirror or fetched, and checked.


rule fetch_source:
    output:
        "<results>/sources/{source}/{file}",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("io.fetch_source", lambda wildcards: derived("sources", SOURCES[wildcards.source])),
    shell:
        # an output that Snakemake does not know of, and so does not remove before it fetches again
        run("io.fetch_source", "--record {output}.sha256")
